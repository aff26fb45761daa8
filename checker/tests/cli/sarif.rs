//! SARIF 2.1.0: against its schema, and against what the schema cannot say.

use crate::support::{
    DEADLOCK, FAULT, Folder, GOOD, LARGE, Run, WARNING, command, finish, run, run_on, verify,
};
use serde_json::Value;
use std::sync::LazyLock;

/// The schema by OASIS Open, as `tests/schema/README.md` says.
static SCHEMA: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
    let text = include_str!("../schema/sarif-2.1.0.json");
    // Of one pattern, that of a language, not every reader agrees that it is one: it has a bracket too many.
    let fixed = text.replace("-[a-zA-Z]{2}]?$", "(-[a-zA-Z]{2})?$");
    assert_ne!(fixed, text);
    let schema = serde_json::from_str(&fixed).expect("the schema is JSON");
    jsonschema::options().should_validate_formats(true).build(&schema).expect("the schema is one")
});

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The log's only run. The log follows the schema, and what refers to something refers to what is there.
#[track_caller]
pub(crate) fn log(run: &Run) -> Value {
    let log: Value = serde_json::from_str(&run.out).expect("it is JSON");
    let errors: Vec<_> = SCHEMA.iter_errors(&log).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    assert_eq!(list(&log["runs"]).len(), 1);
    let run = log["runs"][0].clone();
    let driver = &run["tool"]["driver"];
    for result in list(&run["results"]) {
        let index = usize::try_from(result["ruleIndex"].as_u64().expect("a number")).expect("it is small");
        assert_eq!(driver["rules"][index]["id"], result["ruleId"]);
        for flow in list(&result["codeFlows"]).iter().flat_map(|flow| list(&flow["threadFlows"])) {
            let order: Vec<_> =
                list(&flow["locations"]).iter().map(|l| l["executionOrder"].as_u64()).collect();
            assert!(order.is_sorted() && order.len() <= 1000, "{}", order.len());
        }
    }
    for notification in list(&run["invocations"][0]["toolExecutionNotifications"]) {
        let index = notification["descriptor"]["index"].as_u64().and_then(|n| usize::try_from(n).ok());
        assert_eq!(driver["notifications"][index.expect("a number")]["id"], notification["descriptor"]["id"]);
    }
    locations(&run, &run);
    run
}

/// Every location is one of a file that is listed, and every region is one.
fn locations(run: &Value, value: &Value) {
    if let Some(location) = value.get("artifactLocation") {
        let index = usize::try_from(location["index"].as_u64().expect("a number")).expect("it is small");
        assert_eq!(run["artifacts"][index]["location"]["uri"], location["uri"]);
        if let Some(region) = value.get("region") {
            let number = |name: &str| region[name].as_u64().expect("a number");
            assert!(number("startLine") > 0 && number("startColumn") > 0);
            assert!(number("endColumn") >= number("startColumn"), "{region}");
        }
    }
    match value {
        Value::Array(values) => values.iter().for_each(|value| locations(run, value)),
        Value::Object(values) => values.values().for_each(|value| locations(run, value)),
        _ => {}
    }
}

const SARIF: [&str; 2] = ["--format", "sarif"];

#[test]
fn a_violation_is_a_result_with_its_place_and_its_way() {
    let run = log(&verify(DEADLOCK, &SARIF).expect(1));
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    let results = list(&run["results"]);
    assert_eq!(results.len(), 1);
    let result = &results[0];
    assert_eq!((result["ruleId"].as_str(), result["level"].as_str()), (Some("deadlock"), Some("error")));
    let region = &result["locations"][0]["physicalLocation"]["region"];
    assert_eq!(*region, serde_json::json!({"startLine": 3, "startColumn": 10, "endColumn": 24}));
    let related = list(&result["relatedLocations"]);
    assert!(!related.is_empty() && related.iter().all(|place| place["message"]["text"].is_string()));
    let json = verify(DEADLOCK, &["--format", "json"]).expect(1).json();
    assert_eq!(result["partialFingerprints"]["barcheckFinding/v1"], json[0]["findings"][0]["fingerprint"]);
    let flow = list(&result["codeFlows"][0]["threadFlows"][0]["locations"]);
    let said: Vec<_> = flow.iter().filter_map(|l| l["location"]["message"]["text"].as_str()).collect();
    assert_eq!(said.len(), 3);
    assert!(said[0].starts_with("warp ") && said[0].contains("arrives at barrier"), "{said:?}");
    assert_eq!(flow[2]["importance"], "essential");
}

