//! Long walks through the library's broken protocols become short, and show the same.

mod heads;
mod walks;

use barcheck::{Levels, Quiet, Settings, check};
use barcheck_counterexamples::{What, replay, shorten};
use barcheck_model::machine::{Choice, End, Finding, Machine, Options, Path, StepOutcome};
use barcheck_model::program::{AgentId, Program};
use barcheck_model::rule::{Level, Rule};
use barcheck_specs::bar::{LoadOptions, load};
use std::sync::Arc;
use std::time::Instant;
use walks::{switches, trace};

/// Walks through each protocol.
const WALKS: u64 = 6;

/// The length of the shortest path to a violation of each rule, by who violates it.
fn least(program: &Arc<Program>, options: Options) -> Vec<(Finding, usize)> {
    let levels = Levels { changes: Vec::new(), strict: true, ..Levels::default() };
    let settings = Settings { all: true, levels, ..Settings::default() };
    let found = check(Arc::clone(program), options, &settings, &Quiet).findings;
    found.into_iter().map(|found| (found.finding, found.path.steps.len())).collect()
}

#[test]
fn long_walks_become_short_and_show_the_same() {
    let mut figures = (0, 0, 0, 0, 0.0_f64);
    for file in heads::files() {
        let text = std::fs::read_to_string(&file).expect("a readable file");
        let head = heads::head(&text);
        let program = heads::protocol(&text, &head);
        if head.rules.is_empty() {
            continue;
        }
        let shortest = least(&program, head.readings);
        for seed in 0..WALKS {
            let Some((path, finding)) = walks::walk(&program, head.readings, seed) else { continue };
            let name =
                format!("{}, walk {seed}: {} of {} steps", file.display(), finding.rule, path.steps.len());
            let begin = Instant::now();
            let short = walks::shortened(&name, &program, head.readings, &path, &finding);
            let seconds = begin.elapsed().as_secs_f64();
            figures.4 = figures.4.max(seconds);
            // The search reports one violation for each rule and place.
            let Some((_, best)) = shortest.iter().find(|(found, _)| *found == finding) else { continue };
            println!("{name} -> {}, shortest {best}, {seconds:.3} s", short.steps.len());
            figures.0 += 1;
            figures.1 += path.steps.len();
            figures.2 += short.steps.len();
            figures.3 += best;
        }
    }
    let (walks, long, short, best, slowest) = figures;
    println!(
        "{walks} walks: {long} steps become {short}, where a search for each rule needs {best}; {slowest:.3} s at most"
    );
    assert!(walks > 500 && short < long);
}

/// The path of agents that take turns, each with what it picks, and the last violation of a rule on it.
fn along(
    text: &str,
    turns: impl IntoIterator<Item = (u32, u32)>,
    rule: Rule,
) -> (Arc<Program>, Path, Finding) {
    let program = Arc::new(load(text.as_bytes(), &LoadOptions::default()).expect("a valid text").program);
    let mut machine = Machine::new(Arc::clone(&program), Options::default());
    let mut state = machine.initial();
    let mut steps = Vec::new();
    let mut last = None;
    for (agent, pick) in turns {
        let choice = Choice::of(AgentId(agent), 0, pick);
        steps.push(choice);
        let found = match machine.step(&state, choice) {
            StepOutcome::Disabled | StepOutcome::NoEffect => panic!("step {} is none", steps.len()),
            StepOutcome::Progress(progressed) => {
                state = progressed.state;
                machine.judge(&state)
            }
            StepOutcome::Noted(progressed, noted) => {
                state = progressed.state;
                noted
            }
            StepOutcome::Error(end) => match *end {
                End::Violation(finding) => vec![finding],
                other => panic!("{other:?}"),
            },
        };
        let found = found.into_iter().find(|finding| finding.rule == rule);
        last = found.map(|finding| (steps.len(), finding)).or(last);
    }
    let (length, finding) = last.expect("the rule is violated");
    steps.truncate(length);
    (program, Path { steps, cycle_from: None }, finding)
}

