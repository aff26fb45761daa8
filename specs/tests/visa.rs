//! vISA that is none, or no good one: each is refused with its place, quickly, or read. And what instructions
//! come to.

use barcheck_specs::{Format, LoadError, LoadOptions, Loaded, Source, entries, load, render};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

fn read(bytes: &[u8], threads: i64) -> Result<Loaded, LoadError> {
    let start = Instant::now();
    let source = Source::new("k.visaasm", bytes);
    let options = LoadOptions { defines: BTreeMap::from([("cta.x".to_owned(), threads)]) };
    let loaded = load(&source, &options);
    if let Err(error) = &loaded {
        assert!(!error.diagnostics.is_empty());
        let shown = render(&error.diagnostics, "k.visaasm", &error.text, false);
        assert!(shown.starts_with("error["), "{shown}");
    }
    let _ = entries(&source);
    // Generous for slow machines without optimisation.
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    loaded
}

fn kernel(body: &str) -> String {
    format!(
        ".kernel \"k\"\n.decl V1 v_type=G type=ud num_elts=8 align=GRF\n.decl V2 v_type=G type=ub num_elts=4 \
         align=byte alias=<V1, 4>\n.decl P1 v_type=P num_elts=1\n.decl ID v_type=G type=ud num_elts=3 \
         align=dword\n.decl N v_type=G type=d num_elts=1 align=dword\n.implicit_LOCAL_ID ID offset=32 size=12\n\
         .input N offset=64 size=4\n{body}\n"
    )
}

/// It is refused with this code, at this line.
#[track_caller]
fn refused(text: impl AsRef<[u8]>, code: &str, line: u32) -> String {
    let error = read(text.as_ref(), 2).expect_err("it is refused");
    let first = &error.diagnostics[0];
    let place = first.place(&barcheck_specs::LineIndex::new(&error.text));
    assert_eq!((first.code, place.line), (code, line), "{}", first.message);
    first.message.clone()
}

