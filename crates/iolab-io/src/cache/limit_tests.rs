//! What cannot be reached is said, and costs nothing else.

use std::fs::File;
use std::time::Duration;

use super::{Prober, drain, flag, flag_of_effort, prepare};
use crate::sys::resident::cachestat;
use crate::sys::testing::{
    GO_ON_AS_NOBODY, HeldMapped, among_mounts, as_nobody, open_directory, skip, under_limits,
};
use iolab_model::catalog::{CacheState, Code};

#[test]
fn a_mapped_file_stays_and_says_so() {
    // As an ordinary user: root would drop the whole machine's caches as the last resort.
    let test = "cache::limit_tests::a_mapped_file_stays_and_says_so";
    let Some(dir) = as_nobody(test, |_| {}) else { return };
    let prober = Prober::start(&dir).unwrap();
    std::fs::write(dir.join("mapped"), vec![3; 1 << 20]).unwrap();
    let file = File::open(dir.join("mapped")).unwrap();
    let held = HeldMapped::new(&file, 256 * 1024);
    let proof = prepare(CacheState::Cold, &file, &prober).unwrap();
    // Large folios keep more than what is mapped.
    assert!(proof.before.as_ref().unwrap().resident_bytes >= 256 * 1024, "{proof:?}");
    assert!(proof.reason.as_ref().unwrap().starts_with("partly cold"), "{proof:?}");
    assert_eq!((proof.proven, flag(&proof)), (false, Some(Code::ColdUnproven)));
    drop(held);
    let proof = prepare(CacheState::Cold, &file, &prober).unwrap();
    assert!(proof.reason.is_none() && proof.how == "evict".into(), "{proof:?}");
}

/// Each cold trial of a file that something else had mapped wrote the whole machine back and dropped
/// its page cache again.
#[test]
fn the_machine_s_caches_are_dropped_once_and_it_is_said() {
    let test = "cache::limit_tests::the_machine_s_caches_are_dropped_once_and_it_is_said";
    // In a process of its own, as a run is.
    let Some(dir) = among_mounts(test, "test -w /proc/sys/vm/drop_caches || exit 77") else {
        return;
    };
    let prober = Prober::start(&dir).unwrap();
    std::fs::write(dir.join("mapped"), vec![3; 1 << 20]).unwrap();
    let file = File::open(dir.join("mapped")).unwrap();
    let held = HeldMapped::new(&file, 256 * 1024);
    let first = prepare(CacheState::Cold, &file, &prober).unwrap();
    assert_eq!(
        (first.how, flag_of_effort(&first)),
        ("drop_caches".into(), Some(Code::CachesDropped))
    );
    let second = prepare(CacheState::Cold, &file, &prober).unwrap();
    assert_eq!((second.how, flag_of_effort(&second)), ("evict×6".into(), None));
    assert!(second.reason.as_ref().unwrap().contains("was dropped once in this run"), "{second:?}");
    drop(held);
}

#[test]
fn a_full_file_system_refuses_the_probes_and_is_left_as_it_was() {
    let test = "cache::limit_tests::a_full_file_system_refuses_the_probes_and_is_left_as_it_was";
    let script = "mkdir m; mount -t tmpfs -o size=64k none m || exit 77";
    let Some(dir) = among_mounts(test, script) else { return };
    let fault = Prober::start(&dir.join("m")).unwrap_err();
    assert_eq!(fault.errno, Some(28), "{fault:?}");
    assert_eq!(std::fs::read_dir(dir.join("m")).unwrap().count(), 0);
}

#[test]
fn a_file_size_limit_refuses_the_probes() {
    let test = "cache::limit_tests::a_file_size_limit_refuses_the_probes";
    let Some(dir) = under_limits(test, "trap '' XFSZ; ulimit -f 16") else { return };
    let fault = Prober::start(&dir).unwrap_err();
    assert_eq!(fault.errno, Some(27), "{fault:?}");
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 0);
}

#[test]
fn a_file_that_no_probe_sees_is_never_called_proven() {
    // On an overlay cachestat sees nothing, mincore lies about the files of others, and some
    // kernels have no RWF_NOWAIT there.
    let test = "cache::limit_tests::a_file_that_no_probe_sees_is_never_called_proven";
    let script = format!(
        "mkdir -m 777 lower upper work merged; head -c 1048576 /dev/urandom >lower/of-root
         mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work none merged || exit 77
         {GO_ON_AS_NOBODY}"
    );
    let Some(dir) = among_mounts(test, &script) else { return };
    // Where even its own test files deceive the last probe, a prober refuses to begin.
    let prober = match Prober::start(&dir) {
        Ok(prober) => prober,
        Err(fault) => {
            assert!(fault.to_string().contains("no probe can be believed"), "{fault}");
            return skip(test, "no probe can be believed here");
        }
    };
    let file = File::open(dir.join("merged/of-root")).unwrap();
    let Some(reason) = prober.blind(&file).unwrap() else {
        return skip(test, "a probe sees this file here");
    };
    assert!(reason.contains("--cache any"), "{reason}");
    for state in [CacheState::Cold, CacheState::Warm] {
        let proof = prepare(state, &file, &prober).unwrap();
        assert!(!proof.proven && proof.reason.as_deref() == Some(reason.as_str()), "{proof:?}");
    }
    assert!(prepare(CacheState::Any, &file, &prober).unwrap().proven);
}

#[test]
fn draining_leaves_the_file_clean_and_ends_in_time() {
    let dir = open_directory();
    let path = dir.path().join("dirty");
    std::fs::write(&path, vec![9; 8 << 20]).unwrap();
    let drained = drain(dir.path(), Duration::from_secs(2)).unwrap();
    let file = File::open(&path).unwrap();
    match cachestat(&file) {
        Ok(stat) => assert_eq!((stat.dirty_pages, stat.writeback_pages), (0, 0), "{drained:?}"),
        Err(error) => skip("draining_leaves_the_file_clean_and_ends_in_time", &error.to_string()),
    }
    let missing = drain(std::path::Path::new("/no/such"), Duration::ZERO);
    assert!(missing.is_ok_and(|d| d.drained) || drain(dir.path(), Duration::ZERO).is_ok());
}
