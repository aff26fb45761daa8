//! What a file says is not to be reported of it.

use crate::support::{Folder, run, verify};
use serde_json::{Value, json};

/// Two warps write one location: a data race, which is meant; and an arrival that nobody waits for.
const RACE: &str = "target ptx;\ncta 64;\nshared tally;\nallow data-race \"a lost update does no harm\";\n\
                    warps 0..2 { write tally; bar.sync 1, 64; }\n";

fn without(text: &str, line: usize) -> String {
    let lines = text.lines().enumerate().filter(|(number, _)| number + 1 != line);
    lines.map(|(_, line)| format!("{line}\n")).collect()
}

#[test]
fn what_a_file_allows_is_no_finding_and_is_told_with_its_reason() {
    verify(without(RACE, 4), &[]).expect(1).prints("error[data-race]");
    let run = verify(RACE, &[]).expect(0);
    assert!(!run.out.contains("[data-race]"), "{}", run.out);
    let run = run.prints("verified").prints("allowed `data-race`, 1 finding: a lost update does no harm");
    assert!(run.out.contains("protocol.bar:4"), "{}", run.out);
}

#[test]
fn reports_for_scripts_say_what_is_allowed() {
    let report = &verify(RACE, &["--format", "json"]).expect(0).json()[0];
    assert_eq!((&report["verdict"], &report["findings"]), (&"verified".into(), &json!([])));
    let allowed = &report["allowed"][0];
    assert_eq!(allowed["reason"], "a lost update does no harm");
    assert_eq!(allowed["location"], json!({ "line": 4, "column": 1 }));
    let finding = &allowed["findings"][0];
    assert_eq!((&allowed["rule"], &finding["location"]["line"]), (&"data-race".into(), &5.into()));
    // It is the fingerprint that the finding has where it is not allowed.
    let elsewhere = &verify(RACE, &["--format", "json", "--deny", "data-race"]).expect(1).json()[0];
    assert_eq!(elsewhere["findings"][0]["fingerprint"], finding["fingerprint"]);
    assert_eq!(elsewhere.get("allowed"), None, "the command line decides");
    let plain = &verify(without(RACE, 4), &["--format", "json"]).json()[0];
    assert_eq!(plain.get("allowed"), None);
}

#[test]
fn only_the_rule_that_is_named_is_allowed() {
    let text = RACE.replace("bar.sync 1, 64;", "bar.sync 1, 64; if warp == 0 { bar.sync 2, 64; }");
    let run = verify(&text, &["--all"]).expect(1).prints("error[deadlock]");
    run.prints("allowed `data-race`, 1 finding");
}

#[test]
fn the_command_line_counts_more_than_the_file() {
    verify(RACE, &["--deny", "data-race"]).expect(1).prints("error[data-race]");
    verify(RACE, &["--warn", "data-race"]).expect(0).prints("warning[data-race]");
    for denied in ["warnings", "all"] {
        verify(RACE, &["--deny", denied]).expect(0).prints("allowed `data-race`");
    }
}

#[test]
fn an_allow_that_allows_nothing_is_unused() {
    let text = RACE.replace("write tally;", "atomic tally;");
    let run = verify(&text, &[]).expect(0).prints("warning[unused]: nothing violates `data-race`");
    assert!(run.out.contains("protocol.bar:4:1"), "{}", run.out);
    verify(&text, &["--deny", "unused"]).expect(1).prints("error[unused]");
    verify(&text, &["--allow", "unused"]).expect(0);
    let lint = RACE.replace("warps 0..2", "allow unreached \"so it is\";\nwarps 0..2");
    verify(&lint, &[]).prints("there is no finding of `unreached`, which is allowed here");
}

#[test]
fn an_allow_is_not_called_unused_where_that_is_not_known() {
    let unused = "nothing violates `data-race`";
    let deadlock = RACE.replace("write tally;", "atomic tally; bar.sync 2, 96;");
    let run = verify(&deadlock, &["--all"]).expect(1);
    assert!(!run.out.contains(unused), "{}", run.out);
    let large = crate::support::LARGE.replace("cta 1024;", "cta 1024; allow data-race \"so it is\";");
    let run = verify(&large, &["--max-states", "100"]).expect(3);
    assert!(!run.out.contains(unused), "{}", run.out);
    let knob = "target ptx;\ncta 64;\nparam N = 1;\nshared a;\nallow data-race \"so it is\";\n\
                warps 0..2 { for i in 0..N { write a; } bar.sync 1, 64; }\n";
    verify(knob, &[]).expect(0).prints("1 finding");
    let run = verify(knob, &["-D", "N=0", "--allow", "unreached"]).expect(0);
    assert!(!run.out.contains(unused), "{}", run.out);
}

