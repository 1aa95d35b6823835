//! The levels of every axis of every workload: anything is read or refused, at a byte that exists.
#![no_main]

use iolab::catalog::Part;
use iolab::method::METHODS;
use iolab::place::PLACES;
use iolab::spec::Vocabulary;
use iolab::workload::{WORKLOADS, operations};
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
