//! How a place is written: `ext4:noatime,data=writeback,size=2Gi`, `overlay+metacopy:on=xfs`,
//! `dir:/data`, `device:/dev/sdb,fs=xfs`. Pure; what a place *is* stands in the room `place`.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use super::level::{path_from_text, path_to_text};
use super::place_error::{PlaceError, wrong};
use super::place_words::{check_mount_option, check_tool_words};

/// One place as a person asked for it. Its `Display` is the canonical text, which parses back.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlaceLevel {
    /// Id of the kind: `ext4`, `tmpfs`, `overlay+metacopy`, `dir`.
    pub kind: String,
    /// Behind `dir:` and `device:`.
    pub path: Option<PathBuf>,
    /// Size of the image in bytes.
    pub size_bytes: Option<u64>,
    /// Words for the tool that makes the file system, added to ours.
    pub mkfs: Vec<String>,
    /// Places that this one is made on, by role: `on`, `lower`, `upper`.
    pub layers: Vec<(String, PlaceLevel)>,
    /// The file system that is made on a device.
    pub file_system: Option<String>,
    /// Mount options in the order written: `noatime`, `data=writeback`.
    pub options: Vec<(String, Option<String>)>,
}

/// Kinds whose text is a path.
const BY_PATH: [&str; 2] = ["dir", "device"];
const ROLES: [&str; 3] = ["on", "lower", "upper"];

/// How options are written, for whoever wrote them otherwise.
const OPTIONS: &str = "options follow a colon, with commas between: ext4:size=1Gi,noatime";

/// Whether a text is a directory without `dir:` before it.
fn is_path(text: &str) -> bool {
    matches!(text.split('/').next(), Some("" | "." | "..")) && !text.is_empty()
}

/// Reads a list of places. A comma before the name of a kind, or before a path that shows itself to
/// be one (`/a`, `./a`), begins the next place; any other comma separates options of the same place, or
/// belongs to its path. Brackets hold what has commas of its own: `ext4:mkfs=[-O ^has_journal,^extent]`,
/// `overlay:upper=[xfs:noatime]`. `kinds` are the ids that exist.
///
/// # Errors
/// The first part that is wrong, with the fix; places of different sizes; one named twice.
pub fn parse_places(text: &str, kinds: &[&str]) -> Result<Vec<PlaceLevel>, PlaceError> {
    let mut whole: Vec<String> = Vec::new();
    for piece in split(text, ',')? {
        let head = piece.split(':').next().unwrap_or_default();
        let begins = kinds.contains(&head) || BY_PATH.contains(&head) || is_path(piece);
        match whole.last_mut() {
            Some(last) if !begins && last.contains(':') => {
                last.push(',');
                last.push_str(piece);
            }
            _ => whole.push(piece.to_owned()),
        }
    }
    let places: Vec<PlaceLevel> =
        whole.iter().map(|one| parse_place(one, kinds)).collect::<Result<_, _>>()?;
    let mut seen = BTreeSet::new();
    if let Some(twice) = places.iter().find(|place| !seen.insert(*place)) {
        let remedy = "name each place once: iolab repeats it as often as it needs";
        return Err(wrong(&twice.to_string(), "named twice", remedy));
    }
    one_size(&places)?;
    Ok(places)
}

/// Reads one place.
///
/// # Errors
/// What is wrong and what to write instead.
pub fn parse_place(text: &str, kinds: &[&str]) -> Result<PlaceLevel, PlaceError> {
    parse_layer(text, kinds, 0)
}

/// Places lie in places so deep, at most: the kernel stacks two, and whoever reads a text of thousands
/// runs out of stack.
const MOST_LAYERS: u32 = 4;

fn parse_layer(text: &str, kinds: &[&str], depth: u32) -> Result<PlaceLevel, PlaceError> {
    if depth > MOST_LAYERS {
        let problem = format!("lies in more than {MOST_LAYERS} other places");
        return Err(wrong(text, problem, "take fewer layers"));
    }
    let (kind, rest) = match is_path(text) {
        true => ("dir", text),
        false => text.split_once(':').unwrap_or((text, "")),
    };
    let mut place = PlaceLevel { kind: kind.to_owned(), ..PlaceLevel::default() };
    if BY_PATH.contains(&kind) {
        return by_path(place, text, rest, depth);
    }
    if !kinds.contains(&kind) {
        let named: Vec<&str> = kinds.iter().copied().filter(|k| !BY_PATH.contains(k)).collect();
        let remedy =
            format!("places are {}, dir:PATH and device:PATH; {OPTIONS}", named.join(", "));
        return Err(wrong(text, PlaceError::UNKNOWN, remedy));
    }
    if text.ends_with(':') {
        let remedy = format!("leave the colon out; {OPTIONS}");
        return Err(wrong(text, "no option stands after the colon", remedy));
    }
    for option in split(rest, ',')?.into_iter().filter(|_| !rest.is_empty()) {
        place.take(option, kinds, depth)?;
    }
    Ok(place)
}

