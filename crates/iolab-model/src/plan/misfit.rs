//! What levels ask for and cannot have with this file on this place: said by the plan, not by a trial
//! that fails.

use super::Facts;
use crate::catalog::{
    CacheState, Factor, FileOperation, Levels, ReplayMethod, bytes_text, is_held_warm,
    memory_limit_bytes,
};

/// Only what iolab has mounted can be unmounted.
pub(super) fn remount_misfit(
    levels: &Levels,
    place: Option<&str>,
    facts: &Facts,
) -> Option<String> {
    let remounts = place.and_then(|place| facts.places.get(place)).is_some_and(|n| n.remounts);
    (levels.word() == Some(CacheState::Remount) && !remounts).then(|| {
        format!(
            "remount: {} is not mounted by iolab; name a place such as --place ext4, or take \
             --cache cold",
            place.unwrap_or("the directory")
        )
    })
}

/// A file that does not fit into memory is never warm.
pub(super) fn warm_misfit(levels: &Levels, bytes: u64, facts: &Facts) -> Option<String> {
    // What looks at files alone needs none of their bytes.
    let looks = levels.word() == Some(FileOperation::Stat);
    let fits = bytes <= facts.available_memory_bytes;
    (!looks && levels.word() == Some(CacheState::Warm) && !fits).then(|| {
        format!(
            "a file of {} cannot be warm in {} of memory; take --cache cold or --cache any, or a \
             smaller file",
            bytes_text(bytes),
            bytes_text(facts.available_memory_bytes)
        )
    })
}

/// Where files are in the page cache and nowhere else, nothing goes past it.
pub(super) fn bypass_misfit(levels: &Levels, place: Option<&str>, facts: &Facts) -> Option<String> {
    let replayed = levels.word() == Some(ReplayMethod::Direct);
    let place = place.filter(|_| replayed || levels.is_on(Factor::Direct))?;
    facts.places.get(place)?.always_cached.then(|| {
        let other = if replayed { "another --method" } else { "--direct=off" };
        format!(
            "{place} reads through the page cache even with O_DIRECT; take {other}, or a place \
             such as ext4 or xfs"
        )
    })
}

/// A limit must hold the trial itself, and the file where it is to be warm.
pub(super) fn limit_misfit(levels: &Levels, bytes: u64, facts: &Facts) -> Option<String> {
    let limit_bytes = memory_limit_bytes(levels.get(Factor::Memory)?, bytes)?;
    if levels.word() == Some(CacheState::Warm) && !is_held_warm(bytes, limit_bytes) {
        return Some(format!(
            "a file of {} cannot be warm within {}; take --cache cold or --cache any",
            bytes_text(bytes),
            bytes_text(limit_bytes)
        ));
    }
    (limit_bytes < facts.least_limit_bytes).then(|| {
        format!(
            "a limit of {} does not hold the trial itself; give --memory {} or more, or a larger \
             file",
            bytes_text(limit_bytes),
            bytes_text(facts.least_limit_bytes)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{bypass_misfit, limit_misfit};
    use crate::catalog::{AxisWord, CacheState, Factor, Level, Levels};
    use crate::plan::{Facts, PlaceNeeds};

    /// Ten trials on a tmpfs once went by before "O_DIRECT was taken, yet the device delivered 0".
    #[test]
    fn direct_io_is_refused_where_files_are_in_memory_only() {
        let mut facts = Facts::default();
        let cached = PlaceNeeds { always_cached: true, ..PlaceNeeds::default() };
        facts.places.insert("tmpfs".to_owned(), cached);
        facts.places.insert("ext4".to_owned(), PlaceNeeds::default());
        let direct = |word| Levels::new().with(Factor::Direct, Level::word(word));
        let why = bypass_misfit(&direct("on"), Some("tmpfs"), &facts).unwrap();
        assert!(why.starts_with("tmpfs reads through the page cache"), "{why}");
        assert_eq!(bypass_misfit(&direct("off"), Some("tmpfs"), &facts), None);
        assert_eq!(bypass_misfit(&direct("on"), Some("ext4"), &facts), None);
        assert_eq!(bypass_misfit(&direct("on"), None, &facts), None);
    }

    #[test]
    fn a_limit_that_no_trial_fits_into_is_refused_as_a_size_and_as_a_ratio() {
        let facts = Facts { least_limit_bytes: 16 << 20, ..Facts::default() };
        let why = |level: Level, bytes| {
            limit_misfit(&Levels::new().with(Factor::Memory, level), bytes, &facts)
        };
        let small = why(Level::Number(1 << 20), 1 << 30).unwrap();
        assert!(small.contains("1 MiB does not hold") && small.contains("16 MiB or"), "{small}");
        assert_eq!(why(Level::Number(16 << 20), 1 << 30), None);
        assert!(why(Level::word("4x"), 32 << 20).is_some(), "8 MiB");
        let warm = Levels::new()
            .with(Factor::Memory, Level::Number(512 << 20))
            .with(Factor::Cache, CacheState::Warm.level());
        let said = limit_misfit(&warm, 2 << 30, &facts).unwrap();
        assert!(said.starts_with("a file of 2 GiB cannot be warm within 512 MiB"), "{said}");
        assert_eq!(limit_misfit(&warm, 256 << 20, &facts), None);
        assert_eq!(why(Level::word("0.25x"), 32 << 20), None);
    }
}
