//! Levels as a person would say them, for names and for the line of what was held constant.

use super::{
    Atime, AxisWord, CacheState, Consume, Descriptors, Factor, Fill, Kind, Level, Pattern,
    RECORDED, Readahead, ReplaySync, ReplayThink, Share, Shift, Sparse, Switch, Sync, Target,
    Touch, Until, bytes_text, command_label, count_text, path_to_text, so_many,
};

/// A level in words, after the name of a cell or in the line of what was held constant:
/// `64 KiB blocks`, `cache warm`, `one fsync at the end`.
pub fn phrase(factor: Factor, level: &Level) -> String {
    match level {
        Level::Number(number) => number_phrase(factor, *number),
        Level::Path(path) => path_to_text(path),
        Level::Word(word) => word_phrase(factor, word),
    }
}

/// The same of what all cells share; nothing where it is what anybody would take for granted.
pub fn held_phrase(factor: Factor, level: &Level) -> Option<String> {
    (!goes_without_saying(factor, level)).then(|| phrase(factor, level))
}

/// Whether anybody would take it for granted where nothing else is said.
pub fn goes_without_saying(factor: Factor, level: &Level) -> bool {
    match (factor, level) {
        (Factor::Latency | Factor::WithData, level) => *level == Level::word(Switch::Off.word()),
        (Factor::IdleThreads | Factor::BufferOffset, level) => *level == Level::Number(0),
        (Factor::Repeats, level) => *level == Level::Number(1),
        (Factor::Share, level) => *level == Share::Own.level(),
        (Factor::Shift, level) => *level == Shift::Off.level(),
        _ => false,
    }
}

/// Whether what is named by these levels wants "are" and "take". A thing that does it (a method, a
/// place) is one, whatever it is done with: `pread with 64 KiB blocks` is fastest, `new files` are.
pub fn is_plural<'a>(levels: impl Iterator<Item = (Factor, &'a Level)>) -> bool {
    let all: Vec<(Factor, &Level)> = levels.collect();
    let does = |factor: &Factor| {
        use Factor::{Contender, File, Host, Method, Operation, Place};
        matches!(factor, Method | Operation | Contender | File | Host | Place)
    };
    let mut doers = all.iter().filter(|(factor, _)| does(factor)).peekable();
    match doers.peek() {
        Some(_) => doers.all(|(factor, level)| says_several(*factor, level)),
        None => match &all[..] {
            [(factor, level)] => says_several(*factor, level),
            several => !several.is_empty(),
        },
    }
}

/// Whether the phrase of a level names more than one thing.
fn says_several(factor: Factor, level: &Level) -> bool {
    match (factor, level) {
        (Factor::Block, Level::Number(_)) => true,
        (Factor::FileSize, Level::Number(bytes)) => *bytes == 0,
        (
            Factor::Threads | Factor::Ranks | Factor::IdleThreads | Factor::Files | Factor::Repeats,
            Level::Number(count),
        ) => *count != 1,
        (Factor::Method | Factor::Block | Factor::Sync | Factor::Threads, Level::Word(word)) => {
            word == RECORDED
        }
        (Factor::Pass, Level::Word(word)) => {
            matches!(word.parse(), Ok(Touch::Steady | Touch::Whole))
        }
        (Factor::Target, Level::Word(word)) => word != Target::Append.word(),
        (Factor::Consume, Level::Word(word)) => word != Consume::Crc32c.word(),
        (Factor::Atime, Level::Word(word)) => word == Atime::Kept.word(),
        (Factor::Share, Level::Word(word)) => word == Share::Own.word(),
        (Factor::Sparse | Factor::Descriptors | Factor::Fill, _) => true,
        _ => false,
    }
}

/// The name of the machine that iolab was started on, among machines that are compared.
pub const THIS_HOST: &str = "this";

/// A machine in a sentence.
pub fn host_text(host: &str) -> &str {
    if host == THIS_HOST { "this machine" } else { host }
}

fn number_phrase(factor: Factor, number: u64) -> String {
    let count = usize::try_from(number).unwrap_or(usize::MAX);
    match factor {
        Factor::Block => format!("{} blocks", bytes_text(number)),
        Factor::Threads => so_many(count, "thread"),
        Factor::Ranks => so_many(count, "rank"),
        Factor::IdleThreads => so_many(count, "idle thread"),
        Factor::Files => match number {
            1 => "1 file".to_owned(),
            n => format!("{} files", count_text(n)),
        },
        Factor::FileSize if number == 0 => "empty files".to_owned(),
        Factor::FileSize => format!("a file of {}", bytes_text(number)),
        Factor::Memory => format!("{} of memory", bytes_text(number)),
        Factor::QueueDepth => format!("queue depth {number}"),
        Factor::BufferOffset if number == 0 => "a buffer at the start of a page".to_owned(),
        Factor::BufferOffset => format!("a buffer {} into a page", bytes_text(number)),
        Factor::Shift => format!("what the rank {number} further on wrote"),
        Factor::Repeats => format!("{} on a file", so_many(count, "call")),
        _ if factor.kind() == Kind::Bytes => format!("{factor} {}", bytes_text(number)),
        _ => format!("{factor} {number}"),
    }
}

