//! The report as one HTML file: no request to anyone, readable without a script, made interactive
//! by a small one whose digest is the only script the page's own policy allows.
//!
//! Written by hand rather than with a template library: the page has one shape, the escaper is
//! the one the SVG needs anyway, and the charts are streamed into the file one by one.

mod data;
mod parts;
mod side_by_side;

use std::io::{self, Write};

use crate::Format;
use crate::chart::{Chart, NARROW, Style, Theme, WIDE, chart_style, charts_for, draw};
use iolab_model::catalog::{Fact, xml_text};
use iolab_model::result::Document;
use parts::text;

const SCRIPT: &str = include_str!("report.js");
/// SHA-256 of [`SCRIPT`] in base64; a test compares the two and says the right one.
const SCRIPT_SHA256: &str = "agI5fNmAIhZpHY7E1CYJPQ6Fk0xGFfmxVn/YL6Y/3f8=";
const STYLE: &str = include_str!("report.css");

/// How the list of formats knows it.
pub const FORMAT: Format = Format {
    id: "html",
    summary: "the report with charts, one file that loads nothing; see also iolab report",
    binary: false,
    write: |document, _, out| write(std::slice::from_ref(document), out),
};

/// Writes the report of one run, or of several laid over each other and one after the other.
///
/// # Errors
/// Those of the writer alone.
pub fn write(documents: &[Document], out: &mut dyn Write) -> io::Result<()> {
    head(out, documents)?;
    match documents {
        [one] => {
            parts::answers(out, one)?;
            side_by_side::beside(out, one)?;
            chart_section(out, documents, "")?;
            about(out, one, 2)?;
        }
        many => {
            write!(out, "<ul>")?;
            for (at, document) in many.iter().enumerate() {
                write!(out, "<li><a href=\"#run{at}\">{}</a></li>", run_title(document))?;
            }
            write!(out, "</ul><h2>Side by side</h2>")?;
            write!(
                out,
                "<p class=\"muted\">Runs are not measured in the same rounds, so no verdict is given across them; intervals of each run stand beside each other.</p>"
            )?;
            chart_section(out, documents, "all-")?;
            for (at, document) in many.iter().enumerate() {
                write!(out, "<section id=\"run{at}\"><h2>{}</h2>", run_title(document))?;
                parts::answers(out, document)?;
                side_by_side::beside(out, document)?;
                chart_section(out, std::slice::from_ref(document), &format!("run{at}-"))?;
                about(out, document, 3)?;
                write!(out, "</section>")?;
            }
        }
    }
    downloads(out, documents)?;
    foot(out, documents)
}

fn head(out: &mut dyn Write, documents: &[Document]) -> io::Result<()> {
    let title = match documents {
        [] => "No run".to_owned(),
        [one] => text(&one.run.title),
        many => format!("{} runs", many.len()),
    };
    let (light, dark) = (Theme::Light.variables(), Theme::Dark.variables());
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{SCRIPT_SHA256}'; img-src data:; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{title} · iolab</title>\n\
         <style>:root{{{light}}}@media(prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}:root[data-theme=dark]{{{dark}}}@media print{{:root:root:root{{{light}}}}}\n{STYLE}{}</style></head>\n\
         <body><header><div><h1>{title}</h1>",
        chart_style()
    )?;
    if let [one] = documents {
        write!(out, "<p class=\"muted\">{}</p>", run_facts(one))?;
    }
    write!(
        out,
        "</div><button type=\"button\" id=\"theme\" class=\"nojs\">Theme</button></header>\n<main>"
    )
}

fn run_title(document: &Document) -> String {
    format!("Run {}: {}", document.run.id, text(&document.run.title))
}

/// `Run 17 · 2026-11-21T14:00:00Z · stopped early`.
fn run_facts(document: &Document) -> String {
    let run = &document.run;
    let early = if run.complete { "" } else { " · stopped early, what is here is valid" };
    format!("Run {} · {}{early}", run.id, text(&run.started))
}

/// Every chart with its table and downloads. `prefix` keeps ids apart where there are several runs.
fn chart_section(out: &mut dyn Write, documents: &[Document], prefix: &str) -> io::Result<()> {
    let charts = charts_for(documents);
    for (at, chart) in charts.iter().enumerate() {
        let twin = charts[..at].iter().find(|c| c.table == chart.table);
        figure(out, chart, prefix, twin)?;
    }
    Ok(())
}

