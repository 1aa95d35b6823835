//! Calls that name files: open, stat, rename and their kin.

use super::applied::Applied;
use super::flags::open_flags;
use super::known::{Asked, OneHandle, Shape};
use super::names::absolute;
use super::state::Slot;
use super::words;
use crate::call::{CallKind, NONE, OpenFlags};
use crate::control::{ASKS_FOR_ATTRIBUTE, Control};
use crate::error::TraceError;
use crate::trace::FileKind;

/// A call with a name in it.
pub(super) struct NamedCall<'a, 'b>(pub(super) &'a mut Applied<'b>);

/// There is no such file.
const NO_ENTRY: i64 = -2;

impl NamedCall<'_, '_> {
    /// Whether the call is kept.
    pub(super) fn apply(mut self, shape: Shape) -> Result<bool, TraceError> {
        match shape {
            Shape::Open { at, path, flags } => self.open(at, path, flags),
            Shape::StatAt { at, path, result } => self.stat(at, path, result),
            Shape::StatHandle => {
                let kept = self.0.on_handle(OneHandle::plain(CallKind::StatHandle))?;
                self.seen(1);
                Ok(kept)
            }
            Shape::List => {
                let kept = self.0.on_handle(OneHandle {
                    asked: Asked::Argument(2),
                    ..OneHandle::plain(CallKind::List)
                })?;
                self.0.call.detail = words::entries(self.0.argument(1));
                let file = self.0.call.file;
                if kept && self.0.succeeded() {
                    self.0.state.is(file, FileKind::Directory);
                }
                Ok(kept)
            }
            Shape::OnPath { kind, at, path } => self.on_path(kind, at, path),
            Shape::FileSystemOf => {
                let kept = self.on_path(CallKind::Other, None, 0)?;
                self.0.call.detail = Control::FileSystem.code();
                Ok(kept)
            }
            Shape::AskForAttribute { of_handle } => {
                let kept = match of_handle {
                    true => self.0.on_handle(OneHandle::plain(CallKind::Attribute))?,
                    false => self.on_path(CallKind::Attribute, None, 0)?,
                };
                self.0.call.detail = ASKS_FOR_ATTRIBUTE;
                Ok(kept)
            }
            Shape::UnlinkAt => {
                let removes = self.0.argument(2) == b"AT_REMOVEDIR";
                let kind = if removes { CallKind::RemoveDirectory } else { CallKind::Unlink };
                self.on_path(kind, Some(0), 1)
            }
            Shape::TwoPaths { kind, first, second } => self.two_paths(kind, first, second),
            Shape::Execute { path } => {
                if self.0.succeeded() {
                    let group = self.0.maker.group;
                    self.0.state.execute(group);
                }
                self.on_path(CallKind::Execute, (path == 1).then_some(0), path)
            }
            Shape::ChangeDirectory => {
                let kept = self.on_path(CallKind::ChangeDirectory, None, 0)?;
                self.go_to();
                Ok(kept)
            }
            Shape::ChangeDirectoryTo => {
                let kept = self.0.on_handle(OneHandle::plain(CallKind::ChangeDirectory))?;
                self.go_to();
                Ok(kept)
            }
            _ => Ok(false),
        }
    }

    /// The name that stands there, as a file, and the handle of the directory that it was given
    /// below, where it is known; nothing where strace shows none.
    fn name(&mut self, at: Option<usize>, path: usize) -> Result<Option<(u32, u32)>, TraceError> {
        let Some(path) = words::string(self.0.argument(path)) else { return Ok(None) };
        let directory = at.and_then(|at| words::descriptor(self.0.argument(at)));
        let group = self.0.maker.group;
        let is_relative = !path.starts_with(b"/");
        let mut below = NONE;
        let name = match directory {
            Some(found) if found.number < 0 => {
                // What the kernel says of the working directory is right, whatever we knew.
                if let (Some((directory, _)), Some(group)) =
                    (&found.named, self.0.state.groups.get_mut(&group))
                    && group.directory.as_deref() != Some(directory.as_slice())
                {
                    group.directory = Some(directory.as_slice().into());
                }
                absolute(self.directory().as_deref(), &path)
            }
            Some(found) => {
                let handle = self.0.state.handle(group, found.number, found.named.as_ref())?;
                let file = self.0.state.trace.handles[handle as usize].file;
                let directory = self.0.state.trace.files[file as usize].name.clone();
                below = handle;
                absolute(Some(&directory), &path)
            }
            None => absolute(self.directory().as_deref(), &path),
        };
        if let (true, NONE, Some(directory)) = (is_relative, below, self.directory()) {
            below = self.0.state.working(&directory)?;
        }
        let file = self.0.state.name(&name, FileKind::Unknown)?;
        Ok(Some((file, if is_relative { below } else { NONE })))
    }

    fn directory(&self) -> Option<std::rc::Rc<[u8]>> {
        self.0.state.groups.get(&self.0.maker.group)?.directory.clone()
    }

    fn open(
        &mut self,
        at: Option<usize>,
        path: usize,
        flags: Option<usize>,
    ) -> Result<bool, TraceError> {
        let flags = match flags {
            Some(at) => open_flags(self.0.argument(at)),
            None => open_flags(b"O_WRONLY|O_CREAT|O_TRUNC"),
        };
        let (asked, below) = self.name(at, path)?.unwrap_or((NONE, NONE));
        self.0.call.other = below;
        self.0.call.detail = flags.0;
        self.0.call.kind = CallKind::Open;
        self.0.call.file = asked;
        if !self.0.succeeded() {
            if self.0.call.result == NO_ENTRY {
                self.0.state.existed(asked, false);
            }
            return Ok(true);
        }
        let Some(opened) = words::descriptor(self.0.words.came_back) else { return Ok(false) };
        // Where the kernel says which file it is, links are behind us.
        let file = match &opened.named {
            Some((name, kind)) => self.0.state.name(name, *kind)?,
            None if asked == NONE => return Ok(false),
            None => asked,
        };
        self.opened(file, flags);
        let handle = self.0.state.open(file, flags, true);
        let slot = Slot { handle, closes_on_exec: flags.has(OpenFlags::CLOEXEC) };
        self.0.state.put(self.0.maker.group, opened.number, slot)?;
        self.0.call.file = file;
        self.0.call.handle = handle;
        self.0.call.result = 0;
        Ok(true)
    }

