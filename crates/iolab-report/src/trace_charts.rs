//! Pictures of a recorded program: time by kind of call, sizes of calls, offsets over time.

use crate::drawing::labels::{clean, short};
use crate::drawing::model::{
    Bar, Chart, Datum, Direction, Key, Layer, Mark, Panel, Point, Series, Table, Tint,
};
use crate::drawing::scale::{Axis, tick_time};
use iolab_model::catalog::{bytes_text, count_text, digits_text, time_text};
use iolab_trace::{Call, FileRow, KindRow, Profile, SizeRow, Trace};

/// Kinds of calls that are drawn.
const KINDS: usize = 12;
/// Points of a file: more are one black area and megabytes.
const POINTS: usize = 2000;
/// Files whose offsets are drawn.
const FILES: usize = 4;

/// Every chart that the trace has something for.
pub fn trace_charts(trace: &Trace, profile: &Profile) -> Vec<Chart> {
    let charts = [kinds(profile), sizes(profile), offsets(trace, profile)];
    charts.into_iter().flatten().collect()
}

fn subtitle(profile: &Profile) -> String {
    let whole = &profile.whole;
    let calls = count_text(whole.calls);
    format!("{} · {calls} calls on files, less what the tracer costs", clean(&profile.command))
}

fn key(name: &str, at: usize) -> Key {
    Key { name: name.to_owned(), ink: Tint::nth(at) }
}

fn bar(row: usize, key: usize, length: f64, tip: String) -> Bar {
    let parts = vec![(key, length)];
    Bar { row, parts, total: length, low: None, high: None, missing: false, tip }
}

fn kinds(profile: &Profile) -> Option<Chart> {
    let rows: Vec<&KindRow> = profile.kinds.iter().filter(|row| row.file_ns > 0).collect();
    let first = rows.first()?;
    let shown = &rows[..rows.len().min(KINDS)];
    let tip = |row: &KindRow| {
        format!(
            "{}: {} in {} calls",
            row.kind,
            time_text(row.file_ns as f64),
            count_text(row.calls)
        )
    };
    let bars = shown.iter().enumerate();
    let bars = bars.map(|(at, row)| bar(at, 0, row.file_ns as f64, tip(row))).collect();
    let names = shown.iter().map(|row| row.kind.to_owned()).collect();
    let times = shown.iter().map(|row| row.file_ns as f64);
    let number = |row: &KindRow| {
        vec![
            Datum::text(row.kind),
            Datum::number(row.file_ns as f64, time_text(row.file_ns as f64)),
            Datum::number(row.calls as f64, count_text(row.calls)),
            Datum::number(row.failed as f64, count_text(row.failed)),
        ]
    };
    Some(Chart {
        slug: "time-by-kind".to_owned(),
        title: format!("{} takes the most time of all calls on files", first.kind),
        subtitle: subtitle(profile),
        panels: vec![Panel {
            title: String::new(),
            x: Axis::from_zero("time", times.collect::<Vec<_>>(), tick_time),
            y: Axis::category("", names),
            layers: vec![Layer::Bars(bars)],
        }],
        keys: vec![key("time", 0)],
        table: Table {
            columns: ["call", "time", "calls", "failed"].map(str::to_owned).to_vec(),
            rows: rows.iter().map(|row| number(row)).collect(),
        },
        ..Chart::default()
    })
}

fn sizes(profile: &Profile) -> Option<Chart> {
    let most = profile.sizes.iter().max_by_key(|row| row.calls)?;
    let mut levels: Vec<u64> = profile.sizes.iter().map(|row| row.from_bytes).collect();
    levels.sort_unstable();
    levels.dedup();
    let name = |bytes: &u64| format!("{} on", bytes_text(*bytes));
    let names: Vec<String> = levels.iter().map(name).collect();
    let mut directions: Vec<&str> = profile.sizes.iter().map(|row| row.direction).collect();
    directions.dedup();
    let row_of = |row: &SizeRow| levels.iter().position(|level| *level == row.from_bytes);
    let panel = |(at, direction): (usize, &&str)| {
        let rows: Vec<&SizeRow> =
            profile.sizes.iter().filter(|row| row.direction == *direction).collect();
        let tip = |row: &SizeRow| {
            let calls = count_text(row.calls);
            format!("{calls} {direction}s that move {}", bytes_text(row.bytes))
        };
        let bars = rows
            .iter()
            .map(|row| bar(row_of(row).unwrap_or_default(), at, row.calls as f64, tip(row)));
        Panel {
            title: format!("{direction}s"),
            x: Axis::from_zero("calls", rows.iter().map(|row| row.calls as f64), digits_text),
            y: Axis::category("bytes asked for", names.clone()),
            layers: vec![Layer::Bars(bars.collect())],
        }
    };
    let number = |row: &SizeRow| {
        vec![
            Datum::text(row.direction),
            Datum::number(row.from_bytes as f64, bytes_text(row.from_bytes)),
            Datum::number(row.calls as f64, count_text(row.calls)),
            Datum::number(row.bytes as f64, bytes_text(row.bytes)),
        ]
    };
    Some(Chart {
        slug: "call-sizes".to_owned(),
        title: format!(
            "most calls that move bytes are {}s of {} on",
            most.direction,
            bytes_text(most.from_bytes)
        ),
        subtitle: subtitle(profile),
        panels: directions.iter().enumerate().map(panel).collect(),
        keys: directions.iter().enumerate().map(|(at, name)| key(name, at)).collect(),
        table: Table {
            columns: ["call", "bytes asked for, from", "calls", "bytes"]
                .map(str::to_owned)
                .to_vec(),
            rows: profile.sizes.iter().map(number).collect(),
        },
        ..Chart::default()
    })
}

