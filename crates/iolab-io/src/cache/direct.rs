//! Whether reads past the page cache went past it. A file system may take O_DIRECT and read through
//! the page cache all the same (tmpfs does; ZFS and some FUSE file systems did).

use std::fs::File;

use super::prober::Prober;
use super::stored::stored_bytes;
use iolab_model::result::{CacheProof, Fault, Reached, Residency, Step};

/// Pages that may come in meanwhile, for another process may look at the file: 1 % of it.
const ALLOWED_GROWTH: u64 = 100;

/// What is seen of the file before the window. Its state does not matter and is left as it is.
pub fn before_direct(file: &File, prober: &Prober) -> Result<CacheProof, Fault> {
    let stored = stored_bytes(file).map_err(|e| Fault::of("look where a file is stored", &e))?;
    Ok(CacheProof {
        wanted: CacheProof::DIRECT.into(),
        how: Reached::by(Step::PastTheCache),
        before: residency(file, prober)?,
        expected_device_bytes: Some(stored),
        ..CacheProof::default()
    })
}

/// Ends the proof: the device must have delivered 99 % of what was read, and the page cache must
/// not have taken it in. `worked_bytes`: the different bytes that a part of a pass read, absent
/// for whole passes, of which there were `passes`.
pub fn conclude_direct(
    proof: &mut CacheProof,
    file: &File,
    prober: &Prober,
    (worked_bytes, passes): (Option<u64>, u64),
    device_bytes: Option<u64>,
) -> Result<(), Fault> {
    proof.device_bytes = device_bytes;
    proof.expected_device_bytes =
        super::prepare::expected(proof, worked_bytes).map(|bytes| bytes.saturating_mul(passes));
    proof.reason = why_not(proof, residency(file, prober)?.as_ref());
    proof.proven = proof.reason.is_none();
    Ok(())
}

/// Nothing where looking would bring pages in.
fn residency(file: &File, prober: &Prober) -> Result<Option<Residency>, Fault> {
    if prober.blind(file)?.is_some() || prober.disturbs(file)? {
        return Ok(None);
    }
    prober.residency(file).map(Some)
}

fn why_not(proof: &CacheProof, after: Option<&Residency>) -> Option<String> {
    let Some(delivered) = proof.device_bytes else {
        return Some("the device's bytes could not be counted (/proc/self/io)".into());
    };
    let expected = proof.expected_device_bytes.unwrap_or(0);
    if u128::from(delivered) * 100 < u128::from(expected) * 99 {
        return Some(format!(
            "O_DIRECT was taken, yet the device delivered {delivered} of {expected} bytes: the \
             page cache served the rest"
        ));
    }
    let (before, after) = (proof.before.as_ref()?, after?);
    let grown = after.resident_bytes.saturating_sub(before.resident_bytes);
    (grown > after.total_bytes / ALLOWED_GROWTH).then(|| {
        format!("O_DIRECT was taken, yet {grown} bytes of the file came into the page cache")
    })
}

#[cfg(test)]
mod tests {
    use super::{CacheProof, Residency, why_not};

    fn seen(resident_bytes: u64) -> Residency {
        let probe = "cachestat".into();
        Residency { probe, total_bytes: 1 << 20, resident_bytes, dirty_bytes: Some(0) }
    }

    fn proof(device_bytes: Option<u64>, before: u64) -> CacheProof {
        let (before, expected) = (Some(seen(before)), Some(1 << 20));
        let expected_device_bytes = expected;
        CacheProof { before, device_bytes, expected_device_bytes, ..CacheProof::default() }
    }

    #[test]
    fn the_device_must_deliver_and_the_cache_must_not_fill() {
        let cold = || proof(Some(1 << 20), 0);
        assert_eq!(why_not(&cold(), Some(&seen(0))), None);
        assert_eq!(why_not(&cold(), Some(&seen(8192))), None, "someone looked at it");
        assert!(why_not(&cold(), Some(&seen(1 << 20))).unwrap().contains("came into"));
        let warm = proof(Some(1 << 20), 1 << 20);
        assert_eq!(why_not(&warm, Some(&seen(1 << 20))), None, "what was cached stays");
        let served = proof(Some(0), 1 << 20);
        assert!(why_not(&served, None).unwrap().contains("0 of 1048576"));
        assert!(why_not(&proof(None, 0), None).is_some());
    }
}
