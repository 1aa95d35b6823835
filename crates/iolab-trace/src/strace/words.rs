//! The words of a call: its name, its arguments, what came back.

use super::line::{decimal, find, fraction};
use crate::trace::FileKind;

/// A finished call, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Words<'a> {
    pub(super) name: &'a [u8],
    pub(super) arguments: Vec<&'a [u8]>,
    /// What stands after `=`, the time left out.
    pub(super) came_back: &'a [u8],
    /// By strace's clock; nothing where the log has none.
    pub(super) took_ns: Option<u64>,
}

/// A descriptor with what strace says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Descriptor {
    pub(super) number: i64,
    /// The name and what it is, where strace was asked for it (`-y`).
    pub(super) named: Option<(Vec<u8>, FileKind)>,
}

/// Arguments of a call, at most: more of them is no call.
const MOST_ARGUMENTS: usize = 16;

/// Splits a call; nothing where it is none.
pub(super) fn words(text: &[u8]) -> Option<Words<'_>> {
    let open = text.iter().position(|byte| *byte == b'(')?;
    let (arguments, end) = arguments(text, open + 1)?;
    let after = text[end..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii();
    let (came_back, took_ns) = match after.iter().rposition(|byte| *byte == b'<') {
        Some(at) if after.ends_with(b">") => match fraction(&after[at + 1..after.len() - 1]) {
            Some((s, ns)) => {
                let whole = s.checked_mul(1_000_000_000)?.checked_add(ns)?;
                (after[..at].trim_ascii_end(), Some(whole))
            }
            None => (after, None),
        },
        _ => (after, None),
    };
    Some(Words { name: &text[..open], arguments, came_back, took_ns })
}

/// The arguments from `from` on, and where the text goes on after the closing bracket.
fn arguments(text: &[u8], from: usize) -> Option<(Vec<&[u8]>, usize)> {
    let (mut found, mut begin, mut at, mut depth) = (Vec::new(), from, from, 0u32);
    loop {
        match *text.get(at)? {
            b'"' => at = quoted_end(text, at)?,
            b'<' if at > from && is_annotated(text[at - 1]) => at = annotation_end(text, at)?,
            b'/' if text[at..].starts_with(b"/*") => at += find(&text[at..], b"*/")? + 1,
            b'(' | b'[' | b'{' => depth += 1,
            b')' if depth == 0 => {
                let last = text[begin..at].trim_ascii();
                if !last.is_empty() {
                    found.push(last);
                }
                return Some((found, at + 1));
            }
            b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => {
                found.push(text[begin..at].trim_ascii());
                begin = at + 1;
                if found.len() > MOST_ARGUMENTS {
                    return None;
                }
            }
            _ => (),
        }
        at += 1;
    }
}

/// A descriptor's number, or the D of `AT_FDCWD`, stands before an annotation; a shift does not.
fn is_annotated(before: u8) -> bool {
    before.is_ascii_digit() || before == b'D'
}

/// The index of the closing quote.
fn quoted_end(text: &[u8], open: usize) -> Option<usize> {
    let mut at = open + 1;
    loop {
        match *text.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at),
            _ => at += 1,
        }
    }
}

/// The index of the `>` that closes the annotation. Names have theirs escaped; addresses of sockets
/// have `->` in brackets.
fn annotation_end(text: &[u8], open: usize) -> Option<usize> {
    let is_path = text.get(open + 1) == Some(&b'/');
    let (mut at, mut depth, mut brackets) = (open, 0usize, 0usize);
    loop {
        match *text.get(at)? {
            b'\\' => at += 1,
            b'[' if !is_path => brackets += 1,
            b']' if !is_path => brackets = brackets.saturating_sub(1),
            b'<' if brackets == 0 => depth += 1,
            b'>' if brackets == 0 => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => (),
        }
        at += 1;
    }
}

/// A string of a call as the bytes it stands for; nothing where strace shows no string or cut it.
pub(super) fn string(argument: &[u8]) -> Option<Vec<u8>> {
    let inner = argument.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    unescaped(inner)
}

