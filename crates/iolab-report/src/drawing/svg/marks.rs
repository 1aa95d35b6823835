//! What carries data: series and what explains them: brackets, rules, shades, curves.

use std::fmt::Write as _;

use super::filled;
use super::frame::{Frame, SMALL};
use super::glyph::{class, cross, ink_of, marker};
use super::text::{self, Anchor, Label, px};
use crate::drawing::model::{Chart, CurvePoint, Direction, Layer, Mark, Point, Series, Tint};

/// Draws what lies behind the grid.
pub fn ground(out: &mut String, frame: &Frame<'_>, layer: &Layer) {
    if let Layer::Shade { axis, from, to, .. } = layer {
        shade(out, frame, *axis, *from, *to);
    }
}

/// Draws one layer.
pub fn draw(out: &mut String, frame: &Frame<'_>, chart: &Chart, layer: &Layer) {
    match layer {
        Layer::Shade { .. } => {}
        Layer::Rule { axis, at, label } => rule(out, frame, *axis, *at, label),
        Layer::Series(s) => series(out, frame, chart, s),
        Layer::Bars(bars) => {
            for bar in bars {
                filled::stack(out, frame, chart, bar);
            }
        }
        Layer::Heat(h) => filled::heat(out, frame, h),
        Layer::Bracket { from, to, label } => bracket(out, frame, *from, *to, label),
        Layer::Curve { key, points } => curve(out, frame, chart, *key, points),
    }
}

fn shade(out: &mut String, frame: &Frame<'_>, axis: Direction, from: f64, to: f64) {
    let (x, y, w, h) = match axis {
        Direction::X => {
            let (a, b) = (frame.across(from), frame.across(to));
            (a, frame.y, b - a, frame.height)
        }
        Direction::Y => {
            let (a, b) = (frame.down(from), frame.down(to));
            (frame.x, a.min(b), frame.width, (b - a).abs())
        }
    };
    let _ = write!(
        out,
        "<rect class=\"sh\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
        px(x),
        px(y),
        px(w.max(0.0)),
        px(h)
    );
}

fn rule(out: &mut String, frame: &Frame<'_>, axis: Direction, at: f64, label: &str) {
    let line = match axis {
        Direction::X => format!(
            "M{} {}V{}",
            px(frame.across(at)),
            px(frame.y - 2.0),
            px(frame.y + frame.height)
        ),
        Direction::Y => {
            format!("M{} {}H{}", px(frame.x), px(frame.down(at)), px(frame.x + frame.width))
        }
    };
    let _ = write!(out, "<path class=\"ru\" d=\"{line}\"/>");
    if axis == Direction::Y && !label.is_empty() {
        let (x, y) = (frame.x + frame.width + 5.0, frame.down(at) + 4.0);
        text::write(out, Label { x, y, size: SMALL, anchor: Anchor::Start, class: "mu" }, label);
    }
}

fn series(out: &mut String, frame: &Frame<'_>, chart: &Chart, series: &Series) {
    let ink = ink_of(chart, series.key, series.ink);
    let key = series.key.map_or(String::new(), |k| format!(" data-k=\"{k}\""));
    let _ = write!(out, "<g class=\"s {}\"{key}>", class(ink));
    if series.across {
        edge_to_edge(out, frame, series, ink);
        out.push_str("</g>");
        return;
    }
    if series.band {
        bands(out, frame, series);
    } else {
        whiskers(out, frame, series);
    }
    if series.joined {
        for run in runs(&series.points).filter(|run| run.len() > 1) {
            let line: Vec<String> = run.iter().map(|p| pair(frame.at(p.x, p.y))).collect();
            let _ = write!(out, "<path class=\"n\" d=\"M{}\"/>", line.join("L"));
        }
    }
    for point in &series.points {
        dot(out, frame, ink, point);
    }
    out.push_str("</g>");
}

/// Stretches of neighbouring measured points: a line never crosses a missing one.
fn runs(points: &[Point]) -> impl Iterator<Item = &[Point]> {
    points.split(|p| p.mark == Mark::Missing)
}

