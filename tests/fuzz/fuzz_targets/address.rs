//! Any text as a path: the gate, the dispatcher, the tier and the renderer agree.
#![no_main]

use std::cell::OnceCell;

use libfuzzer_sys::fuzz_target;
use xd_tests::judges::Judges;

thread_local! {
    static JUDGES: OnceCell<Judges> = const { OnceCell::new() };
}

fuzz_target!(|path: &str| {
    JUDGES.with(|judges| judges.get_or_init(Judges::new).agree(path));
});
