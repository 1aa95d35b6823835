//! The ranks of an MPI job on two machines: namespaces with networks and names of their own, a line
//! between them, and a directory that both have. The launcher reaches the second by ssh.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use iolab_model::catalog::{Fact, Factor};
use iolab_model::result::Document;

use crate::cli_support::{Said, has_ended, wait_for};
use crate::ranks::{begun_by, below, is_cleaned_up, words_of};
use crate::ranks_support::{MPICH, Mpi, OPEN_MPI, done, left, of_rounds};
use crate::ssh_server::{Network, Server, kill};

/// Where the job is started, and the machine that ssh reaches from there.
struct Cluster {
    mpi: Mpi,
    relay: PathBuf,
    first: Network,
    second: Network,
    server: Server,
    /// What MPICH talks by goes through memory else: it sees that these are one machine after all. By
    /// the network its farewell at times fails, after all is done.
    by_network: bool,
}

impl Cluster {
    /// `None` says why there is none.
    fn of(mpi: Mpi, test: &str) -> Option<Cluster> {
        let relay = mpi.relay(test)?;
        let first = Network::alone(test)?;
        let second = Network::beyond(test, &first)?;
        let server = Server::start_in(test, &second.inside_as("node-b"), &second.address)?;
        server.also_named(&second.address);
        fs::create_dir(server.home.path("data")).unwrap();
        Some(Cluster { mpi, relay, first, second, server, by_network: false })
    }

    fn shared(&self) -> PathBuf {
        self.server.home.path("data")
    }

    /// Two ranks on each of `iolab words… --mpi`.
    fn command(&self, words: &[&str]) -> Command {
        let (iolab, inside) = (self.server.home.command(), self.first.inside_as("node-a"));
        let mut command = Command::new(&inside[0]);
        command.args(&inside[1..]).arg(self.mpi.mpirun);
        let hosts = format!("{}:2,{}:2", self.second.other, self.second.address);
        match self.mpi == OPEN_MPI {
            true => command.args(["--oversubscribe", "--bind-to", "none", "--host", &hosts]),
            false => command.args(["-launcher", "ssh", "-hosts", &hosts]),
        };
        command.args(["-np", "4"]).arg(iolab.get_program()).args(words);
        command.arg(format!("--mpi={}", self.relay.display()));
        let set = iolab.get_envs().filter_map(|(key, value)| Some((key, value?)));
        command.envs(set).env("PATH", self.server.path());
        if self.by_network {
            command.env("UCX_TLS", "tcp,self");
        }
        command.current_dir(self.server.home.path("")).process_group(0);
        for name in ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] {
            command.env(name, "1");
        }
        command
    }

    /// A run that would go on for long, at its first rounds.
    fn begun(&self) -> Child {
        let there = self.shared().display().to_string();
        let words = ["read", &there, "--file-size", "2Mi", "--method", "pread", "--budget", "60s"];
        let words = [&words[..], &["--block", "64Ki", "--rounds", "100000"]].concat();
        begun_by(self.command(&words), &self.server.home)
    }

    /// What runs on the second machine.
    fn there(&self) -> Vec<u32> {
        below(self.server.id())
    }
}

fn is_relay(pid: &u32) -> bool {
    words_of(*pid).contains("/iolab-mpi /")
}

