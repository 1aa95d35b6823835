//! One model for every picture. Builders fill it, back-ends (SVG, terminal) draw it; neither
//! knows the other. Values are in data units (bytes, nanoseconds, ratios); only a back-end knows
//! pixels and characters.

use super::scale::Axis;

/// Most series in one panel; more become small multiples.
pub const MOST_SERIES: usize = 6;
/// Most panels in one chart; the rest is named in a note and stands in the table.
pub const MOST_PANELS: usize = 6;

/// One picture with its data table.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// File name without its ending, unique in a report: `time-by-block`.
    pub slug: String,
    /// The finding, as a sentence without full stop.
    pub title: String,
    /// What was measured, n, the interval, the cache state.
    pub subtitle: String,
    /// Small multiples; one where there is nothing to split.
    pub panels: Vec<Panel>,
    /// Panels of each row on a wide page, where rows belong together; empty: as many as fit.
    pub rows: Vec<usize>,
    /// What the colours, markers and dashes mean, shared by the panels.
    pub keys: Vec<Key>,
    /// What is not drawn and why, and what else is worth knowing.
    pub notes: Vec<String>,
    /// How to read marks that are not plain; for pictures only.
    pub guide: Vec<String>,
    /// The same data as figures.
    pub table: Table,
}

/// One entry of the legend. Its index in [`Chart::keys`] is what layers refer to.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// The name of the series.
    pub name: String,
    /// Colour, marker and dash.
    pub ink: Tint,
}

/// How a series looks: a colour of the palette that also has its own marker and dash, so that it
/// can be told apart without colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tint {
    /// One of [`MOST_SERIES`] series styles, from 0.
    Series(u8),
    /// The colour of text, for what belongs to no series.
    Plain,
    /// A quiet grey.
    Muted,
}

impl Tint {
    /// The style of the n-th series.
    pub fn nth(at: usize) -> Tint {
        Tint::Series((at % MOST_SERIES) as u8)
    }
}

/// One coordinate system.
#[derive(Clone, Debug)]
pub struct Panel {
    /// What sets it apart from the other panels; empty for a single one.
    pub title: String,
    /// Horizontal.
    pub x: Axis,
    /// Vertical; a category axis runs from the top.
    pub y: Axis,
    /// Drawn in this order.
    pub layers: Vec<Layer>,
}

/// Which way something runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Along x.
    X,
    /// Along y.
    Y,
}

/// Something drawn in a panel.
#[derive(Clone, Debug)]
pub enum Layer {
    /// A region from edge to edge: a plateau, warm-up rounds, rows of a tie set.
    Shade {
        /// The axis that `from` and `to` are on.
        axis: Direction,
        /// Start, data units.
        from: f64,
        /// End, data units.
        to: f64,
        /// A few words; may be empty.
        label: String,
    },
    /// A reference line: page size, number of cores, 1×.
    Rule {
        /// The axis that `at` is on.
        axis: Direction,
        /// Data units.
        at: f64,
        /// A few words; may be empty.
        label: String,
    },
    /// Points, joined or not.
    Series(Series),
    /// Stacked horizontal bars, one a row of a category y axis.
    Bars(Vec<Bar>),
    /// Cells of a heat map on two category axes.
    Heat(Heat),
    /// Rows of a category y axis that belong together.
    Bracket {
        /// First row.
        from: usize,
        /// Last row.
        to: usize,
        /// A few words.
        label: String,
    },
    /// A dashed reference curve with an optional band: the ideal.
    Curve {
        /// Where its colour comes from; none: muted.
        key: Option<usize>,
        /// x, y, and the band's ends.
        points: Vec<CurvePoint>,
    },
}

/// A vertex of a reference curve.
#[derive(Clone, Copy, Debug)]
pub struct CurvePoint {
    /// Data units.
    pub x: f64,
    /// Data units.
    pub y: f64,
    /// Lower end of its band.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

/// Points of one series.
#[derive(Clone, Debug)]
pub struct Series {
    /// Index into [`Chart::keys`]; none: it is in no legend and drawn in `ink`.
    pub key: Option<usize>,
    /// The look where there is no key.
    pub ink: Tint,
    /// Whether neighbours are joined; never across a missing point.
    pub joined: bool,
    /// Intervals as a band between neighbours rather than as bars at each point.
    pub band: bool,
    /// The axis that intervals are on.
    pub interval: Direction,
    /// The axis does not apply (mmap has no block): one point, drawn from edge to edge.
    pub across: bool,
    /// In the order of the axis.
    pub points: Vec<Point>,
}

impl Series {
    /// A line of a key without a band.
    pub fn curve(key: usize, points: Vec<Point>) -> Series {
        Series { band: false, ..Series::line(key, points) }
    }

