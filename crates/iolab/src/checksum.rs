//! `iolab checksum FILE…`: what files hold, in short.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::terminal_io::{self, Ending, Exit, Failure};
use iolab_io::tool;
use iolab_model::catalog::{bytes_text, count_text, path_to_text};
use iolab_model::spec;

/// A call moves at most so much; also the memory that it takes.
const GREATEST_BLOCK: u64 = 1 << 30;

/// Digest files: XOR of the 4-byte words, and CRC-32C
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  iolab checksum big.iso\n  iolab checksum big.iso --block 64Ki --count 100   the first 100 blocks\n\nBoth digests are those of iolab read --consume xor and crc32c, whatever the\nblock size."
)]
pub struct Checksum {
    /// The files; never written to
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,
    /// Bytes per call [default: 128Ki]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    block: Option<String>,
    /// Only so many blocks, from the start
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    count: Option<String>,
}

impl Checksum {
    /// Prints a line for each file.
    ///
    /// # Errors
    /// A file cannot be read; the others are digested.
    pub fn run(self) -> Ending {
        let block = block(self.block.as_deref(), 128 << 10)?;
        let count = self.count.as_deref().map(spec::parse_count).transpose();
        let count = count.map_err(|error| Failure::usage(error.of("--count")))?;
        let mut ending = Ok(Exit::Done);
        for file in &self.files {
            match tool::checksum(file, block, count) {
                Ok(digests) => drop(terminal_io::data(|out| {
                    writeln!(
                        out,
                        "xor {}  crc32c {}  {} bytes in {} blocks of {}  {}",
                        digests.xor,
                        digests.crc32c,
                        digests.bytes,
                        count_text(digests.blocks),
                        bytes_text(block),
                        path_to_text(file)
                    )
                })?),
                Err(fault) => {
                    let failure = Failure::usage(fault);
                    failure.tell();
                    ending = Err(Failure::said(failure.exit()));
                }
            }
        }
        ending
    }
}

/// A block size as written.
///
/// # Errors
/// It is none that a call can have.
pub fn block(text: Option<&str>, usual: u64) -> Result<u64, Failure> {
    let Some(text) = text else { return Ok(usual) };
    match spec::parse_bytes(text).map_err(|error| Failure::usage(error.of("--block")))? {
        0 => Err(Failure::usage("--block '0': zero makes no sense here; write 64Ki")),
        block if block <= GREATEST_BLOCK => Ok(block),
        _ => Err(Failure::usage(format!("--block '{text}': too large; the most is 1Gi"))),
    }
}
