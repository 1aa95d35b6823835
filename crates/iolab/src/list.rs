//! `iolab list`: what there is to choose from.

use std::io::{self, Write};

use clap::{Args, ValueEnum};

use super::place_args::MachineArgs;
use super::terminal_io::{self, Ending, Failure};
use iolab_agent::catalog::{self, METRICS, WORKLOADS};
use iolab_agent::{InspectOrder, Inspection};
use iolab_controller::Error;
use iolab_model::catalog::{Code, Factor, Part, PartKind, Role, WorkloadInfo};
use iolab_model::spec::Vocabulary;
use iolab_report::{FOLDERS, FORMATS};

/// List what there is to choose from
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  iolab list\n  iolab list methods")]
pub struct List {
    /// Which list; without one, all of them
    which: Option<Which>,
    #[command(flatten)]
    machine: MachineArgs,
}

/// The lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Which {
    Workloads,
    Methods,
    Operations,
    Axes,
    Places,
    Metrics,
    Formats,
    Warnings,
}

impl List {
    /// Prints the lists.
    ///
    /// # Errors
    /// What stdout met, or no agent can be started.
    pub fn run(self) -> Ending {
        let seen = match self.which {
            Some(Which::Places) | None => self.inspected()?,
            Some(_) => Inspection::default(),
        };
        terminal_io::data(|out| match self.which {
            Some(which) => write_rows(out, &rows(which, &seen), 0),
            None => write_all(out, &seen),
        })
    }

    /// What of the places works, asked of the agent that would make them.
    fn inspected(&self) -> Result<Inspection, Failure> {
        let location = self.machine.placement().location_named()?;
        Ok(location.inspect(&InspectOrder::of_places()).map_err(Error::from)?)
    }
}

/// Name and summary.
type Row = (String, String);

fn write_all(out: &mut dyn Write, seen: &Inspection) -> io::Result<()> {
    for (number, which) in Which::value_variants().iter().enumerate() {
        let title = format!("{which:?}");
        let gap = if number == 0 { "" } else { "\n" };
        writeln!(out, "{gap}{title}")?;
        write_rows(out, &rows(*which, seen), 2)?;
    }
    Ok(())
}

/// Names and summaries in two columns, 80 wide.
fn write_rows(out: &mut dyn Write, rows: &[Row], indent: usize) -> io::Result<()> {
    let names = indent + 2 + rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    for (name, summary) in rows {
        for (number, line) in terminal_io::wrap(summary, 80 - names.min(40)).lines().enumerate() {
            let name = if number == 0 { name.as_str() } else { "" };
            writeln!(out, "{:indent$}{name:<width$}{line}", "", width = names - indent)?;
        }
    }
    Ok(())
}

fn rows(which: Which, seen: &Inspection) -> Vec<Row> {
    match which {
        Which::Workloads => WORKLOADS.iter().map(|info| part(&info.part)).collect(),
        Which::Methods => of_kind(PartKind::Method),
        Which::Operations => operations(),
        Which::Places => places(seen),
        Which::Axes => Factor::ALL.iter().map(|factor| axis(*factor)).collect(),
        Which::Metrics => {
            METRICS.iter().map(|m| (m.info.id.into(), m.info.summary.into())).collect()
        }
        Which::Formats => FORMATS
            .iter()
            .map(|f| (f.id.into(), f.summary.into()))
            .chain(FOLDERS.iter().map(|f| (f.id.into(), f.summary.into())))
            .collect(),
        Which::Warnings => {
            Code::ALL.iter().map(|code| (code.id().into(), code.summary().into())).collect()
        }
    }
}

fn of_kind(kind: PartKind) -> Vec<Row> {
    catalog::all().iter().filter(|part| part.kind == kind).map(|p| part(p)).collect()
}

/// Each with its workload: some are a rung of the ladder and a metadata call.
fn operations() -> Vec<Row> {
    let of = |info: &&'static WorkloadInfo| {
        let id = info.part.id;
        let vocabulary = Vocabulary { info, parts: catalog::all() };
        let rows = vocabulary.parts_of(Factor::Operation).map(move |operation| {
            let (name, summary) = part(operation);
            (name, format!("{id}: {summary}"))
        });
        rows.collect::<Vec<_>>()
    };
    let with_calls =
        |info: &&WorkloadInfo| info.factors.iter().any(|f| f.factor == Factor::Operation);
    WORKLOADS.iter().filter(with_calls).flat_map(|info| of(&info)).collect()
}

fn part(part: &Part) -> Row {
    let mut summary = part.summary.to_owned();
    if part.by_name_only {
        summary += " (only where named)";
    }
    if !part.needs.is_empty() {
        summary += &format!("; needs {}", part.needs);
    }
    (part.id.to_owned(), summary)
}

/// Each place, and whether it works there: tried, not guessed.
fn places(seen: &Inspection) -> Vec<Row> {
    let row = |part: &&Part| {
        let here = match seen.missing_places.get(part.id) {
            None => "works here".to_owned(),
            Some(missing) => format!("not here: {missing}"),
        };
        (part.id.to_owned(), format!("{}; {here}", part.summary))
    };
    catalog::all().iter().copied().filter(|p| p.kind == PartKind::Place).map(|p| row(&p)).collect()
}

fn axis(factor: Factor) -> Row {
    let (name, role, _, summary) = factor.info();
    let role = match role {
        Role::Question => "question",
        Role::Condition => "condition",
    };
    (name.to_owned(), format!("{summary} ({role})"))
}
