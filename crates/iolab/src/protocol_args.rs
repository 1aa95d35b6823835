//! How to measure, as options.

use clap::Args;

use super::terminal_io::Failure;
use iolab_model::spec::{self, Protocol, SpecError};

/// How to measure.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Protocol")]
pub struct ProtocolArgs {
    /// Compare the levels of these axes; all others are conditions
    #[arg(long, value_name = "AXES")]
    ask: Option<String>,
    /// Bind trials to these processors: 0,2-3
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    cpus: Option<String>,
    /// Time allowed, all in: 500ms, 60s, 10m [default: 60s]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    budget: Option<String>,
    /// Exactly this many steady rounds: no early stop, nothing left out
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    rounds: Option<String>,
    /// Seed of everything random [default: drawn, and recorded]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    seed: Option<String>,
    /// Differences smaller than this do not matter [default: 2%]
    #[arg(long, value_name = "PCT", allow_hyphen_values = true)]
    delta: Option<String>,
    /// Go on until the runner-up is known within ± this share [default: 5%]
    #[arg(long, value_name = "PCT", allow_hyphen_values = true)]
    precision: Option<String>,
    /// Print the cells and what they will cost, and do nothing
    #[arg(long)]
    pub plan: bool,
}

impl ProtocolArgs {
    /// Whether a budget was named.
    pub fn has_budget(&self) -> bool {
        self.budget.is_some()
    }

    /// Fixes the seed, as a resumed run must.
    pub fn fix_seed(&mut self, seed: u64) {
        self.seed = Some(seed.to_string());
    }

    /// The protocol that was asked for.
    ///
    /// # Errors
    /// What was written wrongly, with the fix.
    pub fn read(&self) -> Result<Protocol, Failure> {
        let mut protocol = Protocol::new(match &self.seed {
            Some(text) => spec::parse_count(text).map_err(of("--seed"))?,
            None => drawn_seed(),
        });
        if let Some(text) = &self.budget {
            protocol.budget_ns = spec::parse_duration_ns(text).map_err(of("--budget"))?;
        }
        if let Some(text) = &self.delta {
            protocol.delta = spec::parse_percent(text).map_err(of("--delta"))?;
        }
        if let Some(text) = &self.precision {
            protocol.precision = spec::parse_percent(text).map_err(of("--precision"))?;
        }
        if let Some(text) = &self.cpus {
            protocol.cpus = spec::parse_cpus(text).map_err(of("--cpus"))?;
        }
        if let Some(text) = &self.rounds {
            protocol.rounds = Some(spec::parse_rounds(text).map_err(of("--rounds"))?);
        }
        if let Some(text) = &self.ask {
            protocol.ask = Some(spec::parse_ask(text).map_err(of("--ask"))?);
        }
        Ok(protocol)
    }
}

fn of(option: &'static str) -> impl Fn(SpecError) -> Failure {
    move |error| Failure::usage(error.of(option))
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
