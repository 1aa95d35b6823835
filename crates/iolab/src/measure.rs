//! The subcommands that measure, one for each workload of the catalog.

use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};

use super::console::argv;
use super::factor_args::{self, Axes};
use super::output::OutputArgs;
use super::place_args::PlaceArgs;
use super::plan_text;
use super::protocol_args::ProtocolArgs;
use super::reported::{measured, session};
use super::store_args::StoreArgs;
use super::terminal_io::{self, Ending, Exit, Failure};
use super::verbosity::Talk;
use iolab_agent::catalog::{self, WORKLOADS};
use iolab_controller::Prepared;
use iolab_model::catalog::WorkloadInfo;
use iolab_model::plan::Plan;
use iolab_model::result::Document;
use iolab_model::spec::Experiment;

/// What was written after the name of a workload.
#[derive(Clone, Debug)]
pub struct Measure {
    info: &'static WorkloadInfo,
    /// Read when it runs, so that one kind of error message serves all.
    axes: ArgMatches,
    protocol: ProtocolArgs,
    output: OutputArgs,
    places: PlaceArgs,
}

impl Measure {
    /// Measures, or prints the plan.
    ///
    /// # Errors
    /// What was asked wrongly or cannot be had.
    pub fn run(self, talk: &Talk) -> Ending {
        let experiment = self.experiment()?;
        let output = self.output.read()?;
        let prepared = self.prepared(&experiment)?;
        if self.protocol.plan {
            let format = &self.output.format;
            return terminal_io::data(|out| plan_text::write_plan(out, &prepared.plan, format));
        }
        measured(&prepared, argv(), None, &output, talk)
    }

    /// Goes on with a run that this command began.
    ///
    /// # Errors
    /// What cannot be had any more.
    pub fn resume(mut self, document: Document, store: StoreArgs, talk: &Talk) -> Ending {
        self.protocol.fix_seed(document.run.seed);
        self.output.store = store;
        let output = self.output.read()?;
        let prepared = self.prepared(&self.experiment()?)?;
        let argv = document.run.argv.clone();
        let resumes = Some(iolab_controller::resumed(document, &prepared.plan)?);
        measured(&prepared, argv, resumes, &output, talk)
    }

    /// The plan, altered, and where it runs.
    ///
    /// # Errors
    /// What was asked wrongly or cannot be had.
    pub fn planned(&self, alter: &dyn Fn(&mut Plan)) -> Result<Prepared, Failure> {
        let mut prepared = self.prepared(&self.experiment()?)?;
        alter(&mut prepared.plan);
        Ok(prepared)
    }

    /// Measures and records what was planned, and reports nothing.
    ///
    /// # Errors
    /// What ended it.
    pub fn measured(&self, prepared: &Prepared, talk: &Talk) -> Result<Document, Failure> {
        let output = self.output.read()?;
        let measured = session(prepared, argv(), None, &output, talk)?.measure()?;
        match measured.failure {
            Some(failure) => Err(failure.into()),
            None if measured.document.run.complete => Ok(measured.document),
            None => Err(Failure::said(Exit::Interrupted)),
        }
    }

    fn prepared(&self, experiment: &Experiment) -> Result<Prepared, Failure> {
        Ok(Prepared::of(experiment, &self.places.placement())?)
    }

    fn experiment(&self) -> Result<Experiment, Failure> {
        let Axes { factors, directory } = factor_args::read(self.info, &self.axes)?;
        let protocol = self.protocol.read()?;
        let workload = self.info.part.id.to_owned();
        Ok(Experiment { title: None, workload, directory, factors, protocol })
    }
}

fn command(info: &'static WorkloadInfo) -> Command {
    let command = factor_args::augment(Command::new(info.part.id), info);
    let command = PlaceArgs::augment_args(ProtocolArgs::augment_args(command));
    let command = OutputArgs::augment_args(command);
    // Last: the groups of options bring texts of their own.
    command.about(info.part.summary).long_about(None).after_help(examples(info))
}

