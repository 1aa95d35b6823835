//! How to measure, as written. A key of it is a field and a row of the table here; options, files and
//! what they say of it are made from the row.

use super::range::items;
use super::units::{
    format_bytes, format_cpus, format_duration, parse_bytes, parse_count, parse_cpus,
    parse_duration_ns, parse_percent,
};
use super::{SpecError, choose};
use crate::catalog::Factor;
use crate::result::{Document, ProtocolRecord};

/// More rounds than any budget buys.
const MOST_ROUNDS: u32 = 1_000_000;

/// The runner-up's interval is to lie within ± this share before an answer stops of itself.
const PRECISION: f64 = 0.05;

/// How to measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Protocol {
    /// Factors to compare; decided by their roles where absent.
    pub ask: Option<Vec<Factor>>,
    /// Processors to bind trials to; empty: not bound.
    pub cpus: Vec<u32>,
    /// Time allowed, all in.
    pub budget_ns: u64,
    /// Exactly this many steady rounds: no early stop, no elimination.
    pub rounds: Option<u32>,
    /// Seed of everything random.
    pub seed: u64,
    /// Differences smaller than this share do not matter.
    pub delta: f64,
    /// An answer goes on until its runner-up is known within ± this share.
    pub precision: f64,
    /// Error allowed for each answer.
    pub alpha: f64,
    /// Whether cells proven slower are left out; the workload decides where absent.
    pub eliminate: Option<bool>,
    /// Files and trees that are made and only read stay for later runs, as long as all that is kept in
    /// the directory takes at most so much.
    pub keep_bytes: Option<u64>,
}

/// What kept files are drawn from: the same for every run, or none would be found again.
const KEPT_SEED: u64 = 0x6b65_7074_2066_696c;

impl Protocol {
    /// The seed of what files hold.
    pub fn content_seed(&self) -> u64 {
        if self.keep_bytes.is_some() { KEPT_SEED } else { self.seed }
    }

    /// α = 0.05, δ = 2 %, ±5 %, 60 s.
    pub fn new(seed: u64) -> Protocol {
        Protocol {
            ask: None,
            cpus: Vec::new(),
            budget_ns: 60_000_000_000,
            rounds: None,
            seed,
            delta: 0.02,
            precision: PRECISION,
            alpha: 0.05,
            eliminate: None,
            keep_bytes: None,
        }
    }
}

impl Protocol {
    /// What of it is kept in the record of a run; the rest of that is what became of it.
    pub fn record(&self) -> ProtocolRecord {
        ProtocolRecord {
            alpha: self.alpha,
            delta: self.delta,
            precision: Some(self.precision),
            budget_ns: self.budget_ns,
            rounds: self.rounds,
            eliminate: self.eliminate,
            cpus: self.cpus.clone(),
            keep_bytes: self.keep_bytes,
            ..ProtocolRecord::default()
        }
    }

    /// That of a recorded run, every choice made.
    pub fn recorded(document: &Document) -> Protocol {
        let usual = Protocol::new(document.run.seed);
        let (ask, record) = (&document.experiment.ask, &document.experiment.protocol);
        Protocol {
            ask: (!ask.is_empty()).then(|| ask.clone()),
            cpus: record.cpus.clone(),
            budget_ns: record.budget_ns,
            rounds: record.rounds,
            seed: document.run.seed,
            delta: record.delta,
            precision: record.precision.unwrap_or(usual.precision),
            alpha: record.alpha,
            eliminate: record.eliminate,
            keep_bytes: record.keep_bytes,
        }
    }
}

/// How a key is written in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyForm {
    /// Words or numbers, one or a list of them.
    List,
    /// A length of time, in quotes with its unit.
    Time,
    /// A whole number.
    Count,
    /// A percentage, in quotes.
    Share,
    /// A space, in quotes with its unit. As an option it may be left out: [`ANY_SPACE`] then.
    Space,
    /// True or false.
    Flag,
}

/// What an option for a space means that names none.
pub const ANY_SPACE: &str = "16Gi";

/// A key of the protocol: its name in files and, behind two dashes, on the command line.
pub struct ProtocolKey {
    /// `budget`.
    pub name: &'static str,
    /// How it is written in a file.
    pub form: KeyForm,
    /// As an option: what its value is called, and its line of help. Absent: files alone have it.
    pub option: Option<(&'static str, &'static str)>,
    /// Sets it to what is written.
    pub set: fn(&mut Protocol, &str) -> Result<(), SpecError>,
    /// As it would be written; nothing where it is left to what is usual.
    pub get: fn(&Protocol) -> Vec<String>,
}

