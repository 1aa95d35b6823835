//! Options of a fio job as levels. What is no one level is left out.

use super::Direction;
use iolab_model::catalog::{Factor, Level, Levels, Pattern, Switch};

/// The options that are axes here; a job that does both marks itself by an empty contender.
pub(super) fn levels(direction: Direction, option: &dyn Fn(&str) -> Option<String>) -> Levels {
    let mut levels = Levels::new();
    let engine = option("ioengine").unwrap_or_else(|| "psync".to_owned());
    levels.set(Factor::Method, Level::word(engine));
    if let Some(block) = block(direction, option) {
        levels.set(Factor::Block, Level::Number(block));
    }
    let size = option("filesize").or_else(|| option("size"));
    if let Some(size) = size.and_then(|text| bytes(&text)) {
        levels.set(Factor::FileSize, Level::Number(size));
    }
    let count = |name: &str| option(name).and_then(|t| t.parse::<u64>().ok());
    levels.set(Factor::Threads, Level::Number(count("numjobs").unwrap_or(1)));
    if let Some(depth) = count("iodepth") {
        levels.set(Factor::QueueDepth, Level::Number(depth));
    }
    let direct = option("direct").is_some_and(|d| d != "0");
    levels.set(
        Factor::Direct,
        Level::word(if direct { Switch::On.word() } else { Switch::Off.word() }),
    );
    let kind = option("rw").or_else(|| option("readwrite")).unwrap_or_default();
    let random = kind.contains("rand");
    levels.set_word(if random { Pattern::Random } else { Pattern::Sequential });
    if kind.contains("rw") || kind.contains("readwrite") {
        levels.set(Factor::Contender, Level::word(""));
    }
    levels
}

/// The block size where there is one: a range or a mix is none. `8k,32k` is one a direction, and
/// the last stands for those that follow.
fn block(direction: Direction, option: &dyn Fn(&str) -> Option<String>) -> Option<u64> {
    let mixed = ["bsrange", "blocksize_range", "bssplit"];
    if mixed.iter().any(|name| option(name).is_some()) {
        return None;
    }
    // fio's own default.
    let Some(text) = option("bs").or_else(|| option("blocksize")) else { return Some(4096) };
    let sizes: Vec<&str> = text.split(',').collect();
    bytes(sizes[(direction as usize).min(sizes.len() - 1)])
}

/// fio's sizes: `4k` is 4096 (its default `kb_base`), `1m`, `2GiB`, `4096`. Ranges and percents
/// are no one size.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    let shift = match text[digits..].trim_end_matches('b').trim_end_matches('i') {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        "p" => 50,
        _ => return None,
    };
    number.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes_are_fios() {
        for (text, wanted) in [
            ("4k", Some(4096)),
            ("4096", Some(4096)),
            ("1M", Some(1 << 20)),
            ("2GiB", Some(2 << 30)),
            ("64Kb", Some(65536)),
            ("4k-8k", None),
            ("50%", None),
            ("", None),
            ("99999999999p", None),
        ] {
            assert_eq!(bytes(text), wanted, "{text}");
        }
    }
}
