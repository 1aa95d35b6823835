//! Another machine as a place for an agent, reached by the system's own ssh with its configuration:
//! names, keys, ports and jump hosts are ssh's.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::process::{Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::location::{Location, SurveyError, inspect_by};
use super::messages::{InspectOrder, Inspection};
use super::transport::{LocalChild, Transport};
use iolab_model::catalog::{Fact, fnv1a};
use iolab_model::result::{Environment, Fault};

/// What is done where this program is not there yet.
const COPYING: &str = "copy iolab to";
/// What is done then.
const STARTING: &str = "start iolab on";
/// This very program.
const OWN: &str = "/proc/self/exe";
/// Nothing is asked at the terminal, and a connection that says nothing for this long is lost: the
/// agent there ends and cleans up when its stream does.
const OPTIONS: [&str; 8] = [
    "-T",
    "-oBatchMode=yes",
    "-oConnectTimeout=10",
    "-oServerAliveInterval=3",
    "-oServerAliveCountMax=3",
    "-oClearAllForwardings=yes",
    "-oControlPersist=no",
    "--",
];

/// An agent that hears nothing for so long ends and cleans up: where a network is cut, ssh's server
/// there may keep its end open for hours. Between two questions a controller takes milliseconds, or
/// says that it is there.
const SILENCE_S: u64 = 15;
/// An agent there that says nothing for so long while it is asked something stands still: at work it
/// says so every few seconds. ssh's own questions are answered by its server, whatever became of the agent.
const STANDS_STILL: Duration = Duration::from_secs(12);

/// Another machine, by the name that `ssh` knows it under.
#[derive(Clone, Debug)]
pub struct Host {
    name: String,
    /// The iolab there that is started; absent: a copy of this one.
    program: Option<String>,
    /// The command that starts it, once it was seen to run: a run connects more than once, and every
    /// look there is a connection more.
    ready: Arc<OnceLock<String>>,
}

impl Host {
    /// A machine that `ssh NAME` reaches; nothing is started yet.
    ///
    /// # Errors
    /// What is no name of a machine: ssh would take it for an option.
    pub fn new(name: &str, program: Option<&str>) -> Result<Host, Fault> {
        let strange = |c: char| c.is_whitespace() || c.is_control();
        if name.is_empty() || name.starts_with('-') || name.contains(strange) {
            let cause = "it is no name of a machine; give what you write behind ssh";
            return Err(Fault::new(format!("reach {name:?}"), cause));
        }
        let program = program.map(str::to_owned);
        Ok(Host { name: name.to_owned(), program, ready: Arc::default() })
    }

    fn ssh(&self, script: &str) -> Command {
        let mut command = Command::new("ssh");
        command.args(self.words(script));
        command
    }

    /// A script for whatever shell is the person's there.
    fn words(&self, script: &str) -> Vec<OsString> {
        let script = format!("exec sh -c {}", quoted(script));
        let options = OPTIONS.iter().map(OsString::from);
        options.chain([OsString::from(&self.name), script.into()]).collect()
    }

    /// What a script there prints; `input` becomes its standard input, `fix` is what helps where the
    /// script fails.
    fn asked(
        &self,
        doing: &str,
        script: &str,
        input: Stdio,
        fix: Option<&str>,
    ) -> Result<String, Fault> {
        let doing = || format!("{doing} {} by ssh", self.name);
        let output = self.ssh(script).stdin(input).output();
        let output = output.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                Fault::new(doing(), "ssh is not installed (Debian: apt-get install openssh-client)")
            }
            _ => Fault::of(doing(), &error),
        })?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
        let mut cause = last.map_or_else(|| output.status.to_string(), str::to_owned);
        // The status of ssh's own failures; others are the script's, and there is a way to it.
        if output.status.code() == Some(255) {
            cause += &format!("; see whether `ssh {} true` works without a question", self.name);
        }
        if let Some(fix) = fix {
            cause += &format!("; {fix}");
        }
        Err(Fault::new(doing(), cause))
    }

    /// The command that starts an iolab there, copied to it where it lacks this one.
    fn program(&self) -> Result<String, Fault> {
        if let Some(program) = &self.program {
            return Ok(quoted(program));
        }
        let name = own_name().map_err(|error| Fault::of("read this program", &error))?;
        let path = format!("\"$HOME/.cache/iolab/{name}\"");
        let look = format!("uname -sm; if test -x {path}; then echo there; fi");
        let seen = self.asked("look at", &look, Stdio::null(), None)?;
        // A home that machines of two kinds share has a copy that fits only some of them.
        self.is_of_this_kind(seen.lines().next().unwrap_or_default())?;
        if !seen.lines().any(|line| line == "there") {
            self.copy(&path)?;
        }
        Ok(path)
    }

    /// The command that starts an iolab there, seen to run.
    fn ready(&self) -> Result<&str, Fault> {
        if let Some(program) = self.ready.get() {
            return Ok(program);
        }
        let program = self.program()?;
        // What is printed at the start says whether it runs at all: a program that was linked with
        // another C library does not.
        let fix =
            "a static build runs anywhere (make dist), or name the one there: --on-program PATH";
        let said =
            self.asked(STARTING, &format!("{program} --version"), Stdio::null(), Some(fix))?;
        if let Some(cause) = why_not_spoken_to(said.trim()) {
            return Err(Fault::new(format!("{STARTING} {} by ssh", self.name), cause));
        }
        Ok(self.ready.get_or_init(|| program))
    }

    /// A line to an agent there.
    pub(super) fn line(&self) -> Result<LocalChild, Fault> {
        let program = self.ready()?;
        let start = self.words(&format!("exec {program} agent {SILENCE_S}"));
        let agent = LocalChild::start_command("ssh".into(), start)
            .map(|agent| agent.heard_within(STANDS_STILL));
        agent.map_err(|error| Fault::of(format!("reach {}", self.name), &error))
    }

    /// Whether a machine, as `uname -sm` names it, takes a copy of this program.
    fn is_of_this_kind(&self, machine: &str) -> Result<(), Fault> {
        let own = rustix::system::uname();
        let own =
            format!("{} {}", own.sysname().to_string_lossy(), own.machine().to_string_lossy());
        match why_not_copied(machine, &own) {
            Some(cause) => Err(Fault::new(format!("{COPYING} {}", self.name), cause)),
            None => Ok(()),
        }
    }

    fn copy(&self, path: &str) -> Result<(), Fault> {
        let program = File::open(OWN).map_err(|error| Fault::of("read this program", &error))?;
        // Under a name of its own until it is whole: another run may be copying it, too.
        let script = format!(
            "umask 077; mkdir -p \"$HOME/.cache/iolab\" && \
             new=$(mktemp \"$HOME/.cache/iolab/.new-XXXXXX\") || exit 1; cat >\"$new\" && \
             chmod 700 \"$new\" && mv -f \"$new\" {path} || {{ rm -f \"$new\"; exit 1; }}"
        );
        let fix = "it goes to ~/.cache/iolab there; make room, or name one that is elsewhere: \
                   --on-program PATH";
        self.asked(COPYING, &script, program.into(), Some(fix)).map(drop)
    }
}

