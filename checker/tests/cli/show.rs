//! `barcheck show`: the narrative where there is no terminal, and the viewer where there is one.

use crate::support::{Folder, GOOD, no_traces, ring, run, run_on};

#[test]
fn where_there_is_no_terminal_the_whole_story_is_told() {
    let (folder, text) = ring();
    let trace = folder.text("ring.json");
    let told = run(&["show", &trace]).expect(0);
    assert_eq!(told.err, "");
    for said in [
        "deadlock: warp 0 waits on barrier 1",
        "step  line w0 w1",
        "in the end",
        "why",
        "They wait for one another in a cycle",
    ] {
        assert!(told.out.contains(said), "no `{said}` in {}", told.out);
    }
    assert!(!told.out.contains('\u{1b}'), "no colours, no cursor");
    assert_eq!(run(&["show", "--plain", &trace]).expect(0).out, told.out);
    assert_eq!(run_on(&["show", "-"], text.as_bytes()).expect(0).out, told.out);
    run(&["show", "--color", "always", &trace]).expect(0).prints("\u{1b}[");
}

#[test]
fn no_step_of_a_long_story_is_left_out() {
    let folder = Folder::new();
    let source = "target ptx;\ncta 64;\nwarp 0 { for i in 0..60 { bar.sync i % 16, 64; } bar.sync 1, 64; }\n\
                  warp 1 { for i in 0..60 { bar.sync i % 16, 64; } }\n";
    let (file, trace) = (folder.add("long.bar", source), folder.text("long.json"));
    run(&["verify", &file, "--trace", &trace]).expect(1).prints("left out");
    let told = run(&["show", &trace]).expect(0).out;
    assert!(!told.contains("left out"));
    for step in 1..=122 {
        let begins = |line: &str| line.split_whitespace().next() == Some(&step.to_string());
        assert!(told.lines().any(begins), "no step {step} in {told}");
    }
}

#[test]
fn a_protocol_is_no_trace_and_it_is_said_how_to_get_one() {
    let folder = Folder::new();
    let file = folder.add("good.bar", GOOD);
    let advice = format!("`barcheck verify --trace hang.json {file}`");
    run(&["show", &file]).expect(2).says("it is a protocol and no trace").says(&advice);
    run(&["show", &folder.add("broken.bar", "target nothing")])
        .expect(2)
        .says("it is a protocol and no trace");
    run_on(&["show", "-"], GOOD.as_bytes()).expect(2).says("`barcheck verify --trace hang.json -`");
    run(&["view", &file]).expect(2).says("it is a protocol and no trace");
}

#[test]
fn what_is_no_trace_or_does_not_hold_is_refused() {
    let (folder, text) = ring();
    let others = [("nested.json", "[".repeat(100_000), "recursion limit")];
    for (name, contents, said) in no_traces(&text).into_iter().chain(others) {
        let file = folder.add(name, contents);
        run(&["show", &file]).expect(2).says("cannot show").says(said);
        run(&["show", "--anyway", &file]).expect(2).says("cannot show");
    }
    run(&["show", &folder.text("nowhere.json")]).expect(2).says("cannot show");
    run(&["show", &folder.add("bytes.json", [0xff, 0xfe])]).expect(2).says("not UTF-8");
    let edited = folder.add("edited.json", text.replacen("\"arrived\":32", "\"arrived\":64", 1));
    run(&["show", &edited]).expect(1).says("departs from the model").says("--anyway");
    let told = run(&["show", "--anyway", &edited]).expect(0);
    assert!(
        told.out.starts_with("departs from the model, so what follows may not be so: step 1"),
        "{}",
        told.out
    );
}

#[test]
fn a_story_gives_the_terminal_no_orders() {
    let (folder, text) = ring();
    let mut trace: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let evil = "\u{1b}]0;x\u{7}\u{9b}2J\u{202e}";
    for pointer in [
        "/protocol/file",
        "/agents/0/name",
        "/agents/0/role",
        "/barriers/0/short",
        "/outcome/headline",
        "/outcome/explanation",
        "/steps/0/resolved",
        "/steps/0/instruction",
        "/steps/1/changes/agents/0/instruction",
    ] {
        *trace.pointer_mut(pointer).expect("there is such a field") = evil.into();
    }
    let file = folder.add("evil.json", trace.to_string());
    let told = run(&["show", "--anyway", &file]).expect(0);
    for stream in [&told.out, &told.err] {
        assert!(!stream.chars().any(|c| c.is_control() && c != '\n' || c == '\u{202e}'), "{stream:?}");
    }
    assert!(told.out.contains("<U+001B>]0;x<U+0007>"), "{}", told.out);
    for command in ["show", "view", "replay"] {
        let refused = run(&[command, &file]).expect(1);
        let said = format!("{}{}", refused.out, refused.err);
        assert!(!said.contains('\u{1b}') && !said.contains('\u{202e}'), "{said:?}");
    }
}
