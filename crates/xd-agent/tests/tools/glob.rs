//! `glob`: which files fit a pattern.

use serde_json::json;

use crate::Room;

#[tokio::test]
async fn files_are_listed_by_pattern_sorted_and_paged() {
    let room = Room::new(&[
        ("b.rs", ""),
        ("a.rs", ""),
        ("src/deep/c.rs", ""),
        ("src/d.ts", ""),
        (".hidden.rs", ""),
        (".gitignore", "out\n"),
        ("out/e.rs", ""),
    ]);
    for (arguments, files) in [
        (json!({ "pattern": "*.rs" }), &["a.rs", "b.rs", "src/deep/c.rs"][..]),
        (json!({ "pattern": "src/**/*.rs" }), &["src/deep/c.rs"]),
        (json!({ "pattern": "src/*.{rs,ts}" }), &["src/d.ts"]),
        (json!({ "pattern": ["*.rs", "!b.rs"] }), &["a.rs", "src/deep/c.rs"]),
        (json!({ "pattern": "*", "path": "src" }), &["src/d.ts", "src/deep/c.rs"]),
        (json!({ "pattern": "deep/", "path": "src" }), &["src/deep/c.rs"]),
        (json!({ "pattern": "/a.rs" }), &["a.rs"]),
        (json!({ "pattern": ".hid*", "hidden": true }), &[".hidden.rs"]),
    ] {
        let text = room.text("glob", arguments.clone()).await;
        let listed: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).collect();
        assert_eq!(listed, files, "{arguments}: {text}");
    }
    let none = room.text("glob", json!({ "pattern": "*.py" })).await;
    assert_eq!(none, "No files match. Hidden and ignored files are not looked at.");
    let page = room.text("glob", json!({ "pattern": "*.rs", "limit": 1, "offset": 1 })).await;
    assert_eq!(page, "b.rs\n\n3 files. Shown are 2 to 2; the rest: the same call with offset 2.");
}
