//! Traces of hand-built protocols: round trip, schema, replay, words.

mod common;

use barcheck_counterexamples::{
    REPORT_SCHEMA, Stuck, Style, TRACE_SCHEMA, Trace, fingerprint, narrative, replay, trace,
};
use common::cases;
use serde_json::{Value, json};

fn schema(text: &str) -> Value {
    serde_json::from_str(text).expect("a schema is JSON")
}

fn check(validator: &jsonschema::Validator, name: &str, instance: &Value) {
    let errors: Vec<String> =
        validator.iter_errors(instance).map(|e| format!("{} at {}", e, e.instance_path())).collect();
    assert!(errors.is_empty(), "{name}: {errors:#?}");
}

#[test]
fn every_trace_comes_back_from_json() {
    for (name, _, trace) in cases() {
        for text in [trace.to_json(), trace.to_json_pretty()] {
            let again = Trace::from_json(&text.expect("traces can be written")).expect(name);
            assert_eq!(again, trace, "{name}");
        }
    }
}

#[test]
fn every_trace_is_replayed() {
    for (name, program, trace) in cases() {
        let confirmation = replay(&trace, program).unwrap_or_else(|d| panic!("{name}: {d}"));
        assert_eq!(confirmation.steps, trace.steps.len());
        assert_eq!(confirmation.rule, trace.outcome.rule);
    }
}

#[test]
fn nothing_unblocks_a_stuck_agent() {
    let program = common::lasso();
    let confirmation = replay(&common::lasso_trace(&program), program).expect("it is stuck");
    assert_eq!(confirmation.stuck, Some(Stuck { states: 1, complete: true }));
}

#[test]
fn every_trace_is_of_the_schema() {
    let schema = schema(TRACE_SCHEMA);
    assert!(jsonschema::meta::is_valid(&schema));
    let validator = jsonschema::draft202012::new(&schema).expect("the schema can be used");
    for (name, _, trace) in cases() {
        check(&validator, name, &serde_json::to_value(&trace).expect("traces can be written"));
    }
    let (_, _, trace) = cases().remove(0);
    let mut wrong = serde_json::to_value(&trace).expect("traces can be written");
    wrong["steps"][0]["events"][0]["kind"] = json!("arived");
    assert!(!validator.is_valid(&wrong));
}

#[test]
fn a_report_is_of_the_schema() {
    let registry = jsonschema::Registry::new()
        .add("urn:barcheck:trace-1", schema(TRACE_SCHEMA))
        .and_then(|r| r.prepare())
        .expect("the schema of traces can be used");
    let report = schema(REPORT_SCHEMA);
    assert!(jsonschema::meta::is_valid(&report));
    let validator = jsonschema::options().with_registry(&registry).build(&report).expect("it can be used");
    let (_, _, trace) = cases().remove(0);
    let outcome = &trace.outcome;
    let mut line = json!({
        "format": "barcheck-report/1", "file": "ring.bar", "target": "ptx", "verdict": "violated",
        "reason": null,
        "findings": [{
            "rule": "deadlock", "level": "error", "message": outcome.message,
            "clause": { "document": "PTX ISA", "section": "barrier{.cta}", "id": "barcheck.deadlock" },
            "barrier": 1, "agents": outcome.agents, "location": { "line": 12, "column": 9 },
            "related": outcome.related, "fingerprint": fingerprint(&trace), "trace": trace,
        }],
        "statistics": {
            "states": 9, "transitions": 12, "depth": 4, "seconds": 0.01, "peak_memory_bytes": 4096,
            "complete": true, "engine": "plain", "reduction": "none"
        }
    });
    check(&validator, "report", &line);
    line["findings"][0]["trace"]["steps"][0]["agent"] = json!("warp 0");
    assert!(!validator.is_valid(&line), "the trace inside is checked too");
    let clean = json!({ "format": "barcheck-report/1", "file": "a.bar", "target": "ptx",
        "verdict": "verified", "findings": [] });
    check(&validator, "clean", &clean);
    let mute = json!({ "format": "barcheck-report/1", "file": "a.bar", "verdict": "error", "findings": [] });
    assert!(!validator.is_valid(&mute), "an error has a reason");
}

