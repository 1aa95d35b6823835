//! The levels of every axis of every workload.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| (iolab_test::fuzz::target("levels").feed)(bytes));
