//! A claim of a study file.

use super::Trial;
use super::claim::{Choice, Claim, Kind, Ours, Spread};
use super::keys::{
    MEASURES, PERS, falling, figures, must, optional, range, share, text, time, whole, word,
};
use super::needs::Needs;
use super::read::Reader;
use super::select::Selection;
use iolab_model::catalog::{Factor, Kind as LevelKind, Level};
use iolab_model::spec::file::{self, FileError, Value};
use iolab_model::spec::{choose, parse_bytes, parse_percent};

type Toml<'a> = file::Table<'a>;

const CLAIM_KEYS: [&str; 32] = [
    "id",
    "says",
    "experiment",
    "of",
    "kind",
    "measure",
    "per",
    "published",
    "note",
    "where",
    "ours",
    "needs",
    "choice",
    "each",
    "enough",
    "average",
    "a",
    "b",
    "at",
    "than",
    "sides",
    "by",
    "axis",
    "direction",
    "from",
    "to",
    "tolerance",
    "between",
    "near",
    "within",
    "share",
    "most",
];
const KINDS: [&str; 16] = [
    "faster",
    "fastest",
    "order",
    "ordered",
    "linear",
    "plateau",
    "crossover",
    "equivalent",
    "difference",
    "gains-nothing",
    "gains-less",
    "negligible",
    "share",
    "same-value",
    "scales",
    "untested",
];
const CHOICES: [(&str, Choice); 2] = [("best", Choice::Best), ("every", Choice::Every)];
/// Differences that a claim of "no difference" allows where it says nothing.
const TOLERANCE: f64 = 0.1;
/// A share that a claim calls negligible where it says nothing.
const NEGLIGIBLE: f64 = 0.05;

/// A claim while it is read.
struct Keys<'a, 'r> {
    reader: &'r Reader<'r>,
    trials: Vec<&'r Trial>,
    table: Toml<'a>,
}

impl Reader<'_> {
    pub(super) fn claim(&self, table: Toml<'_>) -> Result<Claim, FileError> {
        table.only(&CLAIM_KEYS)?;
        let keys = Keys { reader: self, trials: self.experiments(table)?, table };
        Ok(Claim {
            id: text(table, "id")?,
            says: text(table, "says")?,
            experiments: keys.trials.iter().map(|trial| trial.name.clone()).collect(),
            of: self.selection(&keys.trials, table, "of")?,
            kind: keys.kind()?,
            measure: word(table, "measure", &MEASURES)?.unwrap_or_default(),
            per: word(table, "per", &PERS)?.unwrap_or_default(),
            choice: word(table, "choice", &CHOICES)?.unwrap_or_default(),
            spread: keys.spread()?,
            needs: needs(table)?,
            ours: ours(table)?,
            place: optional(table, "where")?,
            published: figures(table)?,
            note: optional(table, "note")?,
        })
    }
}

impl Keys<'_, '_> {
    fn side(&self, key: &str) -> Result<Selection, FileError> {
        must(self.table, key)?;
        self.reader.selection(&self.trials, self.table, key)
    }

    fn factor(&self, key: &str) -> Result<Factor, FileError> {
        let value = must(self.table, key)?;
        let mut factor = Err(value.refuse("no experiment", ""));
        for trial in &self.trials {
            factor = Ok(self.reader.factor(trial, value.text()?, value)?);
        }
        factor
    }

    fn tolerance(&self) -> Result<f64, FileError> {
        Ok(share(self.table, "tolerance")?.unwrap_or(TOLERANCE))
    }

    fn level(&self, key: &str, axis: Factor) -> Result<u64, FileError> {
        let value = must(self.table, key)?;
        let mut levels = Vec::new();
        for trial in &self.trials {
            levels = self.reader.levels(trial, axis, value)?;
        }
        match levels.first() {
            Some(Level::Number(number)) => Ok(*number),
            _ => {
                Err(value
                    .refuse(format!("{axis} has no numbers"), "name an axis of sizes or counts"))
            }
        }
    }

    fn kind(&self) -> Result<Kind, FileError> {
        let kind = must(self.table, "kind")?;
        let (side, by) = (|key| self.side(key), || range(self.table));
        Ok(match kind.text()? {
            "faster" => Kind::Faster { a: side("a")?, b: side("b")?, by: by()? },
            "fastest" => Kind::Fastest { a: side("a")? },
            "order" => Kind::Order { sides: self.order()? },
            "equivalent" => {
                Kind::Equivalent { a: side("a")?, b: side("b")?, tolerance: self.tolerance()? }
            }
            "difference" => Kind::Difference {
                a: side("a")?,
                b: side("b")?,
                most_ns: time(self.table, "most")?,
            },
            "gains-nothing" => {
                Kind::GainsNothing { a: side("a")?, b: side("b")?, tolerance: self.tolerance()? }
            }
            "gains-less" => {
                let (at, than) = (side("at")?, side("than")?);
                Kind::GainsLess { a: side("a")?, b: side("b")?, at, than }
            }
            "negligible" => {
                Kind::Share { from: 0.0, to: share(self.table, "share")?.unwrap_or(NEGLIGIBLE) }
            }
            "share" => self.share()?,
            "same-value" => Kind::SameValue,
            "untested" => self.untested()?,
            other if KINDS.contains(&other) => self.along(other)?,
            other => {
                return Err(kind.refuse("there is no such kind of claim", choose(other, &KINDS)));
            }
        })
    }

