//! How a part describes itself. Every axis, method, operation, workload, metric and warning is
//! one row here or in its own file, and help, lists, validation and reports are made from the rows.

mod code;
mod contender;
mod date;
mod fact;
mod factor;
mod hash;
mod level;
mod part;
mod place;
mod sizes;
mod text;
mod touch;

pub use code::{Code, Severity};
pub use contender::{Contender, ContenderError, Slot, contender_names, shell_text};
pub use date::{utc_seconds, utc_text};
pub use fact::{Fact, Family, directory_prefix, is_of_later_directory};
pub use factor::{Factor, Kind, Role};
pub use hash::{fnv1a, mix};
pub use level::{Level, Levels, file_to_memory, path_from_text, path_to_text};
pub use part::{Better, Capability, FactorUse, MetricInfo, Part, PartKind, Unit, WorkloadInfo};
pub use place::{PlaceError, PlaceLevel, common_size, parse_place, parse_places};
pub use sizes::{SIZES_FORMS, Sizes};
pub use text::{
    bytes_text, count_text, digits_text, list_text, percent_text, rate_text, ratio_digits,
    ratio_interval_text, ratio_text, rough_time_text, so_many, time_text,
};
pub use touch::Touch;
