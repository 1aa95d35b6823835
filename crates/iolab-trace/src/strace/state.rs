//! What is known of the program at a point of the log: descriptors, offsets, names.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::Limits;
use crate::call::{NONE, OpenFlags};
use crate::error::TraceError;
use crate::trace::{File, FileKind, Handle, Trace};

/// A descriptor of a process.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) handle: u32,
    pub(super) closes_on_exec: bool,
}

/// What threads that share their descriptors share.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    pub(super) users: u32,
    pub(super) descriptors: HashMap<i64, Slot>,
    pub(super) directory: Option<Rc<[u8]>>,
    /// Mapped ranges: address → length and handle.
    pub(super) maps: BTreeMap<u64, (u64, u32)>,
}

/// What is known of a handle beyond what is kept.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HandleState {
    pub(super) offset: u64,
    pub(super) references: u32,
    pub(super) appends: bool,
}

/// What is known of a file beyond what is kept.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FileState {
    /// Its size now.
    pub(super) size: Option<u64>,
    /// The program has changed its size.
    pub(super) changed: bool,
    /// An opening may have made it.
    pub(super) maybe_made: bool,
    /// The furthest byte that was read, from the start.
    pub(super) read_end: u64,
}

/// Everything between two lines.
#[derive(Debug)]
pub(super) struct State {
    pub(super) trace: Trace,
    pub(super) limits: Limits,
    pub(super) line: u64,
    pub(super) groups: HashMap<u32, Group>,
    pub(super) handles: Vec<HandleState>,
    pub(super) files: Vec<FileState>,
    names: HashMap<Rc<[u8]>, u32>,
    /// Handles of working directories, which no descriptor stands for.
    working: HashMap<Rc<[u8]>, u32>,
    name_bytes: u64,
    descriptors: u64,
    next_group: u32,
    /// Names have moved: what strace shows of an old descriptor may be a new name.
    pub(super) has_renamed: bool,
}

impl State {
    pub(super) fn new(limits: Limits) -> State {
        State {
            trace: Trace::default(),
            limits,
            line: 0,
            groups: HashMap::new(),
            handles: Vec::new(),
            files: Vec::new(),
            names: HashMap::new(),
            working: HashMap::new(),
            name_bytes: 0,
            descriptors: 0,
            next_group: 0,
            has_renamed: false,
        }
    }

    /// Refuses more than memory is given to.
    pub(super) fn within(
        &self,
        count: u64,
        limit: u64,
        what: &'static str,
    ) -> Result<(), TraceError> {
        match count < limit {
            true => Ok(()),
            false => Err(TraceError::TooMany { line: self.line, what, limit }),
        }
    }

    /// The file of this name, made where it is new.
    pub(super) fn name(&mut self, name: &[u8], kind: FileKind) -> Result<u32, TraceError> {
        if let Some(index) = self.names.get(name).copied() {
            self.is(index, kind);
            return Ok(index);
        }
        self.name_bytes += name.len() as u64 + 64;
        self.within(self.name_bytes, self.limits.name_bytes, "bytes of names")?;
        let index = self.trace.files.len() as u32;
        let shared: Rc<[u8]> = name.into();
        self.names.insert(shared, index);
        let of_kernel = [&b"/proc/"[..], b"/sys/"].iter().any(|start| name.starts_with(start));
        let kind = if of_kernel { FileKind::Virtual } else { kind };
        self.trace.files.push(File { name: name.to_vec(), kind, ..File::default() });
        self.files.push(FileState::default());
        Ok(index)
    }

    /// The first thing that is seen of what a file is stays.
    pub(super) fn is(&mut self, file: u32, kind: FileKind) {
        if let Some(file) = self.trace.files.get_mut(file as usize)
            && file.kind == FileKind::Unknown
        {
            file.kind = kind;
        }
    }

    /// A new group of threads.
    pub(super) fn group(&mut self, group: Group) -> Result<u32, TraceError> {
        self.descriptors += group.descriptors.len() as u64;
        self.within(self.descriptors, self.limits.descriptors, "open descriptors")?;
        for slot in group.descriptors.values() {
            self.handles[slot.handle as usize].references += 1;
        }
        self.next_group += 1;
        self.groups.insert(self.next_group, Group { users: 1, ..group });
        Ok(self.next_group)
    }

    /// The handle of a working directory: it is there, and nobody has opened it.
    pub(super) fn working(&mut self, directory: &Rc<[u8]>) -> Result<u32, TraceError> {
        if let Some(handle) = self.working.get(directory) {
            return Ok(*handle);
        }
        let file = self.name(directory, FileKind::Directory)?;
        self.existed(file, true);
        let handle = self.open(file, OpenFlags::default(), false);
        self.working.insert(Rc::clone(directory), handle);
        Ok(handle)
    }

    /// One thread of the group has ended; with the last its descriptors close.
    pub(super) fn leave(&mut self, group: u32) {
        let Some(found) = self.groups.get_mut(&group) else { return };
        found.users = found.users.saturating_sub(1);
        if found.users == 0 {
            let gone = self.groups.remove(&group).unwrap_or_default();
            self.descriptors -= gone.descriptors.len() as u64;
            for slot in gone.descriptors.values() {
                self.release(slot.handle);
            }
        }
    }

