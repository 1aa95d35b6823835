//! What the controller and the relay of rank 0 say to each other, and what stands on the line between
//! a relay and the trial of its agent. What agents are asked and answer is carried and not read.

use std::io::{self, Read, Write};

/// No message is longer: the answers of some thousand ranks.
const GREATEST_BYTES: u32 = 1 << 30;

/// Through this variable a controller is told the descriptors to its relay: `IN,OUT`.
pub const STREAMS: &str = "IOLAB_RELAY";

/// What the ranks are to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Nothing: whoever waits sees that it is still waited with reason.
    Idle,
    /// Ask every agent, and gather the answers.
    Ask,
    /// The same, started together: a barrier before the first call.
    Trial,
    /// End every agent and start another.
    Restart,
    /// End every agent, and go home.
    End,
}

/// An order of the controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// What is to be done.
    pub kind: Kind,
    /// By the first so many ranks; the others wait.
    pub ranks: u32,
    /// Of a trial: an agent that is at work much longer than this is ended.
    pub limit_ns: u64,
    /// What the agents are asked.
    pub request: Vec<u8>,
}

/// How the agent of a rank came out of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// It was not asked.
    Waited,
    /// It has answered.
    Answered,
    /// It has ended; the text says how.
    Gone,
}

/// What came of an order at one rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// How its agent came out of it.
    pub state: State,
    /// When it came to the barrier, by its own clock; 0 where there was none.
    pub entered_ns: u64,
    /// When the barrier let it go.
    pub left_ns: u64,
    /// What the agent said.
    pub text: Vec<u8>,
}

impl Order {
    /// As bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![self.kind as u8];
        bytes.extend(self.ranks.to_le_bytes());
        bytes.extend(self.limit_ns.to_le_bytes());
        bytes.extend(&self.request);
        bytes
    }

    /// From bytes.
    ///
    /// # Errors
    /// They are no order.
    pub fn from_bytes(bytes: &[u8]) -> io::Result<Order> {
        let (head, request) = bytes.split_at_checked(13).ok_or_else(strange)?;
        let kinds = [Kind::Idle, Kind::Ask, Kind::Trial, Kind::Restart, Kind::End];
        let kind = kinds.into_iter().find(|kind| *kind as u8 == head[0]).ok_or_else(strange)?;
        let request = request.to_vec();
        Ok(Order { kind, ranks: u32_at(head, 1)?, limit_ns: u64_at(head, 5)?, request })
    }
}

impl Answer {
    /// What stands before the text: the state and two times.
    const HEAD_BYTES: usize = 17;

    /// How many bytes it is.
    pub fn length(&self) -> u32 {
        u32::try_from(Answer::HEAD_BYTES + self.text.len()).unwrap_or(u32::MAX)
    }

    /// Of a rank that had nothing to do.
    pub const fn waited() -> Answer {
        Answer { state: State::Waited, entered_ns: 0, left_ns: 0, text: Vec::new() }
    }

    /// As bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![self.state as u8];
        bytes.extend(self.entered_ns.to_le_bytes());
        bytes.extend(self.left_ns.to_le_bytes());
        bytes.extend(&self.text);
        bytes
    }

    /// From bytes.
    ///
    /// # Errors
    /// They are no answer.
    pub fn from_bytes(bytes: &[u8]) -> io::Result<Answer> {
        let (head, text) = bytes.split_at_checked(Answer::HEAD_BYTES).ok_or_else(strange)?;
        let states = [State::Waited, State::Answered, State::Gone];
        let state = states.into_iter().find(|state| *state as u8 == head[0]).ok_or_else(strange)?;
        let (entered_ns, left_ns) = (u64_at(head, 1)?, u64_at(head, 9)?);
        Ok(Answer { state, entered_ns, left_ns, text: text.to_vec() })
    }
}

/// Answers in one message, in the order of the ranks.
pub fn join(answers: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for answer in answers {
        bytes.extend((answer.len() as u32).to_le_bytes());
        bytes.extend(answer);
    }
    bytes
}

/// The answers of one message.
///
/// # Errors
/// It holds something else.
pub fn split(mut bytes: &[u8]) -> io::Result<Vec<Answer>> {
    let mut answers = Vec::new();
    while !bytes.is_empty() {
        let length = u32_at(bytes, 0)? as usize;
        let (answer, rest) = bytes[4..].split_at_checked(length).ok_or_else(strange)?;
        answers.push(Answer::from_bytes(answer)?);
        bytes = rest;
    }
    Ok(answers)
}

/// Writes one message, a length and so many bytes, with one `write`.
///
/// # Errors
/// Those of the stream.
pub fn write_message(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).ok().filter(|length| *length <= GREATEST_BYTES);
    let length = length.ok_or_else(|| io::Error::other("the message is too long"))?;
    let mut message = length.to_le_bytes().to_vec();
    message.extend(bytes);
    out.write_all(&message)
}

/// Reads one message.
///
/// # Errors
/// Those of the stream; `UnexpectedEof` where it has ended.
pub fn read_message(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    input.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length > GREATEST_BYTES {
        return Err(strange());
    }
    let mut bytes = vec![0; length as usize];
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// The message that a buffer begins with, taken out of it once it is whole.
pub(crate) fn take_message(buffer: &mut Vec<u8>) -> Option<Vec<u8>> {
    let length = u32_at(buffer, 0).ok()? as usize;
    let end = length.checked_add(4)?;
    if buffer.len() < end {
        return None;
    }
    let rest = buffer.split_off(end);
    let message = std::mem::replace(buffer, rest);
    Some(message[4..].to_vec())
}

fn u32_at(bytes: &[u8], at: usize) -> io::Result<u32> {
    let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
    four.map(u32::from_le_bytes).ok_or_else(strange)
}

fn u64_at(bytes: &[u8], at: usize) -> io::Result<u64> {
    let eight = bytes.get(at..at + 8).and_then(|eight| eight.try_into().ok());
    eight.map(u64::from_le_bytes).ok_or_else(strange)
}

fn strange() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "this is not what iolab's ranks say")
}
