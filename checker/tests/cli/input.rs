//! Bad input: an exact message, status 2, never a panic.

use crate::support::{DEADLOCK, FAULT, Folder, GOOD, Run, run, run_on, verify};
use std::fmt::Write;

/// The text is malformed, and the first error says this.
#[track_caller]
fn malformed(source: impl AsRef<[u8]>, message: &str) {
    let run = verify(source.as_ref(), &[]).expect(2).says("error").says(message);
    assert_eq!(run.out, "");
    let json = verify(source, &["--format", "json"]).expect(2).json();
    assert_eq!(json.len(), 1);
    assert_eq!(json[0]["verdict"], "error");
    assert!(json[0]["target"].is_null());
    assert!(json[0]["reason"].is_string());
    let diagnostics = json[0]["diagnostics"].as_array().expect("there are diagnostics");
    assert!(diagnostics.iter().all(|d| d["line"].as_u64() > Some(0) && d["column"].as_u64() > Some(0)));
}

#[test]
fn malformed_text() {
    malformed("target ptx", "protocol.bar:1:11");
    malformed("", "protocol.bar");
    malformed("target ptx; cta 64; warps 0..2 { bar.sync", "bar.sync");
    malformed("}{)(", "protocol.bar:1:1");
    malformed("target ptx; cta 64; /* ", "comment");
    malformed("\u{0}\u{0}\u{0}", "protocol.bar:1:1");
}

#[test]
fn unknown_instructions() {
    malformed("target ptx; cta 64; warps 0..2 { bar.snyc 1; }", "bar.sync");
    malformed("target ptx; cta 64; warps 0..2 { frobnicate 1; }", "frobnicate");
    malformed("target cuda; cta 64;", "cuda");
}

#[test]
fn instructions_of_other_targets() {
    malformed("target ptx; cta 64; warps 0..2 { BAR.ARV 1, 64; }", "bcu");
    malformed("target bcu; cta 64; warps 0..2 { bar.arrive 1, 64; }", "ptx");
    malformed("target nbarrier; thread_group 2; threads 0..2 { bar.sync 1; }", "ptx");
}

#[test]
fn duplicate_and_missing_agents() {
    malformed("target ptx; cta 64; warp 0 {} warp 0 {} warp 1 {}", "warp 0");
    malformed("target ptx; cta 64; warp 0 { bar.sync 1; }", "warp 1");
    malformed("target ptx; cta 64; warps 0..3 { bar.sync 1; }", "warp");
}

#[test]
fn empty_ranges_and_sizes() {
    malformed("target ptx; cta 64; warps 1..1 {} warps 0..2 {}", "1..1");
    malformed("target ptx; cta 64; warps 2..0 {}", "2..0");
    malformed("target ptx; cta 0;", "cta");
    malformed("target ptx; cta 1000000; warps 0..2 {}", "1024");
    malformed("target ptx; cta 64; shared a[0]; warps 0..2 {}", "a");
    malformed("target ptx; cta 64; shared a[99999999999]; warps 0..2 {}", "a");
}

#[test]
fn overflow() {
    malformed("target ptx; cta 99999999999999999999; warps 0..2 {}", "99999999999999999999");
    malformed("target ptx; cta 64; const N = 9223372036854775807 + 1; warps 0..2 {}", "protocol.bar:1");
    malformed("target ptx; cta 64; const N = 1 / 0; warps 0..2 {}", "protocol.bar:1");
    let source = "target ptx; cta 64; warps 0..2 { let n = 9223372036854775807; bar.sync n + warp + 1; }";
    verify(source, &[]).expect(2).prints("does not fit into a signed 64-bit integer");
}

#[test]
fn a_number_too_large_for_a_register_names_the_register() {
    let registers = |statement: &str| format!("target bcu; cta 32; warp 0 {{ {statement} BAR.SYNC 0x0; }}");
    verify(registers("R4 = 5000000000;"), &[])
        .expect(2)
        .prints("does not fit into the 32 bits, unsigned, of `R4`");
    verify(registers("P0 = 2;"), &[]).expect(2).prints("all that `P0` holds");
}

#[test]
fn a_hundred_thousand_nested_blocks() {
    let mut source = String::from("target ptx; cta 64; warps 0..2 {\n");
    for _ in 0..100_000 {
        source.push_str("if ? { ");
    }
    source.push_str("bar.sync 1;");
    for _ in 0..100_000 {
        source.push('}');
    }
    malformed(&source, "nest");
    let parentheses = format!("target ptx; cta {}64{};", "(".repeat(100_000), ")".repeat(100_000));
    malformed(&parentheses, "nest");
}

#[test]
fn a_file_of_a_hundred_megabytes() {
    let folder = Folder::new();
    let path = folder.add("huge.bar", "target ptx; // ");
    let file = std::fs::OpenOptions::new().write(true).open(&path).expect("it can be opened");
    file.set_len(100 << 20).expect("it can be made long");
    run(&["verify", &path]).expect(2).says("too long");
    run(&["fmt", &path]).expect(2).says("too long");
}

