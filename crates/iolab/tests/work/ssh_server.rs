//! Other machines by a real ssh server of the tests' own: on this machine, or in namespaces.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};

use rustix::process::{Pid, Signal, kill_process};

use crate::cli_support::{Home, Said, wait_for};

const SSHD: &str = "/usr/sbin/sshd";

/// A machine named `there`: an ssh server with keys of its own, whose sessions have a home of the
/// test's.
pub struct Server {
    pub home: Home,
    daemon: Daemon,
}

/// A server that ends with the test.
pub struct Daemon(Child);

impl Daemon {
    pub fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub fn kill(pid: u32) {
    send(pid, Signal::KILL);
}

pub fn send(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid as i32).unwrap(), signal).unwrap();
}

/// Whether a program of the system is not installed.
pub fn lacks(program: &str) -> bool {
    Command::new(program).arg("-V").output().is_err()
}

impl Server {
    /// `None` says why there is none.
    pub fn start(test: &str) -> Option<Server> {
        Server::start_in(test, &[], "127.0.0.1")
    }

    /// `inside` is prefixed to the server's command.
    pub fn start_in(test: &str, inside: &[String], address: &str) -> Option<Server> {
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
        let wrapper = home.path("bin/ssh");
        let config = home.path("ssh-config");
        let text = format!("#!/bin/sh\nexec /usr/bin/ssh -F '{}' \"$@\"\n", config.display());
        fs::write(&wrapper, text).unwrap();
        fs::set_permissions(&wrapper, PermissionsExt::from_mode(0o755)).unwrap();
        let daemon = daemon(&home, "there", inside, address, "");
        Some(Server { home, daemon })
    }

    /// Another machine with the same home, by a server of its own.
    pub fn beside(&self, name: &str, inside: &[String], address: &str) -> Daemon {
        daemon(&self.home, name, inside, address, "")
    }

    /// This machine again, as one whose sessions have these variables of the environment.
    pub fn beside_with(&self, name: &str, inside: &[String], variables: &str) -> Daemon {
        daemon(&self.home, name, inside, "127.0.0.1", variables)
    }

    /// The same machine by another name, as launchers call it.
    pub fn also_named(&self, name: &str) {
        let known = fs::read_to_string(self.home.path("ssh-config")).unwrap();
        let named = known.replacen("Host there\n", &format!("Host there {name}\n"), 1);
        fs::write(self.home.path("ssh-config"), named).unwrap();
    }

    /// The server's process.
    pub fn id(&self) -> u32 {
        self.daemon.id()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.home.command();
        command.args(arguments).env("PATH", self.path());
        command
    }

    /// Where ssh is found that knows the machines of the test.
    pub fn path(&self) -> String {
        format!("{}:/usr/bin:/bin:/usr/sbin", self.home.path("bin").display())
    }

    pub fn run(&self, arguments: &[&str]) -> Said {
        Said::from(self.command(arguments).output().unwrap())
    }

    /// The directory there that runs work in.
    pub fn there(&self) -> String {
        self.home.path("there").display().to_string()
    }

    /// What runs have left there.
    pub fn left(&self) -> Vec<String> {
        let names = fs::read_dir(self.there()).unwrap().map(|entry| entry.unwrap().file_name());
        let names = names.map(|name| name.to_string_lossy().into_owned());
        names.filter(|name| name.starts_with(".iolab") || name.starts_with("iolab")).collect()
    }

    pub fn copies(&self) -> Vec<PathBuf> {
        let cache = fs::read_dir(self.home.path("there/.cache/iolab"));
        cache.into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
    }
}