/// C's escapes, octal and hexadecimal.
fn unescaped(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let (escape, after) = rest.split_first()?;
        rest = after;
        match escape {
            b'n' => bytes.push(b'\n'),
            b't' => bytes.push(b'\t'),
            b'r' => bytes.push(b'\r'),
            b'v' => bytes.push(0x0b),
            b'f' => bytes.push(0x0c),
            b'x' => {
                let digits = rest.get(..2).and_then(|two| std::str::from_utf8(two).ok())?;
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
                rest = &rest[2..];
            }
            b'0'..=b'7' => {
                let more = rest.iter().take(2).take_while(|b| (b'0'..=b'7').contains(*b)).count();
                let digits = std::iter::once(escape).chain(&rest[..more]);
                let value = digits.fold(0u32, |sum, digit| sum * 8 + u32::from(digit - b'0'));
                bytes.push(u8::try_from(value).ok()?);
                rest = &rest[more..];
            }
            other => bytes.push(*other),
        }
    }
    Some(bytes)
}

/// `3`, `3</tmp/f>`, `AT_FDCWD</tmp>` (number -100).
pub(super) fn descriptor(argument: &[u8]) -> Option<Descriptor> {
    let open = argument.iter().position(|byte| *byte == b'<').unwrap_or(argument.len());
    let number = match &argument[..open] {
        b"AT_FDCWD" => -100,
        digits => number(digits)?,
    };
    let named = match argument.get(open..).filter(|rest| !rest.is_empty()) {
        Some(rest) => {
            let close = annotation_end(rest, 0)?;
            let deleted = rest[close + 1..].starts_with(b"(deleted)");
            Some(named(&rest[1..close], deleted)?)
        }
        None => None,
    };
    Some(Descriptor { number, named })
}

/// What strace says of a descriptor: a path, perhaps with its device, or what has no path.
fn named(text: &[u8], _deleted: bool) -> Option<(Vec<u8>, FileKind)> {
    if !text.starts_with(b"/") {
        let kind = match text {
            t if t.starts_with(b"pipe:") => FileKind::Pipe,
            t if t.starts_with(b"anon_inode:") => FileKind::Anonymous,
            _ => FileKind::Socket,
        };
        // An address is nobody's business, and no file.
        let name = match kind {
            FileKind::Socket => b"socket".to_vec(),
            FileKind::Pipe => b"pipe".to_vec(),
            _ => text.to_vec(),
        };
        return Some((name, kind));
    }
    let (path, kind) = match text.iter().position(|byte| *byte == b'<') {
        Some(at) if text[at..].starts_with(b"<char") => (&text[..at], FileKind::Character),
        Some(at) if text[at..].starts_with(b"<block") => (&text[..at], FileKind::Block),
        Some(at) => (&text[..at], FileKind::Unknown),
        None => (text, FileKind::Unknown),
    };
    let path = path.strip_suffix(b" (deleted)").unwrap_or(path);
    Some((unescaped(path)?, kind))
}

/// A number as strace writes it: decimal, hexadecimal, octal, with a sign.
pub(super) fn number(text: &[u8]) -> Option<i64> {
    if let Some(rest) = text.strip_prefix(b"-") {
        return decimal(rest).and_then(|n| i64::try_from(n).ok()).map(|n| -n);
    }
    count(text).and_then(|number| i64::try_from(number).ok())
}

/// A number that is none below zero.
pub(super) fn count(text: &[u8]) -> Option<u64> {
    let radix = |digits: &[u8], radix| {
        std::str::from_utf8(digits).ok().and_then(|text| u64::from_str_radix(text, radix).ok())
    };
    match text {
        [b'0', b'x', digits @ ..] => radix(digits, 16),
        [b'0', digits @ ..] if !digits.is_empty() => radix(digits, 8),
        digits => decimal(digits),
    }
}

/// The number of `[5]`, or the first one of `[5] => [7]`.
pub(super) fn in_brackets(text: &[u8]) -> Option<u64> {
    let inner = text.strip_prefix(b"[")?;
    count(&inner[..inner.iter().position(|byte| *byte == b']')?])
}

/// The sum of the lengths of an array of buffers; nothing where strace cut the array.
pub(super) fn vector_bytes(argument: &[u8]) -> Option<u64> {
    const KEY: &[u8] = b"iov_len=";
    let (mut rest, mut sum, mut seen) = (argument, 0u64, false);
    while let Some(at) = find(rest, KEY) {
        rest = &rest[at + KEY.len()..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        sum = sum.checked_add(decimal(&rest[..digits])?)?;
        seen = true;
    }
    (seen && !argument.ends_with(b"...]")).then_some(sum)
}

/// What follows `key` in a structure, as a word: `S_IFREG|0644` of `st_mode=S_IFREG|0644, …`.
pub(super) fn field<'a>(argument: &'a [u8], key: &str) -> Option<&'a [u8]> {
    let rest = &argument[find(argument, key.as_bytes())? + key.len()..];
    let end = rest.iter().position(|byte| matches!(byte, b',' | b'}' | b' '));
    Some(&rest[..end.unwrap_or(rest.len())])
}

