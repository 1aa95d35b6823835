use super::{Screen, bar, draw, pad};
use crate::chart::charts_for;
use iolab_test::scenes;

#[test]
fn every_chart_draws_in_both_alphabets_and_fits() {
    for (name, run) in scenes::all() {
        for chart in charts_for(std::slice::from_ref(&run)) {
            for ascii in [false, true] {
                let text = draw(&chart, Screen { width: 80, ascii });
                let plot = text.lines().filter(|l| l.contains('│') || l.contains('|'));
                assert!(plot.clone().all(|l| l.chars().count() <= 104), "{name}\n{text}");
                assert!(!ascii || text.is_ascii(), "{name}\n{text}");
            }
        }
    }
}

#[test]
fn bars_have_eighths() {
    assert_eq!(bar(0.5, 4, false), "██");
    assert_eq!(bar(0.53125, 4, false), "██▏");
    assert_eq!(bar(f64::NAN, 4, false), "");
    assert_eq!(bar(1.0, 4, true), "####");
}

#[test]
fn a_curve_and_a_ranking_read_well() {
    let show = |run: &iolab_model::result::Document, at: usize| {
        let charts = charts_for(std::slice::from_ref(run));
        draw(&charts[at], Screen { width: 76, ascii: false })
    };
    insta::assert_snapshot!("curve", show(&scenes::blocks(), 0));
    insta::assert_snapshot!("ranking", show(&scenes::ranking(), 0));
    insta::assert_snapshot!("heat", show(&scenes::mapping(), 0));
    insta::assert_snapshot!("costs", show(&scenes::costs(), 0));
    insta::assert_snapshot!("single_operations", show(&scenes::latencies(), 0));
}

/// Charts of runs side by side once printed the last run's figures alone, for all runs shared a
/// line; names were cut to a stump, and the rings and hollow marks had no key.
#[test]
fn each_series_has_a_line_and_what_marks_mean_is_told() {
    let mut later = scenes::ranking();
    later.run.id += 1;
    let charts = charts_for(&[scenes::ranking(), later]);
    let beside = charts.iter().find(|c| c.slug == "runs-side-by-side").unwrap();
    let text = draw(beside, Screen { width: 76, ascii: false });
    let dots = |mark: char| text.lines().filter(|l| l.contains(mark) && !l.contains("run")).count();
    assert!(dots('●') > 1 && dots('●') == dots('■'), "{text}");

    let blocks = &charts_for(&[scenes::blocks()])[0];
    assert!(!blocks.guide.is_empty());
    let text = draw(blocks, Screen { width: 200, ascii: false });
    for guide in &blocks.guide {
        assert!(text.contains(guide.as_str()), "{guide}\n{text}");
    }
    assert!(text.contains('◎'), "{text}");
}

#[test]
fn long_names_keep_both_ends() {
    assert_eq!(pad("pread/64Ki/direct", 9), "prea…rect");
    assert_eq!(pad("mmap", 9), "     mmap");
}

#[test]
fn no_line_is_wider_than_the_screen() {
    // A ratio of 13 digits has no room.
    for (name, run) in scenes::all().into_iter().filter(|(name, _)| *name != "extremes") {
        for chart in charts_for(std::slice::from_ref(&run)) {
            // A heat map is a table, as wide as it has columns.
            if super::has_heat(&chart) {
                continue;
            }
            for width in [60, 80] {
                let text = draw(&chart, Screen { width, ascii: false });
                let wide = text.lines().find(|l| l.contains(' ') && l.chars().count() > width);
                assert!(wide.is_none(), "{name} at {width}: {wide:?}\n{text}");
            }
        }
    }
}
