//! `iolab gate`: fails a build where something is clearly slower, and only then.

use clap::Args;

use super::compare::{Shape, failure, side};
use super::consent_args::ConsentArgs;
use super::rerun::Again;
use super::store_args::{StoreArgs, load};
use super::terminal_io::{self, Ending, Exit, Failure};
use super::verbosity::Talk;
use iolab_model::catalog::{Factor, Level, Levels};
use iolab_model::plan::level_text;
use iolab_model::result::Document;
use iolab_model::spec;
use iolab_record::history::Store;
use iolab_report::compare::{
    Compared, Gate as Judged, GateVerdict, Terms, compare_alike, compare_within, gate_json,
    gate_markdown, gate_table,
};

/// Fail where a run is clearly slower than its baseline
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  iolab gate --baseline main.json\n  iolab rerun last                              five runs in all: a baseline\n  iolab gate --baseline 14..18 --record 5       five new runs, judged by them\n  iolab gate --between place=dir:/mnt/old,dir:/mnt/new\n  iolab gate --pair pread/64Ki=mmap --format markdown\n\n--between and --pair judge two sides that ran in the same rounds of one run:\nwhat the machine does meanwhile hits both, so small differences show.\n\nExit status: 0 passed, or not decided; 10 clear regression; 11 not decided, with\n--undecided-fails; 12 the runs cannot be compared."
)]
pub struct Gate {
    /// What is judged: a run's number, a pinned name, last, or a file [default: last, or with
    /// --record what is recorded]
    #[arg(value_name = "RUN")]
    run: Option<String>,
    /// What it is judged by: numbers, names or files; several with commas, or 3..7
    #[arg(long, value_name = "RUN|FILE")]
    baseline: Option<String>,
    /// Record so many runs now, of RUN or else of the baseline's command, and judge them
    #[arg(long, value_name = "N", requires = "baseline")]
    record: Option<u32>,
    /// Two levels of an axis of one run, old and new: block=4Ki,64Ki
    #[arg(long, value_name = "AXIS=OLD,NEW", conflicts_with = "baseline")]
    between: Option<String>,
    /// Two cells of one run, old and new; may be repeated
    #[arg(long, value_name = "OLD=NEW", conflicts_with_all = ["baseline", "between"])]
    pair: Vec<String>,
    /// A cell may be slower by this
    #[arg(long, value_name = "PCT", default_value = "5%", allow_hyphen_values = true)]
    worse: String,
    /// End with 11 where a regression is neither shown nor ruled out
    #[arg(long)]
    undecided_fails: bool,
    /// Compare although the machines differ (nothing is called clear then), or the experiments
    #[arg(long)]
    anyway: bool,
    /// How to write it; markdown is for a pull request
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Shape,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    consent: ConsentArgs,
}

impl Gate {
    /// Prints the comparison and ends with its verdict.
    ///
    /// # Errors
    /// There is no such run, or the runs cannot be compared.
    pub fn run(self, talk: &Talk) -> Ending {
        let gate = Judged::of(self.compared(talk)?);
        terminal_io::data(|out| match self.format {
            Shape::Table => gate_table(&gate, &talk.look(), out),
            Shape::Markdown => gate_markdown(&gate, out),
            Shape::Json => gate_json(&gate, out),
        })?;
        Ok(match gate.gate {
            GateVerdict::Regression => Exit::Regression,
            GateVerdict::Undecided if self.undecided_fails => Exit::Undecided,
            _ => Exit::Done,
        })
    }

    fn compared(&self, talk: &Talk) -> Result<Compared, Failure> {
        let worse = spec::parse_percent(&self.worse);
        let delta = worse.map_err(|e| Failure::usage(e.of("--worse")))?;
        let terms = Terms { alpha: 0.05, delta, anyway: self.anyway };
        let store = self.store.open()?;
        if let Some(baseline) = &self.baseline {
            let first = side(&store, baseline)?;
            let second = self.judged(&store, &first, talk)?;
            return compare_alike(&first, &second, &terms).map_err(failure);
        }
        let run = load(&store, self.run.as_deref().unwrap_or("last"))?;
        let (pairs, sides) = match (&self.between, self.pair.as_slice()) {
            (Some(text), _) => between(&run, text)?,
            (None, []) => {
                return Err(Failure::usage(
                    "name what to judge by: --baseline RUN|FILE, or --between AXIS=OLD,NEW or --pair OLD=NEW within one run",
                ));
            }
            (None, pairs) => {
                let pairs = pairs.iter().map(|text| pair(&run, text));
                (pairs.collect::<Result<_, _>>()?, ("old".to_owned(), "new".to_owned()))
            }
        };
        compare_within(&run, &pairs, sides, &terms).map_err(failure)
    }

