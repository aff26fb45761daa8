//! The report for scripts: its form, and that it does not depend on chance.

use crate::support::{DEADLOCK, FAULT, GOOD, LARGE, WARNING, run, verify};
use serde_json::Value;

/// What stands in every report and may differ between two runs.
fn steady(mut report: Value) -> Value {
    let fields = report.as_object_mut().expect("a report is an object");
    fields.remove("statistics");
    fields.remove("file");
    report.to_string().replace("/tmp/", "").into()
}

/// The report follows its schema.
#[track_caller]
pub(crate) fn valid(report: &Value) {
    let schema = |text: &str| -> Value { serde_json::from_str(text).expect("the schema is JSON") };
    // A report holds traces, and its schema refers to theirs by name.
    let registry = jsonschema::Registry::new()
        .add("urn:barcheck:trace-1", schema(barcheck_counterexamples::TRACE_SCHEMA))
        .and_then(|registry| registry.prepare())
        .expect("the schema of traces can be used");
    let schema = schema(barcheck_counterexamples::REPORT_SCHEMA);
    let validator = jsonschema::options().with_registry(&registry).build(&schema).expect("the schema is one");
    let errors: Vec<_> =
        validator.iter_errors(report).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}\n{report:#}");
}

#[test]
fn reports_follow_their_schema() {
    for source in [GOOD, DEADLOCK, WARNING, FAULT, "target", "target ptx; cta 64; warps 0..2 { x; }"] {
        for options in [&["--format", "json"][..], &["--format", "json", "--all", "--strict"]] {
            verify(source, options).json().iter().for_each(valid);
        }
    }
    let all = "target ptx; cta 64; param N = 0; shared a; allow data-race \"it is meant\";\n\
               warps 0..2 as w { write a; for i in 0..4 { if i == 9 { bar.sync 2, 64; } bar.sync 1, 64; } }\n";
    verify(all, &["--format", "json", "--coverage"]).expect(0).json().iter().for_each(valid);
    verify(LARGE, &["--format", "json", "--max-states", "1000"]).json().iter().for_each(valid);
    run(&["verify", "--format", "json", "/missing.bar"]).expect(2).json().iter().for_each(valid);
    let json = ["--format", "json", "--expect"];
    for head in ["", "// expect: violated\n// rules: deadlock\n", "// expect: verified\n"] {
        let reports = verify(format!("{head}{DEADLOCK}"), &json).json();
        assert!(reports.iter().all(|report| report["expectation"].is_object()), "{reports:?}");
        reports.iter().for_each(valid);
    }
    let counted = DEADLOCK.replacen("cta 64;", "param N = 2; cta 32 * N;", 1);
    let reports = verify(counted, &["--format", "json", "-DN=2..3"]).json();
    assert_eq!(reports.len(), 2);
    reports.iter().for_each(valid);
}

/// Two warps: both meet, and one writes what the other reads behind the barrier.
const KERNEL: &str = "\
.version 8.0
.target sm_90
.visible .entry follows() .maxntid 64
{
	.reg .b32 %r<4>;
	.shared .b32 box;
	mov.u32 %r1, %tid.x;
	st.shared.u32 [box], 7;
	bar.sync 0;
	ld.shared.u32 %r2, [box];
	barrier.sync 1, 64;
	bar.sync 0;
	ret;
}
.visible .entry loads() .reqntid 64
{
	.reg .b32 %r<4>;
	.shared .b32 box[4];
	mov.u32 %r1, %tid.x;
	ld.global.u32 %r2, [%r1];
	mov.u32 %r3, box;
	add.s32 %r2, %r2, %r3;
	bar.sync 0;
	st.shared.u32 [%r2], %r1;
	ret;
}
";

