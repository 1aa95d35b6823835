//! A table of the files: one row each, as Darshan's summaries have it.

use crate::profile::Profile;

const HEAD: &str = "file,kind,size_bytes,calls,reads,read_bytes,writes,written_bytes,\
                    read_again_bytes,pattern,aligned_share,file_ns";

/// One row a file, the dearest first.
pub fn csv(profile: &Profile) -> String {
    let mut text = format!("{HEAD}\n");
    for row in &profile.files {
        let fields = [
            quoted(&row.name),
            row.kind.to_owned(),
            row.size_bytes.map(|bytes| bytes.to_string()).unwrap_or_default(),
            row.calls.to_string(),
            row.reads.to_string(),
            row.read_bytes.to_string(),
            row.writes.to_string(),
            row.written_bytes.to_string(),
            row.read_again_bytes.to_string(),
            row.pattern.map_or("", |pattern| pattern.word()).to_owned(),
            row.aligned_share.map(|share| format!("{share:.4}")).unwrap_or_default(),
            row.file_ns.to_string(),
        ];
        text.push_str(&fields.join(","));
        text.push('\n');
    }
    text
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
