//! `iolab man`: the manual page.

use std::io::{self, Write};

use clap::{Args, Command};

use super::terminal_io::{self, Ending};

/// Print the manual page (roff), with every subcommand
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  iolab man | man -l -\n  iolab man > ~/.local/share/man/man1/iolab.1"
)]
pub struct Man {}

impl Man {
    /// Prints it.
    ///
    /// # Errors
    /// What stdout met.
    pub fn run(self, command: Command) -> Ending {
        terminal_io::data(|out| write(out, command))
    }
}

fn write(out: &mut dyn Write, mut command: Command) -> io::Result<()> {
    command.build();
    let shown: Vec<Command> =
        command.get_subcommands().filter(|c| !c.is_hide_set()).cloned().collect();
    clap_mangen::Man::new(command).render(out)?;
    for subcommand in shown {
        let name = format!("iolab-{}", subcommand.get_name());
        let page = clap_mangen::Man::new(subcommand.display_name(name));
        page.render_name_section(out)?;
        page.render_synopsis_section(out)?;
        page.render_description_section(out)?;
        page.render_options_section(out)?;
        page.render_extra_section(out)?;
    }
    Ok(())
}
