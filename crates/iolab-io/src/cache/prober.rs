//! Which probes can be believed here: each is tested on a file whose state is known.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use super::evict::{evict, prime};
use super::residency::{Probe, device_read_bytes};
use iolab_model::result::{Fault, Residency};

/// Size of the file that probes are tested on.
const TEST_BYTES: u64 = 256 * 1024;

const PROBING: &str = "probe the page cache";

/// A probe that is not used, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// Which.
    pub probe: Probe,
    /// In words.
    pub reason: String,
}

/// The probes that passed their test in the scratch directory. A file elsewhere is asked for its
/// own permission and file system at first sight.
#[derive(Debug)]
pub struct Prober {
    accepted: Vec<Probe>,
    rejected: Vec<Rejected>,
    /// Whether eviction empties the cache on this file system (false on tmpfs).
    pub evicts: bool,
    by_file: RefCell<BTreeMap<FileKey, Vec<Probe>>>,
}

/// Device, inode, owner and mode: what decides whether a probe can be believed.
type FileKey = (u64, u64, u32, u32);

/// What the probes see of one file.
pub(super) struct Sight {
    /// By the best probe.
    pub first: Residency,
    /// By an independent one, where there is one.
    pub second: Option<Residency>,
}

impl Prober {
    /// Tests every probe on a file of its own in `scratch`, which is gone when this returns.
    /// Where no probe survives this still succeeds, and [`Prober::residency`] says why not.
    pub fn start(scratch: &Path) -> Result<Prober, Fault> {
        let file = test_file(scratch)
            .map_err(|e| Fault::of(format!("make a test file in {}", scratch.display()), &e))?;
        let mut prober = Prober {
            accepted: Vec::new(),
            rejected: Vec::new(),
            evicts: false,
            by_file: RefCell::default(),
        };
        prober.test(&file)?;
        Ok(prober)
    }

    fn test(&mut self, file: &File) -> Result<(), Fault> {
        // A hole that nobody has read: no page can be in the cache.
        file.set_len(TEST_BYTES).map_err(|e| Fault::of("make a sparse test file", &e))?;
        let hole: Vec<_> = Probe::ALL.map(|probe| probe.look(file)).into();
        fill(file).map_err(|e| Fault::of("write a test file", &e))?;
        evict(file)?;
        prime(file)?;
        let primed: Vec<_> = Probe::ALL.map(|probe| probe.look(file)).into();
        evict(file)?;
        let evicted: Vec<_> = Probe::ALL.map(|probe| probe.look(file)).into();
        // What the device had to deliver is the truth about the eviction.
        evict(file)?;
        let before = device_read_bytes();
        prime(file)?;
        let delivered = device_read_bytes().zip(before).map(|(after, before)| after - before);
        self.evicts = delivered.is_some_and(|bytes| bytes * 100 >= TEST_BYTES * 99);
        for (at, probe) in Probe::ALL.into_iter().enumerate() {
            match judge(&hole[at], &primed[at], &evicted[at], self.evicts) {
                Ok(()) => self.accepted.push(probe),
                Err(reason) => self.rejected.push(Rejected { probe, reason }),
            }
        }
        Ok(())
    }

    /// Probes that passed, the best first.
    pub fn accepted(&self) -> &[Probe] {
        &self.accepted
    }

    /// Probes that did not, with the reason.
    pub fn rejected(&self) -> &[Rejected] {
        &self.rejected
    }

    /// How much of a file is in the page cache, by the best probe that can be believed for it.
    pub fn residency(&self, file: &File) -> Result<Residency, Fault> {
        let probes = self.probes_for(file)?;
        look(*probes.first().ok_or_else(|| self.no_probe())?, file)
    }

    /// What two independent probes see; a second one that would disturb is left out.
    pub(super) fn look_twice(&self, file: &File) -> Result<Sight, Fault> {
        let probes = self.probes_for(file)?;
        let (best, rest) = probes.split_first().ok_or_else(|| self.no_probe())?;
        let first = look(*best, file)?;
        let other = rest.first().filter(|probe| !probe.disturbs());
        let second = other.map(|probe| look(*probe, file)).transpose()?;
        Ok(Sight { first, second })
    }

