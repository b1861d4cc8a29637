//! Rule objects, as ast-grep's users write them: what they match, what they refuse, and that every
//! rule of insertion holds for them too.
#![cfg(feature = "lang-typescript")]
#![allow(clippy::unwrap_used, reason = "a helper of a test fails as the test does")]

use xd_ast_edit::{Lang, Op, Program, Refusal, Rewritten, Rule, assemble, check_ops, rewrite};

fn run(lang: &str, source: &str, rules: &str) -> Result<(Rewritten, String), Refusal> {
    let rules = Rule::parse("rules.yml", rules).unwrap_or_else(|error| panic!("{error}"));
    let ops: Vec<Op> = rules.into_iter().map(Op::from).collect();
    check_ops(&ops).unwrap();
    let program = Program::compile(Lang::named(lang).unwrap(), &ops);
    assert_eq!(program.failures(), &[], "{lang}");
    let rewritten = rewrite(&program, source, usize::MAX)?;
    let result = assemble(source, &rewritten.edits);
    // Invariant A3.
    assert!(rewritten.edits.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start));
    Ok((rewritten, result))
}

#[track_caller]
fn check(lang: &str, source: &str, rules: &str, expect: &str) -> Rewritten {
    let (rewritten, result) =
        run(lang, source, rules).unwrap_or_else(|refusal| panic!("{lang}: {refusal}"));
    assert_eq!(result, expect, "{lang}: {rules}");
    rewritten
}

#[track_caller]
fn refused(rules: &str, expect: &str) {
    let error = Rule::parse("rules.yml", rules).unwrap_err().to_string();
    assert_eq!(error, expect, "{rules}");
}

// ---- What a rule matches ----

#[test]
fn a1_kind_and_regex() {
    check(
        "ts",
        "const oldName = oldNames + old.oldName;\n",
        "{rule: {kind: identifier, regex: ^oldName$}, language: ts, fix: newName}",
        "const newName = oldNames + old.oldName;\n",
    );
    check(
        "ts",
        "f(1); g(2);\n",
        "{rule: {kind: call_expression > identifier, regex: f}, language: ts, fix: h}",
        "h(1); g(2);\n",
    );
}

#[test]
fn a1_inside_and_its_field_and_stop() {
    let rule = |inside: &str| {
        format!("{{rule: {{pattern: old, inside: {inside}}}, language: ts, fix: fresh}}")
    };
    let source = "class A { f() { return old(old); } }\nold(1);\n";
    check("ts", source, &rule("{kind: return_statement}"), source);
    check(
        "ts",
        source,
        &rule("{kind: return_statement, stopBy: end}"),
        "class A { f() { return fresh(fresh); } }\nold(1);\n",
    );
    check(
        "ts",
        source,
        &rule("{kind: call_expression, field: function}"),
        "class A { f() { return fresh(old); } }\nfresh(1);\n",
    );
    check(
        "ts",
        source,
        &rule("{kind: return_statement, stopBy: {kind: arguments}}"),
        "class A { f() { return fresh(old); } }\nold(1);\n",
    );
}

#[test]
fn a1_has_follows_precedes_not_all_any() {
    let source = "a(1);\nb(await x);\nc(3);\n";
    let call = |rest: &str| {
        format!("{{rule: {{kind: expression_statement, {rest}}}, language: ts, fix: 'z();'}}")
    };
    check(
        "ts",
        source,
        &call("has: {kind: await_expression, stopBy: end}"),
        "a(1);\nz();\nc(3);\n",
    );
    check(
        "ts",
        source,
        &call("not: {has: {kind: await_expression, stopBy: end}}"),
        "z();\nb(await x);\nz();\n",
    );
    check("ts", source, &call("follows: {pattern: a(1);}"), "a(1);\nz();\nc(3);\n");
    check("ts", source, &call("precedes: {pattern: c($_);, stopBy: end}"), "z();\nz();\nc(3);\n");
    check(
        "ts",
        source,
        &call("any: [{pattern: a($_);}, {pattern: c($_);}]"),
        "z();\nb(await x);\nz();\n",
    );
    check("ts", source, &call("all: [{regex: ^c}, {nthChild: 3}]"), "a(1);\nb(await x);\nz();\n");
}

