//! How files are opened and locked here.

use rustix::fs::OFlags;

use crate::sys::raw_control::{LockNumbers, OF_RANGES, OF_WHOLE_FILES};
use iolab_trace::replay::{Action, Program};
use iolab_trace::{Lock, OpenFlags};

/// The numbers of this kernel in place of those of a trace. No link is ever followed.
pub(super) fn translate(program: &mut Program) {
    for step in program.lanes.iter_mut().flatten() {
        step.flags = match step.action {
            Action::Open | Action::Flags => os_flags(OpenFlags(step.flags)).bits(),
            Action::LockRange | Action::LockOpenFile => os_lock(step.flags, &OF_RANGES),
            Action::LockWhole => os_lock(step.flags, &OF_WHOLE_FILES),
            _ => step.flags,
        };
    }
}

fn os_lock(number: u32, numbers: &LockNumbers) -> u32 {
    let number = match Lock::from_number(number) {
        Some(Lock::Shared) => numbers.shared,
        Some(Lock::Exclusive) => numbers.exclusive,
        Some(Lock::Nothing) | None => numbers.nothing,
    };
    number as u32
}

fn os_flags(flags: OpenFlags) -> OFlags {
    let all = [
        (OpenFlags::CREAT, OFlags::CREATE),
        (OpenFlags::EXCL, OFlags::EXCL),
        (OpenFlags::TRUNC, OFlags::TRUNC),
        (OpenFlags::APPEND, OFlags::APPEND),
        (OpenFlags::DIRECT, OFlags::DIRECT),
        (OpenFlags::SYNC, OFlags::SYNC),
        (OpenFlags::DSYNC, OFlags::DSYNC),
        (OpenFlags::DIRECTORY, OFlags::DIRECTORY),
        (OpenFlags::PATH, OFlags::PATH),
        (OpenFlags::NOATIME, OFlags::NOATIME),
    ];
    let access = match (flags.has(OpenFlags::RDWR), flags.has(OpenFlags::WRONLY)) {
        (true, _) => OFlags::RDWR,
        (false, true) => OFlags::WRONLY,
        (false, false) => OFlags::RDONLY,
    };
    let fixed = access | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    all.iter()
        .filter(|(of_trace, _)| flags.has(*of_trace))
        .fold(fixed, |all, (_, flag)| all | *flag)
}
