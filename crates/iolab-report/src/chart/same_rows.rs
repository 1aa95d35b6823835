//! Pictures and rows have one source: what is drawn of a cell is what `--export cells` writes of it,
//! and what a title says is what the ring stands at.

use std::slice;

use super::{Chart, charts_for};
use crate::drawing::model::{Direction, Layer, MOST_PANELS, Mark, Panel, Point, Series};
use crate::{TextStyle, write};
use iolab_model::result::Document;
use iolab_test::scenes;

/// Charts whose large marks are cells; others draw single trials, shares of a cell or several runs.
fn is_of_cells(chart: &Chart) -> bool {
    let of_cells = [
        "time-by-block",
        "cold-and-warm",
        "system-calls",
        "cost-by-file-size",
        "ranking",
        "files",
        "throughput-by-threads",
        "throughput-by-ranks",
    ];
    of_cells.contains(&chart.slug.as_str()) || chart.slug.starts_with("by-")
}

/// Middle and ends of every figure of the rows, and the ends alone of each regret.
fn figures(document: &Document) -> Vec<(Option<f64>, f64, f64)> {
    let mut out = Vec::new();
    write("cells", document, &TextStyle::default(), &mut out).unwrap();
    let mut read = csv::Reader::from_reader(out.as_slice());
    let titles = read.headers().unwrap().clone();
    let mut found = Vec::new();
    for row in read.records().map(Result::unwrap) {
        let at = |name: &str| -> Option<f64> {
            row[titles.iter().position(|title| title == name).unwrap()].parse().ok()
        };
        for of in [
            "wall_ns",
            "ns_per_operation",
            "bytes_per_second",
            "files_per_second",
            "processor_ns_per_file",
        ] {
            let ends = at(&format!("{of}_low")).zip(at(&format!("{of}_high")));
            found.extend(ends.map(|(low, high)| (at(of), low, high)));
        }
        found.extend(at("regret_low").zip(at("regret_high")).map(|(l, h)| (None, l, h)));
    }
    found
}

fn series(chart: &Chart) -> impl Iterator<Item = &Series> {
    // The efficiency of threads is made of two rows.
    let own = |panel: &&Panel| panel.y.label != "efficiency";
    chart.panels.iter().filter(own).flat_map(|panel| &panel.layers).filter_map(
        |layer| match layer {
            Layer::Series(series) => Some(series),
            _ => None,
        },
    )
}

fn middle(series: &Series, point: &Point) -> f64 {
    match series.interval {
        Direction::X => point.x,
        Direction::Y => point.y,
    }
}

#[test]
fn what_is_drawn_of_a_cell_stands_in_its_row() {
    let mut seen = std::collections::BTreeMap::new();
    for (name, document) in scenes::all() {
        let rows = figures(&document);
        for chart in charts_for(slice::from_ref(&document)).iter().filter(|c| is_of_cells(c)) {
            for series in series(chart) {
                let whole = series.points.iter().filter_map(|p| Some((p, p.low?, p.high?)));
                for (point, low, high) in whole {
                    let at = middle(series, point);
                    let same = |(median, l, h): &(Option<f64>, f64, f64)| {
                        (*l, *h) == (low, high) && median.is_none_or(|median| median == at)
                    };
                    let slug = &chart.slug;
                    assert!(rows.iter().any(same), "{name}, {slug}: {at} ({low} to {high})");
                    *seen.entry(slug.clone()).or_insert(0) += 1;
                }
            }
        }
    }
    assert!(seen.len() >= 7 && seen.values().sum::<u32>() > 100, "{seen:?}");
}

#[test]
fn the_ring_stands_at_what_the_title_says() {
    let mut rings = 0;
    for (name, document) in scenes::all() {
        for chart in charts_for(slice::from_ref(&document)) {
            let marks = || series(&chart).flat_map(|s| &s.points);
            let flags: Vec<&str> = marks()
                .filter_map(|point| match &point.mark {
                    Mark::Flagged(label) if !label.is_empty() => Some(label.as_str()),
                    _ => None,
                })
                .collect();
            let told = |label: &&str| chart.title.contains(*label);
            // A range names its ends alone.
            let range = chart.title.starts_with("The smallest good block differs");
            let agrees = if range { flags.iter().any(told) } else { flags.iter().all(told) };
            assert!(flags.is_empty() || agrees, "{name}: {} but {flags:?}", chart.title);
            rings += flags.len();
        }
    }
    assert!(rings >= 5, "{rings}");
}

/// A chart of twenty conditions was wider than any page.
#[test]
fn no_chart_has_more_panels_than_a_page_holds() {
    let generated = |seed| Some((format!("generated {seed}"), iolab_test::generated::run(seed)?));
    let runs = (0..60).filter_map(generated);
    let scenes = scenes::all().into_iter().map(|(name, run)| (name.to_owned(), run));
    let mut most = 0;
    for (name, document) in scenes.chain(runs) {
        for chart in charts_for(slice::from_ref(&document)) {
            most = most.max(chart.panels.len());
            assert!(chart.panels.len() <= MOST_PANELS, "{name}: {}", chart.slug);
        }
    }
    assert!(most > 1, "{most}");
}
