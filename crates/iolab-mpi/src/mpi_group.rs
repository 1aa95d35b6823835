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

impl Group for MpiGroup {
    fn rank(&self) -> u32 {
        self.world.rank() as u32
    }

    fn size(&self) -> u32 {
        self.world.size() as u32
    }

    fn barrier(&mut self, limit: Duration) -> Result<(), Lost> {
        let patience = Patience::new(limit).awake(AT_BARRIER);
        let lost = Lost { awaited: "the barrier", after: limit };
        finish(&self.world, self.world.immediate_barrier(), patience, &lost);
        Ok(())
    }

    fn broadcast(&mut self, bytes: &mut Vec<u8>, limit: Duration) -> Result<(), Lost> {
        let root = self.world.process_at_rank(0);
        let lost = Lost { awaited: "an order", after: limit };
        let mut length = [bytes.len() as u64];
        scope(|scope| {
            let request = root.immediate_broadcast_into(scope, &mut length[..]);
            finish(&self.world, request, Patience::new(limit), &lost);
        });
        bytes.resize(length[0] as usize, 0);
        scope(|scope| {
            let request = root.immediate_broadcast_into(scope, &mut bytes[..]);
            finish(&self.world, request, Patience::new(limit), &lost);
        });
        Ok(())
    }

    fn gather(&mut self, own: &[u8], limit: Duration) -> Result<Vec<Vec<u8>>, Lost> {
        let lost = Lost { awaited: "the answers", after: limit };
        let size = self.world.size() as usize;
        let mut lengths = vec![0u64; size];
        let length = [own.len() as u64];
        scope(|scope| {
            let all = &mut lengths[..];
            let request = self.world.immediate_all_gather_into(scope, &length[..], all);
            finish(&self.world, request, Patience::new(limit), &lost);
        });
        // Each sends as much as the longest: a gather of equal parts is what every library does well.
        let longest = lengths.iter().copied().max().unwrap_or(0) as usize;
        let mut padded = own.to_vec();
        padded.resize(longest, 0);
        let root = self.world.process_at_rank(0);
        if self.world.rank() != 0 {
            scope(|scope| {
                let request = root.immediate_gather_into(scope, &padded[..]);
                finish(&self.world, request, Patience::new(limit), &lost);
            });
            return Ok(Vec::new());
        }
        let mut all = vec![0u8; longest * size];
        scope(|scope| {
            let request = root.immediate_gather_into_root(scope, &padded[..], &mut all[..]);
            finish(&self.world, request, Patience::new(limit), &lost);
        });
        let each = all.chunks(longest.max(1)).zip(&lengths);
        Ok(each.map(|(part, length)| part[..*length as usize].to_vec()).collect())
    }

    fn sum(&mut self, own: [u32; 2], limit: Duration) -> Result<[u32; 2], Lost> {
        let mut all = [0u32; 2];
        scope(|scope| {
            let add = SystemOperation::sum();
            let request = self.world.immediate_all_reduce_into(scope, &own[..], &mut all[..], add);
            let lost = Lost { awaited: "a word", after: limit };
            finish(&self.world, request, Patience::new(limit), &lost);
        });
        Ok(all)
    }
}
