//! Numbers that are fixed by a test, as they are checked in for the document of guarantees.

/// Finds that `proofs.json` says `number` under `name`.
#[track_caller]
pub(crate) fn says(name: &str, number: u64) {
    let proofs: serde_json::Value =
        serde_json::from_str(include_str!("../../proofs.json")).unwrap();
    assert_eq!(
        proofs[name], number,
        "proofs.json, {name}: write {number} there, then run `cargo xtask guarantees`"
    );
}
