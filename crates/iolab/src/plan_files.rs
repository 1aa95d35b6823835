//! What a run will make, read, change and remove, said before it starts.

use iolab_agent::MOST_LOOKED_AT;
use iolab_model::catalog::{Factor, Level, bytes_text, count_text, path_to_text};
use iolab_model::plan::{Cell, FileUse, Instance, Plan};
use iolab_model::tree::TreeOrder;

/// What is said where nothing is.
pub(super) const WRITES_NOTHING: &str = "writes nothing";

/// The files and their fate, one line each.
pub(super) fn files(plan: &Plan) -> Vec<String> {
    let mut lines = Vec::new();
    let sizes = |used: &dyn Fn(FileUse) -> bool| -> Vec<(u64, u64)> {
        let made = plan.instances.iter().filter(|i| i.path.is_none() && i.tree.is_none());
        let made = made.filter(|i| used(i.used));
        made.map(|i| (i.files.unwrap_or(1), i.total_bytes())).collect()
    };
    let made = sizes(&|used| used != FileUse::Absent);
    let in_turn = sizes(&|used| used == FileUse::Absent);
    let directory = directories(plan);
    let sum = made.iter().fold(0u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
    let files = made.iter().fold(0u64, |sum, (files, _)| sum.saturating_add(*files));
    let trees = trees(plan);
    match made.as_slice() {
        [] if in_turn.is_empty() && trees.is_empty() && !plan.copies => {
            lines.push(WRITES_NOTHING.to_owned());
        }
        [] => {}
        [(1, bytes)] => lines.push(format!(
            "makes one file of {} in {directory}, removed afterwards",
            bytes_text(*bytes)
        )),
        _ => lines.push(format!(
            "makes {} files, {} in all, in {directory}, removed afterwards",
            count_text(files),
            bytes_text(sum)
        )),
    }
    if let Some((_, most)) = in_turn.iter().max_by_key(|(_, bytes)| *bytes) {
        lines.push(format!(
            "writes files of up to {} in {directory}, one at a time, each removed after its trial",
            bytes_text(*most)
        ));
    }
    for instance in &plan.instances {
        if let Some(path) = &instance.path {
            let mut size = bytes_text(instance.bytes);
            let mut after = "after each";
            if let Some(TreeOrder::Found(files)) = instance.tree {
                size = format!("{} files, {size}", count_text(files));
                if files > MOST_LOOKED_AT {
                    after = "at the end, for it has many files";
                }
            }
            let mut promise = "never writes to it".to_owned();
            if !plan.commands().is_empty() {
                promise += &format!("; whether a command did is looked at {after}");
            }
            lines.push(format!("reads {} ({size}), {promise}", path_to_text(path)));
        }
    }
    if plan.copies {
        lines.push("makes one copy at a time, verifies and removes it".to_owned());
    }
    lines.extend(trees);
    lines.extend(at_each_rank(plan));
    lines
}

/// The same once more for each rank of an MPI job.
fn at_each_rank(plan: &Plan) -> Option<String> {
    let counts = plan.factors.get(&Factor::Ranks)?.iter();
    let most = counts
        .filter_map(Level::number)
        .max()
        .filter(|most| *most > 1 && plan.cost.space_bytes > 0)?;
    Some(format!(
        "this at each of {most} ranks, or as its part where they share it: {} at a time in all",
        bytes_text(plan.cost.space_bytes)
    ))
}

/// Where files are made that stand alone: in the directory, also in images there, and in the
/// directories that are places.
fn directories(plan: &Plan) -> String {
    let own = path_to_text(&plan.directory);
    let made = plan.instances.iter().filter(|i| i.path.is_none() && i.tree.is_none());
    let mut all: Vec<&str> = Vec::new();
    for place in made.map(|instance| instance.place.as_deref().unwrap_or_default()) {
        let directory = place.strip_prefix("dir:").unwrap_or(&own);
        if !all.contains(&directory) {
            all.push(directory);
        }
    }
    if all.is_empty() { own } else { all.join(" and ") }
}

/// The trees that are made, and for how long: one line for those that are alike.
fn trees(plan: &Plan) -> Vec<String> {
    let directory = path_to_text(&plan.directory);
    let mut alike: Vec<(&Instance, usize, Vec<&str>)> = Vec::new();
    for instance in plan.instances.iter().filter(|i| i.path.is_none()) {
        let Some(tree) = &instance.tree else { continue };
        let same = |other: &Instance| {
            let files = other.tree.as_ref().map(|t| (t.files(), matches!(t, TreeOrder::Each(_))));
            files == Some((tree.files(), matches!(tree, TreeOrder::Each(_))))
                && other.bytes == instance.bytes
        };
        let place = instance.place.as_deref().unwrap_or(&directory);
        match alike.iter_mut().find(|(other, ..)| same(other)) {
            None => alike.push((instance, 1, vec![place])),
            Some((_, count, places)) => {
                *count += 1;
                if !places.contains(&place) {
                    places.push(place);
                }
            }
        }
    }
    let told = |(instance, count, places): &(&Instance, usize, Vec<&str>)| {
        trees_alike(instance, *count, &format!("in {}", places.join(", ")))
    };
    let mut lines: Vec<String> = alike.iter().filter_map(told).collect();
    let recorded = |i: &Instance| matches!(i.tree, Some(TreeOrder::Recorded(_)));
    if plan.instances.iter().any(recorded) {
        lines.push("what a trial changes of them is made anew after it".to_owned());
    }
    let copies = |i: &Instance| i.tree.is_some() && !recorded(i) && copied(plan, i.id);
    if plan.instances.iter().any(copies) {
        lines.push(format!("copies are made in {directory}, each removed after its trial"));
    }
    lines
}

/// So many trees like this one.
fn trees_alike(instance: &Instance, count: usize, places: &str) -> Option<String> {
    let tree = instance.tree.as_ref()?;
    let (files, bytes) = (count_text(tree.files()), bytes_text(instance.bytes));
    let of = |word: &str| match instance.bytes {
        0 => format!("{files} empty files"),
        _ => format!("{files} files, {bytes} {word}"),
    };
    Some(match (tree, count) {
        // Only one of them is there at a time.
        (TreeOrder::Each(_), _) => format!(
            "makes a tree of {}, {places}, or part of it in a trial, removed after it",
            of("in all")
        ),
        (_, 1) => format!("makes a tree of {}, {places}, removed afterwards", of("in all")),
        (_, n) => format!("makes {n} trees of {}, {places}, removed afterwards", of("each")),
    })
}

/// Whether a cell copies this tree: it stands, and the cell has a way to copy.
fn copied(plan: &Plan, instance: usize) -> bool {
    let its = |cell: &&Cell| cell.instance == Some(instance);
    plan.cells.iter().filter(its).any(|cell| cell.levels.get(Factor::Method).is_some())
}
