//! A file of another tool.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| (iolab_test::fuzz::target("import").feed)(bytes));
