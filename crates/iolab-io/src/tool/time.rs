//! How long reading or writing a file of some size takes here, and which size takes how long.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use crate::sys::clock::now_ns;
use iolab_model::result::Fault;

use super::fault;
use super::make::{FileOrder, pool};

/// What is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Reading a file that is in the page cache, from its start to its end.
    Read,
    /// Writing a new file, until its data are durable.
    Write,
}

/// The time of one pass in nanoseconds, in calls of `block` bytes (> 0). A file that is written is
/// new, holds what the order says, and stays.
///
/// # Errors
/// The file cannot be read, or made.
pub fn timed(kind: Kind, path: &Path, order: &FileOrder, block: u64) -> Result<u64, Fault> {
    let ns = match kind {
        Kind::Read => read(path, block),
        Kind::Write => write(path, order, block),
    };
    ns.map_err(|error| fault("time", path, &error))
}

fn read(path: &Path, block: u64) -> io::Result<u64> {
    let file = File::open(path)?;
    let mut buffer = vec![1; block as usize];
    let begin_ns = now_ns();
    while rustix::io::read(&file, &mut buffer)? > 0 {}
    Ok(now_ns() - begin_ns)
}

fn write(path: &Path, order: &FileOrder, block: u64) -> io::Result<u64> {
    let pool = pool(order);
    let file = OpenOptions::new().write(true).create_new(true).open(path)?;
    let begin_ns = now_ns();
    let mut at = 0;
    while at < order.bytes {
        let from = (at % pool.len() as u64) as usize;
        let length = (order.bytes - at).min(block).min((pool.len() - from) as u64) as usize;
        at += rustix::io::write(&file, &pool[from..from + length])? as u64;
    }
    file.sync_data()?;
    Ok(now_ns() - begin_ns)
}

/// A line through what was timed: a part that any file takes, and one for each byte.
#[derive(Clone, Debug, Default)]
pub struct Model {
    points: Vec<(f64, f64)>,
}

/// Points that the line goes through: the largest, for small files are another matter.
const POINTS: usize = 3;

impl Model {
    /// Adds a time.
    pub fn add(&mut self, bytes: u64, ns: u64) {
        self.points.push((bytes as f64, ns as f64));
        self.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }

    /// The size that is expected to take so long, by least squares through the largest files; by
    /// proportion where these say nothing.
    pub fn bytes_for(&self, ns: f64) -> Option<u64> {
        let last = &self.points[self.points.len().saturating_sub(POINTS)..];
        let (largest, time) = *last.last()?;
        let n = last.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| last.iter().map(of).sum::<f64>() / n;
        let (x, y) = (mean(|p| p.0), mean(|p| p.1));
        let spread: f64 = last.iter().map(|p| (p.0 - x).powi(2)).sum();
        let together: f64 = last.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
        let slope = together / spread;
        let bytes = match slope.is_finite() && slope > 0.0 {
            true => (ns - (y - slope * x)) / slope,
            false => largest * ns / time.max(1.0),
        };
        // A line through noise must not send a file to the moon.
        let proportion = largest * ns / time.max(1.0);
        (bytes.is_finite()).then(|| bytes.clamp(proportion / 4.0, proportion * 4.0).max(1.0) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::Model;

    #[test]
    fn the_model_finds_the_size_of_a_line_and_is_not_led_astray() {
        let mut model = Model::default();
        assert_eq!(model.bytes_for(1e9), None);
        for bytes in [1_u64 << 20, 2 << 20, 4 << 20, 8 << 20] {
            model.add(bytes, 5_000_000 + bytes * 3);
        }
        let found = model.bytes_for(1e9).unwrap();
        assert!(found.abs_diff(331_666_666) < 1000, "{found}");
        let mut noise = Model::default();
        for (bytes, ns) in [(100, 1000), (200, 990), (400, 1010)] {
            noise.add(bytes, ns);
        }
        assert!(noise.bytes_for(10_000.0).unwrap() <= 4 * 3961);
    }
}
