//! The document itself. Numbers without a finite value are left out before they become `null`.

use std::io::{self, BufWriter, Write};

use super::{Format, TextStyle};
use iolab_model::result::Document;

pub(super) const FORMAT: Format =
    Format { id: "json", summary: "everything, in the format iolab.run/1", binary: false, write };

fn write(doc: &Document, _: &TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let out = &mut BufWriter::new(out);
    // An error of the writer comes back as it was, so that a closed pipe is known as one.
    serde_json::to_writer_pretty(&mut *out, &doc.finite()).map_err(io::Error::from)?;
    out.write_all(b"\n")?;
    out.flush()
}
