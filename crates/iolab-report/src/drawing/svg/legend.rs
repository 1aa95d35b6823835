//! The legend: what colours, markers and dashes mean, or the scale of a heat map.

use iolab_model::catalog::xml_text;
use std::fmt::Write as _;

use super::text::{self, Anchor, Label, fit, px};
use super::theme::HEAT_STEPS;
use super::{PAD, filled, glyph};
use crate::drawing::model::{Chart, Heat, Layer, Mark, Series};
use crate::drawing::scale::digits_plain;

const SIZE: f64 = 12.0;

/// Draws the legend from `y` on and returns where it ends.
pub fn draw(out: &mut String, chart: &Chart, width: f64, y: f64) -> f64 {
    let heat = chart.panels.iter().flat_map(|p| &p.layers).find_map(|layer| match layer {
        Layer::Heat(heat) => Some(heat),
        _ => None,
    });
    match heat {
        Some(heat) => scale(out, heat, width, y),
        None if chart.keys.len() > 1 => keys(out, chart, width, y),
        None => y,
    }
}

fn keys(out: &mut String, chart: &Chart, width: f64, from: f64) -> f64 {
    let bars = chart.panels.iter().flat_map(|p| &p.layers).any(|l| matches!(l, Layer::Bars(_)));
    let (mut x, mut y) = (PAD, from + 12.0);
    for (at, key) in chart.keys.iter().enumerate() {
        let name = fit(&key.name, SIZE, width - 2.0 * PAD - 34.0);
        let wide = 34.0 + text::width(&name, SIZE) + 16.0;
        if x > PAD && x + wide - 16.0 > width - PAD {
            (x, y) = (PAD, y + 19.0);
        }
        let class = glyph::class(key.ink);
        let _ = write!(out, "<g class=\"key {class}\" data-k=\"{at}\">");
        let _ = write!(out, "<title>{}</title>", xml_text(&key.name));
        // An invisible ground makes the whole entry a target.
        let _ = write!(
            out,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"19\" fill-opacity=\"0\"/>",
            px(x - 3.0),
            px(y - 13.0),
            px(wide - 10.0)
        );
        if bars {
            let _ = write!(
                out,
                "<rect class=\"f\" x=\"{}\" y=\"{}\" width=\"22\" height=\"11\"/>",
                px(x),
                px(y - 9.5)
            );
        } else {
            let line = format!("<path class=\"n\" d=\"M{} {}h26\"/>", px(x), px(y - 4.0));
            let curve = curve_only(chart, at);
            if curve {
                let _ = write!(out, "<g class=\"ideal\">{line}</g>");
            } else {
                out.push_str(if lines(chart, at) { &line } else { "" });
                let filling = if hollow(chart, at) { "ho hollow" } else { "f" };
                glyph::marker(out, key.ink, x + 13.0, y - 4.0, 4.0, filling, "");
            }
        }
        let label = Label { x: x + 32.0, y, size: SIZE, anchor: Anchor::Start, class: "" };
        text::write(out, label, &name);
        out.push_str("</g>");
        x += wide;
    }
    y + 14.0
}

/// Whether a key stands for a line, not for points alone.
fn lines(chart: &Chart, key: usize) -> bool {
    chart.panels.iter().flat_map(|p| &p.layers).any(|layer| match layer {
        Layer::Series(s) => s.key == Some(key) && (s.joined || s.across),
        _ => false,
    })
}

/// Whether a key stands for reference curves, which have no marks.
fn curve_only(chart: &Chart, key: usize) -> bool {
    let layers = || chart.panels.iter().flat_map(|p| &p.layers);
    layers().any(|l| matches!(l, Layer::Curve { key: Some(at), .. } if *at == key))
        && !layers().any(|l| matches!(l, Layer::Series(s) if s.key == Some(key)))
}

/// Whether a key stands for points that are hollow, all of them. Points of a line are hollow where
/// something happened to them, which says nothing about the line.
pub fn hollow(chart: &Chart, key: usize) -> bool {
    let series = chart.panels.iter().flat_map(|p| &p.layers).filter_map(|layer| match layer {
        Layer::Series(s) if s.key == Some(key) => Some(s),
        _ => None,
    });
    let faint = |s: &&Series| s.points.iter().any(|p| p.mark == Mark::FaintHollow);
    if series.clone().any(|s| s.across || (s.joined && !faint(&s))) {
        return false;
    }
    let mut marks = series.flat_map(|s| &s.points).map(|p| &p.mark).peekable();
    marks.peek().is_some()
        && marks.all(|m| matches!(m, Mark::Hollow | Mark::FaintHollow | Mark::Missing))
}

/// Colours of a heat map with their ends named, and the three fillings that are no colour.
fn scale(out: &mut String, heat: &Heat, width: f64, from: f64) -> f64 {
    let steps = 2 * HEAT_STEPS + 1;
    let step = if width < 500.0 { 5.0 } else { 9.0 };
    let mut y = from + 14.0;
    let factor = digits_plain(heat.limit.exp2());
    let mut x = PAD;
    let left = format!("{} ≥ {factor}×", heat.low_name);
    let label = Label { x, y, size: SIZE, anchor: Anchor::Start, class: "" };
    text::write(out, label, &left);
    x += text::width(&left, SIZE) + 8.0;
    for at in 0..steps {
        let place = px(x + f64::from(at) * step);
        let _ = write!(
            out,
            "<rect class=\"h{at}\" x=\"{place}\" y=\"{}\" width=\"{}\" height=\"12\"/>",
            px(y - 10.0),
            px(step + 0.3)
        );
    }
    x += f64::from(steps) * step + 8.0;
    let right = format!("≥ {factor}× {}", heat.high_name);
    text::write(out, Label { x, y, size: SIZE, anchor: Anchor::Start, class: "" }, &right);
    x += text::width(&right, SIZE) + 24.0;
    let states = [("tie", "equivalent"), ("open", "undecided"), ("none", "not measured")];
    for (kind, name) in states.into_iter().filter(|_| !heat.claims_nothing()) {
        let wide = 26.0 + text::width(name, SIZE) + 18.0;
        if x + wide - 18.0 > width - PAD {
            (x, y) = (PAD, y + 20.0);
        }
        sample(out, kind, x, y);
        text::write(
            out,
            Label { x: x + 24.0, y, size: SIZE, anchor: Anchor::Start, class: "" },
            name,
        );
        x += wide;
    }
    y + 16.0
}

fn sample(out: &mut String, kind: &str, x: f64, y: f64) {
    let middle = HEAT_STEPS;
    let (left, top) = (px(x), px(y - 10.0));
    let place = format!("x=\"{left}\" y=\"{top}\" width=\"18\" height=\"12\"");
    match kind {
        "none" => glyph::cross(out, x + 9.0, y - 4.0, ""),
        _ => {
            let _ = write!(out, "<rect class=\"h{middle}\" {place}/>");
            let _ = match kind {
                "tie" => write!(
                    out,
                    "<path class=\"l{middle}\" stroke-opacity=\".45\" d=\"{}\"/>",
                    filled::hatch(x, y - 10.0, 18.0, 12.0)
                ),
                _ => write!(
                    out,
                    "<path class=\"l{middle}\" stroke-opacity=\".55\" stroke-width=\"1.6\" stroke-linecap=\"round\" d=\"{}\"/>",
                    filled::dots(x, y - 10.0, 18.0, 12.0)
                ),
            };
        }
    }
}
