//! Runs from elsewhere: what is taken, what is refused, and that nothing is lost on the way.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cli_support::Home;
use iolab_model::catalog::{Factor, Level};
use iolab_model::result::{CellStatus, Document};
use iolab_record::import::{self, ImportError};
use iolab_report::{self as report, TextStyle};
use iolab_test::documents::{levels, timed, winner};
use proptest::prelude::*;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/import").join(name)
}

/// Reads a text as if it were a file.
fn from_text(text: &[u8]) -> Result<Vec<Document>, ImportError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.json");
    fs::write(&path, text).unwrap();
    import::read(&path)
}

#[test]
fn fio_jobs_are_cells_and_jobs_alike_are_rounds() {
    let runs = import::read(&fixture("fio.json")).unwrap();
    let [reads, writes] = runs.as_slice() else { panic!("{}", runs.len()) };
    assert_eq!(reads.experiment.workload, "read");
    assert_eq!(reads.run.started, "2026-03-01T12:00:00Z");
    assert_eq!(reads.environment.0["import.tool"], "fio-3.33");
    let small = &reads.cells[0];
    assert_eq!(small.samples.len(), 2);
    assert_eq!(small.factors.number(Factor::Block), Some(4096));
    assert_eq!(small.factors.number(Factor::FileSize), Some(64 << 20));
    assert_eq!(small.factors.text(Factor::Method), Some("psync"));
    assert_eq!(small.factors.text(Factor::Contender), Some("fio"));
    let estimate = small.estimate.as_ref().unwrap();
    assert_eq!(estimate.wall_ns.median, 42e6);
    assert_eq!(estimate.ns_per_operation.median, 42e6 / 16384.0);
    assert_eq!(small.samples[0].measurement.user_ns, 8_000_000);
    assert_eq!(small.samples[0].measurement.metrics["clat_p99_ns"], 5100.0);
    assert_eq!(reads.cells[1].factors.number(Factor::QueueDepth), Some(4));
    let write = &writes.cells[0].factors;
    let words =
        (write.text(Factor::Method), write.text(Factor::Pattern), write.text(Factor::Direct));
    assert_eq!(words, (Some("io_uring"), Some("random"), Some("on")));
}

/// A report of fio with these jobs, each `{…}` without its braces.
fn fio(jobs: &[&str]) -> Vec<Document> {
    let jobs: Vec<String> = jobs.iter().map(|job| format!("{{{job}}}")).collect();
    let text = format!(
        r#"{{"fio version": "fio-3.33", "timestamp": 1772366400, "jobs": [{}]}}"#,
        jobs.join(",")
    );
    from_text(text.as_bytes()).unwrap()
}

