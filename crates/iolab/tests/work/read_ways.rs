//! Ways of reading beside the plain call, through the real agent and the real program: past the
//! page cache, timed one by one, in a class of their own, and with the ground taken away.

use std::path::{Path, PathBuf};

use crate::cli_support::{Home, buffer_offsets, traceable, wait_for};
use iolab_agent::{Extent, LocalChild};
use iolab_io::host;
use iolab_model::catalog::{Code, Factor, Level, Levels};
use iolab_model::plan::{Cell, Instance};
use iolab_model::result::{Fault, Measurement};
use iolab_run::{Executor, ExecutorError, RemoteExecutor, TrialOrder};
use iolab_test::files::made_file;

type Agent = RemoteExecutor<LocalChild>;

fn agent(directory: &Path) -> Agent {
    let agent = LocalChild::start_program(PathBuf::from(env!("CARGO_BIN_EXE_iolab"))).unwrap();
    RemoteExecutor::at(agent, "read", directory, &[])
}

fn instance(id: usize, path: Option<PathBuf>, bytes: u64) -> Instance {
    Instance { path, ..made_file(id, bytes, 5) }
}

fn trial(
    agent: &mut Agent,
    instance: usize,
    levels: &[(Factor, &str)],
    extent: Extent,
) -> Result<Measurement, Fault> {
    let start = Levels::new().with(Factor::Block, Level::Number(64 << 10));
    let set = |all: Levels, (factor, word): &(Factor, &str)| all.with(*factor, Level::word(*word));
    let levels = levels.iter().fold(start, set);
    let cell =
        Cell { id: "cell".into(), levels, condition: 0, instance: Some(instance), skip: None };
    let order = TrialOrder { cell: &cell, extent, limit_ns: 20_000_000_000, round: None };
    agent.trial(&order).map_err(|error| match error {
        ExecutorError::Trial(fault) => fault,
        ExecutorError::Fatal(fault) => panic!("the agent cannot go on: {fault}"),
    })
}

const DIRECT: [(Factor, &str); 3] = [
    (Factor::Method, "pread"),
    (Factor::Direct, "on"),
    // What is cached makes no difference to it.
    (Factor::Cache, "warm"),
];

#[test]
fn a_direct_read_is_proven_by_the_device_whether_the_file_is_cached_or_not() {
    let home = Home::new();
    if let Some(why) = host::unavailable_methods(&home.path("."), true).get("direct=on") {
        return eprintln!("SKIP a_direct_read_is_proven_by_the_device: {why}");
    }
    let mut agent = agent(&home.path("."));
    let bytes = (4 << 20) + 777;
    agent.make(&instance(0, None, bytes)).unwrap();
    for warm in [false, true] {
        if warm {
            agent.renew(&[0]).unwrap();
        }
        let seen = trial(&mut agent, 0, &DIRECT, Extent::Passes(2)).unwrap();
        let proof = seen.proof.cache.as_ref().unwrap();
        assert!(proof.proven && &*proof.wanted == "direct", "{proof:?}");
        assert!(proof.device_bytes.unwrap() >= 2 * bytes, "each pass came from the device");
        assert_eq!(seen.proof.digest.as_ref().unwrap().matches, Some(true));
        let part = Extent::Part { first_operation: 60, operations: 9 };
        let seen = trial(&mut agent, 0, &DIRECT, part).unwrap();
        assert!(seen.proof.cache.as_ref().unwrap().proven, "the tail and the start");
    }
    agent.end().unwrap();
}

#[test]
fn a_direct_read_that_was_buffered_counts_for_nothing() {
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else {
        return eprintln!("SKIP a_direct_read_that_was_buffered_counts_for_nothing: no /dev/shm");
    };
    if let Some(why) = host::unavailable_methods(memory.path(), true).get("direct=on") {
        // Older kernels refuse O_DIRECT on tmpfs, and say so.
        assert!(why.contains("name a directory on a disk"), "{why}");
        return;
    }
    let mut agent = agent(memory.path());
    agent.make(&instance(0, None, 1 << 20)).unwrap();
    let seen = trial(&mut agent, 0, &DIRECT, Extent::Passes(1)).unwrap();
    assert!(seen.flags.contains(&Code::DirectBuffered), "{:?}", seen.flags);
    assert!(!seen.proof.holds());
    assert!(seen.proof.cache.as_ref().unwrap().reason.as_ref().unwrap().contains("page cache"));
    agent.end().unwrap();
}

/// Whether any process has mapped it.
fn is_mapped(path: &Path) -> bool {
    let name = path.canonicalize().unwrap().display().to_string();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let mut maps = processes.filter_map(|p| std::fs::read_to_string(p.path().join("maps")).ok());
    maps.any(|maps| maps.contains(&name))
}

