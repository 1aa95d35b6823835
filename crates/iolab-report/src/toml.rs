//! What the run was asked, as a file of experiments: `iolab run FILE.toml` makes it again.

use std::io::{self, Write};

use super::{Format, TextStyle};
use iolab_model::result::Document;
use iolab_model::spec::file;

pub(super) const FORMAT: Format = Format {
    id: "toml",
    summary: "what was asked: iolab run FILE.toml makes it again",
    binary: false,
    write,
};

fn write(doc: &Document, _: &TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let text = file::write(&file::from_document(doc));
    let made = format!("# From run {}, made {}.\n", doc.run.id, doc.run.started.escape_debug());
    out.write_all((made + &text).as_bytes())?;
    out.flush()
}
