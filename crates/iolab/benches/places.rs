//! What a place costs: an image of 1 GiB made, mounted and taken down, beside its mkfs tool's own
//! time; a fresh upper layer of an overlay. Prints a Markdown table with PASS or FAIL; the exit
//! status is 1 where one fails.
//!
//! `cargo bench --bench places`, as root. The tools' time is taken by programs of the same names
//! that stand first in PATH, run the real ones and write down how long they took.

#![allow(clippy::unwrap_used)] // a bench that cannot go on should stop loudly

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use iolab_io::place::{Consent, IMAGE_BYTES, Mounts, PLACES, Place, PlaceOrder, make};
use iolab_model::catalog::parse_place;

const ROUNDS: usize = 11;
const RENEWALS: usize = 51;
const IMAGES: [(&str, &str); 3] =
    [("ext4", "mkfs.ext4"), ("xfs", "mkfs.xfs"), ("btrfs", "mkfs.btrfs")];
const OVERLAYS: [&str; 3] = ["overlay", "overlay+metacopy", "overlay:lower=xfs,upper=ext4"];
const LOG: &str = "IOLAB_BENCH_TOOL_LOG";

fn main() -> ExitCode {
    match std::env::var_os(LOG) {
        Some(log) => measured(Path::new(&log)),
        None => with_timed_tools(),
    }
}

/// This program again, with the timing tools first in PATH.
fn with_timed_tools() -> ExitCode {
    let tools = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let log = tools.path().join("log");
    for (_, name) in IMAGES {
        let script = format!(
            "#!/bin/sh\nbegan=$(date +%s%N)\n/sbin/{name} \"$@\"\nstatus=$?\n\
             echo $(($(date +%s%N) - began)) >\"${LOG}\"\nexit $status\n"
        );
        let path = tools.path().join(name);
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut path = OsString::from(tools.path());
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut again = Command::new(std::env::current_exe().unwrap());
    let status = again.env("PATH", path).env(LOG, &log).status().unwrap();
    ExitCode::from(u8::from(!status.success()))
}

fn measured(log: &Path) -> ExitCode {
    let mounts = Mounts::enter().unwrap();
    let ground = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    println!("| place | whole | mkfs alone | beyond it | limit | |");
    println!("| --- | ---: | ---: | ---: | ---: | --- |");
    let mut times = vec![Vec::new(); IMAGES.len()];
    for round in 0..ROUNDS {
        for turn in 0..IMAGES.len() {
            let at = (round + turn) % IMAGES.len();
            let start = Instant::now();
            let mut place = place(IMAGES[at].0, ground.path(), mounts);
            place.take_down().unwrap();
            drop(place);
            let whole_ms = start.elapsed().as_secs_f64() * 1e3;
            let tool_ns: f64 = fs::read_to_string(log).unwrap().trim().parse().unwrap();
            times[at].push((whole_ms, tool_ns / 1e6));
        }
    }
    let mut good = true;
    for ((name, _), times) in IMAGES.iter().zip(times) {
        let beyond = median(times.iter().map(|(whole, tool)| whole - tool));
        let (whole, tool) = (median(times.iter().map(|t| t.0)), median(times.iter().map(|t| t.1)));
        good &= row(&format!("{name}, 1 GiB"), [whole, tool], beyond, 1000.0);
    }
    for text in OVERLAYS {
        let renewed = median(renewals(text, ground.path(), mounts).into_iter());
        good &= row(&format!("{text}: a fresh upper layer"), [renewed, 0.0], renewed, 10.0);
    }
    ExitCode::from(u8::from(!good))
}

fn place(text: &str, ground: &Path, mounts: Mounts) -> Box<dyn Place> {
    let ids: Vec<&str> = PLACES.iter().map(|part| part.id).collect();
    let level = parse_place(text, &ids).unwrap();
    let consent = Consent::default();
    make(&PlaceOrder { level: &level, ground, image_bytes: IMAGE_BYTES, consent: &consent, mounts })
        .unwrap()
}

/// Milliseconds of each renewal, after a file was copied up.
fn renewals(text: &str, ground: &Path, mounts: Mounts) -> Vec<f64> {
    let mut place = place(text, ground, mounts);
    let file = |place: &dyn Place| -> PathBuf { place.root().join("file") };
    fs::write(file(&*place), vec![0x5a; 1 << 20]).unwrap();
    place.seal().unwrap();
    let one = |_| {
        fs::set_permissions(file(&*place), fs::Permissions::from_mode(0o600)).unwrap();
        let start = Instant::now();
        place.renew().unwrap();
        start.elapsed().as_secs_f64() * 1e3
    };
    let times = (0..RENEWALS).map(one).collect();
    place.take_down().unwrap();
    times
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    iolab_stats::median(&values.collect::<Vec<_>>()).unwrap()
}

fn row(name: &str, [whole, tool]: [f64; 2], beyond: f64, limit: f64) -> bool {
    let good = beyond < limit;
    let verdict = if good { "PASS" } else { "FAIL" };
    println!(
        "| {name} | {whole:.1} ms | {tool:.1} ms | {beyond:.1} ms | {limit:.0} ms | {verdict} |"
    );
    good
}
