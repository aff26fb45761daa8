//! Listings that are none, or no good one: each is refused with its place, quickly, or read. And what
//! instructions come to.

use barcheck_specs::{Format, LoadError, LoadOptions, Loaded, Source, entries, load, render};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

fn read(bytes: &[u8], threads: i64) -> Result<Loaded, LoadError> {
    let start = Instant::now();
    let source = Source::new("k.sass", bytes);
    let options = LoadOptions { defines: BTreeMap::from([("cta.x".to_owned(), threads)]) };
    let loaded = load(&source, &options);
    if let Err(error) = &loaded {
        assert!(!error.diagnostics.is_empty());
        let shown = render(&error.diagnostics, "k.sass", &error.text, false);
        assert!(shown.starts_with("error["), "{shown}");
    }
    let _ = entries(&source);
    // Generous for slow machines without optimisation.
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    loaded
}

/// It is refused with this code, at this line.
#[track_caller]
fn refused(text: impl AsRef<[u8]>, code: &str, line: u32) -> String {
    let error = read(text.as_ref(), 64).expect_err("it is refused");
    let first = &error.diagnostics[0];
    let place = first.place(&barcheck_specs::LineIndex::new(&error.text));
    assert_eq!((first.code, place.line), (code, line), "{}", first.message);
    first.message.clone()
}

