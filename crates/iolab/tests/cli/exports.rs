//! Every format as a file: whole or not there, whatever the run and its names are, and readable by
//! the programs that it is for.

use std::fs;
use std::process::Command;

use crate::cli_support::{Home, IOLAB};
use iolab_model::result::{CellRecord, Document, Phase};
use iolab_record::history::Store;
use iolab_report::{FOLDERS, FORMATS, TextStyle, export, write};
use iolab_test::documents::{all, cell, empty, failed, hostile, levels, winner};

fn bytes(format: &str, doc: &Document) -> Vec<u8> {
    let mut out = Vec::new();
    let look = TextStyle { details: true, ..TextStyle::default() };
    write(format, doc, &look, &mut out).unwrap();
    out
}

fn text(format: &str, doc: &Document) -> String {
    String::from_utf8(bytes(format, doc)).unwrap()
}

fn json(format: &str, doc: &Document) -> serde_json::Value {
    serde_json::from_slice(&bytes(format, doc)).unwrap()
}

/// Every format of one file or of a directory of files.
fn ids() -> Vec<&'static str> {
    FORMATS.iter().map(|f| f.id).chain(FOLDERS.iter().map(|f| f.id)).collect()
}

/// Puts a run into the history of a home.
pub(crate) fn recorded(home: &Home, doc: &Document) -> u64 {
    let store = Store::open(Some(&home.path("state/iolab/history.sqlite")), &[]).unwrap();
    store.insert(doc).unwrap()
}

#[test]
fn a_full_disk_leaves_what_was_there_in_every_format() {
    let test = "a_full_disk_leaves_what_was_there_in_every_format";
    if !rustix::process::geteuid().is_root() {
        return eprintln!("SKIP {test}: mounting needs root");
    }
    let home = Home::new();
    recorded(&home, &winner());
    fs::create_dir(home.path("small")).unwrap();
    let script = "mount -t tmpfs -o size=64k none small
        for format in $FORMATS; do
            mkdir small/$format; [ $format = svg ] || [ $format = png ] || printf old >small/$format/file
        done
        cat /dev/zero >small/fill 2>/dev/null || :
        for format in $FORMATS; do
            target=small/$format/file
            [ $format = svg ] || [ $format = png ] && target=small/$format
            $IOLAB export 1 $format=$target 2>err && code=0 || code=$?
            echo \"$format $code $(ls -A small/$format | tr '\\n' ' ')$(cat small/$format/* 2>/dev/null) $(cat err)\"
        done";
    let output = Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-ec", script])
        .current_dir(home.path("."))
        .env("XDG_STATE_HOME", home.path("state"))
        .env("IOLAB", IOLAB)
        .env("FORMATS", ids().join(" "))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    for id in ids() {
        let line = said.lines().find(|l| l.starts_with(&format!("{id} "))).expect(id);
        let left = if FOLDERS.iter().any(|f| f.id == id) { "" } else { "file old" };
        assert!(line.starts_with(&format!("{id} 20 {left}")), "{line}");
        assert!(!line.contains(".tmp") && line.contains("space"), "{line}");
    }
}

#[test]
fn what_cannot_be_written_is_named_in_every_format() {
    let home = Home::new();
    recorded(&home, &winner());
    fs::write(home.path("file"), "mine").unwrap();
    for id in ids() {
        // Not even root makes a file in a file.
        home.run(&["export", "1", &format!("{id}=file/x")]).refused(2, &["file/x"]);
        home.run(&["export", "1", &format!("{id}=none/x")]).refused(2, &["none/x", "make it"]);
    }
    // Of several the others are written, and the status tells.
    let said = home.run(&["export", "1", "json=/dev/full", "csv=run.csv"]);
    assert_eq!(said.code, Some(20), "{said:?}");
    assert!(said.err.contains("/dev/full") && home.path("run.csv").exists(), "{said:?}");
    assert_eq!(fs::read_to_string(home.path("file")).unwrap(), "mine");
}

