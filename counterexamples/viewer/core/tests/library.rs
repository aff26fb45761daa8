//! Walks along the counterexamples of the library: what the page would be told is what the trace says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use barcheck::{Quiet, Settings, check};
use barcheck_counterexamples::{SourceInfo, Trace, What, build};
use barcheck_model::machine::{Choice, ExitedThreads, Machine, Options, State, StepOutcome};
use barcheck_model::program::Program;
use barcheck_specs::bar::{LoadOptions, load};
use barcheck_whatif::Session;
use serde_json::Value;

/// A broken protocol of the library, and its counterexample.
struct Broken {
    name: String,
    program: Arc<Program>,
    options: Options,
    trace: Trace,
}

fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../specs/protocols");
    let folders = std::fs::read_dir(root).expect("the library").flatten().filter(|f| f.path().is_dir());
    let files = folders.flat_map(|folder| std::fs::read_dir(folder.path()).expect("a folder").flatten());
    let mut files: Vec<PathBuf> = files.map(|file| file.path()).collect();
    files.retain(|file| file.extension().is_some_and(|e| e == "bar"));
    files.sort();
    files
}

/// The value of a field in a file's head.
fn field<'t>(text: &'t str, name: &str) -> &'t str {
    let lines = text.lines().take_while(|line| line.starts_with("//"));
    lines
        .filter_map(|line| line.trim_start_matches('/').trim().strip_prefix(name))
        .next()
        .unwrap_or_default()
        .trim()
}

fn broken(file: &Path) -> Option<Broken> {
    let text = std::fs::read_to_string(file).expect("a readable file");
    if field(&text, "expect:") != "violated" {
        return None;
    }
    let mut defines = BTreeMap::new();
    let mut options = Options::default();
    let words: Vec<&str> = field(&text, "options:").split_whitespace().collect();
    for pair in words.chunks(2) {
        match pair {
            ["-D", define] => {
                let (name, value) = define.split_once('=').expect("NAME=VALUE");
                defines.insert(name.to_owned(), value.parse().expect("a number"));
            }
            ["--exited-threads", "release"] => options.exited_threads = ExitedThreads::Release,
            _ => {}
        }
    }
    let loaded = load(text.as_bytes(), &LoadOptions { defines: defines.clone() }).expect("a valid file");
    let program = Arc::new(loaded.program);
    let outcome = check(Arc::clone(&program), options, &Settings::default(), &Quiet);
    let found = outcome.findings.first()?;
    let name = file.display().to_string();
    let source = SourceInfo { file: name.clone(), format: "bar".to_owned(), text, defines };
    let what = What::Finding(&found.finding, found.level);
    let trace = build(Arc::clone(&program), options, &source, &found.path, what).expect("it holds");
    Some(Broken { name, program, options, trace })
}

/// Opens a trace as the page does.
fn open(trace: &Trace) -> Session {
    let protocol = serde_json::to_value(&trace.protocol).expect("JSON");
    let text = |key: &str| protocol[key].as_str().expect("text").to_owned();
    let defines: Vec<String> =
        trace.protocol.defines.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let steps: Vec<String> = trace
        .steps
        .iter()
        .map(|step| {
            let lands = if step.choice.lands { ".1" } else { "" };
            format!("{}.{}.{}{lands}", step.agent, step.choice.index, step.choice.pick)
        })
        .collect();
    let fields = [
        text("file"),
        text("format"),
        defines.join(","),
        text("exited_threads"),
        trace.outcome.rule.clone().unwrap_or_default(),
        trace.outcome.level.clone().unwrap_or_default(),
        steps.join(","),
        text("source"),
    ];
    Session::open(&fields.join("\0")).expect("the page opens its own trace")
}

fn ask(session: &mut Session, question: &str) -> Value {
    serde_json::from_str(&session.ask(question)).expect("an answer is JSON")
}

/// What the model can do in a state.
fn enabled(machine: &mut Machine, state: &State) -> Vec<(u64, u64, u64, bool)> {
    let agents: Vec<_> = machine.agents().collect();
    let mut all = Vec::new();
    for agent in agents {
        let moves: Vec<_> = machine.moves(state, agent).to_vec();
        for (index, made) in (0_u32..).zip(&moves) {
            for pick in machine.picks(state, agent, made) {
                let pick = u32::try_from(pick).expect("a small choice");
                if machine.step(state, Choice::of(agent, index, pick)) != StepOutcome::Disabled {
                    all.push((agent.0.into(), index.into(), pick.into(), false));
                }
            }
        }
        let landings = state.landings().filter(|landing| landing.agent() == agent);
        all.extend(landings.map(|landing| (agent.0.into(), landing.index.into(), 0, true)));
    }
    all
}

fn next(machine: &mut Machine, state: &State, choice: Choice) -> Option<State> {
    match machine.step(state, choice) {
        StepOutcome::Progress(made) | StepOutcome::Noted(made, _) => Some(made.state),
        StepOutcome::NoEffect => Some(state.clone()),
        StepOutcome::Disabled | StepOutcome::Error(_) => None,
    }
}