/// The protocol behind its head, in one line.
#[track_caller]
fn extracted(text: &str, threads: i64) -> String {
    let loaded = read(text.as_bytes(), threads).unwrap_or_else(|error| panic!("{:?}", error.diagnostics));
    let text = loaded.extracted.expect("a kernel").text;
    text.lines().skip(4).map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// What one warp does at its barrier, the number of which is what `code` puts into R0.
#[track_caller]
fn number(code: &str) -> String {
    let text = extracted(&format!("S2R R9, SR_TID.X;\n{code}\nBAR.SYNC R0, 0x20;\nEXIT;"), 32);
    let (_, rest) = text.split_once("BAR.SYNC ").expect("a barrier");
    rest.split_once(',').expect("a number").0.to_owned()
}

#[test]
fn a_file_cut_short_is_refused_or_not_followed() {
    let whole = "\tcode for sm_80\n\tFunction : k\n  /*0000*/ BAR.SYNC 0x0 ;\n  /*0010*/ EXIT ;\n";
    assert!(read(whole.as_bytes(), 64).is_ok());
    refused(&whole[..whole.len() - 3], "syntax", 4);
    let said = refused(whole.lines().take(3).collect::<Vec<_>>().join("\n"), "not-followed", 3);
    assert!(said.contains("the listing ends here"), "{said}");
    refused("\tFunction : k\n  /*0000*/ EXIT ; /* open", "unclosed", 2);
    let missing = "\tFunction : k\n  /*0000*/ NOP ;\n  /*0040*/ EXIT ;\n";
    assert!(refused(missing, "not-followed", 3).contains("missing"));
}

#[test]
fn what_is_no_listing_is_refused() {
    refused(b"\x7fELF\x02\x01\x01\xff\xfe", "invalid-utf8", 1);
    refused(b"NOP ;\n\0\0\0", "invalid-utf8", 2);
    refused(b"\xff\xfeN\0O\0P\0", "invalid-utf8", 1);
    refused("", "not-sass", 1);
    refused("\tcode for sm_80\n", "not-sass", 1);
    refused("target bcu\n", "not-sass", 1);
    let ptx = ".version 8.0\n.target sm_90\n.entry k()\n{\n\tbar.sync 0;\n\tret;\n}\n";
    assert!(refused(ptx, "not-followed", 5).contains("`bar.sync`, which is not known"));
}

#[test]
fn content_is_recognised_without_a_name() {
    let listing = b"\tcode for sm_80\n\t\tFunction : k\n        /*0000*/                   EXIT ;\n";
    assert_eq!(Format::recognise("-", listing), Some(Format::Sass));
    assert_eq!(
        Format::recognise("-", b"        /*0010*/              @!P0 BRA 0x60 ;\n"),
        Some(Format::Sass)
    );
    assert_eq!(Format::recognise("-", b"target bcu; cta 32; warp 0 { BAR.SYNC 0x0; }"), Some(Format::Bar));
    assert_eq!(Format::recognise("k.cuasm", b""), Some(Format::Sass));
}

#[test]
fn unknown_instructions_are_not_followed_wherever_they_may_matter() {
    for unknown in
        ["QUANTUM.SYNC R0 ;", "BAR.SCAN 0x0 ;", "BAR.SYNC ;", "BAR.RED.POPC RZ, RZ ;", "SYNCS.ARRIVE R0 ;"]
    {
        refused(format!("NOP ;\n{unknown}\nEXIT ;"), "not-followed", 2);
    }
    // What is written is not known: it may be the number.
    refused("MOV R0, 0x1 ;\nMOV count, 0x2 ;\nBAR.SYNC R0 ;\nEXIT ;", "not-followed", 2);
    // What is not reached does not matter.
    assert_eq!(extracted("BAR.SYNC 0x0 ;\nEXIT ;\nQUANTUM ;", 64), "warps 0..2 { BAR.SYNC 0; }");
}

#[test]
fn labels_that_do_not_exist_are_named() {
    let said = refused("BAR.SYNC 0x0 ;\n@P0 BRA `(.L_none) ;\nBAR.SYNC 0x0 ;\nEXIT ;", "not-followed", 2);
    assert!(said.contains(".L_none"), "{said}");
    refused("BRA 0x50 ;\nBAR.SYNC 0x0 ;", "not-followed", 1);
    refused("CALL.REL.NOINC `(nobody) ;\nBAR.SYNC 0x0 ;", "not-followed", 1);
    refused("SYNC ;\nBAR.SYNC 0x0 ;", "not-followed", 1);
    refused("BRX R0 -0x10 ;\nBAR.SYNC 0x0 ;", "not-followed", 1);
    refused("BSSY B0, L1 ;\nL1:\nNOP ;\nBSYNC B0 ;\nBAR.SYNC 0x0 ;", "not-followed", 4);
}

#[test]
fn a_register_that_is_written_in_a_way_that_is_not_followed_is_not_known() {
    for writer in [
        "LDG.E R0, [R2.64] ;",
        "LDG.E.128 R0, [R2.64] ;",
        "@P3 MOV R0, R7 ;",
        "MUFU.RCP R0, R7 ;",
        "HMMA.16816.F32 R0, R4, R8, R12 ;",
        "IMAD.WIDE R0, R9, R8, R10 ;",
        "SHFL.DOWN PT, R0, R9, 0x1, 0x1f ;",
        "ATOMG.E.ADD.STRONG.GPU PT, R0, [R2.64], R5 ;",
        "I2I.U8.S32 R0.B1, R9 ;",
        "REDUX.SUM R0, R9 ;",
        "CS2R R0, SR_CLOCKLO ;",
    ] {
        let text = format!("MOV R0, 0x1 ;\nMOV R1, 0x1 ;\n{writer}\nBAR.SYNC R0, 0x40 ;\nEXIT ;");
        let said = refused(text, "not-followed", 4);
        assert!(said.contains("number of this barrier"), "{writer}: {said}");
    }
    // The second of two registers that are written together.
    refused("MOV R1, 0x1 ;\nLDG.E.64 R0, [R2.64] ;\nBAR.SYNC R1, 0x40 ;\nEXIT ;", "not-followed", 3);
    refused("MOV R3, 0x1 ;\nDADD R2, R4, R6 ;\nBAR.SYNC R3, 0x40 ;\nEXIT ;", "not-followed", 3);
    refused("MOV R7, 0x1 ;\nHGMMA.64x8x16.F32 R4, gdesc[UR4], R4 ;\nBAR.SYNC R7, 0x40 ;", "not-followed", 3);
}

#[test]
fn integers_are_computed() {
    assert_eq!(number("MOV R0, 0x3;"), "3");
    assert_eq!(number("IADD3 R0, R9, -R9, 0x5;"), "5");
    assert_eq!(number("IMAD.MOV.U32 R0, RZ, RZ, 0x4;"), "4");
    assert_eq!(number("HFMA2.MMA R0, -RZ, RZ, 0, 5.36441802978515625e-07;"), "9");
    assert_eq!(number("SHF.R.U32.HI R0, RZ, 0x5, R9; IADD3 R0, R0, 0x2, RZ;"), "2");
    assert_eq!(number("MOV R1, 0x35; LOP3.LUT R0, R1, 0xf, RZ, 0xc0, !PT;"), "5");
    assert_eq!(number("MOV R1, 0x9; LOP3.LUT R0, R1, 0xf, R1, 0x3c, !PT;"), "6");
    assert_eq!(number("MOV R1, 0xc; MOV R2, 0xa; LOP3.LUT R0, R1, 0x3, R2, 0xf8, !PT;"), "14");
    assert_eq!(number("MOV R1, 0x6; LOP3.LUT R0, R1, RZ, RZ, 0x0f, !PT;"), "9");
    assert_eq!(number("MOV R1, 0x380; LEA.HI R0, R1, 0x1, RZ, 0x19;"), "8");
    assert_eq!(number("MOV R1, 0x3; LEA R0, R1, R1, 0x1;"), "9");
    assert_eq!(number("MOV R1, 0x7; ISETP.LT.AND P0, P1, R1, 0x8, PT; SEL R0, R1, 0x2, P1;"), "2");
    assert_eq!(number("PLOP3.LUT P0, PT, PT, PT, PT, 0x8, 0x0; SEL R0, RZ, 0x2, P0;"), "2");
    assert_eq!(number("MOV R1, 0x543; SGXT.U32 R0, R1, 0x3;"), "3");
    assert_eq!(number("MOV R1, 0x540; BFE.U32 R0, R1, 0x406;"), "5");
    assert_eq!(number("MOV R1, 0x70200; PRMT R0, R1, 0x7770, R1; PRMT R0, R1, 0x3332, RZ;"), "7");
    assert_eq!(number("MOV R1, 0x3; VIMNMX R0, R1, 0x7, !PT;"), "7");
    assert_eq!(number("LOP3.LUT P0, RZ, R9, 0x40, RZ, 0xc0, !PT; SEL R0, RZ, 0x3, P0;"), "3");
    assert_eq!(number("UMOV UR4, 0x4; UIADD3 UR4, UR4, 0x1, URZ; MOV R0, UR4;"), "5");
    assert_eq!(number("IMAD.WIDE.U32 R0, R9, RZ, RZ; IADD3 R0, R0, 0x6, RZ;"), "6");
    assert_eq!(number("@!PT MOV R0, 0x9; @PT MOV R0, 0x2;"), "2");
}

#[test]
fn one_register_may_hold_number_and_count() {
    let packed = |head: &str, value: &str| {
        let text = format!("{head}MOV R7, {value} ;\nBAR.SYNC R7, R7 ;\nEXIT ;");
        extracted(&text, 64)
    };
    assert_eq!(packed("", "0x400003"), "warps 0..2 { BAR.SYNC 3, 64; }");
    assert_eq!(packed("", "0x40"), "warps 0..2 { BAR.SYNC 0, 64; }");
    assert_eq!(packed("\tcode for sm_90\n\tFunction : k\n", "0x400003"), "warps 0..2 { BAR.SYNC 3, 64; }");
    let red = "MOV R7, 0x403 ;\nBAR.RED.AND R7, P0 ;\nEXIT ;";
    assert_eq!(extracted(red, 64), "warps 0..2 { BAR.RED.AND 3, 64, PT; }");
}

#[test]
fn constant_memory_is_the_same_for_all() {
    let code = "ISETP.GE.AND P0, PT, RZ, c[0x0][0x170], PT ;\n@P0 EXIT ;\nBAR.SYNC 0x0 ;\nEXIT ;";
    let text = extracted(code, 64);
    assert!(text.contains("uniform") && text.contains("c[0x0][0x170]"), "{text}");
    // The size of the group is known where the chip says where it stands.
    let sized = "\tcode for sm_80\n\tFunction : k\nMOV R1, c[0x0][0x0] ;\nSHF.R.U32.HI R0, RZ, 0x5, R1 ;\n\
                 BAR.SYNC R0, 0x40 ;\nEXIT ;";
    assert_eq!(extracted(sized, 64), "warps 0..2 { BAR.SYNC 2, 64; }");
}

#[test]
fn calls_are_laid_out_where_they_come_back() {
    let call = |setup: &str| {
        format!(
            "\tFunction : k\n/*0000*/ {setup} ;\n/*0010*/ CALL.REL.NOINC `(f) ;\n/*0020*/ BAR.SYNC 0x2 ;\n\
             /*0030*/ EXIT ;\nf:\n/*0040*/ BAR.SYNC 0x1 ;\n/*0050*/ RET.REL.NODEC R4 `(k) ;\n"
        )
    };
    assert_eq!(extracted(&call("MOV R4, 0x20"), 64), "warps 0..2 { BAR.SYNC 1; BAR.SYNC 2; }");
    refused(call("MOV R4, 0x30"), "not-followed", 3);
    refused(call("MOV R5, 0x20"), "not-followed", 3);
}

#[test]
fn threads_meet_where_older_chips_say() {
    let text = "\tcode for sm_52\n\tFunction : k\nS2R R0, SR_TID.X ;\nISETP.LT.AND P0, PT, R0, 0x20, PT ;\n\
                SSY `(.L_1) ;\n@P0 SYNC ;\nBAR.ARV 0x1, 0x40 ;\nSYNC ;\n.L_1:\n@P0 BAR.SYNC 0x1, 0x40 ;\nEXIT ;\n";
    assert_eq!(extracted(text, 64), "warp 0 { BAR.SYNC 1, 64; } warp 1 { BAR.ARV 1, 64; }");
    let text =
        "PBK `(.L_2) ;\n.L_1:\nBAR.SYNC 0x0 ;\n@P0 BRK ;\nBRA `(.L_1) ;\n.L_2:\nBAR.SYNC 0x1 ;\nEXIT ;";
    assert!(extracted(text, 64).contains("BAR.SYNC 1"));
}

/// Producers and consumers, compiled for a chip.
#[test]
fn protocols_of_a_listing() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../checker/tests/kernels/pairs_sm_90.sass");
    let text = std::fs::read_to_string(path).expect("a listing");
    let source = Source::new("pairs_sm_90.sass", text.as_bytes());
    let mut shown = String::new();
    for entry in entries(&source).expect("a listing") {
        let index = i64::try_from(entry.index).unwrap_or(0);
        let defines = BTreeMap::from([("cta.x".to_owned(), 128), ("entry.index".to_owned(), index)]);
        let loaded = load(&source, &LoadOptions { defines }).expect("a protocol");
        shown.push_str(&loaded.extracted.expect("a kernel").text);
        shown.push('\n');
    }
    insta::assert_snapshot!("sass_pairs", shown);
}