/// The agents that make the steps of the shortened path, one after the other.
fn shortened(program: &Arc<Program>, path: &Path, finding: &Finding) -> Vec<u32> {
    let what = What::Finding(finding, Level::Error);
    let short = shorten(Arc::clone(program), Options::default(), path, what);
    trace(program, Options::default(), &short, finding);
    short.steps.iter().map(|choice| choice.agent().0).collect()
}

#[test]
fn a_generation_of_others_is_left_out() {
    let text = "target ptx; cta 128; shared a;
        warps 0..2 { bar.sync 1, 64; write a; }
        warps 2..4 { for i in 0..20 { bar.sync 5, 64; } }";
    let others = (0..10).flat_map(|_| [(2, 0), (3, 0)]);
    let turns = others.clone().chain([(0, 0), (1, 0), (0, 0)]).chain(others).chain([(1, 0)]);
    let (program, path, finding) = along(text, turns, Rule::DataRace);
    assert_eq!(path.steps.len(), 44);
    assert_eq!(shortened(&program, &path, &finding), [1, 0, 0, 1]);
}

#[test]
fn rounds_before_a_deadlock_are_cut_out() {
    let text = "target ptx; cta 64;
        warp 0 { while ? { bar.sync 1, 64; } bar.sync 2, 64; }
        warp 1 { while ? { bar.sync 1, 64; } bar.sync 3, 64; }";
    let turns = (0..12).flat_map(|_| [(0, 1), (0, 0), (1, 1), (1, 0)]);
    let turns = turns.chain([(0, 0), (1, 0), (0, 0), (1, 0)]);
    let (program, path, finding) = along(text, turns, Rule::Deadlock);
    assert_eq!(path.steps.len(), 52);
    assert_eq!(shortened(&program, &path, &finding), [0, 0, 1, 1]);
}

#[test]
fn what_may_happen_in_any_round_is_shown_in_the_first() {
    let text = "target ptx; cta 64;
        warp 0 { for i in 0..9 { bar.sync 1, 64; if ? { bar.sync 2, 64; } } }
        warp 1 { for i in 0..9 { bar.sync 1, 64; if ? { bar.sync 3, 64; } } }";
    let round = |pick| [(0, 0), (1, 0), (0, pick), (1, pick)];
    let turns = (0..6).flat_map(|_| round(0)).chain(round(1)).chain([(1, 0), (0, 0)]);
    let (program, path, finding) = along(text, turns, Rule::Deadlock);
    assert_eq!(path.steps.len(), 30);
    assert_eq!(shortened(&program, &path, &finding), [1, 0, 0, 0, 1, 1]);
}

#[test]
fn a_round_that_a_counter_needs_stays() {
    let text = "target ptx; cta 64; shared a;
        warps 0..2 { for i in 0..9 { bar.sync 1, 64; } write a; }";
    let rounds = (0..9).flat_map(|_| [(0, 0), (1, 0)]);
    let (program, path, finding) = along(text, rounds.chain([(0, 0), (1, 0)]), Rule::DataRace);
    assert_eq!(shortened(&program, &path, &finding).len(), path.steps.len());
}

#[test]
fn steps_that_commute_stand_together_and_those_that_race_stay_in_order() {
    let text = "target ptx; cta 128; shared a, b, c;
        warp 0 { read a; read a; bar.sync 1, 64; write b; }
        warp 1 { read c; read c; bar.sync 1, 64; }
        warp 2 { read c; write b; }
        warp 3 { }";
    let turns = [0, 1, 0, 1, 2, 0, 1, 0, 2].map(|agent| (agent, 0));
    let (program, path, finding) = along(text, turns, Rule::DataRace);
    assert_eq!(finding.agents[..], [AgentId(0), AgentId(2)]);
    let order = shortened(&program, &path, &finding);
    assert_eq!(order.len(), 9);
    assert_eq!(switches(&path), 8);
    let runs = order.chunk_by(|a, b| a == b).count();
    assert!(runs <= 4 && order.last() == Some(&2), "{order:?}");
}

#[test]
fn what_several_agents_do_alike_stands_together() {
    let text = "target ptx; cta 128; warps 0..3 { bar.sync 1, 128; } warp 3 { bar.arrive 2, 32; }";
    let turns = [0, 3, 1, 3, 2].map(|agent| (agent, 0));
    let (program, path, finding) = along(text, turns, Rule::Deadlock);
    assert_eq!(shortened(&program, &path, &finding), [0, 1, 2, 3, 3]);
}