/// The ranks of one machine share a clock, and those of the other have theirs: the record says how many
/// machines there were, and all four have done their part.
fn two_machines_are_one_job(mpi: Mpi, test: &str) {
    let Some(cluster) = Cluster::of(mpi, test) else { return };
    let there = cluster.shared().display().to_string();
    let words = ["write", &there, "--file-size", "2Mi", "--block", "64Ki", "--method", "pwrite"];
    let words = [&words[..], &["--ranks", "1,4", "--rounds", "8"]].concat();
    let json = [&words[..], &["--format", "json", "-q"]].concat();
    let said = Said::from(cluster.command(&json).output().unwrap()).fine();
    let run: Document = serde_json::from_str(&said.out).unwrap();
    assert_eq!(run.environment.number(Fact::RunRanks), Some(4));
    assert_eq!(run.environment.number(Fact::RunNodes), Some(2), "{:?}", run.environment);
    for (cell, ranks) in [(0, 1), (1, 4)] {
        for sample in of_rounds(&run, cell, 8) {
            assert_eq!(sample.measurement.bytes % (ranks * (2 << 20)), 0);
            assert!(sample.measurement.proof.holds() && sample.fault.is_none());
            assert!(sample.measurement.metrics["barrier_ns"] > 0.0);
        }
    }
    assert!(left(&cluster.shared()).is_empty(), "the files are gone");
    let plan = Said::from(cluster.command(&[&words[..], &["--plan"]].concat()).output().unwrap());
    assert!(plan.fine().plain().contains("on 4 ranks of 2 machines, by"));
    // What is wrong on the other machine is told with its name.
    let hidden = cluster.server.home.path("hidden");
    let name = hidden.display().to_string();
    let missing =
        Said::from(cluster.command(&["write", &name, "--file-size", "2Mi"]).output().unwrap());
    assert!(missing.err.contains("rank 0 on node-a"), "{missing:?}");
}

/// What a rank has made itself is in the memory of its machine: it works on what the other one made.
#[test]
fn ranks_work_on_files_of_the_other_machine() {
    let Some(cluster) = Cluster::of(MPICH, "ranks_work_on_files_of_the_other_machine") else {
        return;
    };
    let there = cluster.shared().display().to_string();
    let words = ["files", "read,stat", &there, "--files", "90", "--file-size", "3901"];
    let words = [&words[..], &["--threads", "1", "--shift", "auto", "--share", "own,one"]].concat();
    let json = [&words[..], &["--rounds", "6", "--format", "json", "-q"]].concat();
    let said = Said::from(cluster.command(&json).output().unwrap()).fine();
    let run: Document = serde_json::from_str(&said.out).unwrap();
    assert_eq!(run.environment.number(Fact::RunNodes), Some(2), "{:?}", run.environment);
    assert_eq!(run.cells.len(), 4);
    for (at, cell) in run.cells.iter().enumerate() {
        // Two ranks on each machine: the second one on has its files on the other.
        assert_eq!(cell.factors.number(Factor::Shift), Some(2), "{cell:?}");
        let samples = done(&run, at);
        assert!(samples.len() >= 6, "{cell:?}");
        for measured in samples.iter().map(|sample| &sample.measurement) {
            assert_eq!(measured.proof.digest.as_ref().unwrap().matches, Some(true));
        }
    }
    assert!(left(&cluster.shared()).is_empty(), "the files are gone");
    let plan = Said::from(cluster.command(&[&words[..], &["--plan"]].concat()).output().unwrap());
    assert!(!plan.fine().plain().contains("their own machine"), "nobody does");
    let near = [&words[..5], &["--threads", "1", "--shift", "1", "--plan"]].concat();
    let plan = Said::from(cluster.command(&near).output().unwrap()).fine().plain();
    assert!(plan.contains("2 of 4 ranks work on what"), "{plan}");
}

#[test]
fn two_machines_are_one_job_of_open_mpi() {
    two_machines_are_one_job(OPEN_MPI, "two_machines_are_one_job_of_open_mpi");
}

#[test]
fn two_machines_are_one_job_of_mpich() {
    two_machines_are_one_job(MPICH, "two_machines_are_one_job_of_mpich");
}