fn word_phrase(factor: Factor, word: &str) -> String {
    match factor {
        Factor::Method if word == RECORDED => "calls as recorded".to_owned(),
        Factor::Block if word == RECORDED => "blocks as recorded".to_owned(),
        Factor::Sync if word == RECORDED => "syncs as recorded".to_owned(),
        Factor::Sync if word == ReplaySync::Close.word() => {
            "one fsync of each file that is written".to_owned()
        }
        Factor::Threads if word == RECORDED => "threads as recorded".to_owned(),
        Factor::Readahead if word == RECORDED => "read-ahead advice as recorded".to_owned(),
        Factor::Contender => command_label(word),
        Factor::Method | Factor::Operation => word.to_owned(),
        Factor::Host => format!("on {}", host_text(word)),
        Factor::Place => format!("on {word}"),
        Factor::SourcePlace => format!("source on {word}"),
        Factor::Memory => format!("a file of {word} the memory"),
        Factor::Consume => said(word, consume),
        Factor::Pattern => said(word, pattern),
        Factor::Sync => said(word, sync),
        Factor::Readahead => said(word, readahead),
        Factor::Target => said(word, target),
        Factor::Until => said(word, until),
        Factor::Sparse => said(word, sparse),
        Factor::Pass => said(word, touch),
        Factor::Fill => said(word, fill),
        Factor::Atime => said(word, atime),
        Factor::Descriptors => said(word, descriptors),
        Factor::Think => said(word, think),
        Factor::Share => said(word, share),
        Factor::Cache => said(word, |state: CacheState| format!("cache {state}")),
        Factor::Direct if word == Switch::On.word() => "O_DIRECT".to_owned(),
        Factor::Direct => "through the page cache".to_owned(),
        Factor::Latency if word == Switch::On.word() => "each operation timed".to_owned(),
        Factor::WithData if word == Switch::On.word() => "files with their own contents".to_owned(),
        Factor::WithData => "files with random contents".to_owned(),
        _ => format!("{factor} {word}"),
    }
}

/// What a record of a newer iolab says stays as it is.
fn said<W: AxisWord>(word: &str, phrase: fn(W) -> String) -> String {
    word.parse().map_or_else(|_| format!("{} {word}", W::FACTOR), phrase)
}

fn consume(consume: Consume) -> String {
    match consume {
        Consume::None => "bytes untouched".to_owned(),
        Consume::Xor => "bytes folded by xor".to_owned(),
        Consume::Histogram => "bytes counted by value".to_owned(),
        Consume::Crc32c => "CRC-32C of the bytes".to_owned(),
    }
}

fn pattern(pattern: Pattern) -> String {
    match pattern {
        Pattern::Sequential => "sequential".to_owned(),
        other => format!("{other} order"),
    }
}

fn sync(sync: Sync) -> String {
    match sync {
        Sync::None => "no sync".to_owned(),
        Sync::End => "one fsync at the end".to_owned(),
        Sync::Fsync => "fsync after each block".to_owned(),
        Sync::Fdatasync => "fdatasync after each block".to_owned(),
        Sync::Dsync => "O_DSYNC".to_owned(),
        Sync::Sync => "O_SYNC".to_owned(),
        Sync::Every(blocks) => format!("fsync every {}", so_many(blocks as usize, "block")),
        Sync::Each => "fsync of each file".to_owned(),
    }
}

fn readahead(advice: Readahead) -> String {
    match advice {
        Readahead::Normal => "read-ahead as set".to_owned(),
        Readahead::Sequential => "double read-ahead".to_owned(),
        Readahead::Random => "no read-ahead".to_owned(),
    }
}

fn target(target: Target) -> String {
    match target {
        Target::New => "new files".to_owned(),
        Target::Overwrite => "files overwritten".to_owned(),
        Target::Preallocated => "preallocated files".to_owned(),
        Target::Append => "appended".to_owned(),
    }
}

fn until(until: Until) -> String {
    match until {
        Until::Return => "timed until the last call returns".to_owned(),
        Until::Close => "timed until closed".to_owned(),
        Until::Durable => "timed until durable".to_owned(),
        Until::Namespace => "timed until data and name are durable".to_owned(),
    }
}

