//! Modules in PTX that are none, or no good one: each is refused with its place, quickly, or read.

use barcheck_specs::{Format, LoadError, LoadOptions, Loaded, Source, entries, load, render};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

fn options(threads: i64) -> LoadOptions {
    LoadOptions { defines: BTreeMap::from([("cta.x".to_owned(), threads)]) }
}

fn read(bytes: &[u8], threads: i64) -> Result<Loaded, LoadError> {
    let start = Instant::now();
    let source = Source::new("k.ptx", bytes);
    let loaded = load(&source, &options(threads));
    if let Err(error) = &loaded {
        assert!(!error.diagnostics.is_empty());
        let shown = render(&error.diagnostics, "k.ptx", &error.text, false);
        assert!(shown.starts_with("error["), "{shown}");
    }
    let _ = entries(&source);
    // Generous for slow machines without optimisation.
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    loaded
}

fn kernel(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.visible .entry k(.param .u32 n)\n{{\n.reg .pred %p<9>;\n\
         .reg .b32 %r<99>;\n{body}\n}}\n"
    )
}

/// It is refused with this code, at this line.
#[track_caller]
fn refused(text: impl AsRef<[u8]>, code: &str, line: u32) {
    let error = read(text.as_ref(), 64).expect_err("it is refused");
    let first = &error.diagnostics[0];
    let place = first.place(&barcheck_specs::LineIndex::new(&error.text));
    assert_eq!((first.code, place.line), (code, line), "{}", first.message);
}

