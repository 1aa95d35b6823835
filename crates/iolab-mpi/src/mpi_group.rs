//! The ranks by MPI. Nothing waits within the library: there a rank would spin, and take the processor
//! from whoever is measured.

use std::time::Duration;

use super::deadline::ends_after;
use iolab_mpi::{Group, Lost, Patience};
use mpi::collective::SystemOperation;
use mpi::request::{Request, Scope, scope};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Root};

/// At a barrier all are there in a moment, and how exactly they leave it is what matters.
const AT_BARRIER: Duration = Duration::from_millis(20);
/// A collective goes from rank to rank, and each that sleeps meanwhile keeps all the others waiting. While
/// nobody is measured a rank asks again at once for so long; whoever needs the processor has it at once.
const BETWEEN_TRIALS: Duration = Duration::from_millis(3);
/// What an order has at most, in nearly every case: one broadcast instead of two.
const FIRST_BYTES: usize = 1024;

/// What ends a job takes no longer where its daemons can be reached.
const ABORTING_S: u64 = 10;

/// All ranks of the job.
pub struct MpiGroup {
    world: SimpleCommunicator,
}

impl MpiGroup {
    /// Those of this communicator.
    pub fn of(world: SimpleCommunicator) -> MpiGroup {
        MpiGroup { world }
    }
}

/// The library in words: `Open MPI v4.1.4`.
pub fn library() -> String {
    let text = mpi::environment::library_version().unwrap_or_default();
    let text = text.trim_end_matches('\0');
    // MPICH tells in lines how it was built.
    let first = text.lines().next().unwrap_or_default();
    let short = first.split(',').next().unwrap_or_default();
    short.replace("Version:", "").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The name of this machine.
pub fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Ends all ranks where no agreement can be had any more.
pub fn give_up(world: &SimpleCommunicator, lost: &Lost) -> ! {
    eprintln!(
        "iolab: rank {} on {}: waited {} s for {} of all ranks in vain; the job ends",
        world.rank(),
        host(),
        lost.after.as_secs(),
        lost.awaited
    );
    // MPICH asks its daemon to end the others and waits for the answer, which where the network is cut
    // never comes.
    ends_after(ABORTING_S, "the MPI job cannot be ended from here, and this rank ends alone");
    world.abort(1)
}

/// Waits for a request, asleep. The library may write to the buffers of one that is not over in time
/// until the process ends, so nobody returns from here: the job ends with it.
fn finish<'a, D: ?Sized, S: Scope<'a>>(
    world: &SimpleCommunicator,
    mut request: Request<'a, D, S>,
    mut patience: Patience,
    lost: &Lost,
) {
    loop {
        match request.test() {
            Ok(_) => return,
            Err(again) => request = again,
        }
        if !patience.pause() {
            give_up(world, lost);
        }
    }
}

impl MpiGroup {
    fn meet(&self, patience: Patience, lost: &Lost) -> Result<(), Lost> {
        finish(&self.world, self.world.immediate_barrier(), patience, lost);
        Ok(())
    }

    /// What rank 0 has in a buffer that is as long at all.
    fn broadcast_once(&self, bytes: &mut [u8], limit: Duration) {
        let lost = Lost { awaited: "an order", after: limit };
        scope(|scope| {
            let request = self.world.process_at_rank(0).immediate_broadcast_into(scope, bytes);
            finish(&self.world, request, between_trials(limit), &lost);
        });
    }
}

fn between_trials(limit: Duration) -> Patience {
    Patience::new(limit).awake(BETWEEN_TRIALS)
}

/// A length stands before what is sent in a buffer that may be longer.
const HEAD_BYTES: usize = size_of::<u64>();

/// The length and as much as goes into the first broadcast; and the rest.
fn first_part(bytes: &[u8]) -> ([u8; FIRST_BYTES], &[u8]) {
    let (start, rest) = bytes.split_at(bytes.len().min(FIRST_BYTES - HEAD_BYTES));
    let mut first = [0; FIRST_BYTES];
    first[..HEAD_BYTES].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
    first[HEAD_BYTES..HEAD_BYTES + start.len()].copy_from_slice(start);
    (first, rest)
}

fn without_head(part: &[u8]) -> Vec<u8> {
    let (length, bytes) = part.split_at(HEAD_BYTES.min(part.len()));
    let length = u64::from_le_bytes(length.try_into().unwrap_or_default()) as usize;
    bytes[..length.min(bytes.len())].to_vec()
}

impl Group for MpiGroup {
    fn rank(&self) -> u32 {
        self.world.rank() as u32
    }

    fn size(&self) -> u32 {
        self.world.size() as u32
    }

    fn barrier(&mut self, limit: Duration) -> Result<(), Lost> {
        self.meet(
            Patience::new(limit).awake(AT_BARRIER),
            &Lost { awaited: "the barrier", after: limit },
        )
    }

    fn await_all(&mut self, limit: Duration) -> Result<(), Lost> {
        self.meet(Patience::new(limit), &Lost { awaited: "the end of a trial", after: limit })
    }

    fn broadcast(&mut self, bytes: &mut Vec<u8>, limit: Duration) -> Result<(), Lost> {
        let (mut first, rest) = first_part(bytes);
        self.broadcast_once(&mut first[..], limit);
        let length = u64::from_le_bytes(first[..HEAD_BYTES].try_into().unwrap_or_default());
        let mut rest = rest.to_vec();
        rest.resize((length as usize).saturating_sub(FIRST_BYTES - HEAD_BYTES), 0);
        if !rest.is_empty() {
            self.broadcast_once(&mut rest[..], limit);
        }
        *bytes = [&first[HEAD_BYTES..], &rest].concat();
        bytes.truncate(length as usize);
        Ok(())
    }

    fn gather(
        &mut self,
        own: &[u8],
        longest: usize,
        limit: Duration,
    ) -> Result<Vec<Vec<u8>>, Lost> {
        let lost = Lost { awaited: "the answers", after: limit };
        let size = self.world.size() as usize;
        // Each sends as much as the longest: a gather of equal parts is what every library does well.
        let mut padded = (own.len() as u64).to_le_bytes().to_vec();
        padded.extend(own);
        padded.resize(HEAD_BYTES + longest, 0);
        let root = self.world.process_at_rank(0);
        if self.world.rank() != 0 {
            scope(|scope| {
                let request = root.immediate_gather_into(scope, &padded[..]);
                finish(&self.world, request, between_trials(limit), &lost);
            });
            return Ok(Vec::new());
        }
        let mut all = vec![0u8; padded.len() * size];
        scope(|scope| {
            let request = root.immediate_gather_into_root(scope, &padded[..], &mut all[..]);
            finish(&self.world, request, between_trials(limit), &lost);
        });
        Ok(all.chunks(padded.len()).map(without_head).collect())
    }

    fn greatest(&mut self, own: [u32; 3], limit: Duration) -> Result<[u32; 3], Lost> {
        let mut all = [0u32; 3];
        scope(|scope| {
            let most = SystemOperation::max();
            let request = self.world.immediate_all_reduce_into(scope, &own[..], &mut all[..], most);
            let lost = Lost { awaited: "a word", after: limit };
            finish(&self.world, request, between_trials(limit), &lost);
        });
        Ok(all)
    }
}
