//! A claim of a study file.

use super::claim::Claim;
use super::claim_keys::Keys;
use super::form::FORMS;
use super::keys::{MEASURES, PERS, figures, must, optional, text, whole, word};
use super::read::Reader;
use super::terms::{Choice, Ours, Spread};
use iolab_model::spec::choose;
use iolab_model::spec::file::{self, FileError};

type Toml<'a> = file::Table<'a>;

/// What every claim may have; a form adds its own.
const KEYS: [&str; 16] = [
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
];
const CHOICES: [(&str, Choice); 2] = [("best", Choice::Best), ("every", Choice::Every)];

impl Reader<'_> {
    pub(super) fn claim(&self, table: Toml<'_>) -> Result<Claim, FileError> {
        let of_forms = FORMS.iter().flat_map(|form| form.keys).copied();
        let known: Vec<&str> = KEYS.into_iter().chain(of_forms).collect();
        table.only(&known)?;
        let keys = Keys { reader: self, trials: self.experiments(table)?, table };
        let kind = must(table, "kind")?;
        let word_of_kind = kind.text()?;
        let words: Vec<&str> = FORMS.iter().map(|form| form.word).collect();
        let form = FORMS.iter().find(|form| form.word == word_of_kind).ok_or_else(|| {
            kind.refuse("there is no such kind of claim", choose(word_of_kind, &words))
        })?;
        Ok(Claim {
            id: text(table, "id")?,
            says: text(table, "says")?,
            experiments: keys.trials.iter().map(|trial| trial.name.clone()).collect(),
            of: self.selection(&keys.trials, table, "of")?,
            test: (form.read)(&keys)?,
            measure: word(table, "measure", &MEASURES)?.unwrap_or_default(),
            per: word(table, "per", &PERS)?.unwrap_or_default(),
            choice: word(table, "choice", &CHOICES)?.unwrap_or_default(),
            spread: spread(&keys)?,
            needs: keys.needs()?,
            ours: ours(table)?,
            place: optional(table, "where")?,
            published: figures(table)?,
            note: optional(table, "note")?,
        })
    }
}

fn spread(keys: &Keys<'_, '_>) -> Result<Spread, FileError> {
    let enough = whole(keys.table, "enough")?.map(|enough| enough as usize);
    match (keys.table.get("each"), keys.table.get("average")) {
        (Some(_), Some(value)) => {
            Err(value.refuse("a claim is asked for each level or in their mean", "take one away"))
        }
        (Some(_), None) => Ok(Spread::Each(keys.factor("each")?, enough)),
        (None, Some(_)) => Ok(Spread::Average(keys.factor("average")?)),
        (None, None) => Ok(Spread::Once),
    }
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
