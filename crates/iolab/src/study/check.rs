//! `iolab study check`: what is wrong in a study, and each claim beside what its test says.

use std::path::Path;

use super::load::{Text, words};
use crate::protocol_args;
use crate::terminal_io::{self, Ending, Failure};
use iolab_model::spec::file::Source;
use iolab_study::{self as study, Checked};

/// Prints each claim with the sentence that is tested, then what is missing; what is wrong is told
/// with its line and column, and ends the command as a file that cannot be read does.
pub(super) fn check(name: &Path) -> Ending {
    let Text { stem, file, text } = Text::of(name)?;
    let source = Source { name: &file, text: &text };
    let checked = study::check(&stem, &source, words(), protocol_args::drawn_seed());
    let Checked { study, wrong, missing } = checked.map_err(Failure::usage)?;
    let ending = terminal_io::data(|out| {
        for claim in &study.claims {
            writeln!(out, "{}", claim.id)?;
            writeln!(out, "  says   {}", claim.says)?;
            writeln!(out, "  tested {}", study::tested(claim, &study))?;
        }
        for finding in &missing {
            writeln!(out, "{finding}")?;
        }
        let wrong = match wrong.len() {
            0 => "nothing wrong".to_owned(),
            1 => "1 thing is wrong".to_owned(),
            n => format!("{n} things are wrong"),
        };
        writeln!(
            out,
            "{file}: {} experiments, {} claims, {} tables, {} plots, {} facts: {wrong}",
            study.experiments.len(),
            study.claims.len(),
            study.tables.len(),
            study.plots.len(),
            study.facts.len()
        )
    })?;
    match wrong.is_empty() {
        true => Ok(ending),
        false => {
            let all: Vec<String> = wrong.iter().map(ToString::to_string).collect();
            Err(Failure::usage(all.join("\n")))
        }
    }
}
