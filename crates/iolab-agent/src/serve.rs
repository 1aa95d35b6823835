//! The agent's side: one request, one reply, until the controller says `End` or goes away.

use std::fs::File;
use std::io;
use std::time::Duration;

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

/// Answers requests until the end, or until nothing was asked for as long as `silence`. The scratch
/// directory is gone when it returns.
///
/// # Errors
/// A request that cannot be read.
pub fn serve_streams(
    mut input: File,
    mut output: File,
    silence: Option<Duration>,
    rank: Option<&Rank>,
) -> io::Result<()> {
    let mut session: Option<AgentState> = None;
    while is_heard(&input, silence)? {
        let Some(request) = read_frame::<Request>(&mut input)? else { break };
        let last = request == Request::End;
        let reply = match answer(&mut session, request, (&input, rank)) {
            Some(reply) => reply,
            None => break,
        };
        if write_frame(&mut output, &reply).is_err() || last {
            break;
        }
    }
    Ok(())
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
