//! Letters as outlines: each `<text>` of a drawing becomes the path of its glyphs, so that who draws
//! it needs no typeface. One glyph a character, left to right, without kerning or ligatures.

use std::fmt::Write as _;

use roxmltree::{Document, Node};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// The drawing without texts: paths of letters have the classes of their text, and this ink where no
/// class says another.
///
/// # Errors
/// In words, where it is no XML or the typeface cannot be read.
pub fn outlined(svg: &str, typeface: &[u8], ink: &str) -> Result<String, String> {
    let face = Face::parse(typeface, 0).map_err(|error| error.to_string())?;
    let document = Document::parse(svg).map_err(|error| error.to_string())?;
    let mut drawing = String::with_capacity(2 * svg.len());
    let mut copied = 0;
    for text in document.descendants().filter(|node| node.has_tag_name(tag("text"))) {
        let range = text.range();
        drawing.push_str(&svg[copied..range.start]);
        let class = text.attribute("class").unwrap_or_default();
        let path = path(&text, &face);
        let _ = write!(drawing, "<path class=\"{class}\" fill=\"{ink}\" d=\"{path}\"/>");
        copied = range.end;
    }
    drawing.push_str(&svg[copied..]);
    Ok(drawing)
}

fn tag(name: &'static str) -> (&'static str, &'static str) {
    ("http://www.w3.org/2000/svg", name)
}

/// The outlines of one line of text.
fn path(text: &Node<'_, '_>, face: &Face<'_>) -> String {
    let number = |name: &str| -> f32 {
        text.attribute(name).and_then(|value| value.parse().ok()).unwrap_or_default()
    };
    let scale = number("font-size") / f32::from(face.units_per_em());
    // What the typeface does not have is its first glyph, a box.
    let glyphs: Vec<GlyphId> = text
        .text()
        .unwrap_or_default()
        .chars()
        .map(|letter| face.glyph_index(letter).unwrap_or(GlyphId(0)))
        .collect();
    let advance =
        |glyph: &GlyphId| f32::from(face.glyph_hor_advance(*glyph).unwrap_or_default()) * scale;
    let width: f32 = glyphs.iter().map(advance).sum();
    let shift = match text.attribute("text-anchor") {
        Some("middle") => width / 2.0,
        Some("end") => width,
        _ => 0.0,
    };
    let mut pen = Pen { path: String::new(), x: number("x") - shift, baseline: number("y"), scale };
    for glyph in &glyphs {
        face.outline_glyph(*glyph, &mut pen);
        pen.x += advance(glyph);
    }
    pen.path
}

/// Writes the outline of a glyph where it stands.
struct Pen {
    path: String,
    /// Left edge of the glyph, pixels.
    x: f32,
    /// Pixels.
    baseline: f32,
    /// Pixels per unit of the typeface.
    scale: f32,
}

impl Pen {
    /// Coordinates of a typeface grow upwards.
    fn step(&mut self, command: char, points: &[(f32, f32)]) {
        self.path.push(command);
        for (x, y) in points {
            let (x, y) = (self.x + x * self.scale, self.baseline - y * self.scale);
            let _ = write!(self.path, "{x:.2} {y:.2} ");
        }
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.step('M', &[(x, y)]);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.step('L', &[(x, y)]);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.step('Q', &[(x1, y1), (x, y)]);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.step('C', &[(x1, y1), (x2, y2), (x, y)]);
    }

    fn close(&mut self) {
        self.path.push('Z');
    }
}

#[cfg(test)]
mod tests {
    use super::outlined;

    fn drawn(text: &str) -> Result<String, String> {
        let svg = format!("<svg xmlns=\"http://www.w3.org/2000/svg\">{text}<rect/></svg>");
        outlined(&svg, dejavu::sans_condensed::regular(), "#123")
    }

    /// Where the path of the letters begins and how far it reaches, pixels.
    fn extent(svg: &str) -> (f32, f32) {
        let at = svg.find(" d=\"").unwrap() + 4;
        let path = &svg[at..at + svg[at..].find('"').unwrap()];
        let numbers: Vec<f32> = path
            .split(|c: char| c.is_ascii_alphabetic() || c == ' ')
            .filter_map(|number| number.parse().ok())
            .collect();
        let x = || numbers.iter().step_by(2).copied();
        (x().fold(f32::INFINITY, f32::min), x().fold(f32::NEG_INFINITY, f32::max))
    }

    #[test]
    fn letters_stand_where_the_text_stood() {
        let text = |anchor: &str| {
            drawn(&format!(
                "<text class=\"mu\" x=\"100\" y=\"50\" font-size=\"12\"{anchor}>Hxl&amp;</text>"
            ))
            .unwrap()
        };
        let start = text("");
        assert!(
            start.contains("<path class=\"mu\" fill=\"#123\" d=\"M")
                && start.ends_with("/><rect/></svg>")
        );
        let (left, right) = extent(&start);
        let begins = (100.0..103.0).contains(&left);
        assert!(begins && (120.0..130.0).contains(&right), "{left} {right}");
        let (left, right) = extent(&text(" text-anchor=\"end\""));
        assert!(left > 70.0 && right > 97.0 && right <= 100.5, "{left} {right}");
        let (left, right) = extent(&text(" text-anchor=\"middle\""));
        assert!((left + right - 200.0).abs() < 3.0, "{left} {right}");
    }

    #[test]
    fn a_letter_that_the_typeface_lacks_is_a_box_and_an_empty_text_is_nothing() {
        assert!(
            drawn("<text x=\"1\" y=\"9\" font-size=\"9\">\u{4e00}</text>")
                .unwrap()
                .contains("d=\"M")
        );
        assert!(drawn("<text x=\"1\" y=\"9\" font-size=\"9\"></text>").unwrap().contains("d=\"\""));
        assert!(drawn("<text>").is_err());
    }
}
