//! From an experiment to its record: where the agent runs, what it says can be had there, the plan,
//! the rounds, the document. Whoever drives it brings a [`Console`]; the command line is one.

mod access_times;
mod console;
mod contenders;
pub mod disk_table;
mod error;
mod history;
mod hosts;
mod placement;
mod prepared;
pub mod quick;
mod ranks;
mod recorder;
mod resume;
mod session;
mod shift;
pub mod study;
mod study_run;
mod survey_parts;
mod wall_clock;
mod work_ahead;

pub use console::Console;
pub use error::{Blame, Error};
pub use history::{earlier, latest_after, make_room, newest};
pub use placement::Placement;
pub use prepared::{Prepared, anchor_programs, plan_at, relative_program};
pub use resume::{Resumed, resumed};
pub use session::{Aim, Measured, Session};
pub use study_run::StudyRun;
pub use wall_clock::{now_seconds, now_text};
