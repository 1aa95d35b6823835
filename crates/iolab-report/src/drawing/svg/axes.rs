//! Grid, ticks, names of axes, and the words above a plot.

use std::fmt::Write as _;

use super::frame::{Frame, SMALL};
use super::text::{self, Anchor, Label, fit, px};
use crate::drawing::model::Layer;
use crate::drawing::scale::{Scale, Tick};

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

/// Which labels of the x axis are written. Where ticks stand at equal distances every second,
/// third… so that none touch; else from the last one on, each that touches none before it.
fn shown(frame: &Frame<'_>, words: &impl Fn(&Tick) -> String) -> Vec<bool> {
    let ends: Vec<(f64, f64)> = frame
        .panel
        .x
        .ticks
        .iter()
        .map(|tick| {
            let (at, half) = (frame.across(tick.at), text::width(&words(tick), SMALL) / 2.0);
            (at - half, at + half)
        })
        .collect();
    let apart = |left: (f64, f64), right: (f64, f64)| left.1 + 6.0 < right.0;
    let last = ends.len().saturating_sub(1);
    if equal_steps(frame) {
        let fits = |step: usize| {
            let kept: Vec<_> = ends.iter().rev().step_by(step).collect();
            kept.windows(2).all(|pair| apart(*pair[1], *pair[0]))
        };
        let step = (1..=ends.len()).find(|step| fits(*step)).unwrap_or(1);
        return (0..ends.len()).map(|at| (last - at).is_multiple_of(step)).collect();
    }
    let mut free = f64::INFINITY;
    let mut shown: Vec<bool> = ends
        .iter()
        .rev()
        .map(|(start, end)| {
            let fits = end + 6.0 < free;
            if fits {
                free = *start;
            }
            fits
        })
        .collect();
    shown.reverse();
    shown
}

fn equal_steps(frame: &Frame<'_>) -> bool {
    let at: Vec<f64> = frame.panel.x.ticks.iter().map(|tick| frame.across(tick.at)).collect();
    let steps: Vec<f64> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let (least, most) = steps
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(low, high), step| (low.min(*step), high.max(*step)));
    !steps.is_empty() && most - least < 1.0
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
