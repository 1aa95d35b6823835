//! The HTML report and the pictures as files: whatever a run holds, the page is complete, asks
//! nothing of anyone, and no name leaves its place.

use std::time::Instant;

use iolab_model::result::Document;
use iolab_report::chart::{Chart, NARROW, Style, Theme, WIDE, charts_for, draw};
use iolab_report::html;
use iolab_test::scenes;

fn page(runs: &[Document]) -> String {
    let mut bytes = Vec::new();
    html::write(runs, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn charts(run: &Document) -> Vec<Chart> {
    charts_for(std::slice::from_ref(run))
}

/// Everything between a tag's start and its end, for each such tag.
fn inside<'a>(text: &'a str, open: &str, close: &str) -> Vec<&'a str> {
    let rest = text.split(open).skip(1);
    rest.filter_map(|part| part.split_once(close).map(|(inner, _)| inner)).collect()
}

#[test]
fn each_kind_of_run_gets_the_charts_that_fit_it() {
    let wanted: &[(&str, Document, &[&str])] = &[
        ("blocks", scenes::blocks(), &["time-by-block", "ranking", "where-time-goes"]),
        ("cold and warm", scenes::cold_warm(), &["cold-and-warm", "time-by-block"]),
        ("mapping", scenes::mapping(), &["method-by-size", "by-file-size"]),
        ("threads", scenes::threads(), &["throughput-by-threads"]),
        ("ladder", scenes::ladder(), &["system-calls"]),
        ("ranking", scenes::ranking(), &["ranking", "samples-by-round"]),
        ("places", scenes::places(), &["time-by-block"]),
        ("costs", scenes::costs(), &["cost-by-file-size"]),
        ("latencies", scenes::latencies(), &["single-operations"]),
        ("files", scenes::files(), &["throughput-by-threads"]),
        ("steps of files", scenes::steps(), &["files", "single-operations"]),
        ("one cell", scenes::one_cell(), &["where-time-goes", "samples-by-round"]),
    ];
    for (name, run, slugs) in wanted {
        let found: Vec<String> = charts(run).into_iter().map(|c| c.slug).collect();
        for slug in *slugs {
            assert!(found.iter().any(|f| f == slug), "{name}: {slug} is not in {found:?}");
        }
        // What is done with files is no system call, and what a call costs by size is no speed.
        let wrong = match *name {
            "files" | "steps of files" => "system-calls",
            "costs" => "by-file-size",
            _ => continue,
        };
        assert!(found.iter().all(|f| f != wrong), "{name}: {found:?}");
    }
}

#[test]
fn titles_state_what_was_found() {
    let title = |run: Document, slug: &str| {
        charts(&run).into_iter().find(|c| c.slug == slug).map(|c| c.title).unwrap()
    };
    assert_eq!(
        title(scenes::ranking(), "ranking"),
        "No difference shown among pread, readv and read"
    );
    assert_eq!(
        title(scenes::mapping(), "method-by-size"),
        "read wins up to 4 KiB, mmap from 512 KiB, whatever the block"
    );
    let threads = title(scenes::threads(), "throughput-by-threads");
    assert!(
        threads.starts_with("pread: ") && threads.contains("threads are the fewest within 2 %"),
        "{threads}"
    );
    assert!(title(scenes::cold_warm(), "cold-and-warm").starts_with("Cold takes"));
    let partial = title(scenes::partial(), "time-by-block");
    assert!(partial.contains("stopped early"), "{partial}");
    assert!(title(scenes::nothing(), "time-by-block").contains("nothing was measured"));
}

#[test]
fn lines_never_cross_a_missing_cell() {
    let charts = charts(&scenes::gaps());
    let chart = charts.iter().find(|c| c.slug == "time-by-block").unwrap();
    let svg = draw(chart, "c", WIDE, Style::Standalone);
    // Eight blocks, the fourth and the seventh missing: lines of three and two points, one alone.
    let lines: Vec<usize> = inside(&svg, "<path class=\"n\" d=\"M", "\"")
        .into_iter()
        .map(|d| d.split('L').count())
        .collect();
    assert_eq!(lines, [3, 2]);
    assert_eq!(svg.matches("class=\"x m\"").count(), 2);
    assert!(svg.contains("Input/output error"), "the reason is told");
}

