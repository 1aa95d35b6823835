//! A trace for other programs: fio's iolog, a table of the files.

mod csv;
mod fio;

pub use csv::csv;
pub use fio::{FioLog, fio_iolog};
