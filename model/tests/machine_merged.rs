//! Configurations that are one as long as nobody else can tell them apart.

use crate::common::*;
use barcheck_model::agent::{Action, Choices, Outcome};
use barcheck_model::machine::{Advanced, Choice, ConfigId, Event, Log, Machine, Options, State};
use barcheck_model::program::Target::{Nbarrier, Ptx};
use barcheck_model::program::*;
use std::sync::Arc;

const ME: AgentId = AgentId(0);

/// A machine of one agent that picks a value of local 0 and then does this; the configurations after each
/// pick.
fn picked(body: Vec<S>, values: i64) -> (Machine, Vec<ConfigId>) {
    let body = [vec![any(0, n(0), n(values))], body].concat();
    let program = Group::new(Ptx, 32).sequences(1).array(Space::Shared, Some(8)).one(body).build();
    let mut machine = Machine::new(Arc::new(program), Options::default());
    let start = machine.initial().agents[0].config;
    let picks = 0..u32::try_from(values).expect("few values");
    let ids = picks.map(|pick| machine.config_after(ME, start, 0, pick, Outcome::Pass)).collect();
    (machine, ids)
}

/// A state in which the agent is in a configuration.
fn in_state(machine: &mut Machine, config: ConfigId) -> State {
    let mut state = machine.initial();
    state.agents[0].config = config;
    state
}

fn step(machine: &mut Machine, state: &mut State, pick: u32) -> Vec<Event> {
    let mut log = Log::default();
    let choice = Choice::of(ME, 0, pick);
    assert_eq!(machine.advance(state, choice, &mut log), Advanced::Progress);
    log.events
}

#[test]
fn configurations_whose_locals_do_not_show_make_their_moves_as_one_and_stay_one() {
    let (mut machine, ids) = picked(vec![sync(1, 32), write(0), assert(v(0))], 3);
    let merged = machine.merge_configs(ME, ids.clone());
    assert_eq!(&*machine.members(ME, merged), &ids[..]);
    assert_eq!(machine.moves_in(ME, merged), machine.moves_in(ME, ids[0]));
    assert_eq!(machine.alike_configs(ME, &ids), std::slice::from_ref(&ids));
    let mut state = in_state(&mut machine, merged);
    let events = step(&mut machine, &mut state, 0);
    assert!(matches!(
        events[..],
        [Event::Arrived(_), Event::Blocked(_), Event::Completed(..), Event::Released(..)]
    ));
    assert_eq!(machine.members(ME, state.agents[0].config).len(), 3, "released as one");
}

#[test]
fn members_whose_moves_differ_are_told_apart_by_a_decision_and_those_that_are_alike_stay_together() {
    let (mut machine, ids) =
        picked(vec![sync(1, 32), iff(lt(v(0), n(2)), vec![write(0)]), assert(add(v(0), n(1)))], 3);
    let merged = machine.merge_configs(ME, ids);
    let mut state = in_state(&mut machine, merged);
    step(&mut machine, &mut state, 0);
    let undecided = state.agents[0].config;
    let [decision] = machine.moves_in(ME, undecided) else { panic!("one move") };
    assert_eq!((&decision.action, decision.choices), (&Action::Decide, Choices::Open(2)));
    let mut writes = state.clone();
    assert_eq!(step(&mut machine, &mut writes, 0), [Event::Decided(0)]);
    let two = writes.agents[0].config;
    assert_eq!(machine.members(ME, two).len(), 2);
    assert!(matches!(machine.moves_in(ME, two)[0].action, Action::Access(..)));
    step(&mut machine, &mut state, 1);
    let one = state.agents[0].config;
    assert_eq!(&*machine.members(ME, one), &[one], "what stands for one is that one");
    assert!(matches!(machine.moves_in(ME, one)[0].action, Action::Assert(true)));
}

#[test]
fn members_are_counted_once_and_in_order_however_they_are_merged() {
    let (mut machine, ids) = picked(vec![sync(1, 32), assert(v(0))], 4);
    let pair = machine.merge_configs(ME, vec![ids[3], ids[1]]);
    let all = machine.merge_configs(ME, ids.clone());
    assert_ne!(pair, all);
    assert_eq!(machine.merge_configs(ME, vec![pair, ids[0], ids[2], ids[1]]), all);
    assert_eq!(machine.merge_configs(ME, vec![ids[2], ids[2]]), ids[2]);
    // What is forgotten makes them one configuration, which no other stands for.
    let (mut machine, ids) = picked(vec![sync(1, 32)], 4);
    assert_eq!(machine.merge_configs(ME, ids.clone()), ids[0]);
}

