//! What carries data: series, bars, heat cells, brackets, rules and shades.

use std::fmt::Write as _;

use super::frame::{Frame, SMALL};
use super::legend::ink_of;
use super::text::{self, Anchor, Label, escape, px};
use super::theme::HEAT_STEPS;
use crate::report::chart::model::{
    Bar, Chart, CurvePoint, Direction, Heat, HeatState, Ink, Layer, Mark, Point, Series,
};

/// Draws one layer.
pub fn draw(out: &mut String, frame: &Frame<'_>, chart: &Chart, layer: &Layer) {
    match layer {
        Layer::Shade { axis, from, to, .. } => shade(out, frame, *axis, *from, *to),
        Layer::Rule { axis, at, label } => rule(out, frame, *axis, *at, label),
        Layer::Series(s) => series(out, frame, chart, s),
        Layer::Bars(bars) => {
            for bar in bars {
                stack(out, frame, chart, bar);
            }
        }
        Layer::Heat(h) => heat(out, frame, h),
        Layer::Bracket { from, to, label } => bracket(out, frame, *from, *to, label),
        Layer::Curve { key, points } => curve(out, frame, chart, *key, points),
    }
}

/// The class of a style.
pub fn class(ink: Ink) -> String {
    match ink {
        Ink::Series(at) => format!("k{at}"),
        Ink::Plain => "ki".to_owned(),
        Ink::Muted => "km".to_owned(),
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
    for run in runs(&series.points) {
        for run in run.split(|p| p.low.is_none() || p.high.is_none()).filter(|r| r.len() > 1) {
            let upper = run.iter().map(|p| pair(frame.at(p.x, p.high.unwrap_or(p.y))));
            let lower = run.iter().rev().map(|p| pair(frame.at(p.x, p.low.unwrap_or(p.y))));
            let edge: Vec<String> = upper.chain(lower).collect();
            let _ = write!(out, "<path class=\"b\" d=\"M{}Z\"/>", edge.join("L"));
        }
    }
    // A point without measured neighbours has no band: its interval is a bar.
    let lone = runs(&series.points).filter(|run| run.len() == 1).flatten();
    let d: String = lone.map(|p| whisker(frame, series.interval, p)).collect();
    if !d.is_empty() {
        let _ = write!(out, "<path class=\"e\" d=\"{d}\"/>");
    }
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

fn edge_to_edge(out: &mut String, frame: &Frame<'_>, series: &Series, ink: Ink) {
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

fn dot(out: &mut String, frame: &Frame<'_>, ink: Ink, point: &Point) {
    let (x, y) = frame.at(point.x, point.y);
    match &point.mark {
        Mark::Filled => marker(out, ink, x, y, 4.0, "m f", &point.tip),
        Mark::Hollow => marker(out, ink, x, y, 4.0, "m ho hollow", &point.tip),
        Mark::Faint => marker(out, Ink::Series(0), x, y, 2.0, "m f faint", &point.tip),
        Mark::Flagged(words) => {
            marker(out, ink, x, y, 4.0, "m f", &point.tip);
            let _ =
                write!(out, "<circle class=\"ring\" cx=\"{}\" cy=\"{}\" r=\"8.5\"/>", px(x), px(y));
            flag(out, frame, x, y, words);
        }
        Mark::Missing => cross_at(out, frame, point),
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

/// A grey ×.
pub fn cross(out: &mut String, x: f64, y: f64, tip: &str) {
    let d = format!("M{} {}l7 7m0 -7l-7 7", px(x - 3.5), px(y - 3.5));
    let _ = write!(
        out,
        "<path class=\"{}\" d=\"{d}\">{}</path>",
        if tip.is_empty() { "x" } else { "x m" },
        title(tip)
    );
}

fn title(tip: &str) -> String {
    match tip {
        "" => String::new(),
        tip => format!("<title>{}</title>", escape(tip)),
    }
}

/// The marker of a style, centred; its shape tells series apart without colour.
pub fn marker(out: &mut String, ink: Ink, x: f64, y: f64, r: f64, class: &str, tip: &str) {
    let shape = match ink {
        Ink::Series(at) => at,
        _ => 0,
    };
    let tip = title(tip);
    let at = |dx: f64, dy: f64| format!("{} {}", px(x + dx * r), px(y + dy * r));
    let polygon = |corners: &[(f64, f64)]| {
        corners.iter().map(|(dx, dy)| at(*dx, *dy)).collect::<Vec<_>>().join("L")
    };
    let d = match shape {
        0 => {
            let _ = write!(
                out,
                "<circle class=\"{class}\" cx=\"{}\" cy=\"{}\" r=\"{}\">{tip}</circle>",
                px(x),
                px(y),
                px(r)
            );
            return;
        }
        1 => polygon(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        2 => polygon(&[(0.0, -1.2), (1.15, 0.85), (-1.15, 0.85)]),
        3 => polygon(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]),
        4 => polygon(&[(0.0, 1.2), (1.15, -0.85), (-1.15, -0.85)]),
        _ => polygon(&[
            (-0.4, -1.2),
            (0.4, -1.2),
            (0.4, -0.4),
            (1.2, -0.4),
            (1.2, 0.4),
            (0.4, 0.4),
            (0.4, 1.2),
            (-0.4, 1.2),
            (-0.4, 0.4),
            (-1.2, 0.4),
            (-1.2, -0.4),
            (-0.4, -0.4),
        ]),
    };
    let _ = write!(out, "<path class=\"{class}\" d=\"M{d}Z\">{tip}</path>");
}

fn pair((x, y): (f64, f64)) -> String {
    format!("{} {}", px(x), px(y))
}

/// A stack from 0, outlined by the wall time with its interval.
fn stack(out: &mut String, frame: &Frame<'_>, chart: &Chart, bar: &Bar) {
    let middle = frame.down(bar.row as f64);
    if bar.missing {
        return cross(out, frame.x + 9.0, middle, &bar.tip);
    }
    let half = (frame.height / frame.panel.y.ticks.len().max(1) as f64 * 0.32).min(9.0);
    let _ = write!(out, "<g class=\"m\">{}", title(&bar.tip));
    let mut from = 0.0;
    for (key, length) in &bar.parts {
        let (a, b) = (frame.across(from), frame.across(from + length));
        from += length;
        let ink = ink_of(chart, Some(*key), Ink::Muted);
        let _ = write!(
            out,
            "<g class=\"s {}\" data-k=\"{key}\"><rect class=\"f\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></g>",
            class(ink),
            px(a),
            px(middle - half),
            px((b - a).max(0.0)),
            px(2.0 * half)
        );
    }
    let end = frame.across(bar.total);
    let line = match from > bar.total * 1.02 {
        // More processor time than wall time: several threads; the wall is a tick in the stack.
        true => format!("M{} {}v{}", px(end), px(middle - half - 3.0), px(2.0 * half + 6.0)),
        false => format!(
            "M{} {}H{}v{}H{}Z",
            px(frame.x),
            px(middle - half),
            px(end),
            px(2.0 * half),
            px(frame.x)
        ),
    };
    let _ = write!(out, "<path class=\"out\" d=\"{line}\"/>");
    if let (Some(low), Some(high)) = (bar.low, bar.high) {
        let (a, b) = (frame.across(low), frame.across(high));
        let _ = write!(
            out,
            "<path class=\"out\" d=\"M{} {}H{}M{} {}v6M{} {}v6\"/>",
            px(a),
            px(middle),
            px(b),
            px(a),
            px(middle - 3.0),
            px(b),
            px(middle - 3.0)
        );
    }
    out.push_str("</g>");
}

fn heat(out: &mut String, frame: &Frame<'_>, heat: &Heat) {
    let wide = frame.width / frame.panel.x.ticks.len().max(1) as f64;
    let high = frame.height / frame.panel.y.ticks.len().max(1) as f64;
    for cell in &heat.cells {
        let (cx, cy) = frame.at(cell.column as f64, cell.row as f64);
        if cell.state == HeatState::Missing {
            cross(out, cx, cy, &cell.tip);
            continue;
        }
        let share = (cell.value / heat.limit).clamp(-1.0, 1.0);
        let step =
            if share.is_finite() { (share * f64::from(HEAT_STEPS)).round() as i32 } else { 0 };
        // What is proven is never the colour of "no difference".
        let least = if cell.state == HeatState::Proven { 1 } else { 0 };
        let step = if cell.value < 0.0 { step.min(-least) } else { step.max(least) };
        let at = step + HEAT_STEPS;
        let (x, y) = (cx - wide / 2.0 + 1.0, cy - high / 2.0 + 1.0);
        let (w, h) = ((wide - 2.0).max(1.0), (high - 2.0).max(1.0));
        let _ = write!(
            out,
            "<g class=\"m\">{}<rect class=\"h{at}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
            title(&cell.tip),
            px(x),
            px(y),
            px(w),
            px(h)
        );
        let _ = match cell.state {
            HeatState::Tie => write!(
                out,
                "<path class=\"l{at}\" stroke-opacity=\".35\" d=\"{}\"/>",
                hatch(x, y, w, h)
            ),
            HeatState::Undecided => write!(
                out,
                "<path class=\"l{at}\" stroke-opacity=\".45\" stroke-width=\"1.6\" stroke-linecap=\"round\" d=\"{}\"/>",
                dots(x, y, w, h)
            ),
            _ => Ok(()),
        };
        if text::width(&cell.text, SMALL) + 6.0 <= w {
            if matches!(cell.state, HeatState::Tie | HeatState::Undecided) {
                plate(out, &cell.text, at, cx, cy);
            }
            let class = format!("t{at}");
            let label =
                Label { x: cx, y: cy + 4.0, size: SMALL, anchor: Anchor::Middle, class: &class };
            text::write(out, label, &cell.text);
        }
        out.push_str("</g>");
    }
}

/// A plain ground that keeps a figure legible on hatching.
fn plate(out: &mut String, words: &str, at: i32, cx: f64, cy: f64) {
    let wide = text::width(words, SMALL) + 4.0;
    let _ = write!(
        out,
        "<rect class=\"h{at}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"15\"/>",
        px(cx - wide / 2.0),
        px(cy - 7.5),
        px(wide)
    );
}

/// Diagonal strokes that fill a rectangle, as a path; drawn out so that no pattern id is needed.
pub fn hatch(x: f64, y: f64, w: f64, h: f64) -> String {
    let mut d = String::new();
    let mut offset = 4.0;
    while offset < w + h {
        // The line x + y = offset, cut at the rectangle.
        let (x1, y1) = (offset.min(w), (offset - w).max(0.0));
        let (x2, y2) = ((offset - h).max(0.0), offset.min(h));
        let _ = write!(d, "M{} {}L{} {}", px(x + x1), px(y + y1), px(x + x2), px(y + y2));
        offset += 7.0;
    }
    d
}

/// Dots that fill a rectangle, as strokes of no length.
pub fn dots(x: f64, y: f64, w: f64, h: f64) -> String {
    let mut d = String::new();
    let mut top = 4.0;
    while top < h - 1.0 {
        let mut left = 4.0;
        while left < w - 1.0 {
            let _ = write!(d, "M{} {}h.01", px(x + left), px(y + top));
            left += 6.0;
        }
        top += 6.0;
    }
    d
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
    let ink = ink_of(chart, key, Ink::Muted);
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
