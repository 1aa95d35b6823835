//! The same charts in characters: bars for names, a scatter on the same scales for curves, a grid
//! of figures for heat maps. Unicode by default, ASCII on demand; no colour is needed to read it.

use super::labels::kept_together;
use super::model::{Chart, Layer, Mark, Panel, Point, Series};
use super::padding::{columns, pad, pad_right};
use super::scale::{Axis, Scale, tick_time};
use super::svg::hollow;
use super::terminal_heat;
use iolab_model::catalog::ascii_text;

/// Characters of one series each, most telling first.
const MARKS: [char; 6] = ['●', '■', '▲', '◆', '▼', '+'];
const MARKS_HOLLOW: [char; 6] = ['○', '□', '△', '◇', '▽', '+'];
const MARKS_ASCII: [char; 6] = ['o', '#', '^', '*', 'v', '+'];
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// How to draw.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    /// Columns.
    pub width: usize,
    /// Only ASCII characters.
    pub ascii: bool,
}

/// Draws a chart as lines of text, with a line break at the end of each.
pub fn draw(chart: &Chart, screen: Screen) -> String {
    let mut out = wrapped(&chart.title, screen.width) + &wrapped(&chart.subtitle, screen.width);
    if chart.keys.len() > 1 && !has_heat(chart) {
        let stacked = has_bars(chart);
        let names = chart.keys.iter().enumerate().map(|(at, key)| {
            let mark = match stacked {
                true => fill(at, screen),
                false => mark(at, hollow(chart, at), screen),
            };
            format!("{mark} {}", key.name)
        });
        let both = if screen.ascii { "@ several" } else { "◉ several" };
        let names = names.chain((!stacked).then(|| both.to_owned()));
        // A name is not torn from its mark.
        let names: Vec<String> = names.map(|name| name.replace(' ', "\u{a0}")).collect();
        out += &wrapped(&names.join("  "), screen.width).replace('\u{a0}', " ");
    }
    for panel in &chart.panels {
        out.push('\n');
        if !panel.title.is_empty() {
            out += &wrapped(&panel.title, screen.width);
        }
        out += &draw_panel(panel, screen);
    }
    // Without other signs nothing is hollow.
    let guide = chart.guide.iter().filter(|g| !screen.ascii || !g.starts_with("Hollow"));
    for note in chart.notes.iter().chain(guide) {
        out += &wrapped(note, screen.width);
    }
    if screen.ascii { ascii_text(&out) } else { out }
}

fn has_heat(chart: &Chart) -> bool {
    chart.panels.iter().flat_map(|p| &p.layers).any(|l| matches!(l, Layer::Heat(_)))
}

fn has_bars(chart: &Chart) -> bool {
    chart.panels.iter().flat_map(|p| &p.layers).any(|l| matches!(l, Layer::Bars(_)))
}

fn draw_panel(panel: &Panel, screen: Screen) -> String {
    let heat = panel.layers.iter().find_map(|l| match l {
        Layer::Heat(heat) => Some(heat),
        _ => None,
    });
    match (heat, &panel.y.scale) {
        (Some(heat), _) => terminal_heat::grid(panel, heat),
        (None, Scale::Category) => rows(panel, screen),
        _ => scatter(panel, screen),
    }
}

fn mark(at: usize, hollow: bool, screen: Screen) -> char {
    let marks = match (screen.ascii, hollow) {
        (true, _) => MARKS_ASCII,
        (false, true) => MARKS_HOLLOW,
        (false, false) => MARKS,
    };
    marks[at % marks.len()]
}

/// Words in lines of at most `width` characters; a longer word has a line of its own.
fn wrapped(text: &str, width: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in &kept_together(text) {
        match lines.last_mut().filter(|line| columns(line) + 1 + columns(word) <= width) {
            Some(line) => *line = format!("{line} {word}"),
            None => lines.push(word.clone()),
        }
    }
    lines.iter().map(|line| format!("{}\n", line.trim())).collect()
}

fn fill(at: usize, screen: Screen) -> char {
    let fills = if screen.ascii { ['#', '=', '.'] } else { ['█', '▒', '░'] };
    fills[at % fills.len()]
}

/// The name of an axis under the middle of its plot, held inside the screen.
fn under(name: &str, left: usize, room: usize, screen: Screen) -> String {
    let middle = left + room.saturating_sub(columns(name)) / 2;
    let from = middle.min(screen.width.saturating_sub(columns(name)));
    format!("{}{name}\n", " ".repeat(from))
}

