//! One edit on bytes: places, line ends, encodings, and what an edit that fails says.
#![allow(clippy::unwrap_used, reason = "a helper of a test fails as the test does")]

use xd_changeset::apply_edits;
use xd_text_edit::{Edit, EditFault};

fn edited(file: impl AsRef<[u8]>, old: &str, new: &str) -> Result<Vec<u8>, EditFault> {
    let file = file.as_ref();
    let done = Edit::new("f", old, new).apply_to_bytes(file, 100)?;
    Ok(apply_edits(file, &done.edits).unwrap())
}

fn said(file: impl AsRef<[u8]>, old: &str, new: &str) -> String {
    edited(file, old, new).unwrap_err().to_string()
}

// Invariant T1, case 11
#[test]
fn invariant_t1_case_011_an_ambiguous_text_is_refused_with_its_lines() {
    let text = said("q\nq\nq\n", "q\nq\n", "x\n");
    assert_eq!(
        text,
        "old_text occurs 2 times (lines 1, 2); add lines around it until it is unique, or set \
         replace_all to change every one"
    );
    let many = said("x\n".repeat(30), "x", "y");
    assert!(many.contains("30 times (lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 20 more)"), "{many}");
    // Endings do not tell two places apart: a reader of the file does not see them.
    assert!(said("a\r\nb\na\nb\n", "a\nb\n", "c\n").contains("2 times (lines 1, 3)"));
    assert_eq!(edited("q\nq\nr\n", "q\nr\n", "x\n").unwrap(), b"q\nx\n");
}

#[test]
fn replace_all_goes_from_left_to_right_and_says_what_overlapped() {
    let done = Edit::new("f", "aa", "b").everywhere().apply_to_bytes(b"aaaaa", 100).unwrap();
    assert_eq!(apply_edits(b"aaaaa", &done.edits).unwrap(), b"bba");
    assert_eq!(done.edits.len(), 2);
    assert_eq!(
        done.note().unwrap(),
        "2 occurrences of old_text overlapped a replaced one and went with it"
    );
    let plain = Edit::new("f", "a", "b").everywhere().apply_to_bytes(b"a.a", 100).unwrap();
    assert_eq!((plain.edits.len(), plain.note()), (2, None));
    let most = Edit::new("f", "a", "b").everywhere().apply_to_bytes(b"aaaa", 3).unwrap_err();
    assert_eq!(most, EditFault::TooMany { total: 4, most: 3 });
    let huge = Edit::new("f", "a", "b".repeat(1 << 20)).everywhere();
    assert!(matches!(huge.apply_to_bytes(&[b'a'; 100], 100), Err(EditFault::TooLong { .. })));
}

// CONTRACT F4, cases 135, 137, 139; Invariant T2
#[test]
fn invariant_t2_case_137_only_the_match_changes() {
    for (file, old, new, expect) in [
        ("a\r\nb\r\nc\r\n", "b\n", "x\ny\n", "a\r\nx\r\ny\r\nc\r\n"),
        ("a\r\nb\r\nc\r\n", "b\r\n", "x\ny\n", "a\r\nx\r\ny\r\nc\r\n"),
        ("a\nb\nc\n", "a\r\nb\r\n", "x\r\ny\r\n", "x\ny\nc\n"),
        ("a\r\nb\nc\r\n", "b", "B", "a\r\nB\nc\r\n"),
        ("a\r\nb\nc\r\n", "a\nb\nc\n", "a\nB\nc\n", "a\r\nB\nc\r\n"),
        ("a\r\nb\nc\r\n", "b\n", "x\ny\n", "a\r\nx\ny\nc\r\n"),
        ("a\r\nb", "b", "x\ny", "a\r\nx\r\ny"),
        ("\u{feff}a\nb\n", "a\n", "A\n", "\u{feff}A\nb\n"),
        ("a\nlast", "last", "LAST", "a\nLAST"),
        ("a\nb\n", "a\n", "", "b\n"),
        ("a\r\nb\r\n", "a\n", "", "b\r\n"),
        ("one two", "one ", "", "two"),
        // A lone carriage return is a byte like any other.
        ("a\rb\n", "a\rb", "x\ry", "x\ry\n"),
        ("x 𝄞 y\n", "𝄞", "🎵🎶", "x 🎵🎶 y\n"),
        // Line ends themselves are changed by an edit that changes nothing else.
        ("a\r\nb\r\n", "a\r\n", "a\n", "a\nb\r\n"),
        ("a\nb\n", "a\nb\n", "a\r\nb\r\n", "a\r\nb\r\n"),
    ] {
        let result =
            edited(file, old, new).unwrap_or_else(|fault| panic!("{file:?} {old:?}: {fault}"));
        assert_eq!(String::from_utf8(result).unwrap(), expect, "{file:?} {old:?} {new:?}");
    }
}

