//! A run from what was prepared to what is reported.

use super::lacking::lacking;
use super::output::Output;
use super::terminal_io::{Ending, Exit, Failure, say};
use super::verbosity::Talk;
use iolab_controller::{Console, Prepared, Resumed, Session};
use iolab_model::result::CellStatus;

/// A run that spares the files it is exported to.
///
/// # Errors
/// An export would overwrite a file that is measured.
pub fn session<'a>(
    prepared: &'a Prepared,
    argv: Vec<String>,
    resumes: Option<Resumed>,
    output: &'a Output,
    talk: &'a Talk,
) -> Result<Session<'a>, Failure> {
    output.spare_files_of(&prepared.plan)?;
    let store = output.store.store.as_deref();
    Ok(Session { prepared, store, argv, resumes, aim: None, console: talk })
}

/// Says what is going to happen, measures, records and reports.
///
/// # Errors
/// What ended the run, after what there is has been recorded and reported.
pub fn measured(
    prepared: &Prepared,
    argv: Vec<String>,
    resumes: Option<Resumed>,
    output: &Output,
    talk: &Talk,
) -> Ending {
    talk.announce(&prepared.plan);
    let goes_on = resumes.is_some();
    let measured = session(prepared, argv, resumes, output, talk)?.measure()?;
    let lacks = lacking(&measured.document, &prepared.named);
    // What stands on the screen already is not said again below it.
    let mut cells = measured.document.cells.iter().zip(&prepared.plan.cells);
    let told = cells.all(|(cell, plan)| cell.status != CellStatus::Skipped || plan.skip.is_some());
    let talk = &Talk { skips_told: told && talk.is_brief(), ..talk.clone() };
    match (output.report(measured, goes_on, talk)?, lacks) {
        (Exit::Done, Some(lacks)) => {
            say(&format!("iolab: {lacks}; the reasons stand above"));
            Ok(Exit::Lacking)
        }
        (exit, _) => Ok(exit),
    }
}