impl Location for Host {
    fn connect(&self) -> Result<Box<dyn Transport>, Fault> {
        Ok(Box::new(self.line()?))
    }

    fn note(&self) -> Option<String> {
        Some(format!("on {}, by ssh; the record stays here", self.name))
    }

    /// The history stays on this side.
    fn inspect(&self, order: &InspectOrder) -> Result<Inspection, SurveyError> {
        inspect_by(&mut *self.connect()?, &InspectOrder { state: None, ..order.clone() })
    }

    fn about(&self) -> Environment {
        let mut environment = Environment::default();
        environment.put(Fact::RunHost, self.name.clone());
        environment
    }
}

/// Why a program for one machine, as `uname -sm` names it, is not brought to another.
fn why_not_copied(there: &str, own: &str) -> Option<String> {
    (there != own).then(|| {
        format!(
            "it is {there}, and this program is for {own}; install iolab there and name it: \
             --on-program PATH"
        )
    })
}

/// Why a program that says of itself what it is, is no agent of this one: the same words mean something
/// else to another version.
fn why_not_spoken_to(said: &str) -> Option<String> {
    let own = concat!("iolab ", env!("CARGO_PKG_VERSION"));
    (said != own).then(|| {
        let there = said.lines().next().filter(|line| !line.is_empty()).unwrap_or("nothing");
        format!("it says of itself {there:?}, and this is {own}; name the same: --on-program PATH")
    })
}

/// A word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The name of a copy of this program: another build has another one.
fn own_name() -> io::Result<String> {
    let mut hash_of = Vec::new();
    File::open(OWN)?.read_to_end(&mut hash_of)?;
    Ok(format!("iolab-{}-{:016x}", env!("CARGO_PKG_VERSION"), fnv1a(hash_of)))
}

#[cfg(test)]
mod tests {
    use super::{Host, quoted, why_not_copied, why_not_spoken_to};

    #[test]
    fn what_ssh_would_take_for_an_option_is_no_machine() {
        for name in ["", "-oProxyCommand=touch /tmp/x", "a b", "a\nb"] {
            assert!(Host::new(name, None).is_err(), "{name:?}");
        }
        let host = Host::new("user@nas", None).unwrap();
        let words = host.words("echo it's");
        let after = words.iter().skip_while(|word| *word != "--").skip(1).collect::<Vec<_>>();
        assert_eq!(after, ["user@nas", r"exec sh -c 'echo it'\''s'"]);
        let why = why_not_copied("Linux riscv64", "Linux x86_64").unwrap();
        assert!(why.starts_with("it is Linux riscv64") && why.ends_with("--on-program PATH"));
        assert_eq!(why_not_copied("Linux x86_64", "Linux x86_64"), None);
        let own = concat!("iolab ", env!("CARGO_PKG_VERSION"));
        assert_eq!(why_not_spoken_to(own), None);
        let why = why_not_spoken_to("iolab 0.0.1").unwrap();
        assert!(why.contains("\"iolab 0.0.1\"") && why.ends_with("--on-program PATH"), "{why}");
        assert_eq!(quoted("/opt/a b/iolab"), "'/opt/a b/iolab'");
    }
}