#[test]
fn every_drawing_is_well_formed_and_every_mark_has_words() {
    for (name, run) in scenes::all() {
        for chart in charts(&run) {
            for width in [WIDE, NARROW] {
                let svg = draw(&chart, "c", width, Style::Fixed(Theme::Light));
                well_formed(&svg).unwrap_or_else(|e| panic!("{name} {}: {e}", chart.slug));
                let place = svg.find("NaN").or_else(|| svg.find("inf"));
                let around = place.map(|at| &svg[at.saturating_sub(60)..at + 10]);
                let harmless = name == "hostile" || around.is_none();
                assert!(harmless, "{name} {}: {around:?}", chart.slug);
            }
            assert!(chart.marks() > 0, "{name} {} draws nothing", chart.slug);
            assert!(!chart.title.trim().is_empty() && !chart.subtitle.is_empty(), "{name}");
            for row in &chart.table.rows {
                assert_eq!(row.len(), chart.table.columns.len(), "{name} {}", chart.slug);
            }
        }
    }
}

/// Tags are closed in order, attributes are quoted, no bare `&` or `<`.
fn well_formed(xml: &str) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = xml;
    while let Some(at) = rest.find('<') {
        let end = at + rest[at..].find('>').ok_or("a tag does not end")?;
        let tag = &rest[at + 1..end];
        if let Some(name) = tag.strip_prefix('/') {
            let last = open.pop();
            if last != Some(name) {
                return Err(format!("</{name}> closes {last:?}"));
            }
        } else if !tag.ends_with('/') {
            open.push(tag.split_whitespace().next().unwrap_or(""));
        }
        if !tag.matches('"').count().is_multiple_of(2) {
            return Err(format!("quotes in <{tag}>"));
        }
        rest = &rest[end + 1..];
    }
    match open.as_slice() {
        [] => Ok(()),
        left => Err(format!("left open: {left:?}")),
    }
}

#[test]
fn the_page_is_complete_and_loads_nothing() {
    for (name, run) in scenes::all() {
        let html = page(&[run]);
        assert!(html.starts_with("<!doctype html>") && html.trim_end().ends_with("</html>"));
        assert!(html.contains("default-src 'none'"), "{name}");
        // The only addresses are names of XML dialects.
        for address in html.split("http").skip(1) {
            let dialect = address.starts_with("://www.w3.org/2000/svg");
            assert!(dialect || address.starts_with("-equiv"), "{name}: http{:.60}", address);
        }
        for word in ["src=", "@import", "url("] {
            let found = html.replace("script-src", "").replace("img-src", "");
            assert!(!found.contains(word), "{name}: {word}");
        }
    }
}

#[test]
fn the_policy_allows_exactly_the_script_of_the_page() {
    let html = page(&[scenes::one_cell()]);
    let script = html.rsplit_once("<script>").unwrap().1.split("</script>").next().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("script.js");
    std::fs::write(&file, script).unwrap();
    let out = match std::process::Command::new("sha256sum").arg(&file).output() {
        Ok(out) if out.status.success() => String::from_utf8(out.stdout).unwrap(),
        _ => {
            eprintln!("SKIP the_policy_allows_exactly_the_script_of_the_page: no sha256sum");
            return;
        }
    };
    let digest: Vec<u8> =
        (0..32).map(|at| u8::from_str_radix(&out[2 * at..2 * at + 2], 16).unwrap()).collect();
    let wanted = format!("'sha256-{}'", base64(&digest));
    assert!(
        html.contains(&wanted),
        "SCRIPT_SHA256 in crates/iolab-report/src/html/mod.rs must be {wanted}"
    );
}