#[test]
fn a_mapped_file_that_becomes_shorter_costs_the_trial_and_not_the_agent() {
    let home = Home::new();
    let path = home.file("theirs", 8 << 20);
    let mut agent = agent(&home.path("."));
    agent.make(&instance(0, Some(path.clone()), 8 << 20)).unwrap();
    agent.make(&instance(1, None, 1 << 20)).unwrap();
    let levels = [(Factor::Method, "mmap"), (Factor::Cache, "any")];
    let cut = std::thread::spawn(move || {
        wait_for("the trial to map it", || is_mapped(&path));
        std::fs::File::options().write(true).open(path).unwrap().set_len(4096).unwrap();
    });
    let fault = trial(&mut agent, 0, &levels, Extent::Passes(1_000_000)).unwrap_err();
    cut.join().unwrap();
    assert!(fault.cause.contains("SIGBUS") && fault.cause.contains("shorter"), "{fault}");
    assert_eq!(fault.signal, Some(7));
    // The same agent goes on, and knows that the file is not what it was.
    let next = trial(&mut agent, 1, &levels, Extent::Passes(1)).unwrap();
    assert_eq!(next.proof.digest.as_ref().unwrap().matches, Some(true));
    let gone = trial(&mut agent, 0, &levels, Extent::Passes(1)).unwrap_err();
    assert!(gone.cause.contains("became shorter"), "{gone}");
    agent.end().unwrap();
}

/// By the device's bytes: the first block of a cold file, with what is read ahead of it.
#[test]
fn advice_on_readahead_changes_what_the_device_delivers() {
    let home = Home::new();
    if host::unavailable(&home.path(".")).contains_key("cold") {
        return eprintln!(
            "SKIP advice_on_readahead_changes_what_the_device_delivers: no cold state"
        );
    }
    let mut agent = agent(&home.path("."));
    agent.make(&instance(0, None, 8 << 20)).unwrap();
    let mut delivered = |advice| {
        let way = [(Factor::Method, "pread"), (Factor::Cache, "cold"), (Factor::Readahead, advice)];
        let part = Extent::Part { first_operation: 0, operations: 1 };
        let seen = trial(&mut agent, 0, &way, part).unwrap();
        assert!(seen.proof.cache.as_ref().unwrap().proven, "{seen:?}");
        seen.metrics["device_read_bytes"]
    };
    let (normal, none) = (delivered("normal"), delivered("random"));
    assert!(none < 2.0 * 65536.0, "{none} bytes for 64 KiB without read-ahead");
    assert!(normal > none, "{normal} with read-ahead, {none} without");
    agent.end().unwrap();
}

fn run(home: &Home, more: &[&str]) -> serde_json::Value {
    let start = ["read", "--file-size", "1Mi", "--rounds", "10", "--seed", "1", "--format", "json"];
    let said = home.run(&[&start, more].concat()).fine();
    serde_json::from_str(&said.out).unwrap()
}

fn cell<'a>(run: &'a serde_json::Value, id: &str) -> &'a serde_json::Value {
    let cells = run["cells"].as_array().unwrap();
    cells.iter().find(|cell| cell["id"] == id).unwrap_or_else(|| panic!("no {id}: {cells:?}"))
}

#[test]
fn what_cannot_be_direct_is_skipped_with_the_reason() {
    let home = Home::new();
    let methods = ["--method", "pread,mmap", "--direct=off,on", "--block", "4Ki,1000"];
    let run = run(&home, &methods);
    let reason = |id: &str| {
        let cell = cell(&run, id);
        assert_eq!(cell["status"], "skipped", "{cell}");
        cell["reason"].as_str().unwrap().to_owned()
    };
    assert!(reason("mmap/direct=on").contains("cannot bypass"));
    let direct = host::unavailable_methods(&home.path("."), true);
    if let Some(why) = direct.get("direct=on") {
        return eprintln!("SKIP what_cannot_be_direct_is_skipped_with_the_reason, in part: {why}");
    }
    assert!(reason("pread/1000/direct=on").contains("multiples of"));
    let direct = cell(&run, "pread/4Ki/direct=on");
    assert_eq!(direct["samples"][0]["proof"]["cache"]["wanted"], "direct");
    assert_eq!(run["answers"].as_array().unwrap().len(), 1, "direct or not is the question");
}

