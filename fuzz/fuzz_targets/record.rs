//! A run as it is stored.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| (iolab_test::fuzz::target("record").feed)(bytes));
