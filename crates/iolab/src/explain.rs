//! `iolab explain CODE`: what a flag or a warning means and what to do.

use clap::Args;

use super::terminal_io::{self, Ending, Failure};
use iolab_model::catalog::{Code, Severity};
use iolab_model::spec::nearest;

/// Explain a warning: what it means, how it was found, what to do
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  iolab explain TWIN_OFF\n  iolab explain            all codes, a line each"
)]
pub struct Explain {
    /// The code as it was printed; without one all are listed
    #[arg(value_name = "CODE")]
    codes: Vec<String>,
}

impl Explain {
    /// Prints the text of each code.
    ///
    /// # Errors
    /// A code that does not exist.
    pub fn run(self) -> Ending {
        let known = |text: &String| text.parse::<Code>().map_err(|()| unknown(text));
        let codes = self.codes.iter().map(known).collect::<Result<Vec<Code>, Failure>>()?;
        terminal_io::data(|out| {
            if codes.is_empty() {
                return Code::ALL.iter().try_for_each(|c| writeln!(out, "{c:<20} {}", c.summary()));
            }
            for code in codes {
                let head = format!("{code} ({}): {}", severity(code), code.summary());
                writeln!(out, "{}", terminal_io::wrap(&head, 80))?;
                writeln!(out, "{}", terminal_io::wrap(code.explanation(), 80))?;
            }
            Ok(())
        })
    }
}

fn severity(code: Code) -> &'static str {
    match code.severity() {
        Severity::Note => "note",
        Severity::Caution => "caution",
        Severity::Invalid => "no winner is printed",
    }
}

fn unknown(text: &str) -> Failure {
    let upper = text.to_ascii_uppercase();
    let names: Vec<&str> = Code::ALL.iter().map(|code| code.id()).collect();
    let fix = match nearest(&upper, &names) {
        Some(near) => format!("did you mean {near}?"),
        None => "iolab explain lists all".to_owned(),
    };
    Failure::usage(format!("there is no code '{}'; {fix}", text.escape_debug()))
}