/// `report 1 2 --export svg=DIR` drew the second run over the first, and `--html` made it forget
/// the exports.
#[test]
fn several_runs_are_exported_together_or_not_at_all() {
    let home = Home::new();
    let scene = iolab_test::scenes::blocks();
    for _ in 0..2 {
        recorded(&home, &scene);
    }
    let report = |arguments: &[&str]| home.run(&[&["report"], arguments].concat());
    for id in ["csv", "json"] {
        report(&["1", "2", "--export", &format!("{id}=one")]).refused(2, &["holds one run", "one"]);
    }
    assert!(!home.path("one").exists());
    report(&["1", "2", "--export", "html=one"]).fine();
    assert!(home.path("one").exists(), "a page lays runs over each other");
    report(&["1", "2", "--html", "both.html", "--export", "svg=both"]).fine();
    report(&["1", "--charts", "--export", "svg=single", "--export", "csv=run.csv"]).fine();
    assert!(home.path("both.html").exists() && home.path("run.csv").exists());
    let drawn = |folder: &str| {
        let files = fs::read_dir(home.path(folder)).unwrap().map(|e| e.unwrap().path());
        files.map(|path| fs::read_to_string(path).unwrap()).collect::<String>()
    };
    let (both, single) = (drawn("both"), drawn("single"));
    assert!(both.contains("run 2") && !single.contains("run 2"), "{}", both.len());
}

/// Ten thousand cells of one sample each, the values 0, 1, huge, or all alike.
fn many() -> Document {
    let one = |at: u64| -> CellRecord {
        let mut cell = cell(&format!("pread/{at}"), levels("pread", Some(at + 1)), 1.0, at);
        cell.samples.truncate(4);
        for sample in &mut cell.samples {
            let measured = &mut sample.measurement;
            measured.wall_ns = [0, 1, u64::MAX, 77_000][(at % 4) as usize];
            measured.bytes = if at.is_multiple_of(3) { u64::MAX } else { 0 };
        }
        cell.estimate = iolab_test::documents::estimate(&cell.samples);
        cell
    };
    Document { cells: (0..10_000).map(one).collect(), ..empty() }
}

#[test]
fn ten_thousand_cells_of_one_sample_and_odd_values_go_into_every_format() {
    let doc = many();
    assert_eq!(doc.cells[0].samples.iter().filter(|s| s.phase == Phase::Steady).count(), 1);
    let dir = tempfile::tempdir().unwrap();
    for id in ids() {
        let path = dir.path().join(id);
        export(id, &path, &doc, false).unwrap_or_else(|e| panic!("{id}: {e}"));
        if path.is_file() && !FORMATS.iter().any(|f| f.id == id && f.binary) {
            let text = fs::read_to_string(&path).unwrap();
            let bad = |word: &str| {
                text.match_indices(word).any(|(at, _)| {
                    let beside = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
                    let after = text[at + word.len()..].chars().next();
                    !beside(text[..at].chars().next_back()) && !beside(after)
                })
            };
            assert!(!bad("NaN") && !bad("inf"), "{id} has a number that is none");
        }
    }
}

#[test]
fn a_report_of_a_thousand_cells_fits_into_200_mib() {
    let home = Home::new();
    recorded(&home, &iolab_test::scenes::many(1000, 50));
    let script = "ulimit -v 204800; exec \"$IOLAB\" report 1 --html report.html";
    let output = Command::new("sh")
        .args(["-c", script])
        .current_dir(home.path("."))
        .env("XDG_STATE_HOME", home.path("state"))
        .env("IOLAB", IOLAB)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(home.path("report.html").metadata().unwrap().len() > 100_000);
}

/// Fields of each row of Markdown's tables, by its bars that are not escaped.
fn bars(line: &str) -> usize {
    let mut escaped = false;
    line.chars()
        .filter(|c| {
            let bar = *c == '|' && !escaped;
            escaped = *c == '\\' && !escaped;
            bar
        })
        .count()
}

fn harmless(format: &str, text: &str) {
    let odd = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
    assert!(!text.contains(odd), "{format}: {text}");
    // A terminal has no markup to break out of.
    let terminal = ["table", "published"].contains(&format);
    assert!(terminal || !text.contains("<script>"), "{format}: {text}");
}

#[test]
fn hostile_names_break_out_of_no_format() {
    let doc = hostile();
    let id = doc.cells[0].id.as_str();
    for format in ["markdown", "asciidoc", "published-markdown", "table", "published"] {
        harmless(format, &text(format, &doc));
    }
    for format in ["markdown", "published-markdown"] {
        let text = text(format, &doc);
        let tables: Vec<&str> = text.lines().filter(|l| l.starts_with('|')).collect();
        assert!(tables.len() >= 3, "{text}");
        assert!(tables.iter().all(|l| bars(l) == bars(tables[0])), "{text}");
    }
    assert_eq!(json("json", &doc)["cells"][0]["id"], id);
    let rows = json("google-benchmark", &doc);
    assert!(rows["benchmarks"][0]["name"].as_str().unwrap().contains("=cmd|"));
    assert!(json("bencher", &doc).as_object().unwrap().keys().any(|k| k.contains("=cmd|")));
    let again = text("toml", &doc);
    let again = toml::de::DeTable::parse(&again).unwrap();
    assert!(!again.get_ref().is_empty());
}