#[test]
fn many_instructions_are_read_in_linear_time() {
    let mut text = String::from("\tcode for sm_90\n\tFunction : k\n");
    for at in 0..100_000 {
        text.push_str(&format!(
            "        /*{:04x}*/                   IADD3 R{}, R1, R2, RZ ;\n",
            at * 16,
            at % 8
        ));
    }
    text.push_str(&format!("        /*{:04x}*/                   BAR.SYNC 0x0 ;\n", 1_600_000));
    text.push_str(&format!("        /*{:04x}*/                   EXIT ;\n", 1_600_016));
    assert_eq!(extracted(&text, 64), "warps 0..2 { BAR.SYNC 0; }");
    let jumps: String =
        (0..50_000).map(|at| format!("BSSY B0, L{at} ;\n@P0 BRA L{at} ;\nBSYNC B0 ;\nL{at}:\n")).collect();
    assert!(read(format!("{jumps}BAR.SYNC 0x0 ;\nEXIT ;").as_bytes(), 64).is_ok());
    let calls: String = (0..20_000).map(|_| "CALL.REL.NOINC `(f) ;\n").collect();
    let _ = read(format!("{calls}EXIT ;\nf:\nBAR.SYNC 0x0 ;\nRET.REL.NODEC R4 ;").as_bytes(), 64);
    let stacks: String = (0..20_000).map(|at| format!("SSY L{at} ;\n@P0 SYNC ;\n")).collect();
    let _ = read(format!("{stacks}BAR.SYNC 0x0 ;\nEXIT ;").as_bytes(), 64);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(&bytes, 96);
    }

    #[test]
    fn no_change_of_a_listing_makes_the_reader_panic(
        (from, length) in (0..29_000_usize, 0..60_usize),
        bytes in proptest::collection::vec(any::<u8>(), 0..20),
        index in 0..11_i64,
    ) {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../checker/tests/kernels/pairs_sm_75.sass");
        let mut text = std::fs::read(path).expect("a listing");
        let from = from.min(text.len());
        text.splice(from..(from + length).min(text.len()), bytes);
        let defines = BTreeMap::from([("cta.x".to_owned(), 64), ("entry.index".to_owned(), index)]);
        let _ = load(&Source::new("k.sass", &text), &LoadOptions { defines });
    }

    #[test]
    fn no_words_make_the_reader_panic(words in proptest::collection::vec(word(), 0..120)) {
        let _ = read(words.concat().as_bytes(), 96);
    }
}

