//! Closing within the timed window.

use std::os::fd::{IntoRawFd, OwnedFd};

/// close(2) in place, as every other call of a timed loop is made. Dropping a descriptor goes through the
/// wrapper of the C library, and on some processors the first return after a call of the kernel costs more
/// than the wrapper's instructions: 250 ns of an open and a close (docs/performance.md).
#[inline(always)]
pub fn in_place(file: OwnedFd) {
    // SAFETY: the descriptor was owned and is given away; nothing else closes it.
    unsafe { rustix::io::close(file.into_raw_fd()) }
}

#[cfg(test)]
mod tests {
    use std::os::fd::{AsRawFd, OwnedFd};

    #[test]
    fn what_is_closed_is_closed_once() {
        let (reader, writer) = std::io::pipe().unwrap();
        let number = writer.as_raw_fd();
        super::in_place(OwnedFd::from(writer));
        // Nobody writes any more: the end is read at once.
        assert_eq!(std::io::Read::read(&mut { reader }, &mut [0; 1]).unwrap(), 0, "{number}");
    }
}
