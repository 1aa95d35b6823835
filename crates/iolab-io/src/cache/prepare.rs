//! Reaching a state, and the verdict on it.

use std::fs::File;
use std::time::Duration;

use rustix::fs::syncfs;

use super::evict::{LastResort, drop_caches, evict, evict_written, prime, write_back};
use super::prober::{Prober, Sight};
use super::residency::is_memory_only;
use super::stored::stored_bytes;
use iolab_model::catalog::{CacheState, Code};
use iolab_model::result::{CacheProof, Fault, Reached, Residency, Step};

/// Evictions tried before the last resort; the waits between them double from 1 ms.
const EVICTIONS: u32 = 6;
/// Brings a file into the wanted state and records what the probes see of it. The result is not
/// `proven` yet, except for [`CacheState::Any`]: [`conclude`] it after the window. A state that could
/// not be reached is no fault: it is in `reason`.
pub fn prepare(wanted: CacheState, file: &File, prober: &Prober) -> Result<CacheProof, Fault> {
    if wanted.is_cold() && !is_memory_only(file) {
        // The location of delayed extents is known only once they are written.
        write_back(file).map_err(|e| Fault::of("write a file back", &e))?;
    }
    reach_by(wanted, file, prober, evict, evict)
}

/// The same of a file that others on this machine prepare at the same moment: nobody who wants it warm
/// takes out what another has just brought in.
pub fn prepare_shared(
    wanted: CacheState,
    file: &File,
    prober: &Prober,
) -> Result<CacheProof, Fault> {
    if wanted.is_cold() {
        return prepare(wanted, file, prober);
    }
    reach_by(wanted, file, prober, evict, |_| Ok(()))
}

/// The same of a file whose file system was just synced.
pub fn prepare_written(
    wanted: CacheState,
    file: &File,
    prober: &Prober,
) -> Result<CacheProof, Fault> {
    reach_by(wanted, file, prober, evict_written, evict)
}

/// How a file is evicted; where that was in vain, it is written back first.
type Evict = fn(&File) -> Result<(), Fault>;

fn reach_by(
    wanted: CacheState,
    file: &File,
    prober: &Prober,
    first: Evict,
    before_priming: Evict,
) -> Result<CacheProof, Fault> {
    let remounted = wanted == CacheState::Remount;
    let wanted = wanted.of_pages();
    let mut proof = CacheProof { wanted: wanted.into(), ..CacheProof::default() };
    let blind = if wanted == CacheState::Any { None } else { prober.blind(file)? };
    match wanted {
        _ if blind.is_some() => {
            proof.how = Reached::by(Step::Nothing);
            proof.reason = blind;
        }
        CacheState::Cold | CacheState::Remount => reach_cold(file, prober, first, &mut proof)?,
        CacheState::Warm => reach_warm(file, prober, before_priming, &mut proof)?,
        CacheState::Any => {
            proof.how = Reached::by(Step::AsItWas);
            proof.before = prober.residency(file).ok();
            proof.proven = true;
        }
    }
    if remounted {
        proof.how = proof.how.after_remount();
    }
    Ok(proof)
}

/// Of files whose names and attributes were just looked at, and whose data do not matter.
pub fn looked_at() -> CacheProof {
    let (wanted, how) = (CacheState::Warm.into(), Reached::by(Step::LookedAt));
    CacheProof { wanted, how, expected_device_bytes: Some(0), ..CacheProof::default() }
}

/// Of files of which nothing is cached since their file system was mounted, and whose data do not
/// matter: the device must deliver a block of names or attributes.
pub fn just_mounted() -> CacheProof {
    let (wanted, how) = (CacheState::Cold.into(), Reached::REMOUNT);
    let least = crate::sys::page::page_bytes();
    CacheProof { wanted, how, expected_device_bytes: Some(least), ..CacheProof::default() }
}