fn examples(info: &WorkloadInfo) -> String {
    let lines: &[(&str, &str)] = match info.part.id {
        "read" => &[
            ("read big.iso", "which method and block size for this file"),
            ("read big.iso --cache cold,warm --method pread --block 256Ki", "is it the cache?"),
            (
                "read --file-size 64Ki,16Mi --method read,mmap",
                "does mmap win, and from which size on",
            ),
            ("read --threads 1..8:x2 --block 64Ki --method pread", "do more threads help"),
            (
                "read --file-size 256Mi --place ext4,xfs,btrfs:compress=zstd --cache remount",
                "which file system reads faster, each in an image of its own",
            ),
            (
                "read --method pread,io_uring --direct --queue-depth 1,32 --block 4Ki --pattern random",
                "does a deep queue help past the page cache",
            ),
            (
                "read --method pread --block 4Ki --cache cold --readahead normal,random --latency",
                "what read-ahead does to single reads",
            ),
            ("read --file-size 1Gi --plan", "what it would cost; nothing is done"),
        ],
        "write" => &[
            ("write", "which method and block size, until the data are durable"),
            (
                "write /data --sync end,dsync,sync --block 4Ki,64Ki --method pwrite",
                "what safety costs",
            ),
            (
                "write --target new,overwrite,preallocated,append --block 64Ki --method write",
                "does it pay to preallocate",
            ),
            ("write --until return --block 4Ki,64Ki", "how fast the page cache takes it"),
            ("write --file-size 1Gi --plan", "what it would cost and write; nothing is done"),
        ],
        "copy" => &[
            ("copy big.iso", "which way and buffer size copies this file fastest here"),
            (
                "copy --file-size 64Mi --method read-write --block 1..64Ki:x2",
                "what a buffer is worth",
            ),
            (
                "copy --file-size 64Mi --place ext4,xfs,btrfs,tmpfs",
                "on which file system, each in an image of its own",
            ),
            (
                "copy --file-size 64Mi --source-place ext4 --place xfs",
                "from one file system to another",
            ),
            ("copy big.iso --place dir:/mnt/disk --sync end", "to another disk, durable"),
            (
                "copy --file-size 64Mi --sparse keep,fill --method read-write",
                "holes kept or filled",
            ),
        ],
        "files" => &[
            ("files read photos --threads 1..8:x2", "how many workers read this tree fastest"),
            (
                "files copy photos --method copy_file_range,read-write",
                "which way copies it fastest; the copy is made here and removed",
            ),
            (
                "files write --files 1000 --sizes lognormal:64Ki:1.5 --sync none,each",
                "what it costs to make each file durable",
            ),
            (
                "files create,stat,remove --files 10000 --sizes empty --layout shared,sharded",
                "does one large directory cost more than many",
            ),
        ],
        "syscall" => &[
            ("syscall", "the whole ladder, one byte a call"),
            ("syscall --operation lseek,read --idle-threads 0,1", "does a second thread cost"),
            ("syscall --operation read,pread --block 1,4Ki --rounds 50", "exactly 50 rounds"),
        ],
        "meta" => &[
            ("meta", "what each metadata call costs here"),
            ("meta --operation create,stat,unlink --files 10000", "in a directory of 10 000 files"),
            (
                "meta --operation chmod --pass first,second,steady --place overlay,overlay+metacopy",
                "does metacopy make chmod cheaper, and when (as root)",
            ),
            (
                "meta --operation chmod,write-after-chmod,chmod-write --pass first --place overlay,overlay+metacopy",
                "what it saves now, what it costs later, and the sum",
            ),
            (
                "meta --operation chmod --pass first --file-size 100Ki,1Mi,10Mi --files 40 --place overlay",
                "cost against file size, with a fitted line",
            ),
        ],
        _ => &[],
    };
    let mut text = String::from("Examples:");
    for (line, why) in lines {
        text += &format!("\n  iolab {line}\n      {why}");
    }
    text + "\n\nSizes: 64Ki = 64K = 65536, 64kB = 64000. Lists and ranges on any axis:\n4Ki,64Ki and 1..64Ki:x2 and 4Ki..64Ki:+4Ki."
}

impl FromArgMatches for Measure {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Measure, clap::Error> {
        let missing = || clap::Error::new(clap::error::ErrorKind::MissingSubcommand);
        let (name, axes) = matches.subcommand().ok_or_else(missing)?;
        Ok(Measure {
            info: catalog::workload(name).ok_or_else(missing)?,
            protocol: ProtocolArgs::from_arg_matches(axes)?,
            output: OutputArgs::from_arg_matches(axes)?,
            places: PlaceArgs::from_arg_matches(axes)?,
            axes: axes.clone(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Measure::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Subcommand for Measure {
    fn augment_subcommands(parent: Command) -> Command {
        WORKLOADS.iter().fold(parent, |parent, info| parent.subcommand(command(info)))
    }

    fn augment_subcommands_for_update(parent: Command) -> Command {
        Measure::augment_subcommands(parent)
    }

    fn has_subcommand(name: &str) -> bool {
        catalog::workload(name).is_some()
    }
}
