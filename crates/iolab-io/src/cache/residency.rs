//! The three ways to see which pages of a file are resident.

use std::fs::File;
use std::io::{self, IoSliceMut};
use std::os::unix::fs::{FileExt, MetadataExt};

use rustix::fs::{Advice, FsWord, fadvise, fstatfs};
use rustix::io::{Errno, ReadWriteFlags, preadv2};

use super::evict::reopen;
use crate::sys::resident::{cachestat, may_mincore, mincore_pages};
use iolab_model::result::Residency;

/// Pages that `rwf_nowait` looks at in a file that has more.
const SAMPLED_PAGES: u64 = 4096;
/// Misses after which `rwf_nowait` has seen enough: each miss costs a read of the device.
const MISSES: u64 = 64;

/// A way to see residency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Probe {
    /// `cachestat(2)`, Linux 6.5: counts dirty pages too; reports 0 on overlayfs.
    Cachestat,
    /// `mincore(2)` on a mapping: reports all resident without permission.
    Mincore,
    /// `preadv2(RWF_NOWAIT)`: any readable file. A miss starts the read of that page (measured on
    /// 6.18; mm/filemap.c calls read-ahead under `IOCB_NOWAIT` since 5.12), so who looks for
    /// absence must evict again afterwards.
    Nowait,
}

impl Probe {
    /// Every probe, the best first.
    pub const ALL: [Probe; 3] = [Probe::Cachestat, Probe::Mincore, Probe::Nowait];

    /// The name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Probe::Cachestat => "cachestat",
            Probe::Mincore => "mincore",
            Probe::Nowait => "rwf_nowait",
        }
    }

    /// Whether looking changes what is looked at.
    pub const fn disturbs(self) -> bool {
        matches!(self, Probe::Nowait)
    }

    /// What the probe sees of a file now.
    pub fn look(self, file: &File) -> io::Result<Residency> {
        let page_bytes = crate::sys::page::page_bytes();
        let about = file.metadata()?;
        let file_bytes = about.len();
        let mut total_bytes = file_bytes.div_ceil(page_bytes) * page_bytes;
        if is_memory_only(file) {
            // A hole in tmpfs reads as zeros and never gets a page.
            total_bytes = total_bytes.min(about.blocks() * 512);
        }
        let mut dirty_bytes = None;
        let resident_bytes = match self {
            Probe::Cachestat => {
                let stat = cachestat(file)?;
                dirty_bytes = Some((stat.dirty_pages + stat.writeback_pages) * page_bytes);
                stat.cached_pages * page_bytes
            }
            Probe::Mincore if !may_mincore(file) => {
                return Err(io::Error::new(
                    io::ErrorKind::PermissionDenied,
                    "mincore tells the truth to the owner and to those who may write only",
                ));
            }
            Probe::Mincore => mincore_pages(file, file_bytes)? * page_bytes,
            Probe::Nowait => nowait(file, file_bytes.div_ceil(page_bytes), page_bytes)?,
        };
        // Large folios at the end of a file may reach beyond it.
        let resident_bytes = resident_bytes.min(total_bytes);
        Ok(Residency { probe: self.name().into(), total_bytes, resident_bytes, dirty_bytes })
    }
}

/// tmpfs and ramfs (include/uapi/linux/magic.h).
const MEMORY_ONLY: [FsWord; 2] = [0x0102_1994, 0x8584_58f6];

/// Whether the page cache is the only place of this file.
pub(super) fn is_memory_only(file: &File) -> bool {
    fstatfs(file).is_ok_and(|fs| MEMORY_ONLY.contains(&fs.f_type))
}

/// Resident bytes by reading one byte of each page, or of 4096 pages spread over the file, that
/// must not wait. Exact at "none" and "all" of the pages looked at, in proportion between.
fn nowait(file: &File, pages: u64, page_bytes: u64) -> io::Result<u64> {
    let own = reopen(file);
    let file = own.as_ref().unwrap_or(file);
    // Without this a miss reads ahead and the probe finds its own pages.
    fadvise(file, 0, None, Advice::Random)?;
    let before = device_read_bytes();
    let (mut hits, mut misses) = (0_u64, 0_u64);
    for page in spread(pages) {
        let offset = page * page_bytes;
        if is_resident(file, offset)? {
            hits += 1;
        } else {
            misses += 1;
            // Wait for the read that the miss has begun: a page under I/O cannot be evicted.
            file.read_at(&mut [0], offset)?;
        }
        if misses == MISSES {
            break;
        }
    }
    // A call that must not wait begins to read ahead nevertheless, and finds the page where the
    // device was fast enough: what the device delivered was not there.
    let delivered = device_read_bytes().zip(before).map_or(0, |(after, before)| after - before);
    let looked = (hits + misses).max(1);
    misses = misses.max(delivered.div_ceil(page_bytes)).min(looked);
    hits = looked - misses;
    Ok(if misses == 0 { pages * page_bytes } else { pages * hits / looked * page_bytes })
}

fn is_resident(file: &File, offset: u64) -> io::Result<bool> {
    let mut byte = [0];
    loop {
        let into = &mut [IoSliceMut::new(&mut byte)];
        match preadv2(file, into, offset, ReadWriteFlags::NOWAIT) {
            Ok(_) => return Ok(true),
            Err(Errno::AGAIN) => return Ok(false),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Up to 4096 page numbers spread evenly over a file, visited in a scattered order, so that a
/// look that ends early has still seen the whole of it.
fn spread(pages: u64) -> impl Iterator<Item = u64> {
    let count = pages.min(SAMPLED_PAGES);
    // An odd step near the golden ratio that shares no divisor with the count visits each once.
    let step = (count * 618 / 1000..).find(|step| gcd(*step, count.max(1)) == 1).unwrap_or(1);
    (0..count).map(move |i| {
        let slot = (u128::from(i) * u128::from(step) % u128::from(count)) as u64;
        (u128::from(slot) * u128::from(pages) / u128::from(count)) as u64
    })
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// `read_bytes` of this thread's io: bytes that it caused the device to deliver (proc(5)). A trial
/// with several threads counts them by `metric` instead.
pub fn device_read_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/io").ok()?;
    text.lines().find_map(|line| line.strip_prefix("read_bytes: "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{SAMPLED_PAGES, spread};

    #[test]
    fn the_sample_is_distinct_spread_and_within_the_file() {
        for pages in [0, 1, 2, 3, 5, 100, 4095, 4096, 4097, 1 << 20, u64::MAX >> 12] {
            let mut seen: Vec<u64> = spread(pages).collect();
            assert_eq!(seen.len() as u64, pages.min(SAMPLED_PAGES));
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len() as u64, pages.min(SAMPLED_PAGES), "{pages}");
            assert!(seen.iter().all(|page| *page < pages));
        }
        let early: Vec<u64> = spread(1 << 20).take(64).collect();
        assert!(early.iter().any(|p| *p < 1 << 18) && early.iter().any(|p| *p > 3 << 18));
    }
}
