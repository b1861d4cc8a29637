//! Calls over real files: which are found, what is refused, what a preview says.
#![allow(clippy::unwrap_used, reason = "a helper of a test fails as the test does")]

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use tempfile::TempDir;
use xd_ast_edit::{
    Bound, Cap, Control, IssueKind, Limits, Op, Outcome, Progress, Proposal, ProposeError, Request,
    Summary, propose,
};
use xd_changeset::Root;

struct Tree {
    folder: TempDir,
}

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        let tree = Self { folder: TempDir::new().unwrap() };
        for (path, text) in files {
            tree.put(path, text.as_bytes());
        }
        tree
    }

    fn put(&self, path: &str, bytes: &[u8]) {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    fn root(&self) -> Root {
        Root::open(self.folder.path()).unwrap()
    }

    fn call(&self, request: &Request, limits: &Limits) -> Result<Outcome, ProposeError> {
        propose(&self.root(), request, limits, &Control::default())
    }

    #[track_caller]
    fn proposal(&self, request: &Request) -> Proposal {
        match self.call(request, &Limits::default()) {
            Ok(Outcome::Proposal(proposal)) => proposal,
            Ok(Outcome::NoReplacements(summary)) => panic!("{}", summary.no_replacements()),
            Err(error) => panic!("{error}"),
        }
    }

    #[track_caller]
    fn nothing(&self, request: &Request) -> Summary {
        match self.call(request, &Limits::default()) {
            Ok(Outcome::NoReplacements(summary)) => summary,
            Ok(Outcome::Proposal(proposal)) => panic!("{}", proposal.preview(Bound::Whole, None)),
            Err(error) => panic!("{error}"),
        }
    }

    #[track_caller]
    fn error(&self, request: &Request) -> String {
        match self.call(request, &Limits::default()) {
            Ok(outcome) => panic!("{outcome:?}"),
            Err(error) => error.to_string(),
        }
    }
}

fn request(pat: &str, out: &str, paths: &[&str]) -> Request {
    Request {
        ops: vec![Op::new(pat, out)],
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        lang: None,
    }
}

fn old_to_new(paths: &[&str]) -> Request {
    request("old($A)", "fresh($A)", paths)
}

fn changed(proposal: &Proposal) -> Vec<String> {
    proposal.summary.files.iter().map(|file| file.path.to_string()).collect()
}

// ---- Operands (CONTRACT A1) ----

#[test]
fn a1_operands_that_are_refused_are_named() {
    let tree = Tree::new(&[("a.py", "old(1)\n"), (".git/x.py", "old(1)\n")]);
    let error = |request: &Request| tree.error(request);
    assert_eq!(
        error(&old_to_new(&[])),
        "paths: is empty; give files, folders or globs, or \".\" for the whole workspace"
    );
    assert!(
        error(&old_to_new(&["a.py", "../x"]))
            .starts_with("paths[1]: '../x' is outside the workspace")
    );
    assert!(error(&old_to_new(&["/etc"])).starts_with("paths[0]: '/etc' is outside the workspace"));
    assert_eq!(
        error(&old_to_new(&["a.py", "b.py"])),
        "paths[1]: 'b.py' does not exist; check the spelling, or give the folder that it is in"
    );
    assert!(error(&old_to_new(&[".git/x.py"])).starts_with("paths[0]: '.git/x.py' is off limits"));
    assert!(
        error(&old_to_new(&["nowhere/*.py"]))
            .starts_with("paths[0]: 'nowhere/*.py' does not exist")
    );
    assert!(error(&request("  ", "x", &["."])).starts_with("ops[0].pat: is empty"));
    let twice =
        Request { ops: vec![Op::new("f()", "g()"), Op::new(" f() ", "h()")], ..old_to_new(&["."]) };
    assert_eq!(error(&twice), "ops[1].pat: is the same as ops[0].pat (`f()`); keep one of them");
    assert!(error(&Request { ops: vec![], ..old_to_new(&["."]) }).starts_with("ops: is empty"));
    let cobol = Request { lang: Some("cobol".to_owned()), ..old_to_new(&["."]) };
    assert!(error(&cobol).starts_with("lang: unknown language 'cobol'. Use one of: "));
    // Each of them before any file is touched, and the tree is as it was.
    assert_eq!(std::fs::read_to_string(tree.folder.path().join("a.py")).unwrap(), "old(1)\n");
}

