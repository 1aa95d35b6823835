//! What is filled: stacked bars and the cells of a heat map, with hatching drawn out.

use std::fmt::Write as _;

use super::frame::{Frame, SMALL};
use super::glyph::{self, ink_of};
use super::text::{self, Anchor, Label, px};
use super::theme::HEAT_STEPS;
use crate::drawing::model::{Bar, Chart, Heat, HeatState, Tint};

/// A stack from 0, outlined by the wall time with its interval.
pub fn stack(out: &mut String, frame: &Frame<'_>, chart: &Chart, bar: &Bar) {
    let middle = frame.down(bar.row as f64);
    if bar.missing {
        return glyph::cross(out, frame.x + 9.0, middle, &bar.tip);
    }
    let half = (frame.height / frame.panel.y.ticks.len().max(1) as f64 * 0.32).min(9.0);
    let _ = write!(out, "<g class=\"m\">{}", glyph::title(&bar.tip));
    let mut from = 0.0;
    for (key, length) in &bar.parts {
        let (a, b) = (frame.across(from), frame.across(from + length));
        from += length;
        let ink = ink_of(chart, Some(*key), Tint::Muted);
        let _ = write!(
            out,
            "<g class=\"s {}\" data-k=\"{key}\"><rect class=\"f\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></g>",
            glyph::class(ink),
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

/// Cells of a heat map.
pub fn heat(out: &mut String, frame: &Frame<'_>, heat: &Heat) {
    let wide = frame.width / frame.panel.x.ticks.len().max(1) as f64;
    let high = frame.height / frame.panel.y.ticks.len().max(1) as f64;
    for cell in &heat.cells {
        let (cx, cy) = frame.at(cell.column as f64, cell.row as f64);
        if cell.state == HeatState::Missing {
            glyph::cross(out, cx, cy, &cell.tip);
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
            glyph::title(&cell.tip),
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
