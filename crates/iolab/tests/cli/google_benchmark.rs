//! Google Benchmark's world: its `compare.py` reads our JSON and starts us as a benchmark program,
//! and a C++ program built against the library imports beside our cells. What is not installed is
//! skipped aloud.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::cli_support::{Home, IOLAB};
use iolab_report::{self as report, TextStyle};
use iolab_test::documents::{levels, timed};

/// Where Debian's libbenchmark-tools puts it.
const COMPARE: &str = "/usr/share/benchmark/compare.py";

/// A Python that compare.py runs in, or why there is none. The distribution's own comes first: that
/// is where its package brings SciPy.
fn compare_py(test: &str) -> Option<&'static str> {
    let mut why = "no compare.py: apt-get install libbenchmark-tools".to_owned();
    if Path::new(COMPARE).exists() {
        for python in ["/usr/bin/python3", "python3"] {
            match Command::new(python).args([COMPARE, "--help"]).output() {
                Ok(output) if output.status.success() => return Some(python),
                Ok(output) => {
                    let said = String::from_utf8_lossy(&output.stderr);
                    why = said.lines().last().unwrap_or("").to_owned();
                }
                Err(error) => why = format!("{python}: {error}"),
            }
        }
    }
    eprintln!("SKIP {test}: {why}");
    None
}

