//! What both marks and legends draw: a marker, a cross, the class of a style.

use iolab_model::catalog::xml_text;
use std::fmt::Write as _;

use super::text::px;
use crate::drawing::model::{Chart, Tint};

/// The class of a style.
pub fn class(ink: Tint) -> String {
    match ink {
        Tint::Series(at) => format!("k{at}"),
        Tint::Plain => "ki".to_owned(),
        Tint::Muted => "km".to_owned(),
    }
}

/// The style of one key, plain where there is none.
pub fn ink_of(chart: &Chart, key: Option<usize>, other: Tint) -> Tint {
    key.and_then(|at| chart.keys.get(at)).map_or(other, |k| k.ink)
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

/// The words a pointer is told, as a child element.
pub fn title(tip: &str) -> String {
    match tip {
        "" => String::new(),
        tip => format!("<title>{}</title>", xml_text(tip)),
    }
}

/// The marker of a style, centred; its shape tells series apart without colour.
pub fn marker(out: &mut String, ink: Tint, x: f64, y: f64, r: f64, class: &str, tip: &str) {
    let shape = match ink {
        Tint::Series(at) => at,
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
