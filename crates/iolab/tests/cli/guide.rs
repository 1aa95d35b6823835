//! The guide's charts are what the tool draws today. `IOLAB_DRAW_GUIDE=1 cargo test --test guide`
//! draws them anew.

use std::fs;
use std::path::Path;

use iolab_model::result::Document;
use iolab_report::chart::{self, Chart};
use iolab_test::documents::{levels, timed};
use iolab_test::scenes;

/// Thirty runs; the kernel changed with the 13th.
fn history() -> Chart {
    let day = |at: u32| {
        let slower = if at >= 12 { 1.12 } else { 1.0 };
        let cells = [("pread/64Ki", levels("pread", Some(65536)), 32.0 * slower)];
        let mut doc = timed(&cells, 12, 0.01, 0.03, u64::from(at));
        doc.run.id = u64::from(at) + 1;
        doc.run.started = format!("2026-03-{:02}T10:00:00Z", at + 1);
        let kernel = if at >= 12 { "6.18.5" } else { "6.1.0" };
        doc.environment.0.insert("kernel.release".into(), kernel.into());
        doc
    };
    let runs: Vec<Document> = (0..30).map(day).collect();
    chart::history::chart(&runs).unwrap()
}

fn of(run: &Document, slug: &str) -> Chart {
    let charts = chart::charts_for(std::slice::from_ref(run));
    charts.into_iter().find(|c| c.slug == slug).unwrap_or_else(|| panic!("no chart {slug}"))
}

fn pictures() -> Vec<(&'static str, Chart)> {
    vec![
        ("time-by-block", of(&scenes::blocks(), "time-by-block")),
        ("cold-and-warm", of(&scenes::cold_warm(), "cold-and-warm")),
        ("read-or-mmap", of(&scenes::mapping(), "method-by-size")),
        ("threads", of(&scenes::threads(), "throughput-by-threads")),
        ("file-systems", of(&scenes::places(), "time-by-block")),
        ("system-calls", of(&scenes::ladder(), "system-calls")),
        ("history", history()),
    ]
}

#[test]
fn the_charts_of_the_guide_are_drawn_by_the_tool() {
    let folder = Path::new(crate::cli_support::ROOT).join("docs/guide");
    let text = fs::read_to_string(folder.join("README.md")).unwrap();
    for (name, chart) in pictures() {
        let svg = chart::draw(&chart, name, chart::WIDE, chart::Style::Standalone);
        let path = folder.join(format!("{name}.svg"));
        if std::env::var_os("IOLAB_DRAW_GUIDE").is_some() {
            fs::write(&path, &svg).unwrap();
        }
        assert!(text.contains(&format!("]({name}.svg)")), "{name} is in no section");
        let kept = fs::read_to_string(&path).unwrap_or_default();
        assert!(kept == svg, "{name}.svg is not what is drawn today: IOLAB_DRAW_GUIDE=1 draws it");
    }
}
