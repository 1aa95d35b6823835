//! `iolab study`: published results, listed, shown, checked, and run again.

mod check;
mod compare;
mod load;
mod machine;
mod pages;
mod run;

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::terminal_io::{self, Ending, Exit};
use super::verbosity::Talk;
use iolab_controller::{Placement, Prepared};
use iolab_model::catalog::{bytes_text, rough_time_text};
use iolab_study::{self as study, SHIPPED, Study};
use load::{load, parse};

/// Published results: run them here and see which of their claims hold
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  iolab study list                              what there is, what each needs\n  iolab study run read-vs-mmap --budget 3m      which of its claims hold here\n  iolab study run all --output pages            every study, a page each\n  iolab study check mine.toml                   a study of one's own\n  iolab study compare many-files 12 30          as of run 12 and of run 30"
)]
pub struct StudyCommand {
    #[command(subcommand)]
    what: What,
}

// Made once in a run and gone at once: boxing it would only complicate the derive.
#[allow(clippy::large_enum_variant)]
#[derive(Subcommand, Clone, Debug)]
enum What {
    /// The studies that come with iolab, and what each needs
    List,
    /// What a study asked, its claims and its experiments
    Show {
        /// A name of the list, or a file
        #[arg(value_name = "NAME", value_hint = ValueHint::FilePath)]
        name: PathBuf,
    },
    /// Check a study: what is wrong in it, and each claim beside the sentence that is tested
    Check {
        /// A name of the list, or a file
        #[arg(value_name = "NAME|FILE", value_hint = ValueHint::FilePath)]
        name: PathBuf,
    },
    Run(run::RunStudies),
    Compare(compare::CompareStudies),
}

impl StudyCommand {
    /// Does what was asked.
    ///
    /// # Errors
    /// There is no such study, it is written wrongly, or it cannot be run.
    pub fn run(self, talk: &Talk) -> Ending {
        match self.what {
            What::List => list(talk),
            What::Show { name } => show(&load(&name)?),
            What::Check { name } => check::check(&name),
            What::Run(run) => run.run(talk),
            What::Compare(compare) => compare.run(),
        }
    }
}

fn list(talk: &Talk) -> Ending {
    let mut lines = String::new();
    for (name, text) in SHIPPED {
        let study = parse(name, name, text)?;
        for line in
            [(*name).to_owned(), format!("  {}", study.title), format!("  {}", needs(&study))]
        {
            lines.push_str(&terminal_io::wrapped(&line, talk.look().width));
            lines.push('\n');
        }
    }
    terminal_io::data(|out| out.write_all(lines.as_bytes()))
}

/// Minutes, space and privileges of the full setting within the study's own budget.
fn needs(study: &Study) -> String {
    let (mut space_bytes, mut privileges, mut missing) = (0u64, Vec::<String>::new(), 0);
    for trial in &study.experiments {
        match Prepared::of_file(&trial.written, &Placement::default()) {
            Ok(Prepared { plan, .. }) => {
                space_bytes = space_bytes.max(plan.cost.space_bytes);
                privileges.extend(plan.cost.privileges.iter().cloned());
                missing += usize::from(plan.cells.iter().all(|cell| cell.skip.is_some()));
            }
            Err(_) => missing += 1,
        }
    }
    privileges.sort();
    privileges.dedup();
    let mut text = format!(
        "{} claims; {}; up to {} of space",
        study.claims.len(),
        rough_time_text(study.budget_ns as f64),
        bytes_text(space_bytes)
    );
    if !privileges.is_empty() {
        text.push_str(&format!("; needs {}", privileges.join("; ")));
    }
    if missing > 0 {
        let all = study.experiments.len();
        text.push_str(&format!("; {missing} of its {all} experiments cannot be had here"));
    }
    text
}

fn show(study: &Study) -> Ending {
    terminal_io::data(|out| {
        writeln!(out, "{}\n\n{}\n", study.title, study.summary.trim())?;
        for (name, fact) in &study.source {
            writeln!(out, "{name}: {fact}")?;
        }
        writeln!(out, "\nClaims")?;
        for claim in &study.claims {
            let ours = if claim.ours == study::Ours::All { " (ours)" } else { "" };
            writeln!(out, "  {:<24} {}{ours}", claim.id, claim.says)?;
        }
        writeln!(out, "\nExperiments")?;
        for trial in &study.experiments {
            let experiment = &trial.written.experiment;
            let cells: u64 = experiment.factors.values().map(|l| l.len() as u64).product();
            let title = experiment.title.as_deref().unwrap_or_default();
            writeln!(out, "  {:<24} {}, {cells} cells: {title}", trial.name, experiment.workload)?;
        }
        writeln!(out, "\niolab study run {} judges the claims here.", study.name)
    })?;
    Ok(Exit::Done)
}