#[test]
fn asciidoc_has_what_markdown_has() {
    for (name, doc) in all() {
        let (markdown, asciidoc) = (text("markdown", &doc), text("asciidoc", &doc));
        let count = |text: &str, start: &str| text.lines().filter(|l| l.starts_with(start)).count();
        assert_eq!(count(&markdown, "- "), count(&asciidoc, "* "), "{name}: items");
        assert_eq!(count(&markdown, "| ---"), count(&asciidoc, "[cols="), "{name}: tables");
        assert_eq!(count(&markdown, "#"), count(&asciidoc, "="), "{name}: headings");
    }
    let mut timed = winner();
    for sample in timed.cells.iter_mut().flat_map(|c| &mut c.samples) {
        sample.measurement.metrics.insert("latency_p50_ns".into(), 31_000.0);
        sample.measurement.metrics.insert("rate_last".into(), 1234.0);
    }
    // The slow cell makes sixteen times the calls.
    for format in ["markdown", "asciidoc"] {
        let text = text(format, &timed);
        for words in ["p50", "31.0 µs", "files/s", "1234", "why", "calls a MiB", "timed one by one"]
        {
            assert!(text.contains(words), "{format} lacks {words:?}: {text}");
        }
    }
}

/// The output of a program on a file, or why there is none.
fn through(test: &str, program: &str, arguments: &[&str]) -> Option<String> {
    match Command::new(program).args(arguments).output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success() && !said.contains("WARNING"), "{program}: {said}");
            Some(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Err(error) => {
            eprintln!("SKIP {test}: {program}: {error}: apt-get install {program}");
            None
        }
    }
}

/// Character references as the characters that a browser shows.
fn decoded(html: &str) -> String {
    let mut parts = html.split("&#");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| match part.split_once(';') {
        Some((code, rest)) if code.parse::<u8>().is_ok() => {
            text + &char::from(code.parse::<u8>().unwrap()).to_string() + rest
        }
        _ => text + "&#" + part,
    })
}

#[test]
fn asciidoctor_shows_names_as_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.adoc");
    for (name, doc) in all() {
        fs::write(&path, bytes("asciidoc", &doc)).unwrap();
        let arguments = ["-o", "-", "-v", path.to_str().unwrap()];
        let test = "asciidoctor_shows_names_as_they_are";
        let Some(html) = through(test, "asciidoctor", &arguments) else { return };
        assert!(!html.contains("<script>"), "{name}: {html}");
        let rows: Vec<&str> = html.split("<tr>").skip(1).collect();
        let fields = |row: &&str| row.matches("<td").count() + row.matches("<th").count();
        let wanted = rows.first().map_or(0, fields);
        assert!(rows.iter().all(|row| fields(row) == wanted), "{name}: {html}");
        if name == "winner" {
            assert!(html.contains("<strong>pread with 64 KiB blocks is fastest"), "{html}");
            assert!(html.contains("<code>VIRTUALISED</code>"), "{html}");
        }
        if name == "hostile" {
            let shown = decoded(&html);
            assert!(shown.contains("=cmd|'/c calc'!A1 `x` | **b** \\n"), "{shown}");
            assert!(!shown.contains("<strong>b</strong>"), "{shown}");
        }
    }
}

