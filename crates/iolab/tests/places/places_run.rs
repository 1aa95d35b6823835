//! Places as an axis of real runs: each cell on its file system, with its proof, in one record.

#![allow(clippy::unwrap_used)] // also in helpers, which the lint does not take for tests

use crate::cli_support::{Home, Said, document, usable};
use iolab_io::place::{file_system_named, kind_named, memory, vm};
use iolab_model::catalog::Factor;
use iolab_model::result::{AnswerKind, CellStatus, Sample};

const SHORT: [&str; 12] = [
    "read",
    "--file-size",
    "4Mi",
    "--method",
    "pread",
    "--block",
    "64Ki",
    "--rounds",
    "10",
    "--format",
    "json",
    "--place",
];

fn run(home: &Home, more: &[&str]) -> Said {
    home.run(&[&SHORT[..], more].concat())
}

#[test]
fn file_systems_are_levels_of_one_question() {
    if !usable("file_systems_are_levels_of_one_question", &["ext4", "xfs", "tmpfs"]) {
        return;
    }
    let home = Home::new();
    let said = run(&home, &["ext2:size=512Mi,noatime,xfs,tmpfs"]).fine();
    let run = document(&said);
    let places: Vec<&str> =
        run.cells.iter().map(|cell| cell.factors.text(Factor::Place).unwrap()).collect();
    assert_eq!(places, ["ext2:size=512Mi,noatime", "xfs", "tmpfs"]);
    assert!(run.cells.iter().all(|c| c.status == CellStatus::Measured), "{:?}", run.cells);
    assert!(run.cells.iter().all(|c| c.samples.iter().filter(|s| s.counts()).count() >= 10));
    assert_eq!(run.answers.len(), 1);
    assert_eq!(run.answers[0].comparisons.len(), 3);
    let facts = &run.environment.0["place.ext2:size=512Mi,noatime"];
    assert!(facts["mount_options"].as_str().unwrap().contains("noatime"), "{facts}");
    assert_eq!(facts["image_bytes"], 512 << 20);
    let xfs = &run.environment.0["place.xfs"];
    assert_eq!(xfs["image_bytes"], 512 << 20, "one size for all: {xfs}");
    assert_eq!(home.names(), ["state"], "nothing is left");
}

