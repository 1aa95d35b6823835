//! One message on a stream: a 4-byte little-endian length and that many bytes of JSON.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// No message is longer; a longer one means that the stream carries something else.
const GREATEST_BYTES: u32 = 16 << 20;

/// Writes one message with one `write`.
///
/// # Errors
/// Those of the stream; `BrokenPipe` where the other side ended.
pub fn write_frame(out: &mut (impl Write + ?Sized), message: &impl Serialize) -> io::Result<()> {
    let mut frame = vec![0; 4];
    serde_json::to_writer(&mut frame, message)?;
    let length = u32::try_from(frame.len() - 4).ok().filter(|l| *l <= GREATEST_BYTES);
    let length = length.ok_or_else(|| io::Error::other("the message is too long for a frame"))?;
    frame[..4].copy_from_slice(&length.to_le_bytes());
    out.write_all(&frame)?;
    out.flush()
}

/// Reads one message; `None` where the stream ended between two messages.
///
/// # Errors
/// Those of the stream, `UnexpectedEof` within a message, `InvalidData` where it is none.
pub fn read_frame<T: DeserializeOwned>(input: &mut (impl Read + ?Sized)) -> io::Result<Option<T>> {
    let mut length = [0; 4];
    if !fill(input, &mut length)? {
        return Ok(None);
    }
    let length = u32::from_le_bytes(length);
    if length > GREATEST_BYTES {
        let text = format!("a frame of {length} bytes: this is not an agent's stream");
        return Err(io::Error::new(io::ErrorKind::InvalidData, text));
    }
    let mut body = vec![0; length as usize];
    input.read_exact(&mut body)?;
    serde_json::from_slice(&body)
        .map(Some)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Fills the buffer; false where the stream ended before its first byte.
fn fill(input: &mut (impl Read + ?Sized), buffer: &mut [u8]) -> io::Result<bool> {
    let mut at = 0;
    while at < buffer.len() {
        match input.read(&mut buffer[at..]) {
            Ok(0) if at == 0 => return Ok(false),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n) => at += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

/// Waits for a frame; false where none began in time.
///
/// # Errors
/// What poll(2) answers.
pub fn is_heard(input: &impl AsFd, silence: Option<Duration>) -> io::Result<bool> {
    let Some(silence) = silence else { return Ok(true) };
    let limit = Timespec { tv_sec: silence.as_secs() as i64, tv_nsec: 0 };
    let mut asked = [PollFd::new(input, PollFlags::IN)];
    loop {
        match poll(&mut asked, Some(&limit)) {
            Err(rustix::io::Errno::INTR) => {}
            other => return Ok(other? > 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{read_frame, write_frame};
    use crate::{Reply, Request};
    use proptest::prelude::*;

    #[test]
    fn messages_follow_each_other_and_the_end_is_known() {
        let mut stream = Vec::new();
        write_frame(&mut stream, &Request::Renew(vec![2, 0, 1])).unwrap();
        write_frame(&mut stream, &Request::End).unwrap();
        let mut input = stream.as_slice();
        assert_eq!(read_frame(&mut input).unwrap(), Some(Request::Renew(vec![2, 0, 1])));
        assert_eq!(read_frame(&mut input).unwrap(), Some(Request::End));
        assert_eq!(read_frame::<Request>(&mut input).unwrap(), None);
    }

    #[test]
    fn a_stream_cut_within_a_message_is_an_error() {
        let mut stream = Vec::new();
        write_frame(&mut stream, &Request::End).unwrap();
        for end in 1..stream.len() {
            assert!(read_frame::<Request>(&mut &stream[..end]).is_err());
        }
    }

    proptest! {
        #[test]
        fn nonsense_is_refused_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = read_frame::<Reply>(&mut bytes.as_slice());
        }
    }
}