#[test]
fn case_181_an_unbound_variable_is_refused_also_where_nothing_matches() {
    let tree = Tree::new(&[("a.txt", "")]);
    assert!(
        tree.error(&request("foo($A)", "bar($B)", &["."])).starts_with("ops[0].out: uses `$B`")
    );
}

#[test]
fn a1_a_pattern_that_parses_in_no_language_names_each_reason() {
    let tree = Tree::new(&[("a.py", "x\n"), ("b.rs", "fn f() {}\n")]);
    let error = tree.error(&request("foo( $A", "bar", &["."]));
    assert!(error.starts_with("ops[0]: `foo( $A` cannot be used: as python"), "{error}");
    assert!(error.contains("does not parse: line 1, column "), "{error}");
    assert!(error.contains("rust"), "{error}");
    let error = tree.error(&request("foo($x)", "bar()", &["a.py"]));
    assert!(error.contains("(variables are upper case: `$X`)"), "{error}");
    let error = tree.error(&request("$A", "bar()", &["a.py"]));
    assert!(error.contains("is a variable alone and would match everything"), "{error}");
    let error = tree.error(&request("a = 1\nb = 2", "bar()", &["a.py"]));
    assert!(error.contains("is more than one piece of code"), "{error}");
    let error = tree.error(&request("f($A, $$$A)", "g($A)", &["a.py"]));
    assert!(error.contains("uses one name as `$A` and as `$$$A`"), "{error}");
    let error =
        tree.error(&request(&format!("{}x{}", "(".repeat(1000), ")".repeat(1000)), "y", &["a.py"]));
    assert!(error.contains("is too large: nested deeper than 400 levels"), "{error}");
}

// ---- Which files (CONTRACT A2) ----

#[test]
fn a2_several_languages_each_by_its_own_grammar() {
    let tree = Tree::new(&[
        ("a.py", "old(1)\n"),
        ("b.rs", "fn f() { old(1); }\n"),
        ("c.ts", "old(1);\n"),
        ("d.go", "package p\n\nfunc f() { old(1) }\n"),
        ("notes.txt", "old(1)\n"),
        ("x.json", "{\"old\": 1}\n"),
    ]);
    let proposal = tree.proposal(&old_to_new(&["."]));
    assert_eq!(changed(&proposal), ["a.py", "b.rs", "c.ts", "d.go"]);
    assert_eq!(proposal.label(), "AST Edit: 4 replacements in 4 files");
    let left: Vec<_> =
        proposal.summary.left_out.iter().map(|left| (left.op, left.lang, left.files)).collect();
    assert_eq!(left, [(0, "json", 1)]);
    // One language only.
    let python = Request { lang: Some("py".to_owned()), ..old_to_new(&["."]) };
    assert_eq!(changed(&tree.proposal(&python)), ["a.py"]);
    // A file that is named itself is read as the language given, whatever it is called.
    let named = Request { lang: Some("python".to_owned()), ..old_to_new(&["notes.txt"]) };
    assert_eq!(changed(&tree.proposal(&named)), ["notes.txt"]);
    let summary = tree.nothing(&old_to_new(&["notes.txt"]));
    assert_eq!(summary.issues[0].kind, IssueKind::NoLanguage);
}

