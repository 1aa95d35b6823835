//! An io_uring for one call at a time on any descriptor, by number and with memory of the caller's, as
//! a replay makes them: nothing is registered. Results are as in `raw_call`.

use std::io;

use io_uring::{IoUring, opcode, squeue, types};

use super::ring::{RingError, errno_of, set_up};

/// A ring of the thread that made it.
pub struct CallRing {
    ring: IoUring,
    /// Why the kernel took a request no more: none is made after it.
    refused: Option<i64>,
}

impl std::fmt::Debug for CallRing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CallRing({:?})", self.refused)
    }
}

impl CallRing {
    /// A ring for one request.
    pub fn new() -> Result<CallRing, RingError> {
        let ring = set_up(1).map_err(|error| RingError::Setup(errno_of(&error)))?;
        Ok(CallRing { ring, refused: None })
    }

    /// As pread(2).
    pub fn read_at(&mut self, fd: i32, into: &mut [u8], offset: u64) -> i64 {
        let (start, bytes) = (into.as_mut_ptr(), into.len() as u32);
        let entry = opcode::Read::new(types::Fd(fd), start, bytes).offset(offset).build();
        // SAFETY: the kernel writes within the slice, which is borrowed until the request has ended.
        unsafe { self.call(&entry) }
    }

    /// As pwrite(2).
    pub fn write_at(&mut self, fd: i32, from: &[u8], offset: u64) -> i64 {
        let (start, bytes) = (from.as_ptr(), from.len() as u32);
        let entry = opcode::Write::new(types::Fd(fd), start, bytes).offset(offset).build();
        // SAFETY: the kernel reads within the slice, which is borrowed until the request has ended.
        unsafe { self.call(&entry) }
    }

    /// As fsync(2), or fdatasync(2).
    pub fn sync(&mut self, fd: i32, data_alone: bool) -> i64 {
        let flags = match data_alone {
            true => types::FsyncFlags::DATASYNC,
            false => types::FsyncFlags::empty(),
        };
        let entry = opcode::Fsync::new(types::Fd(fd)).flags(flags).build();
        // SAFETY: no memory is passed.
        unsafe { self.call(&entry) }
    }

    /// Makes a request and waits until it has ended.
    ///
    /// # Safety
    /// The memory that it names may be used by the kernel until this returns.
    #[inline(always)]
    unsafe fn call(&mut self, entry: &squeue::Entry) -> i64 {
        if let Some(errno) = self.refused {
            return errno;
        }
        // SAFETY: the caller's memory is lent until the request has ended, and it ends below. There
        // is room: no other request is under way.
        if unsafe { self.ring.submission().push(entry) }.is_err() {
            return -i64::from(libc::EBUSY);
        }
        loop {
            let waited = self.ring.submit_and_wait(1);
            if let Some(ended) = self.ring.completion().next() {
                return i64::from(ended.result());
            }
            match waited {
                // It was not taken, and must never be: its memory is lent no longer.
                Err(error) if is_final(&error) && !self.ring.submission().is_empty() => {
                    let errno = -i64::from(errno_of(&error).raw_os_error());
                    self.refused = Some(errno);
                    return errno;
                }
                // It is under way: the memory is the kernel's until it ends.
                _ => {}
            }
        }
    }
}

fn is_final(error: &io::Error) -> bool {
    error.kind() != io::ErrorKind::Interrupted
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsRawFd;

    use super::CallRing;
    use crate::sys::testing::skip;

    #[test]
    fn requests_come_back_as_calls_do() {
        let test = "requests_come_back_as_calls_do";
        let mut ring = match CallRing::new() {
            Ok(ring) => ring,
            Err(error) => return skip(test, &error.to_string()),
        };
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[7; 100]).unwrap();
        let (fd, mut into) = (file.as_raw_fd(), [0; 64]);
        for _ in 0..3 {
            assert_eq!(ring.read_at(fd, &mut into, 60), 40, "the end of the file is a short read");
            assert_eq!(ring.read_at(fd, &mut into, 100), 0);
        }
        assert_eq!(into[39..41], [7, 0]);
        assert_eq!(ring.write_at(fd, &[9; 10], 100), 10);
        assert_eq!((ring.sync(fd, false), ring.sync(fd, true)), (0, 0));
        assert_eq!(file.metadata().unwrap().len(), 110);
        assert_eq!(ring.read_at(-1, &mut into, 0), -i64::from(libc::EBADF));
        assert_eq!(ring.read_at(fd, &mut into[..1], 105), 1, "an error is one call's alone");
    }
}
