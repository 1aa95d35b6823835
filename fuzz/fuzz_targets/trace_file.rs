//! The file of a trace, with a sum that is right: anything is read or refused, and can be profiled.
#![no_main]

use iolab_model::catalog::fnv1a;
use iolab_trace::replay::{Advice, Choice, How, Program, Replay, When};
use iolab_trace::{MAGIC, Profile, export, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut file = [MAGIC.as_slice(), &[1], bytes].concat();
    let sum = fnv1a(file.iter().copied());
    file.extend_from_slice(&sum.to_le_bytes());
    match read(file.as_slice()) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(trace) => {
            let profile = Profile::of(&trace);
            let _ = export::csv(&profile);
            let _ = export::fio_iolog(&trace);
            let _ = Replay::of(&trace);
            let choice = Choice {
                how: How::Direct(512),
                block_bytes: Some(4096),
                sync: When::AtEnd,
                readahead: Advice::Random,
                think: true,
                threads: 3,
            };
            let _ = Program::of(&trace, choice);
        }
    }
});
