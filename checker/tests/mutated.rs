//! Traces that somebody has changed: whatever is changed, nobody panics, and what is confirmed is shown as
//! the model does it.

use barcheck::{Replayed, replay};
use barcheck_counterexamples::Trace;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Changes of a trace that are tried, `BARCHECK_MUTATIONS` if that is set.
const MUTATIONS: usize = 5_000;

/// Longer traces would make few mutations.
const LONGEST: u64 = 40_000;

/// The shorter traces of the gallery: some of every target.
fn traces() -> Vec<(PathBuf, Value)> {
    let gallery = Path::new(env!("CARGO_MANIFEST_DIR")).join("../counterexamples/gallery");
    let mut traces = Vec::new();
    for target in fs::read_dir(gallery).expect("the gallery").flatten().filter(|entry| entry.path().is_dir())
    {
        let files = fs::read_dir(target.path()).expect("a folder").flatten().map(|entry| entry.path());
        let short = |path: &PathBuf| fs::metadata(path).expect("a file").len() < LONGEST;
        let mut files: Vec<_> =
            files.filter(|p| p.extension().is_some_and(|e| e == "json")).filter(short).collect();
        files.sort();
        let step = files.len().div_ceil(12).max(1);
        for path in files.into_iter().step_by(step) {
            let text = fs::read_to_string(&path).expect("a text");
            traces.push((path, serde_json::from_str(&text).expect("JSON")));
        }
    }
    assert!(traces.len() > 20, "{}", traces.len());
    traces
}

/// Numbers that look random and are the same every time (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % n.max(1) as u64).unwrap_or(0)
    }
}

/// Changes one value somewhere below, by chance; returns the way to it.
fn mutate(value: &mut Value, random: &mut Random, way: &mut String) {
    match value {
        Value::Object(fields) if !fields.is_empty() && random.below(20) > 0 => {
            let at = random.below(fields.len());
            let name = fields.keys().nth(at).cloned().unwrap_or_default();
            way.push('/');
            way.push_str(&name);
            mutate(&mut fields[&name], random, way);
        }
        Value::Array(items) if !items.is_empty() && random.below(10) > 0 => {
            let at = random.below(items.len());
            way.push_str(&format!("/{at}"));
            mutate(&mut items[at], random, way);
        }
        Value::Object(fields) => {
            if random.below(2) == 0 {
                fields.insert("more".to_owned(), json!(1));
            } else {
                let name = fields.keys().next().cloned().unwrap_or_default();
                fields.remove(&name);
            }
        }
        Value::Array(items) => match (random.below(3), items.last().cloned()) {
            (0, Some(last)) => items.push(last),
            (1, _) => items.reverse(),
            _ => drop(items.pop()),
        },
        Value::Number(number) => {
            let n = number.as_i64().unwrap_or(0);
            *value = [json!(n + 1), json!(n - 1), json!(0), json!(u32::MAX), json!(-1), Value::Null]
                [random.below(6)]
            .clone();
        }
        Value::String(text) => {
            let at = random.below(text.len());
            let change = ["x", "0", "warning", "", "deadlock", "\u{1b}[2J"][random.below(6)];
            if text.is_char_boundary(at) {
                text.insert_str(at, change);
            }
            if random.below(3) == 0 {
                change.clone_into(text);
            }
        }
        Value::Bool(flag) => *flag = !*flag,
        Value::Null => *value = [json!(0), json!("error"), json!({})][random.below(3)].clone(),
    }
}

/// What nobody can confirm: what the protocol's file is called, and which level somebody has chosen.
fn without_choices(trace: &Trace) -> Trace {
    let mut trace = trace.clone();
    trace.protocol.file = String::new();
    trace.outcome.level = None;
    trace
}

#[test]
fn a_changed_trace_is_refused_or_shown_as_the_model_does_it() {
    let count = std::env::var("BARCHECK_MUTATIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(MUTATIONS);
    let (traces, mut random) = (traces(), Random(1));
    let (mut refused, mut confirmed) = (0_usize, 0_usize);
    for _ in 0..count {
        let (path, original) = &traces[random.below(traces.len())];
        let (mut changed, mut way) = (original.clone(), String::new());
        // Words are short against the rest.
        let part = if random.below(3) == 0 { "outcome" } else { "" };
        match part {
            "" => mutate(&mut changed, &mut random, &mut way),
            part => mutate(&mut changed[part], &mut random, &mut way),
        }
        let what = format!("{} {part}{way}", path.display());
        let (replayed, trace) = replay(changed.to_string().as_bytes());
        match replayed {
            Replayed::Confirmed(about) => {
                confirmed += 1;
                let trace = trace.expect("it was replayed");
                assert_eq!(about.headline, trace.outcome.headline, "{what}");
                // A protocol that was changed has a run of its own.
                if changed["protocol"]["source"] == original["protocol"]["source"]
                    && changed["protocol"]["defines"] == original["protocol"]["defines"]
                {
                    let whole = Trace::from_json(&original.to_string()).expect("it is a trace");
                    let mut shown = without_choices(&trace);
                    if trace.protocol.file != whole.protocol.file {
                        // Words with places name the file.
                        shown.outcome.message.clone_from(&whole.outcome.message);
                        shown.outcome.explanation.clone_from(&whole.outcome.explanation);
                    }
                    assert_eq!(shown, without_choices(&whole), "{what}");
                    if trace.outcome.level != whole.outcome.level {
                        assert!(about.chosen_level.is_some() || whole.outcome.level.is_none(), "{what}");
                    }
                }
            }
            Replayed::Departs(..) | Replayed::Unreadable(_) => refused += 1,
            Replayed::Late => panic!("{what}: nobody has set a time"),
        }
    }
    println!("{count} changed traces: {refused} refused, {confirmed} confirmed with words made anew");
    assert!(refused > count / 3 && confirmed > 0, "{refused} {confirmed}");
}

#[test]
fn a_confirmed_trace_is_shown_with_words_that_are_made_anew() {
    for (path, original) in traces() {
        let mut changed = original.clone();
        for words in ["headline", "message", "explanation"] {
            changed["outcome"][words] = json!("nothing is wrong");
        }
        changed["outcome"]["related"] = json!([]);
        match replay(changed.to_string().as_bytes()) {
            (Replayed::Confirmed(about), Some(trace)) => {
                let whole = Trace::from_json(&original.to_string()).expect("it is a trace");
                assert_eq!(trace, whole, "{}", path.display());
                assert_eq!(about.headline, whole.outcome.headline);
            }
            (replayed, _) => panic!("{}: {replayed:?}", path.display()),
        }
    }
}

#[test]
fn a_field_that_no_trace_has_is_refused_with_its_place() {
    let (_, mut trace) = traces().swap_remove(0);
    trace["steps"][0]["events"] = json!([{ "kind": "exited", "at": 1 }]);
    let text = serde_json::to_string_pretty(&trace).expect("JSON");
    let (Replayed::Unreadable(why), None) = replay(text.as_bytes()) else { panic!("it is refused") };
    assert!(why.starts_with("line ") && why.contains("unknown field `at`"), "{why}");
    trace["steps"][0].as_object_mut().expect("an object").remove("events");
    trace["headline"] = json!("all is well");
    let (Replayed::Unreadable(why), None) = replay(trace.to_string().as_bytes()) else {
        panic!("it is refused")
    };
    assert!(why.contains("line 1, column ") && why.contains("unknown field `headline`"), "{why}");
}