    /// What cannot be tested says what it would take.
    fn untested(&self) -> Result<Kind, FileError> {
        let says = self.table.get("needs").map(needs_of).transpose()?;
        match says.is_some_and(|needs| needs.also.is_some()) {
            true => Ok(Kind::Untested),
            false => Err(self.table.refuse_key(
                "kind",
                "it does not say what it would take",
                "write needs = { also = \"…\" }",
            )),
        }
    }

    /// Kinds that run along an axis.
    fn along(&self, kind: &str) -> Result<Kind, FileError> {
        let axis = self.factor("axis")?;
        Ok(match kind {
            "linear" => Kind::Linear { axis, tolerance: self.tolerance()? },
            "plateau" => Kind::Plateau {
                axis,
                from: self.level("from", axis)?,
                tolerance: self.tolerance()?,
            },
            "crossover" => {
                let between = self.between(axis)?;
                Kind::Crossover { axis, a: self.side("a")?, b: self.side("b")?, between }
            }
            "scales" => {
                let by = range(self.table)?.unwrap_or((1.0, f64::INFINITY));
                Kind::Scales {
                    axis,
                    from: self.level("from", axis)?,
                    to: self.level("to", axis)?,
                    by,
                }
            }
            _ => Kind::Ordered { axis, falling: falling(self.table)? },
        })
    }

    fn order(&self) -> Result<Vec<Selection>, FileError> {
        let value = must(self.table, "sides")?;
        let items = value.items().into_iter();
        let sides: Vec<Selection> =
            items.map(|side| self.reader.chosen(&self.trials, side)).collect::<Result<_, _>>()?;
        match sides.len() {
            0 | 1 => {
                Err(value.refuse("an order has two sides or more", "name them, fastest first"))
            }
            _ => Ok(sides),
        }
    }

    /// Bounds of a share: one is the least, two are from and to.
    fn share(&self) -> Result<Kind, FileError> {
        let value = must(self.table, "share")?;
        let one = |value: &Value<'_>| {
            parse_percent(value.text()?).map_err(|error| value.refuse_spec(&error))
        };
        match value.items().iter().map(one).collect::<Result<Vec<f64>, _>>()?[..] {
            [from] => Ok(Kind::Share { from, to: f64::INFINITY }),
            [from, to] if from <= to => Ok(Kind::Share { from, to }),
            _ => Err(value.refuse("these are no bounds", "write share = [\"50%\", \"100%\"]")),
        }
    }

    /// Where sides change places: `between`, or what older files wrote, `near` and `within`.
    fn between(&self, axis: Factor) -> Result<(u64, u64), FileError> {
        let Some(value) = self.table.get("between") else {
            let near = place(axis, must(self.table, "near")?)? as f64;
            let within = self.table.get("within").map(|v| v.float()).transpose()?.unwrap_or(4.0);
            return Ok(((near / within).floor() as u64, (near * within).ceil() as u64));
        };
        let places = value.items().into_iter().map(|item| place(axis, item));
        match places.collect::<Result<Vec<u64>, _>>()?[..] {
            [from, to] if from <= to => Ok((from, to)),
            _ => Err(value.refuse("two levels are wanted", "write between = [\"1Mi\", \"8Mi\"]")),
        }
    }

    fn spread(&self) -> Result<Spread, FileError> {
        let enough = whole(self.table, "enough")?.map(|enough| enough as usize);
        match (self.table.get("each"), self.table.get("average")) {
            (Some(_), Some(value)) => {
                Err(value
                    .refuse("a claim is asked for each level or in their mean", "take one away"))
            }
            (Some(_), None) => Ok(Spread::Each(self.factor("each")?, enough)),
            (None, Some(_)) => Ok(Spread::Average(self.factor("average")?)),
            (None, None) => Ok(Spread::Once),
        }
    }
}

/// A place on an axis, which need not be a level.
fn place(axis: Factor, value: Value<'_>) -> Result<u64, FileError> {
    match (value.text(), axis.kind()) {
        (Ok(text), LevelKind::Bytes) => {
            parse_bytes(text).map_err(|error| value.refuse_spec(&error))
        }
        _ => value.number(),
    }
}

fn needs(table: Toml<'_>) -> Result<Needs, FileError> {
    Ok(table.get("needs").map(needs_of).transpose()?.unwrap_or_default())
}

fn needs_of(value: Value<'_>) -> Result<Needs, FileError> {
    let needs = value.table()?;
    needs.only(&["processors", "memory", "file-system", "also"])?;
    let bytes =
        |value: Value<'_>| parse_bytes(value.text()?).map_err(|error| value.refuse_spec(&error));
    let places = needs.get("file-system").map(|value| value.texts()).transpose()?;
    Ok(Needs {
        processors: whole(needs, "processors")?,
        memory_bytes: needs.get("memory").map(bytes).transpose()?,
        file_systems: places.unwrap_or_default().into_iter().map(str::to_owned).collect(),
        also: optional(needs, "also")?,
    })
}

/// `ours = true`, or which part of it is.
fn ours(table: Toml<'_>) -> Result<Ours, FileError> {
    let Some(value) = table.get("ours") else { return Ok(Ours::Nothing) };
    Ok(match (value.flag(), value.text()) {
        (Ok(true), _) => Ours::All,
        (Ok(false), _) => Ours::Nothing,
        (Err(_), Ok(part)) => Ours::Part(part.to_owned()),
        (Err(_), Err(_)) => {
            return Err(value.refuse("this says nothing", "write ours = true, or which part is"));
        }
    })
}
