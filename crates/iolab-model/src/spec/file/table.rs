//! TOML with places: a thin coat over the parser, so that whoever reads a file can say where.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::nest::{MOST_LEVELS, too_deep};
use super::source::{FileError, Source};
use crate::spec::{SpecError, choose};

/// A text that has been parsed.
#[derive(Debug)]
pub struct Parsed<'a> {
    source: &'a Source<'a>,
    root: Spanned<DeTable<'a>>,
}

/// A table with its place in the text.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    source: &'a Source<'a>,
    entries: &'a DeTable<'a>,
    at: Span,
}

/// A value with its place in the text.
#[derive(Clone, Copy, Debug)]
pub struct Value<'a> {
    source: &'a Source<'a>,
    value: &'a DeValue<'a>,
    at: Span,
}

#[derive(Clone, Copy, Debug)]
struct Span(usize, usize);

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Span {
        Span(range.start, range.end)
    }
}

impl From<Span> for Range<usize> {
    fn from(Span(start, end): Span) -> Range<usize> {
        start..end
    }
}

/// Reads TOML.
///
/// # Errors
/// The first thing that is not TOML: a key given twice is one. A nest without end.
pub fn parse<'a>(source: &'a Source<'a>) -> Result<Parsed<'a>, FileError> {
    if let Some(at) = too_deep(source.text) {
        let problem = format!("more than {MOST_LEVELS} tables and lists in one another");
        return Err(source.refuse(at..at + 1, problem, "close what is open before this"));
    }
    match DeTable::parse(source.text) {
        Ok(root) => Ok(Parsed { source, root }),
        Err(error) => {
            let at = error.span().unwrap_or(0..0);
            let (problem, fix) = match error.message() {
                "duplicate key" => ("this key stands here twice", "take one of them away"),
                message => (message, "a file of experiments is TOML; see iolab run --example"),
            };
            Err(source.refuse(at, problem, fix))
        }
    }
}

impl Parsed<'_> {
    /// The table of everything.
    pub fn table(&self) -> Table<'_> {
        Table { source: self.source, entries: self.root.get_ref(), at: Span(0, 0) }
    }
}

impl<'a> Table<'a> {
    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<Value<'a>> {
        let entry = self.entries.iter().find(|(name, _)| name.get_ref() == key);
        entry.map(|(_, value)| self.value(value))
    }

    /// Every key with its value, in the order written.
    pub fn entries(&self) -> Vec<(&'a str, Value<'a>)> {
        let all = self.in_order().into_iter();
        all.map(|(name, value)| (name.get_ref().as_ref(), self.value(value))).collect()
    }

    #[allow(clippy::type_complexity)] // The parser's own pairs.
    fn in_order(&self) -> Vec<(&'a Spanned<toml::de::DeString<'a>>, &'a Spanned<DeValue<'a>>)> {
        let mut all: Vec<_> = self.entries.iter().collect();
        all.sort_by_key(|(name, _)| name.span().start);
        all
    }

    fn value(&self, value: &'a Spanned<DeValue<'a>>) -> Value<'a> {
        Value { source: self.source, value: value.get_ref(), at: value.span().into() }
    }

    /// Refuses every key but these.
    ///
    /// # Errors
    /// The first other key, with the nearest of these.
    pub fn only(&self, known: &[&str]) -> Result<(), FileError> {
        let unknown =
            self.in_order().into_iter().find(|(name, _)| !known.contains(&name.get_ref().as_ref()));
        match unknown {
            Some((name, _)) => Err(self.source.refuse(
                name.span(),
                format!("there is no key '{}' here", name.get_ref().escape_debug()),
                choose(name.get_ref(), known),
            )),
            None => Ok(()),
        }
    }

    /// Trouble with a key that stands here, or with the table where it does not.
    pub fn refuse_key(
        &self,
        key: &str,
        problem: impl Into<String>,
        fix: impl Into<String>,
    ) -> FileError {
        let found = self.entries.iter().find(|(name, _)| name.get_ref() == key);
        let at = found.map_or(self.at.into(), |(name, _)| name.span());
        self.source.refuse(at, problem, fix)
    }

    /// Trouble with the table as a whole.
    pub fn refuse(&self, problem: impl Into<String>, fix: impl Into<String>) -> FileError {
        self.source.refuse(self.at.into(), problem, fix)
    }

    /// Where it begins, for a message: `bench.toml, line 4`.
    pub fn place(&self) -> String {
        place(self.source, self.at)
    }
}

fn place(source: &Source<'_>, at: Span) -> String {
    let line = source.text[..at.0].matches('\n').count() + 1;
    format!("{}, line {line}", source.name)
}

impl<'a> Value<'a> {
    /// Where it begins, for a message: `bench.toml, line 4`.
    pub fn place(&self) -> String {
        place(self.source, self.at)
    }