#[test]
fn operands_are_no_locals_and_tell_members_apart_and_places_do_not() {
    let of = |body: Vec<S>| {
        let (machine, ids) = picked(body, 2);
        machine.alike_configs(ME, &ids).len()
    };
    assert_eq!(of(vec![if_else(v(0), vec![sync(1, 32)], vec![sync(1, 32)])]), 1, "places");
    assert_eq!(of(vec![if_else(v(0), vec![sync(1, 32)], vec![sync(2, 32)])]), 2, "places of something else");
    let many = |values| vec![any(1, n(0), n(values)), sync(1, 32)];
    assert_eq!(of(vec![if_else(v(0), many(3), many(3))]), 1, "choices in two places");
    assert_eq!(of(vec![if_else(v(0), many(3), many(2))]), 2, "choices with more ways");
    assert_eq!(of(vec![sync_of(v(0), None)]), 2, "barriers");
    assert_eq!(of(vec![access_at(AccessKind::Write, 0, v(0))]), 2, "locations");
    assert_eq!(of(vec![assert(v(0))]), 2, "truth");
    assert_eq!(of(vec![sync(1, 32), sync_of(v(0), None)]), 1, "what comes later does not");
    // Those that wait have no moves at all, and yet they do not wait for the same.
    let (mut machine, ids) = picked(vec![sync_of(v(0), None), assert(v(0))], 2);
    let block = |id: &ConfigId| machine.config_after(ME, *id, 0, 0, Outcome::Block);
    let waiting: Vec<ConfigId> = ids.iter().map(block).collect();
    assert!(waiting.iter().all(|id| machine.moves_in(ME, *id).is_empty()));
    assert_eq!(machine.alike_configs(ME, &waiting).len(), 2);
}

#[test]
fn whoever_has_yet_to_decide_shows_all_its_places_and_no_failure_of_one_of_its_ways() {
    let body = vec![sync(1, 32), set(1, bin(BinaryOp::Div, n(1), v(0))), write(0), assert(v(1))];
    let (mut machine, ids) = picked(body, 2);
    let merged = machine.merge_configs(ME, ids);
    let mut state = in_state(&mut machine, merged);
    step(&mut machine, &mut state, 0);
    let undecided = state.agents[0].config;
    assert!(!machine.has_failed(ME, undecided) && machine.fault(&state).is_none());
    assert_eq!(machine.config(&state, ME).fragments.len(), 2);
    let failing = machine.members(ME, undecided).iter().position(|member| machine.has_failed(ME, *member));
    let pick = u32::try_from(failing.expect("1 / 0")).expect("two members");
    let choice = Choice::of(ME, 0, pick);
    assert!(matches!(machine.advance(&mut state, choice, &mut Log::default()), Advanced::Error(_)));
}

#[test]
fn a_merged_configuration_passes_a_wait_or_blocks_at_it_as_its_members_do() {
    let body = vec![any(0, n(0), n(2)), signal_all(1, 2), wait(1), assert(v(0))];
    let program = Group::new(Nbarrier, 2).one(body).one(vec![signal_all(1, 2), wait(1)]).build();
    let mut machine = Machine::new(Arc::new(program), Options::default());
    let mut state = machine.initial();
    let start = state.agents[0].config;
    let ids = (0..2).map(|pick| machine.config_after(ME, start, 0, pick, Outcome::Pass)).collect();
    state.agents[0].config = machine.merge_configs(ME, ids);
    step(&mut machine, &mut state, 0);
    step(&mut machine, &mut state, 0);
    assert!(machine.config(&state, ME).is_blocked() && machine.moves(&state, ME).is_empty());
    let other = Choice::of(AgentId(1), 0, 0);
    assert_eq!(machine.advance(&mut state, other, &mut Log::default()), Advanced::Progress);
    assert!(!machine.config(&state, ME).is_blocked());
    assert_eq!(machine.members(ME, state.agents[0].config).len(), 2);
    assert!(matches!(machine.moves(&state, ME)[0].choices, Choices::Open(2)), "the assertions differ");
}

/// Which decisions somebody may yet consult is read off the places.
#[test]
fn whoever_is_alike_in_two_places_shows_both() {
    let (mut machine, ids) = picked(vec![if_else(v(0), vec![sync(1, 32)], vec![sync(1, 32), write(0)])], 2);
    assert!(!machine.merges_places());
    let merged = machine.merge_configs(ME, ids);
    let state = in_state(&mut machine, merged);
    let places: Vec<Pc> = machine.config(&state, ME).fragments.iter().map(|f| f.pc).collect();
    assert_eq!((places.len(), machine.merges_places()), (2, true));
    assert_ne!(places[0], places[1]);
    // In one place with two locals nothing is to be told of another.
    let (mut machine, ids) = picked(vec![sync(1, 32), assert(v(0))], 2);
    machine.merge_configs(ME, ids);
    assert!(!machine.merges_places());
}
