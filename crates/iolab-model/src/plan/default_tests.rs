//! Levels that nobody named.

use std::collections::BTreeSet;

use super::make;
use super::tests::{experiment, facts};
use crate::catalog::{Factor, FactorUse, WorkloadInfo};
use crate::spec::fixture::{PARTS, READ};

/// Like `read`, with an axis that gives way.
fn giving_way(factor: Factor, default: &'static str) -> WorkloadInfo {
    let axis = |axis: &FactorUse| match axis.factor == factor {
        true => FactorUse::new(factor, default).giving_way(),
        false => *axis,
    };
    WorkloadInfo { factors: READ.factors.iter().map(axis).collect::<Vec<_>>().leak(), ..READ }
}

/// Four file systems were asked about, and the table was full of their numbers of workers.
#[test]
fn what_is_asked_about_by_name_stands_without_the_levels_of_a_default() {
    let info = giving_way(Factor::Threads, "1,2,4");
    let threads = |axes: &[(Factor, &str)]| -> BTreeSet<u64> {
        let plan = make(&experiment(&info, axes), &info, PARTS, &facts()).unwrap();
        plan.cells.iter().filter_map(|cell| cell.levels.number(Factor::Threads)).collect()
    };
    let (one, all) = (BTreeSet::from([1]), BTreeSet::from([1, 2, 4]));
    assert_eq!(threads(&[]), all);
    assert_eq!(threads(&[(Factor::Method, "pread")]), all);
    // A condition is no question: within each, workers are compared as before.
    assert_eq!(threads(&[(Factor::Method, "pread"), (Factor::Cache, "warm,any")]), all);
    assert_eq!(threads(&[(Factor::Method, "read,pread")]), one);
    assert_eq!(threads(&[(Factor::Contender, "cat {file}")]), one);
    let named = [(Factor::Method, "read,pread"), (Factor::Threads, "2,4")];
    assert_eq!(threads(&named), BTreeSet::from([2, 4]));
}

/// Workers were asked about, and three methods that nobody had named took most of the time.
#[test]
fn methods_that_nobody_named_give_way_too() {
    let info = giving_way(Factor::Method, "pread,read");
    let methods = |axes: &[(Factor, &str)]| -> BTreeSet<String> {
        let plan = make(&experiment(&info, axes), &info, PARTS, &facts()).unwrap();
        let text = |cell: &super::Cell| cell.levels.text(Factor::Method).map(str::to_owned);
        plan.cells.iter().filter_map(text).collect()
    };
    let both = BTreeSet::from(["pread".to_owned(), "read".to_owned()]);
    assert_eq!(methods(&[]), both);
    assert_eq!(methods(&[(Factor::Threads, "1,2")]), BTreeSet::from(["pread".to_owned()]));
    // Not every method knows blocks, and a command stands beside methods.
    assert_eq!(methods(&[(Factor::Block, "4Ki,64Ki")]), both);
    assert!(both.is_subset(&methods(&[(Factor::Contender, "cat {file}")])));
}