/// A bar a row, or dots between the ends of the x axis: of each series a line, for several in one
/// would hide each other.
fn rows(panel: &Panel, screen: Screen) -> String {
    let names = || panel.y.ticks.iter().map(|t| t.label.as_str());
    let left = names().map(columns).max().unwrap_or(0).min(screen.width / 2);
    let room = screen.width.saturating_sub(left + 14).max(10);
    let mut out = String::new();
    for (row, name) in names().enumerate() {
        let mut name = name;
        for key in keys_of(panel, row) {
            let (line, figure) = row_line(panel, row, key, room, screen);
            out += &format!("{} {line} {figure}\n", pad(name, left));
            name = "";
        }
    }
    if !panel.x.ticks.is_empty() {
        out += &format!("{} {}\n", pad("", left), ruler(&panel.x, room, room + 8));
    }
    if !panel.x.label.is_empty() {
        out += &under(&panel.x.label, left + 1, room, screen);
    }
    out
}

fn on_row(series: &Series, row: usize) -> impl Iterator<Item = &Point> {
    series.points.iter().filter(move |p| p.y.round() == row as f64)
}

/// The series that have a line of their own in a row; `None` stands for all of them together.
fn keys_of(panel: &Panel, row: usize) -> Vec<Option<usize>> {
    let mut keys: Vec<Option<usize>> = Vec::new();
    for layer in &panel.layers {
        match layer {
            Layer::Bars(_) => return vec![None],
            Layer::Series(series) if on_row(series, row).next().is_some() => keys.push(series.key),
            _ => {}
        }
    }
    keys.sort_unstable();
    keys.dedup();
    if keys.len() > 1 && keys.iter().all(Option::is_some) { keys } else { vec![None] }
}

fn row_line(
    panel: &Panel,
    row: usize,
    key: Option<usize>,
    room: usize,
    screen: Screen,
) -> (String, String) {
    let mut cells = vec![' '; room];
    let mut figure = String::new();
    let place = |share: f64| ((share * (room - 1) as f64).round() as usize).min(room - 1);
    for layer in &panel.layers {
        match layer {
            Layer::Bars(bars) => {
                let Some(bar) = bars.iter().find(|b| b.row == row) else { continue };
                if bar.missing {
                    return (pad_right("×", room), "–".to_owned());
                }
                let mut end = 0.0;
                for (key, length) in &bar.parts {
                    let from = place(panel.x.position(end));
                    end += length;
                    let to = place(panel.x.position(end));
                    cells[from..to.max(from)].fill(fill(*key, screen));
                }
                figure = tick_time(bar.total);
            }
            Layer::Series(series) if key.is_none() || series.key == key => {
                dots(&mut cells, &mut figure, panel, series, row, screen);
            }
            _ => {}
        }
    }
    (cells.into_iter().collect(), figure)
}

/// The points of a series that lie on a row, with their intervals.
fn dots(
    cells: &mut [char],
    figure: &mut String,
    panel: &Panel,
    series: &Series,
    row: usize,
    screen: Screen,
) {
    let room = cells.len();
    let place = |v: f64| ((panel.x.position(v) * (room - 1) as f64).round() as usize).min(room - 1);
    for point in on_row(series, row) {
        if point.mark == Mark::Missing {
            cells[0] = if screen.ascii { 'x' } else { '×' };
            continue;
        }
        if let (Some(low), Some(high)) = (point.low, point.high) {
            let line = if screen.ascii { '-' } else { '─' };
            cells[place(low)..=place(high).max(place(low))].fill(line);
        }
        let hollow = point.mark == Mark::Hollow;
        cells[place(point.x)] = match (hollow && series.key.is_none(), screen.ascii) {
            (true, false) => '○',
            (true, true) => '.',
            _ => mark(series.key.unwrap_or(0), hollow, screen),
        };
        *figure = value_text(&panel.x, point.x);
    }
}

fn value_text(axis: &Axis, value: f64) -> String {
    match axis.ticks.first() {
        Some(tick) if tick.label.ends_with('×') => iolab_model::catalog::ratio_text(value),
        _ => tick_time(value),
    }
}

/// Tick labels under a plot in at most `most` columns, those that would touch left out.
fn ruler(axis: &Axis, room: usize, most: usize) -> String {
    let mut line = vec![' '; most];
    let mut free = 0;
    for tick in &axis.ticks {
        let middle = (axis.position(tick.at) * (room - 1) as f64).round() as usize;
        let start = middle.saturating_sub(columns(&tick.label) / 2);
        let start = start.min(most.saturating_sub(columns(&tick.label)));
        let end = start + columns(&tick.label);
        if start < free || end > line.len() {
            continue;
        }
        for (at, c) in tick.label.chars().enumerate() {
            line[start + at] = c;
        }
        free = end + 2;
    }
    line.into_iter().collect::<String>().trim_end().to_owned()
}