/// Where an image lies on the disk stays with it: one of two equal file systems was faster for a whole
/// run.
#[test]
fn places_that_are_compared_are_made_anew_during_the_run() {
    if !usable("places_that_are_compared_are_made_anew_during_the_run", &["ext4", "overlay"]) {
        return;
    }
    let home = Home::new();
    let places = ["ext4:size=512Mi,ext4:size=512Mi,noatime", "ext4:size=512Mi,overlay:on=ext4"];
    let of = |arguments: &[&str]| {
        let all = [arguments, &["--rounds", "17", "--budget", "2m", "--format", "json"]].concat();
        document(&home.run(&all).fine())
    };
    let read = ["read", "--file-size", "2Mi", "--method", "pread", "--block", "64Ki", "--place"];
    let many = ["files", "create", "--files", "40", "--threads", "1", "--place"];
    for run in [of(&[&read[..], &places[..1]].concat()), of(&[&many[..], &places[1..]].concat())] {
        let facts = run.environment.0.iter();
        let made: Vec<_> = facts.filter(|(key, _)| key.starts_with("place.")).collect();
        assert_eq!(made.len(), 2, "{made:?}");
        for (place, facts) in made {
            assert!(facts["makings"].as_u64().unwrap() >= 5, "{place}: {facts}");
        }
        for cell in &run.cells {
            let counted = cell.samples.iter().filter(|sample| sample.counts()).count();
            assert!(counted >= 17, "{}: {counted}", cell.id);
        }
    }
    // One place is compared with nothing, and a directory is not iolab's to make again.
    for place in ["ext4:size=512Mi", "dir:one,dir:two"] {
        std::fs::create_dir_all(home.path("one")).unwrap();
        std::fs::create_dir_all(home.path("two")).unwrap();
        let run = of(&[&read[..], &[place]].concat());
        let facts = run.environment.0.iter().filter(|(key, _)| key.starts_with("place."));
        assert!(facts.map(|(_, facts)| facts).all(|facts| facts.get("makings").is_none()));
    }
    let left: Vec<_> = std::fs::read_dir(home.path("one")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_remount_is_a_cold_state_with_the_same_proof() {
    let test = "a_remount_is_a_cold_state_with_the_same_proof";
    if !usable(test, &["ext4", "squashfs", "overlay"]) {
        return;
    }
    let home = Home::new();
    let places = "ext4:size=512Mi,squashfs,overlay:on=ext4";
    let said = run(&home, &[places, "--cache", "remount,cold"]).fine();
    let run = document(&said);
    assert_eq!(run.cells.len(), 6);
    for cell in &run.cells {
        let place = cell.factors.text(Factor::Place).unwrap();
        for sample in &cell.samples {
            let proof = sample.measurement.proof.cache.as_ref().unwrap();
            let remount = cell.factors.text(Factor::Cache) == Some("remount");
            assert_eq!(proof.how.remounted, remount, "{proof:?}");
            assert!(proof.proven || place != "ext4:size=512Mi", "{place}: {proof:?}");
        }
    }
    assert_eq!(home.names(), ["state"]);
}

#[test]
fn a_memory_limit_is_a_condition_and_refaults_prove_it() {
    let test = "a_memory_limit_is_a_condition_and_refaults_prove_it";
    if let Err(missing) = memory::cgroup_backend() {
        return eprintln!("SKIP {test}: {missing}");
    }
    let home = Home::new();
    let arguments = [
        "read",
        "--file-size",
        "64Mi",
        "--method",
        "pread",
        "--block",
        "256Ki",
        "--rounds",
        "10",
        "--cache",
        "any",
        "--memory",
        "16Mi,256Mi",
        "--format",
        "json",
    ];
    let run = document(&home.run(&arguments).fine());
    for cell in &run.cells {
        let limit = cell.factors.number(Factor::Memory).unwrap();
        let done = || cell.samples.iter().filter(|sample| sample.fault.is_none());
        assert!(done().count() > 1, "{limit}: {:?}", cell.reason);
        let of = |sample: &Sample, id: &str| sample.measurement.metrics[id];
        assert!(done().all(|sample| of(sample, "limit_peak_bytes") <= limit as f64), "{limit}");
        for id in ["limit_refaults", "device_read_bytes"] {
            let with = done().filter(|sample| of(sample, id) > 0.0).count();
            // Other tests drop the page cache of the machine: a trial of the file that fits reads it again.
            match limit == 16 << 20 {
                true => assert_eq!(with, done().count(), "{id}"),
                false => assert!(with * 2 < done().count(), "{id} in {with} of {}", done().count()),
            }
        }
    }
}

#[test]
fn what_cannot_be_had_is_skipped_with_its_reason() {
    if !usable("what_cannot_be_had_is_skipped_with_its_reason", &["ext4", "squashfs"]) {
        return;
    }
    let home = Home::new();
    let said = run(&home, &["ext4:size=512Mi,device:/dev/null"]);
    // The device is asked for when it is made: its refusal ends the run before the first trial.
    assert_ne!(said.code, Some(0));
    assert!(said.err.contains("/dev/null"), "{said:?}");
    if kind_named("jfs").unwrap().available().is_ok() {
        return eprintln!("SKIP what_cannot_be_had_is_skipped: this kernel has jfs");
    }
    // squashfs keeps the mix out of a virtual machine.
    let run = document(&run(&home, &["ext4:size=512Mi,jfs,squashfs"]).lacking("jfs"));
    assert_eq!(run.cells[1].status, CellStatus::Skipped);
    let reason = run.cells[1].reason.as_deref().unwrap();
    let way_out = reason.contains("--vm") || reason.contains("iolab doctor --install");
    assert!(reason.contains("this kernel has no jfs") && way_out, "{reason}");
}

#[test]
fn a_mix_with_a_file_system_that_this_kernel_lacks_runs_in_a_guest_all_of_it() {
    let test = "a_mix_with_a_file_system_that_this_kernel_lacks";
    if kind_named("jfs").unwrap().available().is_ok() {
        return eprintln!("SKIP {test}: this kernel has jfs");
    }
    if !usable(test, &["ext4"]) {
        return;
    }
    let mkfs = file_system_named("jfs").unwrap().mkfs.find();
    if let Err(missing) = mkfs.map(drop).map_err(|e| e.to_string()).and_then(|()| machine()) {
        return eprintln!("SKIP {test}: {missing}");
    }
    let home = Home::new();
    let run = document(&run(&home, &["ext4:size=512Mi,jfs"]).fine());
    assert!(run.cells.iter().all(|c| c.status == CellStatus::Measured), "{:?}", run.cells);
    assert_eq!(run.answers[0].comparisons.len(), 1);
    assert!(run.environment.0.contains_key("guest.kernel"));
    // A guest that was started again found the files of the one before on its disks.
    for place in ["place.ext4:size=512Mi", "place.jfs"] {
        let facts = &run.environment.0[place];
        assert!(facts["makings"].as_u64() > Some(1), "{facts}");
    }
    assert_eq!(home.names(), ["state"], "nothing is left");
}

fn machine() -> Result<(), String> {
    vm::available().map_err(|e| e.to_string())?;
    vm::Kernel::find(None, None).map(drop).map_err(|e| e.to_string())
}

#[test]
fn the_plan_says_what_images_take_and_refuses_what_does_not_fit() {
    if !usable("the_plan_says_what_images_take", &["ext4", "xfs"]) {
        return;
    }
    let home = Home::new();
    let places = |places: &str| {
        home.run(&["read", "--file-size", "4Mi", "--place", places, "--plan"]).fine()
    };
    let plan = places("ext4:size=1Gi,xfs:size=1Gi");
    assert!(plan.out.contains("takes 2.0") || plan.out.contains("takes 2 GiB"), "{plan:?}");
    // As large as there is room for.
    let plan = places("ext4,xfs");
    assert!(
        ["2", "4", "8", "16", "32"].iter().any(|n| plan.out.contains(&format!("takes {n} GiB")))
    );
    assert!(plan.out.contains("namespace"), "{plan:?}");
    let large = ["read", "--file-size", "600Mi", "--place", "ext4:size=512Mi", "--plan"];
    let said = home.run(&large);
    assert!(said.err.contains("does not fit into ext4"), "{said:?}");
    let said = home.run(&["read", "--place", "ext5", "--plan"]);
    assert!(said.code == Some(2) && said.err.contains("did you mean ext"), "{said:?}");
    let file = home.file("f", 4096);
    let said = home.run(&["read", file.to_str().unwrap(), "--place", "ext4"]);
    assert!(said.code == Some(2) && said.err.contains("--file-size"), "{said:?}");
    let said = home.run(&["read", "--file-size", "4Mi", "--cache", "remount", "--plan"]);
    assert!(said.err.contains("not mounted by iolab"), "{said:?}");
}

/// 2 GiB within 512 MiB had no answer: a state was planned that cannot be had there. Here a file of
/// 64 MiB within 16.
#[test]
fn what_does_not_fit_into_its_memory_has_an_answer_and_a_state_that_is_said() {
    let test = "what_does_not_fit_into_its_memory_has_an_answer_and_a_state_that_is_said";
    if let Err(missing) = memory::cgroup_backend() {
        return eprintln!("SKIP {test}: {missing}");
    }
    let home = Home::new();
    let read = ["read", "--file-size", "64Mi", "--memory", "16Mi", "--method", "pread,mmap"];
    let read = [&read[..], &["--block", "256Ki", "--budget", "20s"]].concat();
    let plan = home.run(&[&read[..], &["--plan"]].concat()).fine();
    let state = "cache is what reading leaves there: a file of 64 MiB is never warm within 16 MiB";
    assert!(plan.plain().contains(state), "{plan:?}");
    let run = document(&home.run(&[&read[..], &["--format", "json"]].concat()).fine());
    let answer = &run.answers[0];
    let pick = answer.pick.as_ref().unwrap_or_else(|| panic!("{}", answer.sentence));
    assert!(pick.at_most.is_finite() && answer.kind != AnswerKind::Invalid, "{answer:?}");
}

#[test]
fn a_ratio_makes_the_limit_follow_the_file() {
    let test = "a_ratio_makes_the_limit_follow_the_file";
    if let Err(missing) = memory::cgroup_backend() {
        return eprintln!("SKIP {test}: {missing}");
    }
    let home = Home::new();
    let arguments = ["read", "--file-size", "64Mi", "--method", "pread", "--block", "256Ki"];
    let more = ["--cache", "any", "--rounds", "4", "--format", "json", "--memory", "0.25x,4x"];
    let run = document(&home.run(&[&arguments[..], &more].concat()).fine());
    let peak = |ratio: &str| {
        let with =
            |c: &&iolab_model::result::CellRecord| c.factors.text(Factor::Memory) == Some(ratio);
        let cell = run.cells.iter().find(with).unwrap();
        let samples = cell.samples.iter().filter(|sample| sample.fault.is_none());
        let all = samples.map(|s| {
            (s.measurement.metrics["limit_peak_bytes"], s.measurement.metrics["limit_refaults"])
        });
        all.fold((0.0_f64, 0.0_f64), |a, b| (a.0.max(b.0), a.1.max(b.1)))
    };
    let (small, large) = (peak("4x"), peak("0.25x"));
    assert!(small.0 > 0.0 && small.0 <= f64::from(16 << 20) && small.1 > 0.0, "{small:?}");
    assert!(large.0 > f64::from(16 << 20) || large.1 == 0.0, "{large:?}");
    home.run(&["read", "--memory", "0x", "--plan"]).refused(2, &["--memory"]);
}
