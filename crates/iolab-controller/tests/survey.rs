//! A survey that has time left goes on with its least certain part: one run, with all of its rounds.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use iolab_agent::PlaceTerms;
use iolab_controller::quick::{Planned, QuickOrder, Survey, SurveyPart};
use iolab_controller::{Prepared, plan_at};
use iolab_model::catalog::{Factor, Level, WorkloadId};
use iolab_model::plan::Facts;
use iolab_model::result::{Document, Grade, Topic};
use iolab_model::spec::{Experiment, Protocol};
use iolab_test::far_machine::FarMachine;
use iolab_test::silence::Silence;

const FILE: &str = "/far/away/big.iso";
/// Rounds of a part that is broken off before its answer is good.
const FEW: u32 = 6;

const fn part(topic: Topic) -> SurveyPart {
    let workload = WorkloadId::Read;
    SurveyPart { topic, title: "a part", workload, share: 0.3, levels: |_| Vec::new() }
}

static WARM: SurveyPart = part(Topic::Warm);
static MAPPING: SurveyPart = part(Topic::Mapping);
static DURABLE: SurveyPart = part(Topic::Durable);

/// On a machine whose trials take no time: what is left is all but the whole budget.
fn protocol(rounds: Option<u32>) -> Protocol {
    Protocol { rounds, budget_ns: 600_000_000_000, ..Protocol::new(7) }
}

fn planned(part: &'static SurveyPart, rounds: Option<u32>) -> Planned {
    let mut facts = Facts {
        free_bytes: 1 << 40,
        free_inodes: 1 << 20,
        available_memory_bytes: 64 << 30,
        last_level_cache_bytes: 1 << 20,
        page_bytes: 4096,
        processors: 2,
        ..Facts::default()
    };
    facts.files.insert(PathBuf::from(FILE), Ok(64 << 20));
    let machine = FarMachine { facts, ..FarMachine::default() };
    let experiment = Experiment {
        title: None,
        workload: "read".to_owned(),
        directory: PathBuf::from("/far/away"),
        factors: [
            (Factor::File, vec![Level::Path(FILE.into())]),
            (Factor::Method, ["pread", "read"].map(Level::word).to_vec()),
            (Factor::Block, vec![Level::Number(65536)]),
        ]
        .into(),
        protocol: protocol(rounds),
    };
    let plan = plan_at(&machine, &experiment).unwrap();
    let location = Box::new(machine);
    (part, Prepared { plan, location, places: PlaceTerms::default(), named: Default::default() })
}

/// What a survey of these parts, of so many rounds each, came to.
fn surveyed(store: &Path, rounds: Option<u32>, parts: Vec<Planned>) -> Vec<(Topic, Document)> {
    let protocol = protocol(rounds);
    let directory = Path::new("/far/away");
    let (argv, console) = (vec!["iolab".to_owned()], &Silence);
    let order = QuickOrder { directory, protocol: &protocol, store: Some(store), argv, console };
    let mut survey = Survey::begin(order);
    survey.measure(parts).unwrap();
    assert!(!survey.interrupted);
    survey.runs
}

fn of(runs: &[(Topic, Document)], topic: Topic) -> &Document {
    let mut of_topic = runs.iter().filter(|(own, _)| *own == topic);
    let found = of_topic.next().unwrap();
    assert!(of_topic.next().is_none(), "each topic once");
    &found.1
}

/// The rounds that each cell has a trial in.
fn rounds(run: &Document) -> Vec<Vec<u32>> {
    run.cells.iter().map(|cell| cell.samples.iter().map(|s| s.round).collect()).collect()
}

/// The better of two runs was reported, chosen by what they said; then the test of it asked for a
/// number of rounds, with which a survey never comes to its second look.
#[test]
fn the_least_certain_part_goes_on_as_one_run_with_all_of_its_rounds() {
    let history = tempfile::tempdir().unwrap();
    let store = history.path().join("history.db");
    let parts = vec![planned(&WARM, Some(FEW)), planned(&MAPPING, None)];
    let runs = surveyed(&store, None, parts);
    assert_eq!(runs.len(), 2);
    let (warm, mapping) = (of(&runs, Topic::Warm), of(&runs, Topic::Mapping));
    // It kept its number: there is no third run.
    assert_eq!((warm.run.id, mapping.run.id), (1, 2));
    assert!(warm.run.complete && warm.answers[0].rounds > FEW, "{}", warm.answers[0].rounds);
    assert_eq!(warm.answers[0].grade, Grade::A, "{:?}", warm.answers[0].raise);
    for rounds in rounds(warm) {
        // The first, two of warm-up, those of the first look; one of warm-up again, and the rest.
        let first: Vec<u32> = (0..3 + FEW).collect();
        assert_eq!(rounds[..first.len()], first, "the first look is in it");
        assert!(rounds.windows(2).all(|w| w[0] < w[1]), "and the second goes on: {rounds:?}");
        assert!(rounds.len() > first.len() + 1, "{rounds:?}");
    }
}

#[test]
fn what_writes_or_was_told_its_rounds_is_not_gone_on_with() {
    let history = tempfile::tempdir().unwrap();
    let store = history.path().join("history.db");
    // It was said how much will be written.
    let runs = surveyed(&store, None, vec![planned(&DURABLE, Some(FEW)), planned(&MAPPING, None)]);
    assert_eq!(of(&runs, Topic::Durable).answers[0].rounds, FEW);
    let runs = surveyed(&store, Some(FEW), vec![planned(&WARM, Some(FEW))]);
    assert_eq!(of(&runs, Topic::Warm).answers[0].rounds, FEW);
}