    /// Trouble with the value.
    pub fn refuse(&self, problem: impl Into<String>, fix: impl Into<String>) -> FileError {
        self.source.refuse(self.at.into(), problem, fix)
    }

    /// Trouble within text: the caret stands where that says, where the text stands as it is read.
    pub fn refuse_spec(&self, error: &SpecError) -> FileError {
        let Span(start, end) = self.at;
        let written = self.source.text.get(start..end).unwrap_or_default();
        let inner = written.get(1..written.len().saturating_sub(1)).unwrap_or_default();
        let at = match inner == error.written && error.at < inner.len() && error.at > 0 {
            true => start + 1 + error.at..end - 1,
            false => start..end,
        };
        let problem = format!("'{}': {}", error.written.escape_debug(), error.problem);
        self.source.refuse(at, problem, error.fix.clone())
    }

    /// What it is, for messages.
    fn kind(&self) -> &'static str {
        match self.value {
            DeValue::String(_) => "text",
            DeValue::Integer(_) => "a number",
            DeValue::Float(_) => "a number with a point",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        }
    }

    fn wanted(&self, what: &str, fix: &str) -> FileError {
        self.refuse(format!("this is {}, and {what} is wanted", self.kind()), fix)
    }

    /// Text.
    ///
    /// # Errors
    /// It is something else.
    pub fn text(&self) -> Result<&'a str, FileError> {
        match self.value {
            DeValue::String(text) => Ok(text),
            _ => Err(self.wanted("text", "write it in quotes")),
        }
    }

    /// A whole number from 0 on.
    ///
    /// # Errors
    /// It is something else, negative, or more than 2⁶⁴−1.
    pub fn number(&self) -> Result<u64, FileError> {
        let DeValue::Integer(number) = self.value else {
            return Err(self.wanted("a whole number", "write it without quotes: 4"));
        };
        u64::from_str_radix(number.as_str(), number.radix()).map_err(|_| {
            let problem = match number.as_str().starts_with('-') {
                true => "a negative number makes no sense here",
                false => "too large",
            };
            self.refuse(problem, "write 0 or more, and at most 18446744073709551615")
        })
    }

    /// True or false.
    ///
    /// # Errors
    /// It is something else.
    pub fn flag(&self) -> Result<bool, FileError> {
        match self.value {
            DeValue::Boolean(flag) => Ok(*flag),
            _ => Err(self.wanted("true or false", "write it without quotes")),
        }
    }

    /// A number with or without a point.
    ///
    /// # Errors
    /// It is something else.
    pub fn float(&self) -> Result<f64, FileError> {
        let number = match self.value {
            DeValue::Float(number) => number.as_str().parse().ok(),
            DeValue::Integer(number) if number.radix() == 10 => number.as_str().parse().ok(),
            _ => None,
        };
        number.ok_or_else(|| self.wanted("a number", "write it without quotes: 1.5"))
    }

    /// The items of a list; what is no list is its one item.
    pub fn items(&self) -> Vec<Value<'a>> {
        let DeValue::Array(items) = self.value else { return vec![*self] };
        let item = |item: &'a Spanned<DeValue<'a>>| Value {
            source: self.source,
            value: item.get_ref(),
            at: item.span().into(),
        };
        items.iter().map(item).collect()
    }

    /// A list of texts, or one text.
    ///
    /// # Errors
    /// An item that is something else.
    pub fn texts(&self) -> Result<Vec<&'a str>, FileError> {
        self.items().iter().map(Value::text).collect()
    }

    /// A table.
    ///
    /// # Errors
    /// It is something else.
    pub fn table(&self) -> Result<Table<'a>, FileError> {
        match self.value {
            DeValue::Table(entries) => Ok(Table { source: self.source, entries, at: self.at }),
            _ => Err(self.wanted("a table", "write it as [name] with keys below")),
        }
    }

    /// A list of tables, as `[[name]]` makes it.
    ///
    /// # Errors
    /// It is something else.
    pub fn tables(&self) -> Result<Vec<Table<'a>>, FileError> {
        match self.value {
            DeValue::Array(_) => self.items().iter().map(Value::table).collect(),
            _ => Err(self.wanted("a list of tables", "write two brackets: [[experiment]]")),
        }
    }

    /// The whole number or the text, whichever stands there, as text.
    ///
    /// # Errors
    /// It is neither, or negative.
    pub(super) fn number_or_text(&self) -> Result<String, FileError> {
        match self.value {
            DeValue::Integer(_) => self.number().map(|number| number.to_string()),
            DeValue::String(text) => Ok(text.to_string()),
            _ => Err(self.wanted("text or a whole number", "write \"64Ki\" or 65536")),
        }
    }

    /// True where it is a whole number.
    pub(super) fn is_number(&self) -> bool {
        matches!(self.value, DeValue::Integer(_))
    }
}
