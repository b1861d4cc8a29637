//! The languages that this build can parse: names, file names, and the grammar behind each.
//!
//! `ast-grep-language` knows the name of every language, also of those whose grammar was left out
//! of the build, and panics when one of these parses. The table here holds what is compiled in,
//! and nothing outside this module makes a [`Lang`].

use std::fmt;
use std::path::Path;

use ast_grep_language::{Language, LanguageExt, SupportLang};

/// A language whose grammar is compiled in.
///
/// **Invariant A1:** every `Lang` can parse: there is no value for a grammar that was left out.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Lang(SupportLang);

macro_rules! table {
    ($($feature:literal: $variant:ident = $name:literal),* $(,)?) => {
        /// Whether the grammar of `lang` is in this build. Exhaustive, so that a language that
        /// the library gains has to be given its feature here.
        const fn compiled_in(lang: SupportLang) -> bool {
            match lang { $(SupportLang::$variant => cfg!(feature = $feature)),* }
        }

        /// The name that a person would write.
        const fn display_name(lang: SupportLang) -> &'static str {
            match lang { $(SupportLang::$variant => $name),* }
        }
    };
}

table! {
    "lang-bash": Bash = "bash",
    "lang-c": C = "c",
    "lang-cpp": Cpp = "cpp",
    "lang-csharp": CSharp = "csharp",
    "lang-css": Css = "css",
    "lang-dart": Dart = "dart",
    "lang-elixir": Elixir = "elixir",
    "lang-go": Go = "go",
    "lang-haskell": Haskell = "haskell",
    "lang-hcl": Hcl = "hcl",
    "lang-html": Html = "html",
    "lang-java": Java = "java",
    "lang-javascript": JavaScript = "javascript",
    "lang-json": Json = "json",
    "lang-kotlin": Kotlin = "kotlin",
    "lang-lua": Lua = "lua",
    "lang-markdown": Markdown = "markdown",
    "lang-nix": Nix = "nix",
    "lang-php": Php = "php",
    "lang-python": Python = "python",
    "lang-ruby": Ruby = "ruby",
    "lang-rust": Rust = "rust",
    "lang-scala": Scala = "scala",
    "lang-solidity": Solidity = "solidity",
    "lang-swift": Swift = "swift",
    "lang-typescript": Tsx = "tsx",
    "lang-typescript": TypeScript = "typescript",
    "lang-yaml": Yaml = "yaml",
    "lang-zig": Zig = "zig",
}

/// Why a language's name was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LangError {
    /// No language has that name.
    #[error("lang: unknown language '{}'. Use one of: {}.", xd_protocol::Visible(name), known())]
    Unknown {
        /// The name as it was given.
        name: String,
    },
    /// The language is known and its grammar was left out of this build.
    #[error("lang: the grammar for {name} is not in this build. Use one of: {}.", known())]
    NotBuilt {
        /// The language's own name.
        name: &'static str,
    },
}

/// The names of all languages in this build, for an error message.
fn known() -> String {
    Lang::all().map(Lang::name).collect::<Vec<_>>().join(", ")
}

impl Lang {
    /// Every language in this build, in the order of their names.
    pub fn all() -> impl Iterator<Item = Self> {
        let mut all: Vec<Self> = SupportLang::all_langs()
            .iter()
            .copied()
            .filter(|lang| compiled_in(*lang))
            .map(Self)
            .collect();
        all.sort_by_key(|lang| lang.name());
        all.into_iter()
    }

    /// The language called `name`: its own name or a usual short form (`rs`, `ts`, `py`), in any
    /// letter case.
    ///
    /// # Errors
    /// [`LangError::Unknown`] where there is none, [`LangError::NotBuilt`] where its grammar was
    /// left out; both list what can be used.
    pub fn named(name: &str) -> Result<Self, LangError> {
        let name = name.trim();
        let known: SupportLang = match name.to_ascii_lowercase().as_str() {
            "sh" | "shell" => SupportLang::Bash,
            "c#" => SupportLang::CSharp,
            "terraform" | "tf" => SupportLang::Hcl,
            lower => lower.parse().map_err(|_| LangError::Unknown { name: name.to_owned() })?,
        };
        if compiled_in(known) {
            Ok(Self(known))
        } else {
            Err(LangError::NotBuilt { name: display_name(known) })
        }
    }

