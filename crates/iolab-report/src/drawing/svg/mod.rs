//! The one back-end for pictures: SVG, written by hand. The HTML report inlines the same drawing,
//! PNG is rendered from it, and it is right without any script.

mod axes;
mod filled;
mod frame;
mod glyph;
mod legend;
mod marks;
mod text;
mod theme;

use iolab_model::catalog::xml_text;
use std::fmt::Write as _;

pub use legend::hollow;
pub use theme::{Theme, chart_style, standalone_style};

use super::model::{Chart, Layer, Panel};
use super::scale::Scale;
use frame::Frame;
use text::{Anchor, Label, balanced, px};

/// Width of a chart on a page, on paper and as a file.
pub const WIDE: f64 = 860.0;
/// Width of a chart on a telephone: the same chart laid out anew, so that its text stays legible.
pub const NARROW: f64 = 350.0;

const PAD: f64 = 12.0;
/// From this width on panels stand side by side.
const WIDE_ENOUGH: f64 = 500.0;

/// Where the colours come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A file of its own: light, and dark where the viewer asks for it.
    Standalone,
    /// One theme, written out: for PNG and for viewers without custom properties.
    Fixed(Theme),
    /// The page around it has the rules.
    Page,
}

/// Draws a chart `width` pixels wide. `id` must be unique in the page.
pub fn draw(chart: &Chart, id: &str, width: f64, style: Style) -> String {
    let mut body = String::new();
    let mut y = heading(&mut body, chart, width);
    y = legend::draw(&mut body, chart, width, y);
    y = panels(&mut body, chart, width, y);
    y = notes(&mut body, chart, width, y);
    let height = px((y + 4.0).ceil());
    let width = px(width);
    let mut out = String::with_capacity(body.len() + 1024);
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" width=\"{width}\" \
         height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-labelledby=\"{id}-t {id}-d\"><title id=\"{id}-t\">{}</title>\
         <desc id=\"{id}-d\">{}</desc>",
        xml_text(&chart.title),
        xml_text(&description(chart))
    );
    let rules = match style {
        Style::Standalone => standalone_style(),
        Style::Fixed(theme) => theme.fixed_style(),
        Style::Page => String::new(),
    };
    if style != Style::Page {
        let _ = write!(out, "<style>{rules}</style>");
        let _ = write!(out, "<rect class=\"p\" width=\"{width}\" height=\"{height}\"/>");
    }
    out + &body + "</svg>\n"
}

/// What a screen reader says after the title.
fn description(chart: &Chart) -> String {
    let mut text = chart.subtitle.clone();
    if let [panel] = chart.panels.as_slice() {
        let _ = write!(text, ". {} over {}.", panel.y.label, panel.x.label);
    } else {
        let _ = write!(text, ". {} panels.", chart.panels.len());
    }
    for note in &chart.notes {
        let _ = write!(text, " {note}.");
    }
    text
}

fn heading(out: &mut String, chart: &Chart, width: f64) -> f64 {
    let (size, leading) = if width < 500.0 { (15.0, 19.0) } else { (17.0, 22.0) };
    let mut y = 6.0;
    for line in balanced(&chart.title, size * 1.13, width - 2.0 * PAD) {
        y += leading;
        let label = Label { x: PAD, y: y - 4.0, size, anchor: Anchor::Start, class: "title" };
        text::write(out, label, &line);
    }
    for line in balanced(&chart.subtitle, 12.5, width - 2.0 * PAD) {
        y += 17.0;
        let label = Label { x: PAD, y: y - 3.0, size: 12.5, anchor: Anchor::Start, class: "mu" };
        text::write(out, label, &line);
    }
    y + 8.0
}

fn notes(out: &mut String, chart: &Chart, width: f64, from: f64) -> f64 {
    let mut y = from;
    for note in chart.notes.iter().chain(&chart.guide) {
        for line in balanced(note, 11.5, width - 2.0 * PAD) {
            y += 15.0;
            let label = Label { x: PAD, y, size: 11.5, anchor: Anchor::Start, class: "mu" };
            text::write(out, label, &line);
        }
    }
    y + 6.0
}

/// Panels side by side that fit, row after row.
fn panels(out: &mut String, chart: &Chart, width: f64, from: f64) -> f64 {
    let rows = rows(chart, width);
    let columns = rows.iter().copied().max().unwrap_or(1);
    let cell = (width - PAD * 2.0 - 18.0 * (columns as f64 - 1.0)) / columns as f64;
    let mut y = from;
    let mut start = 0;
    for (nth, count) in rows.iter().enumerate() {
        let row = &chart.panels[start..start + count];
        let next = rows.get(nth + 1).copied().unwrap_or(0);
        let mut frames: Vec<Frame<'_>> = Vec::new();
        for (at, panel) in row.iter().enumerate() {
            let x = PAD + at as f64 * (cell + 18.0);
            let mut frame = Frame::new(panel, x, y, cell, plot_height(panel, columns, width));
            // A name that would stand again beside or below is written once.
            let below = (at < next).then(|| &chart.panels[start + count + at]);
            let before = at.checked_sub(1).and_then(|at| row.get(at));
            frame.named = (
                below.is_none_or(|p| p.x.label != panel.x.label),
                before.is_none_or(|p| p.y.label != panel.y.label),
            );
            frames.push(frame);
        }
        start += count;
        // Plots of one row begin at one height, whatever stands above them.
        let top = frames.iter().map(|f| f.y).fold(y, f64::max);
        let mut tallest: f64 = 0.0;
        for mut frame in frames {
            frame.y = top;
            // Shaded regions lie behind the grid.
            for layer in &frame.panel.layers {
                marks::ground(out, &frame, layer);
            }
            axes::draw(out, &frame);
            for layer in &frame.panel.layers {
                marks::draw(out, &frame, chart, layer);
            }
            for layer in &frame.panel.layers {
                marks::flags(out, &frame, layer);
            }
            tallest = tallest.max(frame.outer_height());
        }
        y += tallest + 12.0;
    }
    y
}

/// Panels of each row: those of the chart where there is room for them, else as many as fit.
fn rows(chart: &Chart, width: f64) -> Vec<usize> {
    let count = chart.panels.len();
    if width >= WIDE_ENOUGH && !chart.rows.is_empty() && chart.rows.iter().sum::<usize>() == count {
        return chart.rows.clone();
    }
    let columns = columns(chart, width).max(1);
    (0..count).step_by(columns).map(|from| columns.min(count - from)).collect()
}

fn columns(chart: &Chart, width: f64) -> usize {
    if width < WIDE_ENOUGH || chart.panels.len() < 2 {
        return 1;
    }
    let rows = chart.panels.iter().any(|p| p.y.scale == Scale::Category);
    let most = if rows || chart.panels.len() == 2 || chart.panels.len() == 4 { 2 } else { 3 };
    most.min(chart.panels.len())
}

fn plot_height(panel: &Panel, columns: usize, width: f64) -> f64 {
    let heat = panel.layers.iter().any(|l| matches!(l, Layer::Heat(_)));
    let rows = panel.y.ticks.len().max(1) as f64;
    match (&panel.y.scale, columns) {
        (Scale::Category, _) if heat => rows * 30.0,
        (Scale::Category, _) => rows * 23.0 + 8.0,
        (_, 1) if width < 500.0 => 230.0,
        (_, 1) => 330.0,
        (_, 2) => 250.0,
        _ => 200.0,
    }
}