#[test]
fn invalid_utf8() {
    malformed(b"target ptx; cta 64; // \xff\xfe\n", "UTF-8");
}

#[test]
fn a_format_is_recognised_by_name_and_by_content() {
    let folder = Folder::new();
    for name in ["ring.bar", "ring.txt", "ring", "ring.elf"] {
        run(&["verify", &folder.add(name, GOOD)]).expect(0);
    }
    run_on(&["verify", "-"], GOOD.as_bytes()).expect(0);
    let binary = b"\x7fELF\xff\xfe";
    let unknown = |run: Run| {
        run.says("no format recognises what this holds")
            .says("the formats are: `ptx` (`.ptx`), ")
            .says("cuobjdump");
    };
    let kernel = folder.add("kernel.bin", binary);
    unknown(run(&["verify", &kernel]).expect(2));
    unknown(run_on(&["verify", "-"], binary).expect(2));
    unknown(run(&["graph", &kernel]).expect(2));
    let json = run(&["verify", "--format", "json", &kernel]).expect(2).json();
    assert_eq!(json[0]["verdict"], "error");
    assert_eq!(json[0]["diagnostics"][0]["message"], "no format recognises what this holds");
    run(&["verify", &folder.add("kernel.bar", binary)]).expect(2).says("UTF-8");
}

#[test]
fn evaluation_errors() {
    verify(FAULT, &[]).expect(2).prints("division by zero").prints("protocol.bar:3:");
    let json = verify(FAULT, &["--format", "json"]).expect(2).json();
    assert_eq!(json[0]["verdict"], "error");
    assert_eq!(json[0]["target"], "ptx");
    let reason = json[0]["reason"].as_str().expect("there is a reason");
    assert!(reason.starts_with("3:") && reason.contains("division by zero"), "{reason}");
    let outside = "target ptx; cta 64; shared a[2]; warps 0..2 { write a[warp + 1]; }";
    verify(outside, &[]).expect(2).prints("index 2 is outside an array of 2 elements");
}

#[test]
fn missing_files_and_folders() {
    let folder = Folder::new();
    let missing = folder.text("missing.bar");
    run(&["verify", &missing]).expect(2).says("No such file or directory").says("missing.bar");
    let inside = folder.path().to_str().expect("the path is UTF-8").to_owned();
    run(&["verify", &inside]).expect(2).says("or `.bar` file in it or below");
    let json = run(&["verify", "--format", "json", &inside, &missing]).expect(2).json();
    assert_eq!(json.len(), 2);
    for line in json {
        assert_eq!(line["verdict"], "error");
        assert_eq!(line["findings"], serde_json::json!([]));
    }
}

#[test]
fn one_broken_file_does_not_keep_the_others_from_being_decided() {
    let folder = Folder::new();
    let files = [
        folder.add("good.bar", GOOD),
        folder.add("broken.bar", "target"),
        folder.add("deadlock.bar", DEADLOCK),
        folder.text("missing.bar"),
        folder.add("good_too.bar", GOOD),
    ];
    let mut arguments = vec!["verify", "--format", "json"];
    arguments.extend(files.iter().map(String::as_str));
    let json = run(&arguments).expect(1).json();
    let verdicts: Vec<_> = json.iter().map(|line| line["verdict"].as_str().expect("a text")).collect();
    assert_eq!(verdicts, ["verified", "error", "violated", "error", "verified"]);
    let named: Vec<_> = json.iter().map(|line| line["file"].as_str().expect("a text")).collect();
    assert_eq!(named, files);
    arguments.drain(1..3);
    run(&arguments).expect(1).prints("5 files: 2 verified, 1 violated, 2 with errors");
    run(&["verify", &files[0], &files[1], &files[4]]).expect(2).says("broken.bar");
}

#[test]
fn standard_input() {
    run_on(&["verify", "-"], GOOD.as_bytes()).expect(0).prints("verified <stdin> (ptx)");
    run_on(&["verify", "-"], DEADLOCK.as_bytes()).expect(1).prints("<stdin>:3:");
    run_on(&["verify", "-"], b"target").expect(2).says("<stdin>:1:");
    run_on(&["verify", "-", "-"], GOOD.as_bytes()).expect(2).says("only once");
    let json = run_on(&["verify", "--format", "json", "-"], GOOD.as_bytes()).expect(0).json();
    assert_eq!(json[0]["file"], "-");
}

#[test]
fn many_errors_are_cut_short() {
    let mut source = String::from("target ptx; cta 64; warps 0..2 {\n");
    for i in 0..10_000 {
        let _ = writeln!(source, "nonsense{i};");
    }
    source.push('}');
    let run = verify(&source, &[]).expect(2);
    assert!(run.err.len() < 100_000);
}
