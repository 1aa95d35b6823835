//! The machine of a run, as far as a reader of a page wants to know it.

use iolab_model::catalog::{Fact, bytes_text};
use iolab_model::result::Document;

/// Processor, how many, memory, kernel and file system, in a line.
pub(super) fn machine(document: &Document) -> String {
    let fact = |fact| document.environment.shown(fact);
    let memory = document.environment.number(Fact::MemoryTotalBytes);
    let parts = [
        fact(Fact::CpuModel),
        fact(Fact::CpuCount).map(|count| match count.as_str() {
            "1" => "1 processor".to_owned(),
            count => format!("{count} processors"),
        }),
        memory.map(|bytes| format!("{} of memory", bytes_text(bytes))),
        fact(Fact::KernelRelease).map(|release| format!("Linux {}", version(&release))),
        fact(Fact::MountFsType),
    ];
    let known: Vec<String> = parts.into_iter().flatten().collect();
    if known.is_empty() { "an unknown machine".into() } else { known.join(", ") }
}

/// `6.18` of `6.18.4-amd64`: what comes behind says who built it.
fn version(release: &str) -> String {
    release.split(['.', '-']).take(2).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::machine;
    use iolab_model::catalog::Fact;

    /// Pages asked for `file_system.type`, which nobody writes, so that none named the file system
    /// that its figures are about.
    #[test]
    fn a_page_names_the_file_system() {
        let mut run = iolab_test::documents::winner();
        run.environment.put(Fact::MountFsType, "nilfs2");
        run.environment.put(Fact::CpuCount, 2);
        let text = machine(&run);
        assert!(text.ends_with("nilfs2") && text.contains("2 processors"), "{text}");
    }
}
