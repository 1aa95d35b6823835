//! What of a trace is not done again, and why.

use std::collections::BTreeMap;

use iolab_model::catalog::{count_text, percent_text};

use crate::call::CallKind;

/// Kinds that are named, at most.
const MOST_SAID: usize = 4;

/// Why a call is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// A kind of call that is not replayed: what it was asked for is not in a trace.
    Kind,
    /// It failed for a reason that a copy does not have: a permission, a limit, a signal.
    Error,
    /// It would come out otherwise here: another program has worked on the file meanwhile.
    Unlike,
    /// It is on a file whose opening was left out.
    Unopened,
    /// It never came back, or the log ends before.
    Unfinished,
    /// Its file has a name that no file can have.
    Name,
}

impl Reason {
    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Reason::Kind => "not replayed",
            Reason::Error => "failed for a reason that a copy does not have",
            Reason::Unlike => "would come out otherwise here",
            Reason::Unopened => "on files that are not opened here",
            Reason::Unfinished => "never came back",
            Reason::Name => "on a name that no file can have",
        }
    }
}

/// What is replayed of a trace, and what not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Calls on files of a file system.
    pub calls: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// What of them is left out: calls and bytes.
    pub left_out: BTreeMap<(Reason, CallKind), (u64, u64)>,
    /// Calls on devices, pipes, sockets and files that the kernel makes up: no file work.
    pub elsewhere: u64,
}

impl Coverage {
    pub(super) fn leave(&mut self, reason: Reason, kind: CallKind, bytes: u64) {
        let entry = self.left_out.entry((reason, kind)).or_default();
        *entry = (entry.0 + 1, entry.1.saturating_add(bytes));
    }

    /// Calls and bytes that are left out.
    pub fn lost(&self) -> (u64, u64) {
        self.left_out.values().fold((0, 0), |(calls, bytes), (more, moved)| {
            (calls + more, bytes.saturating_add(*moved))
        })
    }

    /// What is left out in one line, the most first; nothing where nothing is.
    pub fn words(&self) -> Option<String> {
        let mut all: Vec<_> = self.left_out.iter().collect();
        all.sort_by_key(|(_, (calls, bytes))| std::cmp::Reverse((*calls, *bytes)));
        let (calls, bytes) = self.lost_shares();
        let said = |((reason, kind), (calls, _)): &(&(Reason, CallKind), &(u64, u64))| {
            format!("{} {} ({})", count_text(*calls), kind.word(), reason.words())
        };
        let some: Vec<String> = all.iter().take(MOST_SAID).map(said).collect();
        let rest = if all.len() > MOST_SAID { ", …" } else { "" };
        (!some.is_empty()).then(|| {
            format!(
                "{} of its calls on files and {} of their bytes are not replayed: {}{rest}",
                percent_text(calls),
                percent_text(bytes),
                some.join(", ")
            )
        })
    }

    /// As [`Coverage::words`], with the calls that are no file work.
    pub fn all_words(&self) -> Option<String> {
        let calls = count_text(self.elsewhere);
        let elsewhere = (self.elsewhere > 0).then(|| {
            format!(
                "calls on devices, pipes, sockets and files of the kernel are left out: {calls}"
            )
        });
        let all: Vec<String> = self.words().into_iter().chain(elsewhere).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    /// Their shares, of all calls on files and of all bytes.
    pub fn lost_shares(&self) -> (f64, f64) {
        let (calls, bytes) = self.lost();
        let share =
            |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
        (share(calls, self.calls), share(bytes, self.bytes))
    }
}