    /// One descriptor less; whether it was the last.
    fn release(&mut self, handle: u32) -> bool {
        let state = &mut self.handles[handle as usize];
        state.references = state.references.saturating_sub(1);
        state.references == 0
    }

    /// A new opening of a file.
    pub(super) fn open(&mut self, file: u32, flags: OpenFlags, opened: bool) -> u32 {
        let index = self.handles.len() as u32;
        self.trace.handles.push(Handle { file, opened });
        let appends = flags.has(OpenFlags::APPEND);
        self.handles.push(HandleState { offset: 0, references: 0, appends });
        index
    }

    /// Gives a descriptor a handle; what it had is closed.
    pub(super) fn put(&mut self, group: u32, number: i64, slot: Slot) -> Result<(), TraceError> {
        self.handles[slot.handle as usize].references += 1;
        let Some(found) = self.groups.get_mut(&group) else { return Ok(()) };
        match found.descriptors.insert(number, slot) {
            Some(before) => {
                self.release(before.handle);
            }
            None => self.descriptors += 1,
        }
        self.within(self.descriptors, self.limits.descriptors, "open descriptors")
    }

    /// Takes a descriptor away: its handle, and whether it was the last of it.
    pub(super) fn take(&mut self, group: u32, number: i64) -> Option<(u32, bool)> {
        let slot = self.groups.get_mut(&group)?.descriptors.remove(&number)?;
        self.descriptors -= 1;
        Some((slot.handle, self.release(slot.handle)))
    }

    /// The handle of a descriptor; one that is not known is made from what strace shows of it.
    pub(super) fn handle(
        &mut self,
        group: u32,
        number: i64,
        named: Option<&(Vec<u8>, FileKind)>,
    ) -> Result<u32, TraceError> {
        let slot = self.groups.get(&group).and_then(|g| g.descriptors.get(&number).copied());
        if let Some(slot) = slot
            && self.fits(slot.handle, named)
        {
            if let Some((_, kind)) = named {
                self.is(self.trace.handles[slot.handle as usize].file, *kind);
            }
            return Ok(slot.handle);
        }
        let file = match named {
            Some((name, kind)) => self.name(name, *kind)?,
            None => self.name(format!("descriptor {number}").as_bytes(), FileKind::Unknown)?,
        };
        let handle = self.open(file, OpenFlags::default(), false);
        self.put(group, number, Slot { handle, closes_on_exec: false })?;
        Ok(handle)
    }

    /// Whether a descriptor can still be what the log said of it: calls that are not traced may have
    /// closed it. Once names have moved, strace shows the new name of the same file.
    fn fits(&self, handle: u32, named: Option<&(Vec<u8>, FileKind)>) -> bool {
        let Some((name, kind)) = named else { return true };
        let file = &self.trace.files[self.trace.handles[handle as usize].file as usize];
        let both_are_paths = name.starts_with(b"/") && file.name.starts_with(b"/");
        match both_are_paths {
            true => self.has_renamed || file.name == *name,
            false => file.kind == *kind || file.name == *name,
        }
    }

    /// The program has ended for the group at an exec: what closes then.
    pub(super) fn execute(&mut self, group: u32) {
        let Some(found) = self.groups.get_mut(&group) else { return };
        found.maps.clear();
        let closing: Vec<i64> = found
            .descriptors
            .iter()
            .filter(|(_, slot)| slot.closes_on_exec)
            .map(|(number, _)| *number)
            .collect();
        for number in closing {
            self.take(group, number);
        }
    }

    /// Whether the file was there before, where nothing said so yet.
    pub(super) fn existed(&mut self, file: u32, existed: bool) {
        if file == NONE || self.files[file as usize].maybe_made {
            return;
        }
        self.trace.files[file as usize].existed.get_or_insert(existed);
    }

    /// Its size as the program saw it.
    pub(super) fn sized(&mut self, file: u32, bytes: u64) {
        // No file is larger (off_t); what a log says beyond it is nonsense.
        let bytes = bytes.min(i64::MAX as u64);
        let state = &mut self.files[file as usize];
        state.size = Some(bytes);
        if !state.changed {
            self.trace.files[file as usize].size_bytes.get_or_insert(bytes);
        }
    }

    /// The program has changed its size to this.
    pub(super) fn resized(&mut self, file: u32, bytes: u64) {
        let state = &mut self.files[file as usize];
        state.changed = true;
        state.size = Some(bytes);
    }

    /// What was left open is concluded.
    pub(super) fn finish(mut self) -> Trace {
        let handles = std::mem::take(&mut self.trace.handles);
        for handle in &handles {
            let file = &mut self.trace.files[handle.file as usize];
            if file.kind == FileKind::Unknown && file.name.starts_with(b"/") {
                file.kind = FileKind::Regular;
            }
        }
        self.trace.handles = handles;
        for (file, state) in self.trace.files.iter_mut().zip(&self.files) {
            if file.size_bytes.is_none() && state.read_end > 0 {
                file.size_bytes = Some(state.read_end);
            }
            if file.existed.is_none() && (state.maybe_made || file.size_bytes.is_some()) {
                file.existed = Some(file.size_bytes.is_some_and(|bytes| bytes > 0));
            }
        }
        self.trace
    }
}
