//! What stands beside the figures: why slow cells are slow, and how long single operations took.

use std::io::{self, Write};

use super::parts::text;
use crate::latency::Latency;
use crate::view_model::{Section, View};
use iolab_model::result::Document;

/// Nothing is written where there is nothing to tell.
pub fn beside(out: &mut dyn Write, document: &Document) -> io::Result<()> {
    let view = View::of(document);
    if view.sections.iter().any(|section| !section.why.is_empty()) {
        write!(out, "<details open><summary>Why slow cells are slow</summary><ul>")?;
        for why in view.sections.iter().flat_map(|section| &section.why) {
            write!(out, "<li>{}</li>", text(why))?;
        }
        write!(out, "</ul></details>")?;
    }
    let Some(legend) = &view.timed else { return Ok(()) };
    let (rates, single) = ("Many files", "Single operations");
    let any = |of: fn(&Section) -> &Latency| view.sections.iter().any(|s| !of(s).rows.is_empty());
    let title = match (any(|s| &s.rates), any(|s| &s.latency)) {
        (true, true) => format!("{rates}, and single operations"),
        (true, false) => rates.to_owned(),
        _ => single.to_owned(),
    };
    write!(out, "<details open><summary>{title}</summary>")?;
    for section in &view.sections {
        for (what, figures) in [(rates, &section.rates), (single, &section.latency)] {
            if !figures.rows.is_empty() {
                let heading = section.heading.as_deref();
                let name = heading.map_or_else(|| what.to_owned(), |h| format!("{what}: {h}"));
                table(out, figures, &name)?;
            }
        }
    }
    write!(out, "<p class=\"muted\">{}</p></details>", text(legend))
}

fn table(out: &mut dyn Write, latency: &Latency, name: &str) -> io::Result<()> {
    let name = text(name);
    write!(out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{name}\">")?;
    write!(out, "<table><caption>{name}</caption><thead><tr>")?;
    for title in &latency.titles {
        write!(out, "<th scope=\"col\">{}</th>", text(title))?;
    }
    write!(out, "</tr></thead><tbody>")?;
    for row in &latency.rows {
        write!(out, "<tr>")?;
        for field in row {
            write!(out, "<td>{}</td>", text(field))?;
        }
        write!(out, "</tr>")?;
    }
    write!(out, "</tbody></table></div>")
}