#[test]
fn a_path_of_ten_thousand_steps_is_shortened_in_time() {
    let text = "target ptx; cta 256; shared a;
        warps 0..6 { for i in 0..1600 { bar.sync 1, 192; } }
        warp 6 { write a; }
        warp 7 { write a; }";
    let rounds = (0..1600).flat_map(|round| (0..6).map(move |agent| ((agent + round) % 6, 0)));
    let turns = [(6, 0)].into_iter().chain(rounds).chain([(7, 0)]);
    let (program, path, finding) = along(text, turns, Rule::DataRace);
    let begin = Instant::now();
    assert_eq!(shortened(&program, &path, &finding), [6, 7]);
    println!("{} steps in {:.3} s", path.steps.len(), begin.elapsed().as_secs_f64());
}

#[test]
fn a_path_of_which_nothing_can_be_spared_comes_back_within_the_budget() {
    let text = "target ptx; cta 256; shared a;
        warps 0..8 { for i in 0..1250 { bar.sync 1, 256; } write a; }";
    let rounds = (0..1250).flat_map(|round| (0..8).map(move |agent| ((agent + round) % 8, 0)));
    let (program, path, finding) = along(text, rounds.chain([(0, 0), (1, 0)]), Rule::DataRace);
    let begin = Instant::now();
    let order = shortened(&program, &path, &finding);
    let seconds = begin.elapsed().as_secs_f64();
    assert_eq!(order.len(), path.steps.len());
    assert!(seconds < 60.0, "{seconds} s");
    println!("{} steps in {seconds:.3} s", path.steps.len());
}

/// A run without end, with a detour before it and two rounds for one.
#[test]
fn the_way_into_a_cycle_and_the_cycle_become_short() {
    let text = "target ptx; cta 96; shared a;
        warp 0 { bar.sync 1, 64; }
        warp 1 { loop { atomic a; } }
        warp 2 { while ? { bar.sync 2, 32; } }";
    let program = Arc::new(load(text.as_bytes(), &LoadOptions::default()).expect("a valid text").program);
    let detour = [(2, 1), (2, 0)].repeat(3);
    let turns = detour.into_iter().chain([(0, 0), (1, 0), (2, 1), (1, 0), (2, 0), (1, 0), (1, 0)]);
    let steps = turns.map(|(agent, pick)| Choice::of(AgentId(agent), 0, pick)).collect();
    let path = Path { steps, cycle_from: Some(11) };
    let levels = Levels::default();
    let settings = Settings { all: true, levels, ..Settings::default() };
    let found = check(Arc::clone(&program), Options::default(), &settings, &Quiet).findings;
    let stuck = found.into_iter().find(|found| found.finding.rule == Rule::StuckAgent).expect("it is stuck");
    let what = What::Finding(&stuck.finding, Level::Error);
    let short = shorten(Arc::clone(&program), Options::default(), &path, what);
    let agents: Vec<_> = short.steps.iter().map(|choice| choice.agent().0).collect();
    let trace = trace(&program, Options::default(), &short, &stuck.finding);
    replay(&trace, program).expect("it holds");
    assert_eq!((agents, short.cycle_from), (vec![0, 1, 1], Some(2)));
    assert!(stuck.path.steps.len() >= short.steps.len());
}

#[test]
fn a_path_that_does_not_show_what_it_should_comes_back_as_it_is() {
    let text = "target ptx; cta 64; warp 0 { bar.sync 1, 64; } warp 1 { bar.sync 2, 64; }";
    let (program, path, finding) = along(text, [(0, 0), (1, 0)], Rule::Deadlock);
    let half = Path { steps: path.steps[..1].to_vec(), cycle_from: None };
    let what = What::Finding(&finding, Level::Error);
    assert_eq!(shorten(Arc::clone(&program), Options::default(), &half, what), half);
    let other = Finding { agents: Default::default(), ..finding };
    let what = What::Finding(&other, Level::Error);
    assert_eq!(shorten(program, Options::default(), &path, what), path);
}