#[test]
fn a2_ignored_hidden_and_linked_files_are_left_out() {
    let tree = Tree::new(&[
        (".gitignore", "out/\n*.gen.py\n"),
        ("a.py", "old(1)\n"),
        ("a.gen.py", "old(1)\n"),
        ("out/b.py", "old(1)\n"),
        (".hidden/c.py", "old(1)\n"),
        (".xd/d.py", "old(1)\n"),
        (".git/e.py", "old(1)\n"),
        ("sub/.ignore", "f.py\n"),
        ("sub/f.py", "old(1)\n"),
        ("sub/g.py", "old(1)\n"),
    ]);
    let outside = Tree::new(&[("secret.py", "old(1)\n")]);
    std::os::unix::fs::symlink(outside.folder.path(), tree.folder.path().join("link")).unwrap();
    std::os::unix::fs::symlink("a.py", tree.folder.path().join("inner.py")).unwrap();
    assert_eq!(changed(&tree.proposal(&old_to_new(&["."]))), ["a.py", "sub/g.py"]);
    // What is named itself is taken; twice is once; a link inside is its target.
    let named = old_to_new(&["out/b.py", "a.py", "./a.py", "inner.py", ".hidden"]);
    assert_eq!(changed(&tree.proposal(&named)), [".hidden/c.py", "a.py", "out/b.py"]);
    let error = tree.error(&old_to_new(&["link/secret.py"]));
    assert!(error.starts_with("paths[0]: 'link/secret.py' leads outside"), "{error}");
}

#[test]
fn a2_globs_name_files_below_their_folder() {
    let tree = Tree::new(&[
        ("src/a.py", "old(1)\n"),
        ("src/deep/b.py", "old(1)\n"),
        ("src/c.ts", "old(1);\n"),
        ("other/d.py", "old(1)\n"),
    ]);
    assert_eq!(
        changed(&tree.proposal(&old_to_new(&["src/**/*.py"]))),
        ["src/a.py", "src/deep/b.py"]
    );
    assert_eq!(changed(&tree.proposal(&old_to_new(&["src/*.{py,ts}"]))), ["src/a.py", "src/c.ts"]);
    assert_eq!(tree.nothing(&old_to_new(&["src/*.rs"])).searched, 0);
    // A file with such a name is a file.
    tree.put("src/[id].ts", b"old(1);\n");
    assert_eq!(changed(&tree.proposal(&old_to_new(&["src/[id].ts"]))), ["src/[id].ts"]);
}

#[test]
fn a2_the_limits_are_stated_and_counted_the_same() {
    let files: Vec<(String, String)> =
        (0..20).map(|n| (format!("f{n:02}.py"), "old(1)\nold(2)\n".to_owned())).collect();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let tree = Tree::new(&files);
    for threads in [1, 4] {
        let limits = Limits { replacements: 5, threads, ..Limits::default() };
        let Outcome::Proposal(proposal) = tree.call(&old_to_new(&["."]), &limits).unwrap() else {
            panic!()
        };
        assert_eq!(proposal.summary.cap, Some(Cap::Replacements(5)));
        assert_eq!(changed(&proposal), ["f00.py", "f01.py", "f02.py"]);
        assert_eq!(proposal.label(), "AST Edit: 5 replacements in 3 files");
        assert_eq!(proposal.change_set.len(), 3);
        let preview = proposal.preview(Bound::Whole, None);
        assert_eq!(preview.matches("\n+fresh(").count(), 5);
        assert!(
            preview.contains("Stopped at the limit of 5 replacements: there are more."),
            "{preview}"
        );

        let limits = Limits { files: 2, threads, ..Limits::default() };
        let Outcome::Proposal(proposal) = tree.call(&old_to_new(&["."]), &limits).unwrap() else {
            panic!()
        };
        assert_eq!(proposal.summary.cap, Some(Cap::Files(2)));
        assert_eq!(proposal.label(), "AST Edit: 4 replacements in 2 files");
        // Exactly as many as there are is no cap.
        let limits = Limits { files: 20, replacements: 40, threads, ..Limits::default() };
        let Outcome::Proposal(proposal) = tree.call(&old_to_new(&["."]), &limits).unwrap() else {
            panic!()
        };
        assert_eq!(
            (proposal.summary.cap, proposal.label()),
            (None, "AST Edit: 40 replacements in 20 files".to_owned())
        );
    }
}

// ---- What is left alone (CONTRACT A4) ----

