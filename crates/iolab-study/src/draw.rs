//! A plot as a picture: both axes logarithmic, as the studies drew theirs.

use super::evidence::Evidence;
use super::plot::{Line, Plot, levels_of};
use super::quantity::digits;
use iolab_model::catalog::{Kind, xml_text};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 190.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;
/// What a label below the axis takes.
const LABEL: f64 = 56.0;
/// Colours that are told apart without red and green, with a shape each for those who print.
const COLOURS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];

/// The plot as SVG; none where nothing of it was measured.
pub fn svg(plot: &Plot, evidence: &Evidence<'_>) -> Option<String> {
    let lines = plot.lines(evidence);
    let scale = Scale::of(&lines)?;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" \
         fill=\"white\"/>\n<text x=\"{LEFT}\" y=\"22\" font-size=\"15\">{}</text>\n",
        xml_text(&plot.title)
    );
    text.push_str(&axes(plot, &lines, &scale));
    // Between two file systems there is nothing.
    let joined = !plot.scatter && matches!(plot.along.kind(), Kind::Bytes | Kind::Count);
    for (at, line) in lines.iter().enumerate() {
        text.push_str(&drawn(line, at, &scale, joined));
    }
    text.push_str("</svg>\n");
    Some(text)
}

/// Figures → places on the picture.
struct Scale {
    x: (f64, f64),
    y: (f64, f64),
}

impl Scale {
    fn of(lines: &[Line]) -> Option<Scale> {
        let points = || lines.iter().flat_map(|line| &line.points);
        let xs = points().map(|(_, x, _)| x.max(1.0).ln());
        let trials = lines.iter().flat_map(|line| line.trials.iter().map(|(_, y)| *y));
        let ys = points().map(|(.., here)| here.value).chain(trials);
        let (low, high) = ends(ys.filter(|y| *y > 0.0).map(f64::ln))?;
        let air = 0.04 * (high - low);
        Some(Scale { x: ends(xs)?, y: (low - air, high + air) })
    }

    fn x(&self, level: f64) -> f64 {
        let (from, to) = self.x;
        LEFT + (level.max(1.0).ln() - from) / (to - from) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        let (from, to) = self.y;
        HEIGHT - BOTTOM - (value.ln() - from) / (to - from) * (HEIGHT - TOP - BOTTOM)
    }
}

/// Smallest and largest, never the same.
fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    match low.is_finite() && high.is_finite() {
        true if low < high => Some((low, high)),
        true => Some((low - 0.5, high + 0.5)),
        false => None,
    }
}

fn axes(plot: &Plot, lines: &[Line], scale: &Scale) -> String {
    let bottom = HEIGHT - BOTTOM;
    let mut text = format!(
        "<path d=\"M{LEFT} {TOP}V{bottom}H{}\" fill=\"none\" stroke=\"#444\"/>\n",
        WIDTH - RIGHT
    );
    // Labels that would stand on each other are left out, the ends never.
    let mut free = f64::NEG_INFINITY;
    for (name, level) in levels_of(lines) {
        let x = scale.x(level);
        text.push_str(&format!("<path d=\"M{x:.1} {bottom}v5\" stroke=\"#444\"/>\n"));
        if x - free > LABEL {
            text.push_str(&label(x, bottom + 19.0, "middle", &name));
            free = x;
        }
    }
    for value in marks(scale.y) {
        let y = scale.y(value);
        if (TOP - 1.0..=bottom + 1.0).contains(&y) {
            text.push_str(&format!(
                "<path d=\"M{LEFT} {y:.1}H{}\" stroke=\"#ddd\"/>\n",
                WIDTH - RIGHT
            ));
            text.push_str(&label(LEFT - 6.0, y + 4.0, "end", &power(value)));
        }
    }
    let middle = LEFT + (WIDTH - LEFT - RIGHT) / 2.0;
    text.push_str(&label(middle, HEIGHT - 10.0, "middle", plot.along.name()));
    let unit = plot.quantities.first().map_or("", |quantity| quantity.unit());
    text.push_str(&label(LEFT - 6.0, TOP - 8.0, "end", unit));
    text
}

/// Powers of ten; where fewer than three of them lie in between, twice and five times each too.
fn marks((low, high): (f64, f64)) -> Vec<f64> {
    let decades = (low / 10f64.ln()).floor() as i32..=(high / 10f64.ln()).ceil() as i32;
    let inside = |value: &f64| (low..=high).contains(&value.ln());
    let tens: Vec<f64> = decades.map(|decade| 10f64.powi(decade)).collect();
    match tens.iter().filter(|value| inside(value)).count() {
        0..3 => tens.iter().flat_map(|ten| [*ten, 2.0 * ten, 5.0 * ten]).collect(),
        _ => tens,
    }
}

fn power(value: f64) -> String {
    match (0.001..1000.0).contains(&value) {
        true => format!("{value}"),
        false if value >= 1000.0 => format!("{value:.0}"),
        false => digits(value),
    }
}

fn drawn(line: &Line, at: usize, scale: &Scale, joined: bool) -> String {
    let colour = COLOURS[at % COLOURS.len()];
    let dash = if at >= COLOURS.len() { " stroke-dasharray=\"5 3\"" } else { "" };
    let places: Vec<(f64, f64)> = line
        .points
        .iter()
        .filter(|(.., here)| here.value > 0.0)
        .map(|(_, x, here)| (scale.x(*x), scale.y(here.value)))
        .collect();
    let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let mut text = match joined {
        false => String::new(),
        true => format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"{dash}/>\n",
            path.join(" ")
        ),
    };
    for (x, y) in line.trials.iter().filter(|(_, y)| *y > 0.0) {
        let (x, y) = (scale.x(*x), scale.y(*y));
        text.push_str(&format!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"1.5\" fill=\"{colour}\" fill-opacity=\"0.4\"/>\n"
        ));
    }
    for (x, y) in &places {
        text.push_str(&format!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>\n"
        ));
    }
    let y = TOP + 8.0 + 18.0 * at as f64;
    let x = WIDTH - RIGHT + 12.0;
    text.push_str(&format!(
        "<path d=\"M{x} {y}h18\" stroke=\"{colour}\" stroke-width=\"3\"{dash}/>\n"
    ));
    text.push_str(&label(x + 24.0, y + 4.0, "start", &line.name));
    text
}

fn label(x: f64, y: f64, anchor: &str, text: &str) -> String {
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>\n", xml_text(text))
}