#[test]
fn messages_say_who_where_how_many_and_who_is_missing() {
    let expected = [
        "warp 3 exited at ring.bar:22 without arriving on barrier 1; warps 0-2 wait on barrier 1 (96 of 128 \
         threads arrived)",
        "warp 1's write of x at ring.bar:21 conflicts with warp 0's write at ring.bar:11: no barrier orders \
         the two",
        "thread 1's signal at ring.bar:22 completes a generation of barrier 1 for thread 0, which has not \
         yet waited for the one before",
        "thread 0 signals barrier 1 at ring.bar:12 while it has yet to wait for the generation before",
        "invocation 1 exits at ring.bar:22 without having waited for its arrival on the workgroup barrier at \
         ring.bar:21",
        "warp 0 keeps an output of `B2R.RESULT R4` at ring.bar:12 that its last reduction left undefined",
        "warp 0 waits at ring.bar:11 on barrier 1 (32 of 64 threads arrived) for ever, while warp 1 goes on \
         in a cycle; no warp is left that could arrive: 32 < 64 threads",
    ];
    for ((name, _, trace), expected) in cases().into_iter().zip(expected) {
        assert_eq!(trace.outcome.message, expected, "{name}");
        let rule = trace.outcome.rule.as_deref().unwrap_or_default();
        assert!(trace.outcome.headline.starts_with(&format!("{rule}: ")), "{name}");
        assert!(!trace.outcome.headline.contains("ring.bar"), "{name}: {}", trace.outcome.headline);
        assert!(trace.outcome.explanation.lines().count() >= 2, "{name}");
        let words = [&trace.outcome.headline, &trace.outcome.message, &trace.outcome.explanation];
        assert!(words.iter().all(|w| !w.contains('\u{1}')), "{name}");
    }
}

#[test]
fn the_state_after_each_step_can_be_put_together() {
    let trace = common::trace_of(&common::deadlock(), barcheck_model::rule::Rule::Deadlock);
    assert_eq!(trace.situation(0).with(trace::Status::Running), [0, 1, 2, 3]);
    let end = trace.last_situation();
    assert_eq!(end.with(trace::Status::Blocked), [0, 1, 2]);
    assert_eq!(end.with(trace::Status::Exited), [3]);
    let barrier = &end.barriers[&1];
    assert_eq!((barrier.counts[0].arrived, barrier.counts[0].expected), (96, 128));
    assert_eq!((&barrier.arrived[..], &barrier.missing[..]), (&[0, 1, 2][..], &[3][..]));
    assert_eq!(trace.barriers.iter().map(|b| b.short.as_str()).collect::<Vec<_>>(), ["b1", "b2"]);
}

#[test]
fn a_narrative_fits_its_width_and_its_alphabet() {
    for (name, _, trace) in cases() {
        for width in [40, 60, 100, 200] {
            let plain = narrative(
                &trace,
                &Style { colour: false, width, unicode: false, headline: true, all: false },
            );
            assert!(plain.is_ascii(), "{name}");
            // Words longer than a narrow column are not broken.
            let widest = plain.lines().map(str::len).max().unwrap_or(0);
            assert!(widest <= width.max(90), "{name} at {width}: {widest}\n{plain}");
            let coloured =
                narrative(&trace, &Style { colour: true, width, unicode: false, headline: true, all: false });
            assert!(coloured.contains('\u{1b}'), "{name}");
            assert_eq!(uncoloured(&coloured), plain, "{name}");
        }
    }
}

fn uncoloured(text: &str) -> String {
    let mut plain = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter == '\u{1b}' {
            letters.by_ref().find(|c| *c == 'm');
        } else {
            plain.push(letter);
        }
    }
    plain.lines().map(str::trim_end).collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn an_evaluation_error_before_the_first_step_is_a_trace_without_steps() {
    use barcheck_counterexamples::{What, build};
    use barcheck_model::machine::{Machine, Options, Path};
    use barcheck_model::program::{BinaryOp, Expr, Local, LocalId, LocalKind, Op, Target};
    let quotient = Expr::Binary(BinaryOp::Div, Box::new(Expr::Int(1)), Box::new(Expr::Int(0)));
    let broken = common::block("broken")
        .local(Local { name: "n".to_owned(), kind: LocalKind::Integer })
        .op(Op::Set(LocalId(0), quotient), "let n = 1 / 0");
    let program = common::protocol(Target::Ptx, vec![(1, broken)]);
    let mut machine = Machine::new(program.clone(), Options::default());
    let initial = machine.initial();
    let (agent, fault) = machine.fault(&initial).expect("it fails at once");
    let what = What::Fault(agent, fault);
    let trace = build(program.clone(), Options::default(), &common::source(), &Path::default(), what)
        .expect("nothing has to be done to get there");
    assert_eq!(trace.outcome.message, "warp 0 at ring.bar:11: division by zero");
    assert_eq!(trace.outcome.headline, "evaluation error: warp 0: division by zero");
    assert_eq!(trace.last_situation().with(trace::Status::Failed), [0]);
    let again = Trace::from_json(&trace.to_json().expect("it can be written")).expect("it can be read");
    assert_eq!(replay(&again, program).expect("it is so").rule, None);
    assert!(narrative(&trace, &Style::default()).contains("No step is made"));
}
