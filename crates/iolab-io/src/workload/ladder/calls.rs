//! The loops. Each makes one call a step and nothing else; whether all went well is looked at
//! when the loop is done.

use std::hint::black_box;

use rustix::fs::{Mode, OFlags, SeekFrom};
use rustix::io::Errno;

use super::Bench;
use crate::method::Stop;
use crate::sys::clock::now_ns;
use crate::sys::close;

/// Runs `call` so many times, from one place as in a plain program. A failure is kept, not acted on.
#[inline(always)]
fn times<T>(calls: u64, mut call: impl FnMut() -> Result<T, Errno>) -> Result<(), Stop> {
    let mut failed = None;
    for _ in 0..calls {
        if let Err(errno) = call().map(black_box) {
            failed = Some(errno);
        }
    }
    failed.map_or(Ok(()), |errno| Err(errno.into()))
}

/// Runs `call` so many times over a file of `blocks` blocks; `turn` sets back to the first one.
/// `call` returns the bytes it moved.
#[inline(always)]
fn over_blocks(
    calls: u64,
    blocks: u64,
    block: usize,
    mut turn: impl FnMut() -> Result<(), Errno>,
    mut call: impl FnMut(u64) -> Result<usize, Errno>,
) -> Result<u64, Stop> {
    let mut bytes = 0;
    let mut left = calls;
    while left > 0 {
        let now = left.min(blocks);
        turn()?;
        let mut at = 0;
        times(now, || {
            let moved = call(at)?;
            at += block as u64;
            bytes += moved as u64;
            Ok(())
        })?;
        left -= now;
    }
    if bytes == calls * block as u64 {
        Ok(bytes)
    } else {
        Err(Stop::new(format!("{calls} calls of {block} bytes moved {bytes} bytes")))
    }
}

pub(super) fn clock(_: &mut Bench, calls: u64) -> Result<u64, Stop> {
    times(calls, || Ok(now_ns())).map(|()| 0)
}

pub(super) fn getppid(_: &mut Bench, calls: u64) -> Result<u64, Stop> {
    times(calls, || Ok(rustix::process::getppid())).map(|()| 0)
}

pub(super) fn lseek(bench: &mut Bench, calls: u64) -> Result<u64, Stop> {
    times(calls, || rustix::fs::seek(&bench.file, SeekFrom::Start(0))).map(|()| 0)
}

pub(super) fn read(bench: &mut Bench, calls: u64) -> Result<u64, Stop> {
    let (file, buffer) = (&bench.file, &mut bench.buffer[..]);
    let turn = || rustix::fs::seek(file, SeekFrom::Start(0)).map(drop);
    over_blocks(calls, bench.blocks, buffer.len(), turn, |_| rustix::io::read(file, &mut *buffer))
}

pub(super) fn pread(bench: &mut Bench, calls: u64) -> Result<u64, Stop> {
    let (file, buffer) = (&bench.file, &mut bench.buffer[..]);
    let (blocks, block) = (bench.blocks, buffer.len());
    over_blocks(calls, blocks, block, || Ok(()), |at| rustix::io::pread(file, &mut *buffer, at))
}

pub(super) fn write(bench: &mut Bench, calls: u64) -> Result<u64, Stop> {
    let (file, buffer) = (&bench.file, &bench.buffer[..]);
    let turn = || rustix::fs::seek(file, SeekFrom::Start(0)).map(drop);
    over_blocks(calls, bench.blocks, buffer.len(), turn, |_| rustix::io::write(file, buffer))
}

pub(super) fn pwrite(bench: &mut Bench, calls: u64) -> Result<u64, Stop> {
    let (file, buffer) = (&bench.file, &bench.buffer[..]);
    let call = |at| rustix::io::pwrite(file, buffer, at);
    over_blocks(calls, bench.blocks, buffer.len(), || Ok(()), call)
}

pub(super) fn fstat(bench: &mut Bench, calls: u64) -> Result<u64, Stop> {
    times(calls, || rustix::fs::fstat(&bench.file)).map(|()| 0)
}

pub(super) fn stat(bench: &mut Bench, calls: u64) -> Result<u64, Stop> {
    times(calls, || rustix::fs::stat(&*bench.path)).map(|()| 0)
}

pub(super) fn open_close(bench: &mut Bench, calls: u64) -> Result<u64, Stop> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let call = || rustix::fs::open(&*bench.path, flags, Mode::empty()).map(close::in_place);
    times(calls, call).map(|()| 0)
}

/// Modes to alternate between, so that every call is a real change.
const MODES: [u32; 2] = [0o600, 0o640];

/// Calls with the one mode and the other in turn.
#[inline(always)]
fn alternate(calls: u64, mut call: impl FnMut(Mode) -> Result<(), Errno>) -> Result<u64, Stop> {
    let mut turn = 0;
    times(calls, || {
        turn ^= 1;
        call(Mode::from_raw_mode(MODES[turn]))
    })
    .map(|()| 0)
}

pub(super) fn fchmod(bench: &mut Bench, calls: u64) -> Result<u64, Stop> {
    alternate(calls, |mode| rustix::fs::fchmod(&bench.file, mode))
}

pub(super) fn chmod(bench: &mut Bench, calls: u64) -> Result<u64, Stop> {
    alternate(calls, |mode| rustix::fs::chmod(&*bench.path, mode))
}
