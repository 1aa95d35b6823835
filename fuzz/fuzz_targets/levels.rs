//! The levels of every axis of every workload: anything is read or refused, at a byte that exists.
#![no_main]

use iolab_model::catalog::Part;
use iolab_io::method::METHODS;
use iolab_io::place::PLACES;
use iolab_model::spec::Vocabulary;
use iolab_io::workload::{WORKLOADS, operations};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let parts: Vec<&'static Part> = METHODS.iter().chain(operations()).chain(PLACES).collect();
    for info in WORKLOADS {
        let vocabulary = Vocabulary { info, parts: &parts };
        for axis in info.factors {
            if let Err(error) = vocabulary.levels(axis.factor, text) {
                assert!(error.at <= error.written.len());
            }
        }
    }
});
