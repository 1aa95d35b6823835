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

/// The x axis: labels that would touch are left out, the last one kept.
fn horizontal(out: &mut String, frame: &Frame<'_>, heat: bool) {
    let axis = &frame.panel.x;
    let bottom = frame.y + frame.height;
    let category = axis.scale == Scale::Category;
    let room = frame.width / axis.ticks.len().max(1) as f64;
    let words = |tick: &Tick| match category {
        true => fit(&tick.label, SMALL, room.max(40.0) - 4.0),
        false => tick.label.clone(),
    };
    let shown = shown(frame, &words);
    let mut grid = String::new();
    for (tick, shown) in axis.ticks.iter().zip(shown) {
        let x = frame.across(tick.at);
        if !heat {
            let _ = write!(grid, "M{} {}V{}", px(x), px(frame.y), px(bottom));
        }
        if shown {
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

/// Which labels of the x axis are written: from the last one on, each that touches none before it.
fn shown(frame: &Frame<'_>, words: &impl Fn(&Tick) -> String) -> Vec<bool> {
    let mut free = f64::INFINITY;
    let mut shown: Vec<bool> = frame
        .panel
        .x
        .ticks
        .iter()
        .rev()
        .map(|tick| {
            let (at, half) = (frame.across(tick.at), text::width(&words(tick), SMALL) / 2.0);
            let fits = at + half + 6.0 < free;
            if fits {
                free = at - half;
            }
            fits
        })
        .collect();
    shown.reverse();
    shown
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
