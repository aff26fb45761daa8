//! Where agents can be, compared with a list of all states: the model's own steps, without any search of the
//! library, say what can be reached.

use barcheck::{Budgets, Quiet, Seek, Settings};
use barcheck_engine::{Located, Wanted, locate};
use barcheck_model::machine::{Choice, Machine, Options, State, StepOutcome};
use barcheck_model::program::{AgentId, Pc, Program};
use barcheck_model::rule::Rule;
use barcheck_specs::library::protocols;
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::sync::Arc;

/// States of a protocol that is looked at, at most.
const MOST_STATES: usize = 4_000;

/// Where everybody can be in a state, with whether nobody can go on.
type Seen = (Vec<BTreeSet<u32>>, bool);

/// All that can be reached; nothing where there is too much of it.
fn listed(program: &Arc<Program>) -> Option<Vec<Seen>> {
    let mut machine = Machine::new(Arc::clone(program), Options::default());
    let first = machine.initial();
    if machine.fault(&first).is_some() {
        return None;
    }
    let (mut known, mut next): (HashSet<State>, VecDeque<State>) = (HashSet::new(), VecDeque::new());
    known.insert(first.clone());
    next.push_back(first);
    let mut seen = Vec::new();
    while let Some(state) = next.pop_front() {
        if known.len() > MOST_STATES {
            return None;
        }
        let places = machine.agents().map(|agent| {
            let config = machine.config(&state, agent);
            let out = config.has_exited().then_some(u32::MAX);
            config.positions().map(|pc| pc.0).chain(out).collect()
        });
        let places = places.collect();
        let hangs = machine.judge(&state).iter().any(|found| found.rule == Rule::Deadlock);
        seen.push((places, hangs));
        let mut choices: Vec<Choice> = state.landings().collect();
        for agent in machine.agents().collect::<Vec<_>>() {
            for (index, made) in (0..).zip(machine.moves(&state, agent)) {
                let picks = machine.picks(&state, agent, made);
                if picks.end > 64 {
                    return None;
                }
                choices.extend(picks.map(|pick| Choice::of(agent, index, u32::try_from(pick).unwrap_or(0))));
            }
        }
        for choice in choices {
            match machine.step(&state, choice) {
                StepOutcome::Progress(after) | StepOutcome::Noted(after, _) => {
                    if known.insert(after.state.clone()) {
                        next.push_back(after.state);
                    }
                }
                StepOutcome::Error(end) => {
                    use barcheck_model::machine::End;
                    // What follows a fault or a cut nobody knows: no question has an answer then.
                    if !matches!(*end, End::Violation(_)) {
                        return None;
                    }
                }
                StepOutcome::Disabled | StepOutcome::NoEffect => {}
            }
        }
    }
    Some(seen)
}

fn is_met(wanted: &Wanted, places: &[BTreeSet<u32>]) -> bool {
    let here = &places[wanted.agent.index()];
    if wanted.exited { here.contains(&u32::MAX) } else { wanted.at.iter().any(|pc| here.contains(&pc.0)) }
}

/// The most of those wanted that are in place in some state, of all or of those that hang.
fn most(goal: &[Wanted], seen: &[Seen], hangs: bool) -> usize {
    let states = seen.iter().filter(|(_, hang)| *hang || !hangs);
    let met = |places: &[BTreeSet<u32>]| goal.iter().filter(|wanted| is_met(wanted, places)).count();
    states.map(|(places, _)| met(places)).max().unwrap_or(0)
}

fn found(program: &Arc<Program>, goal: &[Wanted], seek: Seek) -> Located {
    let budgets = Budgets { max_states: Some(1_000_000), ..Budgets::default() };
    let settings = Settings { budgets, ..Settings::default() };
    locate((Arc::clone(program), Options::default()), goal, seek, &settings, &Quiet)
}