#[test]
fn a4_files_that_cannot_be_rewritten_safely_are_listed_and_left_alone() {
    let tree = Tree::new(&[
        ("good.py", "old(1)\n"),
        ("broken.py", "old(1)\ndef f(:\n"),
        ("other.py", "def f(:\n"),
    ]);
    tree.put("latin.py", b"old('caf\xe9')\n");
    tree.put("nul.py", b"old(1)\0\n");
    tree.put("large.py", format!("old(1)\n{}", "x = 1\n".repeat(1000)).as_bytes());
    let before = std::fs::read(tree.folder.path().join("latin.py")).unwrap();
    let limits = Limits { file_bytes: 4096, ..Limits::default() };
    let Outcome::Proposal(proposal) = tree.call(&old_to_new(&["."]), &limits).unwrap() else {
        panic!()
    };
    assert_eq!(changed(&proposal), ["good.py"]);
    let notes = proposal.summary.notes().join("\n");
    assert_eq!(
        notes,
        "4 files left alone:\n  broken.py:2:7: does not parse\n  large.py: is too large (6007 bytes)\n  latin.py: is not UTF-8 (byte 8)\n  nul.py: is binary"
    );
    assert_eq!(std::fs::read(tree.folder.path().join("latin.py")).unwrap(), before);
    // Where nothing else matches they are said with the zero.
    let summary = tree.nothing(&old_to_new(&["broken.py"]));
    assert_eq!(
        summary.no_replacements(),
        "No replacements made (1 file searched, no match).\n1 file left alone:\n  broken.py:2:7: does not parse"
    );
}

#[test]
fn case_133_text_is_never_inserted_into_a_file_of_another_encoding() {
    // In Shift JIS the second byte of a letter may be one of ASCII's: 0x5C is a backslash.
    for bytes in [&b"# \x93\xfa\x96\x7b\nold(1)\n"[..], b"old('\x83\x5c')\n", b"\xff\xfeo\0l\0d\0"]
    {
        let tree = Tree::new(&[]);
        tree.put("a.py", bytes);
        tree.nothing(&request("old($A)", "fresh('\u{65e5}\u{672c}')", &["."]));
        assert_eq!(std::fs::read(tree.folder.path().join("a.py")).unwrap(), bytes);
    }
}

#[test]
fn s6_zero_hits_and_identity_stage_nothing() {
    let tree = Tree::new(&[("a.py", "new(1)\nsame(2)\n")]);
    // case 7
    assert_eq!(
        tree.nothing(&old_to_new(&["a.py"])).no_replacements(),
        "No replacements made (1 file searched, no match)."
    );
    // case 25
    let summary = tree.nothing(&request("same($A)", "same($A)", &["."]));
    assert_eq!(
        summary.no_replacements(),
        "No replacements made: no change needed.\n1 match already reads as `out` says: no change needed."
    );
    let empty = Tree::new(&[("a.txt", "x")]);
    assert_eq!(
        empty.nothing(&old_to_new(&["."])).no_replacements(),
        "No replacements made (no file of a known language there)."
    );
}

#[test]
fn s7_refusals_of_one_file_name_it_and_stage_nothing() {
    let tree =
        Tree::new(&[("a.js", "x();\n"), ("b.js", "foo(bar(1));\n"), ("c.js", "foo(bar(2));\n")]);
    let ops = vec![Op::new("foo($A)", "foo2($A)"), Op::new("bar($A)", "bar2($A)")];
    for threads in [1, 4] {
        let limits = Limits { threads, ..Limits::default() };
        // case 9
        let error = tree
            .call(&Request { ops: ops.clone(), ..old_to_new(&["."]) }, &limits)
            .unwrap_err()
            .to_string();
        assert!(
            error
                .starts_with("'b.js': two ops change the same code: ops[0] at line 1 (bytes 0..11"),
            "{error}"
        );
        // case 153
        let error =
            tree.call(&request("foo($A)", "foo(", &["."]), &limits).unwrap_err().to_string();
        assert!(error.starts_with("'b.js': the result would not parse at its line 1"), "{error}");
    }
}

