//! Grid, ticks, names of axes, and the words above a plot.

use std::fmt::Write as _;

use super::frame::{Frame, SMALL};
use super::text::{self, Anchor, Label, fit, px};
use crate::report::chart::model::Layer;
use crate::report::chart::scale::{Scale, Tick};

/// Draws everything that lies behind the marks.
pub fn draw(out: &mut String, frame: &Frame<'_>) {
    titles(out, frame);
    let heat = frame.panel.layers.iter().any(|l| matches!(l, Layer::Heat(_)));
    horizontal(out, frame, heat);
    vertical(out, frame, heat);
    for heading in &frame.strip {
        let (x, y) = (heading.x, frame.heading_y(heading.row));
        text::write(
            out,
            Label { x, y, size: SMALL, anchor: Anchor::Middle, class: "mu" },
            heading.label,
        );
    }
}

fn titles(out: &mut String, frame: &Frame<'_>) {
    let mut y = frame.outer_y + 14.0;
    if !frame.panel.title.is_empty() {
        let words = fit(&frame.panel.title, 14.5, frame.outer_width);
        let label =
            Label { x: frame.outer_x, y, size: 13.0, anchor: Anchor::Start, class: "title" };
        text::write(out, label, &words);
        y += 20.0;
    }
    if frame.named.1 && !frame.panel.y.label.is_empty() {
        let label =
            Label { x: frame.outer_x, y: y - 2.0, size: SMALL, anchor: Anchor::Start, class: "mu" };
        text::write(out, label, &fit(&frame.panel.y.label, SMALL, frame.outer_width));
    }
}

/// The x axis: ticks that would touch are thinned by a whole stride, the last one kept.
fn horizontal(out: &mut String, frame: &Frame<'_>, heat: bool) {
    let axis = &frame.panel.x;
    let bottom = frame.y + frame.height;
    let category = axis.scale == Scale::Category;
    let room = frame.width / axis.ticks.len().max(1) as f64;
    let words = |tick: &Tick| match category {
        true => fit(&tick.label, SMALL, room.max(40.0) - 4.0),
        false => tick.label.clone(),
    };
    let stride = stride(frame, &words);
    let mut grid = String::new();
    let last = axis.ticks.len().saturating_sub(1);
    for (at, tick) in axis.ticks.iter().enumerate() {
        let x = frame.across(tick.at);
        if !heat {
            let _ = write!(grid, "M{} {}V{}", px(x), px(frame.y), px(bottom));
        }
        if (last - at).is_multiple_of(stride) {
            let label =
                Label { x, y: bottom + 16.0, size: SMALL, anchor: Anchor::Middle, class: "mu" };
            text::write(out, label, &words(tick));
        }
    }
    if !grid.is_empty() && frame.panel.y.scale == Scale::Category || axis.scale != Scale::Linear {
        let _ = write!(out, "<path class=\"g\" d=\"{grid}\"/>");
    }
    if frame.named.0 && !axis.label.is_empty() {
        let x = frame.x + frame.width / 2.0;
        let label = Label { x, y: bottom + 33.0, size: SMALL, anchor: Anchor::Middle, class: "mu" };
        text::write(out, label, &fit(&axis.label, SMALL, frame.outer_width));
    }
}

/// The least stride at which no two labels of the x axis touch.
fn stride(frame: &Frame<'_>, words: &impl Fn(&Tick) -> String) -> usize {
    let places: Vec<(f64, f64)> = frame
        .panel
        .x
        .ticks
        .iter()
        .map(|tick| (frame.across(tick.at), text::width(&words(tick), SMALL) / 2.0))
        .collect();
    (1..=places.len().max(1))
        .find(|stride| {
            let shown: Vec<_> = places.iter().rev().step_by(*stride).collect();
            shown.windows(2).all(|pair| pair[0].0 - pair[0].1 > pair[1].0 + pair[1].1 + 6.0)
        })
        .unwrap_or(1)
}

fn vertical(out: &mut String, frame: &Frame<'_>, heat: bool) {
    let axis = &frame.panel.y;
    let category = axis.scale == Scale::Category;
    let mut grid = String::new();
    let mut above = f64::INFINITY;
    for tick in &axis.ticks {
        let y = frame.down(tick.at);
        // Numeric ticks run upwards; those that would touch are left out.
        if !category && above - y < 14.0 {
            continue;
        }
        above = y;
        if !heat && !category {
            let _ = write!(grid, "M{} {}H{}", px(frame.x), px(y), px(frame.x + frame.width));
        }
        let words = fit(&tick.label, SMALL, frame.x - frame.outer_x - 6.0);
        let class = if category { "" } else { "mu" };
        let label = Label { x: frame.x - 7.0, y: y + 4.0, size: SMALL, anchor: Anchor::End, class };
        text::write(out, label, &words);
    }
    if !grid.is_empty() {
        let _ = write!(out, "<path class=\"g\" d=\"{grid}\"/>");
    }
    if !heat {
        let (x, y) = (px(frame.x), px(frame.y + frame.height));
        let line = match category {
            true => format!("M{x} {}V{y}", px(frame.y)),
            false => format!("M{x} {y}H{}", px(frame.x + frame.width)),
        };
        let _ = write!(out, "<path class=\"ax\" d=\"{line}\"/>");
    }
}
