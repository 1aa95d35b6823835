//! How files are opened here.

use rustix::fs::OFlags;

use iolab_trace::OpenFlags;
use iolab_trace::replay::{Action, Program};

/// The numbers of this kernel in place of those of a trace. No link is ever followed.
pub(super) fn translate(program: &mut Program) {
    let steps = program.lanes.iter_mut().flatten();
    for step in steps.filter(|step| matches!(step.action, Action::Open | Action::Flags)) {
        step.flags = os_flags(OpenFlags(step.flags)).bits();
    }
}

fn os_flags(flags: OpenFlags) -> OFlags {
    let words = [
        ("O_CREAT", OFlags::CREATE),
        ("O_EXCL", OFlags::EXCL),
        ("O_TRUNC", OFlags::TRUNC),
        ("O_APPEND", OFlags::APPEND),
        ("O_DIRECT", OFlags::DIRECT),
        ("O_SYNC", OFlags::SYNC),
        ("O_DSYNC", OFlags::DSYNC),
        ("O_DIRECTORY", OFlags::DIRECTORY),
        ("O_PATH", OFlags::PATH),
        ("O_NOATIME", OFlags::NOATIME),
    ];
    let access = match (flags.has("O_RDWR"), flags.has("O_WRONLY")) {
        (true, _) => OFlags::RDWR,
        (false, true) => OFlags::WRONLY,
        (false, false) => OFlags::RDONLY,
    };
    let fixed = access | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    words.iter().filter(|(word, _)| flags.has(word)).fold(fixed, |all, (_, flag)| all | *flag)
}