// ---- The preview (CONTRACT A3, A6) ----

#[test]
fn a3_the_preview_shows_every_change_with_its_counts() {
    let tree = Tree::new(&[
        ("src/a.py", "import m\n\nold(old(1))\nkeep()\n"),
        ("src/b.py", "old(1, # why\n)\nold(3)\n"),
    ]);
    let proposal = tree.proposal(&request("old($A)", "fresh($A)", &["src"]));
    assert_eq!(
        proposal.preview(Bound::MODEL, Some(7)),
        "AST Edit: 3 replacements in 2 files\n\
         1 nested match left (only the outermost is rewritten; run it again for the rest).\n\
         1 comment dropped by the rewrite:\n  src/b.py:1: # why\n\
         \n\
         src/a.py: 1 replacement (+1 -1)\n\
         --- a/src/a.py\n+++ b/src/a.py\n@@ -1,4 +1,4 @@\n import m\n \n-old(old(1))\n+fresh(old(1))\n keep()\n\
         \n\
         src/b.py: 2 replacements (+2 -3)\n\
         --- a/src/b.py\n+++ b/src/b.py\n@@ -1,3 +1,2 @@\n-old(1, # why\n-)\n-old(3)\n+fresh(1)\n+fresh(3)\n"
    );
    assert_eq!(proposal.applied(), "Applied 3 replacements in 2 files.");
}

#[test]
fn a3_a_long_preview_is_cut_at_a_line_and_tells_where_the_rest_is() {
    let files: Vec<(String, String)> = (0..300)
        .map(|n| (format!("f{n:03}.py"), format!("old('{}')\nold('é{n}')\n", "é".repeat(100))))
        .collect();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let tree = Tree::new(&files);
    let proposal = tree.proposal(&old_to_new(&["."]));
    let whole = proposal.preview(Bound::Whole, Some(4));
    let cut = proposal.preview(Bound::MODEL, Some(4));
    assert!(whole.len() > 100_000 && !whole.contains("Cut here"));
    let at = cut.find("\n[Cut here.").unwrap();
    assert!(at <= 32 * 1024 + 100 && at > 31 * 1024, "{at}");
    assert!(whole.starts_with(&cut[..at]), "the cut preview begins as the whole one does");
    // Every file is in one part or the other.
    let told =
        files.iter().filter(|(path, _)| cut.contains(&format!("{path}: 2 replacements"))).count();
    let rest: usize = cut
        .split("\nand ")
        .nth(1)
        .map_or(0, |rest| rest.split(' ').next().unwrap().parse().unwrap());
    assert_eq!(told + rest, files.len());
    assert!(
        cut.ends_with("Read the whole preview at xd://resolve@4.\n"),
        "{}",
        &cut[cut.len() - 200..]
    );
    assert!(proposal.preview(Bound::MODEL, None).contains("xd://resolve@<n>"));
    // Any bound is safe, also inside a character.
    for bytes in 0..600 {
        assert!(proposal.preview(Bound::Bytes(bytes), None).contains("Cut here"));
    }
}

#[test]
fn case_189_growth_is_said_in_the_preview() {
    let tree = Tree::new(&[("a.py", "wrap(f(1))\nf(2)\n")]);
    let notes = tree.proposal(&request("f($A)", "wrap(f($A))", &["."])).summary.notes();
    assert_eq!(
        notes,
        [
            "ops[0] grows: its result matches its own `pat`, so a second run would rewrite it again.",
            "1 place reads as an earlier run of this left them, and would grow once more."
        ]
    );
}

// ---- Threads, progress, cancelling ----