fn daemon(home: &Home, name: &str, inside: &[String], address: &str, variables: &str) -> Daemon {
    static STARTED: AtomicU16 = AtomicU16::new(0);
    let port =
        20_000 + std::process::id() as u16 % 20_000 + STARTED.fetch_add(1, Ordering::Relaxed);
    let at = |name: &str| home.path(name).display().to_string();
    let config = format!(
        "Port {port}\nListenAddress {address}\nHostKey {}\nAuthorizedKeysFile {}\n\
         StrictModes no\nPidFile none\nUsePAM no\nSetEnv HOME={} {variables}\n",
        at("host-key"),
        at("key.pub"),
        at("there")
    );
    let (own, log) = (format!("sshd-{name}"), format!("log-{name}"));
    fs::write(home.path(&own), config).unwrap();
    let known = "StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nLogLevel ERROR\n";
    let host = format!(
        "Host {name}\nHostName {address}\nPort {port}\nIdentityFile {}\nIdentitiesOnly yes\n{known}",
        at("key")
    );
    let before = fs::read_to_string(home.path("ssh-config")).unwrap_or_default();
    fs::write(home.path("ssh-config"), before + &host).unwrap();
    let mut all = inside.to_vec();
    all.extend([SSHD.to_owned(), "-D".into(), "-e".into(), "-f".into(), at(&own)]);
    let stderr = fs::File::create(home.path(&log)).unwrap();
    let child = Command::new(&all[0]).args(&all[1..]).stderr(stderr).stdin(Stdio::null()).spawn();
    let daemon = Daemon(child.unwrap());
    wait_for("the ssh server", || {
        fs::read_to_string(home.path(&log)).unwrap().contains("Server listening")
    });
    daemon
}

/// A network namespace with a line to it, from this one or from another; it goes with the value.
pub struct Network {
    pub name: String,
    /// The address in it, and that of the other end.
    pub address: String,
    pub other: String,
}

fn ip(line: &str) -> bool {
    let done = Command::new("ip").args(line.split(' ')).stderr(Stdio::null()).status();
    done.is_ok_and(|status| status.success())
}

fn is_up(line: &str) -> bool {
    let said = Command::new("ip").args(line.split(' ')).output().unwrap();
    String::from_utf8_lossy(&said.stdout).contains(" state UP ")
}

impl Network {
    /// `None` says why there is none.
    pub fn make(test: &str) -> Option<Network> {
        Network::lined(test, None)
    }

    /// One with a line to another, and to nothing else.
    pub fn beyond(test: &str, first: &Network) -> Option<Network> {
        Network::lined(test, Some(first))
    }

    /// One without any line.
    pub fn alone(test: &str) -> Option<Network> {
        let network = Network::numbered();
        let name = &network.name;
        let made = ip(&format!("netns add {name}")) && ip(&format!("-n {name} link set lo up"));
        network.if_made(made, test)
    }

    fn numbered() -> Network {
        static MADE: AtomicU16 = AtomicU16::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let net = (std::process::id() + 50 * u32::from(number)) % 250;
        let [other, address] = [1, 2].map(|end| format!("198.18.{net}.{end}"));
        let name = format!("il{}x{number}", std::process::id() % 100_000);
        Network { name, address, other }
    }

    fn if_made(self, made: bool, test: &str) -> Option<Network> {
        if !made {
            eprintln!("SKIP {test}: no network namespace here: root and iproute2 are needed");
        }
        made.then_some(self)
    }

    fn lined(test: &str, from: Option<&Network>) -> Option<Network> {
        let network = Network::numbered();
        let Network { name, address, other } = &network;
        let before = from.map_or_else(String::new, |from| format!("-n {} ", from.name));
        let made = ip(&format!("netns add {name}"))
            && ip(&format!("{before}link add {name}a type veth peer name {name}a netns {name}"))
            && ip(&format!("{before}address add {other}/24 dev {name}a"))
            && ip(&format!("{before}link set {name}a up"))
            && ip(&format!("-n {name} address add {address}/24 dev {name}a"))
            && ip(&format!("-n {name} link set {name}a up"))
            && ip(&format!("-n {name} link set lo up"));
        if made {
            // The kernel takes up to a second to say so, and MPICH passes over a line that is not.
            for end in [before, format!("-n {name} ")] {
                wait_for("a line that is up", || is_up(&format!("{end}link show {name}a up")));
            }
        }
        network.if_made(made, test)
    }

    /// What is prefixed to commands that run there.
    pub fn inside(&self) -> Vec<String> {
        ["ip", "netns", "exec", &self.name].map(str::to_owned).to_vec()
    }

    /// The same, on a machine of this name.
    pub fn inside_as(&self, host: &str) -> Vec<String> {
        let script = format!("echo {host} >/proc/sys/kernel/hostname && exec \"$@\"");
        let named = ["unshare", "-u", "sh", "-c", &script, "sh"].map(str::to_owned);
        [self.inside(), named.to_vec()].concat()
    }

    /// Nobody closes anything: packets go nowhere any more.
    pub fn cut(&self) {
        assert!(ip(&format!("-n {0} link set {0}a down", self.name)));
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        ip(&format!("netns delete {}", self.name));
    }
}
