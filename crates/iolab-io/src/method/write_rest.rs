//! What follows a write that did not take all of a block; rare, and kept out of the loops.

use rustix::fd::BorrowedFd;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;

use super::stop::Stop;

/// What follows a write at an offset that did not take all of a block.
#[cold]
#[inline(never)]
pub fn complete(
    file: BorrowedFd<'_>,
    first: Result<usize, Errno>,
    block: &[u8],
    at: u64,
) -> Result<(), Stop> {
    past_the_unit(file, block, first, |first| {
        rest(first, block, at, |rest, at| rustix::io::pwrite(file, rest, at))
    })
}

/// The same at the file position.
#[cold]
#[inline(never)]
pub fn complete_in_place(
    file: BorrowedFd<'_>,
    first: Result<usize, Errno>,
    block: &[u8],
) -> Result<(), Stop> {
    past_the_unit(file, block, first, |first| {
        // The position is where the next byte would have gone.
        let at = rustix::fs::tell(file).unwrap_or(0);
        let at = at.saturating_sub(*first.as_ref().unwrap_or(&0) as u64);
        rest(first, block, at, |rest, _| rustix::io::write(file, rest))
    })
}

/// Direct I/O moves whole units, so that the odd end of a file goes through the page cache, as
/// programs do it: without the flag for this one call.
fn past_the_unit(
    file: BorrowedFd<'_>,
    block: &[u8],
    first: Result<usize, Errno>,
    work: impl FnOnce(Result<usize, Errno>) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let flags = fcntl_getfl(file)?;
    let odd = !(block.len() as u64).is_multiple_of(LEAST_UNIT_BYTES);
    if first != Err(Errno::INVAL) || !flags.contains(OFlags::DIRECT) || !odd {
        return work(first);
    }
    fcntl_setfl(file, flags - OFlags::DIRECT)?;
    let done = work(Err(Errno::INTR));
    fcntl_setfl(file, flags)?;
    done
}

/// No device moves less at a time (a sector).
const LEAST_UNIT_BYTES: u64 = 512;

/// An interruption, or a short write that is continued. `block`: bytes that were to be written at
/// `at`.
fn rest(
    first: Result<usize, Errno>,
    block: &[u8],
    at: u64,
    mut write_at: impl FnMut(&[u8], u64) -> Result<usize, Errno>,
) -> Result<(), Stop> {
    let mut written = 0;
    let mut result = first;
    loop {
        match result {
            // POSIX allows it only where nothing was to be written.
            Ok(0) if written < block.len() => {
                return Err(Stop::new("a write took no byte and gave no reason"));
            }
            Ok(n) => written += n,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(Stop::from(errno).at_byte(at + written as u64)),
        }
        if written >= block.len() {
            return Ok(());
        }
        result = write_at(&block[written..], at + written as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::{Errno, rest};

    #[test]
    fn short_writes_and_interruptions_are_continued() {
        let block: Vec<u8> = (0..100).collect();
        let mut file = vec![0; 100];
        let mut script = [Err(Errno::INTR), Ok(7), Err(Errno::INTR), Ok(1), Ok(92)].into_iter();
        let mut sink = |bytes: &[u8], at: u64| {
            let n: usize = script.next().unwrap()?;
            file[at as usize - 1000..][..n].copy_from_slice(&bytes[..n]);
            Ok(n)
        };
        let first = sink(&block, 1000);
        rest(first, &block, 1000, sink).unwrap();
        assert_eq!(file, block);
    }

    #[test]
    fn a_full_disk_in_the_middle_of_a_block_is_a_stop_with_its_errno() {
        let mut script = [Err(Errno::NOSPC)].into_iter();
        let stop = rest(Ok(10), &[1; 64], 0, |_, _| script.next().unwrap()).unwrap_err();
        assert_eq!(stop.errno, Some(Errno::NOSPC.raw_os_error()));
        let nothing = rest(Ok(0), &[1; 64], 0, |_, _| panic!("no further call")).unwrap_err();
        assert!(nothing.cause.contains("no byte"));
    }
}
