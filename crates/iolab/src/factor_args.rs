//! The axes of a workload as options, made from the catalog: an axis is an option by being listed.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint, value_parser};

use super::contender_args;
use super::terminal_io::Failure;
use iolab_agent::catalog::{self, WORKLOADS};
use iolab_model::catalog::{
    Capability, Factor, FactorUse, Kind, Level, Part, SIZES_FORMS, Switch, WorkloadInfo, meaning,
    path_to_text,
};
use iolab_model::spec::Vocabulary;
use iolab_model::tree::{SHAPE_MEANINGS, SHAPES};

const HEADING: &str = "Axes";
const PATHS: &str = "paths";
const WHAT: &str = "what";
/// The levels of an axis that is a switch.
const SWITCH: &[&str] = Switch::WORDS;

/// So many levels are named in a short help.
const FEW_LEVELS: usize = 4;

/// Adds an option for each axis, and the files or the directory.
pub fn augment(command: Command, info: &'static WorkloadInfo) -> Command {
    let options = info.factors.iter().filter(|axis| is_option(info, axis.factor));
    let command = options.fold(command, |command, axis| command.arg(option(info, axis)));
    let paths = Arg::new(PATHS).value_parser(value_parser!(OsString));
    if works_on_trees(info) {
        let words = Vocabulary { info, parts: catalog::all() }.words(Factor::Operation).join(", ");
        let what = Arg::new(WHAT).value_name("OPERATIONS").help(format!(
            "What is done with the files: {words}; several with commas [default: read]"
        ));
        return command.arg(what).arg(paths.value_name("DIR").value_hint(ValueHint::DirPath).help(
            "A tree of yours to read, stat or copy, never written to; with --files, or for \
                 what writes, the directory to work under [default: .]",
        ));
    }
    if info.has(Factor::Trace) {
        return command.arg(
            paths.value_name("TRACE").required(true).value_hint(ValueHint::FilePath).help(
                "What iolab record or iolab import has made; its files are made here, and removed",
            ),
        );
    }
    command.arg(match info.has(Factor::File) {
        true => paths
            .value_name("FILE")
            .num_args(0..)
            .action(ArgAction::Append)
            .value_hint(ValueHint::FilePath)
            .help("Files of yours, never written to; without one a file is made here, or in the directory named, and removed"),
        false => paths
            .value_name("DIR")
            .value_hint(ValueHint::DirPath)
            .help("The directory to work under; what is made there is removed [default: .]"),
    })
}

/// Whether an axis is an option: a path is an argument, and so is what is done with trees; machines are
/// named by --on.
fn is_option(info: &WorkloadInfo, factor: Factor) -> bool {
    is_written(factor) && !(factor == Factor::Operation && works_on_trees(info))
}

fn works_on_trees(info: &WorkloadInfo) -> bool {
    info.capability == Capability::Files
}

fn option(info: &'static WorkloadInfo, axis: &'static FactorUse) -> Arg {
    let name = match axis.factor.kind() {
        Kind::Bytes => "SIZES",
        Kind::Count => "COUNTS",
        _ => "WORDS",
    };
    let is_command = axis.factor == Factor::Contender;
    // Levels with commas of their own are easier to write one by one.
    let option = Arg::new(axis.factor.name())
        .long(axis.factor.name())
        .value_name(if is_command { "COMMAND" } else { name })
        .action(ArgAction::Append)
        .allow_hyphen_values(true)
        .help_heading(HEADING)
        .help(short_help(info, axis))
        .long_help(long_help(info, axis).unwrap_or_else(|| help(info, axis)));
    match axis.words {
        // A switch: `--direct` alone, or `--direct off,on` as an axis ([`with_levels_attached`]).
        SWITCH => {
            option.num_args(0..=1).require_equals(true).default_missing_value(Switch::On.word())
        }
        _ => option,
    }
}

/// Whether levels of an axis are written as words.
fn is_written(factor: Factor) -> bool {
    factor.kind() != Kind::Path && factor != Factor::Host
}

