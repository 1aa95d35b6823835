//! What a person allows for this one time: no record and no file holds a consent.

use clap::Args;

use super::place_args::PlaceArgs;
use super::terminal_io::Failure;
use iolab_agent::catalog::capability;
use iolab_model::catalog::{contender_names, harmless};
use iolab_model::plan::Plan;

/// What is allowed.
#[derive(Args, Clone, Debug, Default)]
pub struct ConsentArgs {
    #[command(flatten)]
    pub places: PlaceArgs,
    /// Start the commands (contenders) that stand in the file or the record
    #[arg(long, help_heading = "Consent")]
    allow_commands: bool,
    /// Copy what is in the files that a recorded program used, where the file or the record asks for it
    #[arg(long, help_heading = "Consent")]
    with_data: bool,
}

impl ConsentArgs {
    /// Refuses a plan whose commands nobody has allowed, or that opens files which a trace names: they
    /// stand in `what`, which may be somebody else's.
    ///
    /// # Errors
    /// The commands, whole, or that files would be copied.
    pub fn allow(&self, plan: &Plan, what: &str) -> Result<(), Failure> {
        if plan.copies_data() && !self.with_data {
            return Err(Failure::refused(format!(
                "{what} copies what is in the files that its trace names; say --with-data to let it"
            )));
        }
        // Their words are ours.
        let known: Vec<&str> =
            capability(&plan.workload).into_iter().flat_map(contender_names).collect();
        let commands = plan.commands().into_iter().filter(|command| !known.contains(command));
        let commands: Vec<String> = commands.map(harmless).collect();
        if self.allow_commands || commands.is_empty() {
            return Ok(());
        }
        Err(Failure::refused(format!(
            "{what} starts commands: {}; read them, and say --allow-commands to start them",
            commands.join("; ")
        )))
    }
}