#[test]
fn a2_any_number_of_threads_gives_one_outcome() {
    // Invariant A5.
    let files: Vec<(String, String)> = (0..200)
        .map(|n| {
            (
                format!("d{}/f{n}.ts", n % 7),
                format!("old({n}); old(old({n}));\n{}", if n % 13 == 0 { "(" } else { "" }),
            )
        })
        .collect();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let tree = Tree::new(&files);
    let outcome = |threads| {
        let limits = Limits { threads, replacements: 251, ..Limits::default() };
        let Outcome::Proposal(proposal) = tree.call(&old_to_new(&["."]), &limits).unwrap() else {
            panic!()
        };
        (proposal.preview(Bound::Whole, None), proposal.summary)
    };
    let one = outcome(1);
    for threads in [2, 3, 8] {
        assert_eq!(outcome(threads), one);
    }
}

#[test]
fn d12_a_large_file_is_given_up_while_it_is_parsed() {
    let tree = Tree::new(&[("a.ts", "old(1, [2, 3], { a: 4 });\n".repeat(20_000).as_str())]);
    let asked = AtomicUsize::new(0);
    // The walk and the search ask a few times; a hundred times is only asked by the parser.
    let control =
        Control { cancelled: &|| asked.fetch_add(1, Ordering::SeqCst) >= 100, progress: &|_| {} };
    let result = propose(&tree.root(), &old_to_new(&["."]), &Limits::default(), &control);
    assert!(matches!(result, Err(ProposeError::Cancelled)), "{result:?}");
    let asked = asked.load(Ordering::SeqCst);
    assert!((101..150).contains(&asked), "{asked}");
}

#[test]
fn a_call_reports_progress_and_ends_at_once_when_cancelled() {
    let files: Vec<(String, String)> =
        (0..50).map(|n| (format!("f{n}.py"), "old(1)\n".to_owned())).collect();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let tree = Tree::new(&files);
    let last = std::sync::Mutex::new(Progress::default());
    let control = Control {
        cancelled: &|| false,
        progress: &|progress| {
            let mut last = last.lock().unwrap();
            if progress.seen > last.seen {
                *last = progress;
            }
        },
    };
    propose(&tree.root(), &old_to_new(&["."]), &Limits::default(), &control).unwrap();
    assert_eq!(*last.lock().unwrap(), Progress { files: 50, seen: 50, matched: 50 });

    let seen = AtomicUsize::new(0);
    let control = Control {
        cancelled: &|| seen.load(Ordering::SeqCst) >= 3,
        progress: &|_| {
            seen.fetch_add(1, Ordering::SeqCst);
        },
    };
    let limits = Limits { threads: 2, ..Limits::default() };
    let error = propose(&tree.root(), &old_to_new(&["."]), &limits, &control).unwrap_err();
    assert!(matches!(error, ProposeError::Cancelled), "{error}");
    assert!(seen.load(Ordering::SeqCst) <= 5);
}

#[test]
fn a4_very_deep_files_do_not_end_the_process() {
    let deep = format!("{}old(1){}\n", "(".repeat(100_000), ")".repeat(100_000));
    let tree = Tree::new(&[("deep.py", &deep), ("flat.py", "old(1)\n")]);
    assert_eq!(changed(&tree.proposal(&old_to_new(&["."]))), ["deep.py", "flat.py"]);
    let summary = tree.nothing(&request("old($A, $A)", "f()", &["deep.py"]));
    assert!(matches!(summary.issues[0].kind, IssueKind::TooDeep { .. }));
}

#[test]
fn a1_nothing_is_written_until_it_is_applied() {
    let tree = Tree::new(&[("a.py", "old(1)\r\nold(2)"), ("b.rs", "fn f() { old(1); }\n")]);
    let proposal = tree.proposal(&old_to_new(&["."]));
    let read =
        |path: &str| std::fs::read_to_string(Path::new(tree.folder.path()).join(path)).unwrap();
    assert_eq!(
        (read("a.py"), read("b.rs")),
        ("old(1)\r\nold(2)".to_owned(), "fn f() { old(1); }\n".to_owned())
    );
    proposal.change_set.apply(&tree.root(), xd_changeset::Options::new()).unwrap();
    assert_eq!(
        (read("a.py"), read("b.rs")),
        ("fresh(1)\r\nfresh(2)".to_owned(), "fn f() { fresh(1); }\n".to_owned())
    );
}
