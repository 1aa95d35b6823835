//! How a part describes itself. Every axis, method, operation, workload, metric and warning is
//! one row here or in its own file, and help, lists, validation and reports are made from the rows.

mod ascii;
mod axis_word;
mod cache_state;
mod code;
mod column_unit;
mod command_label;
mod contender;
mod date;
mod fact;
mod factor;
mod fill;
mod hash;
mod level;
mod markup;
mod meaning;
mod method_class;
mod operation;
mod part;
mod pattern;
mod phrase;
mod place;
mod place_error;
mod place_words;
mod replay;
mod sizes;
mod sync;
mod text;
mod touch;
mod workload;

pub use ascii::{ascii_text, harmless, harmless_lines};
pub use axis_word::{
    Atime, AxisWord, Consume, Descriptors, Readahead, Share, Shift, Sparse, Switch, Target,
    UnknownWord, Until, is_shared,
};
pub use cache_state::CacheState;
pub use code::{Code, Severity};
pub use column_unit::ColumnUnit;
pub use command_label::{command_label, command_labels};
pub use contender::{
    Contender, ContenderError, Slot, contender_names, package_of, shell_text, with_program,
};
pub use date::{utc_seconds, utc_text};
pub use fact::{Fact, Family, directory_prefix, is_of_later_directory, of_host};
pub use factor::{Factor, Kind, Role};
pub use fill::Fill;
pub use hash::{fnv1a, mix};
pub use level::{
    Level, Levels, file_to_memory, is_held_warm, memory_limit_bytes, path_from_text, path_to_text,
};
pub use markup::{markdown_text, xml_text};
pub use meaning::meaning;
pub use method_class::MethodClass;
pub use operation::{FileOperation, NamedCall};
pub use part::{Better, Capability, FactorUse, MetricInfo, Part, PartKind, Unit, WorkloadInfo};
pub use pattern::Pattern;
pub use phrase::{THIS_HOST, goes_without_saying, held_phrase, host_text, is_plural, phrase};
pub use place::{PlaceLevel, common_size, parse_place, parse_places};
pub use place_error::PlaceError;
pub use replay::{RECORDED, ReplayMethod, ReplayReadahead, ReplaySync, ReplayThink};
pub use sizes::{NoSizes, SIZES_FORMS, Sizes};
pub use sync::Sync;
pub use text::{
    SlowerForm, bytes_text, capital_text, count_text, digits_text, list_text, percent_text,
    rate_text, ratio_digits, ratio_interval_text, ratio_text, rough_time_text, slower_text,
    so_many, time_text,
};
pub use touch::Touch;
pub use workload::WorkloadId;