fn base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let all =
            chunk.iter().fold(0u32, |all, b| (all << 8) | u32::from(*b)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            match at <= chunk.len() {
                true => text.push(SIGNS[(all >> (18 - 6 * at)) as usize & 63] as char),
                false => text.push('='),
            }
        }
    }
    text
}

#[test]
fn hostile_names_stay_text() {
    let run = scenes::hostile();
    let html = page(std::slice::from_ref(&run));
    assert_eq!(html.matches("<script").count(), 2, "the data and the script, no more");
    assert_eq!(html.matches("</script>").count(), 2);
    assert!(!html.contains("<svg/onload") && !html.contains("\"onload=\"alert"));
    assert!(!html.contains('\u{202e}'), "a direction override is shown, not obeyed");
    assert!(html.contains("\\u{202e}") || html.contains("\\\\u{202e}"));
    assert!(html.contains("שלום"), "letters of any script stay as they are");
    for chart in charts(&run) {
        let svg = draw(&chart, "c", WIDE, Style::Standalone);
        assert!(!svg.contains("<script") && !svg.contains("<svg/onload"), "{}", chart.slug);
    }
}

#[test]
fn each_section_that_a_reader_needs_is_there() {
    let html = page(&[scenes::blocks()]);
    for words in [
        "could not be told apart",
        "grade B",
        "Keep in mind",
        "ONE_LAYOUT",
        "Reproduce",
        "iolab read &#39;big file.iso&#39; --budget 30s",
        "Seed 1",
        "Environment",
        "kernel.release",
        "6.18.5",
        "Twin",
        "role=\"img\"",
        "<caption",
    ] {
        assert!(html.contains(words), "{words} is not in the page");
    }
    let runs = page(&[scenes::blocks(), scenes::blocks()]);
    assert!(runs.contains("Side by side") && runs.contains("id=\"run1\""));
    let ids = inside(&runs, " id=\"", "\"");
    let mut once = ids.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(ids.len(), once.len(), "an id stands twice");
}

#[test]
fn a_page_of_500_cells_stays_under_2_mb() {
    let html = page(&[scenes::many(500, 50)]);
    assert!(html.len() <= 2_000_000, "{} bytes", html.len());
    assert!(html.contains("samples is drawn"), "thinning is said");
}

#[test]
fn ten_thousand_cells_are_drawn_in_part_and_said_so() {
    let run = scenes::many(10_000, 8);
    let started = Instant::now();
    let html = page(std::slice::from_ref(&run));
    eprintln!("10 000 cells: {} ms, {} bytes", started.elapsed().as_millis(), html.len());
    assert!(html.contains("more panels are in the table only"));
    assert!(html.len() < 12_000_000, "{}", html.len());
}

#[cfg(feature = "png")]
#[test]
fn png_shows_text_without_fonts_of_the_machine() {
    use iolab_report::drawing::png::render;
    let charts = charts(&scenes::blocks());
    let whole = render(&charts[0], Theme::Light, WIDE).unwrap();
    assert_eq!(&whole[..8], b"\x89PNG\r\n\x1a\n");
    let mut wordless = charts[0].clone();
    wordless.title = "  ".to_owned();
    let less = render(&wordless, Theme::Light, WIDE).unwrap();
    assert!(
        whole.len() > less.len() + 500,
        "the title left no trace: {} {}",
        whole.len(),
        less.len()
    );
    for (name, run) in scenes::all() {
        for chart in charts_for(std::slice::from_ref(&run)) {
            render(&chart, Theme::Dark, NARROW).unwrap_or_else(|e| panic!("{name}: {e}"));
        }
    }
}

#[cfg(feature = "png")]
#[test]
fn marks_have_their_colours() {
    // Counted on the drawing, as a check that style rules reach the marks: a wrong class is black.
    let charts = charts(&scenes::blocks());
    let svg = draw(&charts[0], "c", WIDE, Style::Fixed(Theme::Light));
    for colour in ["#0072b2", "#d55e00", "#008f68", "#b85f91"] {
        assert!(svg.contains(colour), "{colour}");
    }
    assert!(!svg.contains("var("));
}