fn bands(out: &mut String, frame: &Frame<'_>, series: &Series) {
    let mut lone = String::new();
    for run in runs(&series.points) {
        for run in run.chunk_by(|a, b| bounded(a) && bounded(b)) {
            // A point without neighbours that have intervals has no band: its own is a bar.
            if let [point] = run {
                lone += &whisker(frame, series.interval, point);
                continue;
            }
            let upper = run.iter().map(|p| pair(frame.at(p.x, p.high.unwrap_or(p.y))));
            let lower = run.iter().rev().map(|p| pair(frame.at(p.x, p.low.unwrap_or(p.y))));
            let edge: Vec<String> = upper.chain(lower).collect();
            let _ = write!(out, "<path class=\"b\" d=\"M{}Z\"/>", edge.join("L"));
        }
    }
    if !lone.is_empty() {
        let _ = write!(out, "<path class=\"e\" d=\"{lone}\"/>");
    }
}

/// Whether both ends of its interval are known.
fn bounded(point: &Point) -> bool {
    point.low.is_some() && point.high.is_some()
}

fn whiskers(out: &mut String, frame: &Frame<'_>, series: &Series) {
    let shown = series.points.iter().filter(|p| p.mark != Mark::Missing);
    let d: String = shown.map(|p| whisker(frame, series.interval, p)).collect();
    if !d.is_empty() {
        let _ = write!(out, "<path class=\"e\" d=\"{d}\"/>");
    }
}

/// An interval with caps; an open end runs to the edge and has none.
fn whisker(frame: &Frame<'_>, axis: Direction, point: &Point) -> String {
    if point.low.is_none() && point.high.is_none() {
        return String::new();
    }
    let (x, y) = frame.at(point.x, point.y);
    let mut d = String::new();
    match axis {
        Direction::Y => {
            let low = point.low.map_or(frame.y + frame.height, |v| frame.down(v));
            let high = point.high.map_or(frame.y, |v| frame.down(v));
            let _ = write!(d, "M{} {}V{}", px(x), px(low), px(high));
            for (end, known) in [(low, point.low), (high, point.high)] {
                if known.is_some() {
                    let _ = write!(d, "M{} {}h6", px(x - 3.0), px(end));
                }
            }
        }
        Direction::X => {
            let low = point.low.map_or(frame.x, |v| frame.across(v));
            let high = point.high.map_or(frame.x + frame.width, |v| frame.across(v));
            let _ = write!(d, "M{} {}H{}", px(low), px(y), px(high));
            for (end, known) in [(low, point.low), (high, point.high)] {
                if known.is_some() {
                    let _ = write!(d, "M{} {}v6", px(end), px(y - 3.0));
                }
            }
        }
    }
    d
}

fn edge_to_edge(out: &mut String, frame: &Frame<'_>, series: &Series, ink: Tint) {
    let Some(point) = series.points.first() else { return };
    if point.mark == Mark::Missing {
        return dot(out, frame, ink, point);
    }
    let y = frame.down(point.y);
    if let (Some(low), Some(high)) = (point.low, point.high) {
        let (low, high) = (frame.down(low), frame.down(high));
        let _ = write!(
            out,
            "<rect class=\"b\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
            px(frame.x),
            px(high),
            px(frame.width),
            px((low - high).max(0.5))
        );
    }
    let _ = write!(out, "<path class=\"n\" d=\"M{} {}h{}\"/>", px(frame.x), px(y), px(frame.width));
    for share in [0.0, 0.5, 1.0] {
        let x = frame.x + 7.0 + share * (frame.width - 14.0);
        marker(out, ink, x, y, 4.0, "m f", &point.tip);
    }
}

