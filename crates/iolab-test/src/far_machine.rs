//! A machine that is not this one: an agent that answers from a script. No file, no process; what
//! a run knows of the machine can only have come from its agent.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;

use iolab_agent::{
    Beacon, Extent, Inspection, Location, Objection, Reply, Request, Sight, Transport, TrialRequest,
};
use iolab_model::catalog::{Factor, path_from_text};
use iolab_model::plan::Facts;
use iolab_model::result::{Fault, Measurement};

/// Where such an agent is. Clones are the same machine.
#[derive(Clone, Debug, Default)]
pub struct FarMachine {
    /// What can be had there; the files of the person's are those among its facts.
    pub facts: Facts,
    /// Why nothing can be done there, where that is so.
    pub objection: Option<Objection>,
    /// What can be had and proven there.
    pub inspection: Inspection,
    /// Facts and hazards at the first look.
    pub before: Sight,
    /// Hazards at later looks.
    pub after: Sight,
    /// What it was asked, in order.
    pub asked: Rc<RefCell<Vec<Request>>>,
}

impl FarMachine {
    /// Bytes of a file there.
    fn bytes_of(&self, path: &str) -> u64 {
        let size = self.facts.files.get(&path_from_text(path));
        size.and_then(|size| size.as_ref().ok().copied()).unwrap_or(1 << 20)
    }
}

impl Location for FarMachine {
    fn connect(&self) -> Result<Box<dyn Transport>, Fault> {
        Ok(Box::new(FarAgent { machine: self.clone(), sizes: BTreeMap::new() }))
    }
}

struct FarAgent {
    machine: FarMachine,
    /// Of each file instance.
    sizes: BTreeMap<usize, u64>,
}

impl FarAgent {
    /// A byte a nanosecond by `pread`, and every other method half as fast.
    fn trial(&self, request: &TrialRequest) -> Measurement {
        let size = request.instance.and_then(|id| self.sizes.get(&id)).copied().unwrap_or(1);
        let block = request.levels.number(Factor::Block).unwrap_or(4096);
        let (passes, operations) = match request.extent {
            Extent::Passes(passes) => (passes, passes * size.div_ceil(block)),
            Extent::Part { operations, .. } => (1, operations),
        };
        let bytes = (operations * block).min(passes * size);
        let slow = if request.levels.text(Factor::Method) == Some("pread") { 1 } else { 2 };
        Measurement {
            wall_ns: slow * bytes,
            bytes,
            operations,
            repetitions: passes,
            ..Measurement::default()
        }
    }
}

impl Transport for FarAgent {
    fn ask(&mut self, request: &Request) -> io::Result<Reply> {
        self.machine.asked.borrow_mut().push(request.clone());
        let machine = &self.machine;
        Ok(match request {
            Request::Survey(_) => match &machine.objection {
                Some(objection) => Reply::Objected(objection.clone()),
                None => Reply::Surveyed(Box::new(machine.facts.clone())),
            },
            Request::Inspect(_) => Reply::Inspected(Box::new(machine.inspection.clone())),
            Request::Look(order) => match order.before {
                None => Reply::Seen(Box::new(machine.before.clone())),
                Some(_) => Reply::Seen(Box::new(machine.after.clone())),
            },
            Request::Start { directory, .. } => Reply::Started {
                clock_resolution_ns: 1.0,
                clock_cost_ns: 40.0,
                scratch: format!("{directory}/.iolab"),
            },
            Request::Make(order) => {
                let bytes =
                    order.path.as_deref().map_or(order.bytes, |path| machine.bytes_of(path));
                self.sizes.insert(order.id, bytes);
                Reply::Done
            }
            Request::Describe => Reply::Described(Vec::new()),
            Request::Trial(request) => Reply::Measured(Box::new(self.trial(request))),
            Request::Beacon => Reply::Lit(Beacon::default()),
            // Of all that is left nothing comes back.
            _ => Reply::Done,
        })
    }

    fn restart(&mut self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn ending(&mut self) -> Option<String> {
        None
    }
}
