//! PNG from the SVG, with a typeface of our own (DejaVu Sans Condensed, a free licence), so that a
//! picture looks the same on a machine without fonts.

use resvg::{tiny_skia, usvg};

use super::model::Chart;
use super::outlines::outlined;
use super::svg::{Style, Theme, WIDE, draw};

/// Pixels of the file per pixel of the drawing: sharp on dense screens and on paper.
const ZOOM: f32 = 2.0;

/// Why a picture could not be made.
#[derive(Debug, thiserror::Error)]
#[error("drawing {slug} as PNG: {cause}")]
pub struct PngError {
    /// The chart.
    pub slug: String,
    /// What went wrong.
    pub cause: String,
}

/// Renders a chart, light or dark.
///
/// # Errors
/// Where the drawing cannot be read back or is too large for memory.
pub fn render(chart: &Chart, theme: Theme, width: f64) -> Result<Vec<u8>, PngError> {
    let fault = |cause: String| PngError { slug: chart.slug.clone(), cause };
    let svg = draw(chart, "c", width, Style::Fixed(theme));
    // Titles are in it too: another face would be a twentieth of the whole program.
    let svg = outlined(&svg, dejavu::sans_condensed::regular(), &theme.ink()).map_err(fault)?;
    let tree = usvg::Tree::from_str(&svg, &usvg::Options::default());
    let tree = tree.map_err(|e| fault(e.to_string()))?;
    let size = tree.size();
    let (w, h) = ((size.width() * ZOOM).ceil() as u32, (size.height() * ZOOM).ceil() as u32);
    let mut pixels =
        tiny_skia::Pixmap::new(w, h).ok_or_else(|| fault(format!("{w} × {h} pixels")))?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(ZOOM, ZOOM), &mut pixels.as_mut());
    pixels.encode_png().map_err(|e| fault(e.to_string()))
}

/// A chart at its usual width, light.
///
/// # Errors
/// As [`render`].
pub fn png(chart: &Chart) -> Result<Vec<u8>, PngError> {
    render(chart, Theme::Light, WIDE)
}