impl PlaceLevel {
    /// A place without options.
    pub fn plain(kind: &str) -> PlaceLevel {
        PlaceLevel { kind: kind.to_owned(), ..PlaceLevel::default() }
    }

    /// The place in this role.
    pub fn layer(&self, role: &str) -> Option<&PlaceLevel> {
        self.layers.iter().find(|(name, _)| name == role).map(|(_, place)| place)
    }

    fn take(&mut self, option: &str, kinds: &[&str], depth: u32) -> Result<(), PlaceError> {
        let (key, value) = match option.split_once('=') {
            Some((key, value)) => (key, Some(value)),
            None => (option, None),
        };
        let plain = |c: char| c.is_ascii_graphic() && !"[]:,\\".contains(c);
        if key.is_empty() || !key.chars().all(plain) {
            let remedy = format!("an option is word or word=value; {OPTIONS}");
            return Err(wrong(option, "not an option", remedy));
        }
        match (key, value) {
            ("size" | "mkfs" | "on" | "lower" | "upper" | "fs", None | Some("")) => {
                Err(wrong(option, "has no value", format!("write {key}=…")))
            }
            ("size", Some(value)) => put(&mut self.size_bytes, size(value)?, option),
            ("mkfs", Some(value)) if self.mkfs.is_empty() => {
                self.mkfs = inner(value).split_ascii_whitespace().map(str::to_owned).collect();
                if self.mkfs.is_empty() {
                    return Err(wrong(option, "holds no word", "write mkfs=[-O ^has_journal]"));
                }
                check_tool_words(&self.mkfs)
            }
            ("mkfs", _) => Err(twice(option)),
            (role, Some(value)) if ROLES.contains(&role) => {
                if self.layer(role).is_some() {
                    return Err(twice(option));
                }
                self.layers.push((role.to_owned(), parse_layer(inner(value), kinds, depth + 1)?));
                Ok(())
            }
            ("fs", Some(value)) => put(&mut self.file_system, value.to_owned(), option),
            (key, value) => {
                check_mount_option(key, value.map(inner))?;
                self.options.push((key.to_owned(), value.map(|v| inner(v).to_owned())));
                Ok(())
            }
        }
    }
}

fn put<T>(slot: &mut Option<T>, value: T, option: &str) -> Result<(), PlaceError> {
    if slot.is_some() {
        return Err(twice(option));
    }
    *slot = Some(value);
    Ok(())
}

fn twice(option: &str) -> PlaceError {
    wrong(option, "given twice", "give it once")
}

fn by_path(
    mut place: PlaceLevel,
    text: &str,
    rest: &str,
    depth: u32,
) -> Result<PlaceLevel, PlaceError> {
    // A directory's name may hold commas; what is made on a device may not be left unsaid.
    let (path, options) = match place.kind.as_str() {
        "device" => rest.split_once(',').unwrap_or((rest, "")),
        _ => (rest, ""),
    };
    if path.is_empty() {
        return Err(wrong(text, "no path", format!("write {}:PATH", place.kind)));
    }
    place.path = Some(path_from_text(path));
    for option in split(options, ',')?.into_iter().filter(|_| !options.is_empty()) {
        if option.starts_with("size=") {
            return Err(wrong(option, "a device has its own size", "leave size= out"));
        }
        place.take(option, &[], depth)?;
    }
    Ok(place)
}

/// One size for all images of a comparison: the size that any of them names holds for all.
fn one_size(places: &[PlaceLevel]) -> Result<(), PlaceError> {
    let mut named: Vec<u64> = places.iter().flat_map(sizes).collect();
    named.sort_unstable();
    named.dedup();
    match named.as_slice() {
        [] | [_] => Ok(()),
        [one, other, ..] => Err(wrong(
            &format!("size={}", size_text(*other)),
            format!("places of different sizes ({}) are no fair comparison", size_text(*one)),
            "give one size for all of them; named once, it holds for all",
        )),
    }
}

fn sizes(place: &PlaceLevel) -> Vec<u64> {
    let inner = place.layers.iter().flat_map(|(_, layer)| sizes(layer));
    place.size_bytes.into_iter().chain(inner).collect()
}

/// The image size that holds for all of these places, where one names it.
pub fn common_size(places: &[PlaceLevel]) -> Option<u64> {
    places.iter().flat_map(sizes).next()
}

