//! How to measure, as options.

use std::collections::BTreeMap;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use super::terminal_io::Failure;
use iolab_model::spec::{ANY_SPACE, KeyForm, PROTOCOL_KEYS, Protocol, SpecError};

/// How to measure: an option for each key of the protocol that has one, and whether only the plan is
/// wanted.
#[derive(Clone, Debug, Default)]
pub struct ProtocolArgs {
    /// By key, as written.
    written: BTreeMap<&'static str, String>,
    /// Print the cells and what they will cost, and do nothing.
    pub plan: bool,
}

const HEADING: &str = "Protocol";
const PLAN: &str = "plan";

impl Args for ProtocolArgs {
    fn augment_args(command: Command) -> Command {
        let options =
            PROTOCOL_KEYS.iter().filter_map(|key| Some((key.name, key.form, key.option?)));
        let options = options.map(|(name, form, (value, help))| {
            let option = Arg::new(name).long(name).value_name(value).help(help);
            let option = option.allow_hyphen_values(true).help_heading(HEADING);
            match form {
                KeyForm::Space => {
                    option.num_args(0..=1).require_equals(true).default_missing_value(ANY_SPACE)
                }
                _ => option,
            }
        });
        let plan = Arg::new(PLAN)
            .long(PLAN)
            .help("Print the cells and what they will cost, and do nothing")
            .action(ArgAction::SetTrue)
            .help_heading(HEADING);
        command.args(options).arg(plan)
    }

    fn augment_args_for_update(command: Command) -> Command {
        ProtocolArgs::augment_args(command)
    }
}

impl FromArgMatches for ProtocolArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<ProtocolArgs, clap::Error> {
        let keys = PROTOCOL_KEYS.iter().filter(|key| key.option.is_some());
        let written = |name| Some((name, matches.get_one::<String>(name)?.clone()));
        let written = keys.filter_map(|key| written(key.name)).collect();
        Ok(ProtocolArgs { written, plan: matches.get_flag(PLAN) })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = ProtocolArgs::from_arg_matches(matches)?;
        Ok(())
    }
}

impl ProtocolArgs {
    /// Whether a budget was named.
    pub fn has_budget(&self) -> bool {
        self.written.contains_key("budget")
    }

    /// Fixes the seed, as a resumed run must.
    pub fn fix_seed(&mut self, seed: u64) {
        self.written.insert("seed", seed.to_string());
    }

    /// The protocol that was asked for.
    ///
    /// # Errors
    /// What was written wrongly, with the fix.
    pub fn read(&self) -> Result<Protocol, Failure> {
        let seed = if self.written.contains_key("seed") { 0 } else { drawn_seed() };
        let mut protocol = Protocol::new(seed);
        for key in &PROTOCOL_KEYS {
            if let Some(text) = self.written.get(key.name) {
                (key.set)(&mut protocol, text).map_err(|error| wrong(key.name, error))?;
            }
        }
        Ok(protocol)
    }
}

fn wrong(name: &str, error: SpecError) -> Failure {
    Failure::usage(error.of(format!("--{name}")))
}

/// A seed that nobody chose.
pub fn drawn_seed() -> u64 {
    let mut bytes = [0; 8];
    match rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty()) {
        // A short seed is easier to write again, and 2³² of them are plenty.
        Ok(8) => u64::from_le_bytes(bytes) >> 32,
        _ => u64::from(std::process::id()),
    }
}
