//! No text makes the reader panic, run out of stack or take long.

use std::time::{Duration, Instant};

use barcheck_specs::bar::{LoadOptions, format, load};
use barcheck_specs::{Diagnostic, render};
use proptest::prelude::*;

/// Reads, renders and formats `source`; returns what is wrong with it.
fn exercise(source: &[u8]) -> Vec<Diagnostic> {
    let loaded = load(source, &LoadOptions::default());
    let text = String::from_utf8_lossy(source);
    let diagnostics = match loaded {
        Ok(loaded) => loaded.lints.into_iter().map(|linted| linted.diagnostic).collect(),
        Err(diagnostics) => {
            assert!(!diagnostics.is_empty());
            diagnostics
        }
    };
    let rendered = render(&diagnostics, "x", &text, false);
    assert_eq!(rendered.is_empty(), diagnostics.is_empty());
    if let Ok(once) = format(source) {
        let twice = format(once.as_bytes());
        assert_eq!(twice.as_ref().ok(), Some(&once), "{text:?}: {twice:?}");
    }
    diagnostics
}

/// `source` is refused with the code `expected`, quickly.
#[track_caller]
fn check(source: impl AsRef<[u8]>, expected: &str) {
    let start = Instant::now();
    let diagnostics = exercise(source.as_ref());
    let codes: Vec<&str> = diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
    assert!(codes.contains(&expected), "{expected}: {codes:?}");
    // Generous for slow machines without optimisation; what is quadratic takes far longer.
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

fn within(statements: &str) -> String {
    format!("target ptx; cta 32; warp 0 {{ {statements} }}")
}

#[test]
fn deep_nesting() {
    let many = 100_000;
    check(within(&"loop { ".repeat(many)), "too-deep");
    check(within(&"if ? { ".repeat(many)), "too-deep");
    check(within(&format!("{}{}", "loop { ".repeat(many), "} ".repeat(many))), "too-deep");
    check(within(&format!("if ? {{}} {}", "else if ? {} ".repeat(many))), "too-deep");
    check(within(&format!("assert {}1;", "(".repeat(many))), "too-deep");
    check(within(&format!("assert {}1{};", "(".repeat(many), ")".repeat(many))), "too-deep");
    check(within(&format!("assert {}1;", "!".repeat(many))), "too-deep");
    check(within(&format!("assert {}1;", "- ".repeat(many))), "too-deep");
    check(within(&format!("assert 1{};", " + 1".repeat(many))), "too-deep");
    check(within(&format!("assert {}1;", "1 || (".repeat(many))), "too-deep");
    check(within(&format!("assert {}1;", "-(".repeat(many))), "too-deep");
    check(within(&"xegpu.mfence {".repeat(many)), "unknown-instruction");
}

#[test]
fn the_deepest_that_is_allowed() {
    let source = within(&format!("{}{}", "loop { ".repeat(199), "} ".repeat(199)));
    assert_eq!(exercise(source.as_bytes()), []);
    let source = within(&format!("assert 1{};", " + 1".repeat(199)));
    assert_eq!(exercise(source.as_bytes()), []);
    let source = within(&format!("assert {}1{};", "(".repeat(198), ")".repeat(198)));
    assert_eq!(exercise(source.as_bytes()), []);
}

#[test]
fn large_files() {
    check(vec![b' '; 100 << 20], "too-long");
    check(vec![b' '; 1 << 20], "no-target");
    check("x".repeat(1 << 20), "no-target");
    check(format!("target {};", "x".repeat(1 << 20)), "unknown-target");
    check(within(&format!("{};", "y".repeat(1 << 20))), "unknown-statement");
    check(within(&format!("{};", "y.".repeat(1 << 19))), "syntax");
    check(within(&format!("{}y;", "y.".repeat(1 << 19))), "unknown-instruction");
    check(within(&format!("assert {};", "9".repeat(1 << 20))), "number-too-large");
    check(within(&"x = 1; ".repeat(1 << 17)), "unknown-name");
    check(within(&"}".repeat(1 << 18)), "unmatched-brace");
    check(within(&"{".repeat(1 << 18)), "syntax");
    check(within(&"é ".repeat(1 << 18)), "unknown-character");
    check(within(&"\"".repeat(1 << 18)), "syntax");
    check(within(&"/* ".repeat(1 << 18)), "unclosed-block");
    check(format!("target ptx; cta 64; {}", "warp 0 {} ".repeat(1 << 16)), "agents-overlap");
    let names: String = (0..1 << 15).map(|i| format!("let x{i} = y;\n")).collect();
    check(within(&names), "unknown-name");
    let names: String = (0..1 << 15).map(|i| format!("const x{i} = x{};\n", i + 1)).collect();
    check(format!("target ptx; {names}"), "unknown-name");
    check(format!("target ptx; shared {};", vec!["x"; 1 << 17].join(",")), "duplicate-name");
}

#[test]
fn large_protocols_are_read() {
    let start = Instant::now();
    let source = within(&"bar.sync 0, 32; // c\n".repeat(100_000));
    assert_eq!(exercise(source.as_bytes()), []);
    let source = within(&"let x = 1; assert x == 1;".repeat(50_000));
    assert_eq!(exercise(source.as_bytes()), []);
    assert!(start.elapsed() < Duration::from_secs(40), "{:?}", start.elapsed());
}

#[test]
fn line_endings_and_marks() {
    assert_eq!(exercise("\u{feff}target ptx;\r\ncta 32;\r\n// c\r\nwarp 0 {}\r\n".as_bytes()), []);
    assert_eq!(exercise(b"target ptx;\rcta 32;\rwarp 0 {}"), []);
    check(b"target ptx; \xff", "invalid-utf8");
    check("target ptx; \u{feff} cta 32;", "unknown-character");
    check("target ptx;\0", "unknown-character");
    check("target ptx; \u{c}", "unknown-character");
}

/// Pieces of which texts are made at random.
const PIECES: &[&str] = &[
    "target",
    "ptx",
    "bcu",
    "nbarrier",
    "split_barrier",
    "xegpu",
    ";",
    ",",
    ".",
    "..",
    "..=",
    ":",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "?",
    "@",
    "=",
    "==",
    "!=",
    "!",
    "<",
    "<=",
    ">",
    ">=",
    "<<",
    ">>",
    "&",
    "&&",
    "|",
    "||",
    "^",
    "+",
    "-",
    "*",
    "/",
    "%",
    "cta",
    "32",
    "64",
    "thread_group",
    "workgroup",
    "subgroup_size",
    "const",
    "param",
    "shared",
    "global",
    "warp",
    "warps",
    "threads",
    "invocations",
    "subgroups",
    "lane",
    "as",
    "for",
    "in",
    "loop",
    "while",
    "if",
    "else",
    "let",
    "read",
    "write",
    "atomic",
    "break",
    "continue",
    "exit",
    "assert",
    "any",
    "uniform",
    "true",
    "x",
    "y",
    "N",
    "buf",
    "R4",
    "RZ",
    "P0",
    "PT",
    "_",
    "%h",
    "0",
    "1",
    "2",
    "0x10",
    "9223372036854775808",
    "bar.sync",
    "bar.arrive",
    "bar.red.popc.u32",
    "BAR.RED.AND",
    "BAR.ARV",
    "B2R",
    "R2B.WARP",
    "B2R.RESULT",
    "nbarrier.signal",
    "nbarrier.wait",
    "fence",
    "OpControlBarrier",
    "OpMemoryBarrier",
    "Workgroup",
    "Acquire",
    "None",
    "xegpu.init_nbarrier",
    "xegpu.nbarrier_wait",
    "xegpu.mfence",
    "xegpu.compile_hint",
    "memory_kind",
    "\"slm\"",
    "\"",
    "// c\n",
    "/* c */",
    "/*",
    "\n",
    "\n\n",
    "\r\n",
    " ",
    "é",
    "#",
    "\u{2028}",
];

/// Texts of `count` pieces, each perhaps with a space behind it.
fn soup(count: usize) -> impl Strategy<Value = String> {
    let piece = (prop::sample::select(PIECES), any::<bool>());
    prop::collection::vec(piece, 0..count).prop_map(|pieces| {
        let spaced = pieces.iter().map(|(piece, space)| format!("{piece}{}", if *space { " " } else { "" }));
        spaced.collect()
    })
}

fn target() -> impl Strategy<Value = &'static str> {
    prop::sample::select(
        &[
            "target ptx; cta 64; shared buf[4]; const N = 2; warps 0..2 {",
            "target bcu; cta 64; shared buf[4]; const N = 2; warps 0..2 {",
            "target nbarrier; thread_group 2; shared buf[4]; threads 0..2 {",
            "target split_barrier; workgroup 2; shared buf[4]; invocations 0..2 {",
            "target xegpu; workgroup 2; shared buf[4]; subgroups 0..2 { %h = xegpu.init_nbarrier 0, 2;",
        ][..],
    )
}