    /// Marks that no line joins, each with its interval along the axis of values.
    pub fn marks(points: Vec<Point>) -> Series {
        Series {
            key: None,
            ink: Tint::Series(0),
            joined: false,
            interval: Direction::X,
            ..Series::curve(0, points)
        }
    }

    /// A line of a key, with a band for its intervals.
    pub fn line(key: usize, points: Vec<Point>) -> Series {
        Series {
            key: Some(key),
            ink: Tint::nth(key),
            joined: true,
            band: true,
            interval: Direction::Y,
            across: false,
            points,
        }
    }
}

/// One measured, or missing, value.
#[derive(Clone, Debug)]
pub struct Point {
    /// Data units; for a category axis the index.
    pub x: f64,
    /// Data units.
    pub y: f64,
    /// Lower end of the interval, on the series' interval axis.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// How it is drawn.
    pub mark: Mark,
    /// What a pointer or a screen reader is told.
    pub tip: String,
}

impl Point {
    /// A place where a value should be: one of the two coordinates is no number, and `why` is told.
    pub fn missing(x: f64, y: f64, why: String) -> Point {
        Point { x, y, low: None, high: None, mark: Mark::Missing, tip: why }
    }
}

/// How a point is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A plain measured value.
    Filled,
    /// Measured in part: eliminated, warm-up, one first touch.
    Hollow,
    /// One of very many.
    Faint,
    /// One of very many, of a series that is drawn hollow.
    FaintHollow,
    /// The one to look at, with a ring and these words.
    Flagged(String),
    /// No value: a grey × at the edge, the value on the interval axis is not known.
    Missing,
}

/// One stacked bar with its outline.
#[derive(Clone, Debug)]
pub struct Bar {
    /// Row of the category axis.
    pub row: usize,
    /// Key and length of each part, from the left.
    pub parts: Vec<(usize, f64)>,
    /// What the outline (one thread) or tick (several) shows: the wall time.
    pub total: f64,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Why there is no bar.
    pub missing: bool,
    /// What a pointer or a screen reader is told.
    pub tip: String,
}

/// A heat map of ratios.
#[derive(Clone, Debug)]
pub struct Heat {
    /// What the blue end means: `read faster`.
    pub low_name: String,
    /// What the orange end means: `mmap faster`.
    pub high_name: String,
    /// |log2 ratio| at which the colour is full.
    pub limit: f64,
    /// Cells.
    pub cells: Vec<HeatCell>,
}

impl Heat {
    /// Whether it shows what was seen, and no verdict.
    pub fn claims_nothing(&self) -> bool {
        self.cells.iter().all(|cell| cell.state == HeatState::Seen)
    }
}

/// One cell of a heat map.
#[derive(Clone, Debug)]
pub struct HeatCell {
    /// Column of the category x axis.
    pub column: usize,
    /// Row of the category y axis.
    pub row: usize,
    /// log2 of the ratio, colour: negative blue, positive orange; meaningless where missing.
    pub value: f64,
    /// What is written in it.
    pub text: String,
    /// What is known about it.
    pub state: HeatState,
    /// What a pointer or a screen reader is told.
    pub tip: String,
}

/// What is known about a cell of a heat map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeatState {
    /// Proven different.
    Proven,
    /// Proven equivalent: hatched.
    Tie,
    /// Not shown either way: dotted.
    Undecided,
    /// What was seen, with nothing claimed of it.
    Seen,
    /// No value: a grey ×.
    Missing,
}

/// The figures behind a chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Column names with units.
    pub columns: Vec<String>,
    /// Rows; each as long as `columns`.
    pub rows: Vec<Vec<Datum>>,
}

/// One field of a table: what people read and what programs and sorting use.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Datum {
    /// For people.
    pub text: String,
    /// For sorting and for CSV; absent for words.
    pub value: Option<f64>,
}

impl Datum {
    /// Words.
    pub fn text(text: impl Into<String>) -> Datum {
        Datum { text: text.into(), value: None }
    }

    /// A number and how it is shown; a value that is not finite is left empty.
    pub fn number(value: f64, text: impl Into<String>) -> Datum {
        match value.is_finite() {
            true => Datum { text: text.into(), value: Some(value) },
            false => Datum::default(),
        }
    }
}

impl Chart {
    /// Every mark that carries data, over all panels: what a test counts.
    pub fn marks(&self) -> usize {
        let count = |layer: &Layer| match layer {
            Layer::Series(series) => series.points.len(),
            Layer::Bars(bars) => bars.len(),
            Layer::Heat(heat) => heat.cells.len(),
            _ => 0,
        };
        self.panels.iter().flat_map(|p| &p.layers).map(count).sum()
    }
}
