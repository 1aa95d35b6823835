//! Whether what all ranks say proves the sample that they make together.

use iolab_model::catalog::{Code, Factor, is_shared};
use iolab_model::result::{CacheProof, Measurement, Proof};

use super::crew::Crew;
use super::messages::Request;

/// A rank, when the barrier let it in and out, and what it measured.
pub type Measured = (usize, u64, u64, Measurement);

/// What the ranks of a machine read of one file. There they share its page cache: what the device
/// delivers to one of them, the others find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Each has a file of its own.
    None,
    /// Each reads a part of it.
    Parts,
    /// Each reads all of it.
    Whole,
}

/// Of what has to come from the device, so much must: in percent.
const ENOUGH: u128 = 99;

impl Sharing {
    /// That of a request.
    pub fn of(request: &Request) -> Sharing {
        let Request::Trial(trial) = request else { return Sharing::None };
        match (is_shared(&trial.levels), trial.levels.get(Factor::File)) {
            (true, _) => Sharing::Parts,
            (false, Some(_)) => Sharing::Whole,
            (false, None) => Sharing::None,
        }
    }

    /// No page was there before, and a rank got fewer bytes than it read: it is proven all the same
    /// where the device has delivered to this machine what its ranks read together.
    pub fn settle(self, crew: &Crew, all: &mut [Measured]) {
        if self == Sharing::None {
            return;
        }
        for at in 0..all.len() {
            let number = all[at].0;
            let here = all.iter().filter(|(other, ..)| crew.is_one_machine(number, *other));
            let proofs: Vec<&CacheProof> = here
                .filter_map(|(.., m)| m.proof.cache.as_ref())
                .filter(|p| was_empty(p))
                .collect();
            let delivered: u64 = proofs.iter().filter_map(|p| p.device_bytes).sum();
            let expected = proofs.iter().filter_map(|p| p.expected_device_bytes);
            let needed = match self {
                Sharing::Parts => expected.sum(),
                Sharing::Whole | Sharing::None => expected.max().unwrap_or(0),
            };
            if u128::from(delivered) * 100 >= u128::from(needed) * ENOUGH {
                believe(&mut all[at].3);
            }
        }
    }
}

/// Cold, with a doubt about the bytes of the device at most.
fn was_empty(proof: &CacheProof) -> bool {
    let empty = proof.before.as_ref().is_some_and(|before| before.resident_bytes == 0);
    let cold = proof.state().is_some_and(|state| state.is_cold());
    cold && empty && !proof.is_direct() && (proof.proven || proof.disagree)
}

fn believe(measurement: &mut Measurement) {
    let doubted = measurement.proof.cache.as_ref().is_some_and(|p| was_empty(p) && !p.proven);
    if !doubted {
        return;
    }
    let mut proof = Proof::clone(&measurement.proof);
    if let Some(cache) = &mut proof.cache {
        (cache.proven, cache.disagree, cache.reason) = (true, false, None);
    }
    measurement.proof = proof.into();
    measurement.flags.retain(|flag| *flag != Code::ProofsDisagree);
}

/// The proof of the first rank whose proof does not hold, in its words; else that of rank 0.
pub fn proof(crew: &Crew, all: &[Measured]) -> Proof {
    let broken = all.iter().find(|(.., measured)| !measured.proof.holds());
    let Some((number, .., measured)) = broken.or(all.first()) else { return Proof::default() };
    let mut proof = Proof::clone(&measured.proof);
    if let Some(cache) = proof.cache.as_mut().filter(|cache| !cache.proven) {
        let reason = cache.reason.take().unwrap_or_default();
        cache.reason = Some(format!("{}: {reason}", crew.name(*number)));
    }
    proof
}

#[cfg(test)]
mod tests {
    use super::{Crew, Measured, Sharing, proof};
    use iolab_model::catalog::{CacheState, Code};
    use iolab_model::result::{CacheProof, Measurement, Proof, Residency};

    fn read(number: usize, device_bytes: u64) -> Measured {
        let enough = device_bytes >= 100;
        let cache = CacheProof {
            wanted: CacheState::Cold.into(),
            before: Some(Residency { total_bytes: 400, ..Residency::default() }),
            expected_device_bytes: Some(100),
            device_bytes: Some(device_bytes),
            proven: enough,
            disagree: !enough,
            reason: (!enough).then(|| "too few".into()),
            ..CacheProof::default()
        };
        let proof = Proof { cache: Some(cache), ..Proof::default() }.into();
        let flags = if enough { vec![] } else { vec![Code::ProofsDisagree] };
        (number, 0, 0, Measurement { proof, flags, ..Measurement::default() })
    }

    fn settled(sharing: Sharing, device_bytes: [u64; 3]) -> bool {
        let host = |name: &str| (name.to_owned(), String::new());
        let crew = Crew { hosts: vec![host("a"), host("a"), host("b")] };
        let mut all: Vec<Measured> = (0..3).map(|rank| read(rank, device_bytes[rank])).collect();
        sharing.settle(&crew, &mut all);
        let flagged = all.iter().any(|(.., m)| !m.flags.is_empty());
        assert_eq!(flagged, !proof(&crew, &all).holds());
        !flagged
    }

    /// Read-ahead of one rank brought blocks of its neighbour, which then "came from nowhere"; but what
    /// another machine has read is in no page cache of this one.
    #[test]
    fn the_device_delivers_to_a_machine_what_its_ranks_read() {
        assert!(settled(Sharing::Parts, [160, 40, 100]));
        assert!(!settled(Sharing::None, [160, 40, 100]), "each has a file of its own");
        assert!(!settled(Sharing::Parts, [100, 40, 160]), "not those of another machine");
        assert!(settled(Sharing::Whole, [90, 10, 100]) && !settled(Sharing::Whole, [40, 40, 100]));
    }
}