/// Splits outside of brackets.
fn split(text: &str, at: char) -> Result<Vec<&str>, PlaceError> {
    let mut pieces = Vec::new();
    let (mut depth, mut start) = (0_u32, 0);
    for (position, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => {
                depth = depth.checked_sub(1).ok_or_else(|| {
                    wrong(text, "a bracket closes that was not opened", "write [ before it")
                })?;
            }
            c if c == at && depth == 0 => {
                pieces.push(&text[start..position]);
                start = position + c.len_utf8();
            }
            _ => {}
        }
    }
    if depth > 0 {
        return Err(wrong(text, "a bracket is not closed", "write ] at the end of it"));
    }
    pieces.push(&text[start..]);
    if text.is_empty() || pieces.iter().any(|piece| piece.is_empty()) && !text.is_empty() {
        return match text.is_empty() {
            true => Ok(pieces),
            false => Err(wrong(text, "an empty item between commas", "take the comma away")),
        };
    }
    Ok(pieces)
}

/// What stands in brackets, where they are around the whole.
fn inner(value: &str) -> &str {
    let stripped = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    stripped.filter(|text| split(text, '\0').is_ok()).unwrap_or(value)
}

fn size(text: &str) -> Result<u64, PlaceError> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let scale: Option<u64> = match &text[digits..] {
        "" => Some(1),
        "K" | "Ki" | "KiB" => Some(1 << 10),
        "M" | "Mi" | "MiB" => Some(1 << 20),
        "G" | "Gi" | "GiB" => Some(1 << 30),
        "T" | "Ti" | "TiB" => Some(1 << 40),
        _ => None,
    };
    let bytes = text[..digits].parse::<u64>().ok().zip(scale).and_then(|(n, s)| n.checked_mul(s));
    match bytes {
        Some(bytes) if bytes > 0 && i64::try_from(bytes).is_ok() => Ok(bytes),
        _ => Err(wrong(&format!("size={text}"), "not a size", "write size=1Gi or size=512Mi")),
    }
}