// cases 131 and 133
#[test]
fn case_131_bytes_of_another_encoding_stay() {
    let latin = b"caf\xe9 = 1\nsize = 2\n";
    assert_eq!(edited(latin, "size = 2", "size = 3").unwrap(), b"caf\xe9 = 1\nsize = 3\n");
    let refused = said(latin, "size = 2", "gr\u{f6}\u{df}e = 2");
    assert!(refused.starts_with("the file is not UTF-8 (byte 3, line 1)"), "{refused}");
    // Shift-JIS: 表 is 0x95 0x5C, and 0x5C alone is a backslash.
    let sjis = b"\x95\x5c = 1\n";
    assert_eq!(edited(sjis, "\\", "/").unwrap_err(), EditFault::InsideCharacter { line: 1 });
    assert_eq!(edited(sjis, " = 1", " = 2").unwrap(), b"\x95\x5c = 2\n");
}

#[test]
fn what_is_no_text_is_refused() {
    assert_eq!(edited(b"a\0b", "a", "c").unwrap_err(), EditFault::Binary { byte: 1 });
    assert_eq!(edited(b"\xff\xfea\0", "a", "c").unwrap_err(), EditFault::Utf16);
}

// case 25
#[test]
fn case_025_no_change_is_refused_in_plain_words() {
    assert_eq!(
        said("a", "a", "a"),
        "no change needed: old_text and new_text are the same; leave this edit out"
    );
    assert_eq!(edited("", "", "").unwrap_err(), EditFault::Same);
}

#[test]
fn an_empty_old_text_fills_an_empty_file_and_no_other() {
    assert_eq!(edited("", "", "a\n").unwrap(), b"a\n");
    assert_eq!(edited("\u{feff}", "", "a\n").unwrap(), "\u{feff}a\n".as_bytes());
    assert!(said("x", "", "a").starts_with("old_text is empty, and the file has 1 bytes"));
    assert!(said("", "x", "a").contains("the file is empty; leave old_text empty to fill it"));
}

#[test]
fn a_near_miss_shows_the_place_and_names_the_difference() {
    let file = "fn a() {\n\tlet x = 1;\n}\n\nfn b() {\n\tlet y = “two”;\n}\n";
    let text = said(file, "fn a() {\n    let x = 1;\n}\n", "x");
    assert_eq!(
        text,
        "old_text occurs 0 times; the closest place is line 1\n  line 2 differs in indentation:\n    \
         given: \"    let x = 1;\"\n    file:  \"\\tlet x = 1;\""
    );
    let text = said(file, "let y = \"two\";", "x");
    assert!(
        text.contains("closest place is line 6\n  line 6 differs in the form of quotes:"),
        "{text}"
    );
    let text = said("caf\u{65}\u{301} = 1\n", "caf\u{e9} = 1", "x");
    assert!(text.contains("line 1 differs in Unicode normalisation only"), "{text}");
    assert!(text.contains("given: \"café = 1\"\n    file:  \"cafe\\u{301} = 1\""), "{text}");
    for (file, old, kind) in [
        ("let  a = 1;\n", "let a = 1;", "white space within the line"),
        ("let a\u{a0}= 1;\n", "let a = 1;", "the kind of space (no-break or other)"),
        ("let abc = 1;\n", "let ABC = 1;", "upper and lower case"),
        ("let a\u{200b}bc = 1;\n", "let abc = 1;", "invisible characters"),
        ("x = 1 \ny = 2\n", "x = 1\ny = 2\n", "white space at the end of the line"),
        ("total_count = items.len();\n", "total_count = item.len();", "text"),
    ] {
        let text = said(file, old, "new");
        assert!(text.contains(&format!("line 1 differs in {kind}:")), "{text}");
    }
}

