//! One line of a log: whose it is, when, and what happened.

/// What a line tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event<'a> {
    /// A whole call: `read(3</f>, ""..., 5) = 5 <0.000010>`.
    Call(&'a [u8]),
    /// The beginning of a call, up to where another thread's line came between.
    Begun(&'a [u8]),
    /// The rest of the call with this name.
    Resumed(&'a [u8], &'a [u8]),
    /// The thread ended.
    Ended(&'a [u8]),
    /// A signal, a remark of strace.
    Remark,
    /// Nothing that strace writes.
    Garbage,
}

/// A line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// The thread's number; 0 in a log of one thread.
    pub(super) thread: u32,
    /// In nanoseconds from whatever the log counts from.
    pub(super) at_ns: Option<u64>,
    /// What happened.
    pub(super) event: Event<'a>,
}

const UNFINISHED: &[u8] = b"<unfinished ...>";

/// Reads a line without its end.
pub(super) fn line(text: &[u8]) -> Line<'_> {
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    let (thread, text) = thread(text);
    let (at_ns, text) = time(text);
    Line { thread, at_ns, event: event(text) }
}

fn event(text: &[u8]) -> Event<'_> {
    if let Some(rest) = text.strip_prefix(b"+++ ") {
        return Event::Ended(rest);
    }
    if text.starts_with(b"--- ") || text.starts_with(b"strace: ") {
        return Event::Remark;
    }
    if let Some(rest) = text.strip_prefix(b"<... ") {
        let Some(at) = find(rest, b" resumed>") else { return Event::Garbage };
        return Event::Resumed(&rest[..at], &rest[at + b" resumed>".len()..]);
    }
    let named = text.iter().take_while(|byte| is_name(**byte)).count();
    if named == 0 || text.get(named) != Some(&b'(') {
        return Event::Garbage;
    }
    match text.trim_ascii_end().strip_suffix(UNFINISHED) {
        Some(begun) => Event::Begun(begun),
        None => Event::Call(text),
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// `[pid 12] rest`, `12 rest`, or `rest`.
fn thread(text: &[u8]) -> (u32, &[u8]) {
    let (digits, after) = match text.strip_prefix(b"[pid") {
        Some(rest) => match rest.iter().position(|byte| *byte == b']') {
            Some(end) => (rest[..end].trim_ascii(), rest[end + 1..].trim_ascii_start()),
            None => return (0, text),
        },
        None => {
            let end = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
            match text.get(end) {
                Some(b' ') if end > 0 => (&text[..end], text[end..].trim_ascii_start()),
                _ => return (0, text),
            }
        }
    };
    match decimal(digits).and_then(|number| u32::try_from(number).ok()) {
        Some(number) => (number, after),
        None => (0, text),
    }
}

/// `1795360036.598472 rest` or `12:34:56.789 rest`.
fn time(text: &[u8]) -> (Option<u64>, &[u8]) {
    let end = text.iter().position(|byte| *byte == b' ').unwrap_or(text.len());
    let word = &text[..end];
    if !word.first().is_some_and(u8::is_ascii_digit) {
        return (None, text);
    }
    let seconds = word.split(|byte| *byte == b':').try_fold((0u64, 0u64), |(whole, _), part| {
        let (part, nanoseconds) = fraction(part)?;
        Some((whole.checked_mul(60)?.checked_add(part)?, nanoseconds))
    });
    let ns = seconds.and_then(|(whole, part)| whole.checked_mul(1_000_000_000)?.checked_add(part));
    match ns {
        Some(ns) => (Some(ns), text[end..].trim_ascii_start()),
        None => (None, text),
    }
}

/// `12.000345` as whole seconds and nanoseconds.
pub(super) fn fraction(text: &[u8]) -> Option<(u64, u64)> {
    let mut parts = text.splitn(2, |byte| *byte == b'.');
    let whole = decimal(parts.next()?)?;
    let Some(digits) = parts.next() else { return Some((whole, 0)) };
    let digits = &digits[..digits.len().min(9)];
    let scale = 10u64.pow(9 - digits.len() as u32);
    Some((whole, decimal(digits)? * scale))
}

/// A decimal number that fits.
pub(super) fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    digits
        .iter()
        .try_fold(0u64, |sum, digit| sum.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
}

/// Where `part` first stands.
pub(super) fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::{Event, line};

    #[test]
    fn whose_when_and_what() {
        let seen = line(b"15052 1795360036.598472 close(3</a>) = 0 <0.000009>");
        assert_eq!((seen.thread, seen.at_ns), (15052, Some(1_795_360_036_598_472_000)));
        assert_eq!(seen.event, Event::Call(b"close(3</a>) = 0 <0.000009>"));
        let seen = line(b"[pid   7] 12:00:01.5 wait4(-1,  <unfinished ...>");
        assert_eq!((seen.thread, seen.at_ns), (7, Some(43_201_500_000_000)));
        assert_eq!(seen.event, Event::Begun(b"wait4(-1,  "));
        let seen = line(b"7 1.0 <... wait4 resumed>NULL) = 9 <0.5>");
        assert_eq!(seen.event, Event::Resumed(b"wait4", b"NULL) = 9 <0.5>"));
        assert_eq!(line(b"1.5 +++ exited with 0 +++").event, Event::Ended(b"exited with 0 +++"));
        assert_eq!(line(b"7 1.0 --- SIGCHLD {} ---").event, Event::Remark);
        assert_eq!(line(b"close(3) = 0").at_ns, None);
        for garbage in [&b""[..], b"hello", b"7 1.0 (", b"99999999999999999999999 x", b"<... a"] {
            assert_eq!(line(garbage).event, Event::Garbage);
        }
    }
}
