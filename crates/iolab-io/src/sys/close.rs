//! Closing within the timed window.

use std::os::fd::{IntoRawFd, OwnedFd};

/// close(2) in place, as every other call of a timed loop is made. Dropping a descriptor goes through the
/// wrapper of the C library, and on some processors the first return after a call of the kernel costs more
/// than the wrapper's instructions: a third of an open and a close (docs/performance.md).
#[inline(always)]
pub fn in_place(file: OwnedFd) {
    // SAFETY: the descriptor was owned and is given away; nothing else closes it.
    unsafe { rustix::io::close(file.into_raw_fd()) }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    #[test]
    fn what_is_given_is_closed() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        super::in_place(writer.into());
        // Nobody writes any more: the end is read at once.
        assert_eq!(reader.read(&mut [0; 1]).unwrap(), 0);
    }
}