fn compare(python: &str, home: &Home, arguments: &[&str]) -> String {
    let output = Command::new(python)
        .args([COMPARE, "--no-color"])
        .args(arguments)
        .current_dir(home.path("."))
        .env("XDG_STATE_HOME", home.path("state"))
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// Two runs of ten rounds and of one, the second a fifth slower.
fn exported(home: &Home, name: &str, ms: f64, rounds: u32, seed: u64) {
    let cells =
        [("pread/64Ki", levels("pread", Some(65536)), ms), ("mmap", levels("mmap", None), 41.0)];
    let doc = timed(&cells, rounds, 0.0, 0.02, seed);
    let mut text = Vec::new();
    report::write("google-benchmark", &doc, &TextStyle::default(), &mut text).unwrap();
    std::fs::write(home.path(name), text).unwrap();
}

#[test]
fn compare_py_reads_single_runs_repetitions_and_aggregates() {
    let Some(python) = compare_py("compare_py_reads_single_runs_repetitions_and_aggregates") else {
        return;
    };
    let home = Home::new();
    for (name, ms, rounds) in
        [("a1.json", 32.0, 1), ("b1.json", 38.4, 1), ("a.json", 32.0, 10), ("b.json", 38.4, 10)]
    {
        exported(&home, name, ms, rounds, u64::from(rounds) + ms as u64);
    }
    let change = |text: &str, row: &str| -> f64 {
        let line =
            text.lines().find(|l| l.contains(row)).unwrap_or_else(|| panic!("{row}: {text}"));
        line.trim_start_matches(|c: char| !c.is_whitespace())
            .split_whitespace()
            .next()
            .and_then(|n| n.parse().ok())
            .unwrap_or_else(|| panic!("{line}"))
    };
    let single = compare(python, &home, &["benchmarks", "a1.json", "b1.json"]);
    assert!((change(&single, "read/pread/") - 0.2).abs() < 0.05, "{single}");
    let repeated = compare(python, &home, &["benchmarks", "a.json", "b.json"]);
    assert!((change(&repeated, "threads:1_median") - 0.2).abs() < 0.05, "{repeated}");
    assert!(repeated.contains("threads:1_pvalue") && repeated.contains("_stddev"), "{repeated}");
    let aggregates =
        compare(python, &home, &["--display_aggregates_only", "benchmarks", "a.json", "b.json"]);
    assert!(aggregates.contains("_mean") && aggregates.contains("_median"), "{aggregates}");
    let (pread, mmap) =
        ("read/pread/file-size:268435456/block:65536", "read/mmap/file-size:268435456");
    let filtered = compare(python, &home, &["filters", "a.json", pread, mmap]);
    assert!(filtered.contains(&format!("[{pread} vs. {mmap}]")), "{filtered}");
}

#[test]
fn compare_py_starts_iolab_as_a_benchmark_program() {
    let Some(python) = compare_py("compare_py_starts_iolab_as_a_benchmark_program") else { return };
    let home = Home::new();
    let text = compare(
        python,
        &home,
        &[
            "benchmarks",
            IOLAB,
            IOLAB,
            "--benchmark_filter=syscall/.*(lseek|getppid)",
            "--benchmark_repetitions=3",
            "--benchmark_min_time=0.01",
        ],
    );
    assert!(
        text.contains("lseek") && text.contains("_median") && !text.contains("pread"),
        "{text}"
    );
}

#[test]
fn the_bare_flags_do_what_a_benchmark_program_does() {
    let home = Home::new();
    let all = home.run(&["--benchmark_list_tests"]).fine().out;
    assert!(
        all.lines().count() > 5 && all.contains("syscall/") && all.contains("read/mmap/"),
        "{all}"
    );
    let some = home.run(&["--benchmark_list_tests=true", "--benchmark_filter=-syscall"]).fine().out;
    assert!(!some.contains("syscall/") && some.contains("read/mmap/"), "{some}");
    let out = home.path("out.json");
    let said = home
        .run(&[
            "syscall".into(),
            "--operation".into(),
            "getppid,lseek".into(),
            "--benchmark_filter=lseek".into(),
            "--benchmark_repetitions=2".into(),
            "--benchmark_format=json".into(),
            "--benchmark_color=false".into(),
            std::ffi::OsString::from(format!("--benchmark_out={}", out.display())),
            "--benchmark_out_format=json".into(),
            "--benchmark_report_aggregates_only=true".into(),
        ])
        .fine();
    for text in [said.out, std::fs::read_to_string(out).unwrap()] {
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let rows = json["benchmarks"].as_array().unwrap();
        let names: Vec<&str> = rows.iter().map(|r| r["aggregate_name"].as_str().unwrap()).collect();
        assert_eq!(names, ["mean", "median", "stddev", "cv"], "{text}");
        assert_eq!(json["context"]["json_schema_version"], 1);
    }
    for (flag, words) in [
        ("--benchmark_nonsense=1", "no such flag"),
        ("--benchmark_repetitions=0", "whole number"),
        ("--benchmark_format=xml", "console, json or csv"),
        ("--benchmark_filter=(", "no regular expression"),
        ("--benchmark_min_time=soon", "seconds"),
        ("--benchmark_filter=nothing_is_called_so", "no benchmark matches"),
    ] {
        home.run(&[flag]).refused(2, &[words]);
    }
    home.run(&["history", "--benchmark_out=x"]).refused(2, &["a command that measures"]);
    let gone = home.run(&[
        "syscall",
        "--operation",
        "lseek",
        "--benchmark_out=no/such/dir.json",
        "--benchmark_repetitions=1",
    ]);
    assert_eq!(gone.code, Some(20), "{gone:?}");
}

fn tool(name: &str) -> Option<Output> {
    Command::new(name).arg("--version").output().ok().filter(|o| o.status.success())
}

/// The program, built by its own CMake file, or why not.
fn built(test: &str, home: &Home) -> Option<PathBuf> {
    let skip = |why: &str| {
        eprintln!("SKIP {test}: {why}");
        None
    };
    if tool("cmake").is_none() || tool("c++").is_none() {
        return skip("no cmake or C++ compiler: apt-get install cmake g++");
    }
    let source = Path::new(crate::cli_support::ROOT).join("examples/google-benchmark");
    let build = home.path("build");
    let cmake =
        |arguments: &[&std::ffi::OsStr]| Command::new("cmake").args(arguments).output().unwrap();
    let made = cmake(&["-S".as_ref(), source.as_ref(), "-B".as_ref(), build.as_ref()]);
    let said = String::from_utf8_lossy(&made.stderr).into_owned();
    if !made.status.success() {
        assert!(said.contains("benchmark"), "{said}");
        return skip("no Google Benchmark: apt-get install libbenchmark-dev");
    }
    let made = cmake(&["--build".as_ref(), build.as_ref()]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    Some(build.join("read_loop"))
}

#[test]
fn a_cpp_program_of_the_library_stands_beside_our_cells() {
    let home = Home::new();
    let test = "a_cpp_program_of_the_library_stands_beside_our_cells";
    let Some(program) = built(test, &home) else { return };
    let axes = ["read", "--file-size", "1Mi", "--method", "pread", "--block", "64Ki"];
    let with = |more: &[&'static str]| [&axes[..], more].concat();
    let names = home.run(&with(&["--benchmark_list_tests"])).fine().out;
    let cell = names.trim();
    assert_eq!(cell.lines().count(), 1, "{names}");
    let output = Command::new(&program)
        .current_dir(home.path("."))
        .arg(format!("--cell={cell}"))
        .args([
            "--benchmark_repetitions=4",
            "--benchmark_min_time=0.02",
            "--benchmark_out=loop.json",
        ])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    home.run(&with(&["--rounds", "8", "-q"])).fine();
    assert_eq!(home.run(&["import", "loop.json"]).fine().out, "2\n");
    // The same cell in both: its levels came back from its name.
    let said = home.run(&["compare", "1", "2"]).fine();
    assert!(said.plain().contains("run 2 against run 1"), "{said:?}");
    let json: serde_json::Value =
        serde_json::from_str(&home.run(&["compare", "1", "2", "--format", "json"]).fine().out)
            .unwrap();
    assert_eq!(json["rows"].as_array().map(Vec::len), Some(1), "{json}");
    let ratio = json["rows"][0]["ratio"].as_f64().unwrap();
    // The same loop over the same bytes: nowhere near another order of magnitude.
    assert!((0.05..20.0).contains(&ratio), "{json}");
    // Names of two machines or unknown ones are never clear from single runs.
    assert_eq!(json["rows"][0]["clear"], false);
    home.run(&["report", "1", "2", "--html", "both.html"]).fine();
}