#[test]
fn a1_utils_constraints_and_transform() {
    check(
        "ts",
        "f(1, 'a');\nf(2, b);\n",
        "
rule: { pattern: 'f($A, $B)' }
constraints: { B: { matches: text } }
utils: { text: { kind: string } }
language: TypeScript
fix: g($B, $A)
",
        "g('a', 1);\nf(2, b);\n",
    );
    check(
        "ts",
        "old_name(1);\n",
        "
rule: { pattern: $F($A), has: { field: function, regex: ^old_ } }
transform:
  NEW: { replace: { source: $F, replace: ^old_, by: fresh_ } }
  CAMEL: { convert: { source: $NEW, toCase: camelCase } }
language: ts
fix: $CAMEL($A)
",
        "freshName(1);\n",
    );
}

#[test]
fn a1_pattern_objects_with_context_selector_and_strictness() {
    check(
        "ts",
        "class A { x = 1 }\nx = 1;\n",
        "
rule: { pattern: { context: 'class C { $N = $V }', selector: public_field_definition } }
language: ts
fix: readonly $N = $V
",
        "class A { readonly x = 1 }\nx = 1;\n",
    );
    check(
        "ts",
        "f(x /* why */);\nf(x);\n",
        "{rule: {pattern: {context: f($A), strictness: cst}}, language: ts, fix: g($A)}",
        "f(x /* why */);\ng(x);\n",
    );
}

#[test]
#[cfg(feature = "lang-rust")]
fn a1_a_pattern_that_needs_a_context_finds_it() {
    // A match arm is no code by itself; ast-grep wants `context` and `selector` for it.
    check(
        "rust",
        "fn f() { match x { None => 1, Some(_) => 2 } }\n",
        "{rule: {pattern: 'None => $V,'}, language: rust, fix: 'None => 0,'}",
        "fn f() { match x { None => 0, Some(_) => 2 } }\n",
    );
}

#[test]
fn a5_several_documents_are_several_ops_in_order() {
    let rules = "
id: first
language: ts
rule: { pattern: a($X) }
fix: b($X)
---
id: second
language: ts
rule: { pattern: c($X) }
fix: d($X)
";
    let rewritten = check("ts", "c(1); a(2); a(3);\n", rules, "d(1); b(2); b(3);\n");
    assert_eq!(rewritten.by_op, [2, 1]);
    // JSON is accepted, also a list.
    let json =
        r#"[{"rule": {"pattern": "a($X)"}, "fix": ""}, {"rule": {"kind": "number"}, "fix": "0"}]"#;
    assert_eq!(Rule::parse("rules.json", json).unwrap().len(), 2);
}

#[test]
#[cfg(feature = "lang-python")]
fn a2_a_rule_is_for_its_language_or_for_every_one_that_it_means_something_in() {
    let rules = |language: &str| {
        let text = format!("{{rule: {{pattern: old($A)}}, {language}fix: fresh($A)}}");
        Rule::parse("r.yml", &text).unwrap().into_iter().map(Op::from).collect::<Vec<_>>()
    };
    let lang = |name: &str| Lang::named(name).unwrap();
    let own = rules("language: ts, ");
    assert!(Program::compile(lang("py"), &own).is_empty());
    assert_eq!(Program::compile(lang("py"), &own).failures(), &[]);
    assert!(!Program::compile(lang("ts"), &own).is_empty());
    let all = rules("");
    assert!(!Program::compile(lang("py"), &all).is_empty());
    let kind = Rule::parse("r.yml", "{rule: {kind: call_expression}, fix: ''}").unwrap();
    let ops: Vec<Op> = kind.into_iter().map(Op::from).collect();
    let failures = Program::compile(lang("py"), &ops).failures().to_vec();
    assert_eq!(
        failures[0].1.to_string(),
        "rule.kind: `call_expression` is no kind of node of python"
    );
}

// ---- What stands in its place ----

#[test]
fn case_171_captures_of_rules_move_with_their_indentation() {
    check(
        "ts",
        "class A {\n    f() {\n        wrap(() => {\n            g();\n        });\n    }\n}\n",
        "
language: ts
rule: { pattern: wrap($F) }
fix: |
  outer(
    $F
  )
",
        "class A {\n    f() {\n        outer(\n          () => {\n              g();\n          }\n        );\n    }\n}\n",
    );
}