    /// The language of a file, by its name alone; none where the name tells none or where the
    /// grammar is not in this build.
    #[must_use]
    pub fn of_path(path: &Path) -> Option<Self> {
        let by_name = match path.file_name()?.to_str()? {
            "BUILD" | "WORKSPACE" | "SConstruct" => Some(SupportLang::Python),
            "Gemfile" | "Rakefile" | "Podfile" | "Fastfile" => Some(SupportLang::Ruby),
            "PKGBUILD" => Some(SupportLang::Bash),
            _ => None,
        };
        let known = by_name.or_else(|| SupportLang::from_path(path))?;
        compiled_in(known).then_some(Self(known))
    }

    /// The language's name, as errors and summaries write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        display_name(self.0)
    }

    /// The grammar, for parsing with `tree-sitter` itself.
    #[must_use]
    pub fn language(self) -> tree_sitter::Language {
        self.0.get_ts_language()
    }

    /// How many values [`Lang::slot`] has.
    pub(crate) const SLOTS: usize = SupportLang::all_langs().len();

    /// A number below [`Lang::SLOTS`], each language's own.
    pub(crate) fn slot(self) -> usize {
        self.0 as usize
    }

    /// The grammar.
    pub(crate) fn grammar(self) -> SupportLang {
        self.0
    }

    /// Sources to put a pattern into, as text before and after it, in groups.
    ///
    /// Many a pattern does not parse alone, or means another thing there: `foo(x)` at the top of a
    /// Go file is a conversion, a C call needs a function around it, a class member a class. Of the
    /// first group in which the pattern parses, every different reading is used.
    pub(crate) fn contexts(self) -> &'static [&'static [(&'static str, &'static str)]] {
        match self.0 {
            SupportLang::Go => &[
                &[("package p\nfunc _() {\n", "\n}\n")],
                &[("package p\nfunc _() { _ = ", "\n}\n")],
                &[("package p\n", "\n")],
                &[("", "")],
                &[("package p\nimport (\n", "\n)\n")],
                &[("package p\nvar _ = T{", "}\n")],
                &[
                    ("package p\ntype _ struct {\n", "\n}\n"),
                    ("package p\ntype _ interface {\n", "\n}\n"),
                ],
            ],
            SupportLang::C => &[
                &[("void f(void) {\n", ";\n}\n")],
                &[("void f(void) {\n", "\n}\n")],
                &[("", "")],
                &[("struct s {\n", "\n};\n")],
            ],
            SupportLang::Cpp => &[
                &[("void f() {\n", ";\n}\n")],
                &[("void f() {\n", "\n}\n")],
                &[("", "")],
                &[("class s {\n", "\n};\n")],
            ],
            SupportLang::CSharp => &[
                &[("", ""), ("class C {\n", "\n}\n")],
                &[("class C { void f() {\n", "\n} }\n")],
                &[("class C { void f() {\n", ";\n} }\n")],
                &[("enum C {\n", "\n}\n")],
            ],
            SupportLang::Java => &[
                &[("", "")],
                &[("class C { void f() {\n", "\n} }\n")],
                &[("class C { void f() {\n", ";\n} }\n")],
                &[("class C {\n", "\n}\n")],
                &[("enum C {\n", "\n}\n")],
            ],
            SupportLang::Php => &[&[("", ""), ("class C {\n", "\n}\n")], &[("", ";")]],
            SupportLang::JavaScript => &[
                &[("", "")],
                &[("class C {\n", "\n}\n")],
                &[("({\n", "\n})\n")],
                &[("(", ")")],
                &[("switch (0) {\n", "\n}\n")],
            ],
            SupportLang::TypeScript | SupportLang::Tsx => &[
                &[("", "")],
                &[("({\n", "\n})\n"), ("interface I {\n", "\n}\n")],
                &[("class C {\n", "\n}\n")],
                &[("(", ")")],
                &[("type T =\n", "\n")],
                &[("switch (0) {\n", "\n}\n")],
            ],
            SupportLang::Rust => &[
                &[("", "")],
                &[("fn f() {\n", "\n}\n")],
                &[("fn f() { match () {\n", "\n} }\n")],
                &[("struct S {\n", "\n}\n"), ("fn f() { S {\n", "\n}; }\n"), ("fn f(", ") {}\n")],
                &[("enum E {\n", "\n}\n")],
                &[("type T =\n", "\n;")],
            ],
            SupportLang::Python => &[&[("", "")], &[("try:\n    pass\n", "\n")], &[("f(", ")\n")]],
            SupportLang::Json => &[&[("", "")], &[("{", "}")]],
            SupportLang::Css => &[&[("", "")], &[("a {\n", "\n}\n")]],
            SupportLang::Dart => &[
                &[("void f() {\n", "\n}\n"), ("", ""), ("class C {\n", "\n}\n")],
                &[("void f() {\n", ";\n}\n")],
            ],
            SupportLang::Hcl => &[&[("", "")], &[("x = ", "\n")]],
            SupportLang::Lua => &[&[("", "")], &[("return ", "\n")]],
            SupportLang::Solidity => &[
                &[("", ""), ("contract C {\n", "\n}\n")],
                &[("contract C { function f() public {\n", "\n} }\n")],
                &[("contract C { function f() public {\n", ";\n} }\n")],
            ],
            SupportLang::Yaml => &[&[("", ""), ("{", "}")]],
            SupportLang::Zig => {
                &[&[("", "")], &[("fn f() void {\n", "\n}\n")], &[("fn f() void {\n", ";\n}\n")]]
            }
            SupportLang::Scala | SupportLang::Kotlin | SupportLang::Swift => {
                &[&[("", "")], &[("class C {\n", "\n}\n")]]
            }
            SupportLang::Bash
            | SupportLang::Elixir
            | SupportLang::Haskell
            | SupportLang::Html
            | SupportLang::Markdown
            | SupportLang::Nix
            | SupportLang::Ruby => &[&[("", "")]],
        }
    }

    /// Whether a reading of a pattern alone is an accident of a grammar that takes more than the
    /// language does: a class member read as a local variable, `a: b` read as a label.
    pub(crate) fn is_accident(self, kind: &str, pattern: &str) -> bool {
        match self.0 {
            SupportLang::Java | SupportLang::CSharp => {
                let member = ["private ", "protected ", "public ", "static "];
                let local =
                    matches!(kind, "local_variable_declaration" | "local_declaration_statement")
                        && member.iter().any(|word| pattern.starts_with(word));
                // A call among members looks like a constructor without a body.
                let call = kind == "constructor_declaration"
                    && !pattern.contains('{')
                    && !pattern.contains("=>");
                local || call
            }
            SupportLang::Go
            | SupportLang::JavaScript
            | SupportLang::TypeScript
            | SupportLang::Tsx => kind == "labeled_statement" && !pattern.contains(['{', ';']),
            _ => false,
        }
    }

    /// Whether `{ $$$BODY }` has to be parsed as `{ $$$BODY; }` to be a body of statements.
    pub(crate) fn needs_statement_ends(self) -> bool {
        matches!(
            self.0,
            SupportLang::C | SupportLang::Cpp | SupportLang::CSharp | SupportLang::Dart
        )
    }

    /// Whether keywords are compared without letter case, so that the text of a keyword in a
    /// pattern need not occur in a file that matches.
    pub(crate) fn folds_keywords(self) -> bool {
        matches!(self.0, SupportLang::Php)
    }

    /// Whether leading whitespace is part of the syntax also inside multi-line leaves.
    pub(crate) fn indents_leaves(self) -> bool {
        matches!(self.0, SupportLang::Yaml | SupportLang::Markdown)
    }

    /// Whether white space at the ends of the lines of a leaf of this kind says nothing.
    pub(crate) fn lays_out(self, kind: &str) -> bool {
        match self.0 {
            SupportLang::JavaScript | SupportLang::TypeScript | SupportLang::Tsx => {
                kind == "jsx_text"
            }
            SupportLang::Html => kind == "text",
            // Each of its lines begins with a sign of its own.
            SupportLang::Zig => kind == "multiline_string",
            _ => false,
        }
    }

    /// Whether text begins and ends with the line breaks around it.
    pub(crate) fn lays_out_ends(self) -> bool {
        matches!(self.0, SupportLang::JavaScript | SupportLang::TypeScript | SupportLang::Tsx)
    }

    /// Whether a list of this kind with one item is written with a comma, without which it would be
    /// the item itself.
    pub(crate) fn has_comma_of_one(self, kind: &str) -> bool {
        match self.0 {
            SupportLang::Python => {
                matches!(kind, "tuple" | "tuple_pattern" | "expression_list" | "pattern_list")
            }
            SupportLang::Rust => {
                matches!(kind, "tuple_expression" | "tuple_pattern" | "tuple_type")
            }
            _ => false,
        }
    }

    /// Whether all that is in `node` is kept as it is laid out, whatever it is.
    pub(crate) fn keeps_layout(self, node: tree_sitter::Node<'_>, source: &str) -> bool {
        let name = || {
            let tag = node.named_child(0)?.named_child(0)?;
            source.get(tag.byte_range())
        };
        self.0 == SupportLang::Html
            && node.kind() == "element"
            && name().is_some_and(|name| {
                ["pre", "textarea"].iter().any(|kept| name.eq_ignore_ascii_case(kept))
            })
    }

    /// Whether the tree is the order of a text more than its meaning: sections, paragraphs, runs of
    /// words, which close up where something goes.
    pub(crate) fn is_prose(self) -> bool {
        matches!(self.0, SupportLang::Html | SupportLang::Markdown)
    }

    /// The kind of a node that must hold a statement although the grammar lets it be empty.
    pub(crate) fn body_that_needs_a_statement(self) -> Option<&'static str> {
        matches!(self.0, SupportLang::Python).then_some("block")
    }
}

