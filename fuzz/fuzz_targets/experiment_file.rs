//! A file of experiments: anything is read or refused; what is read is written and reads back.
#![no_main]

use std::path::PathBuf;

use iolab_model::catalog::Part;
use iolab_io::method::METHODS;
use iolab_io::place::PLACES;
use iolab_model::spec::file::{Loaded, Words, read, write};
use iolab_io::workload::{WORKLOADS, operations};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let parts: Vec<&'static Part> = METHODS.iter().chain(operations()).chain(PLACES).collect();
    let words = Words { workloads: WORKLOADS, parts: &parts };
    let file = |text: &str| Loaded {
        name: "f".into(),
        identity: PathBuf::from("f"),
        text: text.into(),
    };
    // Every file includes itself, so that includes are walked too.
    let mut load = |from: &Loaded, _: &str| Ok(from.clone());
    match read(&file(text), words, 1, &mut load) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(all) => {
            for one in all {
                let again = read(&file(&write(&one)), words, 1, &mut load);
                let again = again.unwrap_or_else(|error| panic!("{error}\n{}", write(&one)));
                assert_eq!(again[0].experiment, one.experiment);
            }
        }
    }
});