fn word() -> impl Strategy<Value = String> {
    let words = [
        "MOV ",
        "BAR.SYNC ",
        "BAR.ARV ",
        "BAR.RED.OR ",
        "B2R.RESULT ",
        "R2B ",
        "BRA ",
        "BRX ",
        "EXIT ",
        "SSY ",
        "SYNC ",
        "CALL.REL ",
        "RET ",
        "BSSY ",
        "BSYNC ",
        "ISETP.GE.AND ",
        "LOP3.LUT ",
        "SHFL.IDX ",
        "IMAD.WIDE ",
        "LDG.E.128 ",
        "R0",
        "R1",
        "RZ",
        "UR4",
        "P0",
        "PT",
        "!P1",
        "0x1",
        "0x40",
        "c[0x0][0x160]",
        "[R2.64+0x8]",
        "`(L)",
        "L:\n",
        ", ",
        " ;\n",
        "@P0 ",
        "@!UP1 ",
        "/*0010*/ ",
        "/* ",
        "*/",
        "// ",
        "# Kernel: k\n",
        "\tFunction : f\n",
        ".text.g:\n",
        "{ ",
        " }\n",
        "<CODE>\n",
        "</CODE>\n",
        "<REGISTER_MAPPING>\n",
        "0-3 : a, b\n",
        "\n",
        "B0",
        "SR_TID.X",
        "-",
        "|R3|",
    ];
    (0..words.len()).prop_map(move |at| words[at].to_owned())
}