/// The help with no more levels than a line or two hold.
fn short_help(info: &'static WorkloadInfo, axis: &FactorUse) -> String {
    let whole = help(info, axis);
    let words = Vocabulary { info, parts: catalog::all() }.words(axis.factor);
    match axis.factor.kind() == Kind::Word && words.len() > FEW_LEVELS {
        true => whole.replace(&words.join(", "), &format!("{}, …", words[..FEW_LEVELS].join(", "))),
        false => whole,
    }
}

fn help(info: &'static WorkloadInfo, axis: &FactorUse) -> String {
    let (.., summary) = axis.factor.info();
    let mut text = summary.to_owned();
    if axis.factor == Factor::Contender {
        let names = Vocabulary { info, parts: catalog::all() }.words(axis.factor).join(", ");
        return format!(
            "{text}: {names}, or a whole one; {{file}}, {{source}}, {{target}}, {{dir}}, {{block}}, {{size}} and {{threads}} are filled in, no shell is run; ./PROGRAM is the one in this directory, and each runs in an empty one of its own; beside the methods, or with --method none alone; may be repeated"
        );
    }
    if axis.factor.kind() == Kind::Word {
        let words = match axis.factor {
            Factor::Sizes => SIZES_FORMS.to_owned(),
            _ => Vocabulary { info, parts: catalog::all() }.words(axis.factor).join(", "),
        };
        text = format!("{text}: {words}");
    }
    let default = match (axis.default, axis.factor) {
        ("", Factor::FileSize) => "256Mi, or what fits",
        ("", Factor::Method | Factor::Operation) => {
            let plain = |p: &&iolab_model::catalog::Part| p.by_name_only;
            let vocabulary = Vocabulary { info, parts: catalog::all() };
            match vocabulary.parts_of(axis.factor).any(|p| plain(&p)) {
                true => "all but null and its like",
                false => "all",
            }
        }
        ("", _) => return text,
        (default, _) => default,
    };
    let first = default.split(',').next().unwrap_or_default();
    match axis.gives_way {
        true => format!("{text} [default: {default}; {first} where other levels are compared]"),
        false => format!("{text} [default: {default}]"),
    }
}

/// The help with each level in a line of its own.
fn long_help(info: &'static WorkloadInfo, axis: &FactorUse) -> Option<String> {
    if axis.factor.kind() != Kind::Word || axis.factor == Factor::Contender {
        return None;
    }
    let vocabulary = Vocabulary { info, parts: catalog::all() };
    let parts: Vec<&Part> = vocabulary.parts_of(axis.factor).collect();
    let words = vocabulary.words(axis.factor);
    let line = |word: &&str| {
        let part = parts.iter().find(|part| part.id == *word).map(|part| part.summary.to_owned());
        let layout = SHAPES.iter().zip(SHAPE_MEANINGS).filter(|_| axis.factor == Factor::Layout);
        let layout =
            || layout.clone().find(|(id, _)| *id == word).map(|(_, means)| means.to_owned());
        let said = part.or_else(|| meaning(axis.factor, word)).or_else(layout)?;
        Some(format!("  {word}: {said}"))
    };
    let lines: Vec<String> = words.iter().filter_map(line).collect();
    let (.., summary) = axis.factor.info();
    let default = help(info, axis);
    let default = default.rfind(" [default").map_or("", |at| &default[at..]);
    (!lines.is_empty()).then(|| format!("{summary}{default}\n{}", lines.join("\n")))
}

/// What was written for the axes.
pub struct Axes {
    /// Levels of the axes that were named.
    pub factors: BTreeMap<Factor, Vec<Level>>,
    /// The directory to work under, absolute.
    pub directory: PathBuf,
}

/// Where files are made on another machine, if nothing is said: on its disk, as everybody may.
const DIRECTORY_THERE: &str = "/var/tmp";