/// What AsciiDoc would make of these, were they not escaped: signs, dashes, lists, notes, macros.
#[test]
fn asciidoctor_replaces_nothing() {
    let lines = [
        "rough (C), (R) and (TM), a--b -- c, ..., it's, 'x', -> and =>",
        "NOTE: not one, 1. no list, a:: no term, b;; no term, ((none)), (((none)))",
        "1. no list",
        "a. none",
        "* none",
        "- none",
        "a:: no term",
        "b;; no term",
        "$$a$$ ++b++ `c` **d** _e_ #f# ^g^ ~h~",
        "http://x.example/y[z] <<x>> [[y]] {z} {nbsp} me@x.example",
        "image::x.png[]",
        "//x",
        "....",
        "----",
        "'''",
        "|===",
        "include::/etc/passwd[]",
        "ifdef::x[]",
        ":attr: value",
        "[.role]",
        "== x",
        "\\*a* pass:[<b>] footnote:[x] stem:[x] kbd:[x] a | 2+| b",
    ];
    let dir = tempfile::tempdir().unwrap();
    let page = |at: usize, kind: &str| dir.path().join(format!("{at}.{kind}"));
    for (at, line) in lines.iter().enumerate() {
        let mut doc = winner();
        doc.run.title = (*line).into();
        doc.answers[0].sentence = (*line).into();
        doc.cells[0].id = (*line).into();
        doc.cells[3].reason = Some((*line).into());
        doc.warnings[0].text = (*line).into();
        fs::write(page(at, "adoc"), bytes("asciidoc", &doc)).unwrap();
    }
    let pages: Vec<_> = (0..lines.len()).map(|at| page(at, "adoc").display().to_string()).collect();
    let arguments: Vec<&str> = ["-s", "-v"].into_iter().chain(pages.iter().map(|p| &**p)).collect();
    if through("asciidoctor_replaces_nothing", "asciidoctor", &arguments).is_none() {
        return;
    }
    for (at, line) in lines.iter().enumerate() {
        let html = fs::read_to_string(page(at, "html")).unwrap();
        let shown = decoded(&html).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        // The finding, the cell in its table, a reason, a warning.
        for framed in ["<strong>X</strong>", ">X</p></td>", "X</p>\n</li>", ": X</p>\n</li>"] {
            assert!(shown.contains(&framed.replace('X', line)), "{line} in {framed}: {shown}");
        }
        assert!(shown.contains(&format!(">{line}</h")), "{line} as a title: {shown}");
    }
}

#[test]
fn bencher_takes_the_metrics() {
    // The schema of Bencher's metric format: benchmark → measure → {value, bounds}.
    let schema = serde_json::json!({
        "type": "object", "minProperties": 1,
        "additionalProperties": {
            "type": "object", "minProperties": 1,
            "propertyNames": {"pattern": "^[a-z0-9-]+$"},
            "additionalProperties": {
                "type": "object", "required": ["value"], "additionalProperties": false,
                "properties": {
                    "value": {"type": "number"},
                    "lower_value": {"type": "number"},
                    "upper_value": {"type": "number"},
                },
            },
        },
    });
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (name, doc) in all() {
        let json = json("bencher", &doc);
        let figures = doc.cells.iter().any(|c| c.estimate.is_some());
        assert_eq!(validator.is_valid(&json), figures, "{name}: {json}");
    }
    let mut doc = winner();
    doc.cells.push(failed("read", levels("read", Some(4096))));
    let json = json("bencher", &doc);
    assert_eq!(json.as_object().unwrap().len(), 3, "skipped and failed cells are left out: {json}");
    let name = "read/pread/file-size:268435456/block:65536/cache:warm/real_time/threads:1";
    let (measures, estimate) = (&json[name], doc.cells[0].estimate.as_ref().unwrap());
    assert_eq!(measures["latency"]["value"], estimate.wall_ns.median);
    assert_eq!(measures["latency"]["lower_value"], estimate.wall_ns.low.unwrap());
    let speed = estimate.bytes_per_second.as_ref().unwrap();
    assert_eq!(measures["bytes-per-second"]["value"], speed.median);
    for measure in ["latency", "throughput", "bytes-per-second"] {
        let of = |bound: &str| measures[measure][bound].as_f64().unwrap();
        assert!(of("lower_value") <= of("value") && of("value") <= of("upper_value"), "{measures}");
    }
}

/// Titles of a CSV text.
fn titles(doc: &Document) -> Vec<String> {
    let text = bytes("csv", doc);
    let mut reader = csv::Reader::from_reader(text.as_slice());
    reader.headers().unwrap().iter().map(str::to_owned).collect()
}

#[test]
fn each_column_of_the_csv_has_a_name_of_its_own() {
    // The state that was wanted and the axis were both called `cache`: readers renamed one.
    for (name, doc) in all() {
        let mut titles = titles(&doc);
        let count = titles.len();
        titles.sort();
        titles.dedup();
        assert_eq!(titles.len(), count, "{name}");
    }
    let titles = titles(&winner());
    assert!(titles.contains(&"cache".into()) && titles.contains(&"cache_wanted".into()));
}