    /// The runs that are judged, with those that are recorded for it.
    fn judged(
        &self,
        store: &Store,
        baseline: &[Document],
        talk: &Talk,
    ) -> Result<Vec<Document>, Failure> {
        let Some(times) = self.record else {
            return side(store, self.run.as_deref().unwrap_or("last"));
        };
        let mut sides = [match &self.run {
            Some(run) => side(store, run)?,
            None => baseline.iter().take(1).cloned().collect(),
        }];
        Again::of(&self.store, &self.consent, talk)?.record(&mut sides, times)?;
        let [mut runs] = sides;
        if self.run.is_none() {
            // It was the pattern, and belongs to the baseline.
            runs.remove(0);
        }
        Ok(runs)
    }
}

type Sides = (Vec<(usize, usize)>, (String, String));

/// The cells that differ in this axis alone.
fn between(run: &Document, text: &str) -> Result<Sides, Failure> {
    let (axis, levels) = text.split_once('=').map_or((text, None), |(a, l)| (a, Some(l)));
    let names = Factor::ALL.map(Factor::name);
    let factor: Factor = axis.parse().map_err(|()| {
        Failure::usage(format!(
            "--between '{}': no such axis; {}",
            axis.escape_debug(),
            spec::choose(axis, &names)
        ))
    })?;
    let mut known: Vec<&Level> = run.cells.iter().filter_map(|c| c.factors.get(factor)).collect();
    let mut seen = Vec::new();
    known.retain(|level| {
        !seen.contains(level) && {
            seen.push(*level);
            true
        }
    });
    let find = |text: &str| {
        let is = |level: &&&Level| text == level.to_string() || text == level_text(factor, level);
        known.iter().find(is).copied()
    };
    let sides = match levels {
        Some(levels) => split(levels, ',', find),
        None if known.len() == 2 => Some((known[0], known[1])),
        None => None,
    };
    let (old, new) = sides.ok_or_else(|| {
        let known: Vec<String> = known.iter().map(|l| level_text(factor, l)).collect();
        Failure::usage(format!(
            "--between '{}': write {axis}=OLD,NEW with two levels of run {}: {}",
            text.escape_debug(),
            run.run.id,
            if known.is_empty() { "it has none of that axis".to_owned() } else { known.join(" ") }
        ))
    })?;
    let rest = |levels: &Levels| levels.only(|f| f != factor);
    let of = |level: &Level| {
        let cells = run.cells.iter().enumerate();
        let all: Vec<(usize, Levels)> = cells
            .filter(|(_, c)| c.factors.get(factor) == Some(level) && c.estimate.is_some())
            .map(|(at, c)| (at, rest(&c.factors)))
            .collect();
        all
    };
    let news = of(new);
    let pairs: Vec<(usize, usize)> = of(old)
        .into_iter()
        .filter_map(|(at, levels)| Some((at, news.iter().find(|(_, l)| *l == levels)?.0)))
        .collect();
    match pairs.is_empty() {
        true => Err(Failure::usage(format!(
            "--between '{}': no two measured cells of run {} differ in that alone",
            text.escape_debug(),
            run.run.id
        ))),
        false => Ok((pairs, (level_text(factor, old), level_text(factor, new)))),
    }
}

/// Two cells by their names.
fn pair(run: &Document, text: &str) -> Result<(usize, usize), Failure> {
    let find = |id: &str| run.cells.iter().position(|c| c.id == id);
    split(text, '=', find).ok_or_else(|| {
        let ids: Vec<&str> = run.cells.iter().map(|c| c.id.as_str()).collect();
        Failure::usage(format!(
            "--pair '{}': write OLD=NEW with two cells of run {}: {}",
            text.escape_debug(),
            run.run.id,
            ids.join(" ")
        ))
    })
}

/// Splits where both halves are known: names may have the separator in them.
fn split<T>(text: &str, separator: char, find: impl Fn(&str) -> Option<T>) -> Option<(T, T)> {
    text.match_indices(separator)
        .find_map(|(at, _)| Some((find(&text[..at])?, find(&text[at + separator.len_utf8()..])?)))
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn names_may_have_the_separator_in_them() {
        let find = |text: &str| ["a=1", "b=2", "a"].contains(&text).then(|| text.to_owned());
        assert_eq!(split("a=1=b=2", '=', find), Some(("a=1".into(), "b=2".into())));
        assert_eq!(split("a=b=2", '=', find), Some(("a".into(), "b=2".into())));
        assert_eq!(split("a=c", '=', find), None);
    }
}
