//! What a plan is made of: snapshots of whole plans, and properties of all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::{Cell, Facts, Plan, PlanError, level_text, make};
use crate::catalog::{CacheState, Factor, Level, Levels, Part, WorkloadInfo};
use crate::spec::fixture::{CALL, PARTS, READ};
use crate::spec::{Experiment, Protocol};
use proptest::prelude::{Strategy, prop_assert, prop_assert_eq, proptest};

pub(super) fn facts() -> Facts {
    Facts {
        hosts: BTreeMap::new(),
        ranks: None,
        files: BTreeMap::from([
            ("/data/a".into(), Ok(1 << 20)),
            ("/data/b".into(), Ok(1 << 20)),
            ("/other/a".into(), Ok(8 << 20)),
            ("/data/empty".into(), Ok(0)),
            ("/data/gone".into(), Err("/data/gone does not exist: check the name".into())),
        ]),
        free_bytes: 100 << 30,
        free_inodes: 1_000_000,
        greatest_file_bytes: None,
        available_memory_bytes: 16 << 30,
        last_level_cache_bytes: 32 << 20,
        page_bytes: 4096,
        processors: 2,
        impossible: None,
        least_limit_bytes: 0,
        greatest_locked_bytes: None,
        direct_alignment_bytes: None,
        unavailable: BTreeMap::new(),
        trees: BTreeMap::new(),
        traces: BTreeMap::new(),
        places: BTreeMap::new(),
        image_bytes: 0,
        may_drop_caches: false,
    }
}

pub(super) fn experiment(info: &WorkloadInfo, axes: &[(Factor, &str)]) -> Experiment {
    let vocabulary = crate::spec::Vocabulary { info, parts: PARTS };
    let mut factors: BTreeMap<Factor, Vec<Level>> = BTreeMap::new();
    for (factor, text) in axes {
        factors.entry(*factor).or_default().extend(vocabulary.levels(*factor, text).unwrap());
    }
    Experiment {
        title: None,
        workload: info.part.id.to_owned(),
        directory: PathBuf::from("/work-here"),
        factors,
        protocol: Protocol::new(7),
    }
}

pub(super) fn plan(axes: &[(Factor, &str)]) -> Plan {
    make(&experiment(&READ, axes), &READ, PARTS, &facts()).unwrap()
}