/// Agents at places, by a simple generator of numbers.
fn goals(program: &Program) -> Vec<Vec<Wanted>> {
    let agents = program.agents.len();
    let mut seed = 0x2545_f491_u64;
    let mut number = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap_or(0) % below.max(1)
    };
    let mut goals = Vec::new();
    for round in 0..12 {
        let mut goal: Vec<Wanted> = Vec::new();
        for _ in 0..=round % 4 {
            let agent = AgentId::from_index(number(agents));
            let code = program.code(agent);
            if code.ops.is_empty() || goal.iter().any(|wanted| wanted.agent == agent) {
                continue;
            }
            let line = code.places[number(code.ops.len())].line;
            let at = (0..code.ops.len()).filter(|pc| code.places[*pc].line == line).map(Pc::from_index);
            goal.push(Wanted { agent, at: at.collect(), exited: number(6) == 0 });
        }
        goals.push(goal);
    }
    goals
}

/// The sightings are as many as there can be, and their paths lead there.
fn holds(program: &Arc<Program>, goal: &[Wanted], seen: &[Seen], seek: Seek, name: &str) {
    let located = found(program, goal, seek);
    let deadlocks = most(goal, seen, true);
    let can_hang = seen.iter().any(|(_, hangs)| *hangs);
    assert!(!(located.has_no_deadlock && can_hang), "{name}: it hangs");
    assert!(located.inconclusive.is_none() || located.faulty, "{name}: {:?}", located.inconclusive);
    let best =
        |sightings: &[barcheck_engine::Sighting]| sightings.iter().map(|s| s.met.len()).max().unwrap_or(0);
    if seek != Seek::State && !located.has_no_deadlock {
        assert_eq!(best(&located.deadlocks), deadlocks, "{name}: deadlocks, {goal:?}");
    }
    let is_stopped = seek != Seek::State && deadlocks == goal.len() && can_hang;
    if !(is_stopped || seek == Seek::Deadlock && located.has_no_deadlock) {
        assert_eq!(best(&located.states), most(goal, seen, false), "{name}: states, {goal:?}");
    }
    for sighting in located.states.iter().chain(&located.deadlocks) {
        let mut machine = Machine::new(Arc::clone(program), Options::default());
        let mut state = machine.initial();
        for choice in &sighting.path.steps {
            state = match machine.step(&state, *choice) {
                StepOutcome::Progress(after) | StepOutcome::Noted(after, _) => after.state,
                StepOutcome::NoEffect => state,
                other => panic!("{name}: the path ends: {other:?}"),
            };
        }
        for position in &sighting.met {
            let wanted = &goal[*position];
            let config = machine.config(&state, wanted.agent);
            let there = if wanted.exited {
                config.has_exited()
            } else {
                config.positions().any(|pc| wanted.at.contains(&pc))
            };
            assert!(there, "{name}: {wanted:?}");
        }
    }
}

#[test]
fn the_library_can_be_where_a_list_of_all_states_says() {
    let mut compared = 0;
    for protocol in protocols() {
        let options = barcheck_specs::LoadOptions::default();
        let Ok(loaded) = barcheck_specs::bar::load(protocol.text.as_bytes(), &options) else { continue };
        let program = Arc::new(loaded.program);
        let Some(seen) = listed(&program) else { continue };
        for goal in goals(&program).into_iter().filter(|goal| !goal.is_empty()) {
            for seek in [Seek::State, Seek::Deadlock, Seek::Either] {
                holds(&program, &goal, &seen, seek, protocol.name);
                compared += 1;
            }
        }
    }
    assert!(compared > 3_000, "only {compared} questions were asked");
}

#[test]
fn the_path_is_the_shortest() {
    let text = "target ptx; cta 96; warp 0 { bar.sync 1, 64; bar.sync 2, 64; } warp 1 { bar.sync 1, 64; } \
         warp 2 { bar.sync 3, 32; bar.sync 3, 32; bar.sync 2, 64; }";
    let loaded = barcheck_specs::bar::load(text.as_bytes(), &barcheck_specs::LoadOptions::default());
    let program = Arc::new(loaded.expect("a valid protocol").program);
    let code = program.code(AgentId(0));
    let second = code.texts.iter().rposition(|text| text.starts_with("bar.sync 2")).expect("it is there");
    let goal = [Wanted { agent: AgentId(0), at: vec![Pc::from_index(second)], exited: false }];
    let located = found(&program, &goal, Seek::State);
    assert_eq!(located.states[0].path.steps.len(), 2);
}
