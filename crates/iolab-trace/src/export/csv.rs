//! A table of the files: one row each, as Darshan's summaries have it.

use crate::profile::{FileRow, Profile};

/// One row a file, the dearest first: what JSON says of it, column by column.
pub fn csv(profile: &Profile) -> String {
    let head = fields(&FileRow::default()).map(|(name, _)| name);
    let mut text = head.join(",") + "\n";
    for row in &profile.files {
        text += &fields(row).map(|(_, value)| value).join(",");
        text.push('\n');
    }
    text
}

fn fields(row: &FileRow) -> [(&'static str, String); 20] {
    let pattern = row.pattern.map_or("", |pattern| pattern.word());
    [
        ("file", quoted(&row.name)),
        ("of_start", row.of_start.to_string()),
        ("kind", row.kind.to_owned()),
        ("size_bytes", row.size_bytes.map(|bytes| bytes.to_string()).unwrap_or_default()),
        ("calls", row.calls.to_string()),
        ("reads", row.reads.to_string()),
        ("read_bytes", row.read_bytes.to_string()),
        ("writes", row.writes.to_string()),
        ("written_bytes", row.written_bytes.to_string()),
        ("read_again_bytes", row.read_again_bytes.to_string()),
        ("small_reads", row.small_reads.to_string()),
        ("small_writes", row.small_writes.to_string()),
        ("syncs", row.syncs.to_string()),
        ("opens", row.opens.to_string()),
        ("looked_up", row.looked_up.to_string()),
        ("pattern", pattern.to_owned()),
        ("aligned_share", row.aligned_share.map(|share| share.to_string()).unwrap_or_default()),
        ("file_ns", row.file_ns.to_string()),
        ("first_ns", row.first_ns.to_string()),
        ("last_ns", row.last_ns.to_string()),
    ]
}

/// A text as CSV has it; one that a spreadsheet would run begins with an apostrophe.
fn quoted(text: &str) -> String {
    let runs = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if runs { format!("'{text}") } else { text.to_owned() };
    match text.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}
