//! Traces that are not what they say are refused, and the refusal says where.

mod common;

use barcheck_counterexamples::{Trace, replay};
use barcheck_model::rule::Rule;
use serde_json::{Value, json};

fn deadlock() -> Value {
    serde_json::to_value(common::trace_of(&common::deadlock(), Rule::Deadlock)).expect("it can be written")
}

/// What reading or replaying the trace says against it.
fn refusal(trace: &Value) -> String {
    match Trace::from_json(&trace.to_string()) {
        Err(error) => error.to_string(),
        Ok(trace) => match replay(&trace, common::deadlock()) {
            Err(departure) => departure.to_string(),
            Ok(_) => "confirmed".to_owned(),
        },
    }
}

#[test]
fn the_trace_itself_is_confirmed() {
    assert_eq!(refusal(&deadlock()), "confirmed");
}

#[test]
fn every_edit_is_refused_and_named() {
    type Edit = fn(&mut Value);
    let edits: Vec<(Edit, &str)> = vec![
        (|t| drop(t["steps"].as_array_mut().expect("steps").remove(1)), "steps[1].index: is 2 and must be 1"),
        (
            |t| {
                t["steps"].as_array_mut().expect("steps").pop();
            },
            "what the run shows differs: expected deadlock",
        ),
        (|t| t["steps"][1]["agent"] = json!(3), "step 2 (index 1): the instruction differs"),
        (|t| t["steps"][1]["agent"] = json!(0), "step 2 (index 1): the step differs"),
        (|t| t["steps"][1]["agent"] = json!(4), "steps[1].agent: there is no agent 4, only 4"),
        (|t| t["steps"][0]["choice"]["pick"] = json!(1), "step 1 (index 0): the choice differs"),
        (|t| t["steps"][0]["choice"]["move"] = json!(7), "step 1 (index 0): the step differs"),
        (|t| t["steps"][0]["events"][0]["barrier"] = json!(2), "step 1 (index 0): event 0 differs"),
        (
            |t| {
                t["steps"][0]["events"].as_array_mut().expect("events").pop();
            },
            "the number of events differs",
        ),
        (|t| t["steps"][0]["resolved"] = json!("bar.sync 2, 128"), "the resolved instruction differs"),
        (|t| t["steps"][0]["location"]["line"] = json!(99), "the place of the instruction differs"),
        (|t| t["steps"][0]["changes"]["agents"][0]["status"] = json!("running"), "changed agent 0 differs"),
        (
            |t| t["steps"][0]["changes"]["barriers"][0]["counts"][0]["arrived"] = json!(64),
            "changed barrier 0 differs",
        ),
        (|t| t["initial"]["agents"][0]["instruction"] = json!("exit"), "the initial state differs"),
        (|t| t["outcome"]["rule"] = json!("data-race"), "what the run shows differs: expected data-race"),
        (|t| t["outcome"]["rule"] = json!("no-such"), "outcome.rule: there is no rule `no-such`"),
        (
            |t| t["outcome"]["rule"] = json!("stuck-agent"),
            "outcome.cycle_from: `stuck-agent` is shown by a cycle",
        ),
        (|t| t["outcome"]["agents"] = json!([0]), "what the run shows differs"),
        (|t| t["outcome"]["cycle_from"] = json!(1), "the end of the cycle differs"),
        (|t| t["outcome"]["cycle_from"] = json!(99), "outcome.cycle_from: there is no step 99"),
        (|t| t["outcome"]["basis"] = json!("step"), "the basis of the outcome differs"),
        (|t| t["outcome"]["level"] = json!("fatal"), "outcome.level: there is no level `fatal`"),
        (|t| t["protocol"]["target"] = json!("bcu"), "the target differs: expected \"bcu\", found \"ptx\""),
        (|t| t["protocol"]["target"] = json!("cuda"), "protocol.target: there is no target `cuda`"),
        (|t| t["protocol"]["group_size"] = json!(64), "the size of the group differs"),
        (|t| t["agents"][2]["lanes"] = json!(16), "the list of agents differs"),
        (|t| t["barriers"][0]["name"] = json!("barrier 9"), "the list of barriers differs"),
        (|t| t["format"] = json!("barcheck-trace/2"), "the format is `barcheck-trace/2`"),
        (|t| t["format"] = json!(1), "no trace"),
        (|t| t["steps"][0]["agent"] = json!(99_999_999_999_u64), "invalid value: integer `99999999999`"),
        (|t| t["steps"][0]["agent"] = json!(-1), "invalid value: integer `-1`"),
        (|t| drop(t.as_object_mut().expect("object").remove("initial")), "missing field `initial`"),
    ];
    for (index, (edit, expected)) in edits.into_iter().enumerate() {
        let mut trace = deadlock();
        edit(&mut trace);
        let refusal = refusal(&trace);
        assert!(refusal.contains(expected), "edit {index}: {refusal:?} does not say {expected:?}");
    }
}

