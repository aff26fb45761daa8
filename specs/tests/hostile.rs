//! No module of SPIR-V or MLIR makes its reader, or the extraction behind it, panic, run out of stack or take
//! long; what is wrong with it is said, with a place.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use barcheck_specs::{Format, LineIndex, LoadOptions, Source, entries, load, render};
use proptest::prelude::*;

const SPIRV: &str = include_str!("../../checker/tests/kernels/split.spvasm");
const MLIR: &str = include_str!("../../checker/tests/kernels/named.mlir");

/// Reads the first entries of a module; the codes of what is wrong with them.
fn exercise(format: Format, bytes: &[u8]) -> Vec<&'static str> {
    let source = Source { format: Some(format), ..Source::new("x", bytes) };
    let count = match entries(&source) {
        Ok(entries) => entries.len(),
        Err(error) => {
            assert!(!error.diagnostics.is_empty());
            1
        }
    };
    let mut codes = Vec::new();
    for index in 0..count.clamp(1, 16) {
        let index = i64::try_from(index).expect("it is small");
        let defines = BTreeMap::from([("cta.x".to_owned(), 64), ("entry.index".to_owned(), index)]);
        let Err(error) = load(&source, &LoadOptions { defines }) else { continue };
        assert!(!error.diagnostics.is_empty());
        let rendered = render(&error.diagnostics, "x", &error.text, false);
        assert!(!rendered.is_empty());
        let lines = LineIndex::new(&error.text);
        for diagnostic in &error.diagnostics {
            assert!(diagnostic.place(&lines).line > 0);
            codes.push(diagnostic.code);
        }
    }
    codes
}