fn size_text(bytes: u64) -> String {
    for (scale, unit) in [(1_u64 << 40, "Ti"), (1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki")] {
        if bytes >= scale && bytes.is_multiple_of(scale) {
            return format!("{}{unit}", bytes / scale);
        }
    }
    bytes.to_string()
}

impl fmt::Display for PlaceLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(self.path.as_deref().map(Path::new).map(path_to_text));
        parts.extend(self.size_bytes.map(|bytes| format!("size={}", size_text(bytes))));
        parts.extend(self.file_system.as_ref().map(|name| format!("fs={name}")));
        if !self.mkfs.is_empty() {
            parts.push(format!("mkfs=[{}]", self.mkfs.join(" ")));
        }
        parts.extend(self.layers.iter().map(|(role, place)| format!("{role}=[{place}]")));
        parts.extend(self.options.iter().map(|(key, value)| match value {
            Some(value) if value.contains([',', '[']) => format!("{key}=[{value}]"),
            Some(value) => format!("{key}={value}"),
            None => key.clone(),
        }));
        let text = match parts.is_empty() {
            true => self.kind.clone(),
            false => format!("{}:{}", self.kind, parts.join(",")),
        };
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::{PlaceLevel, common_size, parse_place, parse_places};

    const KINDS: &[&str] = &["ext4", "xfs", "btrfs", "tmpfs", "overlay", "overlay+metacopy"];

    fn texts(list: &str) -> Vec<String> {
        parse_places(list, KINDS).unwrap().iter().map(ToString::to_string).collect()
    }

    /// A word of a stranger's file, `overlay:lower=overlay:lower=…`, ended the program by its stack.
    #[test]
    fn places_in_places_without_end_are_refused() {
        let deep = |times: usize| "overlay:lower=".repeat(times) + "ext4";
        assert!(parse_place(&deep(4), KINDS).is_ok());
        let refused = parse_place(&deep(100_000), KINDS).unwrap_err();
        assert!(refused.to_string().len() < 2_000_000, "it is brief elsewhere");
        assert!(format!("{refused:?}").contains("more than 4 other places"));
    }

    #[test]
    fn a_comma_begins_a_place_or_continues_its_options() {
        assert_eq!(
            texts("ext4:noatime,data=writeback,xfs,btrfs:compress=zstd,tmpfs"),
            ["ext4:noatime,data=writeback", "xfs", "btrfs:compress=zstd", "tmpfs"]
        );
        assert_eq!(texts("dir:/a,b,ext4"), ["dir:/a,b", "ext4"]);
        assert_eq!(texts("/a,/b:c,ext4,./d"), ["dir:/a", "dir:/b:c", "ext4", "dir:./d"]);
        assert_eq!(
            texts("ext4:mkfs=[-O ^has_journal,^extent]"),
            ["ext4:mkfs=[-O ^has_journal,^extent]"]
        );
        let layered = "overlay+metacopy:lower=[ext4:noatime,size=2Gi],upper=xfs";
        let places = parse_places(layered, KINDS).unwrap();
        assert_eq!(places[0].layer("upper"), Some(&PlaceLevel::plain("xfs")));
        assert_eq!(common_size(&places), Some(2 << 30));
        let device = &parse_places("device:/dev/sdb,fs=xfs,noatime,ext4", KINDS).unwrap()[0];
        assert_eq!(device.path.as_deref(), Some(Path::new("/dev/sdb")));
        assert_eq!(device.file_system.as_deref(), Some("xfs"));
    }

    #[test]
    fn what_is_wrong_is_named_with_the_fix() {
        for (text, word) in [
            ("ext5", "places are"),
            ("ext4,noatime", "no such place"),
            ("", "no such place"),
            ("ext4,", "take the comma away"),
            ("ext4:", "leave the colon out"),
            ("dir:", "write dir:PATH"),
            ("ext4:size=64KB", "size=1Gi"),
            ("ext4:size=0", "size=1Gi"),
            ("ext4:size=99999999999Ti", "size=1Gi"),
            ("ext4:size", "write size="),
            ("ext4:size=1Gi,xfs:size=2Gi", "one size for all"),
            ("ext4:mkfs=[-O a", "write ] at"),
            ("ext4:mkfs=a]", "write [ before"),
            ("ext4:mkfs=[]", "mkfs=[-O"),
            ("ext4:mkfs=-a,mkfs=-b", "once"),
            ("btrfs:mkfs=[/dev/sdb]", "device:PATH"),
            ("ext4:mkfs=[-Jdevice=x]", "leave device= out"),
            ("overlay:upperdir=/etc", "leave upperdir= out"),
            ("ext4,ext4", "each place once"),
            ("overlay:upper=zfs", "no such place"),
            ("device:/dev/sdb,size=1Gi", "leave size= out"),
            ("ext4:=x", "word=value"),
        ] {
            let said = parse_places(text, KINDS).unwrap_err().to_string();
            assert!(said.contains(word), "{text}: {said}");
        }
    }

    fn option() -> impl Strategy<Value = (String, Option<String>)> {
        // A word that names a place begins one: no file system has an option of that name.
        let name = "x[a-z_]{0,8}".prop_filter("a place", |name| !KINDS.contains(&name.as_str()));
        (name, proptest::option::of("[a-z0-9=+.-]{1,6}(,[a-z]{1,3})?"))
    }

    fn image() -> impl Strategy<Value = PlaceLevel> {
        let mkfs = proptest::collection::vec("-{1,2}[b-cO^,=]{1,8}", 0..3);
        let options = proptest::collection::vec(option(), 0..4);
        (0..3_usize, proptest::option::of(Just(1_u64 << 30)), mkfs, options).prop_map(
            |(kind, size_bytes, mkfs, options)| PlaceLevel {
                kind: KINDS[kind].to_owned(),
                size_bytes,
                mkfs,
                options,
                ..PlaceLevel::default()
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(places in proptest::collection::vec(image(), 1..4)) {
            let mut places = places;
            places.sort();
            places.dedup();
            let text = places.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
            prop_assert_eq!(parse_places(&text, KINDS).unwrap(), places);
        }

        #[test]
        fn layers_read_back(lower in image(), upper in image()) {
            let layers = vec![("lower".to_owned(), lower), ("upper".to_owned(), upper)];
            let place = PlaceLevel { layers, ..PlaceLevel::plain("overlay") };
            prop_assert_eq!(parse_place(&place.to_string(), KINDS).unwrap(), place);
        }

        #[test]
        fn odd_text_is_refused_or_reads_back(text in "\\PC{0,40}") {
            if let Ok(place) = parse_place(&text, KINDS) {
                prop_assert_eq!(parse_place(&place.to_string(), KINDS).unwrap(), place);
            }
        }

        #[test]
        fn odd_endings_are_refused_or_read_back(text in "[\\[\\],=:a-z\\\\]{0,20}") {
            for kind in ["ext4:", "dir:", "device:", "overlay:on=[xfs:"] {
                let text = format!("{kind}{text}");
                if let Ok(place) = parse_place(&text, KINDS) {
                    let again = parse_place(&place.to_string(), KINDS);
                    prop_assert_eq!(again.as_ref().unwrap(), &place, "{} -> {}", text, place);
                }
            }
        }
    }
}
