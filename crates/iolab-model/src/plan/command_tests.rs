//! Plans in which commands stand beside methods, or alone.

use super::Plan;
use super::tests::plan;
use crate::catalog::{Factor, Level};

/// `read` with these commands, and more axes.
fn with_commands(commands: &[&str], more: &[(Factor, &str)]) -> Plan {
    let mut axes = vec![(Factor::FileSize, "1Mi"), (Factor::Method, "read")];
    axes.extend(commands.iter().map(|text| (Factor::Contender, *text)));
    axes.extend(more);
    plan(&axes)
}

#[test]
fn commands_stand_where_methods_do_and_are_compared_with_them() {
    let plan = with_commands(&["dd", "cat {file}"], &[(Factor::Block, "4Ki,64Ki")]);
    let ids: Vec<&str> = plan.cells.iter().map(|cell| cell.id.as_str()).collect();
    assert_eq!(ids, ["read/4Ki", "read/64Ki", "dd/4Ki", "dd/64Ki", "cat"]);
    assert_eq!(plan.ask, [Factor::Method, Factor::Contender, Factor::Block]);
    assert_eq!(plan.conditions.len(), 1);
    assert!(plan.cells[2].levels.get(Factor::Method).is_none());
    assert!(plan.baseline.unwrap() < 2, "the twin is one of ours");
    // One command and one method are compared, though neither axis varies.
    let plan = with_commands(&["dd"], &[(Factor::Block, "4Ki")]);
    assert_eq!(plan.conditions[0].cells.len(), 2);
    // The same program twice has what tells the two apart for a name.
    let plan = with_commands(&["cat {file}", "cat -u {file}"], &[(Factor::Block, "4Ki")]);
    assert_eq!((plan.cells[1].id.as_str(), plan.cells[2].id.as_str()), ("cat", "cat -u"));
}

/// Beside two programs of the person's nobody asked for a method of ours.
#[test]
fn commands_are_compared_without_a_method() {
    let commands = [(Factor::Contender, "dd"), (Factor::Contender, "cat {file}")];
    let axes = [(Factor::FileSize, "1Mi"), (Factor::Method, "none"), (Factor::Block, "4Ki")];
    let plan = plan(&[&axes, &commands[..]].concat());
    let ids: Vec<&str> = plan.cells.iter().map(|cell| cell.id.as_str()).collect();
    assert_eq!(ids, ["dd", "cat"]);
    assert_eq!(plan.conditions.len(), 1);
    // A run is made again from what is kept of it.
    assert_eq!(plan.factors[&Factor::Method], [Level::word("none")]);
}

#[test]
fn a_command_that_cannot_be_told_a_condition_is_skipped_there() {
    let more = [
        (Factor::Block, "4Ki"),
        (Factor::Pattern, "sequential,random"),
        (Factor::Cache, "warm,cold"),
    ];
    let plan = with_commands(&["cat {file}"], &more);
    let reasons: Vec<_> = plan.cells.iter().filter(|cell| cell.skip.is_some()).collect();
    assert_eq!(reasons.len(), 2, "random, warm and cold");
    assert!(reasons[0].skip.as_ref().unwrap().contains("--pattern random"));
    assert!(reasons.iter().all(|cell| cell.levels.get(Factor::Contender).is_some()));
}
