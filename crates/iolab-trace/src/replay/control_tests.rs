//! Locks and flags of open files: what is done again of them, and what is not certain enough.

use super::logs::{plain, steps, trace};
use super::{Action, Choice, Program, Reason, Replay};
use crate::call::CallKind;
use crate::trace::Trace;

const OPEN: &str = "1 openat(AT_FDCWD</d>, \"a\", O_RDWR) = 3</d/a>";
const AGAIN: &str = "1 openat(AT_FDCWD</d>, \"a\", O_RDWR) = 4</d/a>";

fn with(calls: &[&str]) -> Trace {
    trace(&[&[OPEN], calls].concat())
}

fn left_out(trace: &Trace) -> Vec<(Reason, u64)> {
    let all = Replay::of(trace).coverage.left_out;
    let others = all.into_iter().filter(|((_, kind), _)| *kind == CallKind::Other);
    others.map(|((reason, _), (calls, _))| (reason, calls)).collect()
}

#[test]
fn locks_and_looks_come_again_as_they_were() {
    let trace = with(&[
        "1 fcntl(3</d/a>, F_GETFL) = 0x8002 (flags O_RDWR|O_LARGEFILE)",
        "1 fcntl(3</d/a>, F_SETLK, {l_type=F_RDLCK, l_whence=SEEK_SET, l_start=1073741826, l_len=510}) = 0",
        "1 fcntl(3</d/a>, F_SETLKW, {l_type=F_WRLCK, l_whence=SEEK_SET, l_start=0, l_len=0}) = 0",
        "1 fcntl(3</d/a>, F_SETLK, {l_type=F_UNLCK, l_whence=SEEK_SET, l_start=0, l_len=0}) = 0",
        "1 flock(3</d/a>, LOCK_SH|LOCK_NB) = 0",
        "1 fstatfs(3</d/a>, {f_type=EXT2_SUPER_MAGIC, ...}) = 0",
    ]);
    assert_eq!(left_out(&trace), []);
    let program = Program::of(&trace, Choice::default());
    let (range, whole) = (Action::LockRange, Action::LockWhole);
    assert_eq!(
        steps(&program)[1..],
        [
            plain(Action::Look),
            (range, 1_073_741_826, 510, 0),
            plain(range),
            plain(range),
            plain(whole),
            plain(Action::FileSystem),
        ]
    );
    let locks = program.lanes[0].iter().filter(|step| [range, whole].contains(&step.action));
    assert_eq!(locks.map(|step| step.flags).collect::<Vec<_>>(), [0, 1, 2, 0]);
}

/// Looks that were left out though nothing is more certain: what a file system is, who holds a lock, and
/// that an attribute is not there.
#[test]
fn looks_by_name_and_for_nothing_come_again_as_they_were() {
    let trace = with(&[
        "1 statfs(\"/d/a\", {f_type=EXT2_SUPER_MAGIC, ...}) = 0",
        "1 statfs(\"/d/none\", 0x7f) = -1 ENOENT (No such file or directory)",
        "1 getxattr(\"/d/a\", \"\"..., NULL, 0) = -1 ENODATA (No data available)",
        "1 lgetxattr(\"/d/none\", \"\"..., NULL, 0) = -1 ENODATA (No data available)",
        "1 fgetxattr(3</d/a>, \"\"..., 0x7f, 128) = -1 ENODATA (No data available)",
        "1 fcntl(3</d/a>, F_GETLK, {l_type=F_UNLCK, l_whence=SEEK_SET, l_start=5, l_len=10, l_pid=0}) = 0",
    ]);
    let unlike = ((Reason::Unlike, CallKind::Attribute), (1, 0));
    let all: Vec<_> = Replay::of(&trace).coverage.left_out.into_iter().collect();
    assert_eq!(all, [unlike], "an attribute of nothing");
    let program = Program::of(&trace, Choice::default());
    let (look, attribute) = (Action::FileSystem, (Action::Attribute, 0, 0, -61));
    let expected =
        [plain(look), (look, 0, 0, -2), attribute, attribute, (Action::Holder, 5, 10, 0)];
    assert_eq!(steps(&program)[1..], expected);
    let there = with(&[
        "1 getxattr(\"/d/a\", \"\"..., NULL, 0) = 12",
        "1 listxattr(\"/d/a\", \"\", 256) = 0",
        "1 setxattr(\"/d/a\", \"\"..., \"\"..., 5, 0) = 0",
        "1 fgetxattr(3</d/a>, \"\"..., 0x7f, 128) = -1 EOPNOTSUPP (Operation not supported)",
    ]);
    let left_out: Vec<_> = Replay::of(&there).coverage.left_out.into_iter().collect();
    let [kind, error] = [Reason::Kind, Reason::Error].map(|why| (why, CallKind::Attribute));
    assert_eq!(left_out, [(kind, (3, 0)), (error, (1, 0))]);
}

fn lock_of_open_file(slot: u32, lock: &str, start: u32, bytes: u32) -> String {
    format!(
        "1 fcntl({slot}</d/a>, F_OFD_SETLKW, {{l_type={lock}, l_whence=SEEK_SET, \
         l_start={start}, l_len={bytes}}}) = 0"
    )
}