/// Without group_reporting fio has a row for each thread: three threads of one job were taken for
/// three rounds of one thread, at a third of the speed.
#[test]
fn threads_of_a_fio_job_are_one_sample() {
    let thread = |group: u32, ms: u32| {
        format!(
            r#""jobname": "many", "groupid": {group}, "job options": {{"numjobs": "3", "bs": "64k"}},
               "job_runtime": {ms}, "usr_cpu": 50.0, "sys_cpu": 25.0,
               "read": {{"io_bytes": 4194304, "total_ios": 64, "runtime": {ms},
                         "clat_ns": {{"mean": {ms}, "percentile": {{"99.000000": 5}}}}}}"#
        )
    };
    let rows = [thread(0, 20), thread(0, 16), thread(0, 18), thread(1, 22), thread(1, 20)];
    let runs = fio(&rows.iter().map(String::as_str).collect::<Vec<_>>());
    let [cell] = runs[0].cells.as_slice() else { panic!("{:?}", runs[0].cells) };
    assert_eq!(cell.factors.number(Factor::Threads), Some(3));
    let [first, second] = cell.samples.as_slice() else { panic!("{:?}", cell.samples) };
    let (first, second) = (&first.measurement, &second.measurement);
    assert_eq!((first.wall_ns, first.bytes, first.operations), (20_000_000, 12 << 20, 192));
    assert_eq!((first.user_ns, first.system_ns), (27_000_000, 13_500_000));
    // A mean can be taken over threads, a percentile cannot.
    assert_eq!(first.metrics["clat_mean_ns"], 18.0);
    assert!(!first.metrics.contains_key("clat_p99_ns"));
    assert_eq!((second.wall_ns, second.bytes), (22_000_000, 8 << 20));
    // With group_reporting the shares are of the time of all threads.
    let grouped = fio(&[r#""jobname": "g", "job_runtime": 60, "usr_cpu": 50.0,
        "job options": {"numjobs": "3", "group_reporting": ""},
        "read": {"io_bytes": 12582912, "total_ios": 192, "runtime": 20}"#]);
    assert_eq!(grouped[0].cells[0].samples[0].measurement.user_ns, 30_000_000);
}

#[test]
fn what_a_fio_job_does_not_say_plainly_is_left_out() {
    let job = |name: &str, options: &str| {
        let side = r#"{"io_bytes": 4096, "total_ios": 1, "runtime": 5}"#;
        format!(
            r#""jobname": "{name}", "job options": {{{options}}}, "read": {side}, "write": {side}"#
        )
    };
    let rows = [
        job("plain", ""),
        job("both", r#""rw": "randrw", "bs": "8k,32k""#),
        job("range", r#""bsrange": "4k-64k""#),
        job("split", r#""bs": "4k", "bssplit": "4k/50:64k/50""#),
    ];
    let runs = fio(&rows.iter().map(String::as_str).collect::<Vec<_>>());
    let blocks = |run: &Document| -> Vec<Option<u64>> {
        run.cells.iter().map(|c| c.factors.number(Factor::Block)).collect()
    };
    assert_eq!(blocks(&runs[0]), [Some(4096), Some(8192), None, None]);
    assert_eq!(blocks(&runs[1]), [Some(4096), Some(32768), None, None]);
    // A job that did both is no rival of one that only reads.
    let contender = |at: usize| runs[0].cells[at].factors.text(Factor::Contender);
    assert_eq!((contender(0), contender(1)), (Some("fio"), Some("fio, mixed")));
    assert_eq!((contender(2), contender(3)), (Some("fio range"), Some("fio split")));
    assert_eq!(runs[0].run.title, "read by fio-3.33: plain, both, range, split");
}

#[test]
fn a_fio_job_below_a_millisecond_and_shares_that_are_no_number_are_no_figures() {
    let runs = fio(&[
        r#""jobname": "a", "usr_cpu": -nan, "sys_cpu": NaN, "job options": {"bs": "4k"},
           "read": {"io_bytes": 4096, "total_ios": 1, "runtime": 0}"#,
        r#""jobname": "b", "usr_cpu": -nan, "sys_cpu": inf, "job options": {"bs": "8k"},
           "read": {"io_bytes": 4096, "total_ios": 1, "runtime": 3, "clat_ns": {"mean": nan}}"#,
    ]);
    let [short, fine] = runs[0].cells.as_slice() else { panic!("{:?}", runs[0].cells) };
    assert_eq!(short.status, CellStatus::Failed);
    assert!(short.reason.as_ref().unwrap().contains("millisecond"), "{short:?}");
    assert_eq!((fine.status, fine.samples[0].measurement.user_ns), (CellStatus::Measured, 0));
    assert!(fine.samples[0].measurement.metrics.is_empty());
}

#[test]
fn clients_of_fio_are_cells_of_their_own_and_their_sum_is_none() {
    let row = |name: &str, host: &str| {
        format!(
            r#"{{"jobname": "{name}", "groupid": 0, "hostname": "{host}",
                 "read": {{"io_bytes": 4096, "total_ios": 1, "runtime": 6}}}}"#
        )
    };
    let rows = [row("cli", "one"), row("cli", "two"), row("All clients", "")].join(",");
    let text = format!(r#"{{"fio version": "fio-3.33", "client_stats": [{rows}]}}"#);
    let runs = from_text(text.as_bytes()).unwrap();
    let names: Vec<_> =
        runs[0].cells.iter().map(|c| c.factors.text(Factor::Contender).unwrap()).collect();
    assert_eq!(names, ["fio cli on one", "fio cli on two"]);
    assert!(runs[0].cells.iter().all(|c| c.samples.len() == 1));
}

/// What fio itself writes, of several kinds of job.
#[test]
fn fio_itself_is_understood() {
    let home = Home::new();
    let fio = |arguments: &str| {
        let mut command = std::process::Command::new("fio");
        command.args(["--size=1m", "--output=out.json"]).args(arguments.split(' '));
        command.current_dir(home.path(".")).output()
    };
    if fio("--version").is_err() {
        return eprintln!("SKIP fio_itself_is_understood: no fio: apt-get install fio");
    }
    for (arguments, workloads, cells, samples, bytes) in [
        ("--output-format=json --name=a --rw=read --bs=64k", 1, 1, 1, 1 << 20),
        ("--output-format=json+ --name=a --rw=randread --bs=4k", 1, 1, 1, 1 << 20),
        ("--output-format=normal,json --name=a --rw=write --bs=4k", 1, 1, 1, 1 << 20),
        ("--output-format=json --name=a --rw=read --numjobs=3", 1, 1, 1, 3 << 20),
        ("--output-format=json --name=a --rw=read --numjobs=3 --group_reporting", 1, 1, 1, 3 << 20),
        (
            "--output-format=json --name=a --rw=write --name=b --stonewall --rw=write --bs=1m",
            1,
            2,
            2,
            2 << 20,
        ),
        (
            "--output-format=json --name=a --rw=read --stonewall --name=a --stonewall --rw=read",
            1,
            1,
            2,
            2 << 20,
        ),
        ("--output-format=json --name=a --rw=randrw --bs=4k", 2, 2, 2, 1 << 20),
    ] {
        let output = fio(arguments).unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let runs = import::read(&home.path("out.json"));
        let runs = runs.unwrap_or_else(|e| panic!("{arguments}: {e}"));
        let all = || runs.iter().flat_map(|run| &run.cells);
        let measured = || all().flat_map(|cell| &cell.samples);
        let moved: u64 = measured().map(|sample| sample.measurement.bytes).sum();
        let found = (runs.len(), all().count(), measured().count(), moved);
        assert_eq!(found, (workloads, cells, samples, bytes), "{arguments}");
        let has = |id: &str| measured().all(|s| s.measurement.metrics.contains_key(id));
        assert!(has("clat_mean_ns"), "{arguments}");
        assert!(has("clat_p99_9_ns") || arguments.contains("numjobs=3"), "{arguments}");
    }
}

#[test]
fn a_benchmark_that_skipped_itself_has_no_figures_and_a_number_that_is_none_no_value() {
    let runs = from_text(
        br#"{"context": {"load_avg": [NaN]}, "benchmarks": [
        {"name": "A", "run_name": "A", "run_type": "iteration", "skipped": true,
         "skip_message": "no such device", "iterations": 0, "real_time": 0, "time_unit": "ns"},
        {"name": "B", "run_name": "B", "run_type": "iteration", "iterations": 10,
         "real_time": 5.0, "cpu_time": 5.0, "time_unit": "us", "bytes_per_second": Infinity, "x": -NaN},
        {"name": "B_cv", "run_name": "B", "run_type": "aggregate", "aggregate_name": "cv",
         "iterations": 2, "real_time": NaN, "time_unit": "ns"}]}"#,
    )
    .unwrap();
    let [skipped, fine] = runs[0].cells.as_slice() else { panic!("{:?}", runs[0].cells) };
    assert_eq!(skipped.status, CellStatus::Skipped);
    assert_eq!(skipped.reason.as_deref(), Some("no such device"));
    assert_eq!(skipped.estimate, None);
    assert_eq!(fine.estimate.as_ref().unwrap().wall_ns.median, 5000.0);
    assert_eq!(fine.samples[0].measurement.bytes, 0);
}

/// A run that was made here, went to another machine and came back was taken for a new one.
#[test]
fn a_run_that_comes_home_is_known() {
    let home = Home::new();
    let store =
        iolab_record::history::Store::open(Some(&home.path("state/iolab/history.sqlite")), &[]);
    let store = store.unwrap();
    let mut twin = winner();
    twin.run.seed += 1;
    for run in [&twin, &iolab_test::documents::partial(), &winner()] {
        store.insert(run).unwrap();
    }
    for (number, name) in [("2", "partial.json"), ("3", "whole.json")] {
        home.run(&["export", number, &format!("json={name}")]).fine();
        // On another machine it is new, here it is not.
        let there = home.run(&["import", name, "--store", &format!("{name}.sqlite")]).fine();
        assert_eq!(there.out, "1\n");
        let away = format!("away-{name}");
        let store = format!("{name}.sqlite");
        home.run(&["export", "1", &format!("json={away}"), "--store", &store]).fine();
        assert_eq!(home.run(&["import", &away]).fine().out, format!("{number}\n"));
    }
    // The same run with one figure changed is another.
    let text = fs::read_to_string(home.path("whole.json")).unwrap();
    let wall = winner().cells[0].samples[3].measurement.wall_ns;
    let text = text.replacen(&format!("\"wall_ns\": {wall}"), "\"wall_ns\": 5", 1);
    fs::write(home.path("forged.json"), text).unwrap();
    assert_eq!(home.run(&["import", "forged.json"]).fine().out, "4\n");
}

#[test]
fn google_benchmark_rows_are_samples_and_our_names_are_our_cells() {
    let runs = import::read(&fixture("google-benchmark.json")).unwrap();
    let [ours, others] = runs.as_slice() else { panic!("{}", runs.len()) };
    assert_eq!(ours.run.started, "2026-03-01T12:00:00Z");
    assert_eq!(ours.run.title, "read by read_loop");
    let cell = &ours.cells[0];
    assert_eq!(cell.factors.text(Factor::Method), Some("pread"));
    assert_eq!(cell.factors.get(Factor::Cache), Some(&Level::word("warm")));
    assert_eq!(cell.samples.len(), 2);
    assert_eq!(cell.samples[0].measurement.wall_ns, 15_000_000);
    assert_eq!(cell.samples[0].measurement.bytes, 104_857_600);
    assert_eq!(cell.samples[0].measurement.operations, 1600);
    assert_eq!(cell.estimate.as_ref().unwrap().wall_ns.median, 151_000.0);
    let names: Vec<&str> = others.cells.iter().map(|c| c.id.as_str()).collect();
    assert_eq!(names, ["BM_Parse/1024", "BM_Only", "BM_Broken"]);
    assert_eq!(others.cells[1].estimate.as_ref().unwrap().wall_ns.median, 3e6);
    assert_eq!(others.cells[2].status, CellStatus::Failed);
    assert_eq!(others.cells[2].reason.as_deref(), Some("no such file"));
    // What was imported can be shown in every format.
    for (document, format) in runs.iter().flat_map(|d| report::FORMATS.iter().map(move |f| (d, f)))
    {
        (format.write)(document, &TextStyle::default(), &mut Vec::new()).unwrap();
    }
}

#[test]
fn what_we_export_for_google_benchmark_comes_back_as_the_same_cells() {
    let cells =
        [("pread/64Ki", levels("pread", Some(65536)), 32.0), ("mmap", levels("mmap", None), 41.0)];
    let doc = timed(&cells, 10, 0.0, 0.02, 1);
    let mut text = Vec::new();
    report::write("google-benchmark", &doc, &TextStyle::default(), &mut text).unwrap();
    let back = from_text(&text).unwrap().pop().unwrap();
    assert_eq!(back.experiment.workload, "read");
    for (cell, back) in doc.cells.iter().zip(&back.cells) {
        assert_eq!(cell.factors, back.factors);
        let walls = |c: &iolab_model::result::CellRecord| -> Vec<u64> {
            let steady = c.samples.iter().filter(|s| s.phase == iolab_model::result::Phase::Steady);
            steady.map(|s| s.measurement.wall_ns).collect()
        };
        assert_eq!(walls(cell), walls(back));
    }
}

#[test]
fn an_exported_run_comes_back_whole_and_once() {
    let home = Home::new();
    let mut text = Vec::new();
    report::write("json", &winner(), &TextStyle::default(), &mut text).unwrap();
    fs::write(home.path("run.json"), &text).unwrap();
    let said = home.run(&["import", "run.json"]).fine();
    assert_eq!(said.out, "1\n");
    let said = home.run(&["import", "run.json", "--store", "other.sqlite"]).fine();
    assert_eq!(said.out, "1\n");
    // Under another name, and after a way through another history: still the same run.
    home.run(&["export", "1", "json=copy.json"]).fine();
    let said = home.run(&["import", "copy.json", "run.json"]).fine();
    assert_eq!(said.out, "1\n1\n");
    assert!(said.err.contains("already"), "{said:?}");
    let back: Document =
        serde_json::from_str(&fs::read_to_string(home.path("copy.json")).unwrap()).unwrap();
    let mut wanted = winner();
    wanted.run.id = 1;
    wanted.environment.0.insert("import.file".into(), "run.json".into());
    assert_eq!(back, wanted);
    for name in ["fio.json", "google-benchmark.json"] {
        home.run(&["import".into(), fixture(name).into_os_string()]).fine();
    }
    assert_eq!(home.run(&["history", "--format", "json"]).fine().out.matches("\"id\"").count(), 5);
}

#[test]
fn what_cannot_be_used_is_refused_and_changes_nothing() {
    let home = Home::new();
    let good = serde_json::to_string(&winner()).unwrap();
    let half = &good[..good.len() / 2];
    let mut twice = winner();
    let id = twice.cells[0].id.clone();
    twice.cells[1].id = id;
    let mut stranger = winner();
    stranger.answers[0].best = vec!["nobody".into()];
    for (name, text, words) in [
        ("empty", "", "no JSON object"),
        ("words", "hello", "no JSON object"),
        ("half", half, "EOF"),
        ("other", "{\"a\": 1}", "no run of iolab"),
        ("list", "[1, 2]", "no JSON object"),
        ("schema", "{\"schema\": \"something/1\"}", "no run of iolab"),
        ("newer", "{\"schema\": \"iolab.run/9\"}", "update iolab"),
        ("bare", "{\"schema\": \"iolab.run/1\"}", "missing field"),
        ("twice", &serde_json::to_string(&twice).unwrap(), "two cells are called"),
        ("stranger", &serde_json::to_string(&stranger).unwrap(), "nobody"),
        ("nojobs", "{\"fio version\": \"fio-3\", \"jobs\": []}", "no measurement"),
        ("nobench", "{\"context\": {}, \"benchmarks\": []}", "no measurement"),
        (
            "unit",
            "{\"benchmarks\": [{\"name\": \"a\", \"real_time\": 1, \"time_unit\": \"weeks\"}]}",
            "weeks",
        ),
    ] {
        fs::write(home.path(name), text).unwrap();
        // The good file before it is not taken either: all or none.
        fs::write(home.path("good.json"), &good).unwrap();
        home.run(&["import", "good.json", name]).refused(2, &[name, words]);
    }
    fs::write(home.path("bytes"), b"{\"schema\": \"\xff\"}").unwrap();
    home.run(&["import", "bytes"]).refused(2, &["UTF-8"]);
    fs::write(home.path("deep"), format!("{{\"schema\": {}", "[".repeat(100_000))).unwrap();
    home.run(&["import", "deep"]).refused(2, &["deep", "recursion"]);
    // Three GiB that take no space: told by its length, not by filling the memory.
    fs::File::create(home.path("huge")).unwrap().set_len(3 << 30).unwrap();
    let script = "ulimit -v 400000; exec \"$IOLAB\" import huge";
    let tight = std::process::Command::new("sh")
        .args(["-c", script])
        .current_dir(home.path("."))
        .env("XDG_STATE_HOME", home.path("state"))
        .env("IOLAB", crate::cli_support::IOLAB)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&tight.stderr);
    assert!(tight.status.code() == Some(2) && said.contains("more than 2 GiB"), "{said}");
    home.run(&["import", "none.json"]).refused(2, &["none.json", "No such file"]);
    home.run(&["import", "."]).refused(2, &["directory"]);
    assert_eq!(home.run(&["history", "--format", "json"]).fine().out, "[]\n");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn damage_anywhere_is_an_error_or_a_document_but_no_panic(
        which in 0usize..3, at in 0.0f64..1.0, with in any::<u8>(), cut in any::<bool>()
    ) {
        let mut text = match which {
            0 => fs::read(fixture("fio.json")).unwrap(),
            1 => fs::read(fixture("google-benchmark.json")).unwrap(),
            _ => serde_json::to_vec(&winner()).unwrap(),
        };
        let at = (at * (text.len() - 1) as f64) as usize;
        if cut { text.truncate(at) } else { text[at] = with }
        if let Ok(documents) = from_text(&text) {
            for document in documents {
                (report::FORMATS[0].write)(&document, &TextStyle::default(), &mut Vec::new()).unwrap();
            }
        }
    }
}
