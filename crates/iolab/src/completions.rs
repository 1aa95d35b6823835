//! `iolab completions SHELL`.

use clap::Args;
use clap_complete::Shell;

use super::terminal_io::{self, Ending};

/// Print completions for a shell
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  iolab completions bash > ~/.local/share/bash-completion/completions/iolab\n  iolab completions zsh > ~/.zfunc/_iolab\n  iolab completions fish > ~/.config/fish/completions/iolab.fish"
)]
pub struct Completions {
    /// Which shell
    shell: Shell,
}

impl Completions {
    /// Prints them.
    ///
    /// # Errors
    /// What stdout met.
    pub fn run(self, command: &mut clap::Command) -> Ending {
        // Into memory first: the generator panics where its writer fails.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, command, "iolab", &mut script);
        terminal_io::data(|out| out.write_all(&script))
    }
}
