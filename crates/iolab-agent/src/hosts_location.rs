//! Several machines that are compared: an agent on each, all held at once, of which one is asked at a
//! time.

use std::path::PathBuf;

use super::host_location::Host;
use super::hosts_line::HostsLine;
use super::location::{Location, devices_of};
use super::transport::{LocalChild, Transport};
use iolab_model::catalog::{Fact, THIS_HOST, host_text, list_text};
use iolab_model::result::{Environment, Fault};

/// The machines, by the names that they were given.
#[derive(Clone, Debug)]
pub struct Hosts {
    all: Vec<(String, Machine)>,
}

#[derive(Clone, Debug)]
enum Machine {
    This,
    Other(Host),
}

impl Machine {
    fn line(&self) -> Result<LocalChild, Fault> {
        match self {
            Machine::This => {
                LocalChild::start().map_err(|error| Fault::of("start the agent", &error))
            }
            Machine::Other(host) => host.line(),
        }
    }
}

impl Hosts {
    /// These machines, of which `this` is the one that iolab was started on; nothing is started yet.
    ///
    /// # Errors
    /// What is no name of a machine, or one that is named twice.
    pub fn new(names: &[&str], program: Option<&str>) -> Result<Hosts, Fault> {
        let mut all: Vec<(String, Machine)> = Vec::new();
        for name in names {
            if name.contains('/') {
                let cause = "it is no name of a machine; give what you write behind ssh";
                return Err(Fault::new(format!("reach {name:?}"), cause));
            }
            if all.iter().any(|(known, _)| known == name) {
                let cause = "it is named twice, and is compared with other machines";
                return Err(Fault::new(format!("compare {name}"), cause));
            }
            let machine = match *name == THIS_HOST {
                true => Machine::This,
                false => Machine::Other(Host::new(name, program)?),
            };
            all.push(((*name).to_owned(), machine));
        }
        Ok(Hosts { all })
    }

    fn names(&self) -> Vec<&str> {
        self.all.iter().map(|(name, _)| name.as_str()).collect()
    }
}

impl Location for Hosts {
    fn connect(&self) -> Result<Box<dyn Transport>, Fault> {
        let line = |(name, machine): &(String, Machine)| Ok((name.clone(), machine.line()?));
        let lines = self.all.iter().map(line).collect::<Result<Vec<_>, Fault>>()?;
        Ok(Box::new(HostsLine::new(lines)))
    }

    fn about(&self) -> Environment {
        let mut environment = Environment::default();
        environment.put(Fact::RunHost, self.names().join(","));
        environment
    }

    fn note(&self) -> Option<String> {
        let names: Vec<&str> = self.names().into_iter().map(host_text).collect();
        Some(format!(
            "on {}, one at a time in each round, in random order; the record stays here",
            list_text(&names)
        ))
    }

    fn hosts(&self) -> Vec<String> {
        self.names().into_iter().map(str::to_owned).collect()
    }

    fn devices_shared(&self, paths: &[PathBuf]) -> Vec<u64> {
        match self.all.iter().any(|(_, machine)| matches!(machine, Machine::This)) {
            true => devices_of(paths.iter().map(PathBuf::as_path)),
            false => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Hosts;
    use crate::Location;

    /// `--on nas,nas` would have compared two connections, and `--on a,,b` a machine without a name.
    #[test]
    fn machines_that_are_compared_have_names_of_their_own() {
        for names in [["nas", "nas"], ["this", "this"], ["a", ""], ["a", "b/c"], ["a", "-oX=y"]] {
            assert!(Hosts::new(&names, None).is_err(), "{names:?}");
        }
        let hosts = Hosts::new(&["this", "me@nas.lan"], None).unwrap();
        assert_eq!(hosts.hosts(), ["this", "me@nas.lan"]);
        let note = hosts.note().unwrap();
        assert!(note.starts_with("on this machine and me@nas.lan, one at a time"), "{note}");
    }
}
