//! The rectangle a panel is drawn in: margins from the labels that must fit, data units → pixels.

use super::text;
use crate::drawing::model::{Direction, Layer, Panel};
use crate::drawing::scale::Scale;

/// Size of tick labels and of everything written inside a panel.
pub const SMALL: f64 = 11.5;
const STRIP: f64 = 15.0;

/// A panel's place on the picture.
pub struct Frame<'a> {
    /// The panel.
    pub panel: &'a Panel,
    /// Left edge of the plot.
    pub x: f64,
    /// Top edge of the plot.
    pub y: f64,
    /// Width of the plot.
    pub width: f64,
    /// Height of the plot.
    pub height: f64,
    /// Left edge of all that belongs to the panel.
    pub outer_x: f64,
    /// Top edge of it.
    pub outer_y: f64,
    /// Width of it.
    pub outer_width: f64,
    /// Whether the names of the x and y axes are written (room is kept for them).
    pub named: (bool, bool),
    /// Words above the plot, with their place and row from the plot upwards.
    pub strip: Vec<Heading<'a>>,
}

/// Words above the plot that name a rule or a shade.
pub struct Heading<'a> {
    /// Middle of the words, pixels.
    pub x: f64,
    /// Row, 0 next to the plot.
    pub row: usize,
    /// The words.
    pub label: &'a str,
}

impl<'a> Frame<'a> {
    /// Lays a panel out in a column `width` wide whose plot is `height` high.
    pub fn new(panel: &'a Panel, x: f64, y: f64, width: f64, height: f64) -> Frame<'a> {
        let longest =
            panel.y.ticks.iter().map(|t| text::width(&t.label, SMALL)).fold(0.0, f64::max);
        let left = (longest + 10.0).min(width * 0.42);
        let right = right_margin(panel, width);
        let mut frame = Frame {
            panel,
            x: x + left,
            y,
            width: (width - left - right).max(20.0),
            height,
            outer_x: x,
            outer_y: y,
            outer_width: width,
            named: (true, true),
            strip: Vec::new(),
        };
        frame.strip = frame.headings();
        let rows = frame.strip.iter().map(|h| h.row + 1).max().unwrap_or(0);
        let above = if panel.title.is_empty() { 0.0 } else { 20.0 };
        let name = if panel.y.label.is_empty() { 0.0 } else { 18.0 };
        frame.y = y + above + name + rows as f64 * STRIP + 4.0;
        frame
    }

    /// Height with labels.
    pub fn outer_height(&self) -> f64 {
        let name = if self.panel.x.label.is_empty() { 0.0 } else { 17.0 };
        self.y - self.outer_y + self.height + 20.0 + name
    }

    /// Pixels of a horizontal data value.
    pub fn across(&self, value: f64) -> f64 {
        self.x + self.panel.x.position(value) * self.width
    }

    /// Pixels of a vertical data value.
    pub fn down(&self, value: f64) -> f64 {
        let share = self.panel.y.position(value);
        match self.panel.y.scale {
            Scale::Category => self.y + share * self.height,
            _ => self.y + (1.0 - share) * self.height,
        }
    }

    /// Pixels of a point.
    pub fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.across(x), self.down(y))
    }

    /// Baseline of a heading's row.
    pub fn heading_y(&self, row: usize) -> f64 {
        self.y - 5.0 - row as f64 * STRIP
    }

    /// Words of vertical rules and shades, stacked where they would touch.
    fn headings(&self) -> Vec<Heading<'a>> {
        let mut wanted: Vec<(f64, &'a str)> = Vec::new();
        for layer in &self.panel.layers {
            match layer {
                Layer::Rule { axis: Direction::X, at, label } if !label.is_empty() => {
                    wanted.push((self.across(*at), label));
                }
                Layer::Shade { axis: Direction::X, from, to, label } if !label.is_empty() => {
                    wanted.push(((self.across(*from) + self.across(*to)) / 2.0, label));
                }
                _ => {}
            }
        }
        wanted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut ends: Vec<f64> = Vec::new();
        let mut placed = Vec::new();
        for (middle, label) in wanted {
            let half = text::width(label, SMALL) / 2.0;
            let least = self.x + half - 4.0;
            let most = (self.x + self.width - half + 8.0).max(least);
            let x = middle.clamp(least, most);
            let row = ends.iter().position(|end| *end + 10.0 < x - half);
            let row = row.unwrap_or_else(|| {
                ends.push(0.0);
                ends.len() - 1
            });
            ends[row] = x + half;
            placed.push(Heading { x, row, label });
        }
        placed
    }
}

/// Room for words to the right of the plot: brackets and horizontal rules.
fn right_margin(panel: &Panel, width: f64) -> f64 {
    let words = panel.layers.iter().filter_map(|layer| match layer {
        Layer::Bracket { label, .. } => Some(text::width(label, SMALL) + 24.0),
        Layer::Rule { axis: Direction::Y, label, .. } => Some(text::width(label, SMALL) + 10.0),
        _ => None,
    });
    words.fold(14.0, f64::max).min(width * 0.3)
}
