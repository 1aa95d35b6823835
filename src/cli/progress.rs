//! How far a run is: one line on a terminal, a few lines elsewhere. Drawn from the events between
//! trials only; while a trial is timed nothing moves, and no thread does it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::edge::say;
use super::output::Talk;
use crate::catalog::{bytes_text, rate_text, rough_time_text, time_text};
use crate::plan::{Cell, Plan};
use crate::result::{Fault, Phase, Sample};
use crate::run::{Event, Observer};

/// A terminal needs no more than this many pictures a second, and drawing costs the machine.
const BETWEEN_DRAWINGS: Duration = Duration::from_millis(200);

/// Shows the progress of one run.
pub struct Progress {
    bar: Option<ProgressBar>,
    talk: Talk,
    names: Vec<String>,
    /// Steady time and work by cell.
    sums: BTreeMap<usize, Sum>,
    round: u32,
    drawn: Option<Instant>,
    next_line: u32,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    wall_ns: u64,
    bytes: u64,
    operations: u64,
}

impl Sum {
    /// Time per unit of work, as comparisons have it.
    fn unit_ns(&self) -> f64 {
        let work = if self.bytes > 0 { self.bytes } else { self.operations };
        self.wall_ns as f64 / work.max(1) as f64
    }

    fn text(&self) -> String {
        match self.bytes {
            0 => time_text(self.unit_ns()),
            bytes => rate_text(bytes as f64 * 1e9 / self.wall_ns.max(1) as f64),
        }
    }
}

impl Progress {
    /// `terminal`: stderr is one that can redraw a line; `unicode`: it shows more than ASCII.
    pub fn new(talk: &Talk, terminal: bool, unicode: bool) -> Progress {
        Progress {
            bar: (terminal && !talk.quiet).then(|| bar(unicode)),
            talk: talk.clone(),
            names: Vec::new(),
            sums: BTreeMap::new(),
            round: 0,
            drawn: None,
            next_line: 10,
        }
    }

    fn tell(&self, line: &str) {
        match &self.bar {
            _ if self.talk.quiet => {}
            Some(bar) => bar.suspend(|| say(line)),
            None => say(line),
        }
    }

    fn show(&mut self, message: String, now: bool) {
        let Some(bar) = &self.bar else { return };
        let due = self.drawn.is_none_or(|at| at.elapsed() >= BETWEEN_DRAWINGS);
        if due || now {
            bar.set_message(message);
            self.drawn = Some(Instant::now());
        }
    }

    fn sum(&mut self, cell: usize, sample: &Sample) {
        if sample.phase != Phase::Steady || !sample.counts() {
            return;
        }
        let sum = self.sums.entry(cell).or_default();
        sum.wall_ns = sum.wall_ns.saturating_add(sample.measurement.wall_ns);
        sum.bytes = sum.bytes.saturating_add(sample.measurement.bytes);
        sum.operations = sum.operations.saturating_add(sample.measurement.operations);
    }

    /// The cell that is ahead, with its speed so far.
    fn leader(&self) -> Option<String> {
        let (cell, sum) =
            self.sums.iter().min_by(|a, b| a.1.unit_ns().total_cmp(&b.1.unit_ns()))?;
        Some(format!("{} {} so far", self.names.get(*cell)?, sum.text()))
    }

    fn started(&mut self, plan: &Plan) {
        self.names = plan.cells.iter().map(|cell: &Cell| cell.id.clone()).collect();
        self.show("starting".to_owned(), true);
    }

    fn round(&mut self, round: u32, elapsed_ns: u64, remaining_ns: u64) {
        self.round = round + 1;
        let left = rough_time_text(remaining_ns as f64);
        let leader = self.leader().unwrap_or_else(|| "warming up".to_owned());
        if let Some(bar) = &self.bar {
            let all = elapsed_ns.saturating_add(remaining_ns).max(1);
            bar.set_length(1000);
            bar.set_position((u128::from(elapsed_ns) * 1000 / u128::from(all)) as u64);
        } else if self.round >= self.next_line {
            self.next_line = self.next_line.saturating_mul(2);
            self.tell(&format!("round {}: {leader}; {left} left at most", self.round));
        }
        // A short run shows its first round too, however soon it comes.
        let now = self.round == 1;
        self.show(format!("round {}, {left} left: {leader}", self.round), now);
    }
}

impl Observer for Progress {
    fn on(&mut self, event: &Event<'_>) -> Result<(), Fault> {
        match event {
            Event::Started(plan) => self.started(plan),
            Event::Making(instance) => {
                let what = match &instance.path {
                    None => format!("making a file of {}", bytes_text(instance.bytes)),
                    Some(_) => format!("reading a file of {} once", bytes_text(instance.bytes)),
                };
                self.show(what, true);
            }
            Event::Calibrated { round_ns, rounds, .. } => {
                let one = rough_time_text(*round_ns as f64);
                self.tell(&format!("a round takes about {one}, at most {rounds} rounds"));
            }
            Event::Trial { cell, twin: false, sample } => self.sum(*cell, sample),
            Event::Eliminated { cell, round, reason } => {
                self.sums.remove(cell);
                let name = self.names.get(*cell).map_or("", String::as_str);
                self.tell(&format!("round {}: {name} is left out: {reason}", round + 1));
            }
            Event::Round { round, elapsed_ns, remaining_ns } => {
                self.round(*round, *elapsed_ns, *remaining_ns);
            }
            Event::Warning(warning) if self.talk.verbose => {
                self.tell(&format!("{}: {}", warning.code, warning.text));
            }
            Event::Finished { stopped, .. } => {
                if let Some(bar) = self.bar.take() {
                    bar.finish_and_clear();
                }
                self.tell(&format!("{} rounds; {stopped}", self.round));
            }
            Event::Trial { .. } | Event::Warning(_) => {}
        }
        Ok(())
    }
}

fn bar(unicode: bool) -> ProgressBar {
    // indicatif limits itself by time too; ours is the one that decides, so its limit is set so
    // high that it never drops a picture.
    let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr_with_hz(255));
    let (template, marks) = match unicode {
        true => ("{bar:16} {wide_msg}", "━╸ "),
        false => ("[{bar:16}] {wide_msg}", "=> "),
    };
    let plain = ProgressStyle::default_bar();
    let style = ProgressStyle::with_template(template).unwrap_or(plain).progress_chars(marks);
    bar.set_style(style);
    bar
}
