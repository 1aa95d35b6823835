//! What places take and hold, and which of them cannot be made here.

use std::collections::BTreeMap;

use super::catalog;
use iolab_io::host;
use iolab_io::place::{self, Ground, IMAGE_BYTES};
use iolab_model::catalog::{Factor, Level, PlaceLevel, common_size};
use iolab_model::plan::PlaceNeeds;

/// An image is so large where there is room: a btrfs of 1 GiB was 4.2× slower than one of 30 GiB.
const GREATEST_IMAGE_BYTES: u64 = 16 << 30;
/// Of an image so much is for files for sure; the rest may go to logs, tables and reserves.
const SHARE_FOR_FILES: u64 = 75;

/// The places that were named on either axis of places, each once.
pub fn named(factors: &BTreeMap<Factor, Vec<Level>>) -> Vec<PlaceLevel> {
    let mut all: Vec<&Level> = Vec::new();
    for factor in [Factor::Place, Factor::SourcePlace] {
        for level in factors.get(&factor).into_iter().flatten() {
            if !all.contains(&level) {
                all.push(level);
            }
        }
    }
    catalog::places(all)
}

/// The size of every image of a mix: as it is written, else as large as free space sensibly allows.
/// Images are sparse beyond [`IMAGE_BYTES`], and even full ones leave as much free as one of them takes.
pub fn image_bytes(places: &[PlaceLevel], usable_bytes: u64) -> u64 {
    common_size(places).unwrap_or_else(|| by_space(places, usable_bytes))
}

fn by_space(places: &[PlaceLevel], usable_bytes: u64) -> u64 {
    let mut kinds = Vec::new();
    places.iter().for_each(|level| grounds(level, &mut kinds));
    // What lies in memory, or is made by a tool from files, would not be alike any more.
    let alike = |(ground, _): &(Ground, &str)| {
        matches!(ground, Ground::Image | Ground::Layers | Ground::Directory)
    };
    if !kinds.iter().all(alike) {
        return IMAGE_BYTES;
    }
    let images = || kinds.iter().filter(|(ground, _)| *ground == Ground::Image);
    let share = usable_bytes / (images().count() as u64 + 1);
    let fits = |bytes: u64| {
        let fits = |kind: &str| {
            place::file_system_named(kind).is_some_and(|kind| kind.fits(bytes).is_ok())
        };
        bytes <= share && images().all(|(_, kind)| fits(kind))
    };
    let mut bytes = GREATEST_IMAGE_BYTES;
    while bytes > IMAGE_BYTES && !fits(bytes) {
        bytes /= 2;
    }
    bytes
}

/// What a place and those below it lie on.
fn grounds<'a>(level: &'a PlaceLevel, all: &mut Vec<(Ground, &'a str)>) {
    all.push((place::ground_of(level), level.kind.as_str()));
    level.layers.iter().for_each(|(_, layer)| grounds(layer, all));
}

/// Those that cannot be made here, with the reason and the remedy.
pub fn unavailable(places: &[PlaceLevel]) -> BTreeMap<String, String> {
    let missing =
        |level: &PlaceLevel| Some((level.to_string(), place::available(level).err()?.to_string()));
    places.iter().filter_map(missing).collect()
}

/// What each takes and holds.
pub fn of_all(places: &[PlaceLevel], image_bytes: u64) -> BTreeMap<String, PlaceNeeds> {
    places.iter().map(|level| (level.to_string(), needs_of(level, image_bytes))).collect()
}

fn needs_of(level: &PlaceLevel, image_bytes: u64) -> PlaceNeeds {
    let ground = place::ground_of(level);
    let bytes = level.size_bytes.unwrap_or(image_bytes);
    let inner = level.layers.iter().map(|(_, layer)| needs_of(layer, image_bytes));
    let inner: Vec<PlaceNeeds> = inner.collect();
    let holds = match ground {
        Ground::Image | Ground::Memory => Some(bytes / 100 * SHARE_FOR_FILES),
        _ => inner.iter().filter_map(|needs| needs.holds_bytes).min(),
    };
    // Of an overlay the files are those of its layers.
    let always_cached = match ground {
        Ground::Memory => true,
        Ground::Directory => {
            level.path.as_deref().is_some_and(|path| host::no_bypass(path).is_some())
        }
        // Blocks are decompressed into the page cache, and read from there.
        _ if level.kind == "squashfs" => true,
        _ => inner.iter().any(|needs| needs.always_cached),
    };
    let own = if ground == Ground::Image { bytes } else { 0 };
    PlaceNeeds {
        disk_bytes: inner.iter().fold(own, |sum, needs| sum.saturating_add(needs.disk_bytes)),
        holds_bytes: holds,
        always_cached,
        copies_up: place::kind_named(&level.kind).is_some_and(|kind| kind.copies_up()),
        remounts: match ground {
            Ground::Layers => !inner.is_empty(),
            Ground::Memory | Ground::Directory => false,
            _ => true,
        },
        privilege: match ground {
            Ground::Directory => String::new(),
            _ => "mounts in a namespace of its own: root, or user namespaces".into(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{IMAGE_BYTES, image_bytes};
    use iolab_io::place::PLACES;
    use iolab_model::catalog::{PlaceLevel, parse_places};

    fn places(text: &str) -> Vec<PlaceLevel> {
        let ids: Vec<&str> = PLACES.iter().map(|part| part.id).collect();
        parse_places(text, &ids).unwrap()
    }

    /// Every image was of 1 GiB, whatever was free, and nothing said so.
    #[test]
    fn images_are_as_large_as_free_space_sensibly_allows() {
        let of = |text: &str, gibibytes: u64| image_bytes(&places(text), gibibytes << 30) >> 30;
        assert_eq!(of("ext4", 100), 16);
        // One of two images, and as much again stays free.
        assert_eq!((of("ext4,xfs", 49), of("ext4,xfs", 40)), (16, 8));
        assert_eq!((of("ext4", 5), of("ext4", 1), of("ext4", 0)), (2, 1, 1));
        // What is written stands, and what lies in memory is not compared with something larger.
        assert_eq!(of("ext4:size=3Gi,xfs:size=3Gi", 100), 3);
        assert_eq!(image_bytes(&places("ext4,tmpfs"), 1 << 40), IMAGE_BYTES);
        assert_eq!(of("overlay:lower=[ext4],upper=[ext4]", 100), 16);
    }
}
