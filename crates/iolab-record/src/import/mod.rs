//! Files of other machines and of other tools, as documents: iolab's own JSON, fio's, Google
//! Benchmark's. What a file does not say is left out, never guessed.

mod build;
mod error;
mod fio;
mod google_benchmark;
mod iolab;
mod name;
mod number;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;

pub use error::ImportError;

use iolab_model::catalog::{Fact, path_to_text};
use iolab_model::result::Document;

/// A kind of file that is understood, and who writes it.
#[derive(Clone, Copy, Debug)]
pub struct ImportFormat {
    /// Whose it is.
    pub of: &'static str,
    /// What writes one.
    pub written_by: &'static str,
}

/// Every kind of file.
pub const FORMATS: [ImportFormat; 3] = [
    ImportFormat { of: "iolab", written_by: "iolab export RUN json=FILE" },
    ImportFormat { of: "fio", written_by: "fio --output-format=json" },
    ImportFormat { of: "Google Benchmark", written_by: "--benchmark_out=FILE" },
];

/// `iolab (`…`), fio (`…`) or Google Benchmark (`…`)`.
fn formats_text() -> String {
    let each = FORMATS.map(|format| format!("{} (`{}`)", format.of, format.written_by));
    iolab_model::catalog::list_text(&each)
}

/// A file larger than this is refused: a run of 4096 cells and 1000 rounds is smaller.
const MOST_BYTES: u64 = 2 << 30;

/// The runs in a file; several where a tool measured several kinds of work at once.
///
/// # Errors
/// The file cannot be read, or is not what any of the formats is; it names the place.
pub fn read(path: &Path) -> Result<Vec<Document>, ImportError> {
    let name = path_to_text(path);
    let text = text_of(path, &name)?;
    let mut documents = parse(&text, &name)?;
    let file = path.file_name().map_or_else(|| name.clone(), |f| path_to_text(Path::new(f)));
    for document in &mut documents {
        document.run.id = 0;
        document.environment.put(Fact::ImportFile, file.clone());
    }
    Ok(documents)
}

/// The one run in a file.
///
/// # Errors
/// As [`read`]; or the file has several runs.
pub fn read_one(path: &Path) -> Result<Document, ImportError> {
    let mut documents = read(path)?;
    match documents.pop() {
        Some(one) if documents.is_empty() => Ok(one),
        _ => Err(ImportError::Several { file: path_to_text(path) }),
    }
}

fn text_of(path: &Path, name: &str) -> Result<String, ImportError> {
    let fault = |source| ImportError::Read { file: name.to_owned(), source };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(fault)?;
    // Told before it fills the memory; what has no length is read as far as it may be.
    if file.metadata().map_err(fault)?.len() > MOST_BYTES {
        return Err(ImportError::TooLarge { file: name.to_owned() });
    }
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(fault)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(ImportError::TooLarge { file: name.to_owned() });
    }
    String::from_utf8(bytes).map_err(|e| ImportError::Bad {
        file: name.to_owned(),
        what: format!("byte {} is not UTF-8 text", e.utf8_error().valid_up_to()),
    })
}

/// What tells the formats apart.
#[derive(Deserialize)]
struct Probe {
    schema: Option<serde_json::Value>,
    #[serde(rename = "fio version")]
    fio: Option<IgnoredAny>,
    benchmarks: Option<IgnoredAny>,
}

fn parse(text: &str, name: &str) -> Result<Vec<Document>, ImportError> {
    if fio::is_job(text) {
        return Err(ImportError::FioJob { file: name.to_owned() });
    }
    // fio writes its warnings into the same file, before the JSON.
    let start = text.find('{').ok_or_else(|| ImportError::NotJson {
        file: name.to_owned(),
        cause: "there is no JSON object in it".to_owned(),
    })?;
    let json = &text[start..];
    // The form that other tools write is tried where the strict one fails.
    match parse_json(json, name) {
        Err(error @ (ImportError::NotJson { .. } | ImportError::Bad { .. })) => {
            number::with_null(json).map_or(Err(error), |json| parse_json(&json, name))
        }
        other => other,
    }
}

fn parse_json(json: &str, name: &str) -> Result<Vec<Document>, ImportError> {
    let not_json = |e: serde_json::Error| ImportError::NotJson {
        file: name.to_owned(),
        cause: format!("{e} (counted from the first brace)"),
    };
    let probe = serde_json::Deserializer::from_str(json).into_iter::<Probe>().next();
    let probe = match probe {
        Some(probe) => probe.map_err(not_json)?,
        None => return Err(ImportError::Unknown { file: name.to_owned() }),
    };
    match probe {
        Probe { schema: Some(schema), .. } => iolab::read(json, &schema, name),
        Probe { fio: Some(_), .. } => fio::read(json, name),
        Probe { benchmarks: Some(_), .. } => google_benchmark::read(json, name),
        _ => Err(ImportError::Unknown { file: name.to_owned() }),
    }
}