#[test]
fn every_rule_is_described() {
    let run = log(&verify(GOOD, &SARIF).expect(0));
    let rules = list(&run["tool"]["driver"]["rules"]);
    let listed = crate::support::run(&["rules", "--format", "json"]).expect(0).json();
    assert_eq!(rules.len(), list(&listed[0]).len());
    for (rule, listed) in rules.iter().zip(list(&listed[0])) {
        assert_eq!(rule["id"], listed["rule"]);
        assert_eq!(rule["fullDescription"]["text"], listed["meaning"]);
        let text = |part: &str, form: &str| rule[part][form].as_str().unwrap_or_default().to_owned();
        assert!(text("shortDescription", "text").ends_with('.'), "{rule}");
        assert!(text("help", "text").contains("How to fix it"), "{rule}");
        assert!(text("help", "markdown").contains("**How to fix it.**"), "{rule}");
    }
    let rule = |id: &str| rules.iter().find(|rule| rule["id"] == id).expect("it is listed");
    assert_eq!(rule("deadlock")["defaultConfiguration"]["level"], "error");
    assert_eq!(rule("nobody-waits")["defaultConfiguration"]["level"], "warning");
    assert_eq!(rule("reserved-barrier")["defaultConfiguration"]["enabled"], false);
}

#[test]
fn a_run_that_is_no_proof_is_not_successful() {
    let limited = ["--format", "sarif", "--max-states", "100"];
    for (run, kind, has_place) in [
        (verify(LARGE, &limited).expect(3), "inconclusive", false),
        (verify(FAULT, &SARIF).expect(2), "evaluation-error", true),
        (verify("target ptx", &SARIF).expect(2), "malformed", true),
        (run(&["verify", "--format", "sarif", "/missing.bar"]).expect(2), "unreadable", false),
    ] {
        let run = log(&run);
        let invocation = &run["invocations"][0];
        assert_eq!(invocation["executionSuccessful"], false, "{kind}");
        let told = list(&invocation["toolExecutionNotifications"]);
        assert_eq!(told.len(), 1, "{kind}");
        assert_eq!(
            (told[0]["descriptor"]["id"].as_str(), told[0]["level"].as_str()),
            (Some(kind), Some("error"))
        );
        assert!(told[0]["message"]["text"].as_str().is_some_and(|text| !text.is_empty()));
        let region = &told[0]["locations"][0]["physicalLocation"]["region"];
        assert_eq!(region.is_object(), has_place, "{kind}");
        assert!(list(&run["results"]).is_empty());
    }
}

#[test]
fn one_undecided_file_does_not_hide_the_results_of_others() {
    let folder = Folder::new();
    let files = ["target", DEADLOCK, WARNING, GOOD];
    for (number, source) in files.into_iter().enumerate() {
        folder.add(&format!("{number}.bar"), source);
    }
    let run = log(&run(&["verify", "--format", "sarif", "--all", &folder.text("")]).expect(1));
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
    let found: Vec<_> =
        list(&run["results"]).iter().map(|r| (r["ruleId"].as_str(), r["level"].as_str())).collect();
    assert_eq!(found, [(Some("deadlock"), Some("error")), (Some("nobody-waits"), Some("warning"))]);
    let verdicts: Vec<_> =
        list(&run["artifacts"]).iter().map(|a| a["properties"]["verdict"].clone()).collect();
    assert_eq!(verdicts, ["error", "violated", "verified", "verified"]);
}

