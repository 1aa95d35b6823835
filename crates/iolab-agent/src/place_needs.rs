//! What places take and hold, and which of them cannot be made here.

use std::collections::BTreeMap;

use super::catalog;
use iolab_io::place::{self, Ground, IMAGE_BYTES};
use iolab_model::catalog::{Factor, Level, PlaceLevel, common_size};
use iolab_model::plan::PlaceNeeds;

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

/// The size of every image of a mix.
pub fn image_bytes(places: &[PlaceLevel]) -> u64 {
    common_size(places).unwrap_or(IMAGE_BYTES)
}

/// Those that cannot be made here, with the reason and the remedy.
pub fn unavailable(places: &[PlaceLevel]) -> BTreeMap<String, String> {
    let missing =
        |level: &PlaceLevel| Some((level.to_string(), place::available(level).err()?.to_string()));
    places.iter().filter_map(missing).collect()
}

/// What each takes and holds.
pub fn of_all(places: &[PlaceLevel]) -> BTreeMap<String, PlaceNeeds> {
    let image_bytes = image_bytes(places);
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
        // Blocks are decompressed into the page cache, and read from there.
        _ if level.kind == "squashfs" => true,
        _ => inner.iter().any(|needs| needs.always_cached),
    };
    let own = if ground == Ground::Image { bytes } else { 0 };
    PlaceNeeds {
        disk_bytes: inner.iter().fold(own, |sum, needs| sum.saturating_add(needs.disk_bytes)),
        holds_bytes: holds,
        always_cached,
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