fn reach_cold(
    file: &File,
    prober: &Prober,
    first: Evict,
    proof: &mut CacheProof,
) -> Result<(), Fault> {
    if is_memory_only(file) {
        proof.how = Reached::by(Step::Nothing);
        proof.reason = Some("tmpfs and ramfs keep files in the page cache only".into());
        return Ok(());
    }
    let stored = stored_bytes(file).map_err(|e| Fault::of("look where a file is stored", &e))?;
    proof.expected_device_bytes = Some(stored);
    for attempt in 1..=EVICTIONS {
        proof.how = Reached::by(Step::Evict(attempt));
        if evict_and_look(file, prober, if attempt == 1 { first } else { evict }, proof)? {
            return Ok(());
        }
        // Pages in flight, or dirty below an overlay, are the usual rest.
        let _ = syncfs(file);
        std::thread::sleep(Duration::from_millis(1 << (attempt - 1)));
    }
    match drop_caches().map_err(|e| Fault::of("drop the machine's page cache", &e))? {
        LastResort::Dropped => {
            proof.how = Reached::by(Step::DropCaches);
            evict_and_look(file, prober, evict, proof)?;
        }
        LastResort::Spent => {
            let before = proof.reason.take().unwrap_or_default();
            let said = "the whole machine's page cache was dropped once in this run already";
            proof.reason = Some(format!("{before}; {said}"));
        }
        LastResort::Denied => {}
    }
    Ok(())
}

/// One eviction and what is left after it; true where nothing is.
fn evict_and_look(
    file: &File,
    prober: &Prober,
    evict: Evict,
    proof: &mut CacheProof,
) -> Result<bool, Fault> {
    evict(file)?;
    let sight = prober.look_twice(file)?;
    if prober.disturbs(file)? {
        // The pages that were missing are there now, because it looked.
        evict(file)?;
    }
    doubt(proof, why_not_cold(&sight));
    proof.before = Some(sight.first);
    Ok(proof.reason.is_none())
}

/// Why a proof does not hold.
struct Doubt {
    reason: String,
    /// Two proofs contradict each other.
    disagree: bool,
}

impl From<String> for Doubt {
    fn from(reason: String) -> Doubt {
        Doubt { reason, disagree: false }
    }
}

impl Doubt {
    fn disagree(what: &str) -> Doubt {
        Doubt { reason: format!("proofs disagree: {what}"), disagree: true }
    }
}

fn doubt(proof: &mut CacheProof, doubt: Option<Doubt>) {
    proof.disagree = doubt.as_ref().is_some_and(|doubt| doubt.disagree);
    proof.reason = doubt.map(|doubt| doubt.reason);
}

fn why_not_cold(sight: &Sight) -> Option<Doubt> {
    let first = &sight.first;
    let second = sight.second.as_ref();
    let seen = first.resident_bytes + first.dirty_bytes.unwrap_or(0);
    let also = second.map_or(0, |second| second.resident_bytes);
    match (seen, also) {
        (0, 0) => None,
        (0, also) => Some(disagree(sight, also)),
        _ => Some(Doubt::from(format!(
            "partly cold: {} of {} bytes stay resident after eviction{}",
            first.resident_bytes,
            first.total_bytes,
            dirty_words(first.dirty_bytes),
        ))),
    }
}

fn reach_warm(
    file: &File,
    prober: &Prober,
    before: Evict,
    proof: &mut CacheProof,
) -> Result<(), Fault> {
    proof.expected_device_bytes = Some(0);
    proof.how = Reached::by(Step::Resident);
    if look_warm(file, prober, proof)? {
        return Ok(());
    }
    if proof.before.as_ref().is_some_and(|seen| seen.resident_bytes < seen.total_bytes) {
        // Emptied first, so that the pages come in as the canonical primer brings them.
        before(file)?;
        prime(file)?;
        proof.how = Reached::by(Step::EvictAndPrime);
    } else {
        write_back(file).map_err(|e| Fault::of("write a file back", &e))?;
        proof.how = Reached::by(Step::WriteBack);
    }
    // The second read marks the pages as in use, and fills what the first could not keep.
    prime(file)?;
    look_warm(file, prober, proof)?;
    Ok(())
}

/// By one probe: a page that it only seems to see is brought by the device, whose bytes are counted
/// during the trial. A second probe of every page took as long as a fifth of a pass over them.
fn look_warm(file: &File, prober: &Prober, proof: &mut CacheProof) -> Result<bool, Fault> {
    let seen = prober.residency(file)?;
    doubt(proof, why_not_warm(&seen).map(Doubt::from));
    proof.before = Some(seen);
    Ok(proof.reason.is_none())
}

fn why_not_warm(first: &Residency) -> Option<String> {
    if first.resident_bytes < first.total_bytes {
        let (seen, all) = (first.resident_bytes, first.total_bytes);
        return Some(format!(
            "partly warm: {seen} of {all} bytes are resident; is enough memory free?"
        ));
    }
    let dirty = first.dirty_bytes.is_some_and(|dirty| dirty > 0);
    dirty.then(|| format!("resident but not clean{}", dirty_words(first.dirty_bytes)))
}