fn dot(out: &mut String, frame: &Frame<'_>, ink: Tint, point: &Point) {
    let (x, y) = frame.at(point.x, point.y);
    match &point.mark {
        Mark::Filled => marker(out, ink, x, y, 4.0, "m f", &point.tip),
        Mark::Hollow => marker(out, ink, x, y, 4.0, "m ho hollow", &point.tip),
        Mark::Faint => marker(out, ink, x, y, 2.0, "m f faint", &point.tip),
        Mark::FaintHollow => marker(out, ink, x, y, 2.0, "m ho thin", &point.tip),
        // Its words come last of all: see `flags`.
        Mark::Flagged(_) => {
            marker(out, ink, x, y, 4.0, "m f", &point.tip);
            let _ =
                write!(out, "<circle class=\"ring\" cx=\"{}\" cy=\"{}\" r=\"8.5\"/>", px(x), px(y));
        }
        Mark::Missing => cross_at(out, frame, point),
    }
}

/// The words of flagged points, over everything else, so that no line strikes them out.
pub fn flags(out: &mut String, frame: &Frame<'_>, layer: &Layer) {
    let Layer::Series(series) = layer else { return };
    let key = series.key.map_or(String::new(), |k| format!(" data-k=\"{k}\""));
    for point in &series.points {
        if let Mark::Flagged(words) = &point.mark {
            let (x, y) = frame.at(point.x, point.y);
            let _ = write!(out, "<g{key}>");
            flag(out, frame, x, y, words);
            out.push_str("</g>");
        }
    }
}

/// The words of a flagged point, below it where there is room, held inside the plot.
fn flag(out: &mut String, frame: &Frame<'_>, x: f64, y: f64, words: &str) {
    if words.is_empty() {
        return;
    }
    let half = text::width(words, 12.5) / 2.0;
    let least = frame.x + half + 2.0;
    let x = x.clamp(least, (frame.x + frame.width - half - 2.0).max(least));
    let below = y + 25.0;
    let y = if below < frame.y + frame.height - 3.0 { below } else { y - 15.0 };
    text::write(
        out,
        Label { x, y, size: 12.5, anchor: Anchor::Middle, class: "title halo" },
        words,
    );
}

/// A missing value sits on the edge where its unknown coordinate would begin.
fn cross_at(out: &mut String, frame: &Frame<'_>, point: &Point) {
    let x = if point.x.is_finite() { frame.across(point.x) } else { frame.x + 9.0 };
    let y = if point.y.is_finite() { frame.down(point.y) } else { frame.y + frame.height - 9.0 };
    cross(out, x, y, &point.tip);
}

fn pair((x, y): (f64, f64)) -> String {
    format!("{} {}", px(x), px(y))
}

fn bracket(out: &mut String, frame: &Frame<'_>, from: usize, to: usize, label: &str) {
    let x = frame.x + frame.width + 6.0;
    let (top, bottom) = (frame.down(from as f64) - 8.0, frame.down(to as f64) + 8.0);
    let _ = write!(out, "<path class=\"br\" d=\"M{} {}h5V{}h-5\"/>", px(x), px(top), px(bottom));
    let (x, y) = (x + 10.0, (top + bottom) / 2.0 + 4.0);
    text::write(out, Label { x, y, size: SMALL, anchor: Anchor::Start, class: "" }, label);
}

fn curve(
    out: &mut String,
    frame: &Frame<'_>,
    chart: &Chart,
    key: Option<usize>,
    points: &[CurvePoint],
) {
    let ink = ink_of(chart, key, Tint::Muted);
    let data = key.map_or(String::new(), |k| format!(" data-k=\"{k}\""));
    let _ = write!(out, "<g class=\"s ideal {}\"{data}>", class(ink));
    if points.iter().all(|p| p.low.is_some() && p.high.is_some()) {
        let upper = points.iter().map(|p| pair(frame.at(p.x, p.high.unwrap_or(p.y))));
        let lower = points.iter().rev().map(|p| pair(frame.at(p.x, p.low.unwrap_or(p.y))));
        let edge: Vec<String> = upper.chain(lower).collect();
        let _ = write!(out, "<path class=\"b\" d=\"M{}Z\"/>", edge.join("L"));
    }
    let line: Vec<String> = points.iter().map(|p| pair(frame.at(p.x, p.y))).collect();
    let _ = write!(out, "<path class=\"n\" d=\"M{}\"/></g>", line.join("L"));
}
