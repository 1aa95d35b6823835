//! The chart of costs by file size: what is told, what is drawn, and odd runs.

use super::{MOST_SAMPLES, chart};
use crate::chart::{NARROW, Style, WIDE, draw};
use crate::drawing::cells::Index;
use crate::drawing::model::{Chart, Layer, MOST_PANELS, Mark};
use iolab_model::catalog::{Factor, Level};
use iolab_model::result::{CellRecord, Document};
use iolab_test::scenes::{costs, costs_of};

const SIZES: [u64; 4] = [0, 65_536, 1 << 20, 16 << 20];

fn of(run: &Document) -> Chart {
    chart(&Index::new(std::slice::from_ref(run))).unwrap()
}

#[test]
fn what_grows_is_told_with_its_slope_and_what_does_not_is_not_called_flat() {
    let title = of(&costs()).title;
    assert!(title.starts_with("chmod grows with the file size most in overlay:on=ext4"), "{title}");
    assert!(
        title.contains(" µs a MiB (") && title.ends_with("the others show no growth"),
        "{title}"
    );
    let noisy = of(&costs_of(&SIZES, 30, |_, _, _| 850.0)).title;
    assert!(noisy.starts_with("No growth of chmod with the file size is shown"), "{noisy}");
    let mut steady = costs_of(&SIZES, 30, |_, _, _| 850.0);
    for sample in steady.cells.iter_mut().flat_map(|c| &mut c.samples) {
        sample.measurement.wall_ns = 17_000 + u64::from(sample.round % 3);
    }
    let flat = of(&steady).title;
    assert!(flat.starts_with("chmod does not depend on the file size"), "{flat}");
}

#[test]
fn a_title_about_several_calls_is_a_sentence() {
    use crate::metadata_table::Growth;
    let of = |growth| super::sentence(growth, "a call");
    assert_eq!(of(Growth::Grows), "A call takes longer with the file size");
    assert_eq!(of(Growth::None), "A call does not depend on the file size");
    assert!(of(Growth::NotShown).starts_with("No growth of a call"));
    assert_eq!(super::sentence(Growth::Grows, "chmod"), "chmod grows with the file size");
}

#[test]
fn the_first_touch_is_filled_and_later_ones_are_hollow() {
    let chart = of(&costs());
    let marks = |key: usize| {
        let series = chart.panels.iter().flat_map(|p| &p.layers).filter_map(move |l| match l {
            Layer::Series(s) if s.key == Some(key) => Some(s),
            _ => None,
        });
        series.flat_map(|s| s.points.iter().map(|p| p.mark.clone())).collect::<Vec<_>>()
    };
    assert!(marks(0).iter().all(|m| matches!(m, Mark::Filled | Mark::Faint)));
    let later = |m: &Mark| matches!(m, Mark::Hollow | Mark::FaintHollow | Mark::Missing);
    assert!(marks(1).iter().all(later));
    assert_eq!(marks(1).iter().filter(|m| **m == Mark::Missing).count(), 1);
    // Two places, the spread of each below it.
    assert_eq!((chart.panels.len(), chart.rows.as_slice()), (4, [2, 2].as_slice()));
    let curves = chart.panels[0].layers.iter().filter(|l| matches!(l, Layer::Curve { .. }));
    assert_eq!(curves.count(), 2);
}

/// Of two calls on two overlays the panels were chmod and chown of the one, and then of the other.
#[test]
fn the_sides_of_one_call_stand_beside_each_other() {
    let mut run = costs();
    let chown = |cell: &CellRecord| {
        let mut cell = cell.clone();
        cell.id = cell.id.replace("chmod", "chown");
        cell.factors.set(Factor::Operation, Level::word("chown"));
        cell
    };
    let more: Vec<CellRecord> = run.cells.iter().map(chown).collect();
    run.cells.extend(more);
    let chart = of(&run);
    let titles: Vec<&str> = chart.panels.iter().map(|p| p.title.as_str()).collect();
    assert!(chart.panels.len() <= MOST_PANELS, "{titles:?}");
    let (first, second) = (titles[0], titles[1]);
    assert!(first.contains("chmod") && second.contains("chmod"), "{titles:?}");
    assert!(!first.contains("metacopy") && second.contains("metacopy"), "{titles:?}");
}

#[test]
fn the_drawn_line_goes_through_the_cells_it_is_fitted_to() {
    let chart = of(&costs());
    let Some(Layer::Curve { points, .. }) = chart.panels[0].layers.first() else {
        panic!("no line")
    };
    let (first, last) = (points[0], points[points.len() - 1]);
    assert!((first.y / 944e3 - 1.0).abs() < 0.2, "{first:?}");
    assert!((last.y / 6.5e6 - 1.0).abs() < 0.2, "{last:?}");
    assert!(points.iter().all(|p| p.low.unwrap() <= p.y && p.y <= p.high.unwrap()));
}

#[test]
fn odd_runs_still_make_a_picture() {
    let huge = |_: &str, _: &str, size: u64| if size == 0 { 1.0 } else { 1e15 };
    let many: Vec<u64> = (0..200).map(|n| 4096 * (n + 1)).collect();
    for (name, run) in [
        ("one round", costs_of(&SIZES, 1, |_, _, _| 900.0)),
        ("two sizes", costs_of(&SIZES[2..], 20, |_, _, _| 900.0)),
        ("zero", costs_of(&SIZES, 8, |_, _, _| 0.0)),
        ("huge", costs_of(&SIZES, 8, huge)),
        ("many cells", costs_of(&many, 1, |_, _, _| 900.0)),
    ] {
        let chart = of(&run);
        assert!(chart.panels.len() <= MOST_PANELS, "{name}");
        assert!(chart.marks() <= 2 * many.len() * 4 + 4 * MOST_SAMPLES, "{name}");
        for width in [WIDE, NARROW] {
            let svg = draw(&chart, "c", width, Style::Page);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}");
        }
    }
    let two = of(&costs_of(&SIZES[2..], 20, |_, _, _| 900.0));
    assert_eq!(two.title, "The cost of chmod on files of 1 MiB and 16 MiB");
    assert!(two.notes.iter().any(|n| n.contains("it takes three sizes")), "{:?}", two.notes);
    let thin = of(&costs_of(&SIZES, 1, |_, _, _| 900.0)).title;
    assert!(thin.starts_with("Too few rounds to say"), "{thin}");
}