    /// What a successful opening tells of its file.
    fn opened(&mut self, file: u32, flags: OpenFlags) {
        let state = &mut *self.0.state;
        if flags.has(OpenFlags::DIRECTORY) && !flags.has(OpenFlags::TMPFILE) {
            state.is(file, FileKind::Directory);
        }
        match (flags.has(OpenFlags::CREAT), flags.has(OpenFlags::EXCL)) {
            (true, true) => {
                state.existed(file, false);
                state.sized(file, 0);
            }
            (true, false) if state.trace.files[file as usize].existed.is_none() => {
                state.files[file as usize].maybe_made = true;
            }
            _ => state.existed(file, true),
        }
        if flags.has(OpenFlags::TRUNC) {
            state.resized(file, 0);
        }
    }

    fn stat(&mut self, at: Option<usize>, path: usize, result: usize) -> Result<bool, TraceError> {
        let is_empty = words::string(self.0.argument(path)).is_some_and(|path| path.is_empty());
        let kept = match is_empty && at.is_some() {
            true => self.0.on_handle(OneHandle::plain(CallKind::StatHandle))?,
            false => self.on_path(CallKind::Stat, at, path)?,
        };
        self.seen(result);
        Ok(kept)
    }

    /// What the structure of a stat says of the file.
    fn seen(&mut self, at: usize) {
        let file = self.0.call.file;
        if file == NONE || !self.0.succeeded() {
            return;
        }
        let argument = self.0.argument(at);
        let mode = ["st_mode=", "stx_mode="].iter().find_map(|key| words::field(argument, key));
        let size = ["st_size=", "stx_size="].iter().find_map(|key| words::field(argument, key));
        let size = size.and_then(words::count);
        let kind = match mode.map(|mode| mode.split(|byte| *byte == b'|').next().unwrap_or(mode)) {
            Some(b"S_IFREG") => FileKind::Regular,
            Some(b"S_IFDIR") => FileKind::Directory,
            Some(b"S_IFLNK") => FileKind::Link,
            Some(b"S_IFCHR") => FileKind::Character,
            Some(b"S_IFBLK") => FileKind::Block,
            Some(b"S_IFIFO") => FileKind::Pipe,
            Some(b"S_IFSOCK") => FileKind::Socket,
            _ => return,
        };
        self.0.state.is(file, kind);
        if let (FileKind::Regular, Some(bytes)) = (kind, size) {
            self.0.state.sized(file, bytes);
        }
    }

    fn on_path(
        &mut self,
        kind: CallKind,
        at: Option<usize>,
        path: usize,
    ) -> Result<bool, TraceError> {
        self.0.call.kind = kind;
        // utimensat(3, NULL, …) is on the descriptor.
        if at.is_some() && self.0.argument(path) == b"NULL" {
            return self.0.on_handle(OneHandle::plain(kind));
        }
        let Some((file, below)) = self.name(at, path)? else { return Ok(false) };
        self.0.call.file = file;
        self.0.call.other = if kind.is_below() { below } else { NONE };
        if kind == CallKind::Truncate {
            self.0.call.asked = self.0.count(1);
            let bytes = self.0.call.asked;
            if self.0.succeeded() {
                self.0.state.resized(file, bytes);
            }
        }
        match (self.0.succeeded(), kind) {
            (true, CallKind::MakeDirectory) => {
                self.0.state.existed(file, false);
                self.0.state.is(file, FileKind::Directory);
            }
            (true, CallKind::Symlink) => {
                self.0.state.existed(file, false);
                self.0.state.is(file, FileKind::Link);
            }
            (true, _) => self.0.state.existed(file, true),
            (false, _) if self.0.call.result == NO_ENTRY => self.0.state.existed(file, false),
            _ => (),
        }
        if kind != CallKind::ReadLink {
            self.0.call.result = self.0.call.result.min(0);
        }
        Ok(true)
    }

    fn two_paths(
        &mut self,
        kind: CallKind,
        first: (Option<usize>, usize),
        second: (Option<usize>, usize),
    ) -> Result<bool, TraceError> {
        let names = (self.name(first.0, first.1)?, self.name(second.0, second.1)?);
        let (Some((from, _)), Some((to, _))) = names else { return Ok(false) };
        (self.0.call.file, self.0.call.other) = (from, to);
        if self.0.succeeded() {
            self.0.state.existed(from, true);
            self.0.state.existed(to, false);
            self.0.state.has_renamed |= kind == CallKind::Rename;
            let state = self.0.state.files[from as usize];
            let about = self.0.state.trace.files[from as usize].kind;
            self.0.state.is(to, about);
            self.0.state.files[to as usize].size = state.size;
            self.0.state.files[to as usize].changed = true;
        }
        Ok(self.0.kind(kind))
    }

    fn go_to(&mut self) {
        let (file, group) = (self.0.call.file, self.0.maker.group);
        if !self.0.succeeded() || file == NONE {
            return;
        }
        let name = self.0.state.trace.files[file as usize].name.as_slice().into();
        if let Some(group) = self.0.state.groups.get_mut(&group) {
            group.directory = Some(name);
        }
    }
}
