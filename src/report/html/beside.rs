//! What stands beside the figures: why slow cells are slow, and how long single operations took.

use std::io::{self, Write};

use super::parts::text;
use crate::report::latency::Latency;
use crate::report::view::View;
use crate::result::Document;

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
    write!(out, "<details open><summary>Single operations</summary>")?;
    for section in view.sections.iter().filter(|section| !section.latency.rows.is_empty()) {
        let name = section.heading.as_deref().unwrap_or("Single operations");
        table(out, &section.latency, name)?;
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
