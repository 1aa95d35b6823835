//! Flags and advice as bits and numbers of our own.

use super::words;
use crate::call::OpenFlags;

/// The words of flags: `O_RDONLY|O_CLOEXEC`.
pub(super) fn words_of(flags: &[u8]) -> impl Iterator<Item = &[u8]> {
    flags.split(|byte| *byte == b'|').map(|word| word.trim_ascii())
}

/// Flags of an opening as bits of our own.
pub(super) fn open_flags(text: &[u8]) -> OpenFlags {
    let text = words::field(text, "flags=").unwrap_or(text);
    let flags = words_of(text).map(|word| {
        let known = OpenFlags::WORDS.iter().find(|(name, _)| name.as_bytes() == word);
        known.map_or(OpenFlags::default(), |(_, flag)| *flag)
    });
    flags.fold(OpenFlags::default(), OpenFlags::with)
}

/// Numbers of posix_fadvise(2) and madvise(2), which agree on the first five.
pub(super) fn advice(word: &[u8]) -> u32 {
    let name = word.rsplit(|byte| *byte == b'_').next().unwrap_or_default();
    match name {
        b"RANDOM" => 1,
        b"SEQUENTIAL" => 2,
        b"WILLNEED" => 3,
        b"DONTNEED" => 4,
        b"NOREUSE" => 5,
        // readahead(2) has none: it means to have it.
        b"" => 3,
        b"NORMAL" => 0,
        _ => 255,
    }
}