#[test]
fn lints_are_allowed_as_rules_are() {
    let text = "target ptx;\ncta 64;\nparam N = 0;\nparam M = 1;\nallow unreached \"N is for later\";\n\
                allow unused \"so is M\";\nwarps 0..2 { for i in 0..N { bar.sync 2, 64; } bar.sync 1, 64; }\n";
    let run = verify(text, &["--deny", "all", "--format", "json"]).expect(0);
    let report = &run.json()[0];
    assert_eq!(report["findings"], json!([]));
    let counts: Vec<_> = report["allowed"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|a| a["findings"].as_array().map(Vec::len))
        .collect();
    assert_eq!(counts, [Some(1), Some(1)]);
    verify(text, &["--deny", "unreached"]).expect(1).prints("error[unreached]").prints("allowed `unused`");
}

#[test]
fn an_allow_of_unused_covers_other_allows_but_not_itself() {
    let both = "target ptx;\ncta 64;\nallow data-race \"so it is\";\nallow unused \"so they are\";\n\
                warps 0..2 { bar.sync 1, 64; }\n";
    let run = verify(both, &["--format", "json"]).expect(0);
    assert_eq!(run.json()[0]["findings"], json!([]));
    let alone = without(both, 3);
    let run = verify(&alone, &["--format", "json"]).expect(0);
    assert_eq!(run.json()[0]["findings"][0]["rule"], "unused");
}

#[test]
fn what_cannot_be_allowed_is_an_error_with_its_place() {
    for (allow, said) in [
        ("allow deadlock \"so it is\";", "cannot be allowed"),
        ("allow lost-notification \"so it is\";", "has no rule"),
        ("allow data-rcae \"so it is\";", "did you mean `data-race`?"),
        ("allow data-race \"\";", "a reason is missing"),
        ("allow data-race;", "expected a reason in quotes"),
    ] {
        let text = RACE.replace("allow data-race \"a lost update does no harm\";", allow);
        verify(&text, &[]).expect(2).says(said).says("protocol.bar:4:");
    }
}

#[test]
fn models_for_others_assert_nothing_that_is_allowed() {
    let folder = Folder::new();
    let blank = RACE.replace("allow data-race \"a lost update does no harm\";", "");
    let (with, without) = (folder.add("with.bar", RACE), folder.add("without.bar", &blank));
    for language in ["promela", "tla"] {
        let exported = |file: &str, more: &[&str]| {
            let mut arguments = vec!["export", "--to", language, "-o", "-"];
            arguments.extend(more);
            arguments.push(file);
            run(&arguments).expect(0).out.replace("without", "with")
        };
        let head = |text: &str| -> String { text.lines().filter(|line| !line.contains(".bar")).collect() };
        let allowed = exported(&with, &[]);
        let same = |one: &str, other: &str| head(one) == head(other);
        assert!(same(&allowed, &exported(&without, &["--allow", "data-race"])));
        assert!(!same(&allowed, &exported(&without, &[])));
        assert!(same(&exported(&with, &["--deny", "data-race"]), &exported(&without, &[])));
    }
}

#[test]
fn a_counterexample_of_what_the_file_allows_says_whose_choice_that_is() {
    let folder = Folder::new();
    let (file, trace) = (folder.add("race.bar", RACE), folder.text("race.json"));
    run(&["verify", "--deny", "data-race", "--trace", &trace, &file]).expect(1);
    let replayed = run(&["replay", "--format", "json", &trace]).expect(0).json();
    assert_eq!(replayed[0]["outcome"], "confirmed");
    assert_eq!((&replayed[0]["level"], &replayed[0]["usual_level"]), (&"error".into(), &"allow".into()));
    run(&["view", "-o", "-", &trace]).expect(0).prints("data-race");
    let plain = folder.add("plain.bar", without(RACE, 4));
    run(&["verify", "--trace", &trace, &plain]).expect(1);
    let replayed = run(&["replay", "--format", "json", &trace]).expect(0).json();
    assert_eq!(replayed[0].get("usual_level").unwrap_or(&Value::Null), &Value::Null);
}

#[test]
fn the_gate_reports_no_violation_of_what_is_allowed() {
    let folder = Folder::new();
    let (with, without) = (folder.add("with.bar", RACE), folder.add("without.bar", without(RACE, 4)));
    run(&["gate", "--with", "loom", &without]).expect(1).prints("data-race");
    let run = run(&["gate", "--with", "loom", &with]).expect(3);
    run.prints("`data-race` ends an execution, and the file allows it");
}