#[test]
fn a_report_of_a_kernel_says_from_what_its_protocol_was_extracted() {
    let folder = crate::support::Folder::new();
    let path = folder.add("k.ptx", KERNEL);
    let reports = run(&["verify", "--format", "json", &path]).expect(0).json();
    reports.iter().for_each(valid);
    let extraction = &reports[0]["extraction"];
    assert_eq!(extraction["group"]["size"], serde_json::json!([64, 1, 1]));
    assert_eq!(extraction["group"]["from"], "most");
    assert_eq!(extraction["instructions"]["read"], 7);
    assert_eq!(extraction["instructions"]["relevant"], 3);
    assert_eq!(extraction["barriers"], serde_json::json!({ "bar.sync": 2, "barrier.sync": 1 }));
    assert_eq!(extraction["accesses"], serde_json::json!({ "followed": 2, "not_followed": [] }));
    assert_eq!(reports[0]["notes"][0]["name"], "assumed");
    let extraction = &reports[1]["extraction"];
    assert_eq!(extraction["group"]["from"], "kernel");
    assert_eq!(extraction["accesses"]["not_followed"][0]["line"], 24);
    let without = run(&["verify", "--format", "json", "--no-memory", "--entry", "follows", &path]);
    let without = without.expect(0).json();
    valid(&without[0]);
    assert!(without[0]["extraction"]["accesses"].is_null());
    let protocol = verify(GOOD, &["--format", "json"]).json();
    assert!(protocol[0]["extraction"].is_null());
}

/// What is behind the end of an array, all of it or a part, and what descriptors say: none of it is known.
const UNKNOWN: &str = "\
.version 8.0
.target sm_90a
.visible .entry behind() .reqntid 64
{
	.reg .pred %p;
	.reg .b32 %t, %v;
	.shared .align 16 .b8 a[256], b[256];
	mov.u32 %t, %tid.x;
	setp.lt.u32 %p, %t, 32;
	@%p st.shared.u32 [a+256], %t;
	@!%p ld.shared.u32 %v, [b];
	bar.sync 0;
	ret;
}
.visible .entry across() .reqntid 64
{
	.shared .align 16 .b8 d[248], e[8];
	st.shared.v4.u32 [d+240], {0, 0, 0, 0};
	bar.sync 0;
	ret;
}
.visible .entry described() .reqntid 128
{
	.reg .f32 %f<4>;
	.reg .b64 %d;
	.shared .align 128 .b8 c[4096];
	st.shared.u32 [c], 0;
	mov.u64 %d, 64;
	bar.sync 0;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, %d, %d, 1, 1, 1, 0, 0;
	ret;
}
";

#[test]
fn what_is_not_known_of_an_access_keeps_it_from_being_followed() {
    let folder = crate::support::Folder::new();
    let path = folder.add("k.ptx", UNKNOWN);
    let not_followed = |entry: &str| {
        let report = run(&["verify", "--format", "json", "--entry", entry, &path]).expect(0).json();
        let accesses = &report[0]["extraction"]["accesses"];
        (accesses["followed"].clone(), accesses["not_followed"][0]["line"].clone())
    };
    assert_eq!(not_followed("behind"), (1.into(), 10.into()));
    assert_eq!(not_followed("across"), (0.into(), 18.into()));
    assert_eq!(not_followed("described"), (1.into(), 30.into()));
}

/// Lanes of both warps come to bytes that lie behind the first four.
const VECTORS: &str = "\
.version 8.0
.target sm_90
.visible .entry k(.param .u32 n) .reqntid 64
{
	.reg .pred %p;
	.reg .b32 %n, %t, %v;
	.shared .align 16 .v4 .f32 a[4];
	ld.param.u32 %n, [n];
	mov.u32 %t, %tid.x;
	setp.lt.u32 %p, %t, 32;
	@%p st.shared.u32 [a+32], %t;
	@!%p ld.shared.u32 %v, [a+32];
	bar.sync 0;
	ret;
}
";

#[test]
fn a_race_on_an_array_of_vectors_is_found() {
    let folder = crate::support::Folder::new();
    let path = folder.add("k.ptx", VECTORS);
    run(&["verify", &path])
        .expect(1)
        .prints("data-race")
        .prints("2 of 2 accesses to shared memory are followed");
}

