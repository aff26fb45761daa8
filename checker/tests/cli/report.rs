//! The report for scripts, and traces.

use crate::support::{DEADLOCK, GOOD, LARGE, WARNING, verify};
use serde_json::Value;

/// The reports without what may differ between two runs.
fn steady(mut reports: Vec<Value>) -> Vec<Value> {
    for report in &mut reports {
        report.as_object_mut().expect("an object").remove("statistics");
    }
    reports
}

#[test]
fn two_runs_agree() {
    for source in [GOOD, DEADLOCK, WARNING] {
        let report = |options: &[&str]| {
            let mut all = vec!["--format", "json", "--all"];
            all.extend(options);
            let mut reports = steady(verify(source, &all).json());
            reports[0].as_object_mut().expect("an object").remove("file");
            reports
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
    for key in ["states", "transitions", "depth", "peak_memory_bytes"] {
        assert!(report["statistics"][key].is_u64(), "{key}");
    }
    assert!(report["statistics"]["seconds"].is_f64());
    assert_eq!(report["statistics"]["reduction"], "symmetry");
    let json = verify(LARGE, &["--format", "json", "--max-states", "1000"]).expect(3).json();
    assert!(json[0]["reason"].as_str().expect("a text").contains("1,000 states"));
    assert_eq!(json[0]["statistics"]["complete"], false);
}