#[test]
fn a_near_miss_tells_lines_that_one_side_lacks() {
    let file: String = (0..40).map(|n| format!("let value_{n} = compute({n});\n")).collect();
    let old =
        "let value_10 = compute(10);\nlet value_12 = compute(12);\nlet value_13 = compute(13);\n";
    let text = said(&file, old, "x");
    assert!(
        text.contains("closest place is line 11\n  line 12 is not in the given text:"),
        "{text}"
    );
    let old = "let value_10 = compute(10);\nlet extra = 1;\nlet value_11 = compute(11);\n";
    let text = said(&file, old, "x");
    assert!(text.contains("closest place is line 11\n  not in the file before line 12:\n    given: \"let extra = 1;\""), "{text}");
    assert!(
        said(&file, "nothing of the kind", "x")
            .ends_with("nothing in the file is like it: read the file again")
    );
}

#[test]
fn a_near_miss_names_mistakes_of_the_whole_text() {
    let file = "fn a() {\n    \"b\";\n}\nend";
    for (old, expect) in [
        (
            "1\tfn a() {\n2\t    \"b\";\n",
            "line numbers, which are not in the file; without them it is found at line 1",
        ),
        ("  1→fn a() {\n  2→    \"b\";\n", "without them it is found at line 1"),
        ("1: fn a() {\n2:     \"b\";\n", "without them it is found at line 1"),
        ("    \\\"b\\\";", "escaped once too often; read once more it is found at line 2"),
        ("fn a() {\\n", "escaped once too often; read once more it is found at line 1"),
        ("}\nend\n", "ends without one; leave it out and it is found at line 3"),
    ] {
        let text = said(file, old, "zzzz");
        assert!(text.ends_with(expect), "{old:?}: {text}");
    }
    let text = said("fn fresh() {}\n", "fn stale() {}", "fn fresh() {}");
    assert!(
        text.contains("new_text is there already (line 1): the edit looks already made"),
        "{text}"
    );
    assert!(said("a\rb\rc", "a\nb", "x").contains("carriage returns (\\r) alone"));
}

#[test]
fn a_near_miss_in_ten_megabytes_takes_a_moment_and_little_space() {
    let line = |n: usize| format!("    let name_{n} = some_function(argument_{n}, {});\n", n * 7);
    let file: String = (0..200_000).map(line).collect();
    assert!(file.len() > 10_000_000);
    let started = std::time::Instant::now();
    let old = line(150_000).replace("    ", "\t")
        + &line(150_001).replace("some", "another")
        + &line(150_002);
    let text = said(&file, &old, "x");
    assert!(
        text.contains("closest place is line 150001\n  line 150001 differs in indentation:"),
        "{text}"
    );
    let text = said(&file, "let name_77777 = some_function(argumnt_77777, 544439);", "x");
    assert!(text.contains("closest place is line 77778\n"), "{text}");
    // The same line all over, and one line without an end.
    said(
        "}\n".repeat(3_000_000),
        "}\n".repeat(2_000).as_str().trim_end_matches('\n').replace('}', "]").as_str(),
        "x",
    );
    let text = said("x".repeat(10_000_000), &"xy".repeat(1_000), "z");
    assert!(text.len() < 2_000, "{}", text.len());
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}
