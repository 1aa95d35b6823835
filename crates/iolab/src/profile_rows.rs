//! Files as rows of a table.

use std::borrow::Cow;
use std::collections::HashMap;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use iolab_model::catalog::so_many;
use iolab_trace::FileRow;

/// Columns of a file's name.
pub(super) const NAME_COLUMNS: usize = 23;
/// From so many files of one directory on they stand in one row without --all.
const FEWEST_OF_DIRECTORY: usize = 8;

/// The directory of a file, with its slash.
fn directory(name: &str) -> &str {
    name.rfind('/').map_or("", |at| &name[..=at])
}

/// Files as rows, those of one directory as one where they are many; a person's own first, and both
/// kinds in order of their time.
pub(super) fn rows(files: &[FileRow], all: bool) -> Vec<Cow<'_, FileRow>> {
    let mut members: HashMap<(bool, &str), Vec<&FileRow>> = HashMap::new();
    for file in files {
        members.entry((file.of_start, directory(&file.name))).or_default().push(file);
    }
    let mut rows = Vec::new();
    for ((_, directory), files) in members {
        match files[..] {
            [first, ..] if !all && files.len() >= FEWEST_OF_DIRECTORY && !directory.is_empty() => {
                rows.push(Cow::Owned(together(first, directory, &files)));
            }
            _ => rows.extend(files.into_iter().map(Cow::Borrowed)),
        }
    }
    rows.sort_by(|a, b| {
        let key = |row: &FileRow| (!row.of_start, row.file_ns, row.calls);
        key(b).cmp(&key(a)).then_with(|| a.name.cmp(&b.name))
    });
    rows
}

/// Files of a directory as one row.
fn together(first: &FileRow, directory: &str, files: &[&FileRow]) -> FileRow {
    let sum =
        |of: fn(&FileRow) -> u64| files.iter().map(|file| of(file)).fold(0, u64::saturating_add);
    let count = format!(" ({})", so_many(files.len(), "file"));
    let room = NAME_COLUMNS.saturating_sub(count.width());
    FileRow {
        name: format!("{}{count}", end_of(directory, room)),
        file_ns: sum(|file| file.file_ns),
        calls: sum(|file| file.calls),
        read_bytes: sum(|file| file.read_bytes),
        reads: sum(|file| file.reads),
        written_bytes: sum(|file| file.written_bytes),
        writes: sum(|file| file.writes),
        read_again_bytes: sum(|file| file.read_again_bytes),
        size_bytes: None,
        pattern: None,
        aligned_share: None,
        ..first.clone()
    }
}

/// A directory's name, or its end in so many columns: whole parts of the path where they fit.
fn end_of(directory: &str, columns: usize) -> String {
    if directory.width() <= columns {
        return directory.to_owned();
    }
    let path = directory.trim_end_matches('/');
    let parts = path.char_indices().filter(|(_, c)| *c == '/').map(|(at, _)| at);
    let mut ends = parts.map(|at| format!("…{}", &directory[at..]));
    let last = path.rsplit('/').next().unwrap_or_default();
    ends.find(|end| end.width() <= columns).unwrap_or_else(|| {
        let mut end = String::new();
        for c in last.chars().rev() {
            if end.width() + c.width().unwrap_or(0) + 2 > columns {
                break;
            }
            end.insert(0, c);
        }
        format!("…{end}/")
    })
}