fn disagree(sight: &Sight, also: u64) -> Doubt {
    let second = sight.second.as_ref().map_or("", |second| &second.probe);
    let first = &sight.first;
    Doubt::disagree(&format!(
        "{} sees {} of {} bytes resident, {second} {also}",
        first.probe, first.resident_bytes, first.total_bytes
    ))
}

fn dirty_words(dirty_bytes: Option<u64>) -> String {
    match dirty_bytes {
        Some(dirty) if dirty > 0 => format!(", {dirty} bytes are dirty or being written"),
        _ => String::new(),
    }
}

/// Ends a proof with what was counted during the window. `worked_bytes`: how many different bytes
/// of the file the trial visited, `None` for all of them. `device_bytes`: what the device
/// delivered to this process (`None`: not to be had). Cold holds where that is at least 99 % of
/// what had to be read, warm where it is 0 and no fault was major. `aside_bytes`: so much it may
/// deliver of other things, where the trial writes too.
pub fn conclude(
    proof: &mut CacheProof,
    worked_bytes: Option<u64>,
    device_bytes: Option<u64>,
    major_faults: u64,
    aside_bytes: u64,
) {
    proof.device_bytes = device_bytes;
    match proof.state() {
        Some(CacheState::Cold | CacheState::Remount) => {
            proof.expected_device_bytes = expected(proof, worked_bytes);
            if proof.reason.is_none() {
                let why = why_not_delivered(proof);
                doubt(proof, why);
            }
        }
        Some(CacheState::Warm) if proof.reason.is_none() => {
            proof.reason = why_delivered(device_bytes, major_faults, aside_bytes);
        }
        Some(CacheState::Warm) => {}
        Some(CacheState::Any) | None => doubt(proof, None),
    }
    proof.proven = proof.reason.is_none();
}

/// Of the stored bytes, those that part of a pass needs at least: what was not visited may all be
/// data, and the holes may all lie in what was.
pub(super) fn expected(proof: &CacheProof, worked_bytes: Option<u64>) -> Option<u64> {
    let stored = proof.expected_device_bytes?;
    let Some(worked) = worked_bytes else { return Some(stored) };
    let page_bytes = crate::sys::page::page_bytes();
    let total = proof.before.as_ref().map_or(worked, |seen| seen.total_bytes);
    // The total is rounded up to a page; the last page may hold less.
    Some(stored.saturating_sub(total.saturating_sub(worked)).min(stored.min(worked + page_bytes)))
}

const UNCOUNTED: &str = "the device's bytes could not be counted (/proc/self/io)";

fn why_not_delivered(proof: &CacheProof) -> Option<Doubt> {
    let Some(delivered) = proof.device_bytes else {
        return Some(UNCOUNTED.to_owned().into());
    };
    let expected = proof.expected_device_bytes.unwrap_or(0);
    let enough = u128::from(delivered) * 100 >= u128::from(expected) * 99;
    (!enough).then(|| {
        Doubt::disagree(&format!(
            "no page was resident, yet the device delivered {delivered} of {expected} bytes; a \
             lower cache or another process served the rest"
        ))
    })
}

fn why_delivered(device_bytes: Option<u64>, major_faults: u64, aside_bytes: u64) -> Option<String> {
    match (device_bytes, major_faults) {
        (Some(bytes), 0) if bytes <= aside_bytes => None,
        // The first touch of a hole of a mapped target counts as major, without the device.
        (Some(bytes), _) if aside_bytes > 0 && bytes <= aside_bytes => None,
        (Some(0), faults) => Some(format!("{faults} page faults had to wait for the device")),
        (Some(bytes), _) => Some(format!("the device delivered {bytes} bytes during the trial")),
        (None, _) => Some(UNCOUNTED.to_owned()),
    }
}

/// The flag of a trial for which the page cache of the whole machine was dropped.
pub fn flag_of_effort(proof: &CacheProof) -> Option<Code> {
    (proof.how == Reached::by(Step::DropCaches)).then_some(Code::CachesDropped)
}

/// The flag of a proof that does not hold.
pub fn flag(proof: &CacheProof) -> Option<Code> {
    proof.reason.as_ref().filter(|_| !proof.proven)?;
    Some(match proof.state() {
        _ if proof.disagree => Code::ProofsDisagree,
        Some(CacheState::Cold | CacheState::Remount) => Code::ColdUnproven,
        _ if proof.is_direct() => Code::DirectBuffered,
        _ => Code::WarmUnproven,
    })
}
