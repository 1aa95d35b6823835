//! The machine of a run, as far as a reader of a page wants to know it.

use iolab_model::catalog::bytes_text;
use iolab_model::result::Document;

/// Processor, how many, memory, kernel and file system, in a line.
pub(super) fn machine(document: &Document) -> String {
    let value = |key: &str| document.environment.0.get(key);
    let fact = |key: &str| {
        let value = value(key)?;
        Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    };
    let memory = value("memory.total_bytes").and_then(serde_json::Value::as_u64);
    let parts = [
        fact("cpu.model"),
        fact("cpu.count").map(|count| match count.as_str() {
            "1" => "1 processor".to_owned(),
            count => format!("{count} processors"),
        }),
        memory.map(|bytes| format!("{} of memory", bytes_text(bytes))),
        fact("kernel.release").map(|release| format!("Linux {}", version(&release))),
        fact("mount.fs_type"),
    ];
    let known: Vec<String> = parts.into_iter().flatten().collect();
    if known.is_empty() { "an unknown machine".into() } else { known.join(", ") }
}

/// `6.18` of `6.18.4-amd64`: what comes behind says who built it.
fn version(release: &str) -> String {
    release.split(['.', '-']).take(2).collect::<Vec<_>>().join(".")
}