#[track_caller]
fn check(format: Format, bytes: impl AsRef<[u8]>, expected: &str) {
    let start = Instant::now();
    let codes = exercise(format, bytes.as_ref());
    assert!(codes.contains(&expected), "{expected}: {codes:?}");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

/// A module of words: its header, and instructions.
fn words(instructions: &[&[u32]]) -> Vec<u8> {
    let mut words = vec![0x0723_0203, 0x1_0400, 0, u32::MAX, 0];
    for instruction in instructions {
        words.push(u32::try_from(instruction.len()).expect("it is short") << 16 | instruction[0]);
        words.extend(&instruction[1..]);
    }
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A kernel of words around instructions of its body: 1 is void, 2 its function type, 3 the kernel, 5 a
/// block.
fn kernel(body: &[&[u32]]) -> Vec<u8> {
    let name = u32::from_le_bytes(*b"k\0\0\0");
    let mut all: Vec<&[u32]> = vec![&[15, 6, 3, 0], &[19, 1], &[33, 2, 1], &[54, 1, 3, 0, 2], &[248, 5]];
    let entry = [15, 6, 3, name];
    all[0] = &entry;
    all.extend(body);
    all.push(&[56]);
    words(&all)
}

#[test]
fn a_byte_order_mark_and_nothing_to_read_behind_it_is_an_error_with_a_place() {
    for format in [Format::Ptx, Format::Sass, Format::Visa, Format::Spirv, Format::Xegpu, Format::Bar] {
        for text in ["\u{feff}", "\u{feff}\u{e}", "\u{feff}I"] {
            assert!(!exercise(format, text.as_bytes()).is_empty(), "{text:?}");
        }
    }
}

#[test]
fn spirv_that_is_none() {
    let spirv = |bytes: &[u8], code| check(Format::Spirv, bytes, code);
    spirv(b"", "no-entry");
    spirv(b"\x03\x02\x23\x07", "unclosed");
    spirv(b"\x7fELF\x02\x01\x01\0\0", "invalid-utf8");
    spirv(MLIR.as_bytes(), "not-spirv");
    spirv(b".version 8.0\n.target sm_80\n", "not-spirv");
    spirv("OpName %1 \"".repeat(999).as_bytes(), "unclosed");
    spirv(&vec![b' '; 25 << 20], "too-long");
    // Text behind the magic word of a binary.
    let mixed = [&0x0723_0203_u32.to_le_bytes(), SPIRV.as_bytes()].concat();
    spirv(&mixed, "unclosed");
}

#[test]
fn words_without_sense() {
    let spirv = |bytes: Vec<u8>, code| check(Format::Spirv, bytes, code);
    // Nothing is made of a bound that is too large; an instruction without words would never end.
    spirv(words(&[]), "no-entry");
    spirv(words(&[&[0; 5]]).into_iter().chain([0; 4]).collect(), "unclosed");
    spirv(kernel(&[&[249, 9], &[253]]), "unknown-id");
    spirv(kernel(&[&[57, 1, 6, 9], &[253]]), "unknown-id");
    spirv(kernel(&[&[224, 7, 8, 9], &[253]]), "not-followed");
    // Nobody knows what 60000 does.
    spirv(kernel(&[&[60000, 1, 2], &[253]]), "not-followed");
    // A function that calls itself.
    spirv(kernel(&[&[57, 1, 6, 3], &[253]]), "not-followed");
    // A structure inside itself, and a variable of it.
    let cyclic: &[&[u32]] = &[&[30, 20, 20, 20], &[32, 21, 7, 20]];
    let name = u32::from_le_bytes(*b"k\0\0\0");
    let mut all: Vec<&[u32]> = vec![&[19, 1], &[33, 2, 1]];
    let entry = [15, 6, 3, name];
    all.insert(0, &entry);
    all.extend(cyclic);
    all.extend::<[&[u32]; 7]>([
        &[54, 1, 3, 0, 2],
        &[248, 5],
        &[59, 21, 22, 7],
        &[61, 20, 23, 22],
        &[62, 22, 23],
        &[249, 5],
        &[56],
    ]);
    exercise(Format::Spirv, &words(&all));
    // A constant made of itself.
    exercise(Format::Spirv, &words(&[&[44, 1, 9, 9, 9], &[11, 9], &[57]]));
}

/// A module of words and the text that people read of it are the same kernel.
#[test]
fn words_are_read_as_their_text_is() {
    let name = u32::from_le_bytes(*b"k\0\0\0");
    let scope = u32::from_le_bytes(*b"s\0\0\0");
    let bytes = words(&[
        &[15, 6, 3, name],
        &[16, 3, 17, 4, 1, 1],
        &[5, 8, scope],
        &[19, 1],
        &[33, 2, 1],
        &[21, 7, 32, 0],
        &[43, 7, 8, 2],
        &[43, 7, 9, 264],
        &[54, 1, 3, 0, 2],
        &[248, 5],
        &[224, 8, 8, 9],
        &[253],
        &[56],
    ]);
    let of_words = load(&Source::new("x.spv", &bytes), &LoadOptions::default()).expect("a kernel");
    let text = of_words.text.clone();
    let of_text = load(&Source::new("x.spvasm", text.as_bytes()), &LoadOptions::default()).expect("a kernel");
    assert_eq!(of_words.program, of_text.program);
    assert_eq!((of_words.format, of_words.program.agents.len()), (Format::Spirv, 4));
    let place = of_words.program.roles[0].code.places[0];
    assert_eq!(text.lines().nth(place.line as usize - 1), Some("OpControlBarrier %8 %8 %9"));
}

#[test]
fn mlir_that_is_none() {
    let mlir = |bytes: &[u8], code| check(Format::Xegpu, bytes, code);
    mlir(b"", "no-entry");
    mlir(b"ML\xefR\x06MLIR20", "invalid-utf8");
    mlir(SPIRV.as_bytes(), "not-mlir");
    mlir("gpu.module @a {\n".repeat(100_000).as_bytes(), "too-deep");
    mlir("x.y (".repeat(100_000).as_bytes(), "unclosed");
    mlir(b"gpu.module @a { gpu.func @b() kernel { gpu.return }", "unclosed");
    mlir(b"gpu.func @b() kernel { %z = arith.addi %x, %y : index gpu.return }", "unknown-id");
    mlir(b"gpu.func @b() kernel { cf.br ^nowhere }", "unknown-id");
    mlir(b"gpu.func @b() kernel { func.call @b() : () -> () gpu.return }", "not-followed");
    mlir(b"gpu.func @b() kernel { func.call @c() : () -> () gpu.return }", "not-followed");
    mlir(b"gpu.func @b() kernel { llvm.inline_asm \"bar.sync 0\" gpu.return }", "not-followed");
    mlir(
        b"gpu.func @b() kernel { scf.parallel () = () to () step () { gpu.barrier } gpu.return }",
        "not-followed",
    );
    mlir(
        b"gpu.func @b(%n: !xegpu.nbarrier) kernel { xegpu.nbarrier_wait %n : !xegpu.nbarrier }",
        "not-followed",
    );
    mlir(&vec![b' '; 25 << 20], "too-long");
    let nested = format!("gpu.func @b() kernel {{ {} }}", "affine.apply affine_map<() -> (".repeat(10_000));
    mlir(nested.as_bytes(), "syntax");
    let deep = format!("{}0{}", "(".repeat(10_000), ")".repeat(10_000));
    exercise(
        Format::Xegpu,
        format!("gpu.func @b() kernel {{ %x = affine.apply affine_map<() -> ({deep})>() }}").as_bytes(),
    );
}

#[test]
fn large_modules_are_read_in_time() {
    let start = Instant::now();
    let barriers = "OpControlBarrier %two %two %two\n".repeat(100_000);
    let text = format!(
        "OpEntryPoint Kernel %k \"k\"\n%v = OpTypeVoid\n%f = OpTypeFunction %v\n%u = OpTypeInt 32 0\n\
         %two = OpConstant %u 2\n%k = OpFunction %v None %f\n%l = OpLabel\n\
         {barriers}OpReturn\nOpFunctionEnd\n"
    );
    exercise(Format::Spirv, text.as_bytes());
    let data = "%x = arith.addi %x, %x : index\n".repeat(100_000);
    exercise(Format::Xegpu, format!("gpu.func @b(%x: index) kernel {{\n{data}\n gpu.return }}").as_bytes());
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

/// Every prefix that ends a line, and some that do not.
fn prefixes(format: Format, text: &str, step: usize) {
    for end in (0..text.len()).step_by(step).filter(|end| text.is_char_boundary(*end)) {
        exercise(format, &text.as_bytes()[..end]);
    }
}

#[test]
fn modules_that_are_cut_short() {
    prefixes(Format::Spirv, SPIRV, 331);
    prefixes(Format::Xegpu, MLIR, 331);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn bytes_that_have_changed(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        of_spirv in any::<bool>(),
    ) {
        let (format, text) = if of_spirv { (Format::Spirv, SPIRV) } else { (Format::Xegpu, MLIR) };
        let mut bytes = text.as_bytes().to_vec();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        exercise(format, &bytes);
    }

    #[test]
    fn lines_in_another_order(
        swaps in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..12),
        of_spirv in any::<bool>(),
    ) {
        let (format, text) = if of_spirv { (Format::Spirv, SPIRV) } else { (Format::Xegpu, MLIR) };
        let mut lines: Vec<&str> = text.lines().collect();
        for (one, other) in swaps {
            let (one, other) = (one.index(lines.len()), other.index(lines.len()));
            lines.swap(one, other);
        }
        exercise(format, lines.join("\n").as_bytes());
    }

    #[test]
    fn words_at_random(body in prop::collection::vec(prop::collection::vec(0_u32..300, 1..6), 0..30)) {
        let body: Vec<&[u32]> = body.iter().map(Vec::as_slice).collect();
        exercise(Format::Spirv, &kernel(&body));
    }
}