/// Curves as a scatter on the axes of the chart.
fn scatter(panel: &Panel, screen: Screen) -> String {
    const HEIGHT: usize = 14;
    let left = panel.y.ticks.iter().map(|t| columns(&t.label)).max().unwrap_or(0);
    let room = screen.width.saturating_sub(left + 4).clamp(16, 100);
    let mut plot = vec![vec![' '; room]; HEIGHT];
    let down = |y: f64| {
        HEIGHT - 1 - ((panel.y.position(y) * (HEIGHT - 1) as f64).round() as usize).min(HEIGHT - 1)
    };
    let across =
        |x: f64| ((panel.x.position(x) * (room - 1) as f64).round() as usize).min(room - 1);
    // Curves lie behind the points, and single rounds behind what they add up to.
    for layer in &panel.layers {
        let Layer::Curve { points, .. } = layer else { continue };
        let sign = if screen.ascii { '-' } else { '╌' };
        for point in points.iter().filter(|p| (panel.y.low..=panel.y.high).contains(&p.y)) {
            put(&mut plot[down(point.y)][across(point.x)], sign, false);
        }
    }
    for layer in &panel.layers {
        let Layer::Series(series) = layer else { continue };
        let key = series.key.unwrap_or(0);
        for point in &series.points {
            let faint = matches!(point.mark, Mark::Faint | Mark::FaintHollow);
            let hollow = matches!(point.mark, Mark::Hollow | Mark::FaintHollow);
            let sign = match (faint && !series.joined, screen.ascii) {
                (true, true) => '.',
                (true, false) => '·',
                _ => mark(key, hollow, screen),
            };
            match &point.mark {
                Mark::Missing if point.x.is_finite() => {
                    plot[HEIGHT - 1][across(point.x)] = if screen.ascii { 'x' } else { '×' };
                }
                Mark::Missing => {}
                _ if series.across => {
                    for cell in plot[down(point.y)].iter_mut().step_by(2) {
                        put(cell, if screen.ascii { '-' } else { '╌' }, false);
                    }
                    plot[down(point.y)][0] = sign;
                    plot[down(point.y)][room - 1] = sign;
                }
                Mark::Flagged(_) => {
                    plot[down(point.y)][across(point.x)] = if screen.ascii { 'O' } else { '◎' };
                }
                _ => put(&mut plot[down(point.y)][across(point.x)], sign, screen.ascii),
            }
        }
    }
    let mut out = match panel.y.label.as_str() {
        "" => String::new(),
        name => wrapped(name, screen.width),
    };
    let mut labels = vec![String::new(); HEIGHT];
    for tick in &panel.y.ticks {
        labels[down(tick.at)].clone_from(&tick.label);
    }
    let wall = if screen.ascii { '|' } else { '│' };
    for (label, line) in labels.iter().zip(plot) {
        let line: String = line.into_iter().collect();
        out += &format!("{} {wall}{}\n", pad(label, left), line.trim_end());
    }
    let corner = if screen.ascii { '+' } else { '└' };
    let floor = if screen.ascii { "-" } else { "─" };
    out += &format!("{} {corner}{}\n", pad("", left), floor.repeat(room));
    out += &format!("{}  {}\n", pad("", left), ruler(&panel.x, room, room + 2));
    if !panel.x.label.is_empty() {
        out += &under(&panel.x.label, left + 2, room, screen);
    }
    out
}

/// Puts a sign where there is room: what says less gives way, and two series become one sign for
/// several.
fn put(cell: &mut char, sign: char, ascii: bool) {
    const LINES: [char; 2] = ['╌', '-'];
    const DOTS: [char; 2] = ['·', '.'];
    let rank = |c: char| match c {
        ' ' => 0,
        c if LINES.contains(&c) => 1,
        c if DOTS.contains(&c) => 2,
        _ => 3,
    };
    match (rank(sign), rank(*cell)) {
        (new, old) if new > old => *cell = sign,
        (3, 3) if *cell != sign => *cell = if ascii { '@' } else { '◉' },
        _ => {}
    }
}

/// A bar of `share` of `width` columns with eighths: for tables.
pub fn bar(share: f64, width: usize, ascii: bool) -> String {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    let eighths = (share * width as f64 * 8.0).round() as usize;
    match ascii {
        true => "#".repeat((eighths + 4) / 8),
        false => "█".repeat(eighths / 8) + EIGHTHS[eighths % 8],
    }
}

#[cfg(test)]
#[path = "terminal_tests.rs"]
mod tests;
