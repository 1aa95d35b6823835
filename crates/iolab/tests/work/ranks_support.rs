//! Jobs of several ranks, started by Open MPI and by MPICH on this machine.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use iolab_model::catalog::Code;
use iolab_model::result::{Document, Phase, Sample};

use crate::cli_support::{Home, Said};

/// A library with its launcher.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mpi {
    /// As its package is called.
    pub name: &'static str,
    mpicc: &'static str,
    /// Its launcher.
    pub mpirun: &'static str,
}

/// Open MPI.
pub const OPEN_MPI: Mpi = Mpi { name: "openmpi", mpicc: "mpicc.openmpi", mpirun: "mpirun.openmpi" };
/// MPICH.
pub const MPICH: Mpi = Mpi { name: "mpich", mpicc: "mpicc.mpich", mpirun: "mpirun.mpich" };

fn is_there(program: &str) -> bool {
    let here = |dir: PathBuf| dir.join(program).exists();
    std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(here))
}

impl Mpi {
    /// Its relay, built once; `None` where the packages are not here.
    pub fn relay(self, test: &str) -> Option<PathBuf> {
        static BUILT: [OnceLock<PathBuf>; 2] = [const { OnceLock::new() }; 2];
        if !is_there(self.mpicc) || !is_there(self.mpirun) || !is_there("clang") && !has_libclang()
        {
            let packages =
                "apt-get install openmpi-bin libopenmpi-dev mpich libmpich-dev libclang-dev";
            eprintln!("SKIP {test}: no {} here: {packages}", self.name);
            return None;
        }
        let built = BUILT[usize::from(self == MPICH)].get_or_init(|| self.build());
        Some(built.clone())
    }

    fn build(self) -> PathBuf {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mpi-{}", self.name));
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
        let mut build = Command::new(cargo);
        build.current_dir(root).args(["build", "--locked", "-p", "iolab-mpi", "--features", "mpi"]);
        build.arg("--target-dir").arg(&target).env("MPICC", self.mpicc);
        let done = build.output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        target.join("debug/iolab-mpi")
    }

    /// So many ranks of `iolab line… --mpi`.
    pub fn command(self, home: &Home, relay: &Path, ranks: u32, line: &[&str]) -> Command {
        let iolab = home.command();
        let mut command = Command::new(self.mpirun);
        if self == OPEN_MPI {
            command.arg("--oversubscribe");
        }
        command.args(["-np", &ranks.to_string()]).arg(iolab.get_program()).args(line);
        command.arg(format!("--mpi={}", relay.display()));
        let set = iolab.get_envs().filter_map(|(key, value)| Some((key, value?)));
        // A launcher that loses a rank signals its whole group, which would be that of the tests.
        command.envs(set).current_dir(home.path("")).process_group(0);
        // In a container everybody is root.
        for name in ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] {
            command.env(name, "1");
        }
        command
    }

    pub fn run(self, home: &Home, relay: &Path, ranks: u32, line: &[&str]) -> Said {
        Said::from(self.command(home, relay, ranks, line).output().unwrap())
    }
}

/// The bindings are made with it; a package of its own.
fn has_libclang() -> bool {
    let found = Command::new("sh").args(["-c", "ls /usr/lib/llvm-*/lib/libclang*.so*"]).output();
    found.is_ok_and(|found| found.status.success())
}

const SMALL: [&str; 6] = ["--file-size", "2Mi", "--block", "64Ki", "--rounds", "8"];

/// A command line with small work.
pub fn line<'a>(words: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [words, &["--format", "json", "-q"], &SMALL, more].concat()
}

/// All trials of a cell, none of which failed. Whether a state of the cache is proven depends on what else
/// the machine reads: that of one trial is.
pub fn done(run: &Document, cell: usize) -> Vec<&Sample> {
    let cell = &run.cells[cell];
    assert!(cell.samples.iter().all(|sample| sample.fault.is_none()), "{cell:?}");
    assert!(cell.samples.iter().any(|sample| sample.measurement.proof.holds()), "{cell:?}");
    cell.samples.iter().collect()
}

/// What counts of so many rounds, none of which is missing. Whether a file was warm is not ours alone:
/// somebody may drop the caches of the whole machine meanwhile, and then a trial counts for nothing, and
/// nothing else is wrong with it.
pub fn of_rounds(run: &Document, cell: usize, rounds: usize) -> Vec<&Sample> {
    let cell = &run.cells[cell];
    let steady = cell.samples.iter().filter(|sample| sample.phase == Phase::Steady);
    let (counted, cool): (Vec<_>, Vec<_>) = steady.partition(|sample| sample.counts());
    let cooled =
        |s: &Sample| s.fault.is_none() && s.measurement.flags.contains(&Code::WarmUnproven);
    assert_eq!(counted.len() + cool.len(), rounds, "{cell:?}");
    assert!(cool.into_iter().all(cooled) && counted.len() * 2 >= rounds, "{cell:?}");
    counted
}

/// What lies in a directory.
pub fn left(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect()
}