/// Locks of an open file are in the way of another opening in the same process: what a range was given
/// back of may be locked again, and nothing else.
#[test]
fn locks_of_open_files_keep_others_out_of_their_ranges() {
    let locked = |calls: &[(u32, &str, u32, u32)]| {
        let all = calls
            .iter()
            .map(|(slot, lock, start, bytes)| lock_of_open_file(*slot, lock, *start, *bytes));
        let all: Vec<String> = all.collect();
        let all: Vec<&str> = [AGAIN].into_iter().chain(all.iter().map(String::as_str)).collect();
        left_out(&with(&all))
    };
    let (read, write, none) = ("F_RDLCK", "F_WRLCK", "F_UNLCK");
    let in_the_way = vec![(Reason::Unlike, 1)];
    assert_eq!(locked(&[(3, write, 0, 10), (4, write, 10, 0)]), []);
    assert_eq!(locked(&[(3, write, 0, 10), (4, read, 9, 1)]), in_the_way);
    assert_eq!(locked(&[(3, read, 0, 0), (4, read, 0, 0), (3, write, 5, 1)]), in_the_way);
    assert_eq!(locked(&[(3, write, 0, 10), (3, none, 4, 2), (4, write, 4, 2)]), []);
    assert_eq!(locked(&[(3, write, 0, 10), (3, none, 4, 2), (4, write, 4, 3)]), in_the_way);
    // Now it is a shared one.
    assert_eq!(locked(&[(3, write, 0, 10), (3, read, 0, 10), (4, read, 0, 10)]), []);
    let of_process = with(&[
        "1 fcntl(3</d/a>, F_SETLK, {l_type=F_WRLCK, l_whence=SEEK_SET, l_start=0, l_len=1}) = 0",
        &lock_of_open_file(3, write, 0, 1),
    ]);
    assert_eq!(left_out(&of_process), in_the_way, "a process that is gone by then");
    let trace = with(&[&lock_of_open_file(3, write, 7, 10)]);
    let program = Program::of(&trace, Choice::default());
    assert_eq!(steps(&program)[1..], [(Action::LockOpenFile, 7, 10, 0)]);
}

/// A program that ends gives its lock back, and a replay of it has one process: the next one would wait
/// for ever.
#[test]
fn a_lock_that_somebody_holds_is_left_out() {
    let held = with(&["1 flock(3</d/a>, LOCK_EX) = 0", AGAIN, "1 flock(4</d/a>, LOCK_EX) = 0"]);
    assert_eq!(left_out(&held), [(Reason::Unlike, 1)]);
    for given_back in ["1 flock(3</d/a>, LOCK_UN) = 0", "1 close(3</d/a>) = 0"] {
        let first = ["1 flock(3</d/a>, LOCK_EX) = 0", given_back];
        let free = with(&[&first[..], &[AGAIN, "1 flock(4</d/a>, LOCK_EX) = 0"]].concat());
        assert_eq!(left_out(&free), [], "{given_back}");
    }
    let shared = with(&["1 flock(3</d/a>, LOCK_SH) = 0", AGAIN, "1 flock(4</d/a>, LOCK_SH) = 0"]);
    assert_eq!(left_out(&shared), []);
}

/// What a log does not say enough of, and what a file is not open for.
#[test]
fn a_lock_of_which_too_little_is_known_is_left_out() {
    let trace = with(&[
        "1 fcntl(3</d/a>, F_SETLK, {}) = 0",
        "1 fcntl(3</d/a>, F_SETLK, {l_type=F_RDLCK, l_whence=SEEK_CUR, l_start=0, l_len=1}) = 0",
        "1 fcntl(3</d/a>, F_SETPIPE_SZ, 4096) = 4096",
        "1 ioctl(3</d/a>, FIONREAD, [0]) = 0",
    ]);
    assert_eq!(left_out(&trace), [(Reason::Kind, 4)]);
    let log =
        "1 fcntl(5</d/b>, F_SETLK, {l_type=F_WRLCK, l_whence=SEEK_SET, l_start=0, l_len=1}) = 0";
    let for_reading = trace_of_reader(log);
    assert_eq!(left_out(&for_reading), [(Reason::Unlike, 1)]);
}

fn trace_of_reader(call: &str) -> Trace {
    trace(&["1 openat(AT_FDCWD</d>, \"b\", O_RDONLY) = 5</d/b>", call])
}

/// dd with oflag=direct writes its last, partial block without O_DIRECT: it was written with it, which
/// no file system can.
#[test]
fn a_file_is_no_longer_direct_where_the_program_said_so() {
    let trace = trace(&[
        "1 openat(AT_FDCWD</d>, \"a\", O_WRONLY|O_CREAT|O_DIRECT, 0666) = 3</d/a>",
        "1 write(3</d/a>, \"\"..., 4096) = 4096",
        "1 fcntl(3</d/a>, F_SETFL, O_WRONLY) = 0",
        "1 write(3</d/a>, \"\"..., 100) = 100",
        "1 fcntl(3</d/a>, F_SETFL, O_WRONLY|O_DIRECT) = 0",
    ]);
    assert_eq!(left_out(&trace), []);
    let program = Program::of(&trace, Choice::default());
    let actions: Vec<_> = program.lanes[0].iter().map(|step| step.action).collect();
    assert_eq!(actions, [Action::Open, Action::Write, Action::Flags, Action::Write, Action::Flags]);
    let flags = |at: usize| program.lanes[0][at].flags;
    assert_eq!((flags(2), flags(4)), (0, 64));
    let never = with(&["1 fcntl(3</d/a>, F_SETFL, O_RDWR|O_DIRECT) = 0"]);
    assert_eq!(left_out(&never), [(Reason::Kind, 1)], "whether it can is not known");
}