/// Statements that are well formed, so that much gets through to lowering and formatting.
fn statements() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(
        &[
            "exit;",
            "bar.sync 0;",
            "let x = 1;",
            "x = 2;",
            "let x = any 0..4;",
            "read buf[N];",
            "assert N == 2 ;",
            "break;",
            "// c\n",
            "/* c */",
            "\n\n",
            "write buf[1 / 0];",
            "@x bar.sync 1;",
        ][..],
    )
    .prop_map(str::to_owned);
    leaf.prop_recursive(4, 40, 6, |inner| {
        let body = prop::collection::vec(inner, 0..5).prop_map(|parts| parts.join(" "));
        let head = prop::sample::select(
            &["loop", "for i in 0..x", "while ?", "if uniform ?", "if x > 1 {} else", "if ?\n"][..],
        );
        (head, body).prop_map(|(head, body)| format!("{head} {{ {body} }}"))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        exercise(&bytes);
    }

    #[test]
    fn random_pieces(text in soup(60)) {
        exercise(text.as_bytes());
    }

    #[test]
    fn random_statements(head in target(), text in soup(20)) {
        exercise(format!("{head} {text} }}").as_bytes());
        exercise(format!("{head} exit; {text}").as_bytes());
    }

    #[test]
    fn random_structure(parts in prop::collection::vec(statements(), 0..6)) {
        let text = format!("target ptx; cta 64; shared buf[4]; const N = 2;\nwarps 0..2 {{ let x = 0; {} \
         }}", parts.join("\n"));
        exercise(text.as_bytes());
    }

    #[test]
    fn damaged_protocols(cut in 0usize..700, length in 0usize..30, piece in prop::sample::select(PIECES)) {
        let source = include_str!("ring.bar");
        let mut text = source.to_owned();
        let start = text.floor_char_boundary(cut.min(text.len()));
        let end = text.floor_char_boundary((start + length).min(text.len()));
        text.replace_range(start..end, piece);
        exercise(text.as_bytes());
    }
}

#[test]
fn a_scope_of_subgroups_needs_their_size() {
    let text = |declares: &str, execution: &str, memory: &str| {
        format!(
            "target split_barrier; workgroup 4; {declares} invocations 0..4 {{ OpControlBarrier {execution}, {memory}, \
             None; }}"
        )
    };
    let code =
        |text: String| load(text.as_bytes(), &LoadOptions::default()).err().map(|errors| errors[0].code);
    assert_eq!(code(text("", "Subgroup", "Workgroup")), Some("no-subgroup-size"));
    assert_eq!(code(text("", "Workgroup", "Subgroup")), Some("no-subgroup-size"));
    assert_eq!(code(text("", "Workgroup", "Workgroup")), None);
    assert_eq!(code(text("subgroup_size 2;", "Subgroup", "Subgroup")), None);
}
