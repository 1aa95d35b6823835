//! The agent's side: one request, one reply, until the controller says `End` or goes away.

use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::agent_state::{AgentState, start};
use super::frame::{is_heard, read_frame, write_frame};
use super::inspect::inspect;
use super::look::look;
use super::messages::{Reply, Request};
use super::rank::{self, Rank};
use super::shared_files::Step;
use super::survey::survey;
use super::trial::Ended;
use super::work_directory;
use iolab_model::catalog::path_from_text;
use iolab_model::result::Fault;

/// One that takes longer for an answer says so each time as much has passed: whoever asked from afar
/// takes one that says nothing for one that stands still.
const LONG: Duration = Duration::from_secs(3);

/// What answers are written to, and since when one is waited for.
struct Voice {
    output: File,
    asked: Option<Instant>,
}

/// Answers requests until the end, or until nothing was asked for as long as `silence`; where that is
/// limited, it says that it is at work where an answer takes long. The scratch directory is gone when
/// it returns.
///
/// # Errors
/// A request that cannot be read.
pub fn serve_streams(
    mut input: File,
    output: File,
    silence: Option<Duration>,
    rank: Option<&Rank>,
) -> io::Result<()> {
    let mut session: Option<AgentState> = None;
    let voice = Arc::new(Mutex::new(Voice { output, asked: None }));
    if silence.is_some() {
        let voice = Arc::downgrade(&voice);
        std::thread::Builder::new().spawn(move || say_that_it_works(&voice))?;
    }
    while is_heard(&input, silence)? {
        let Some(request) = read_frame::<Request>(&mut input)? else { break };
        let last = request == Request::End;
        speaker(&voice).asked = Some(Instant::now());
        let reply = match answer(&mut session, request, (&input, rank)) {
            Some(reply) => reply,
            None => break,
        };
        let mut voice = speaker(&voice);
        voice.asked = None;
        if write_frame(&mut voice.output, &reply).is_err() || last {
            break;
        }
    }
    Ok(())
}

fn speaker(voice: &Mutex<Voice>) -> MutexGuard<'_, Voice> {
    voice.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Until nobody answers any more.
fn say_that_it_works(voice: &Weak<Mutex<Voice>>) {
    loop {
        std::thread::sleep(LONG);
        let Some(voice) = voice.upgrade() else { return };
        let mut voice = speaker(&voice);
        let long = voice.asked.is_some_and(|asked| asked.elapsed() >= LONG);
        if long && write_frame(&mut voice.output, &Reply::AtWork).is_err() {
            return;
        }
    }
}

/// `None`: the controller has gone.
fn answer(
    session: &mut Option<AgentState>,
    request: Request,
    (input, rank): (&File, Option<&Rank>),
) -> Option<Reply> {
    let reply = match (request, session.as_mut()) {
        (Request::Survey(order), _) => same_version(&order.version).map(|()| {
            let survey = survey(&order).map(|facts| Reply::Surveyed(Box::new(facts)));
            survey.unwrap_or_else(Reply::Objected)
        }),
        (Request::Inspect(order), _) => same_version(&order.version).map(|()| {
            let inspected = inspect(&order).map(|seen| Reply::Inspected(Box::new(seen)));
            inspected.unwrap_or_else(Reply::Objected)
        }),
        (Request::Look(order), _) => Ok(Reply::Seen(Box::new(look(&order)))),
        (Request::Start { version, directory, only_reads, cpus }, _) => {
            let directory = work_directory::choose(path_from_text(&directory), only_reads);
            same_version(&version).and_then(|()| start(session, directory, &cpus))
        }
        (Request::StillHere, _) => Ok(Reply::Done),
        (Request::End, _) => session.take().map_or(Ok(Reply::Done), AgentState::end),
        (Request::LetGo, None) => Ok(Reply::Done),
        (_, None) => Err(Fault::new("answer a request", "the first request must be `Start`")),
        (Request::Places(terms), Some(session)) => session.enter_places(&terms),
        (Request::Describe, Some(session)) => Ok(Reply::Described(session.facts_of_places())),
        (Request::Beacon, Some(session)) => rank::beacon(session.scratch()).map(Reply::Lit),
        (Request::Sees(beacon), Some(session)) => {
            session.meet(&beacon);
            rank::sees(&beacon).map(|()| Reply::Done)
        }
        (Request::Make(order), Some(session)) => session.make(&order, (input, rank)),
        (Request::BeginShared(order), Some(session)) => session.begin_shared(&order),
        (Request::OpenShared(order), Some(session)) => session.open_shared(&order),
        (Request::Lay(request), Some(session)) => session.around(Step::Lay, &request),
        (Request::Lift(request), Some(session)) => session.around(Step::Lift, &request),
        (Request::LetGo, Some(session)) => {
            session.let_go();
            Ok(Reply::Done)
        }
        (Request::Renew(order), Some(session)) => session.renew(&order),
        (Request::LookBack, Some(session)) => session.left_as_it_was().map(|()| Reply::Done),
        (Request::Trial(request), Some(session)) => match session.trial(&request, (input, rank)) {
            Ended::Here(Ok(measurement)) => Ok(Reply::Measured(measurement)),
            Ended::Here(Err(fault)) => Ok(Reply::Lost(fault)),
            Ended::Deserted => return None,
        },
    };
    Some(reply.unwrap_or_else(Reply::Refused))
}

/// Another version may mean something else by the same words.
fn same_version(version: &str) -> Result<(), Fault> {
    let own = env!("CARGO_PKG_VERSION");
    let cause = format!("the agent is version {own}, the controller {version}");
    if version == own { Ok(()) } else { Err(Fault::new("start the agent", cause)) }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::OwnedFd;
    use std::sync::{Arc, Mutex};
    use std::time::Instant;

    use super::{Voice, say_that_it_works, speaker};
    use crate::{Reply, read_frame};

    /// Whoever asked from afar would take it for one that stands still.
    #[test]
    fn an_answer_that_takes_long_is_announced() {
        let (from, to) = std::io::pipe().unwrap();
        let output = File::from(OwnedFd::from(to));
        let voice = Arc::new(Mutex::new(Voice { output, asked: Some(Instant::now()) }));
        let weak = Arc::downgrade(&voice);
        let speaking = std::thread::spawn(move || say_that_it_works(&weak));
        let mut from = File::from(OwnedFd::from(from));
        assert_eq!(read_frame(&mut from).unwrap(), Some(Reply::AtWork));
        // Nobody waits, so nothing is said, and with the session it ends.
        speaker(&voice).asked = None;
        drop(voice);
        speaking.join().unwrap();
        assert_eq!(read_frame::<Reply>(&mut from).unwrap(), None);
    }
}