/// The entries of a directory in strace's remark: `0x.. /* 5 entries */`.
pub(super) fn entries(argument: &[u8]) -> u32 {
    let inner = find(argument, b"/* ").map(|at| &argument[at + 3..]);
    let digits = inner.map(|rest| &rest[..rest.iter().take_while(|b| b.is_ascii_digit()).count()]);
    digits.and_then(decimal).and_then(|n| u32::try_from(n).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{count, descriptor, entries, field, number, string, vector_bytes, words};
    use crate::trace::FileKind;

    #[test]
    fn arguments_stand_apart_whatever_is_in_them() {
        let text = br#"openat(AT_FDCWD</a, b)>, "x, \"y)", O_RDONLY|O_CLOEXEC, {a=[1, 2]}) = 3</a, b)/x\76> <0.000012>"#;
        let seen = words(text).unwrap();
        assert_eq!(seen.name, b"openat");
        assert_eq!(seen.arguments.len(), 4);
        assert_eq!(string(seen.arguments[1]).unwrap(), b"x, \"y)");
        assert_eq!(seen.took_ns, Some(12_000));
        assert_eq!(descriptor(seen.came_back).unwrap().named.unwrap().0, b"/a, b)/x>");
        assert_eq!(words(b"sync() = 0").unwrap().arguments.len(), 0);
        assert_eq!(words(b"exit_group(0) = ?").unwrap().came_back, b"?");
        let failed = words(b"access(\"/a\", R_OK) = -1 ENOENT (No such file) <0.1>").unwrap();
        assert_eq!(failed.came_back, b"-1 ENOENT (No such file)");
        for broken in [&b"read(3"[..], b"read(3, \"a", b"read(3)) = 1", b"read(3<a", b"read(3) 5"] {
            assert_eq!(words(broken).filter(|w| w.came_back != b"1"), None);
        }
    }

    #[test]
    fn descriptors_say_what_they_are() {
        let seen = |text: &[u8]| {
            let found = descriptor(text).unwrap();
            (found.number, found.named.map(|(name, kind)| (String::from_utf8(name).unwrap(), kind)))
        };
        let named = |name: &str, kind| Some((name.to_owned(), kind));
        assert_eq!(seen(b"0</dev/null<char 1:3>>"), (0, named("/dev/null", FileKind::Character)));
        assert_eq!(seen(b"3</x.y>(deleted)"), (3, named("/x.y", FileKind::Unknown)));
        assert_eq!(seen(b"4<pipe:[77]>"), (4, named("pipe", FileKind::Pipe)));
        let socket = b"5<TCP:[1.2.3.4:5->6.7.8.9:10]>";
        assert_eq!(seen(socket), (5, named("socket", FileKind::Socket)));
        assert_eq!(seen(b"AT_FDCWD</tmp>"), (-100, named("/tmp", FileKind::Unknown)));
        assert_eq!(seen(b"7"), (7, None));
        assert!(descriptor(b"7<x").is_none() && descriptor(b"x").is_none());
        assert_eq!(descriptor(b"3</na\\377\\n>").unwrap().named.unwrap().0, b"/na\xff\n");
    }

    #[test]
    fn numbers_sums_and_fields() {
        assert_eq!(
            (count(b"0x2000"), count(b"0644"), count(b"12")),
            (Some(8192), Some(420), Some(12))
        );
        assert_eq!((number(b"-100"), number(b""), number(b"9x")), (Some(-100), None, None));
        let vector = br#"[{iov_base=""..., iov_len=5}, {iov_base="", iov_len=7}]"#;
        assert_eq!(vector_bytes(vector), Some(12));
        assert_eq!(vector_bytes(b"[...]"), None);
        let stat = b"{st_mode=S_IFREG|0644, st_size=36291, ...}";
        assert_eq!(field(stat, "st_mode="), Some(&b"S_IFREG|0644"[..]));
        assert_eq!(field(stat, "st_size="), Some(&b"36291"[..]));
        assert_eq!(entries(b"0x5 /* 208 entries */"), 208);
        assert_eq!(string(b"\"a\"..."), None);
    }
}