#[test]
fn case_177_a_rule_that_deletes_takes_separator_and_line() {
    let delete =
        "{language: ts, rule: {kind: identifier, regex: ^b$, inside: {kind: arguments}}, fix: ''}";
    check("ts", "f(a, b, c);\n", delete, "f(a, c);\n");
    check("ts", "f(a, b);\n", delete, "f(a);\n");
    check(
        "ts",
        "a();\ndebugger;\nb();\n",
        "{language: ts, rule: {kind: debugger_statement}, fix: ''}",
        "a();\nb();\n",
    );
}

#[test]
fn a1_expand_start_and_end_widen_what_is_replaced() {
    check(
        "ts",
        "const o = { a: 1, b: 2, c: 3 };\n",
        "
language: ts
rule: { kind: pair, has: { field: key, regex: ^b$ } }
fix: { template: '', expandEnd: { regex: ',' } }
",
        "const o = { a: 1, c: 3 };\n",
    );
    check(
        "ts",
        "const o = { a: 1, b: 2 };\n",
        "
language: ts
rule: { kind: pair, has: { field: key, regex: ^b$ } }
fix: { template: ', z: 0', expandStart: { regex: ',' } }
",
        "const o = { a: 1, z: 0 };\n",
    );
}

#[test]
fn case_181_a_variable_that_a_rule_never_binds_is_an_error() {
    refused(
        "{id: r, language: ts, rule: {pattern: f($A)}, fix: g($B)}",
        "rules.yml: document 1 (rule `r`): fix: uses `$B`, which the rule never binds (it binds $A); for a literal dollar write `$$B`",
    );
    // What only `not` or `stopBy` have is never there.
    refused(
        "{language: ts, rule: {kind: call_expression, not: {pattern: f($A)}}, fix: g($A)}",
        "rules.yml: document 1: fix: uses `$A`, which the rule never binds (it binds nothing); for a literal dollar write `$$A`",
    );
    refused(
        "{rule: {pattern: f($$$A)}, fix: g($A)}",
        "rules.yml: document 1: fix: uses `$A`, but the rule binds it as `$$$A`; write `$$$A`",
    );
}

#[test]
fn case_181_a_variable_that_one_match_does_not_bind_refuses_the_call() {
    let rules = "
id: both
language: ts
rule: { any: [{ pattern: 'f($A, $B)' }, { pattern: g($A) }] }
fix: h($B)
";
    check("ts", "f(1, 2);\n", rules, "h(2);\n");
    let refusal = run("ts", "f(1, 2);\n\ng(3);\n", rules).unwrap_err().to_string();
    assert_eq!(
        refusal,
        "ops[0] at line 3 (bytes 10..14, `g(3);`) does not bind `$B`, which `fix` uses; bind it in every alternative of the rule, or make a rule of each"
    );
    // The same of a list, which is bound where it is empty.
    let lists = "
language: ts
rule: { any: [{ pattern: 'f($$$A)' }, { kind: new_expression }] }
fix: h($$$A)
";
    check("ts", "f();\n", lists, "h();\n");
    assert!(matches!(run("ts", "new X();\n", lists), Err(Refusal::Unbound { .. })));
}

#[test]
fn case_185_a_literal_dollar_in_fix_has_the_same_escape() {
    check(
        "ts",
        "f(1);\n",
        "{language: ts, rule: {pattern: f($A)}, fix: '$$(`${$A}`, $$A)'}",
        "$$(`${1}`, $A);\n",
    );
}

#[test]
fn a1_captures_of_rules_go_in_literally_and_once() {
    check(
        "ts",
        "f('$A', 2);\n",
        "{language: ts, rule: {pattern: 'f($B, $A)'}, fix: 'g($B, $A)'}",
        "g('$A', 2);\n",
    );
}

#[test]
fn case_175_case_189_nested_and_growing_rules_are_counted_and_said() {
    let wrap = "{language: ts, rule: {pattern: f($A)}, fix: h(f($A))}";
    let rewritten = check("ts", "f(f(1));\n", wrap, "h(f(f(1)));\n");
    assert_eq!((rewritten.replacements, rewritten.nested), (1, 1));
    assert_eq!(rewritten.regrowing, [0]);
    // With a guard against itself it does not grow.
    let guarded = "{language: ts, rule: {pattern: f($A), not: {inside: {pattern: h($_), stopBy: end}}}, fix: h(f($A))}";
    let rewritten = check("ts", "f(1);\n", guarded, "h(f(1));\n");
    assert_eq!(rewritten.regrowing, Vec::<usize>::new());
}