fn levels(levels: &Levels) -> String {
    let one = |(factor, level)| format!("{factor}={}", level_text(factor, level));
    levels.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn text(plan: &Plan) -> String {
    let ask: Vec<_> = plan.ask.iter().map(|f| f.name()).collect();
    let mut out = format!("{}\nask {}\n", plan.title, ask.join(", "));
    for (at, cell) in plan.cells.iter().enumerate() {
        let twin = if plan.baseline == Some(at) { " TWIN" } else { "" };
        let skip = cell.skip.as_ref().map_or(String::new(), |why| format!(" SKIP {why}"));
        let (condition, instance) = (cell.condition, cell.instance);
        let levels = levels(&cell.levels);
        out += &format!("{at} {} [{levels}] c{condition} i{instance:?}{twin}{skip}\n", cell.id);
    }
    for condition in &plan.conditions {
        let own = if condition.own_instances { " OWN" } else { "" };
        out += &format!("answer [{}] {:?}{own}\n", levels(&condition.levels), condition.cells);
    }
    for i in &plan.instances {
        out += &format!("file {} {:?} {} bytes\n", i.id, i.path, i.bytes);
    }
    for note in &plan.notes {
        out += &format!("note {note}\n");
    }
    out
}

#[test]
fn defaults_take_what_people_mean() {
    insta::assert_snapshot!(text(&plan(&[])));
}

#[test]
fn a_file_of_the_person_and_two_cache_states() {
    let axes =
        [(Factor::File, "/data/a"), (Factor::Cache, "cold,warm"), (Factor::Block, "4Ki,64Ki")];
    insta::assert_snapshot!(text(&plan(&axes)));
}

#[test]
fn conditions_that_vary_alone_are_the_question() {
    let files = [
        (Factor::File, "/data/a"),
        (Factor::File, "/data/b"),
        (Factor::Method, "pread"),
        (Factor::Block, "64Ki"),
    ];
    let plan = plan(&files);
    assert_eq!(plan.ask, [Factor::File]);
    assert!(plan.conditions[0].own_instances, "two files never share a placement");
    insta::assert_snapshot!(text(&plan));
}

#[test]
fn levels_that_only_seem_to_vary_leave_the_question_to_the_conditions() {
    let plan =
        plan(&[(Factor::Method, "mmap"), (Factor::Block, "4Ki,1Mi"), (Factor::Cache, "cold,warm")]);
    assert_eq!(plan.ask, [Factor::Cache]);
    assert_eq!(plan.conditions.len(), 2, "one for each block that was asked for");
}

/// `sync` and `drop_caches` reach everything that runs on the machine; nobody was told before.
#[test]
fn what_reaches_the_whole_machine_is_said_before() {
    let root = Facts { may_drop_caches: true, ..facts() };
    let told = |states: &str, facts: &Facts| {
        let wanted = experiment(&READ, &[(Factor::File, "/data/a"), (Factor::Cache, states)]);
        let plan = make(&wanted, &READ, PARTS, facts).unwrap();
        plan.notes.iter().any(|note| note.contains("drop_caches"))
    };
    assert!(told("cold,warm", &root));
    assert!(!told("warm", &root) && !told("cold", &facts()));
}

#[test]
fn a_ladder_compares_its_rungs() {
    let plan = make(&experiment(&CALL, &[]), &CALL, PARTS, &facts()).unwrap();
    assert!(!plan.eliminate, "every rung is wanted");
    insta::assert_snapshot!(text(&plan));
}

#[test]
fn what_cannot_be_had_is_skipped_with_the_reason() {
    let mut facts = facts();
    facts.unavailable.insert("cold".into(), "tmpfs has no cold state; name another place".into());
    let wanted = experiment(
        &READ,
        &[
            (Factor::File, "/data/a"),
            (Factor::File, "/data/gone"),
            (Factor::File, "/data/empty"),
            (Factor::Cache, "cold,warm"),
            (Factor::Method, "read"),
            (Factor::Block, "4Ki"),
        ],
    );
    insta::assert_snapshot!(text(&make(&wanted, &READ, PARTS, &facts).unwrap()));
}

#[test]
fn files_of_one_name_are_told_apart_by_their_path() {
    let axes = [(Factor::File, "/data/a"), (Factor::File, "/other/a"), (Factor::Method, "read")];
    let ids: Vec<String> = plan(&axes).cells.into_iter().map(|c| c.id).take(2).collect();
    assert_eq!(ids, ["/data/a/read/4Ki", "/data/a/read/64Ki"]);
}

#[test]
fn asking_for_one_factor_makes_the_others_conditions() {
    let mut wanted = experiment(&READ, &[(Factor::Block, "4Ki,64Ki")]);
    wanted.protocol.ask = Some(vec![Factor::Method]);
    let plan = make(&wanted, &READ, PARTS, &facts()).unwrap();
    assert_eq!(plan.conditions.len(), 2);
    let mmap = plan.cells.iter().filter(|c| c.id.starts_with("mmap")).count();
    assert_eq!(mmap, 2, "mmap is there to be compared with at each block");
}

#[test]
fn a_default_size_gives_way_and_an_asked_one_never_does() {
    let mut small = facts();
    small.free_bytes = 100 << 20;
    let plan = make(&experiment(&READ, &[]), &READ, PARTS, &small).unwrap();
    assert_eq!(plan.instances[0].bytes, 32 << 20);
    assert!(plan.changed.iter().any(|n| n.starts_with("file-size is 32Mi instead of 256Mi")));

    let asked = experiment(&READ, &[(Factor::FileSize, "256Mi")]);
    let error = make(&asked, &READ, PARTS, &small).unwrap_err();
    assert!(error.is_refusal());
    assert!(error.to_string().contains("need 256 MiB and 100 MiB is free"), "{error}");

    let mut tiny = facts();
    tiny.free_bytes = 1 << 20;
    assert!(make(&experiment(&READ, &[]), &READ, PARTS, &tiny).unwrap_err().is_refusal());
    let mut limited = facts();
    limited.greatest_file_bytes = Some(2 << 20);
    let error = make(&asked, &READ, PARTS, &limited).unwrap_err();
    assert!(error.is_refusal() && error.to_string().contains("ulimit -f"), "{error}");
    let mut full = facts();
    full.free_inodes = 1;
    assert!(make(&experiment(&READ, &[]), &READ, PARTS, &full).unwrap_err().is_refusal());
}

#[test]
fn a_warm_file_must_fit_into_memory() {
    let asked = experiment(&READ, &[(Factor::FileSize, "32Gi"), (Factor::Cache, "cold,warm")]);
    let plan = make(&asked, &READ, PARTS, &facts()).unwrap();
    assert!(
        plan.cells
            .iter()
            .all(|c| (c.levels.text(Factor::Cache) == Some("warm")) == c.skip.is_some())
    );
    let asked = experiment(&READ, &[(Factor::FileSize, "32Gi")]);
    let error = make(&asked, &READ, PARTS, &facts()).unwrap_err();
    assert!(error.is_refusal() && error.to_string().contains("--cache cold"), "{error}");
    let asked = experiment(&READ, &[(Factor::FileSize, "9Gi,10Gi")]);
    let error = make(&asked, &READ, PARTS, &facts()).unwrap_err();
    assert_eq!(error, PlanError::NoMemory { needed: 19 << 30, available: 16 << 30 });
}

/// `--memory 512Mi` with a file of 2 GiB once planned 24 rounds of a state that cannot be had, and
/// every trial failed.
#[test]
fn under_a_limit_that_does_not_hold_the_file_it_is_as_reading_leaves_it() {
    let asked = |more: &[(Factor, &str)]| {
        let mut all = vec![(Factor::FileSize, "2Gi"), (Factor::Memory, "512Mi,8Gi")];
        all.extend_from_slice(more);
        make(&experiment(&READ, &all), &READ, PARTS, &facts()).unwrap()
    };
    let states = |plan: &Plan| -> Vec<Option<CacheState>> {
        plan.cells.iter().filter(|c| c.skip.is_none()).map(|c| c.levels.word()).collect()
    };
    let plan = asked(&[]);
    assert!(!states(&plan).is_empty());
    assert!(states(&plan).iter().all(|state| *state == Some(CacheState::Any)));
    let note = "cache is what reading leaves there: a file of 2 GiB is never warm within 512 MiB";
    assert!(plan.changed.iter().any(|said| said == note), "{:?}", plan.changed);
    // A minute bought one round of all methods with all blocks.
    let blocks = |plan: &Plan| plan.factors[&Factor::Block].len();
    assert_eq!(blocks(&plan), 1, "{:?}", plan.factors);
    assert!(plan.changed.iter().any(|said| said.starts_with("block is 64Ki alone: under a limit")));
    assert_eq!(blocks(&asked(&[(Factor::Block, "4Ki,64Ki,1Mi")])), 3);
    assert!(
        blocks(&asked(&[(Factor::Method, "read")])) > 1,
        "of one method blocks are the question"
    );
    // Who names a state has it, where it can be had.
    let plan = asked(&[(Factor::Cache, "warm")]);
    let skipped = |cell: &Cell| cell.levels.number(Factor::Memory) == Some(512 << 20);
    assert!(plan.cells.iter().all(|cell| cell.skip.is_some() == skipped(cell)));
    assert!(states(&plan).iter().all(|state| *state == Some(CacheState::Warm)));
}

#[test]
fn nothing_to_measure_is_an_error_with_every_reason() {
    let asked = experiment(&READ, &[(Factor::File, "/data/gone"), (Factor::File, "/data/empty")]);
    let error = make(&asked, &READ, PARTS, &facts()).unwrap_err();
    assert!(!error.is_refusal());
    let line = error.to_string();
    assert!(line.contains("/data/gone does not exist") && line.contains("empty"), "{line}");
    let many = "1..1000:+1";
    let asked = experiment(&READ, &[(Factor::Block, many), (Factor::Threads, many)]);
    let error = make(&asked, &READ, PARTS, &facts()).unwrap_err();
    assert!(matches!(error, PlanError::TooManyCells { cells: 3_000_000, .. }), "{error}");
}

#[test]
fn fixed_rounds_cost_their_time_and_drop_nothing() {
    let mut wanted = experiment(&READ, &[]);
    wanted.protocol.rounds = Some(30);
    let plan = make(&wanted, &READ, PARTS, &facts()).unwrap();
    assert!(!plan.eliminate);
    assert_eq!(plan.cost.rounds, 30);
    assert_eq!(plan.cost.bytes_written, 256 << 20);
    wanted.protocol.rounds = Some(60);
    assert!(make(&wanted, &READ, PARTS, &facts()).unwrap().cost.time_ns > plan.cost.time_ns);
}

/// Any subset of levels of any axes.
fn any_experiment() -> impl Strategy<Value = Experiment> {
    let pick = |all: &'static [&'static str]| proptest::sample::subsequence(all, 0..=all.len());
    (
        pick(&["/data/a", "/data/b", "/other/a", "/data/gone", "/data/empty"]),
        pick(&["read", "pread", "mmap", "null"]),
        pick(&["1", "4Ki", "64Ki"]),
        pick(&["1", "2"]),
        pick(&["sequential", "random", "stride:3"]),
        pick(&["cold", "warm", "any"]),
        proptest::option::of(proptest::sample::subsequence(
            vec![Factor::Method, Factor::Block, Factor::Cache, Factor::Threads],
            1..=4,
        )),
    )
        .prop_map(|(file, method, block, threads, pattern, cache, ask)| {
            let lists = [
                (Factor::File, file),
                (Factor::Method, method),
                (Factor::Block, block),
                (Factor::Threads, threads),
                (Factor::Pattern, pattern),
                (Factor::Cache, cache),
            ];
            let axes: Vec<(Factor, &str)> =
                lists.iter().flat_map(|(f, all)| all.iter().map(|l| (*f, *l))).collect();
            let mut wanted = experiment(&READ, &axes);
            wanted.protocol.ask = ask;
            wanted
        })
}

