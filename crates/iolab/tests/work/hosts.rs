//! Runs on another machine, by a real ssh server of the tests' own: on this machine, and in a network
//! namespace that is cut off.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use iolab_model::catalog::Fact;
use iolab_model::result::Document;

use crate::cli_support::{Home, Said, children, wait_for};

const SSHD: &str = "/usr/sbin/sshd";

/// A machine named `there`: an ssh server with keys of its own, whose sessions have a home of the
/// test's.
struct Server {
    home: Home,
    child: Child,
    /// What is prefixed to commands that run where the server does.
    inside: Vec<String>,
}

impl Server {
    /// `None` says why there is none.
    fn start(test: &str) -> Option<Server> {
        Server::start_in(test, &[], "127.0.0.1")
    }

    fn start_in(test: &str, inside: &[String], address: &str) -> Option<Server> {
        let lacks = |program: &str| Command::new(program).arg("-V").output().is_err();
        if !Path::new(SSHD).exists() || lacks("ssh") {
            eprintln!("SKIP {test}: no ssh server: apt-get install openssh-server openssh-client");
            return None;
        }
        let home = Home::open();
        for key in ["host-key", "key"] {
            let mut make = Command::new("ssh-keygen");
            make.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(home.path(key));
            assert!(make.status().unwrap().success());
        }
        // Compiled into Debian's server; packages make it at boot.
        let _ = fs::create_dir_all("/run/sshd");
        for directory in ["there", "bin"] {
            fs::create_dir(home.path(directory)).unwrap();
        }
        let port = 20_000 + std::process::id() as u16 % 20_000 + test.len() as u16;
        let at = |name: &str| home.path(name).display().to_string();
        let config = format!(
            "Port {port}\nListenAddress {address}\nHostKey {}\nAuthorizedKeysFile {}\n\
             StrictModes no\nPidFile none\nUsePAM no\nSetEnv HOME={}\n",
            at("host-key"),
            at("key.pub"),
            at("there")
        );
        fs::write(home.path("sshd-config"), config).unwrap();
        let known = "StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nLogLevel ERROR\n";
        let config = format!(
            "Host there\nHostName {address}\nPort {port}\nIdentityFile {}\nIdentitiesOnly yes\n{known}",
            at("key")
        );
        fs::write(home.path("ssh-config"), config).unwrap();
        let wrapper = home.path("bin/ssh");
        let real = "exec /usr/bin/ssh -F";
        fs::write(&wrapper, format!("#!/bin/sh\n{real} '{}' \"$@\"\n", at("ssh-config"))).unwrap();
        fs::set_permissions(&wrapper, PermissionsExt::from_mode(0o755)).unwrap();
        let mut all = inside.to_vec();
        all.extend([SSHD.to_owned(), "-D".into(), "-e".into(), "-f".into(), at("sshd-config")]);
        let log = fs::File::create(home.path("log")).unwrap();
        let child = Command::new(&all[0]).args(&all[1..]).stderr(log).stdin(Stdio::null()).spawn();
        let server = Server { home, child: child.unwrap(), inside: inside.to_vec() };
        wait_for("the ssh server", || {
            fs::read_to_string(server.home.path("log")).unwrap().contains("Server listening")
        });
        Some(server)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.home.command();
        let path = format!("{}:/usr/bin:/bin:/usr/sbin", self.home.path("bin").display());
        command.args(arguments).env("PATH", path);
        command
    }

    fn run(&self, arguments: &[&str]) -> Said {
        Said::from(self.command(arguments).output().unwrap())
    }

    /// The directory there that runs work in.
    fn there(&self) -> String {
        self.home.path("there").display().to_string()
    }

    /// What runs have left there.
    fn left(&self) -> Vec<String> {
        let names = fs::read_dir(self.there()).unwrap().map(|entry| entry.unwrap().file_name());
        let names = names.map(|name| name.to_string_lossy().into_owned());
        names.filter(|name| name.starts_with(".iolab") || name.starts_with("iolab")).collect()
    }

    fn copies(&self) -> Vec<PathBuf> {
        let cache = fs::read_dir(self.home.path("there/.cache/iolab"));
        cache.into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let [_, _, _, name] = self.inside.as_slice() {
            let _ = Command::new("ip").args(["netns", "delete", name]).status();
        }
    }
}

const SMALL: [&str; 8] =
    ["--file-size", "2Mi", "--method", "pread,mmap", "--block", "64Ki", "--rounds", "10"];

fn document(said: Said) -> Document {
    serde_json::from_str(&said.fine().out).unwrap()
}

#[test]
fn a_run_on_another_machine_is_recorded_here() {
    let Some(server) = Server::start("a_run_on_another_machine_is_recorded_here") else { return };
    let there = server.there();
    let line = [&["read", "--on", "there", "--format", "json", &there][..], &SMALL].concat();
    let run = document(server.run(&line));
    assert_eq!(run.environment.text(Fact::RunHost), Some("there"));
    assert_eq!(run.experiment.directory.as_deref(), Some(there.as_str()));
    assert!(run.answers[0].pick.is_some() && run.run.complete, "{:?}", run.answers);
    assert_eq!(server.left(), [""; 0], "the files there are gone");
    // One copy of the program, for nobody else, and it is taken again.
    let [copy] = &server.copies()[..] else { panic!("{:?}", server.copies()) };
    let about = fs::metadata(copy).unwrap();
    assert_eq!(about.permissions().mode() & 0o777, 0o700);
    let shown = server.run(&["show", "last"]).fine();
    assert!(shown.plain().contains(" of there · "), "{shown:?}");
    document(server.run(&line));
    assert_eq!(fs::metadata(copy).unwrap().modified().unwrap(), about.modified().unwrap());
    // What it is going to do says where.
    let plan = server.run(&["read", "--on", "there", "--file-size", "2Mi", "--plan"]).fine();
    assert!(plan.plain().contains("on there, by ssh; the record stays here"), "{plan:?}");
    assert!(plan.plain().contains("in /var/tmp, removed afterwards"), "{plan:?}");
    // The same run goes on there, without being told.
    let more = server.run(&["more", "last", "1s"]).fine();
    assert!(more.plain().contains(" of there · "), "{more:?}");
    let here = server.run(&["doctor", "--on", "there", &there]).fine();
    assert!(here.plain().contains("directory"), "{here:?}");
}

