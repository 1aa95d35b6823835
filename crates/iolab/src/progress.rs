//! How far a run is: one line on a terminal, a few lines elsewhere. Drawn from the events between
//! trials only; while a trial is timed nothing moves, and no thread does it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::terminal_io::say;
use super::verbosity::Talk;
use iolab_model::catalog::{
    Code, Factor, Level, bytes_text, rate_text, rough_time_text, so_many, time_text,
};
use iolab_model::plan::{Cell, Plan};
use iolab_model::result::{Fault, Measurement, Sample};
use iolab_run::{Event, Observer};
use iolab_stats::median;

/// A terminal needs no more than this many pictures a second, and drawing costs the machine.
const BETWEEN_DRAWINGS: Duration = Duration::from_millis(200);

/// Shows the progress of one run.
pub struct Progress {
    bar: Option<ProgressBar>,
    talk: Talk,
    names: Vec<String>,
    /// How many ranks work, at most; empty where there are none.
    workers: String,
    /// What was seen of each cell that is still measured.
    seen: BTreeMap<usize, Seen>,
    round: u32,
    drawn: Option<Instant>,
    next_line: u32,
}

/// Time per unit of work of each steady trial of a cell, as comparisons have it: of a byte, of an
/// operation where none move.
#[derive(Default)]
struct Seen {
    unit_ns: Vec<f64>,
    bytes: bool,
}

impl Seen {
    fn add(&mut self, measured: &Measurement) {
        self.bytes = measured.bytes > 0;
        let work = if self.bytes { measured.bytes } else { measured.operations };
        self.unit_ns.push(measured.wall_ns.max(1) as f64 / work.max(1) as f64);
    }

    /// The middle, as the result will have it: a first slow round moves a mean for long.
    fn middle(&self) -> Option<f64> {
        median(&self.unit_ns)
    }

    fn text(&self, unit_ns: f64) -> String {
        if self.bytes { rate_text(1e9 / unit_ns) } else { time_text(unit_ns) }
    }
}

impl Progress {
    /// `terminal`: stderr is one that can redraw a line; `unicode`: it shows more than ASCII.
    pub fn new(talk: &Talk, terminal: bool, unicode: bool) -> Progress {
        Progress {
            bar: (terminal && !talk.quiet).then(|| bar(unicode)),
            talk: talk.clone(),
            names: Vec::new(),
            workers: String::new(),
            seen: BTreeMap::new(),
            round: 0,
            drawn: None,
            next_line: 10,
        }
    }

    fn tell(&self, line: &str) {
        match &self.bar {
            _ if self.talk.quiet => {}
            // The live line says how far it is, the report what came of it.
            Some(_) if !self.talk.verbose => {}
            Some(bar) => bar.suspend(|| say(line)),
            None => say(line),
        }
    }

    /// What must be known at once, whatever is told else.
    fn announce(&self, line: &str) {
        match &self.bar {
            _ if self.talk.quiet => {}
            Some(bar) => bar.suspend(|| say(line)),
            None => say(line),
        }
    }

    /// Whether a picture is wanted by now.
    fn due(&self) -> bool {
        self.bar.is_some() && self.drawn.is_none_or(|at| at.elapsed() >= BETWEEN_DRAWINGS)
    }

    fn show(&mut self, message: String, now: bool) {
        let due = self.due() || now;
        let Some(bar) = self.bar.as_ref().filter(|_| due) else { return };
        bar.set_message(message);
        self.drawn = Some(Instant::now());
    }

    fn add(&mut self, cell: usize, sample: &Sample) {
        if sample.is_steady() {
            self.seen.entry(cell).or_default().add(&sample.measurement);
        }
    }

    /// The cell that is ahead, with its speed so far.
    fn leader(&self) -> Option<String> {
        let timed = self.seen.iter().filter_map(|(cell, seen)| Some((cell, seen, seen.middle()?)));
        let (cell, seen, unit_ns) = timed.min_by(|a, b| a.2.total_cmp(&b.2))?;
        Some(format!("{} {} so far", self.names.get(*cell)?, seen.text(unit_ns)))
    }