#[test]
fn a1_comments_that_a_rule_drops_are_counted() {
    let rewritten = check(
        "ts",
        "f(1 /* why */);\nf(() => { /* kept */ });\n",
        "{language: ts, rule: {pattern: f($A)}, fix: g($A)}",
        "g(1);\ng(() => { /* kept */ });\n",
    );
    assert_eq!((rewritten.dropped, rewritten.dropped_comments[0].line), (1, 1));
}

#[test]
fn a4_a_fix_that_breaks_the_file_is_refused() {
    let refusal =
        run("ts", "f(1);\n", "{language: ts, rule: {pattern: f($A)}, fix: 'g($A'}").unwrap_err();
    assert!(matches!(refusal, Refusal::ResultDoesNotParse { .. }), "{refusal}");
}

// ---- What is refused ----

#[test]
fn a1_errors_of_rules_name_file_document_rule_key_and_the_way_out() {
    let ok = "{rule: {pattern: f()}, fix: ''}\n---\n";
    refused(
        &format!(
            "{ok}{{id: x, language: ts, rule: {{any: [{{kind: number}}, {{kind: nonsense}}]}}, fix: ''}}"
        ),
        "rules.yml: document 2 (rule `x`): rule.any[1].kind: `nonsense` is no kind of node of typescript",
    );
    refused(
        "{language: ts, rule: {pattern: 'foo( $A'}, fix: ''}",
        "rules.yml: document 1: rule.pattern: does not parse: line 1, column 1, at `foo( $A`",
    );
    refused(
        "{language: ts, rule: {kind: number, inside: {kind: arguments, feild: x}}, fix: ''}",
        "rules.yml: document 1: rule.inside.feild: is unknown; use pattern, kind, regex, nthChild, range, inside, has, precedes, follows, all, any, not, matches",
    );
    refused(
        "{language: ts, rule: {kind: number, inside: {kind: arguments, field: x}}, fix: ''}",
        "rules.yml: document 1: rule.inside.field: `x` is no field of typescript",
    );
    refused(
        "{language: ts, rule: {regex: '('}, fix: ''}",
        "rules.yml: document 1: rule.regex: is no regular expression: error: unclosed group",
    );
    refused(
        "{language: ts, rule: {regex: a}, fix: ''}",
        "rules.yml: document 1: rule: says nothing about the kind of node to find; add `kind` or `pattern`",
    );
    refused(
        "{language: ts, rule: {kind: number, matches: gone}, utils: {there: {kind: string}}, fix: ''}",
        "rules.yml: document 1: rule.matches: `gone` is not in `utils` (there: there); define it there",
    );
    refused(
        "{language: ts, rule: {pattern: f()}}",
        "rules.yml: document 1: fix: is missing; write what a match becomes, with the rule's variables; \"\" deletes it",
    );
    refused(
        "{language: ts, fix: ''}",
        "rules.yml: document 1: rule: is missing; write `rule: {pattern: oldApi($A)}`, or an object of other rules",
    );
    refused(
        "{language: klingon, rule: {pattern: f()}, fix: ''}",
        &format!("rules.yml: document 1: language: {}", Lang::named("klingon").unwrap_err()),
    );
    refused(
        "{rule: {pattern: f()}, fix: '', files: ['[']}",
        "rules.yml: document 1: files[0]: is no glob: unclosed character class; missing ']'",
    );
    refused(
        "",
        "rules.yml: holds no rule; write `rule: {pattern: oldApi($A)}` and `fix: newApi($A)`",
    );
    let error = Rule::parse("rules.yml", "rule: [").unwrap_err().to_string();
    assert!(error.starts_with("rules.yml: is no YAML: "), "{error}");
    assert!(error.contains("line 1"), "{error}");
}