fn figure(
    out: &mut dyn Write,
    chart: &Chart,
    prefix: &str,
    twin: Option<&Chart>,
) -> io::Result<()> {
    let id = format!("{prefix}{}", chart.slug);
    let title = xml_text(&chart.title);
    writeln!(out, "<figure id=\"{id}\"><figcaption class=\"vh\">{title}</figcaption>")?;
    for (class, width) in [("wide", WIDE), ("narrow", NARROW)] {
        let drawing = draw(chart, &format!("{id}-{class}"), width, Style::Page);
        write!(out, "<div class=\"{class}\">{drawing}</div>")?;
    }
    write!(
        out,
        "<div class=\"tools nojs\"><button type=\"button\" data-do=\"svg\" aria-label=\"Download as SVG: {title}\">SVG</button>\
         <button type=\"button\" data-do=\"csv\" aria-label=\"Download as CSV: {title}\">CSV</button></div>"
    )?;
    match twin {
        Some(twin) => {
            let id = format!("{prefix}{}", twin.slug);
            write!(
                out,
                "<p class=\"muted\" data-table=\"{id}\">Its figures are in the <a href=\"#{id}\">table above</a>.</p>"
            )?;
        }
        None => {
            write!(out, "<details><summary>Table, {} rows</summary>", chart.table.rows.len())?;
            parts::table(out, &chart.table, &chart.title)?;
            write!(out, "</details>")?;
        }
    }
    writeln!(out, "</figure>")
}

/// Warnings, protocol, command and machine of a run, under headings of `level`.
fn about(out: &mut dyn Write, document: &Document, level: u8) -> io::Result<()> {
    let heading = |out: &mut dyn Write, words: &str| write!(out, "<h{level}>{words}</h{level}>");
    heading(out, "Keep in mind")?;
    parts::warnings(out, document)?;
    heading(out, "How it was measured")?;
    parts::protocol(out, document)?;
    heading(out, "Reproduce")?;
    let command = text(&crate::shell::command(&document.run.argv));
    let id = if level == 2 { " id=\"command\"" } else { "" };
    write!(out, "<pre{id}>{command}</pre>")?;
    if level == 2 {
        write!(
            out,
            "<div class=\"tools nojs\"><button type=\"button\" data-do=\"copy\">Copy</button></div>"
        )?;
    }
    let version = document.environment.text(Fact::IolabVersion);
    let version = version.map_or_else(|| "unknown".to_owned(), text);
    write!(out, "<p class=\"muted\">Seed {} · iolab {version}</p>", document.run.seed)?;
    heading(out, "Environment")?;
    write!(out, "<details><summary>{} facts</summary>", document.environment.0.len())?;
    parts::environment(out, document)?;
    write!(out, "</details>")
}

fn downloads(out: &mut dyn Write, documents: &[Document]) -> io::Result<()> {
    let total: usize = documents.iter().flat_map(|d| &d.cells).map(|c| c.samples.len()).sum();
    write!(out, "<h2>Data</h2>")?;
    if total > data::MOST_SAMPLES {
        write!(
            out,
            "<p class=\"muted\">{total} samples are too many to travel with this page: <code>iolab export RUN csv=samples.csv</code> writes them.</p>"
        )?;
    }
    write!(out, "<div class=\"tools nojs\">")?;
    if (1..=data::MOST_SAMPLES).contains(&total) {
        write!(out, "<button type=\"button\" data-do=\"samples\">All samples as CSV</button>")?;
    }
    write!(out, "<button type=\"button\" data-do=\"json\">Cells as JSON</button></div>")
}

fn foot(out: &mut dyn Write, documents: &[Document]) -> io::Result<()> {
    writeln!(
        out,
        "</main><footer>Written by iolab {}. This file is complete: it loads nothing.</footer>\n\
         <script type=\"application/json\" id=\"data\">{}</script>\n<script>{SCRIPT}</script></body></html>",
        env!("CARGO_PKG_VERSION"),
        data::json_text(documents)
    )
}