fn sparse(sparse: Sparse) -> String {
    match sparse {
        Sparse::Keep => "holes kept".to_owned(),
        Sparse::Fill => "holes filled".to_owned(),
    }
}

fn touch(touch: Touch) -> String {
    match touch {
        Touch::First => "first call on each file".to_owned(),
        Touch::Second => "second call on each file".to_owned(),
        Touch::Steady => "files called upon before".to_owned(),
        Touch::Whole => "all calls on each file".to_owned(),
    }
}

fn atime(atime: Atime) -> String {
    match atime {
        Atime::Left => "O_NOATIME".to_owned(),
        Atime::Kept => "access times kept".to_owned(),
    }
}

fn descriptors(table: Descriptors) -> String {
    match table {
        Descriptors::Shared => "open files shared".to_owned(),
        Descriptors::Own => "open files of each worker's own".to_owned(),
    }
}

fn share(share: Share) -> String {
    match share {
        Share::Own => "own files".to_owned(),
        Share::Segmented => "one segmented file".to_owned(),
        Share::Strided => "one strided file".to_owned(),
        Share::One => "one directory".to_owned(),
    }
}

fn think(think: ReplayThink) -> String {
    match think {
        ReplayThink::None => "no time between calls".to_owned(),
        ReplayThink::Recorded => "the program's own time between its calls included".to_owned(),
        ReplayThink::Uncounted => "the program's own time between its calls not counted".to_owned(),
    }
}

fn fill(fill: Fill) -> String {
    match fill {
        Fill::Random => "random bytes".to_owned(),
        Fill::Text => "printable bytes".to_owned(),
        Fill::Zero => "zeros".to_owned(),
        Fill::Compressible(percent) => format!("bytes {percent} % compressible"),
    }
}

#[cfg(test)]
mod tests {
    use super::{AxisWord, Factor, Level, Switch, Sync, Target, held_phrase, is_plural, phrase};

    /// "new files is fastest".
    #[test]
    fn what_names_several_things_wants_a_plural_verb() {
        let plural = |levels: &[(Factor, Level)]| is_plural(levels.iter().map(|(f, l)| (*f, l)));
        let number = |factor, n| (factor, Level::Number(n));
        let target = |target: Target| (Factor::Target, Level::word(target.word()));
        for words in [Target::New, Target::Overwrite, Target::Preallocated] {
            assert!(plural(&[target(words)]), "{words:?}");
        }
        assert!(!plural(&[target(Target::Append)]));
        assert!(plural(&[number(Factor::Block, 4096)]) && plural(&[number(Factor::Threads, 2)]));
        assert!(plural(&[number(Factor::Files, 5)]) && !plural(&[number(Factor::Files, 1)]));
        assert!(!plural(&[number(Factor::Threads, 1)]) && !plural(&[]));
        assert!(!plural(&[number(Factor::FileSize, 5)]) && plural(&[number(Factor::FileSize, 0)]));
        assert!(!plural(&[(Factor::Sync, Sync::Fsync.level())]));
        let pread = (Factor::Method, Level::word("pread"));
        assert!(!plural(&[pread, number(Factor::Block, 4096)]));
        let direct = (Factor::Direct, Level::word(Switch::On.word()));
        assert!(!plural(std::slice::from_ref(&direct)));
        assert!(plural(&[direct, number(Factor::Threads, 1)]), "two things are several");
    }

    #[test]
    fn levels_read_as_a_person_would_say_them() {
        let word = |factor, text: &str| phrase(factor, &Level::word(text));
        assert_eq!(phrase(Factor::Block, &Level::Number(65536)), "64 KiB blocks");
        assert_eq!(phrase(Factor::Threads, &Level::Number(1)), "1 thread");
        assert_eq!(word(Factor::Sync, "every:16"), "fsync every 16 blocks");
        assert_eq!(word(Factor::Pattern, "random"), "random order");
        assert_eq!(word(Factor::Direct, "on"), "O_DIRECT");
        // Of a record that is newer than this iolab.
        assert_eq!(word(Factor::Sync, "sometimes"), "sync sometimes");
    }

    #[test]
    fn what_anybody_would_take_for_granted_is_not_said() {
        assert_eq!(held_phrase(Factor::Latency, &Level::word("off")), None);
        assert_eq!(held_phrase(Factor::IdleThreads, &Level::Number(0)), None);
        let direct = held_phrase(Factor::Direct, &Level::word("off"));
        assert_eq!(direct.unwrap(), "through the page cache");
    }
}