fn ignores(cell: &Levels) -> &'static [Factor] {
    let method = cell.text(Factor::Method);
    PARTS.iter().find(|p| Some(p.id) == method).map_or(&[], |p: &&Part| p.ignores)
}

proptest! {
    #[test]
    fn every_plan_is_sound(wanted in any_experiment(), without_cold: bool) {
        let mut facts = facts();
        if without_cold {
            facts.unavailable.insert("cold".into(), "not here".into());
        }
        let Ok(plan) = make(&wanted, &READ, PARTS, &facts) else { return Ok(()) };
        let ids: BTreeSet<&str> = plan.cells.iter().map(|c| c.id.as_str()).collect();
        prop_assert_eq!(ids.len(), plan.cells.len(), "names are unique");
        let kinds: BTreeSet<&Levels> = plan.cells.iter().map(|c| &c.levels).collect();
        prop_assert_eq!(kinds.len(), plan.cells.len(), "no cell is repeated");

        let mut seen = BTreeSet::new();
        for (number, condition) in plan.conditions.iter().enumerate() {
            for &at in &condition.cells {
                let cell = &plan.cells[at];
                prop_assert!(seen.insert(at), "a cell has one answer");
                prop_assert_eq!(cell.condition, number);
                prop_assert!(cell.skip.is_none());
                for (factor, level) in cell.levels.iter() {
                    let shared = condition.levels.get(factor);
                    prop_assert_eq!(shared.is_some(), !plan.ask.contains(&factor));
                    prop_assert!(shared.is_none_or(|l| l == level));
                }
            }
        }
        let active: BTreeSet<usize> =
            (0..plan.cells.len()).filter(|at| plan.cells[*at].skip.is_none()).collect();
        prop_assert_eq!(&seen, &active, "answers cover all cells that run");
        prop_assert!(plan.baseline.is_some_and(|b| active.contains(&b)));

        // Each combination that was asked for is there, as itself or collapsed into one that
        // differs only in what its method ignores.
        for cell in &plan.cells {
            for factor in ignores(&cell.levels) {
                let kept = cell.levels.get(*factor).is_some();
                prop_assert!(!kept || !plan.ask.contains(factor));
            }
        }
        let all: usize = plan.factors.values().map(Vec::len).product();
        prop_assert!(plan.cells.len() <= all);
        if plan.cells.iter().all(|c| ignores(&c.levels).is_empty()) {
            prop_assert_eq!(plan.cells.len(), all);
        }
    }

    #[test]
    fn a_plan_is_the_same_each_time(wanted in any_experiment()) {
        let once = make(&wanted, &READ, PARTS, &facts()).map(|p| text(&p));
        prop_assert_eq!(once, make(&wanted, &READ, PARTS, &facts()).map(|p| text(&p)));
    }
}
