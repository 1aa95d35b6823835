//! The table that papers and posts publish: mean ± SD, elapsed, user, system and CPU seconds,
//! MiB/s, operations. For comparison with published figures; the answer is in the other formats.

use std::io::{self, Write};

use super::grid::{self, Column, Field};
use super::{Format, TextStyle, csv, markdown};
use iolab_model::catalog::{count_text, digits_text, markdown_text};
use iolab_model::result::{CellRecord, Document};

pub(super) const TABLE: Format = Format {
    id: "published",
    summary: "mean ± SD, elapsed, user, system, CPU seconds, MiB/s, for the terminal",
    binary: false,
    write: write_table,
};
pub(super) const MARKDOWN: Format = Format {
    id: "published-markdown",
    summary: "the same as Markdown",
    binary: false,
    write: write_markdown,
};
pub(super) const CSV: Format = Format {
    id: "published-csv",
    summary: "the same as CSV, one row a cell, not rounded",
    binary: false,
    write: write_csv,
};

const MIB: f64 = 1_048_576.0;

/// The figures of one pass of one cell. Seconds, and bytes in MiB.
struct Figures<'a> {
    cell: &'a CellRecord,
    elapsed: (f64, f64),
    user: f64,
    system: f64,
    speed: Option<(f64, f64)>,
    operations: f64,
    n: u32,
}

impl Figures<'_> {
    /// Mean of user + system is the sum of their means.
    fn cpu(&self) -> f64 {
        self.user + self.system
    }
}

fn figures(doc: &Document) -> Vec<Figures<'_>> {
    let of = |cell| figures_of(cell);
    doc.cells.iter().filter_map(of).collect()
}

fn figures_of(cell: &CellRecord) -> Option<Figures<'_>> {
    let estimate = cell.estimate.as_ref()?;
    let seconds = |ns: f64| ns / 1e9;
    let wall = &estimate.wall_ns;
    let speed = estimate.bytes_per_second.as_ref();
    Some(Figures {
        cell,
        elapsed: (seconds(wall.mean), seconds(wall.sd)),
        user: seconds(estimate.user_ns.mean),
        system: seconds(estimate.system_ns.mean),
        speed: speed.map(|s| (s.mean / MIB, s.sd / MIB)),
        operations: operations(cell).unwrap_or(0.0),
        n: wall.n,
    })
}

/// Operations of one pass. A bounded trial does a part of one, so the longest is taken.
fn operations(cell: &CellRecord) -> Option<f64> {
    let steady = cell.samples.iter().filter(|s| s.is_steady());
    let per_pass =
        |m: &iolab_model::result::Measurement| m.operations as f64 / m.repetitions.max(1) as f64;
    steady.map(|s| per_pass(&s.measurement)).max_by(f64::total_cmp)
}

/// `0.0332 ± 0.0004`: the deviation with two digits, the mean with as many decimals.
fn pair((mean, sd): (f64, f64)) -> String {
    let decimals = (1.0 - sd.log10().floor()).max(0.0) as i32;
    match sd {
        sd if sd > 0.0 && (0..=9).contains(&decimals) => {
            let decimals = decimals as usize;
            format!("{mean:.decimals$} ± {sd:.decimals$}")
        }
        sd => format!("{} ± {}", digits_text(mean), digits_text(sd)),
    }
}

const TITLES: [&str; 8] =
    ["cell", "elapsed s", "user s", "system s", "CPU s", "MiB/s", "operations", "n"];

fn texts(f: &Figures<'_>) -> Vec<String> {
    vec![
        f.cell.id.clone(),
        pair(f.elapsed),
        digits_text(f.user),
        digits_text(f.system),
        digits_text(f.cpu()),
        f.speed.map_or_else(String::new, pair),
        count_text(f.operations.round() as u64),
        f.n.to_string(),
    ]
}

const NOTE: &str = "Mean ± standard deviation of one pass over the data, steady rounds.";

fn write_table(doc: &Document, look: &TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let doc = &*doc.finite();
    let ranks = [0, 0, 4, 4, 3, 1, 5, 2];
    let columns: Vec<Column> = TITLES
        .iter()
        .zip(ranks)
        .map(|(&title, rank)| Column { title, right: title != "cell", rank })
        .collect();
    let row = |f: &Figures<'_>| texts(f).iter().map(|t| look.text(t).into()).collect();
    let rows: Vec<Vec<Field>> = figures(doc).iter().map(row).collect();
    let mut text = grid::draw(look, &columns, &rows);
    text += &look.wrap("", &look.text(&note(doc)));
    out.write_all(text.as_bytes())
}

fn write_markdown(doc: &Document, _: &TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let doc = &*doc.finite();
    let rows: Vec<Vec<String>> = figures(doc).iter().map(texts).collect();
    let note = markdown_text(&note(doc));
    write!(out, "{}\n{note}\n", markdown::table(&TITLES, &rows))
}

/// The note, and how many cells have no figures.
fn note(doc: &Document) -> String {
    match doc.cells.iter().filter(|c| c.estimate.is_none()).count() {
        0 => NOTE.to_owned(),
        1 => format!("{NOTE} One cell has no figures."),
        n => format!("{NOTE} {n} cells have no figures."),
    }
}

fn write_csv(doc: &Document, _: &TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let titles = [
        "run",
        "cell",
        "status",
        "elapsed_mean_s",
        "elapsed_sd_s",
        "user_mean_s",
        "system_mean_s",
        "cpu_mean_s",
        "mib_per_s_mean",
        "mib_per_s_sd",
        "operations",
        "n",
    ];
    csv::line(out, titles.map(str::to_owned))?;
    for f in figures(&doc.finite()) {
        let speed = |s: Option<f64>| s.map_or_else(String::new, |s| s.to_string());
        let fields = [
            doc.run.id.to_string(),
            f.cell.id.clone(),
            f.cell.status.word().to_owned(),
            f.elapsed.0.to_string(),
            f.elapsed.1.to_string(),
            f.user.to_string(),
            f.system.to_string(),
            f.cpu().to_string(),
            speed(f.speed.map(|s| s.0)),
            speed(f.speed.map(|s| s.1)),
            f.operations.to_string(),
            f.n.to_string(),
        ];
        csv::line(out, fields)?;
    }
    Ok(())
}