#[test]
fn with_all_accesses_required_a_kernel_of_which_one_is_not_followed_is_inconclusive() {
    let folder = crate::support::Folder::new();
    let path = folder.add("k.ptx", KERNEL);
    run(&["verify", "--entry", "loads", &path]).expect(0).prints("0 of 1 accesses");
    let required = run(&["verify", "--require-memory", "--format", "json", "--entry", "loads", &path]);
    let required = required.expect(3).json();
    assert_eq!(required[0]["verdict"], "inconclusive");
    let reason = required[0]["reason"].as_str().expect("a reason");
    assert!(reason.starts_with("24:2: 1 of 1 accesses to shared memory are not followed"), "{reason}");
    run(&["verify", "--require-memory", "--entry", "follows", &path]).expect(0);
}

#[test]
fn two_runs_agree() {
    let folder = crate::support::Folder::new();
    for (number, source) in [GOOD, DEADLOCK, WARNING, FAULT].into_iter().enumerate() {
        let file = folder.add(&format!("{number}.bar"), source);
        let report = |options: &[&str]| {
            let mut arguments = vec!["verify", "--format", "json", "--all", &file];
            arguments.extend(options);
            run(&arguments).json().into_iter().map(steady).collect::<Vec<_>>()
        };
        assert_eq!(report(&[]), report(&[]));
        assert_eq!(report(&["--threads", "1"]), report(&["--threads", "4"]));
    }
}

#[test]
fn the_form_of_a_report() {
    let json = verify(DEADLOCK, &["--format", "json"]).expect(1).json();
    let report = &json[0];
    assert_eq!(report["format"], "barcheck-report/1");
    assert_eq!(report["target"], "ptx");
    let finding = &report["findings"][0];
    assert_eq!(finding["rule"], "deadlock");
    assert_eq!(finding["level"], "error");
    assert_eq!(finding["clause"]["document"], "PTX ISA");
    assert_eq!(finding["location"]["line"], 3);
    assert_eq!(finding["agents"], serde_json::json!([0, 1]));
    assert_eq!(finding["fingerprint"].as_str().map(str::len), Some(16));
    assert!(finding["message"].as_str().is_some_and(|message| !message.is_empty()));
    assert_eq!(finding["trace"]["format"], "barcheck-trace/1");
    for key in ["states", "transitions", "depth", "peak_memory_bytes"] {
        assert!(report["statistics"][key].is_u64(), "{key}");
    }
    assert!(report["statistics"]["seconds"].is_f64());
    assert_eq!(report["statistics"]["reduction"], "symmetry");
    let json = verify(LARGE, &["--format", "json", "--max-states", "1000"]).expect(3).json();
    assert!(json[0]["reason"].as_str().expect("a text").contains("1,000 states"));
    assert_eq!(json[0]["statistics"]["complete"], false);
}

#[test]
fn findings_are_sorted_by_rule_then_place() {
    let source = "target ptx; cta 64; shared a, b;\n\
                  warps 0..2 { write b; write a;\n bar.arrive 1, 64; }\n";
    let json = verify(source, &["--format", "json", "--all"]).expect(1).json();
    let findings = json[0]["findings"].as_array().expect("a list");
    let keys: Vec<_> = findings
        .iter()
        .map(|f| (f["rule"].to_string(), f["location"]["line"].as_u64(), f["location"]["column"].as_u64()))
        .collect();
    assert!(keys.len() >= 3, "{keys:?}");
    assert!(keys.is_sorted(), "{keys:?}");
}

#[test]
fn a_protocol_without_the_accesses_of_its_kernel_says_so() {
    let kernels = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kernels/shared_memory.ptx");
    let without = "// Without accesses to shared memory, which are not followed.";
    run(&["extract", "--entry", "spins", kernels]).expect(0).prints(without);
    let with = run(&["extract", "--entry", "flag", kernels]).expect(0);
    assert!(with.out.contains("shared ") && !with.out.contains(without), "{}", with.out);
}