#[test]
fn a1_what_is_left_out_of_ast_grep_is_refused_by_name() {
    let with =
        |extra: &str| format!("{{language: ts, rule: {{pattern: f($A)}}, fix: '', {extra}}}");
    for (extra, expect) in [
        (
            "rewriters: []",
            "rewriters: is not supported: its fixes would be inserted without the checks made here; give each rewrite a rule of its own",
        ),
        (
            "transform: {B: {rewrite: {rewriters: [x], source: $A}}}",
            "transform.B: is not supported: `rewrite` needs `rewriters`, which are not; give each rewrite a rule of its own",
        ),
        (
            "transform: {b: {substring: {source: $A}}}",
            "transform.b: is not supported: a variable is upper case; give it a name such as `NEW`",
        ),
        (
            "severity: 'off'",
            "severity: is not supported: `off` switches the rule off; leave the rule out, or take the line out",
        ),
        (
            "fixes: ''",
            "fixes: is unknown; use id, language, rule, constraints, utils, transform, fix, files, ignores, message, note, severity, labels, url, metadata",
        ),
    ] {
        refused(&with(extra), &format!("rules.yml: document 1: {expect}"));
    }
    refused(
        "{language: ts, rule: {pattern: f()}, fix: [{template: a, title: A}, {template: b, title: B}]}",
        "rules.yml: document 1: fix: is not supported: it is a choice of several; keep the one that is meant",
    );
    // What a linter needs changes no rewrite.
    let linted = with(
        "message: m, note: n, severity: warning, url: u, metadata: {a: 1}, labels: {A: {style: primary}}",
    );
    assert!(Rule::parse("r.yml", &linted).is_ok());
}

#[test]
fn a1_a_utility_that_refers_to_itself_is_bounded_or_refused() {
    refused(
        "{language: ts, rule: {kind: number, matches: u}, utils: {u: {follows: {matches: u}}}, fix: ''}",
        "rules.yml: document 1: utils.u.follows.matches: refers to itself through `follows` or `precedes`, whose depth nothing bounds; use `stopBy: end` there instead",
    );
    let nested = "
language: ts
rule: { kind: parenthesized_expression, matches: deep }
utils: { deep: { any: [{ kind: number }, { kind: parenthesized_expression, has: { matches: deep } }] } }
fix: '0'
";
    check("ts", "x = ((1));\ny = ((z));\n", nested, "x = 0;\ny = ((z));\n");
    let deep = format!("x = {}1{};\n", "(".repeat(5_000), ")".repeat(5_000));
    assert!(matches!(run("ts", &deep, nested), Err(Refusal::TooDeep { deepest: 1_000, .. })));
    let cyclic = Rule::parse(
        "r.yml",
        "{language: ts, rule: {kind: number, matches: a}, utils: {a: {matches: b}, b: {matches: a}}, fix: ''}",
    );
    assert!(cyclic.is_err());
}

#[test]
fn a1_two_rules_of_one_name_are_refused() {
    let text =
        "{id: a, rule: {pattern: f()}, fix: ''}\n---\n{id: a, rule: {pattern: g()}, fix: ''}\n";
    let ops: Vec<Op> = Rule::parse("r.yml", text).unwrap().into_iter().map(Op::from).collect();
    assert_eq!(
        check_ops(&ops).unwrap_err().to_string(),
        "ops[1]: is the same rule as ops[0] (`a`); keep one of them, or give each its own `id`"
    );
}

// ---- The search before parsing ----

#[test]
fn a1_the_prefilter_never_hides_a_match() {
    let may = |rule: &str, source: &str| {
        let text = format!("{{language: ts, rule: {rule}, fix: ''}}");
        let ops: Vec<Op> = Rule::parse("r.yml", &text).unwrap().into_iter().map(Op::from).collect();
        Program::compile(Lang::named("ts").unwrap(), &ops).may_match(source.as_bytes())
    };
    assert!(!may("{pattern: oldApi($A)}", "newApi(1)"));
    assert!(!may("{kind: identifier, regex: ^oldApi$}", "newApi(1)"));
    assert!(!may("{any: [{pattern: alpha()}, {pattern: beta()}]}", "gamma()"));
    assert!(may("{any: [{pattern: alpha()}, {pattern: beta()}]}", "beta()"));
    assert!(!may("{kind: number, inside: {pattern: alpha($_), stopBy: end}}", "f(1)"));
    // Nothing is known of these, so that every file is parsed.
    assert!(may("{kind: number}", "f(1)"));
    assert!(may("{kind: number, not: {regex: ^2}}", "f(1)"));
    assert!(may("{any: [{pattern: alpha()}, {kind: number}]}", "f(1)"));
    assert!(may("{pattern: {context: alpha(), strictness: signature}}", "f()"));
    // A word in the pattern of `not` is not needed, and one in another letter case may match.
    check(
        "ts",
        "f(1);\n",
        "{language: ts, rule: {kind: number, not: {pattern: absent}}, fix: '2'}",
        "f(2);\n",
    );
    check(
        "ts",
        "FOO();\n",
        "{language: ts, rule: {kind: identifier, regex: (?i)^foo$}, fix: bar}",
        "bar();\n",
    );
}
