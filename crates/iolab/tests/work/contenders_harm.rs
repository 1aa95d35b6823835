//! Files and trees of the person's are as they were after a command, or it is told.

#![allow(clippy::unwrap_used)]

use crate::cli_support::{Home, Said};

/// "Your file is never written to" was said, and a command had changed it: only its size was looked at.
#[test]
fn a_command_that_changes_the_file_it_reads_is_told() {
    for (act, told) in [
        ("touch \"$0\"", "it was written to"),
        ("chmod a+x \"$0\"", "its attributes"),
        ("printf x | dd of=\"$0\" conv=notrunc status=none", "it was written to"),
    ] {
        let home = Home::new();
        let command = format!("sh -c '{act}' {{file}}");
        let said = {
            home.file("f", 2 << 20);
            let read = ["read", "f", "--method", "read", "--rounds", "10", "--budget", "10s"];
            home.run(&[&read[..], &["--contender", &command]].concat())
        };
        assert_ne!(said.code, Some(0), "{said:?}");
        assert!(said.err.contains(told) || said.out.contains(told), "{act}: {said:?}");
    }
}

/// A file that a command had made in a tree was once not seen, for only those that were there before
/// were looked at.
#[test]
fn a_command_that_changes_a_tree_is_told() {
    let acts = ["touch $0/b", "chmod a+x $0/b", "echo >$0/sub/new", "rm $0/b", "mkdir $0/more"];
    for act in acts {
        let home = Home::new();
        std::fs::create_dir_all(home.path("tree/sub")).unwrap();
        home.file("tree/a", 100);
        home.file("tree/b", 100);
        let command = format!("sh -c '{act}' {{source}}");
        let said = home.run(&["files", "read", "tree", "--contender", &command, "--rounds", "3"]);
        assert_ne!(said.code, Some(0), "{act}: {said:?}");
        let told = "files of it are not as they were";
        assert!(said.err.contains(told) || said.out.contains(told), "{act}: {said:?}");
    }
}

/// Of a tree of many files it is said that they are looked at once, and they are.
#[test]
fn a_command_that_changes_a_large_tree_is_told_at_the_end() {
    let home = Home::new();
    for directory in 0..11 {
        std::fs::create_dir_all(home.path(&format!("tree/{directory}"))).unwrap();
        for file in 0..1000 {
            home.file(format!("tree/{directory}/{file}"), 1);
        }
    }
    let command = "sh -c 'touch $0/7/7' {source}";
    let read = ["files", "read", "tree", "--threads", "1", "--rounds", "3"];
    let said = home.run(&[&read[..], &["--contender", command]].concat());
    assert_eq!(said.code, Some(1), "the answer once stood as if nothing had been: {said:?}");
    assert!(home.run(&["show"]).fine().out.contains("SOURCE_CHANGED"));
    assert!(said.err.contains("looked at at the end, for it has many files"), "{said:?}");
    let told = ["files of it are not as they were", "commands of this run have read it"];
    assert!(told.iter().all(|told| said.err.contains(told)), "{said:?}");
}

/// One that changes nothing is not blamed for what iolab makes beside it, also from within the tree.
#[test]
fn a_command_that_only_reads_a_tree_is_not_blamed() {
    let home = Home::new();
    std::fs::create_dir_all(home.path("tree/sub")).unwrap();
    home.file("tree/a", 100);
    home.file("tree/sub/b", 100);
    let command = "sh -c 'cat $0/a $0/sub/b' {source}";
    for tree in ["tree", "."] {
        let mut run = home.command();
        run.args(["files", "read", tree, "--contender", command, "--rounds", "3"]);
        if tree == "." {
            run.current_dir(home.path("tree"));
        }
        Said::from(run.output().unwrap()).fine();
    }
}