#[test]
fn words_of_the_stack_are_registers_unless_somebody_has_their_address() {
    let spills = |more: &str| {
        let begins = "LDC R1, c[0x0][0x28];\nVIADD R1, R1, 0xfffffff0;\nMOV R2, 0x3;\nMOV R3, 0x4;\n";
        format!("{begins}STL.64 [R1+0x8], R2;\n{more}\nMOV R2, 0x7;\nLDL.LU R0, [R1+0xc];")
    };
    assert_eq!(number(&spills("NOP;")), "4");
    assert_eq!(number(&spills("STL [R1+0x8], R9;")), "4", "another word");
    assert_eq!(number(&spills("STL [R1+0xc], R2;")), "3");
    let lost = |more: &str| {
        let text = format!("S2R R9, SR_TID.X;\n{}\nBAR.SYNC R0, 0x20;\nEXIT;", spills(more));
        refused(text, "not-followed", 10);
    };
    lost("VIADD R5, R1, 0xc;");
    lost("STL [R5], R2;");
    lost("STL.U8 [R1+0xc], R2;");
    lost("IMAD.WIDE R0, R2, R3, R4;");
    // Under a name of its own the register is written as well.
    let named = |number: u32| {
        let code = format!("S2R R9, SR_TID.X;\n{}\nBAR.SYNC R0, 0x20;\nEXIT;\n", spills("MOV other, 0x5;"));
        let code: String = code.lines().map(|line| format!("--:-:-:-:1 {line}\n")).collect();
        let head = format!(
            "# Kernel: k\n# Arch: sm_50\n<REGISTER_MAPPING>\n  {number} : other\n</REGISTER_MAPPING>\n"
        );
        read(format!("{head}{code}").as_bytes(), 32).is_ok()
    };
    assert!(named(12) && !named(1));
}
