//! A log of strace: anything is read or refused; what is read is written and reads back.
#![no_main]

use iolab_trace::{Limits, Profile, export, parse, read, write};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match parse(bytes, &Limits::default()) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(trace) => {
            let mut file = Vec::new();
            write(&trace, &mut file).expect("memory is written to");
            assert_eq!(read(file.as_slice()).expect("what is written is read"), trace);
            let profile = Profile::of(&trace);
            let _ = export::csv(&profile);
            let _ = export::fio_iolog(&trace);
        }
    }
});