#[track_caller]
fn extracted(body: &str, threads: i64) -> String {
    let loaded =
        read(kernel(body).as_bytes(), threads).unwrap_or_else(|error| panic!("{:?}", error.diagnostics));
    let text = loaded.extracted.expect("a kernel").text;
    text.lines().skip(4).map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_file_cut_short_says_what_is_open() {
    let whole = kernel("bar.sync 0;\nret;");
    refused(&whole[..whole.len() - 3], "unclosed", 4);
    refused(&whole[..whole.find('{').expect("a brace")], "syntax", 3);
    refused(".version 8.0\n.entry k(.param .u32", "unclosed", 2);
    refused(".version 8.0\n.entry", "syntax", 2);
    refused(".version 8.0\n.global .b32 x[2] = {1", "unclosed", 2);
    refused(".version 8.0\n.section .debug_info {", "unclosed", 2);
}

#[test]
fn what_is_no_text_is_refused() {
    refused(b"\x7fELF\x02\x01\x01\xff\xfe", "invalid-utf8", 1);
    refused(b".version 8.0\n\0\0\0", "invalid-utf8", 2);
    refused(b"\xff\xfe.\0v\0e\0r\0", "invalid-utf8", 1);
    refused("", "not-ptx", 1);
}

#[test]
fn a_protocol_that_is_called_a_kernel_is_refused() {
    refused("target ptx; cta 64; warps 0..2 { bar.sync 0; }", "not-ptx", 1);
    let error = read(b"target ptx;", 64).expect_err("no kernel");
    assert!(error.diagnostics[0].help[0].contains(".bar"));
}

#[test]
fn a_module_without_an_entry_is_refused() {
    refused(".version 8.0\n.target sm_90\n", "no-entry", 1);
    refused(".version 8.0\n.func f() { bar.sync 0; ret; }\n", "no-entry", 1);
}

#[test]
fn what_stands_on_the_line_of_a_directive_is_read() {
    let one_line =
        ".version 8.0 .target sm_90, debug .address_size 64 .visible .entry a() { bar.sync 0; ret; }";
    let text = format!("{one_line}\n.visible .entry b() {{ bar.sync 0; ret; }}");
    let found = entries(&Source::new("k.ptx", text.as_bytes())).expect("a module");
    assert_eq!(found.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    let places =
        ".loc 1 2 3 bar.sync 0;\n.loc 1 2 3, function_name $L__x+4, inlined_at 1 7 9 bar.sync 1;\nret;";
    assert_eq!(extracted(places, 32), "warp 0 { bar.sync 0; bar.sync 1; }");
}

#[test]
fn an_entry_of_which_something_is_not_known_is_not_left_out() {
    let others = ["frobnicate.sync 0;", "call %r1, p;", "call foreign, ();", "call vprintf, ();"];
    let entry =
        |(at, body): (usize, &&str)| format!(".visible .entry k{at}() {{ .reg .b32 %r<9>; {body} ret; }}\n");
    let all: String = others.iter().enumerate().map(entry).collect();
    let text = format!(".version 8.0\n.target sm_90\n.extern .func vprintf;\n.extern .func foreign;\n{all}");
    let found = entries(&Source::new("k.ptx", text.as_bytes())).expect("a module");
    let matter: Vec<&str> =
        found.iter().filter(|one| one.synchronises).map(|one| one.name.as_str()).collect();
    assert_eq!(matter, ["k0", "k1", "k2"]);
}

#[test]
fn several_entries_are_named() {
    let two = ".version 8.0\n.entry a() { bar.sync 0; }\n.entry b() { bar.sync 0; }\n.entry c() { ret; }\n";
    let error = read(two.as_bytes(), 64).expect_err("which one");
    assert_eq!((error.diagnostics[0].code, error.diagnostics[0].notes.len()), ("several-entries", 1));
    assert_eq!(error.diagnostics[0].notes[0], "they are: a, b");
    let found = entries(&Source::new("k.ptx", two.as_bytes())).expect("a module");
    let found: Vec<_> = found.iter().map(|entry| (entry.name.as_str(), entry.synchronises)).collect();
    assert_eq!(found, [("a", true), ("b", true), ("c", false)]);
}

#[test]
fn a_function_that_is_declared_hides_no_entry() {
    // Old compilers leave out the semicolon.
    for declared in [".visible .func f (.param .u64 a)", ".extern .func (.param .b32 r) g", ".func h;"] {
        let module =
            format!(".version 2.3\n{declared}\n\n.entry a() {{ bar.sync 0; }}\n.entry b() {{ ret; }}\n");
        let found = entries(&Source::new("k.ptx", module.as_bytes())).expect("a module");
        let found: Vec<_> = found.iter().map(|entry| (entry.name.as_str(), entry.synchronises)).collect();
        assert_eq!(found, [("a", true), ("b", false)], "{declared}");
    }
}

#[test]
fn a_label_that_does_not_exist_is_named() {
    refused(kernel("bra $L_none;\nbar.sync 0;\nret;"), "unknown-label", 7);
    // What is declared in braces is known in them alone.
    refused(kernel("{\n$L: bar.sync 0;\n}\nbra $L;"), "unknown-label", 10);
    assert_eq!(extracted("{\nbra $L;\n}\n$L: bar.sync 0;\nret;", 32), "warp 0 { bar.sync 0; }");
}

#[test]
fn the_size_of_a_group_is_in_range() {
    let sized = |directive: &str| format!(".version 8.0\n.entry k()\n{directive}\n{{ bar.sync 0; ret; }}\n");
    refused(sized(".reqntid 2048"), "group-size", 3);
    refused(sized(".reqntid 0"), "group-size", 3);
    refused(sized(".reqntid 128"), "group-size", 3);
    refused(sized(".maxntid 32"), "group-size", 3);
    refused(sized(".reqntid 99999999999, 99999999999"), "group-size", 3);
    let nothing = load(&Source::new("k.ptx", sized("").as_bytes()), &LoadOptions::default());
    assert_eq!(nothing.expect_err("nobody says").diagnostics[0].code, "group-size");
    let bound = load(&Source::new("k.ptx", sized(".maxntid 96").as_bytes()), &LoadOptions::default());
    let bound = bound.expect("taken");
    assert_eq!((bound.program.threads, bound.warnings.len()), (96, 1));
}

#[test]
fn an_instruction_that_cannot_be_read_is_an_error() {
    refused(kernel("bar.sync [;\nret;"), "syntax", 7);
    refused(kernel("@%q9 bar.sync 0;\nret;"), "syntax", 7);
    refused(kernel("= 3;\nret;"), "syntax", 7);
}

#[test]
fn deep_nesting_is_refused_or_followed_without_recursion() {
    refused(kernel(&"{ ".repeat(100_000)), "too-deep", 7);
    let (mut open, mut close) = (String::new(), String::new());
    for loop_number in 0..10_000 {
        open.push_str(&format!("$L{loop_number}:\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p1, %r1, %r2;\n"));
        close.push_str(&format!("@%p1 bra $L{};\n", 9_999 - loop_number));
    }
    let error =
        read(kernel(&format!("ld.param.u32 %r2, [n];\n{open}bar.sync 0;\n{close}ret;")).as_bytes(), 64);
    let error = error.expect_err("nobody can follow that");
    assert!(error.not_followed().is_some(), "{:?}", error.diagnostics);
    let branches = "@%p1 bra $E;\n".repeat(20_000);
    let _ = read(kernel(&format!("{branches}bar.sync 0;\n$E: ret;")).as_bytes(), 64);
    let chain = "xor.b32 %r1, %r1, %r2;\nmul.lo.s32 %r2, %r2, %r1;\n".repeat(20_000);
    let text =
        kernel(&format!("ld.param.u32 %r1, [n];\nadd.s32 %r2, %r1, 1;\n{chain}bar.sync %r1, 64;\nret;"));
    assert!(read(text.as_bytes(), 64).expect_err("unknown").not_followed().is_some());
}

#[test]
fn many_instructions_are_read_in_linear_time() {
    let text = kernel(&"fma.rn.f32 %r1, %r1, %r2, %r3;\nbar.sync 0;\n".repeat(8_000));
    assert!(read(text.as_bytes(), 64).is_ok());
    let text = kernel(&format!("{}bar.sync 0;\nret;", "add.s32 %r1, %r1, %r2;\n".repeat(200_000)));
    assert!(read(text.as_bytes(), 64).is_ok());
}

#[test]
fn registers_of_braces_hide_those_outside() {
    let body = "mov.u32 %r1, 64;\n{\n.reg .b32 %r1;\nmov.u32 %r1, 32;\n}\nbar.sync 1, %r1;\nret;";
    assert_eq!(extracted(body, 64), "warps 0..2 { bar.sync 1, 64; }");
}

#[test]
fn counted_loops_are_loops() {
    let body = "mov.u32 %r1, 0;\n$L:\nbar.sync 0;\nadd.s32 %r1, %r1, 4;\nsetp.lt.u32 %p1, %r1, 40;\n\
                @%p1 bra $L;\nret;";
    assert_eq!(extracted(body, 32), "warp 0 { for i in 0..10 { bar.sync 0; } }");
}

#[test]
fn a_loop_by_a_shift_is_a_loop() {
    let body = "mov.u32 %r1, %ntid.x;\n$L:\nshr.u32 %r1, %r1, 1;\nbar.sync 0;\nsetp.gt.u32 %p1, %r1, 1;\n\
                @%p1 bra $L;\nret;";
    assert_eq!(extracted(body, 32), "warp 0 { for i in 0..5 { bar.sync 0; } }");
}

#[test]
fn a_bound_that_is_a_parameter_is_a_shared_decision() {
    let body = "ld.param.u32 %r2, [n];\nmov.u32 %r1, 0;\n$L:\nbar.sync 0;\nadd.s32 %r1, %r1, 1;\n\
                setp.lt.s32 %p1, %r1, %r2;\n@%p1 bra $L;\nret;";
    let text = extracted(body, 64);
    assert!(text.contains("uniform") && text.contains("// (i+1) < n"), "{text}");
}

#[test]
fn what_lanes_have_in_common_is_taken_off_both_sides() {
    let body = "ld.param.u32 %r2, [n];\nmov.u32 %r1, %tid.x;\nadd.s32 %r3, %r1, %r2;\n$L:\nbar.sync 0;\n\
                add.s32 %r1, %r1, 16;\nsetp.lt.s32 %p1, %r1, %r3;\n@%p1 bra $L;\nret;";
    assert!(extracted(body, 64).contains("uniform"));
    let loaded = read(kernel(body).as_bytes(), 64).expect("a kernel");
    assert!(loaded.warnings.iter().any(|note| note.message.contains("overflow")));
    // A start that differs between lanes does not go away.
    let body = body.replace("add.s32 %r3, %r1, %r2;", "mov.u32 %r3, %r2;");
    assert!(extracted(&body, 64).contains("part = any"));
}

/// A loop that asks for a phase of parity 0 on the object at an address.
fn wait(address: &str) -> String {
    format!(
        "{{\n.reg .pred P1;\nW: mbarrier.try_wait.parity.shared::cta.b64 P1, [{address}], 0;\n\
         @P1 bra D;\nbra W;\nD:\n}}\n"
    )
}

/// Objects are initialised by the first thread.
fn with_objects(body: &str) -> String {
    format!(
        "mov.u32 %r1, smem;\nmov.u32 %r9, %tid.x;\nsetp.ne.s32 %p1, %r9, 0;\n@%p1 bra $L;\n\
         mbarrier.init.shared::cta.b64 [%r1], 1;\nmbarrier.init.shared::cta.b64 [%r1+8], 1;\n\
         $L:\nbar.sync 0;\n{body}\nret;"
    )
}

#[test]
fn a_loop_that_asks_until_it_holds_is_a_wait() {
    let text = extracted(&with_objects(&wait("%r1+8")), 32);
    assert!(text.ends_with("bar.sync 0; mbarrier.wait.parity smem_bar[1], 0; }"), "{text}");
}

#[test]
fn copies_of_tensors_share_what_is_announced() {
    let copy = "@!%p1 cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes \
                [%r1+64], [%r8, {%r9}], [%r1];\n";
    let announce = "@!%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 96;\n";
    let text = extracted(&with_objects(&format!("{announce}{}{}", copy.repeat(2), wait("%r1"))), 32);
    assert_eq!(text.matches("cp.async.bulk _, 48, smem_bar[0];").count(), 2, "{text}");
    // Nobody has said how long the copy is.
    let error = read(kernel(&with_objects(copy)).as_bytes(), 32).expect_err("how many bytes");
    assert!(error.not_followed().is_some_and(|found| found.message.contains("bytes")));
}

#[test]
fn objects_of_an_address_that_is_computed_are_an_array() {
    let body = with_objects(&format!(
        "ld.param.u32 %r2, [n];\nmov.u32 %r3, 0;\n$M:\nand.b32 %r4, %r3, 1;\nshl.b32 %r4, %r4, 3;\n\
         add.s32 %r5, %r1, %r4;\n@!%p1 mbarrier.arrive.shared::cta.b64 _, [%r5];\n{}\
         add.s32 %r3, %r3, 1;\nsetp.lt.s32 %p2, %r3, %r2;\n@%p2 bra $M;",
        wait("%r5")
    ));
    let text = extracted(&body, 32);
    assert!(text.contains("if lane == 0 { mbarrier.arrive smem_bar["), "{text}");
}

#[test]
fn who_is_elected_among_some_is_not_followed() {
    let body = "mov.u32 %r1, %laneid;\nsetp.lt.u32 %p1, %r1, 16;\n@%p1 bra $L;\nelect.sync _|%p2, -1;\n\
                @!%p2 bra $L;\nbar.arrive 1, 64;\n$L:\nbar.sync 0;\nret;";
    let error = read(kernel(body).as_bytes(), 64).expect_err("who is it");
    assert!(error.not_followed().is_some_and(|found| found.message.contains("elected")));
    // Among all it is one of them.
    let body = body.replace("setp.lt.u32 %p1, %r1, 16;\n@%p1 bra $L;\n", "");
    assert!(extracted(&body, 64).contains("if lane == 0"));
}

#[test]
fn the_same_lane_of_a_mask_is_elected_each_time() {
    let body = "elect.sync %r3|%p1, 0xf0;\nelect.sync %r3|%p2, 0xf0;\nxor.pred %p3, %p1, %p2;\n\
                @%p3 bra $L;\nbar.sync 1, 64;\n$L:\n@!%p2 bra $M;\nbar.arrive 2, 64;\n$M:\nret;";
    let text = extracted(body, 64);
    assert_eq!(text, "warps 0..2 { bar.sync 1, 64; if lane != 4 { exit; } bar.arrive 2, 64; }");
    // Of masks that are not known any lanes may be elected.
    let body = body.replace("%p2, 0xf0", "%p2, %r4");
    assert!(extracted(&body, 64).contains("part = any"));
}

#[test]
fn operations_with_unknown_modifiers_are_not_computed() {
    let of = |operation: &str| {
        let body = format!("mov.u32 %r1, -3;\n{operation} %r2, %r1, 64;\nbar.sync 1, %r2;\nret;");
        read(kernel(&body).as_bytes(), 64).map(|loaded| loaded.extracted.expect("a kernel").text)
    };
    assert!(of("max.s32").expect("it is known").contains("bar.sync 1, 64;"));
    assert!(of("max.relu.s32").expect_err("it is not").not_followed().is_some());
    assert!(of("max.s16x2").expect_err("it is not").not_followed().is_some());
}

#[test]
fn a_vector_and_its_parts_are_followed() {
    let body = "mov.u32 %r1, 1;\nmov.u32 %r2, 64;\nmov.b64 %r5, {%r1, %r2};\nmov.b64 {%r6, %r7}, %r5;\n\
                bar.sync %r6, %r7;\nret;";
    assert_eq!(extracted(body, 64), "warps 0..2 { bar.sync 1, 64; }");
}

#[test]
fn content_is_recognised_without_a_name() {
    let text = format!("// by hand\n/* so */ {}", kernel("bar.sync 0;"));
    assert_eq!(Format::recognise("-", text.as_bytes()), Some(Format::Ptx));
    assert_eq!(Format::recognise("-", b"target ptx; cta 32;"), Some(Format::Bar));
}

fn words() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "bar.sync",
        "bar.arrive",
        "0",
        "1",
        ",",
        "64",
        ";",
        "\n",
        "@%p1",
        "@!%p2",
        "bra",
        "$L",
        "$M",
        "$L:",
        "$M:",
        "{",
        "}",
        "ret;",
        "exit;",
        "%r1",
        "%r2",
        "mov.u32",
        "add.s32",
        "setp.lt.s32",
        "%p1",
        "%tid.x",
        "ld.param.u32",
        "[n]",
        "[",
        "]",
        "selp.b32",
        "call",
        "(",
        ")",
        "brx.idx",
        ".reg",
        ".b32",
        "<",
        ">",
        "\"",
        "/*",
        "*/",
        "shfl.sync.idx.b32",
        "%r1|%p1",
        "-",
        "0x7",
        ".loc 1 2 3",
        "bra $L;",
        "bar.sync 0;",
        "bar.sync %r1, 64;",
        "add.s32 %r1, %r1, 1;",
        "setp.lt.s32 %p1, %r1, %r2;",
        "@%p1 bra $L;",
        "@%p2 bra $M;",
        "mov.u32 %r1, %tid.x;",
    ]);
    prop::collection::vec(word, 0..60).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&bytes, 64);
        let _ = read(&[b".version 8.0\n".as_slice(), &bytes].concat(), 64);
    }

    #[test]
    fn no_words_make_the_reader_panic(words in words()) {
        let _ = read(kernel(&words).as_bytes(), 96);
    }
}
