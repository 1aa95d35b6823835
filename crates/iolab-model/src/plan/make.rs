//! An experiment and the machine's facts → a plan.

use super::axes::{self, Axes};
use super::cells;
use super::contender;
use super::draft::Draft;
use super::instance::{Instances, Skip};
use super::{Cell, Condition, Facts, Plan, PlanError, cost, question};
use crate::catalog::{
    AxisWord, CacheState, Capability, Factor, FileOperation, Level, Levels, Part, Sizes,
    WorkloadInfo, bytes_text, count_text, host_text, path_to_text,
};
use crate::spec::{Experiment, NO_METHOD, Vocabulary};
use crate::tree::TreeOrder;

/// Rounds of more cells than this would be so far apart that they compare nothing.
const MOST_CELLS: usize = 4096;

/// The plan of one machine, or of those that are compared.
///
/// # Errors
/// As that of all.
pub fn make(
    experiment: &Experiment,
    info: &WorkloadInfo,
    parts: &[&'static Part],
    facts: &Facts,
) -> Result<Plan, PlanError> {
    let vocabulary = Vocabulary { info, parts };
    vocabulary.check(experiment)?;
    let (mut notes, mut changed) = (Vec::new(), Vec::new());
    let axes = axes::fill(experiment, vocabulary, facts, (&mut notes, &mut changed))?;
    if cells::count(&axes) > MOST_CELLS {
        return Err(PlanError::TooManyCells { cells: cells::count(&axes), most: MOST_CELLS });
    }
    let draft = draft(experiment, vocabulary, &axes, &mut notes);
    let copies = info.capability == Capability::Copy;
    let mut instances = Instances { copies, ..Instances::default() };
    let cells = place(&draft, &axes, experiment, vocabulary, facts, &mut instances)?;
    changed.extend(unused_size(experiment, &axes));
    notes.splice(0..0, trace_notes(facts));
    notes.extend(tree_notes(&instances, facts));
    notes.extend(whole_machine_note(&cells, facts));
    notes.extend(experiment.protocol.keep_bytes.map(|bytes| {
        let most = bytes_text(bytes);
        format!("what is made and only read stays in .iolab-kept, at most {most}: iolab clean")
    }));
    refuse_what_does_not_fit_anywhere(experiment, facts, &cells, &instances)?;
    let conditions = conditions(&draft.groups, &cells);
    let renews_each_round = conditions.iter().any(|c| c.own_instances);
    let copy_bytes = instances.largest_copy_bytes.saturating_add(instances.copied.0);
    let beside_bytes = instances.places_bytes(facts).saturating_add(copy_bytes);
    let cost = cost::forecast(
        &cells,
        &instances.all,
        renews_each_round,
        &experiment.protocol,
        cost::Beside { bytes: beside_bytes, copies, facts },
    );
    let cost = super::Cost { privileges: instances.privileges(facts), ..cost };
    let eliminate = experiment.protocol.eliminate.unwrap_or(!info.sweep);
    Ok(Plan {
        title: experiment.title.clone().unwrap_or_else(|| title(info, &axes)),
        workload: info.part.id.to_owned(),
        directory: experiment.directory.clone(),
        ask: draft.ask,
        protocol: experiment.protocol.clone(),
        eliminate: eliminate && experiment.protocol.rounds.is_none(),
        baseline: middle(&cells, &axes),
        factors: as_asked(axes),
        cells,
        conditions,
        instances: instances.all,
        cost,
        changed,
        notes,
        copies,
        page_bytes: facts.page_bytes,
        image_bytes: if facts.places.is_empty() { 0 } else { facts.image_bytes },
    })
}

/// Cells without files, and what is compared.
struct Drafts {
    ask: Vec<Factor>,
    cells: Vec<Draft>,
    /// The group of each cell.
    of_cell: Vec<usize>,
    /// The levels that the cells of a group share.
    groups: Vec<Levels>,
}

/// Question factors are compared; if no two cells differ in one, the conditions are the question.
fn draft(
    experiment: &Experiment,
    vocabulary: Vocabulary<'_>,
    axes: &Axes,
    notes: &mut Vec<String>,
) -> Drafts {
    let try_ask = |ask: Vec<Factor>| {
        let mut collapsed = Vec::new();
        let cells = cells::cross(axes, &ask, vocabulary, &mut collapsed);
        let (of_cell, groups) = question::group(&cells, &ask);
        (Drafts { ask, cells, of_cell, groups }, collapsed)
    };
    let (drafts, collapsed) = match &experiment.protocol.ask {
        Some(ask) => try_ask(contender::together(ask.clone(), axes, false)),
        None => {
            let [first, second] = question::candidates(axes);
            let by_question = try_ask(contender::together(first, axes, true));
            match question::compares(&by_question.0.of_cell) || second.is_empty() {
                true => by_question,
                false => try_ask(second),
            }
        }
    };
    notes.extend(collapsed);
    drafts
}

/// That no method was asked for is kept, for whoever plans it again.
fn as_asked(mut axes: Axes) -> Axes {
    for levels in axes.values_mut().filter(|levels| levels.is_empty()) {
        levels.push(Level::word(NO_METHOD));
    }
    axes
}

/// What reaches beyond the files of the run is said before it starts.
fn whole_machine_note(cells: &[Cell], facts: &Facts) -> Option<String> {
    let mut active = cells.iter().filter(|cell| cell.skip.is_none());
    let cold = facts.may_drop_caches && active.any(Cell::starts_cold);
    cold.then(|| {
        "where a file cannot be evicted, the whole machine is written back and its page cache \
         dropped (sync, drop_caches), once at most"
            .into()
    })
}

fn place(
    drafts: &Drafts,
    axes: &Axes,
    experiment: &Experiment,
    vocabulary: Vocabulary<'_>,
    facts: &Facts,
    instances: &mut Instances,
) -> Result<Vec<Cell>, PlanError> {
    let mut skips: Vec<Skip> = Vec::new();
    let names = cells::names(axes, &drafts.cells);
    let mut all = Vec::with_capacity(names.len());
    for ((draft, id), condition) in drafts.cells.iter().zip(names).zip(&drafts.of_cell) {
        let placed = match contender::refuses(draft, vocabulary) {
            Some(reason) => Err(Skip { reason, too_small: false }),
            None => place_there(draft, experiment, facts, instances),
        };
        let (instance, skip) = match placed {
            Ok(instance) => (instance, None),
            Err(skip) => {
                let reason = skip.reason.clone();
                skips.push(skip);
                (None, Some(reason))
            }
        };
        all.push(Cell { id, levels: draft.levels.clone(), condition: *condition, instance, skip });
    }
    match skips.len() == all.len() {
        true => Err(nothing(skips)),
        false => Ok(all),
    }
}

/// The instance of a cell on the machine that it is for.
fn place_there(
    draft: &Draft,
    experiment: &Experiment,
    facts: &Facts,
    instances: &mut Instances,
) -> Result<Option<usize>, Skip> {
    let host = draft.full.text(Factor::Host);
    instances.place(draft, experiment, facts.on(host)).map_err(|skip| match host {
        Some(host) => Skip { reason: format!("on {}: {}", host_text(host), skip.reason), ..skip },
        None => skip,
    })
}

/// What of the person's traces cannot be replayed.
fn trace_notes(facts: &Facts) -> Vec<String> {
    let note = |(path, trace): (&std::path::PathBuf, &Result<super::TraceFacts, String>)| {
        let note = trace.as_ref().ok()?.note.as_ref()?;
        Some(format!("{}: {note}", path_to_text(path)))
    };
    facts.traces.iter().filter_map(note).collect()
}

/// What is left out of the person's trees.
fn tree_notes(instances: &Instances, facts: &Facts) -> Vec<String> {
    let note = |instance: &super::Instance| {
        let path = instance.path.as_ref()?;
        let note = facts.trees.get(path)?.as_ref().ok()?.note.as_ref()?;
        Some(format!("{}: {note}", path_to_text(path)))
    };
    instances.all.iter().filter_map(note).collect()
}

fn nothing(skips: Vec<Skip>) -> PlanError {
    let too_small = skips.iter().any(|skip| skip.too_small);
    let mut reasons: Vec<String> = skips.into_iter().map(|skip| skip.reason).collect();
    reasons.sort();
    reasons.dedup();
    PlanError::Nothing { reasons, too_small }
}

fn refuse_what_does_not_fit_anywhere(
    experiment: &Experiment,
    facts: &Facts,
    cells: &[Cell],
    instances: &Instances,
) -> Result<(), PlanError> {
    if facts.hosts.is_empty() {
        return refuse_what_does_not_fit(experiment, facts, cells, instances);
    }
    facts.hosts.iter().try_for_each(|(host, facts)| {
        let its = instances.of_host(host);
        refuse_what_does_not_fit(experiment, facts, cells, &its)
            .map_err(|error| PlanError::On { host: host.clone(), error: Box::new(error) })
    })
}

fn refuse_what_does_not_fit(
    experiment: &Experiment,
    facts: &Facts,
    cells: &[Cell],
    instances: &Instances,
) -> Result<(), PlanError> {
    let directory = experiment.directory.clone();
    let made = instances.made_bytes().saturating_add(instances.places_bytes(facts));
    let (needed, free) = (made, facts.free_bytes);
    if needed > free {
        let copies = instances.copies || instances.copied.0 > 0;
        let is_recorded = |i: &super::Instance| matches!(i.tree, Some(TreeOrder::Recorded(_)));
        let copies_theirs = copies && instances.all.iter().any(|i| i.path.is_some())
            || instances.all.iter().any(is_recorded);
        return Err(PlanError::NoSpace { directory, needed, free, copies_theirs });
    }
    let made = |i: &&super::Instance| (instances.copies || i.path.is_none()) && i.tree.is_none();
    let made_bytes = instances.all.iter().filter(made).map(super::Instance::file_bytes);
    if let (Some(limit), Some(needed)) = (facts.greatest_file_bytes, made_bytes.max())
        && needed > limit
    {
        return Err(PlanError::FileLimit { needed, limit });
    }
    // One more for the scratch directory itself.
    let made = instances.made_inodes();
    if made > 0 && made + 1 > facts.free_inodes {
        return Err(PlanError::NoInodes { directory, needed: made + 1, free: facts.free_inodes });
    }
    let is_warm = |id: usize| {
        let mut its_cells = cells.iter().filter(|c| c.instance == Some(id));
        its_cells.any(|c| c.levels.word() == Some(CacheState::Warm))
    };
    let warm = instances.all.iter().filter(|i| is_warm(i.id));
    let needed = warm.fold(0u64, |sum, i| sum.saturating_add(i.bytes));
    let available = facts.available_memory_bytes;
    match needed > available {
        true => Err(PlanError::NoMemory { needed, available }),
        false => Ok(()),
    }
}

fn conditions(groups: &[Levels], cells: &[Cell]) -> Vec<Condition> {
    let condition = |(number, levels): (usize, &Levels)| {
        let can_run = |(_, cell): &(usize, &Cell)| cell.condition == number && cell.skip.is_none();
        let members: Vec<usize> =
            cells.iter().enumerate().filter(can_run).map(|(index, _)| index).collect();
        let first = members.first().and_then(|index| cells[*index].instance);
        let own_instances = members.iter().any(|index| cells[*index].instance != first);
        Condition { levels: levels.clone(), cells: members, own_instances }
    };
    groups.iter().enumerate().map(condition).collect()
}

/// The cell nearest to the middle of every axis, the first of equals: neither the slowest nor the
/// fastest as a rule, so that the twin neither costs much nor is too short to see anything.
fn middle(cells: &[Cell], axes: &Axes) -> Option<usize> {
    let distance = |cell: &Cell| -> usize {
        cell.levels
            .iter()
            .filter_map(|(factor, level)| {
                let levels = axes.get(&factor)?;
                let rank = levels.iter().position(|l| l == level)?;
                Some((2 * rank).abs_diff(levels.len() - 1) * 1000 / levels.len())
            })
            .sum()
    };
    let active = || cells.iter().enumerate().filter(|(_, cell)| cell.skip.is_none());
    let is_command = |cell: &Cell| cell.levels.get(Factor::Contender).is_some();
    let own = active().any(|(_, cell)| !is_command(cell));
    let fitting = active().filter(|(_, cell)| !own || !is_command(cell));
    fitting.min_by_key(|(_, cell)| distance(cell)).map(|(index, _)| index)
}

/// So many files are named in a title.
const NAMED_FILES: usize = 3;

/// The word for files without bytes.
fn is_no_size(level: &Level) -> bool {
    matches!(level, Level::Word(word) if word.parse() == Ok(Sizes::Fixed(0)))
}

/// Whether all files of a tree are empty: by that word, or because nothing that is done with them has
/// to do with bytes.
fn no_bytes(axes: &Axes) -> bool {
    let sizes = axes.get(&Factor::Sizes).map(Vec::as_slice);
    let is_empty = sizes.is_some_and(|sizes| matches!(sizes, [one] if is_no_size(one)));
    let idle = |level: &Level| match level {
        Level::Word(word) => word.parse().is_ok_and(|word: FileOperation| !word.moves_bytes()),
        _ => false,
    };
    is_empty || tree_operations(axes).is_some_and(|operations| operations.iter().all(idle))
}

/// What is done with the files of a tree, where there is one.
fn tree_operations(axes: &Axes) -> Option<&Vec<Level>> {
    axes.get(&Factor::Operation).filter(|_| axes.contains_key(&Factor::Layout))
}

/// A size that was asked for and that no operation makes use of.
fn unused_size(experiment: &Experiment, axes: &Axes) -> Option<String> {
    let asked = [Factor::FileSize, Factor::Sizes];
    let has_size = |factor: &Factor| {
        experiment.factors.get(factor).is_some_and(|levels| !levels.iter().all(is_no_size))
    };
    let sized = asked.into_iter().find(has_size)?;
    let makes = tree_operations(axes)?.iter().any(|level| *level == FileOperation::Create.level());
    (makes && no_bytes(axes)).then(|| {
        format!("files create makes empty files, so --{sized} is not used; files write fills them")
    })
}

/// What the run is about: `read data.bin: method × block`.
fn title(info: &WorkloadInfo, axes: &Axes) -> String {
    let several: Vec<&str> =
        axes.iter().filter(|(_, levels)| levels.len() > 1).map(|(f, _)| f.name()).collect();
    let mut title = info.part.id.to_owned();
    let counts = axes.get(&Factor::Files).map(Vec::as_slice);
    if counts.is_some()
        && let Some([Level::Word(operation)]) = axes.get(&Factor::Operation).map(Vec::as_slice)
    {
        title = format!("{title} {operation}");
    }
    if let Some([Level::Number(files)]) = counts {
        let sized = match axes.get(&Factor::FileSize).map(Vec::as_slice) {
            Some([Level::Number(bytes)]) => *bytes > 0,
            _ => matches!(axes.get(&Factor::Sizes).map(Vec::as_slice), Some([Level::Word(_)])),
        };
        let of = if sized { " of" } else { "" };
        let noun = if *files == 1 { "file" } else { "files" };
        let (empty, of) = if no_bytes(axes) { ("empty ", "") } else { ("", of) };
        title = format!("{title}, {} {empty}{noun}{of}", count_text(*files));
    }
    if let Some([Level::Word(sizes)]) = axes.get(&Factor::Sizes).map(Vec::as_slice)
        && !no_bytes(axes)
    {
        title = format!("{title} {sizes}");
    }
    let files = axes.get(&Factor::File).or(axes.get(&Factor::Trace));
    let files = files.map_or(&[][..], Vec::as_slice);
    let name = |level: &Level| match level {
        Level::Path(path) => {
            Some(path_to_text(path.file_name().map_or(path.as_path(), std::path::Path::new)))
        }
        _ => None,
    };
    let names: Vec<String> = files.iter().filter_map(name).collect();
    if (1..=NAMED_FILES).contains(&names.len()) {
        title = format!("{title} {}", names.join(", "));
    }
    if let Some([Level::Number(bytes @ 1..)]) = axes.get(&Factor::FileSize).map(Vec::as_slice)
        && !no_bytes(axes)
    {
        title = format!("{title} {}", bytes_text(*bytes));
    }
    let what = match several.is_empty() {
        true => axes
            .iter()
            .filter(|(f, _)| matches!(f, Factor::Method | Factor::Operation | Factor::Block))
            .filter_map(|(f, levels)| levels.first().map(|level| cells::level_text(*f, level)))
            .collect::<Vec<_>>()
            .join(", "),
        false => several.join(" × "),
    };
    format!("{title}: {what}")
}
