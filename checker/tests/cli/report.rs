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
