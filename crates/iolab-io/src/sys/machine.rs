//! What this kernel lets this process do, found by trying.

use std::io;

/// The version of glibc that this process runs on; `None` on another C library.
pub fn libc_version() -> Option<String> {
    #[cfg(target_env = "gnu")]
    {
        // SAFETY: takes nothing and returns a constant, NUL-terminated string.
        let version = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
        Some(version.to_string_lossy().into_owned())
    }
    #[cfg(not(target_env = "gnu"))]
    None
}

/// Sets up a small io_uring and lets go of it. `ENOSYS`: not in this kernel; `EPERM`: forbidden by
/// `kernel.io_uring_disabled` or a seccomp filter (io_uring_setup(2)).
pub fn try_io_uring() -> io::Result<()> {
    // `struct io_uring_params` is 120 bytes, all zero for the defaults.
    let mut parameters = [0_u64; 15];
    // SAFETY: the kernel reads and writes the 120 bytes of `parameters` only.
    let fd = unsafe { libc::syscall(libc::SYS_io_uring_setup, 4_u32, parameters.as_mut_ptr()) };
    close_or_error(fd)
}

/// Opens a software perf counter (the task's clock) on this process, as perf_event_open(2) says.
pub fn try_perf_clock() -> io::Result<()> {
    const PERF_TYPE_SOFTWARE: u32 = 1;
    const PERF_COUNT_SW_TASK_CLOCK: u64 = 1;
    const SIZE_BYTES: u32 = 64; // PERF_ATTR_SIZE_VER0
    const EXCLUDE_KERNEL: u64 = 1 << 5;
    let first = u64::from(PERF_TYPE_SOFTWARE) | u64::from(SIZE_BYTES) << 32;
    // type and size, config, period, sample type, read format, flags, wake-up, breakpoint.
    let attributes = [first.to_le(), PERF_COUNT_SW_TASK_CLOCK, 0, 0, 0, EXCLUDE_KERNEL, 0, 0];
    let (this_process, any_cpu, no_group, flags) = (0, -1, -1, 0);
    // SAFETY: the kernel reads the 64 bytes that `attributes` says it has.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            attributes.as_ptr(),
            this_process,
            any_cpu,
            no_group,
            flags,
        )
    };
    close_or_error(fd)
}

/// Makes a user and a mount namespace in a child, as an unprivileged overlay or mount needs.
pub fn try_user_namespace() -> io::Result<()> {
    // SAFETY: the child calls only async-signal-safe functions (unshare, _exit) and never returns.
    let child = unsafe { libc::fork() };
    match child {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            let namespaces = libc::CLONE_NEWUSER | libc::CLONE_NEWNS;
            // SAFETY: changes this child only; _exit runs no destructors of the parent's copies.
            unsafe {
                let failed = libc::unshare(namespaces) != 0;
                libc::_exit(if failed { *libc::__errno_location() } else { 0 })
            }
        }
        child => exit_as_error(child),
    }
}

fn exit_as_error(child: libc::pid_t) -> io::Result<()> {
    let mut status = 0;
    // SAFETY: waits for our own child and writes one int; repeated where a signal came in between.
    while unsafe { libc::waitpid(child, &mut status, 0) } < 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    match libc::WEXITSTATUS(status) {
        0 if libc::WIFEXITED(status) => Ok(()),
        errno if libc::WIFEXITED(status) => Err(io::Error::from_raw_os_error(errno)),
        _ => Err(io::Error::other("the child was killed")),
    }
}

fn close_or_error(fd: libc::c_long) -> io::Result<()> {
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a descriptor just given to us, closed once.
    unsafe { libc::close(fd as libc::c_int) };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{libc_version, try_io_uring, try_perf_clock, try_user_namespace};

    #[test]
    fn probes_answer_with_an_errno_and_leave_no_descriptor() {
        let open = || std::fs::read_dir("/proc/thread-self/fd").unwrap().count();
        let _ = (try_io_uring(), try_perf_clock());
        for result in [try_io_uring(), try_perf_clock(), try_user_namespace()] {
            assert!(result.is_ok() || result.unwrap_err().raw_os_error().is_some());
        }
        // Other tests open files meanwhile; hundreds of leaks would show all the same.
        let before = open();
        for _ in 0..300 {
            let _ = (try_io_uring(), try_perf_clock());
        }
        assert!(open() < before + 250);
        assert_eq!(libc_version().is_some(), cfg!(target_env = "gnu"));
    }
}