#[test]
fn a_step_more_than_the_path_allows_is_refused() {
    let program = common::undefined_result();
    let mut trace = common::trace_of(&program, Rule::UndefinedResult);
    let mut last = trace.steps.last().expect("it has steps").clone();
    last.index = trace.steps.len();
    trace.steps.push(last);
    let departure = replay(&trace, program).expect_err("it goes on after its end");
    assert_eq!(departure.step, Some(trace.steps.len() - 1));
    assert!(departure.to_string().contains("the step before it ends the path"), "{departure}");
}

#[test]
fn another_protocol_is_refused() {
    let trace = common::trace_of(&common::deadlock(), Rule::Deadlock);
    let departure = replay(&trace, common::race()).expect_err("it is of another protocol");
    assert!(departure.to_string().contains("the size of the group differs"), "{departure}");
}

#[test]
fn an_agent_that_runs_is_not_stuck() {
    let program = common::lasso();
    let mut trace = common::lasso_trace(&program);
    trace.outcome.agent = 1;
    trace.outcome.agents = vec![1];
    let departure = replay(&trace, program).expect_err("it runs");
    assert!(departure.to_string().contains("warp 1 is not blocked"), "{departure}");
}

#[test]
fn an_agent_that_something_can_unblock_is_not_stuck() {
    // The same cycle, but the loop has a way out: what was recorded is not all that can happen.
    let program = common::lasso_with_a_way_out();
    let trace = common::lasso_trace(&program);
    let departure = replay(&trace, program).expect_err("it can come free");
    assert_eq!(departure.expected, "warp 0 blocked for ever");
}

#[test]
fn what_is_no_json_is_refused_with_its_place() {
    let text = serde_json::to_string_pretty(&deadlock()).expect("it can be written");
    for end in (0..text.len()).step_by(61).filter(|end| text.is_char_boundary(*end)) {
        let error = Trace::from_json(&text[..end]).expect_err("it is cut off");
        assert!(error.line.is_some() && error.column.is_some(), "{error}");
    }
    let broken = text.replacen("\"steps\": [", "\"steps\": [,", 1);
    let error = Trace::from_json(&broken).expect_err("it is no JSON");
    let line = broken.lines().position(|l| l.contains("[,")).expect("it is there") + 1;
    assert_eq!(error.line, Some(line), "{error}");
    assert!(error.to_string().starts_with(&format!("line {line}, column ")), "{error}");
}

#[test]
fn hostile_texts_are_refused_without_harm() {
    let deep = format!("{{\"format\":\"barcheck-trace/1\",\"steps\":{}", "[".repeat(1_000_000));
    let texts = [
        "",
        "null",
        "[]",
        "{}",
        "\u{feff}{}",
        "{\"format\":\"barcheck-trace/1\"}",
        "{\"format\":null}",
        &deep,
    ];
    for text in texts {
        let error = Trace::from_json(text).expect_err("it is no trace");
        assert!(!error.message.is_empty());
    }
    let many = vec![json!(0); 3];
    let mut trace = deadlock();
    trace["steps"] = json!(many);
    assert!(Trace::from_json(&trace.to_string()).is_err());
}