/// The files with the most bytes moved, each a panel: where in the file, when.
fn offsets(trace: &Trace, profile: &Profile) -> Option<Chart> {
    let moved = |row: &&FileRow| row.reads + row.writes > 1 && row.kind == FILE;
    let rows: Vec<&FileRow> = profile.files.iter().filter(moved).take(FILES).collect();
    let first = rows.first()?;
    let panels: Vec<Panel> = rows.iter().filter_map(|row| of_file(trace, row)).collect();
    let pattern = first.pattern.map_or("not at all", |pattern| pattern.word());
    Some(Chart {
        slug: "offsets-over-time".to_owned(),
        title: format!("{} is gone through: {pattern}", clean(&short(&first.name))),
        subtitle: subtitle(profile),
        panels,
        keys: vec![key("read", 0), key("write", 1)],
        notes: vec![format!(
            "at most {} calls of a file are drawn, evenly chosen",
            count_text(POINTS as u64)
        )],
        table: Table {
            columns: ["file", "reads", "writes", "pattern"].map(str::to_owned).to_vec(),
            rows: rows.iter().map(|row| of_table(row)).collect(),
        },
        ..Chart::default()
    })
}

/// How a profile names a file with bytes.
const FILE: &str = iolab_trace::FileKind::Regular.word();

fn of_table(row: &FileRow) -> Vec<Datum> {
    vec![
        Datum::text(clean(&row.name)),
        Datum::number(row.reads as f64, count_text(row.reads)),
        Datum::number(row.writes as f64, count_text(row.writes)),
        Datum::text(row.pattern.map_or("", |pattern| pattern.word())),
    ]
}

fn of_file(trace: &Trace, row: &FileRow) -> Option<Panel> {
    let named = |name: &[u8]| String::from_utf8_lossy(name) == row.name;
    let file = trace.files.iter().position(|file| named(&file.name))? as u32;
    let all = trace.calls.iter().filter(|call| call.file == file && call.moved_bytes() > 0);
    let calls: Vec<&Call> = all.collect();
    let step = calls.len().div_ceil(POINTS).max(1);
    let shown: Vec<&Call> = calls.into_iter().step_by(step).collect();
    let series = |at: usize, writes: bool| {
        let of = shown.iter().filter(|call| call.kind.writes() == writes);
        let point = |call: &&Call| {
            let tip = format!(
                "{} of {} at {}, after {}",
                call.kind.word(),
                bytes_text(call.moved_bytes()),
                bytes_text(call.offset),
                time_text(call.at_ns as f64)
            );
            let (x, y) = (call.at_ns as f64, call.offset as f64);
            Point { x, y, low: None, high: None, mark: Mark::Faint, tip }
        };
        Layer::Series(Series {
            key: Some(at),
            ink: Tint::nth(at),
            joined: false,
            band: false,
            interval: Direction::Y,
            across: false,
            points: of.map(point).collect(),
        })
    };
    let times = shown.iter().map(|call| call.at_ns as f64);
    let places = shown.iter().map(|call| call.offset as f64);
    Some(Panel {
        title: clean(&short(&row.name)),
        x: Axis::from_zero("since the start, under the tracer", times, tick_time),
        y: Axis::from_zero("offset", places, |bytes| bytes_text(bytes as u64)),
        layers: vec![series(0, false), series(1, true)],
    })
}

#[cfg(test)]
mod tests {
    use super::trace_charts;
    use crate::drawing::svg::{Style, WIDE, draw};
    use iolab_trace::{Limits, Profile, Trace, parse};

    #[test]
    fn a_trace_has_its_three_pictures_and_an_empty_one_none() {
        let mut log = String::from(
            "1 1.0 openat(AT_FDCWD</d>, \"<a>\", O_RDWR) = 3</d/\\74a\\76> <0.00001>\n",
        );
        for at in 0..5000 {
            let call = if at % 10 == 0 { "write" } else { "read" };
            log += &format!(
                "1 {}.{:03} {call}(3</d/\\74a\\76>, \"\", 512) = 512 <0.00002>\n",
                1 + at / 1000,
                at % 1000
            );
        }
        let trace = parse(log.as_bytes(), &Limits::default()).unwrap();
        let charts = trace_charts(&trace, &Profile::of(&trace));
        let slugs: Vec<&str> = charts.iter().map(|chart| chart.slug.as_str()).collect();
        assert_eq!(slugs, ["time-by-kind", "call-sizes", "offsets-over-time"]);
        let offsets = &charts[2];
        assert!(offsets.marks() <= 2000 && offsets.marks() > 1000, "{}", offsets.marks());
        for chart in &charts {
            let svg = draw(chart, &chart.slug, WIDE, Style::Standalone);
            assert!(!svg.contains("<a>"), "a name is no element: {}", chart.slug);
        }
        let none = Trace::default();
        assert!(trace_charts(&none, &Profile::of(&none)).is_empty());
    }
}
