//! `iolab study compare`: the claims of one study from two recorded sets of runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};

use super::load::load;
use super::machine::machine;
use super::run::ALPHA;
use crate::store_args::{StoreArgs, number};
use crate::terminal_io::{self, Ending, Failure};
use iolab_controller::newest;
use iolab_controller::study::title;
use iolab_model::result::Document;
use iolab_record::history::Store;
use iolab_study::{self as study, Evidence, Side, Study};

/// The same study from two machines, kernels or days, claim by claim
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  iolab study compare many-files 12 30           as of run 12 and as of run 30\n  iolab study compare many-files last old.db     beside that of another machine\n  iolab study compare many-files old.db:30 last  the other one as of its run 30"
)]
pub struct CompareStudies {
    /// A name of the list, or a file
    #[arg(value_name = "NAME", value_hint = ValueHint::FilePath)]
    name: PathBuf,
    /// A run of this history (the study as of that run), last, or the file of another history
    #[arg(value_name = "A")]
    first: String,
    /// What stands beside it, in the same way
    #[arg(value_name = "B", default_value = "last")]
    second: String,
    #[command(flatten)]
    store: StoreArgs,
}

impl CompareStudies {
    /// Prints both sides of each claim.
    ///
    /// # Errors
    /// There is no such study, run or history, or a side has no run of the study.
    pub fn run(self) -> Ending {
        let study = load(&self.name)?;
        let first = self.side(&study, &self.first)?;
        let second = self.side(&study, &self.second)?;
        terminal_io::data(|out| out.write_all(study::beside(&study, &first, &second).as_bytes()))
    }

    /// The newest runs of the study's experiments up to the run that is named, judged.
    fn side(&self, study: &Study, text: &str) -> Result<Side, Failure> {
        let (store, run) = self.history(text)?;
        let until = number(&store, run)?;
        let mut found: BTreeMap<String, Document> = BTreeMap::new();
        for trial in &study.experiments {
            if let Some(document) = newest(&store, &title(study, &trial.name), until)? {
                found.insert(trial.name.clone(), document);
            }
        }
        let Some(any) = found.values().next() else {
            return Err(Failure::usage(format!(
                "{text} has no run of the study {}: measure one with iolab study run {}",
                study.name, study.name
            )));
        };
        let machine = machine(any);
        let runs = study.experiments.iter().map(|trial| {
            let missing = || format!("the experiment {} was not run there", trial.name);
            (trial.name.clone(), found.get(&trial.name).ok_or_else(missing))
        });
        let evidence = Evidence { runs: runs.collect(), alpha: ALPHA };
        let rulings = study.claims.iter().map(|claim| study::judge(claim, &evidence)).collect();
        Ok(Side { name: text.to_owned(), machine, rulings })
    }

    /// A history and the run in it: `30`, `last`, `old.db`, `old.db:30`.
    fn history<'a>(&self, text: &'a str) -> Result<(Store, &'a str), Failure> {
        let open = |path: &Path| StoreArgs { store: Some(path.to_owned()) }.open();
        if Path::new(text).is_file() && text.parse::<u64>().is_err() {
            return Ok((open(Path::new(text))?, "last"));
        }
        match text.rsplit_once(':') {
            Some((path, run)) if Path::new(path).is_file() => Ok((open(Path::new(path))?, run)),
            _ => Ok((self.store.open()?, text)),
        }
    }
}