/// The whole of a trace through the core: the steps, what could be done before each, and what it all shows.
fn walk(broken: &Broken) {
    let Broken { name, program, options, trace } = broken;
    let mut session = open(trace);
    let count = trace.steps.len();
    let told = session.ask(&format!("run {count}:"));
    let written = serde_json::to_string(&trace.steps).expect("JSON");
    assert!(told.contains(&format!("\"steps\":{written}")), "{name}: the steps are not those of the trace");
    let told: Value = serde_json::from_str(&told).expect("JSON");
    let rules: Vec<_> =
        told["found"].as_array().expect("a list").iter().map(|found| &found["rule"]).collect();
    let rule = trace.outcome.rule.as_deref().expect("a violation");
    // That somebody is stuck for ever is seen on all that could follow, not on one run.
    assert!(rule == "stuck-agent" || rules.iter().any(|found| *found == rule), "{name}: {rules:?}");
    if trace.outcome == serde_json::from_value(told["view"]["trace"]["outcome"].clone()).expect("an outcome")
    {
        assert_eq!(told["view"]["trace"], serde_json::to_value(trace).expect("JSON"), "{name}");
    }
    let mut machine = Machine::new(Arc::clone(program), *options);
    let mut state = machine.initial();
    for (index, step) in trace.steps.iter().enumerate() {
        let told = ask(&mut session, &format!("after {index} {count}:"));
        let number = |way: &Value, key: &str| way[key].as_u64().expect("a number");
        let lands = |way: &Value| way["lands"] == Value::Bool(true);
        let ways = told["choices"].as_array().expect("a list");
        let ways: Vec<_> = ways
            .iter()
            .map(|w| (number(w, "agent"), number(w, "move"), number(w, "pick"), lands(w)))
            .collect();
        assert_eq!(ways, enabled(&mut machine, &state), "{name}: before step {}", index + 1);
        assert_eq!(told["capped"], serde_json::json!([]), "{name}");
        let agent = barcheck_model::program::AgentId(step.agent);
        let choice = match step.choice.lands {
            true => Choice::landing(agent, step.choice.index),
            false => Choice::of(agent, step.choice.index, step.choice.pick),
        };
        match next(&mut machine, &state, choice) {
            Some(reached) => state = reached,
            None => assert_eq!(index + 1, count, "{name}: a step ends the run"),
        }
    }
}

#[test]
fn along_every_counterexample_of_the_library_the_core_says_what_the_trace_says() {
    let all: Vec<Broken> = files().iter().filter_map(|file| broken(file)).collect();
    assert!(all.len() > 100, "{} counterexamples", all.len());
    all.iter().for_each(walk);
}

fn of(name: &str) -> Session {
    let file = files().into_iter().find(|file| file.ends_with(name)).expect("a protocol of the library");
    open(&broken(&file).expect("it is broken").trace)
}

#[test]
fn another_choice_leads_from_a_deadlock_to_a_good_end() {
    let mut session = of("ptx/weft_unknown_trip_count.bar");
    let told = ask(&mut session, "on all 1000 0:");
    assert_eq!((&told["stands"], &told["found"]), (&"finished".into(), &serde_json::json!([])));
    assert_eq!(told["view"]["shows"], false, "a run without a violation has no outcome");
}

#[test]
fn where_every_order_hangs_the_core_says_so_in_the_words_of_a_trace() {
    let mut session = of("ptx/deadlock_crossed_order.bar");
    let told = ask(&mut session, "run 0:1.0.0,0.0.0");
    assert_eq!((&told["stands"], &told["found"][0]["rule"]), (&"over".into(), &"deadlock".into()));
    assert_eq!(told["view"]["shows"], true);
    let explanation = told["view"]["trace"]["outcome"]["explanation"].as_str().expect("words");
    assert!(explanation.contains("They wait for one another in a cycle"), "{explanation}");
}

#[test]
fn a_run_let_run_stops_where_something_happens() {
    let mut session = of("ptx/wavelet_one_short_broken.bar");
    let told = ask(&mut session, "on all 1000 0:1.0.0");
    assert_eq!(told["stopped"], "something was found");
    assert_eq!(told["found"][0]["rule"], "deadlock");
    assert_eq!(told["own"][0], serde_json::json!([1, 0, 0]), "it goes on from the steps given");
    let told = ask(&mut session, "on 1 1000 0:");
    assert_eq!(told["stopped"], "it has no step", "one agent alone waits soon");
    assert_eq!(told["stands"], "open");
    let told = ask(&mut session, "on all 2 0:");
    assert_eq!(told["stopped"], "2 steps were made");
    assert_eq!(told["own"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_run_that_comes_back_to_a_state_does_not_go_on_for_ever() {
    let mut session = of("ptx/stuck_behind_a_loop.bar");
    let told = ask(&mut session, "on all 1000000 0:");
    let stopped = told["stopped"].as_str().expect("words");
    assert!(stopped.starts_with("this state was reached before"), "{stopped}");
}

#[test]
fn what_is_in_flight_is_offered_as_something_to_land() {
    let mut session = of("ptx/mbarrier_missing_bytes_broken.bar");
    let told = ask(&mut session, "after 7 11:");
    let ways = told["choices"].as_array().expect("a list");
    let landings: Vec<_> = ways.iter().filter_map(|way| way["landing"].as_str()).collect();
    assert_eq!(
        landings,
        [
            "land the copy of 2048 bytes to buf[0] on full[0]",
            "land the copy of 2048 bytes to buf[1] on full[1]"
        ]
    );
    assert!(ways.iter().all(|way| way["landing"].is_null() != (way["lands"] == true)));
    let told = ask(&mut session, "run 7:0.0.0.1");
    assert_eq!(told["view"]["flights"][0]["landed"], 8);
}