#[test]
fn of_a_long_way_the_middle_is_left_out_and_that_is_said() {
    let source = "target ptx; cta 32; warp 0 { for i in 0..1500 { bar.sync 1, 32; } assert 0; }\n";
    let run = log(&verify(source, &SARIF).expect(1));
    let result = &run["results"][0];
    let flow = list(&result["codeFlows"][0]["threadFlows"][0]["locations"]);
    assert_eq!(flow.len(), 1000);
    let gap = flow
        .iter()
        .filter_map(|l| l["location"]["message"]["text"].as_str().filter(|t| t.starts_with("...")));
    let gap: Vec<_> = gap.collect();
    assert_eq!(gap.len(), 1, "{gap:?}");
    assert!(gap[0].contains("left out here"), "{gap:?}");
    let order = |at: usize| flow[at]["executionOrder"].as_u64().expect("a number");
    let steps =
        verify(source, &["--format", "json"]).expect(1).json()[0]["findings"][0]["trace"]["steps"].clone();
    let steps = list(&steps).len() as u64;
    assert!(gap[0].contains(&format!(" {} steps", steps - 998)), "{gap:?}, {steps}");
    assert_eq!((order(0), order(998), order(999)), (1, steps, steps + 1));
}

#[test]
fn files_are_named_from_the_working_folder_or_in_full() {
    let folder = Folder::new();
    let full = folder.add("bad.bar", DEADLOCK);
    let uri = |run: Run| {
        let location = log(&run)["artifacts"][0]["location"].clone();
        (
            location["uri"].as_str().expect("a text").to_owned(),
            location["uriBaseId"].as_str().map(str::to_owned),
        )
    };
    let here = |given: &str| {
        uri(finish(command(&["verify", "--format", "sarif", given]).current_dir(folder.path())).expect(1))
    };
    for given in ["bad.bar", "./bad.bar", ".", &full] {
        assert_eq!(here(given), ("bad.bar".to_owned(), Some("%SRCROOT%".to_owned())), "{given}");
    }
    let (elsewhere, base) = uri(run(&["verify", "--format", "sarif", &full]).expect(1));
    assert!(elsewhere.starts_with("file:///") && base.is_none(), "{elsewhere}");
    let stdin = run_on(&["verify", "--format", "sarif", "-"], DEADLOCK.as_bytes()).expect(1);
    assert_eq!(uri(stdin).0, "stdin");
}

#[test]
fn an_empty_part_is_a_log_without_results() {
    let run = log(&verify(GOOD, &["--format", "sarif", "--partition", "2/2"]).expect(0));
    assert!(list(&run["artifacts"]).is_empty() && list(&run["results"]).is_empty());
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
}

#[test]
fn two_runs_say_the_same() {
    assert_eq!(
        run_on(&["verify", "--format", "sarif", "-"], DEADLOCK.as_bytes()).out,
        run_on(&["verify", "--format", "sarif", "-"], DEADLOCK.as_bytes()).out
    );
}

#[cfg(unix)]
#[test]
fn hostile_names_become_references_that_lead_back() {
    use std::os::unix::ffi::OsStrExt;
    let folder = crate::support::hostile_folder();
    let run = finish(command(&["verify", "--format", "sarif", "."]).current_dir(folder.path())).expect(1);
    let run = log(&run);
    let uris: Vec<_> = list(&run["artifacts"]).iter().filter_map(|a| a["location"]["uri"].as_str()).collect();
    let decoded = |uri: &str| {
        let mut parts = uri.split('%');
        let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
        for part in parts {
            bytes.push(u8::from_str_radix(&part[..2], 16).expect("two digits"));
            bytes.extend(&part.as_bytes()[2..]);
        }
        bytes
    };
    let found: Vec<_> = uris.iter().map(|uri| decoded(uri)).collect();
    for name in crate::support::hostile_names() {
        assert!(found.contains(&name.as_bytes().to_vec()), "{name:?}: {uris:?}");
    }
}

/// All there is in the library, every target and every rule, follows the schema.
#[test]
fn the_library_of_protocols_follows_the_schema() {
    let library = concat!(env!("CARGO_MANIFEST_DIR"), "/../specs/protocols");
    let options = ["verify", "--format", "sarif", "--all", "--strict", "--max-states", "2000", library];
    let run = log(&run(&options).expect(1));
    assert!(list(&run["results"]).len() > 100);
}
