//! A run knows of the machine under test what the agent there says, and nothing else.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use iolab_agent::{Location, Objection, PlaceTerms, Request, Sight, Subject};
use iolab_controller::{Blame, Prepared, plan_at};
use iolab_model::catalog::{Code, Factor, Level};
use iolab_model::plan::Facts;
use iolab_model::result::{CellStatus, Document, Environment, Warning};
use iolab_model::spec::{Experiment, Protocol};
use iolab_test::far_machine::FarMachine;
use iolab_test::silence::measured_in_silence;
use serde_json::json;

/// There is no such directory here.
const FILE: &str = "/far/away/big.iso";

fn sight(facts: serde_json::Value, hazard: (Code, &str)) -> Sight {
    let (code, text) = (hazard.0, hazard.1.to_owned());
    let environment: Environment = serde_json::from_value(facts).unwrap();
    Sight { environment, hazards: vec![Warning { code, text }], ..Sight::default() }
}

/// A machine with one file, no io_uring and a network file system.
fn far() -> FarMachine {
    let mut facts = Facts {
        free_bytes: 1 << 40,
        free_inodes: 1 << 20,
        available_memory_bytes: 64 << 30,
        last_level_cache_bytes: 1 << 20,
        page_bytes: 65536,
        processors: 96,
        ..Facts::default()
    };
    facts.files.insert(PathBuf::from(FILE), Ok(64 << 20));
    facts.unavailable.insert("io_uring".into(), "the far kernel forbids it; ask there".into());
    FarMachine {
        facts,
        before: sight(
            json!({"host.name": "far", "kernel.release": "9.9.9-far", "cpu.count": 96}),
            (Code::NetworkFs, "the far directory is on nfs4"),
        ),
        after: sight(json!({}), (Code::SwapActive, "12 pages were swapped there")),
        ..FarMachine::default()
    }
}

fn experiment() -> Experiment {
    let methods = ["pread", "read", "io_uring"].map(Level::word).to_vec();
    Experiment {
        title: None,
        workload: "read".to_owned(),
        directory: PathBuf::from("/far/away"),
        factors: [
            (Factor::File, vec![Level::Path(FILE.into())]),
            (Factor::Method, methods),
            (Factor::Block, vec![Level::Number(65536)]),
        ]
        .into(),
        protocol: Protocol { rounds: Some(12), ..Protocol::new(7) },
    }
}

fn measured(machine: &FarMachine) -> Document {
    let plan = plan_at(machine, &experiment()).unwrap();
    let location = Box::new(machine.clone());
    let prepared =
        Prepared { plan, location, places: PlaceTerms::default(), named: Default::default() };
    let history = tempfile::tempdir().unwrap();
    let store = history.path().join("history.db");
    let measured = measured_in_silence(&prepared, &store);
    assert!(measured.failure.is_none(), "{:?}", measured.failure);
    measured.document
}

/// The controller once looked at its own machine: a run elsewhere would have been planned by the
/// methods and described by the kernel and the warnings of the wrong one.
#[test]
fn a_run_is_described_by_the_machine_that_its_agent_is_on() {
    let run = measured(&far());
    let fact = |key: &str| run.environment.0.get(key).cloned();
    assert_eq!(fact("host.name"), Some(json!("far")));
    assert_eq!(fact("kernel.release"), Some(json!("9.9.9-far")));
    assert_eq!(fact("cpu.model"), None, "a fact of this machine: {:?}", run.environment);
    let told: Vec<&str> = run.warnings.iter().map(|warning| warning.text.as_str()).collect();
    assert!(told.contains(&"the far directory is on nfs4"), "{told:?}");
    assert!(told.contains(&"12 pages were swapped there"), "{told:?}");
    let cell = |method: &str| {
        run.cells.iter().find(|c| c.factors.text(Factor::Method) == Some(method)).unwrap()
    };
    assert_eq!(cell("io_uring").status, CellStatus::Skipped);
    assert!(cell("io_uring").reason.as_ref().unwrap().contains("the far kernel forbids it"));
    let rate = |method: &str| {
        cell(method).estimate.as_ref().unwrap().bytes_per_second.as_ref().unwrap().median
    };
    assert!((rate("pread") / rate("read") - 2.0).abs() < 1e-6);
}

#[test]
fn the_agent_is_asked_before_anything_is_made() {
    let machine = far();
    measured(&machine);
    let asked = machine.asked.borrow();
    let at = |is: &dyn Fn(&Request) -> bool| asked.iter().position(is).unwrap();
    let survey = at(&|request| matches!(request, Request::Survey(_)));
    let look = at(&|request| matches!(request, Request::Look(_)));
    let start = at(&|request| matches!(request, Request::Start { .. }));
    assert!(survey < look && look < start, "{asked:?}");
    let Request::Start { only_reads, .. } = &asked[start] else { unreachable!() };
    assert!(only_reads, "the file is the person's: another directory will do");
    assert_eq!(asked.last(), Some(&Request::End));
}

#[test]
fn what_the_agent_objects_to_is_told_in_its_words() {
    let objection = Objection::refused(Subject::Directory, "/far/away is on a read-only mount");
    let machine = FarMachine { objection: Some(objection), ..far() };
    let error = plan_at(&machine, &experiment()).unwrap_err();
    assert_eq!(error.blame(), Blame::Refusal);
    assert_eq!(error.to_string(), "/far/away is on a read-only mount");
    assert_eq!(machine.devices_shared(&[PathBuf::from("/")]), Vec::<u64>::new());
}
