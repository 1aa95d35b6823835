//! The workflow of the guide's gate, step by step as it stands in its file, on a repository whose
//! program became six times as slow and on one where it did not.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use serde::Deserialize;

use crate::cli_support::{Home, IOLAB};

/// A step with commands.
#[derive(Deserialize)]
struct Step {
    name: String,
    run: String,
}

/// The steps' commands as a shell of the build service gets them, by an independent reader of
/// YAML; nothing where there is none.
fn steps(test: &str) -> Option<Vec<Step>> {
    let file = Path::new(crate::cli_support::ROOT).join("docs/guide/gate.yml");
    let yaml = fs::read_to_string(file).unwrap();
    // YAML 1.1 reads the key `on` as a truth.
    let script = "import sys, json, yaml
whole = yaml.safe_load(sys.argv[1])
assert set(whole) == {'name', True, 'permissions', 'concurrency', 'jobs'}, whole.keys()
job, = whole['jobs'].values()
assert all(('run' in step) != ('uses' in step) for step in job['steps']), job
json.dump([step for step in job['steps'] if 'run' in step], sys.stdout)";
    for python in ["/usr/bin/python3", "python3"] {
        match Command::new(python).args(["-c", script, &yaml]).output() {
            Ok(output) if output.status.success() => {
                return Some(serde_json::from_slice(&output.stdout).unwrap());
            }
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                assert!(said.contains("No module named"), "the YAML is not valid: {said}");
            }
            Err(_) => {}
        }
    }
    eprintln!("SKIP {test}: no Python with yaml: apt-get install python3-yaml");
    None
}

fn shell(home: &Home, script: &str) -> Output {
    let bin = Path::new(IOLAB).parent().unwrap().display().to_string();
    let gh = home.path("gh").display().to_string();
    Command::new("bash")
        .args(["-e", "-c", script])
        .current_dir(home.path("work"))
        .env("XDG_STATE_HOME", home.path("state"))
        .env("PATH", format!("{gh}:{bin}:{}", std::env::var("PATH").unwrap()))
        .env("RUNNER_TEMP", home.path("temp"))
        .env("GITHUB_PATH", home.path("path"))
        .env("GITHUB_STEP_SUMMARY", home.path("summary.md"))
        .env("GITHUB_BASE_REF", "main")
        .env("PULL_REQUEST", "7")
        .output()
        .unwrap()
}

/// The command of the build service that writes comments, as far as the workflow uses it: there is
/// one to be edited only once it was written.
const GH: &str = r#"#!/bin/sh
[ "$1 $2 $3" = "pr comment 7" ] || exit 2
shift 3
if [ "$1" = --edit-last ]; then [ -e ../comment.md ] || exit 1; shift; fi
[ "$1" = --body-file ] && cp "$2" ../comment.md
"#;

/// A clone of a repository with a program that reads its file once, and here so many times.
fn repository(home: &Home, times: usize) {
    for name in ["temp", "work", "gh"] {
        fs::create_dir(home.path(name)).unwrap();
    }
    fs::write(home.path("gh/gh"), GH).unwrap();
    fs::set_permissions(home.path("gh/gh"), PermissionsExt::from_mode(0o755)).unwrap();
    let reads = |times| "cat \"$1\" >/dev/null\n".repeat(times);
    fs::create_dir(home.path("origin")).unwrap();
    fs::write(home.path("origin/source"), format!("#!/bin/sh\n{}", reads(1))).unwrap();
    fs::write(home.path("origin/Makefile"), "program: source\n\tinstall -m 755 source program\n")
        .unwrap();
    let git = "git -c user.name=t -c user.email=t@example.com";
    let script = format!(
        "cd ../origin; git init -q -b main .; git add .; {git} commit -qm old
         cd ..; git clone -q origin work"
    );
    let made = shell(home, &script);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    fs::write(home.path("work/source"), format!("#!/bin/sh\n{}", reads(times))).unwrap();
}

fn there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

#[test]
fn the_workflow_of_the_guide_fails_for_what_became_slower_and_only_then() {
    let test = "the_workflow_of_the_guide_fails_for_what_became_slower_and_only_then";
    if !["git", "make", "bash"].into_iter().all(there) {
        return eprintln!("SKIP {test}: it takes git, make and bash");
    }
    let Some(steps) = steps(test) else { return };
    let names: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
    let [install, build, measure, gate, comment] = &steps[..] else { panic!("{names:?}") };
    // What it installs comes over the network: here iolab is built already.
    let parsed = Command::new("bash").args(["-n", "-c", &install.run]).status().unwrap();
    assert!(parsed.success() && install.run.starts_with("cargo install --locked --git"));
    for (times, wanted, words) in [(6, 10, "### ❌ Regression"), (1, 0, "assed")] {
        let home = Home::new();
        repository(&home, times);
        fine(&home, &build.run);
        // A machine that is busy enough spoils the answer, and then the gate says that it saw
        // nothing: what is tested is what it says of a sound one. Four attempts beside other tests on
        // two processors were all open once, with three reads for one.
        for attempt in 1.. {
            let _ = fs::remove_file(home.path("summary.md"));
            let _ = fs::remove_file(home.path("work/data.bin"));
            fine(&home, &measure.run.replace("64Mi", "16Mi"));
            let output = shell(&home, &gate.run.replace("5%", "50%"));
            let summary = fs::read_to_string(home.path("summary.md")).unwrap();
            fine(&home, &comment.run);
            let commented = fs::read_to_string(home.path("comment.md")).unwrap();
            assert_eq!(commented, summary, "written first, edited when it is tried again");
            let open = !["### ❌", "### ✅"].iter().any(|verdict| summary.starts_with(verdict));
            if open && attempt < 12 {
                continue;
            }
            // Of equal programs nothing may be found for ever (0.69 to 1.59 after forty rounds): that is no
            // failure of theirs. What is six times as slow is seen on any machine.
            if !open || wanted != 0 {
                assert_eq!(output.status.code(), Some(wanted), "{summary}");
                assert!(summary.contains(words), "{summary}");
            }
            assert!(wanted != 0 || output.status.code() != Some(10), "{summary}");
            break;
        }
    }
}

fn fine(home: &Home, step: &str) {
    let output = shell(home, step);
    assert!(output.status.success(), "{step}\n{}", String::from_utf8_lossy(&output.stderr));
}