/// All keys, in the order in which they are shown and written.
pub const PROTOCOL_KEYS: [ProtocolKey; 10] = [
    ProtocolKey {
        name: "ask",
        form: KeyForm::List,
        option: Some(("AXES", "Compare the levels of these axes; all others are conditions")),
        set: |protocol, text| parse_ask(text).map(|ask| protocol.ask = Some(ask)),
        get: |protocol| protocol.ask.iter().flatten().map(ToString::to_string).collect(),
    },
    ProtocolKey {
        name: "cpus",
        form: KeyForm::List,
        option: Some(("LIST", "Bind trials to these processors: 0,2-3")),
        set: |protocol, text| parse_cpus(text).map(|cpus| protocol.cpus = cpus),
        get: |protocol| match protocol.cpus.is_empty() {
            true => Vec::new(),
            false => vec![format_cpus(&protocol.cpus)],
        },
    },
    ProtocolKey {
        name: "budget",
        form: KeyForm::Time,
        option: Some(("TIME", "Time allowed, all in: 500ms, 60s, 10m [default: 60s]")),
        set: |protocol, text| parse_duration_ns(text).map(|ns| protocol.budget_ns = ns),
        get: |protocol| vec![format_duration(protocol.budget_ns)],
    },
    ProtocolKey {
        name: "rounds",
        form: KeyForm::Count,
        option: Some(("N", "Exactly this many steady rounds: no early stop, nothing left out")),
        set: |protocol, text| parse_rounds(text).map(|rounds| protocol.rounds = Some(rounds)),
        get: |protocol| protocol.rounds.iter().map(ToString::to_string).collect(),
    },
    ProtocolKey {
        name: "seed",
        form: KeyForm::Count,
        option: Some(("N", "Seed of everything random [default: drawn, and recorded]")),
        set: |protocol, text| parse_count(text).map(|seed| protocol.seed = seed),
        get: |protocol| vec![protocol.seed.to_string()],
    },
    ProtocolKey {
        name: "delta",
        form: KeyForm::Share,
        option: Some(("PCT", "Differences smaller than this do not matter [default: 2%]")),
        set: |protocol, text| parse_percent(text).map(|share| protocol.delta = share),
        get: |protocol| vec![percent(protocol.delta)],
    },
    ProtocolKey {
        name: "precision",
        form: KeyForm::Share,
        option: Some((
            "PCT",
            "Go on until the runner-up is known within ± this share [default: 5%]",
        )),
        set: |protocol, text| parse_percent(text).map(|share| protocol.precision = share),
        get: |protocol| vec![percent(protocol.precision)],
    },
    ProtocolKey {
        name: "keep",
        form: KeyForm::Space,
        option: Some((
            "SIZE",
            "Keep the files made for this run, and take those of an earlier one: --keep, --keep=4Gi",
        )),
        set: |protocol, text| parse_space(text).map(|bytes| protocol.keep_bytes = Some(bytes)),
        get: |protocol| protocol.keep_bytes.iter().map(|bytes| format_bytes(*bytes)).collect(),
    },
    ProtocolKey {
        name: "alpha",
        form: KeyForm::Share,
        option: None,
        set: |protocol, text| parse_percent(text).map(|share| protocol.alpha = share),
        get: |protocol| vec![percent(protocol.alpha)],
    },
    ProtocolKey {
        name: "eliminate",
        form: KeyForm::Flag,
        option: None,
        set: |protocol, text| {
            protocol.eliminate = Some(text == "true");
            Ok(())
        },
        get: |protocol| protocol.eliminate.iter().map(ToString::to_string).collect(),
    },
];

/// The shortest percentage that reads back as the same share.
fn percent(share: f64) -> String {
    let near = format!("{}%", (share * 1e8).round() / 1e6);
    match parse_percent(&near) {
        Ok(back) if back == share => near,
        _ => format!("{}%", share * 100.0),
    }
}

/// A space that holds something.
fn parse_space(text: &str) -> Result<u64, SpecError> {
    match parse_bytes(text)? {
        0 => Err(SpecError::new(text, 0, "nothing would be kept", "write --keep, or --keep=4Gi")),
        bytes => Ok(bytes),
    }
}

/// A number of steady rounds.
///
/// # Errors
/// What is wrong, where, and what to write instead.
pub fn parse_rounds(text: &str) -> Result<u32, SpecError> {
    match u32::try_from(parse_count(text)?) {
        Ok(0) => Err(SpecError::new(text, 0, "no round measures nothing", "write 10 or more")),
        Ok(rounds) if rounds <= MOST_ROUNDS => Ok(rounds),
        _ => Err(SpecError::new(text, 0, "too large", format!("the most is {MOST_ROUNDS}"))),
    }
}

/// The axes to compare: `method,block`.
///
/// # Errors
/// What is wrong, where, and what to write instead.
pub fn parse_ask(text: &str) -> Result<Vec<Factor>, SpecError> {
    let names = Factor::ALL.map(Factor::name);
    let one = |(at, name): (usize, &str)| {
        name.parse().map_err(|()| {
            SpecError::new(name, 0, "no such axis", choose(name, &names)).within(text, at)
        })
    };
    items(text)?.into_iter().map(one).collect()
}