#[test]
fn a_machine_that_cannot_be_had_is_named_with_what_helps() {
    let test = "a_machine_that_cannot_be_had_is_named_with_what_helps";
    let Some(server) = Server::start(test) else { return };
    let read = |more: &[&str]| server.run(&[&["read", "--file-size", "2Mi"][..], more].concat());
    let works = "true` works without a question";
    read(&["--on", "no-such-host.invalid"]).refused(1, &["look at no-such-host.invalid", works]);
    read(&["--on=-oProxyCommand=false"]).refused(2, &["--on", "no name of a machine"]);
    read(&["--on", "there", "data/file"]).refused(2, &["data/file", "give the whole path"]);
    read(&["--on", "there", "/no/such"]).refused(2, &["/no/such"]);
    let missing = read(&["--on", "there", "--on-program", "/no/iolab"]);
    missing.refused(1, &["start iolab on there", "/no/iolab", "--on-program PATH"]);
    // No key that it takes.
    fs::write(server.home.path("key.pub"), "").unwrap();
    read(&["--on", "there"]).refused(1, &["Permission denied", works]);
    assert_eq!(server.left(), [""; 0]);
}

/// Ends what runs there, or the way to it, in the middle of a run.
fn broken(server: &Server, breaks: impl Fn(u32)) -> (Said, Duration) {
    let there = server.there();
    let line = ["read", "--on", "there", &there, "--file-size", "2Mi", "--budget", "20s"];
    let line = [&line[..], &["--method", "pread,mmap", "--rounds", "100000"]].concat();
    let mut command = server.command(&line);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut err = String::new();
    while !err.contains("a round takes about") {
        assert!(errors.read_line(&mut err).unwrap() > 0, "it ended: {err}");
    }
    breaks(children(child.id())[0]);
    let since = Instant::now();
    let reader = std::thread::spawn(move || {
        errors.read_to_string(&mut err).unwrap();
        err
    });
    let mut said = Said::from(child.wait_with_output().unwrap());
    said.err = reader.join().unwrap();
    (said, since.elapsed())
}

#[test]
fn a_line_that_is_cut_loses_a_trial_and_nothing_there() {
    let test = "a_line_that_is_cut_loses_a_trial_and_nothing_there";
    let Some(server) = Server::start(test) else { return };
    let kill = |pid: u32| {
        let pid = rustix::process::Pid::from_raw(pid as i32).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    };
    // The agent there ends with its stream, another one takes its place.
    let (said, _) = broken(&server, kill);
    assert_eq!(said.code, Some(0), "{said:?}");
    wait_for("the agents there to clean up", || server.left().is_empty());
    // The server is gone: what was measured stays, and the run says why it ended.
    let pid = server.child.id();
    let (said, _) = broken(&server, |line| {
        kill(pid);
        kill(line);
    });
    assert!(said.code.is_some_and(|code| code != 0), "{said:?}");
    assert!(said.err.contains("there"), "{said:?}");
    wait_for("the agent there to clean up", || server.left().is_empty());
    let listed = server.run(&["history"]).fine();
    assert!(listed.out.lines().count() >= 2, "the run is in the history: {listed:?}");
}

/// Nobody closes anything: packets go nowhere any more.
#[test]
fn a_network_that_is_cut_leaves_nothing_running_there() {
    let test = "a_network_that_is_cut_leaves_nothing_running_there";
    let name = format!("iolab{}", std::process::id());
    let ip = |line: &str| {
        let done = Command::new("ip").args(line.split(' ')).stderr(Stdio::null()).status();
        done.is_ok_and(|status| status.success())
    };
    let net = std::process::id() % 250;
    let (own, theirs) = (format!("198.18.{net}.1/24"), format!("198.18.{net}.2"));
    let made = ip(&format!("netns add {name}"))
        && ip(&format!("link add {name}a type veth peer name {name}b netns {name}"))
        && ip(&format!("address add {own} dev {name}a"))
        && ip(&format!("link set {name}a up"))
        && ip(&format!("-n {name} address add {theirs}/24 dev {name}b"))
        && ip(&format!("-n {name} link set {name}b up"));
    if !made {
        ip(&format!("netns delete {name}"));
        return eprintln!("SKIP {test}: no network namespace here: root and iproute2 are needed");
    }
    let inside = ["ip", "netns", "exec", &name].map(str::to_owned);
    let Some(server) = Server::start_in(test, &inside, &theirs) else {
        ip(&format!("netns delete {name}"));
        return;
    };
    let (said, took) = broken(&server, |_| assert!(ip(&format!("link set {name}a down"))));
    assert!(said.code.is_some_and(|code| code != 0), "{said:?}");
    assert!(took < Duration::from_secs(120), "{took:?}: {said:?}");
    // The agent hears nothing for half a minute and ends.
    wait_for("the agent there to clean up", || server.left().is_empty());
}