/// Reads the axes that were written; `elsewhere`: paths are those of another machine.
///
/// # Errors
/// The first level that is not one, with the fix.
pub fn read(
    info: &'static WorkloadInfo,
    matches: &ArgMatches,
    elsewhere: bool,
) -> Result<Axes, Failure> {
    let whole = |path: &Path| match elsewhere && !path.is_absolute() {
        true => Err(Failure::usage(format!(
            "'{}': which directory is meant on another machine is not known; give the whole path",
            path_to_text(path)
        ))),
        false => absolute(path),
    };
    let usual = || whole(Path::new(if elsewhere { DIRECTORY_THERE } else { "." }));
    let is_directory = |path: &Path| elsewhere || path.is_dir();
    let vocabulary = Vocabulary { info, parts: catalog::all() };
    let mut factors = BTreeMap::new();
    for axis in info.factors.iter().filter(|axis| is_written(axis.factor)) {
        let name = if is_option(info, axis.factor) { axis.factor.name() } else { WHAT };
        for text in matches.get_many::<String>(name).into_iter().flatten() {
            let levels = vocabulary.levels(axis.factor, text);
            let named =
                |e: iolab_model::spec::SpecError| Failure::usage(e.of(option_name(axis.factor)));
            let all: &mut Vec<Level> = factors.entry(axis.factor).or_default();
            all.extend(levels.map_err(named)?);
            let mut seen = std::collections::BTreeSet::new();
            all.retain(|level| seen.insert(level.clone()));
        }
    }
    contender_args::settle(&mut factors, info, elsewhere)?;
    let paths: Vec<&OsString> = matches.get_many(PATHS).into_iter().flatten().collect();
    let directory = match paths.as_slice() {
        [] => usual()?,
        [one] if info.has(Factor::Trace) => {
            factors.insert(Factor::Trace, vec![Level::Path(whole(Path::new(one))?)]);
            usual()?
        }
        [one]
            if !info.has(Factor::File)
                || works_in(info, Path::new(one), &factors, &is_directory) =>
        {
            whole(Path::new(one))?
        }
        files => {
            let mut levels: Vec<Level> = Vec::new();
            for file in files {
                let level = Level::Path(whole(Path::new(file))?);
                if !levels.contains(&level) {
                    levels.push(level);
                }
            }
            factors.insert(Factor::File, levels);
            usual()?
        }
    };
    Ok(Axes { factors, directory })
}

/// A directory named together with --file-size is where the file is made; of many files so is one
/// that comes with anything that describes a tree, or with an operation that makes its own.
fn works_in(
    info: &'static WorkloadInfo,
    path: &Path,
    factors: &BTreeMap<Factor, Vec<Level>>,
    is_directory: &dyn Fn(&Path) -> bool,
) -> bool {
    if !works_on_trees(info) {
        return factors.contains_key(&Factor::FileSize) && is_directory(path);
    }
    let of_a_tree = [Factor::Files, Factor::FileSize, Factor::Sizes, Factor::Layout, Factor::Fill];
    let vocabulary = Vocabulary { info, parts: catalog::all() };
    let operations = factors.get(&Factor::Operation).map_or(&[][..], Vec::as_slice);
    let makes_its_own = |level: &Level| {
        let is = |part: &&'static Part| *level == Level::word(part.id);
        let part = vocabulary.parts_of(Factor::Operation).find(is);
        part.is_some_and(|part| !part.can(Capability::Read))
    };
    of_a_tree.iter().any(|factor| factors.contains_key(factor))
        || operations.iter().any(makes_its_own)
}

/// The words with the level of a switch attached to it where it stands behind a space: of
/// `--latency on` the word would else be taken for a file. A file of such a name is `./on`.
pub fn with_levels_attached(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let axes = WORKLOADS.iter().flat_map(|info| info.factors);
    let switches = axes.filter(|axis| axis.words == SWITCH).map(|axis| option_name(axis.factor));
    let switches: Vec<String> = switches.collect();
    let is_level = |word: &OsString| {
        word.to_str().is_some_and(|text| text.split(',').all(|one| SWITCH.contains(&one)))
    };
    let mut all: Vec<OsString> = Vec::new();
    let mut options = true;
    for word in words {
        options &= word != "--";
        let before = all.last_mut().filter(|last| switches.iter().any(|s| **last == s.as_str()));
        match before.filter(|_| options && is_level(&word)) {
            Some(switch) => {
                switch.push("=");
                switch.push(word);
            }
            None => all.push(word),
        }
    }
    all
}

fn option_name(factor: Factor) -> String {
    format!("--{factor}")
}

/// The path from the root, for the agent need not have this working directory.
///
/// # Errors
/// An empty path, or a working directory that is gone.
pub fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|error| {
        Failure::usage(format!("'{}': {error}; name a file or a directory", path_to_text(path)))
    })
}
