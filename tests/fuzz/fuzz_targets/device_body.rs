//! Any text as the body of a device write.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| xd_tests::judges::device_body(text));
