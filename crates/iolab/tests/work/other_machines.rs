//! What makes of this machine another one: programs in C that stand between iolab and the kernel.

use std::path::PathBuf;
use std::process::Command;

use crate::cli_support::Home;

/// A library that is loaded before all others: the time of day is so many seconds off, and no other
/// clock is. What libc tells goes through it, and so do Rust's own times.
const CLOCK: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>
int clock_gettime(clockid_t id, struct timespec *at) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int done = real(id, at);
    if (!done && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) at->tv_sec += OFF;
    return done;
}
int gettimeofday(struct timeval *at, void *zone) {
    struct timespec now;
    int done = clock_gettime(CLOCK_REALTIME, &now);
    at->tv_sec = now.tv_sec, at->tv_usec = now.tv_nsec / 1000;
    return done;
}
time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}
"#;

/// A program that starts another, for which the calls that Linux got since 4.5 are not there.
const OLD: &str = r#"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int count, char **words) {
    /* copy_file_range, preadv2, pwritev2, statx; from 424 on all machines have the same numbers. */
    int calls[] = { SYS_copy_file_range, SYS_preadv2, SYS_pwritev2, SYS_statx };
    struct sock_filter load = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0);
    struct sock_filter no = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
    struct sock_filter yes = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_filter all[] = { load,
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[0], 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[1], 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[2], 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[3], 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 424, 0, 1),
        no, yes };
    struct sock_fprog program = { sizeof all / sizeof *all, all };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        return 77;
    execvp(words[1], words + 1);
    return 127 - !count;
}
"#;

fn compiled(home: &Home, name: &str, text: &str, options: &[&str], test: &str) -> Option<PathBuf> {
    let (source, made) = (home.path(&format!("{name}.c")), home.path(name));
    std::fs::write(&source, text).unwrap();
    let done = Command::new("cc").arg(&source).arg("-o").arg(&made).args(options).output();
    let Ok(done) = done else {
        eprintln!("SKIP {test}: no C compiler: apt-get install gcc libc6-dev");
        return None;
    };
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Some(made)
}

/// The variable of the environment of a machine whose time of day is so many years off; `None` says
/// why there is none.
pub fn years_off(home: &Home, years: i64, test: &str) -> Option<String> {
    let off = format!("-DOFF=({}L)", years * 365 * 86_400);
    let name = format!("clock{years}.so");
    let library = compiled(home, &name, CLOCK, &["-shared", "-fPIC", "-ldl", &off], test)?;
    Some(format!("LD_PRELOAD={}", library.display()))
}

/// What is prefixed to a command that is to find an old kernel; `None` says why there is none.
pub fn old_kernel(home: &Home, test: &str) -> Option<String> {
    let program = compiled(home, "old-kernel", OLD, &[], test)?;
    let tried = Command::new(&program).arg("true").status().unwrap();
    if !tried.success() {
        eprintln!("SKIP {test}: no seccomp here");
        return None;
    }
    Some(program.display().to_string())
}