    /// Whether the best probe for this file changes what it looks at.
    pub(super) fn disturbs(&self, file: &File) -> Result<bool, Fault> {
        Ok(self.probes_for(file)?.first().is_some_and(|probe| probe.disturbs()))
    }

    /// The probes to believe for one file: those that see a page which was read just now. An
    /// overlay's `cachestat` does not, and permissions are the file's own.
    fn probes_for(&self, file: &File) -> Result<Vec<Probe>, Fault> {
        let about = file.metadata().map_err(|e| Fault::of("look at a file", &e))?;
        let key = (about.dev(), about.ino(), about.uid(), about.mode());
        if let Some(known) = self.by_file.borrow().get(&key) {
            return Ok(known.clone());
        }
        let sees = |probe: &Probe| {
            probe.look(file).is_ok_and(|seen| seen.resident_bytes > 0 || seen.total_bytes == 0)
        };
        read_one_byte(file).map_err(|e| Fault::of("read the first byte of a file", &e))?;
        let known: Vec<Probe> = self.accepted.iter().copied().filter(sees).collect();
        // An empty file says nothing of a probe, and may grow.
        if about.len() > 0 {
            self.by_file.borrow_mut().insert(key, known.clone());
        }
        Ok(known)
    }

    /// Why no probe can be believed for this file; `None` where one can. Without one no cache
    /// state of it is ever proven.
    pub fn blind(&self, file: &File) -> Result<Option<String>, Fault> {
        Ok(self.probes_for(file)?.is_empty().then(|| self.no_probe().cause))
    }

    fn no_probe(&self) -> Fault {
        let reasons: Vec<String> =
            self.rejected.iter().map(|r| format!("{}: {}", r.probe.name(), r.reason)).collect();
        let cause = match reasons.len() {
            0 => String::from(
                "no probe sees the pages of this file; use --cache any, or a file you own",
            ),
            _ => format!("no probe can be believed here ({}); use --cache any", reasons.join("; ")),
        };
        Fault::new(PROBING, cause)
    }
}

fn look(probe: Probe, file: &File) -> Result<Residency, Fault> {
    probe.look(file).map_err(|e| Fault::of(PROBING, &e))
}

/// Holds what a probe said against what is known of the file.
fn judge(
    hole: &io::Result<Residency>,
    primed: &io::Result<Residency>,
    evicted: &io::Result<Residency>,
    evicts: bool,
) -> Result<(), String> {
    let say = |e: &io::Error| format!("not to be had: {e}");
    let (hole, primed) = (hole.as_ref().map_err(say)?, primed.as_ref().map_err(say)?);
    let evicted = evicted.as_ref().map_err(say)?;
    if primed.resident_bytes < primed.total_bytes {
        let (seen, all) = (primed.resident_bytes, primed.total_bytes);
        return Err(format!("sees {seen} of {all} bytes of a file that was just read"));
    }
    if evicts && evicted.resident_bytes > 0 {
        let seen = evicted.resident_bytes;
        return Err(format!("sees {seen} bytes of a file that is not in the cache"));
    }
    // A hole read through a descriptor may count as present, so only a probe that cannot be held
    // against an evicted file is judged by it.
    let sees_all = hole.resident_bytes > 0 && hole.resident_bytes == hole.total_bytes;
    if !evicts && sees_all && hole.probe != "rwf_nowait" {
        return Err("sees every byte of a file that nobody has read".into());
    }
    Ok(())
}

fn test_file(scratch: &Path) -> io::Result<File> {
    let mut random = [0; 8];
    // Collisions only cost a retry by the caller; O_EXCL keeps foreign files safe.
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
    let path = scratch.join(format!(".iolab-probe-{:016x}", u64::from_ne_bytes(random)));
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

/// Content that no file system can compress or leave out.
fn fill(file: &File) -> io::Result<()> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut content = Vec::with_capacity(TEST_BYTES as usize);
    while content.len() < TEST_BYTES as usize {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        content.extend_from_slice(&state.to_le_bytes());
    }
    file.write_all_at(&content, 0)
}

fn read_one_byte(file: &File) -> io::Result<()> {
    loop {
        match file.read_at(&mut [0], 0) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other.map(drop),
        }
    }
}
