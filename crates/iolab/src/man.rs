//! `iolab man`: the manual, as one page or as a page for each subcommand.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Command};

use super::terminal_io::{self, Ending, Exit, Failure};

/// Print the manual page (roff), with every subcommand
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  iolab man | man -l -\n  iolab man --output ~/.local/share/man/man1"
)]
pub struct Man {
    /// Write a page for each subcommand into this directory instead
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
}

impl Man {
    /// Prints it, or writes it.
    ///
    /// # Errors
    /// What stdout or the directory met.
    pub fn run(self, command: Command) -> Ending {
        match self.output {
            None => terminal_io::data(|out| write(out, command)),
            Some(directory) => pages(&directory, command),
        }
    }
}

/// `iolab.1`, `iolab-read.1` and so on.
fn pages(directory: &Path, command: Command) -> Ending {
    fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(command, directory))
        .map_err(|e| {
            let directory = directory.display();
            Failure::usage(format!("write the manual pages into {directory}: {e}"))
        })?;
    Ok(Exit::Done)
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