#[test]
fn bytes_that_nobody_touches_stand_in_an_answer_of_their_own() {
    let home = Home::new();
    let run = run(&home, &["--method", "pread,splice,sendfile", "--block", "64Ki"]);
    let answers = run["answers"].as_array().unwrap();
    assert_eq!(answers.len(), 2);
    let pairs = |at: usize| -> Vec<&str> {
        let all = answers[at]["comparisons"].as_array().unwrap();
        all.iter().flat_map(|c| [c["a"].as_str().unwrap(), c["b"].as_str().unwrap()]).collect()
    };
    for answer in [0, 1] {
        assert!(!pairs(answer).iter().any(|id| id.starts_with("pread")), "{answers:?}");
    }
    let flags = &cell(&run, "splice")["samples"][0]["flags"];
    assert!(flags.as_array().unwrap().iter().any(|flag| flag == "UNCONSUMED"), "{flags}");
}

#[test]
fn operations_timed_one_by_one_are_in_every_format() {
    let home = Home::new();
    let run = run(&home, &["--method", "pread,mmap", "--block", "4Ki", "--latency"]);
    let metrics = &cell(&run, "pread")["samples"][5]["metrics"];
    let ns = |id: &str| metrics[id].as_f64().unwrap();
    assert!(ns("latency_p50_ns") <= ns("latency_p90_ns"), "{metrics}");
    assert!(ns("latency_p90_ns") <= ns("latency_max_ns"), "{metrics}");
    let table = home.run(&["show", "1", "--details"]).fine().out;
    assert!(table.contains("p50") && table.contains("one reading of the clock"), "{table}");
    let csv = home.run(&["show", "1", "--format", "csv"]).fine().out;
    assert!(csv.lines().next().unwrap().contains(",latency_p50_ns"), "{csv}");
    let markdown = home.run(&["show", "1", "--format", "markdown"]).fine().out;
    assert!(markdown.contains("| p50 |"), "{markdown}");
    let html = home.run(&["show", "1", "--format", "html"]).fine().out;
    assert!(html.contains("<th scope=\"col\">p50</th>"), "{html}");
}

#[test]
fn a_depth_is_an_axis_that_only_a_ring_has() {
    let home = Home::new();
    let run = run(&home, &["--method", "pread,io_uring", "--queue-depth", "1,4", "--block", "4Ki"]);
    assert_eq!(cell(&run, "pread")["status"], "measured", "once for all depths");
    match host::unavailable_methods(&home.path("."), true).get("io_uring") {
        Some(why) => {
            let cell = cell(&run, "io_uring/queue-depth=4");
            assert_eq!(
                (&cell["status"], cell["reason"].as_str()),
                (&"skipped".into(), Some(&**why))
            );
        }
        None => {
            let sample = &cell(&run, "io_uring/queue-depth=4")["samples"][4];
            assert_eq!(sample["proof"]["cache"]["proven"], true, "{sample}");
        }
    }
}

/// Where in a page a buffer lies costs as much as its size does, and nothing could ask for it: reads
/// into odd multiples of 16 bytes, where malloc puts half of all buffers, took half as much again.
#[test]
fn a_buffer_begins_where_it_is_asked_to() {
    let home = Home::new();
    let ways = ["--method", "pread,mmap", "--block", "4Ki", "--buffer-offset", "0,16"];
    let run = run(&home, &ways);
    let ids: Vec<&str> =
        run["cells"].as_array().unwrap().iter().map(|c| c["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 3, "mmap once for all offsets: {ids:?}");
    let there = cell(&run, "pread/buffer-offset=16");
    assert_eq!(there["samples"][4]["proof"]["digest"]["matches"], true, "{there}");
    let said = home.run(&["show", "1"]).fine().plain();
    assert!(said.contains("buffer-offset"), "{said}");
    home.run(&["read", "--buffer-offset", "4096"])
        .refused(2, &["the greatest buffer-offset is 4095"]);
    let past = home.run(&["read", "--direct", "--buffer-offset", "16", "--plan"]);
    assert!((past.out.clone() + &past.err).contains("leave out --buffer-offset 16"), "{past:?}");
    if !traceable("a_buffer_begins_where_it_is_asked_to") {
        return;
    }
    let arguments = ["read", "--file-size", "256Ki", "--rounds", "3", "--method", "pread"];
    let blocks = ["--block", "4Ki", "--buffer-offset", "48"];
    let offsets = buffer_offsets(&home, "pread64", 4096, &[&arguments[..], &blocks].concat());
    let (there, elsewhere): (Vec<u64>, Vec<u64>) = offsets.into_iter().partition(|at| *at == 48);
    // The history reads pages of its database, too.
    assert!(
        there.len() > 3 * 64 && elsewhere.len() < there.len() / 20,
        "{} {elsewhere:?}",
        there.len()
    );
}