/// Whoever is killed, a rank of the far machine, the launcher, the line between them: what was measured
/// is in the history, and nothing is left nor runs on any machine. The last two in `make trust`.
#[test]
fn whatever_of_two_machines_is_killed_nothing_is_left_on_any() {
    let test = "whatever_of_two_machines_is_killed_nothing_is_left_on_any";
    let all = std::env::var_os("IOLAB_TRUST").is_some();
    let victims: &[&str] = if all { &["rank", "mpirun", "ssh"] } else { &["rank"] };
    for mpi in [OPEN_MPI, MPICH] {
        for whom in victims {
            let Some(cluster) = Cluster::of(mpi, test) else { return };
            let job = cluster.begun();
            let (own, theirs) = (below(job.id()), cluster.there());
            assert_eq!(theirs.iter().filter(|pid| is_relay(pid)).count(), 2, "{mpi:?}");
            let victim = match *whom {
                "rank" => theirs.iter().copied().filter(is_relay).max(),
                "ssh" => own.iter().copied().find(|pid| words_of(*pid).contains("ssh -F")),
                _ => Some(job.id()),
            };
            kill(victim.unwrap());
            let all = [own, theirs].concat();
            let said = is_cleaned_up(&cluster.server.home, job, &all, &cluster.shared());
            // MPICH's daemons have lines of their own: ssh has only started them, and the run goes on.
            let whole = || {
                let run = cluster.server.home.run(&["show", "last", "--format", "json"]).fine();
                serde_json::from_str::<Document>(&run.out).unwrap().run.complete
            };
            let fine = said.code == Some(0) && *whom == "ssh" && mpi == MPICH && whole();
            assert!(fine || said.code != Some(0), "{mpi:?} {whom} {said:?}");
        }
    }
}

/// Packets between the machines go nowhere, and nobody closes anything: each side sees by itself that
/// it waits in vain, removes what it made, and ends. The ranks of MPICH that were out of reach of their
/// launcher asked it to end the job, and waited for its answer for ever.
#[test]
fn machines_that_are_cut_off_from_each_other_end_by_themselves() {
    let test = "machines_that_are_cut_off_from_each_other_end_by_themselves";
    let (Some(open), Some(mpich)) = (Cluster::of(OPEN_MPI, test), Cluster::of(MPICH, test)) else {
        return;
    };
    // Both at once: what takes long is to wait in vain.
    let clusters = [open, mpich].map(|cluster| Cluster { by_network: true, ..cluster });
    let mut cut = clusters.each_ref().map(Cut::of);
    let since = Instant::now();
    let ended = |pid: &u32| !Path::new(&format!("/proc/{pid}")).exists() || !is_relay(pid);
    while !cut.iter().flat_map(|cut| &cut.relays).all(ended) {
        assert!(since.elapsed() < Duration::from_secs(240), "they wait for ever");
        std::thread::sleep(Duration::from_millis(50));
    }
    for (cluster, cut) in clusters.iter().zip(&mut cut) {
        wait_for("the directories to be removed", || left(&cluster.shared()).is_empty());
        // The launcher itself may wait for a daemon that it cannot reach, and the ssh to it; they hold
        // nothing of ours.
        let _ = cut.job.kill();
        cut.job.wait().unwrap();
        cut.launching.iter().filter(|pid| !has_ended(**pid)).for_each(|pid| kill(*pid));
        wait_for("everything of ours to end", || cut.agents.iter().all(|pid| has_ended(*pid)));
        let run = cluster.server.home.run(&["show", "last", "--format", "json"]).fine();
        let run: Document = serde_json::from_str(&run.out).unwrap();
        assert!(!run.run.complete && run.cells[0].samples.iter().any(|s| s.counts()));
        let log = fs::read_to_string(cluster.server.home.path("log")).unwrap();
        assert!(log.contains("in vain; the job ends"), "{log}");
    }
}

/// A job whose machines are cut off from each other.
struct Cut {
    job: Child,
    launching: Vec<u32>,
    relays: Vec<u32>,
    agents: Vec<u32>,
}

impl Cut {
    fn of(cluster: &Cluster) -> Cut {
        let job = cluster.begun();
        let own = below(job.id());
        let is_ssh = |pid: &u32| words_of(*pid).contains("/ssh -F ");
        let launching = own.iter().copied().filter(is_ssh).collect();
        let all = [own, cluster.there()].concat();
        let relays: Vec<u32> = all.iter().copied().filter(is_relay).collect();
        let is_agent = |pid: &u32| words_of(*pid).starts_with("iolab agent ");
        let agents: Vec<u32> = all.into_iter().filter(is_agent).collect();
        assert!(relays.len() == 4 && agents.len() >= 4, "{relays:?} {agents:?}");
        cluster.second.cut();
        Cut { job, launching, relays, agents }
    }
}
