//! Which calls of a trace can be made again, in the order in which they came back: each is held
//! against what the files of a copy would answer by then.

use std::collections::HashMap;

use super::by_name;
use super::disk::EOPNOTSUPP;
use super::first_state::first_state;
use super::left_out::{Coverage, Reason};
use super::locks::Locks;
use super::names::Names;
use super::on_handle;
use super::state::{Judged, Sifter};
use super::step::{Act, Action, Step};
use crate::call::{Call, CallKind, NONE, Result as Outcome};
use crate::trace::Trace;

impl<'a> Sifter<'a> {
    /// Goes through all calls.
    pub(super) fn sift(trace: &'a Trace) -> Sifter<'a> {
        let names = Names::of(trace);
        let disk = first_state(trace, &names);
        let mut sifter = Sifter {
            trace,
            names,
            first: disk.clone(),
            disk,
            handles: vec![None; trace.handles.len()],
            inherited: Vec::new(),
            listed: HashMap::new(),
            listing: HashMap::new(),
            locks: Locks::default(),
            acts: Vec::new(),
            coverage: Coverage::default(),
        };
        for (index, call) in trace.calls.iter().enumerate() {
            sifter.call(index as u32, call);
        }
        sifter
    }

    fn call(&mut self, index: u32, call: &Call) {
        if call.kind.is_of_processes() {
            if call.kind == CallKind::Wait && call.other != NONE {
                let step = Step { other: call.other, ..Step::new(Action::Wait, index) };
                self.acts.push(Act::new(step, call.thread));
            }
            return;
        }
        let on = self.trace.file(call.file).map(|file| file.kind);
        if on.is_some_and(|kind| !kind.is_of_file_system()) {
            self.coverage.elsewhere += 1;
            return;
        }
        let bytes = call.moved_bytes();
        self.coverage.calls += 1;
        self.coverage.bytes = self.coverage.bytes.saturating_add(bytes);
        if let Err(reason) = self.judge(index, call) {
            self.coverage.leave(reason, call.kind, bytes);
        }
    }

    fn judge(&mut self, index: u32, call: &Call) -> Judged {
        let errno = match call.outcome() {
            Outcome::Unknown => return Err(Reason::Unfinished),
            Outcome::Failed(errno) => Some(i64::from(errno)),
            Outcome::Done(_) => None,
        };
        match call.kind {
            CallKind::SyncAll if errno.is_none() => {
                self.acts.push(Act::new(Step::new(Action::SyncAll, index), call.thread));
                Ok(())
            }
            CallKind::Open => by_name::open(self, index, call, errno),
            _ if by_name::is_by_name(call) => by_name::judge(self, index, call, errno),
            _ if call.handle == NONE => Err(Reason::Kind),
            _ if by_name::asks_in_vain(call) => on_handle::judge(self, index, call),
            // Where a copy lies it may be taken: then it is left out (`Choice::clones`).
            CallKind::Clone if errno == Some(EOPNOTSUPP) => on_handle::judge(self, index, call),
            _ if errno.is_some() => Err(Reason::Error),
            _ => on_handle::judge(self, index, call),
        }
    }
}