/// The protocol behind its head, in one line.
#[track_caller]
fn extracted(body: &str) -> String {
    let loaded = read(kernel(body).as_bytes(), 2).unwrap_or_else(|error| panic!("{:?}", error.diagnostics));
    let text = loaded.extracted.expect("a kernel").text;
    text.lines().skip(4).map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

#[test]
fn what_is_no_module_is_refused() {
    refused(b"\x07\x02\xff\xfe", "invalid-utf8", 1);
    refused(b".kernel k\n\0\0", "invalid-utf8", 2);
    refused(b"\xff\xfe.\0k\0", "invalid-utf8", 1);
    refused("", "not-visa", 1);
    refused("target nbarrier; thread_group 2;", "not-visa", 1);
    refused(".kernel k\n.decl V1 v_ty", "syntax", 2);
    refused(".kernel k\nret (M1,1) /* open", "unclosed", 2);
}

#[test]
fn a_file_cut_short_is_not_followed() {
    let said = refused(kernel("nbarrier.signal 0x1:ub 0x2:ub\nnbarrier.wait 0x1:ub"), "not-followed", 10);
    assert!(said.contains("`ret`"), "{said}");
    refused(kernel("nbarrier.signal 0x1:ub\nret (M1, 1)"), "not-followed", 9);
}

#[test]
fn content_is_recognised_without_a_name() {
    let text = kernel("ret (M1, 1)");
    assert_eq!(Format::recognise("-", text.as_bytes()), Some(Format::Visa));
    assert_eq!(Format::recognise("-", b"target nbarrier;"), Some(Format::Bar));
}

#[test]
fn both_forms_of_a_signal_are_written() {
    let text = extracted(
        "NBARRIER.signal 0x1:ub 0x2:ub\nnbarrier.wait 0x1:ub\nnbarrier.signal 2, 0, 1, 1\nbarrier\nret (M1, 1)",
    );
    let expected = "threads 0..2 { nbarrier.signal 1, 2; nbarrier.wait 1; nbarrier.signal 2, 0, 1, 1; \
                    nbarrier.signal 0, 2; nbarrier.wait 0; }";
    assert_eq!(text, expected);
}

#[test]
fn threads_go_different_ways_by_their_place_in_the_group() {
    let text = extracted(
        "cmp.eq (M1, 1) P1 ID(0,0)<0;1,0> 0x0:ud\n(P1) jmp (M1, 1) L\nnbarrier.signal 1 1 1 1\nret (M1, 1)\nL:\n\
         nbarrier.signal 1 2 1 1\nnbarrier.wait 1\nret (M1, 1)",
    );
    let expected = "thread 0 { nbarrier.signal 1, 2, 1, 1; nbarrier.wait 1; } \
                    thread 1 { nbarrier.signal 1, 1, 1, 1; }";
    assert_eq!(text, expected);
}

#[test]
fn an_argument_is_the_same_for_all_and_what_is_loaded_is_not() {
    let wait = "(P1) jmp (M1, 1) L\nnbarrier.signal 1 2\nL:\nret (M1, 1)";
    let text = extracted(&format!("cmp.lt (M1, 1) P1 N(0,0)<0;1,0> 0x4:d\n{wait}"));
    assert!(text.contains("uniform") && text.contains("N < 4"), "{text}");
    let loaded = "lsc_load.ugm (M1, 1) V1:d32 flat[N]:a64\ncmp.lt (M1, 1) P1 V1(0,0)<0;1,0> 0x4:ud";
    let text = extracted(&format!("{loaded}\n{wait}"));
    assert!(text.contains("each thread by itself"), "{text}");
}

#[test]
fn what_may_be_written_is_not_known() {
    for writer in [
        "mov (M1, 1) V2(0,0)<1> 0x3:ub",
        "mov (M1, 8) V1(0,0)<1> 0x3:ud",
        "mov (M1, 1) r[A0(0),0]<1>:ud 0x3:ud",
        "sample (M1, 8) V1.0 T6 S31",
        "mov (M1, 1) V1(1,0)<1> 0x3:ud",
        "rol (M1, 1) V1(0,1)<1> V1(0,0)<0;1,0> 0x3:ud",
    ] {
        let body =
            format!("mov (M1, 1) V1(0,1)<1> 0x1:ud\n{writer}\nnbarrier.wait V1(0,1)<0;1,0>\nret (M1, 1)");
        let said = refused(kernel(&body), "not-followed", 11);
        assert!(said.contains("number of this barrier"), "{writer}: {said}");
    }
    let text = extracted(
        "mov (M1, 1) V1(0,1)<1> 0x1:ud\nadd (M1, 1) V1(0,2)<1> V1(0,1)<0;1,0> 0x2:ud\n\
                          nbarrier.wait V1(0,2)<0;1,0>\nret (M1, 1)",
    );
    assert_eq!(text, "threads 0..2 { nbarrier.wait 3; }");
}

#[test]
fn what_is_not_known_is_not_followed() {
    for unknown in [
        "quantum (M1, 1) V1",
        "raw_send.3 (M1, 1) V1",
        "jmp (M1, 1) nowhere",
        "nbarrier.halt 1",
        "fcall (M1, 1) f",
    ] {
        refused(kernel(&format!("{unknown}\nbarrier\nret (M1, 1)")), "not-followed", 9);
    }
}

#[test]
fn many_instructions_are_read_in_linear_time() {
    let many: String =
        (0..100_000).map(|at| format!("add (M1, 1) V1(0,{})<1> V1(0,0)<0;1,0> 0x1:ud\n", at % 8)).collect();
    assert!(read(kernel(&format!("{many}barrier\nret (M1, 1)")).as_bytes(), 2).is_ok());
    let calls: String = (0..20_000).map(|_| "call (M1, 1) f\n").collect();
    let _ = read(kernel(&format!("{calls}ret (M1, 1)\nf:\nbarrier\nret (M1, 1)")).as_bytes(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(&bytes, 3);
    }

    #[test]
    fn no_words_make_the_reader_panic(words in proptest::collection::vec(word(), 0..120)) {
        let _ = read(kernel(&words.concat()).as_bytes(), 3);
    }
}

fn word() -> impl Strategy<Value = String> {
    let words = [
        "mov ",
        "add ",
        "cmp.lt ",
        "jmp ",
        "goto ",
        "call ",
        "ret ",
        "barrier",
        "sbarrier.signal",
        "nbarrier.signal ",
        "nbarrier.wait ",
        "raw_send ",
        "lsc_load.ugm ",
        "sel ",
        "(M1, 1) ",
        "(M1, 8) ",
        "(",
        ")",
        "(P1) ",
        "(!P1.any) ",
        "V1(0,0)<1> ",
        "V1(0,1)<0;1,0> ",
        "V2(0,3)<1> ",
        "ID(0,0)<0;1,0> ",
        "N ",
        "P1 ",
        "0x1:ub ",
        "4 ",
        "-1:w ",
        "L",
        "L:\n",
        "\n",
        ".decl V3 v_type=G type=uq num_elts=2 alias=<V3, 0>\n",
        ".decl V4 v_type=G type=d num_elts=1 alias=<V1, 4294967295>\n",
        "V3(0,1)<1> ",
        "V4(0,4294967295)<1> ",
        ".kernel k\n",
        "%null ",
        "r[A0(0),0]<1>:d ",
        "// ",
        "/*",
        "*/",
        "1.0:f ",
    ];
    (0..words.len()).prop_map(move |at| words[at].to_owned())
}

#[test]
fn messages_to_the_gateway_signal() {
    // clause: barcheck.visa-message
    let send = "raw_sends.3.1.0.0 (M1, 1) 0x0:ud 0x2000004:ud V1.0 V1.0 V1.0\nret (M1, 1)";
    let text = extracted(&format!("mov (M1, 1) V1(0,2)<1> 0x02018005:ud\n{send}"));
    assert_eq!(text, "threads 0..2 { nbarrier.signal 5, 2, 1, 2; }");
    // A byte of the payload is written apart.
    refused(
        kernel(&format!("mov (M1, 1) V1(0,2)<1> 0x5:ud\nsvm_block_ld V1 V1\n{send}")),
        "not-followed",
        11,
    );
    // Another message to it may be anything; one to another unit is none.
    let other = send.replace("0x2000004", "0x2000003");
    assert!(refused(kernel(&other), "not-followed", 9).contains("may signal"));
    let load = "raw_sends.10.1.0.1 (M1, 16) 0x0:ud 0x2180000:ud V1.0 V1.0 V1.0\nbarrier\nret (M1, 1)";
    assert_eq!(extracted(load), "threads 0..2 { nbarrier.signal 0, 2; nbarrier.wait 0; }");
    let load = "raw_send.1 (M1, 16) 0xc:ud 0x2180000:ud V1.0 V1.0\nbarrier\nret (M1, 1)";
    assert_eq!(extracted(load), "threads 0..2 { nbarrier.signal 0, 2; nbarrier.wait 0; }");
}

#[test]
fn the_barrier_of_the_group_is_a_named_one() {
    // clause: barcheck.visa-barrier, barcheck.visa-sbarrier-signal, barcheck.visa-sbarrier-wait
    let whole = extracted("barrier\nret (M1, 1)");
    let split = extracted("sbarrier.signal\nsbarrier.wait\nret (M1, 1)");
    assert_eq!(whole, "threads 0..2 { nbarrier.signal 0, 2; nbarrier.wait 0; }");
    assert_eq!(split, whole);
}
