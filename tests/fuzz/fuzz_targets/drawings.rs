//! Any bytes in every field of every drawing.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| xd_tests::drawings::any_text(bytes));