impl fmt::Debug for Lang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lang({})", self.name())
    }
}

impl fmt::Display for Lang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a1_every_listed_language_parses() {
        // Invariant A1.
        for lang in Lang::all() {
            let tree = ast_grep_core::tree_sitter::StrDoc::try_new("\n", lang.grammar());
            assert!(tree.is_ok(), "{lang}");
            assert_eq!(Lang::named(lang.name()), Ok(lang));
        }
    }

    #[test]
    fn a1_unknown_language_names_the_operand_and_the_choice() {
        let error = Lang::named("cobol").unwrap_err().to_string();
        assert!(error.starts_with("lang: unknown language 'cobol'. Use one of: "), "{error}");
        #[cfg(feature = "lang-rust")]
        assert!(error.contains(", rust, "), "{error}");
    }

    #[test]
    #[cfg(not(feature = "lang-haskell"))]
    fn a1_language_left_out_of_the_build_is_an_error_not_a_panic() {
        assert_eq!(Lang::named("hs"), Err(LangError::NotBuilt { name: "haskell" }));
        assert_eq!(Lang::of_path(Path::new("Main.hs")), None);
    }

    #[test]
    fn a2_a_file_name_tells_the_language() {
        let name = |path: &str| Lang::of_path(Path::new(path)).map(Lang::name);
        assert_eq!(name("src/a.rs"), Some("rust"));
        assert_eq!(name("a.mts"), Some("typescript"));
        assert_eq!(name("a.tsx"), Some("tsx"));
        assert_eq!(name("x/BUILD"), Some("python"));
        assert_eq!(name("Makefile"), None);
        assert_eq!(name("notes"), None);
        assert_eq!(Lang::named("TS").map(Lang::name), Ok("typescript"));
        assert_eq!(Lang::named(" sh ").map(Lang::name), Ok("bash"));
    }
}
