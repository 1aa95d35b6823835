//! What reads bytes of strangers, each as a function that takes any: it refuses them in words or takes
//! them, and never panics, recurses without bound or fills the memory. `make fuzz` feeds them for hours,
//! the tests for seconds with what [`mutate`] makes of known texts.

pub mod mutate;

use std::io::Write;
use std::path::{Path, PathBuf};

use iolab_agent::{Reply, Request, read_frame, write_frame};
use iolab_io::method::METHODS;
use iolab_io::place::PLACES;
use iolab_io::workload::{WORKLOADS, operations};
use iolab_model::catalog::Part;
use iolab_model::result::Document;
use iolab_model::spec::Vocabulary;
use iolab_model::spec::file::{Loaded, Source, Words, read, write};
use iolab_record::history::{Filter, Store};
use iolab_record::import;

/// Something that reads.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, and that of its folder in `fuzz/corpus`.
    pub name: &'static str,
    /// Feeds it.
    pub feed: fn(&[u8]),
    /// Folders and files of the repository with good texts for it.
    pub seeds: &'static [&'static str],
    /// How many mutations a test run makes: as many as take about a second.
    pub turns: u64,
}

impl Target {
    const fn new(
        name: &'static str,
        feed: fn(&[u8]),
        seeds: &'static [&'static str],
        turns: u64,
    ) -> Target {
        Target { name, feed, seeds, turns }
    }
}

const EXPERIMENT_FILES: &[&str] =
    &["crates/iolab-model/src/spec/file/example.toml", "fuzz/corpus/experiment_file"];
const RUNS: &str = "crates/iolab/tests/fixtures/runs";
const IMPORTS: &str = "crates/iolab/tests/fixtures/import";

/// All that read.
pub const TARGETS: [Target; 7] = [
    Target::new("levels", levels, &["fuzz/corpus/levels"], 300),
    Target::new("experiment_file", experiment_file, EXPERIMENT_FILES, 300),
    Target::new("study", study, &["crates/iolab-study/studies", "fuzz/corpus/study"], 50),
    Target::new("frame", frame, &["fuzz/corpus/frame"], 3000),
    Target::new("record", record, &[RUNS, "fuzz/corpus/record"], 400),
    Target::new("store", store, &[], 60),
    Target::new("import", imported, &[IMPORTS, RUNS, "fuzz/corpus/import"], 300),
];

/// The target of this name.
pub fn target(name: &str) -> Target {
    *TARGETS.iter().find(|target| target.name == name).expect("a target is in the list")
}

impl Target {
    /// The good texts, in the order of their names; `root` is that of the repository.
    pub fn corpus(&self, root: &Path) -> Vec<Vec<u8>> {
        let mut paths: Vec<PathBuf> = Vec::new();
        for seed in self.seeds {
            let path = root.join(seed);
            match path.is_dir() {
                true => paths.extend(path.read_dir().unwrap().map(|entry| entry.unwrap().path())),
                false => paths.push(path),
            }
        }
        paths.sort();
        let files = paths.iter().filter(|path| path.is_file());
        let mut all: Vec<Vec<u8>> = files.map(|path| std::fs::read(path).unwrap()).collect();
        if self.name == "store" {
            all.push(a_store());
        }
        all
    }
}

/// The bytes of a history with two runs in it.
fn a_store() -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("history");
    let store = Store::open(Some(&path), &[]).unwrap();
    for document in [crate::scenes::blocks(), crate::scenes::hostile()] {
        store.insert(&document).unwrap();
    }
    drop(store);
    std::fs::read(&path).unwrap()
}

fn parts() -> Vec<&'static Part> {
    METHODS.iter().chain(operations()).chain(PLACES).collect()
}

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

/// The levels of every axis of every workload: refused at a byte that exists.
fn levels(bytes: &[u8]) {
    let (Some(text), parts) = (text(bytes), parts()) else { return };
    for info in WORKLOADS {
        let vocabulary = Vocabulary { info, parts: &parts };
        for axis in info.factors {
            if let Err(error) = vocabulary.levels(axis.factor, text) {
                assert!(error.at <= error.written.len(), "{error:?}");
            }
        }
    }
}

/// A file of experiments: what is read is written and reads back.
fn experiment_file(bytes: &[u8]) {
    let (Some(text), parts) = (text(bytes), parts()) else { return };
    let words = Words { workloads: WORKLOADS, parts: &parts };
    let file = |text: &str| Loaded { name: "f".into(), identity: "f".into(), text: text.into() };
    // Every file includes itself, so that includes are walked too.
    let mut load = |from: &Loaded, _: &str| Ok(from.clone());
    match read(&file(text), words, 1, &mut load) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(all) => {
            for one in all {
                let again = read(&file(&write(&one)), words, 1, &mut load);
                let again = again.unwrap_or_else(|error| panic!("{error}\n{}", write(&one)));
                assert_eq!(again[0].experiment, one.experiment);
            }
        }
    }
}

/// A study with its claims: what is read can be looked through and written as a page of nothing run.
fn study(bytes: &[u8]) {
    let (Some(text), parts) = (text(bytes), parts()) else { return };
    let words = Words { workloads: WORKLOADS, parts: &parts };
    // Looking through it for mistakes reads it first.
    drop(iolab_study::check("s", &Source { name: "s.toml", text }, words, 1));
}

/// A stream of the agent's, from either side: what is read is written and reads back.
fn frame(bytes: &[u8]) {
    let mut stream = bytes;
    while let Ok(Some(request)) = read_frame::<Request>(&mut stream) {
        let mut again = Vec::new();
        write_frame(&mut again, &request).unwrap();
        assert_eq!(read_frame::<Request>(&mut again.as_slice()).unwrap(), Some(request));
    }
    let mut stream = bytes;
    while let Ok(Some(_)) = read_frame::<Reply>(&mut stream) {}
}

/// A run as it is stored: what is read is written and reads back.
fn record(bytes: &[u8]) {
    let Ok(document) = serde_json::from_slice::<Document>(bytes) else { return };
    let written = serde_json::to_string(&document).unwrap();
    let again: Document = serde_json::from_str(&written).unwrap();
    assert_eq!(serde_json::to_string(&again).unwrap(), written);
}

/// A history on disk that something has damaged.
fn store(bytes: &[u8]) {
    with_file(bytes, |path| {
        let Ok(store) = Store::open(Some(path), &[]) else { return };
        let runs = store.list(&Filter::default()).unwrap_or_default();
        runs.iter().take(3).for_each(|run| drop(store.load(run.id)));
    });
    // A damaged file is left as it is: what is in it may still be saved by somebody.
}

/// A file of another tool, or of iolab elsewhere.
fn imported(bytes: &[u8]) {
    with_file(bytes, |path| match import::read(path) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(all) => all.iter().for_each(|document| drop(serde_json::to_string(document).unwrap())),
    });
}

/// In memory, where there is such a place: files are made by the thousand.
fn with_file(bytes: &[u8], act: impl FnOnce(&Path)) {
    let memory = Path::new("/dev/shm");
    let mut builder = tempfile::Builder::new();
    builder.prefix("iolab-test-");
    let dir = builder.tempdir_in(memory).or_else(|_| builder.tempdir()).unwrap();
    let path = dir.path().join("f");
    std::fs::File::create(&path).unwrap().write_all(bytes).unwrap();
    act(&path);
}
