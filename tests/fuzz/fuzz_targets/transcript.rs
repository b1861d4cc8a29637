//! Any bytes as a transcript.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| xd_tests::judges::transcript(bytes));
