//! Properties of the rewriter over generated sources.
#![allow(clippy::unwrap_used, reason = "a helper of a test fails as the test does")]

use proptest::prelude::*;
use xd_ast_edit::{Edit, Lang, Op, Program, assemble, check_ops, rewrite};

fn run(lang: &str, source: &str, ops: &[Op]) -> String {
    check_ops(ops).unwrap();
    let program = Program::compile(Lang::named(lang).unwrap(), ops);
    assert_eq!(program.failures(), &[]);
    let rewritten = rewrite(&program, source, usize::MAX).unwrap();
    assemble(source, &rewritten.edits)
}

/// Text that may stand in a string literal and in a comment.
fn plain_text() -> impl Strategy<Value = String> {
    "[^\\p{Cc}'\"\\\\`*/\u{2028}\u{2029}]{0,24}"
}

proptest! {
    // case 183: whatever stands before a match, offsets are exact.
    #[test]
    fn case_183_any_prefix_leaves_the_edit_exact(prefix in plain_text(), behind in plain_text()) {
        let source = format!("x = '{prefix}'; old('{prefix}', 1); /* {behind} */\n");
        let expect = format!("x = '{prefix}'; fresh(1, '{prefix}'); /* {behind} */\n");
        let ops = [Op::new("old($A, $B)", "fresh($B, $A)")];
        prop_assert_eq!(run("javascript", &source, &ops), expect);
    }

    // CONTRACT A1: a capture goes in literally and once, also where it looks like a variable.
    #[test]
    fn a1_captures_are_literal(text in "[$A-Z_{}() a-z]{0,16}") {
        let source = format!("old('{text}');\n");
        let ops = [Op::new("old($A)", "fresh($A, '$$A', $A)")];
        prop_assert_eq!(run("javascript", &source, &ops), format!("fresh('{text}', '$A', '{text}');\n"));
    }

    // case 27: one pass gives what edit after edit from the back gives.
    #[test]
    fn case_027_one_pass_equals_the_slow_method(
        source in "[a-zé\n]{1,80}",
        cuts in prop::collection::vec((0..80usize, "[xé]{0,3}"), 0..12),
    ) {
        let mut places: Vec<usize> =
            cuts.iter().map(|(at, _)| at % (source.len() + 1)).filter(|at| source.is_char_boundary(*at)).collect();
        places.sort_unstable();
        let edits: Vec<Edit> = places
            .chunks_exact(2)
            .zip(&cuts)
            .map(|(pair, (_, text))| Edit { range: pair[0]..pair[1], text: text.clone(), op: 0 })
            .collect();
        let mut slow = source.clone();
        for edit in edits.iter().rev() {
            slow.replace_range(edit.range.clone(), &edit.text);
        }
        prop_assert_eq!(assemble(&source, &edits), slow);
    }

    // case 177: whichever items of a list go, in whatever layout, what is left is that list.
    #[test]
    fn case_177_any_items_of_a_list_can_go(
        gone in prop::collection::vec(any::<bool>(), 1..7),
        between in prop::sample::select(vec![", ", ",", ",\n  ", " ,\n", ",  "]),
        around in prop::sample::select(vec![("", ""), ("\n  ", "\n"), (" ", " ")]),
        trailing in any::<bool>(),
        split in any::<bool>(),
    ) {
        prop_assume!(gone.contains(&true));
        let names: Vec<String> = (0..gone.len()).map(|n| format!("item{n}")).collect();
        let comma = if trailing { "," } else { "" };
        let source = format!("f([{}{}{comma}{}]);\n", around.0, names.join(between), around.1);
        let kept: Vec<&str> = names.iter().zip(&gone).filter(|(_, gone)| !**gone).map(|(name, _)| name.as_str()).collect();
        let dropped: Vec<&String> = names.iter().zip(&gone).filter(|(_, gone)| **gone).map(|(name, _)| name).collect();
        // As several ops of one call, or one call after the other.
        let result = if split {
            dropped.iter().fold(source, |source, name| run("typescript", &source, &[Op::new(name.as_str(), "")]))
        } else {
            let ops: Vec<Op> = dropped.iter().map(|name| Op::new(name.as_str(), "")).collect();
            run("typescript", &source, &ops)
        };
        let squeezed: String = result.split_whitespace().collect();
        let comma = if trailing && !kept.is_empty() { "," } else { "" };
        prop_assert_eq!(squeezed, format!("f([{}{comma}]);", kept.join(",")));
        prop_assert!(!result.lines().any(|line| line.ends_with(' ')) || around.1 == " " || between.starts_with(' '));
    }

    // CONTRACT S6, case 25: the identity changes nothing, whatever it captures.
    #[test]
    fn case_025_identity_is_no_edit(text in plain_text(), spaces in " {0,3}") {
        let source = format!("old({spaces}'{text}',{spaces} [1,\n {spaces}2 ] );\n");
        let program = Program::compile(Lang::named("javascript").unwrap(), &[Op::new("old($$$A)", "old($$$A)")]);
        let rewritten = rewrite(&program, &source, usize::MAX).unwrap();
        // Spaces inside the parentheses are the template's, everything captured is the source's.
        prop_assert_eq!(rewritten.edits.is_empty(), rewritten.replacements == 0);
        let result = assemble(&source, &rewritten.edits);
        let expect = format!("'{text}',{spaces} [1,\n {spaces}2 ]");
        prop_assert!(result.contains(&expect));
    }
}