    fn started(&mut self, plan: &Plan) {
        let ranks = plan.factors.get(&Factor::Ranks).into_iter().flatten();
        let ranks = ranks.filter_map(|level| match level {
            Level::Number(ranks) => usize::try_from(*ranks).ok(),
            _ => None,
        });
        self.workers =
            ranks.max().map_or(String::new(), |ranks| format!(", {}", so_many(ranks, "rank")));
        self.names = plan.cells.iter().map(|cell: &Cell| cell.id.clone()).collect();
        self.show("starting".to_owned(), true);
    }

    fn round(&mut self, round: u32, elapsed_ns: u64, remaining_ns: u64) {
        self.round = round + 1;
        // A short run shows its first round too, however soon it comes.
        let now = self.round == 1;
        let line = self.bar.is_none() && self.round >= self.next_line;
        if !line && !now && !self.due() {
            return;
        }
        let (left, most) = match remaining_ns {
            // Its time is gone, or nobody is left who could change the answer.
            0 => ("done".to_owned(), ""),
            ns => (rough_time_text(ns as f64) + " left", " at most"),
        };
        let leader = self.leader().unwrap_or_else(|| "warming up".to_owned());
        if let Some(bar) = &self.bar {
            let all = elapsed_ns.saturating_add(remaining_ns).max(1);
            bar.set_length(1000);
            bar.set_position((u128::from(elapsed_ns) * 1000 / u128::from(all)) as u64);
        } else if line {
            self.next_line = self.next_line.saturating_mul(2);
            self.tell(&format!("round {}{}: {leader}; {left}{most}", self.round, self.workers));
        }
        self.show(format!("round {}{}, {left}: {leader}", self.round, self.workers), now);
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
                self.tell(&format!(
                    "a round takes about {one}, by its first trials: some {rounds} fit"
                ));
            }
            Event::Trial { cell, twin: false, sample } => self.add(*cell, sample),
            Event::Eliminated { cell, round, reason, .. } => {
                self.seen.remove(cell);
                let name = self.names.get(*cell).map_or("", String::as_str);
                if self.talk.verbose {
                    self.tell(&format!("round {}: {name} is left out: {reason}", round + 1));
                }
            }
            Event::Round { round, elapsed_ns, remaining_ns } => {
                self.round(*round, *elapsed_ns, *remaining_ns);
            }
            // Now it can be stopped and asked for less; after the rounds it would be too late.
            Event::Warning(warning)
                if warning.code == Code::InsufficientBudget && !self.talk.in_parts =>
            {
                self.announce(&warning.text);
            }
            Event::Warning(warning) if self.talk.verbose => {
                self.tell(&format!("{}: {}", warning.code, warning.text));
            }
            Event::Finished { stopped, .. } => {
                self.tell(&format!("{} rounds; {stopped}", self.round));
                if let Some(bar) = self.bar.take() {
                    bar.finish_and_clear();
                }
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

#[cfg(test)]
mod tests {
    use super::{Progress, Sample};
    use crate::verbosity::Talk;
    use iolab_model::result::{Measurement, Phase};

    /// One slow round of eight once halved what the line said: 4.57 GiB/s beside 8.87 in the table.
    #[test]
    fn a_slow_round_does_not_move_the_speed_so_far() {
        let talk = Talk { quiet: true, ..Talk::default() };
        let mut progress = Progress::new(&talk, false, true);
        progress.names = vec!["pread".to_owned()];
        for wall_ms in [1000, 100, 101, 100, 99, 100] {
            let measurement =
                Measurement { wall_ns: wall_ms * 1_000_000, bytes: 1 << 30, ..Default::default() };
            let (round, position, epoch, phase) = (0, 0, 0, Phase::Steady);
            progress.add(0, &Sample { round, position, phase, epoch, measurement, fault: None });
        }
        assert_eq!(progress.leader().unwrap(), "pread 10.0 GiB/s so far");
    }
}
