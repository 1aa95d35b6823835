//! Ranks that `srun` starts: Slurm's daemons of the tests' own on this machine, in a directory of
//! theirs.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use iolab_model::catalog::Fact;
use iolab_model::result::Document;

use crate::cli_support::{Home, Said, wait_for};
use crate::ranks_support::{MPICH, OPEN_MPI, left, line, of_rounds};
use crate::ssh_server::lacks;

const CONTROLLER: &str = "/usr/sbin/slurmctld";
const NODE: &str = "/usr/sbin/slurmd";

/// A cluster of this machine, which ends with the test.
struct Slurm {
    home: Home,
    daemons: Vec<Child>,
}

impl Drop for Slurm {
    fn drop(&mut self) {
        for daemon in &mut self.daemons {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

impl Slurm {
    /// `None` says why there is none.
    fn start(test: &str) -> Option<Slurm> {
        let lacks_one = [CONTROLLER, NODE, "srun", "sinfo"].into_iter().any(lacks);
        if lacks_one || !rustix::process::geteuid().is_root() {
            eprintln!("SKIP {test}: no Slurm to start: root and apt-get install slurm-wlm");
            return None;
        }
        let home = Home::open();
        fs::create_dir(home.path("data")).unwrap();
        fs::write(home.path("slurm.conf"), configured(&home)).unwrap();
        let mut slurm = Slurm { home, daemons: Vec::new() };
        for daemon in [CONTROLLER, NODE] {
            let log = fs::File::create(slurm.home.path("log")).unwrap();
            let mut command = Command::new(daemon);
            command.arg("-D").env("SLURM_CONF", slurm.home.path("slurm.conf"));
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
            slurm.daemons.push(command.spawn().unwrap());
        }
        wait_for("a node of Slurm that is idle", || {
            let said = slurm.client("sinfo").args(["-h", "-o", "%t"]).output().unwrap();
            String::from_utf8_lossy(&said.stdout).trim() == "idle"
        });
        Some(slurm)
    }

    fn client(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("SLURM_CONF", self.home.path("slurm.conf"));
        command
    }

    /// Four ranks of `iolab words… --mpi`, by one of the kinds of `srun --mpi=list`.
    fn run(&self, kind: &str, relay: &Path, words: &[&str]) -> Said {
        let iolab = self.home.command();
        let mut command = self.client("srun");
        command.args(["-n", "4", &format!("--mpi={kind}")]).arg(iolab.get_program()).args(words);
        command.arg(format!("--mpi={}", relay.display())).process_group(0);
        command.envs(iolab.get_envs().filter_map(|(key, value)| Some((key, value?))));
        Said::from(command.current_dir(self.home.path("")).output().unwrap())
    }
}

/// Nobody else's daemons, keys or directories are used; four ranks fit on any machine.
fn configured(home: &Home) -> String {
    // Slurm knows a machine by its name without the domain.
    let named = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let host = named.split('.').next().unwrap_or("localhost");
    let port = 40_000 + std::process::id() % 10_000 * 2;
    let at = |name: &str| home.path(name).display().to_string();
    format!(
        "ClusterName=iolab\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={port}\nSlurmdPort={}\n\
         SlurmUser=root\nAuthType=auth/none\nCredType=cred/none\nStateSaveLocation={}\n\
         SlurmdSpoolDir={}\nSlurmctldPidFile={}\nSlurmdPidFile={}\nReturnToService=2\n\
         ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSwitchType=switch/none\n\
         SlurmdParameters=config_overrides\nNodeName={host} NodeAddr=127.0.0.1 CPUs=4\n\
         PartitionName=all Nodes=ALL Default=YES State=UP\n",
        port + 1,
        at("state"),
        at("spool"),
        at("controller.pid"),
        at("node.pid"),
    )
}

/// PMI-2 for MPICH and PMIx for Open MPI make one job of four ranks; a kind that the library does not
/// know leaves four ranks that each believe to be alone, which is refused by one of them.
#[test]
fn srun_starts_ranks_by_what_each_library_knows() {
    let test = "srun_starts_ranks_by_what_each_library_knows";
    let (Some(open), Some(mpich)) = (OPEN_MPI.relay(test), MPICH.relay(test)) else {
        return;
    };
    let Some(slurm) = Slurm::start(test) else { return };
    let data = slurm.home.path("data");
    let there = data.display().to_string();
    let words = line(&["write", &there], &["--method", "pwrite"]);
    for (kind, relay) in [("pmi2", &mpich), ("pmix", &open)] {
        let said = slurm.run(kind, relay, &words).fine();
        let run: Document = serde_json::from_str(&said.out).unwrap();
        assert_eq!(run.environment.number(Fact::RunRanks), Some(4), "{kind}");
        of_rounds(&run, 0, 8);
        assert!(left(&data).is_empty(), "{kind}: the files are gone");
    }
    let said = slurm.run("none", &mpich, &words);
    assert_ne!(said.code, Some(0), "{said:?}");
    let alone = said.err.lines().filter(|line| line.starts_with("iolab: ")).collect::<Vec<_>>();
    let [alone] = alone[..] else { panic!("one line of one rank: {said:?}") };
    assert!(alone.contains("4 ranks were started (SLURM_"), "{alone}");
    assert!(left(&data).is_empty(), "nothing was made");
}
