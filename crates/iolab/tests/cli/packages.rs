//! What `make dist` packs, made here of the program under test: the package's files, what the manual
//! and the completions say, and that both run in a root directory where nothing else is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::cli_support::{Home, IOLAB, ROOT};
use crate::exports::recorded;

fn there(test: &str, programs: &[&str]) -> bool {
    let missing = programs.iter().find(|p| Command::new(p).arg("--version").output().is_err());
    missing.inspect(|missing| eprintln!("SKIP {test}: {missing} is not installed")).is_none()
}

fn script(name: &str, arguments: &[&Path]) -> Output {
    let script = Path::new(ROOT).join("scripts").join(name);
    Command::new("sh").arg(script).args(arguments).env("DEB_FLAGS", "-Znone").output().unwrap()
}

fn fine(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The package and what it unpacks to.
fn packed(home: &Home) -> (PathBuf, PathBuf) {
    let package = fine(&script("deb.sh", &[Path::new(IOLAB), &home.path("out")]));
    let package = PathBuf::from(package.trim());
    let root = home.path("root");
    fine(&Command::new("dpkg-deb").arg("-x").args([&package, &root]).output().unwrap());
    (package, root)
}

#[test]
fn a_package_has_the_program_its_manual_and_its_completions() {
    let test = "a_package_has_the_program_its_manual_and_its_completions";
    if !there(test, &["dpkg-deb", "gzip", "bash"]) {
        return;
    }
    let home = Home::new();
    let (package, root) = packed(&home);
    let field = |name: &str| {
        let output = Command::new("dpkg-deb").arg("-f").arg(&package).arg(name).output();
        fine(&output.unwrap()).trim().to_owned()
    };
    assert_eq!(field("Package"), "iolab");
    assert_eq!(field("Version"), env!("CARGO_PKG_VERSION"));
    assert!(field("Depends").contains("libc6"), "this one is not static");
    assert_eq!(fs::read(root.join("usr/bin/iolab")).unwrap(), fs::read(IOLAB).unwrap());
    // A page for the whole and one for each subcommand that it names.
    let page = |name: &str| {
        let path = root.join(format!("usr/share/man/man1/{name}.1.gz"));
        fine(&Command::new("gzip").arg("-dc").arg(path).output().unwrap())
    };
    let whole = page("iolab");
    let named = whole.lines().filter_map(|line| line.strip_suffix("(1)"));
    let named: Vec<String> = named.map(|name| name.replace('\\', "")).collect();
    assert!(named.len() >= 20, "{named:?}");
    for name in &named {
        assert!(page(name).contains(".SH SYNOPSIS"), "{name}");
    }
    assert!(page("iolab-read").contains("big.iso"), "the examples of the help are in the manual");
    let completion = root.join("usr/share/bash-completion/completions/iolab");
    let typed = "source \"$0\"; COMP_WORDS=(iolab chec); COMP_CWORD=1; _iolab iolab chec iolab; \
                 echo ${COMPREPLY[@]}";
    let completed = Command::new("bash").arg("-c").arg(typed).arg(completion).output().unwrap();
    assert_eq!(fine(&completed).trim(), "checksum");
    for other in ["zsh/vendor-completions/_iolab", "fish/vendor_completions.d/iolab.fish"] {
        let text = fs::read_to_string(root.join("usr/share").join(other)).unwrap();
        assert!(text.contains("checksum"), "{other}");
    }
}

#[test]
fn a_package_and_its_program_alone_run_in_a_bare_root() {
    let test = "a_package_and_its_program_alone_run_in_a_bare_root";
    if !there(test, &["dpkg-deb", "gzip", "unshare", "ldd"]) {
        return;
    }
    let home = Home::new();
    let (package, _) = packed(&home);
    let output = script("bare-root.sh", &[Path::new(IOLAB), &package]);
    let said = fine(&output);
    let errors = String::from_utf8_lossy(&output.stderr);
    if let Some(skipped) = errors.lines().find_map(|line| line.strip_prefix("SKIP ")) {
        return eprintln!("SKIP {test}: {skipped}");
    }
    assert!(said.contains("run where nothing else is"), "{said}{errors}");
}

/// A build leaves Parquet out unless it is asked for.
#[test]
fn what_this_build_lacks_is_named_with_what_brings_it() {
    let home = Home::new();
    recorded(&home, &iolab_test::scenes::blocks());
    let said = home.run(&["report", "1", "--export", "parquet=one.parquet"]);
    if cfg!(feature = "parquet") {
        said.fine();
        assert!(home.path("one.parquet").exists());
    } else {
        said.refused(2, &["parquet", "built without it", "--features parquet"]);
    }
}
