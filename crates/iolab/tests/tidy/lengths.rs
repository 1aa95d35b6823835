//! Files and functions stay short enough to be read in one go.

use std::collections::BTreeMap;

use crate::{code, report, sources};

const FILE_LINES: usize = 400;
/// Files that are longer, with the length they may not pass and the reason. Only ever lower.
const LONG_FILES: &[(&str, usize)] = &[
    // One synthetic run after another: a list, not a mechanism.
    ("crates/iolab-test/src/documents.rs", 462),
    // One format after another.
    ("crates/iolab/tests/cli/exports.rs", 410),
    // One scene after another of the agent as a process.
    ("crates/iolab/tests/work/agent_process.rs", 554),
    // One mishap of the outside world after another.
    ("crates/iolab/tests/work/faults.rs", 480),
    // One property of all copy methods after another.
    ("crates/iolab/tests/work/copy_methods.rs", 441),
    // One form of claim after another.
    ("crates/iolab/tests/records/study_claims.rs", 560),
    // One scene of the virtual machine after another.
    ("crates/iolab-run/tests/proof/drive.rs", 430),
];

#[test]
fn files_stay_short() {
    let allowed: BTreeMap<_, _> = LONG_FILES.iter().copied().collect();
    let mut faults = Vec::new();
    for (path, text) in sources("src").into_iter().chain(sources("tests")) {
        let name = path.to_str().unwrap();
        let limit = allowed.get(name).copied().unwrap_or(FILE_LINES);
        let lines = code(&text).map(|(number, _)| number).last().unwrap_or(0);
        if lines > limit {
            faults
                .push(format!("{name}: {lines} lines before its tests, at most {limit}: split it"));
        }
    }
    report(&faults);
}
