//! Whole groups: the rules about states, which steps exist, choices, and who shares an automaton.

use crate::common::*;
use barcheck_model::agent::Choices;
use barcheck_model::machine::{Announced, Choice, Detail, ExitedThreads, Options, StepOutcome, room};
use barcheck_model::program::Target::{Bcu, Nbarrier, Ptx, SplitBarrier, Xegpu};
use barcheck_model::program::*;
use barcheck_model::rule::Rule;

#[test]
fn crossed_syncs_deadlock() {
    // clause: barcheck.deadlock
    let crossed = Group::new(Ptx, 64).one(vec![sync(1, 64), sync(2, 64)]).one(vec![sync(2, 64), sync(1, 64)]);
    let mut run = Run::new(crossed.build());
    assert_eq!(run.play("0"), "arrive b1, block");
    assert_eq!(run.judgement(), "", "the other can still do something");
    assert_eq!(run.play("1"), "arrive b2, block");
    assert_eq!(run.judgement(), "! deadlock 0,1");
    let found = &run.judged()[0];
    assert_eq!((found.rule, found.agent, found.pc), (Rule::Deadlock, AgentId(0), Pc(0)));
    assert_eq!((found.barrier.map(|b| b.0), &found.detail), (Some(1), &Detail::None));
}

#[test]
fn the_exited_are_not_part_of_a_deadlock_and_an_end_without_blocked_agents_is_none() {
    let mut run = Run::new(Group::new(Ptx, 64).one(vec![sync(1, 64)]).one(vec![fence(SHARED)]).build());
    assert_eq!(run.play("0 1 1"), "exit");
    assert_eq!(run.judgement(), "! deadlock 0");
    let mut run = Run::new(Group::new(Ptx, 64).many(2, vec![sync(1, 64)]).build());
    assert_eq!(run.log("0 1 0 1")[3], "exit");
    assert_eq!(run.judgement(), "");
}

#[test]
fn a_warp_whose_fragments_park_apart_deadlocks_at_the_first() {
    let body = vec![if_else(lanes_below(16), vec![sync(3, 32)], vec![sync(4, 32)])];
    let mut run = Run::new(Group::new(Ptx, 32).one(body).build());
    assert_eq!(run.log("0.0 0.0"), ["park b3", "park b4"]);
    assert_eq!(run.judgement(), "! deadlock 0");
    assert_eq!(run.judged()[0].barrier.map(|b| b.0), Some(3));
}

#[test]
fn arrivals_left_over_when_all_have_exited_dangle() {
    // clause: barcheck.dangling-arrival
    // clause: ptx.arrive-no-wait
    let mut run = Run::new(Group::new(Ptx, 64).one(vec![arrive(3, 64)]).one(vec![]).build());
    assert_eq!(run.play("0"), "arrive b3");
    assert_eq!(run.judgement(), "", "somebody could still come");
    assert_eq!(run.play("0"), "exit");
    assert_eq!(run.judgement(), "! dangling-arrival 0");
    assert_eq!(run.judged()[0].barrier.map(|b| b.0), Some(3));
    let mut run = Run::new(Group::new(Nbarrier, 2).one(vec![signal(3, 1, 1, 1)]).one(vec![]).build());
    assert_eq!(run.play("0 0"), "exit");
    assert_eq!(run.judgement(), "! dangling-arrival 0");
    let mut run = Run::new(Group::new(Bcu, 64).one(vec![barv(3, 64)]).one(vec![]).build());
    assert_eq!(run.play("0 0"), "exit");
    assert_eq!(run.judgement(), "! dangling-arrival 0");
    // A split barrier leaves that to missing-wait; a used but idle bcu barrier holds nothing.
    let split = bare(SplitKind::Arrive, Scope::Workgroup);
    let mut run = Run::new(Group::new(SplitBarrier, 2).one(vec![split]).one(vec![]).build());
    assert_eq!(run.play("0 0"), "exit ! missing-wait 0");
    assert_eq!(run.judgement(), "");
    let mut run = Run::new(Group::new(Bcu, 64).many(2, vec![bsync(3, 64)]).build());
    assert_eq!(run.play("0 1 0 1"), "exit");
    assert_eq!(run.judgement(), "");
    let mut run = Run::new(Group::new(Nbarrier, 1).one(vec![signal_all(3, 1), wait(3)]).build());
    assert_eq!(run.play("0 0 0"), "exit");
    assert_eq!(run.judgement(), "");
}

#[test]
fn more_arrivals_than_room_are_a_race() {
    // clause: barcheck.arrival-race
    let mut run = Run::new(Group::new(Ptx, 96).many(3, vec![arrive(1, 64)]).build());
    assert_eq!(run.judgement(), "! arrival-race 0,1,2");
    let found = &run.judged()[0];
    assert_eq!(found.detail, Detail::Room { standing: 3, room: 2 });
    assert_eq!((found.agent, found.barrier.map(|b| b.0)), (AgentId(0), Some(1)));
    assert_eq!(run.play("1"), "arrive b1");
    assert_eq!(run.judgement(), "! arrival-race 0,2");
    assert_eq!(run.judged()[0].detail, Detail::Room { standing: 2, room: 1 });
    assert_eq!(run.play("0"), "arrive b1, complete b1 ! nobody-waits 0");
    assert_eq!(run.judgement(), "", "the third begins the next generation");
    let run = Run::new(Group::new(Ptx, 96).many(2, vec![arrive(1, 64)]).one(vec![arrive(2, 64)]).build());
    assert_eq!(run.judgement(), "");
}

#[test]
fn an_agent_of_the_generation_that_stands_at_another_arrival_counts() {
    // clause: barcheck.arrival-race
    let twice = vec![arrive(1, 64), arrive(1, 64)];
    let mut run = Run::new(Group::new(Ptx, 64).one(twice).one(vec![sync(1, 64)]).build());
    assert_eq!(run.judgement(), "");
    run.play("0");
    assert_eq!(run.judgement(), "! arrival-race 0,1");
    assert_eq!(run.play("0"), "END repeated-arrival");
}

#[test]
fn counts_are_grouped_when_idle_and_only_equal_ones_stand_at_an_active_barrier() {
    // clause: barcheck.arrival-race
    let groups = Group::new(Ptx, 160).many(2, vec![arrive(1, 64)]).many(3, vec![arrive(1, 96)]);
    let mut run = Run::new(groups.build());
    assert_eq!(run.judgement(), "", "each count has room for its own");
    run.play("0");
    assert_eq!(run.judgement(), "");
    assert_eq!(run.play("2"), "END count-mismatch");
    let groups = Group::new(Ptx, 160).many(3, vec![arrive(1, 64)]).many(2, vec![arrive(1, 96)]);
    let mut run = Run::new(groups.build());
    assert_eq!(run.judgement(), "! arrival-race 0,1,2");
    run.play("4");
    assert_eq!(run.judgement(), "", "nobody else announces the active count beyond its room");
}

#[test]
fn a_barrier_that_waits_for_live_agents_always_has_room() {
    // clause: barcheck.arrival-race
    let run = Run::new(Group::new(Ptx, 96).many(3, vec![sync(0, 0)]).build());
    assert_eq!(run.judgement(), "");
    let halves = vec![iff(lanes_below(16), vec![bsync(0, 0)]), bsync(0, 0)];
    let mut run = Run::new(Group::new(Bcu, 64).many(2, halves).build());
    assert_eq!(run.judgement(), "");
    run.play("0");
    assert_eq!(run.judgement(), "");
}

#[test]
fn both_fragments_of_a_bcu_warp_stand_at_their_arrivals() {
    // clause: barcheck.arrival-race
    // clause: barcheck.bcu-fragment-arrivals
    let halves = vec![if_else(lanes_below(16), vec![bsync(5, 32)], vec![bsync(5, 32)])];
    let run = Run::new(Group::new(Bcu, 32).one(halves).build());
    assert_eq!(run.judgement(), "! arrival-race 0");
    assert_eq!(run.judged()[0].detail, Detail::Room { standing: 2, room: 1 });
}

#[test]
fn producers_and_consumers_have_room_of_their_own() {
    // clause: barcheck.arrival-race
    let producers = |n| Group::new(Nbarrier, 4).many(n, vec![signal(0, 1, 1, 2)]);
    assert_eq!(Run::new(producers(1).many(2, vec![signal(0, 2, 1, 2)]).build()).judgement(), "");
    let run = Run::new(producers(2).many(2, vec![signal(0, 2, 1, 2)]).build());
    assert_eq!(run.judgement(), "! arrival-race 0,1");
    assert_eq!(run.judged()[0].detail, Detail::Room { standing: 2, room: 1 });
    let mut run = Run::new(producers(1).many(3, vec![signal(0, 2, 1, 2)]).build());
    assert_eq!(run.judgement(), "! arrival-race 1,2,3");
    assert_eq!(run.judged()[0].detail, Detail::Room { standing: 3, room: 2 });
    run.play("2");
    assert_eq!(run.judgement(), "! arrival-race 1,3");
    assert_eq!(run.judged()[0].detail, Detail::Room { standing: 2, room: 1 });
    // Type 0 takes room on both sides.
    let run = Run::new(producers(1).one(vec![signal(0, 0, 1, 2)]).build());
    assert_eq!(run.judgement(), "! arrival-race 0,1");
    let body = vec![alloc(1), init(0, 2), xarrive()];
    let mut run = Run::new(Group::new(Xegpu, 3).many(3, body).build());
    run.log("0 0 1 1 2 2");
    assert_eq!(run.judgement(), "! arrival-race 0,1,2");
}

#[test]
fn room_is_what_the_active_generation_leaves() {
    assert_eq!(room(None, Announced::Whole(3)), Some((3, 3)));
    assert_eq!(room(None, Announced::Live), None);
    assert_eq!(room(None, Announced::Sides(1, 2)), Some((1, 2)));
    let mut run = Run::new(Group::new(Bcu, 96).many(3, vec![barv(1, 96)]).build());
    run.play("0");
    let at = |run: &Run, announced| room(run.state.barrier(barcheck_model::barrier::BarrierId(1)), announced);
    assert_eq!(at(&run, Announced::Whole(3)), Some((2, 2)));
    assert_eq!(at(&run, Announced::Whole(2)), None);
    run.play("1 2");
    assert_eq!(at(&run, Announced::Whole(2)), Some((2, 2)), "used, but idle");
    let mut run = Run::new(Group::new(Nbarrier, 4).many(4, vec![signal(1, 0, 2, 3)]).build());
    run.play("0");
    assert_eq!(at(&run, Announced::Sides(2, 3)), Some((1, 2)));
    assert_eq!(at(&run, Announced::Sides(2, 2)), None);
    let mut run = Run::new(Group::new(Ptx, 128).many(4, vec![arrive(1, 128)]).build());
    run.play("0");
    assert_eq!(at(&run, Announced::Whole(4)), Some((3, 3)));
    assert_eq!(at(&run, Announced::Whole(2)), None);
    let mut run = Run::new(Group::new(Ptx, 96).many(3, vec![sync(1, 0)]).build());
    run.play("0");
    assert_eq!(at(&run, Announced::Whole(3)), None, "waits for every live warp");
}

#[test]
fn steps_that_do_not_exist_are_disabled() {
    let body = vec![S::If(Condition::Private, vec![sync(1, 64)], vec![])];
    let mut run = Run::new(Group::new(Ptx, 64).many(2, body).build());
    let before = run.state.clone();
    for (agent, index, pick) in [(2, 0, 0), (0, 1, 0), (0, 0, 2)] {
        assert_eq!(run.choose(agent, index, pick), StepOutcome::Disabled);
    }
    assert_eq!(run.state, before);
    assert_eq!(run.log("0.0.1 0 0"), ["decide 1", "arrive b1, block", "disabled"]);
    assert_eq!(run.log("1.0.0 1 1"), ["decide 0", "exit", "disabled"]);
}

#[test]
fn an_endless_local_loop_has_a_step_without_effect() {
    let mut run = Run::new(Group::new(Ptx, 64).one(vec![forever(vec![])]).one(vec![sync(1, 64)]).build());
    assert_eq!(run.play("0"), "no effect");
    assert_eq!(run.play("1"), "arrive b1, block");
    assert_eq!(run.judgement(), "", "it has a step for ever");
    assert!(!run.config(0).is_blocked() && run.config(1).is_blocked());
}

#[test]
fn uniform_decisions_are_made_once_for_all() {
    let again = || S::While(Some(Condition::Uniform(SequenceId(0))), vec![S::Op(Op::Fence(Fence::Nothing))]);
    let mut run = Run::new(Group::new(Ptx, 96).many(3, vec![again()]).sequences(1).build());
    assert_eq!(run.log("0.0.1 0 0.0.0 1.0.0"), ["decide 1", "fence", "decide 0", "disabled"]);
    assert_eq!(run.log("1.0.1 1 1.0.1 1.0.0"), ["decide 1", "fence", "disabled", "decide 0"]);
    let made = run.machine.moves(&run.state, AgentId(2))[0].clone();
    assert_eq!(made.choices, Choices::Uniform(SequenceId(0)));
    assert_eq!(run.machine.picks(&run.state, AgentId(2), &made), 1..2);
    assert_eq!(run.state.sequences[0].ahead.len(), 2);
    assert_eq!(run.log("2.0.1"), ["decide 1"]);
    assert_eq!(run.state.sequences[0].ahead.len(), 1, "everybody has made the first");
    assert_eq!(run.log("2 2.0.0"), ["fence", "decide 0"]);
    assert!(run.state.sequences[0].ahead.is_empty());
    assert_eq!(run.state.sequences[0].position, [0, 0, 0]);
}

#[test]
fn who_makes_a_uniform_decision_first_chooses_and_those_who_left_do_not_hold_it() {
    let leave = vec![S::If(Condition::Uniform(SequenceId(0)), vec![], vec![]), sync(1, 64)];
    let mut run = Run::new(Group::new(Ptx, 64).one(leave).one(vec![sync(1, 64)]).sequences(2).build());
    let made = run.machine.moves(&run.state, AgentId(0))[0].clone();
    assert_eq!(run.machine.picks(&run.state, AgentId(0), &made), 0..2);
    assert_eq!(run.play("0.0.1"), "decide 1");
    assert!(run.state.sequences.iter().all(|s| s.ahead.is_empty()), "the other never consults it");
}

#[test]
fn private_decisions_and_any_values_are_each_agents_own() {
    let body = vec![any(0, n(3), n(6)), assert(lt(v(0), n(5)))];
    let mut run = Run::new(Group::new(Ptx, 64).many(2, body).build());
    assert_eq!(run.log("0.0.0 0 1.0.2 1 1.0.3"), ["decide 0", "", "decide 2", "END assertion", "disabled"]);
    let made = Run::new(Group::new(Ptx, 32).one(vec![any(0, n(3), n(6))]).build());
    assert_eq!(made.machine.moves(&made.state, AgentId(0))[0].choices, Choices::Open(3));
}

#[test]
fn a_failed_assertion_ends_the_path_and_a_true_one_passes() {
    // clause: barcheck.assertion
    // clause: barcheck.path
    assert_eq!(last(Group::new(Ptx, 32).one(vec![assert(n(0))]).build(), "0"), "END assertion");
    assert_eq!(last(Group::new(Ptx, 32).one(vec![assert(n(-1))]).build(), "0"), "");
    // It has to hold in every lane.
    assert_eq!(last(Group::new(Ptx, 32).one(vec![assert(lanes_below(31))]).build(), "0"), "END assertion");
    assert_eq!(last(Group::new(Ptx, 31).one(vec![assert(lanes_below(31))]).build(), "0"), "");
}

#[test]
fn agents_share_an_automaton_unless_something_tells_them_apart() {
    let classes = |program: Program| {
        let run = Run::new(program);
        run.machine.agents().map(|a| run.machine.class(a)).collect::<Vec<_>>()
    };
    assert_eq!(classes(Group::new(Ptx, 96).many(3, vec![sync(0, 0)]).build()), [0, 0, 0]);
    assert_eq!(classes(Group::new(Ptx, 80).many(3, vec![sync(0, 0)]).build()), [0, 0, 1], "fewer lanes");
    let told = vec![set(0, not(add(n(1), Expr::Agent)))];
    assert_eq!(classes(Group::new(Ptx, 64).many(2, told).build()), [0, 1]);
    let laned = vec![set(0, Expr::Lane), set(1, v(0))];
    assert_eq!(classes(Group::new(Ptx, 64).many(2, laned).build()), [0, 0]);
    let roles = Group::new(Ptx, 64).one(vec![sync(0, 0)]).one(vec![sync(0, 0)]);
    assert_eq!(classes(roles.build()), [0, 1]);
    let split = |scope| {
        let body = vec![bare(SplitKind::Both, scope)];
        classes(Group::new(SplitBarrier, 4).subgroups_of(2).many(4, body).build())
    };
    assert_eq!(split(Scope::Workgroup), [0, 0, 0, 0]);
    assert_eq!(split(Scope::Subgroup), [0, 0, 1, 1]);
    assert_eq!(split(Scope::Invocation), [0, 1, 2, 3]);
    // A memory barrier has no execution scope.
    for scope in [Scope::Subgroup, Scope::Invocation] {
        let body = vec![bare(SplitKind::MemoryBarrier, scope)];
        let group = Group::new(SplitBarrier, 4).subgroups_of(2).many(4, body);
        assert_eq!(classes(group.build()), [0, 0, 0, 0]);
    }
}

#[test]
fn an_automaton_knows_what_has_been_worked_out() {
    let program = Group::new(Ptx, 64).many(2, vec![sync(1, 64)]).build();
    let fresh = barcheck_model::machine::Machine::new(program.clone().into(), Options::default());
    assert!(fresh.automata()[0].is_empty());
    let mut run = Run::new(program);
    let automata = run.machine.automata();
    assert_eq!((automata.len(), automata[0].len(), automata[0].is_empty()), (1, 1, false));
    assert_eq!(automata[0].edges().count(), 0);
    run.log("0 1 0 1");
    let automaton = &run.machine.automata()[0];
    assert_eq!(automaton.len(), 4, "before, blocked, released, exited");
    let edges: Vec<_> = automaton.edges().collect();
    assert_eq!(edges.len(), 3, "both agents went the same way");
    for (from, to) in edges {
        assert_eq!(to.0, from.0 + 1);
    }
    // Asking again adds nothing.
    let mut again = Run { state: run.machine.initial(), machine: run.machine };
    again.log("1 0 1 0");
    assert_eq!(again.machine.automata()[0].len(), 4);
    assert_eq!(again.machine.automata()[0].edges().count(), 3);
}

#[test]
fn a_machine_says_where_agents_stand() {
    let body = vec![iff(lanes_below(4), vec![sync(1, 64)]), sync(2, 64)];
    let program = Group::new(Ptx, 64).one(body).one(vec![sync(2, 64)]).build();
    let options = Options { exited_threads: ExitedThreads::Release };
    let mut run = Run::with(program.clone(), options);
    assert_eq!((run.machine.options(), run.machine.program().as_ref()), (options, &program));
    assert_eq!(run.machine.agents().count(), 2);
    assert_eq!(run.machine.place(AgentId(0), Pc(2)), Place { line: 3, column: 1, length: 1 });
    assert_eq!(run.machine.place(AgentId(0), Pc(99)), Place::default());
    let at = |run: &Run, agent| run.machine.stands_at(&run.state, AgentId(agent)).0;
    assert_eq!(at(&run, 0), 1, "the first fragment, inside");
    run.play("0");
    assert_eq!(at(&run, 0), 1, "parked");
    run.play("1");
    assert_eq!(at(&run, 1), 0, "blocked");
    assert!(run.machine.fault(&run.state).is_none());
    let choice = Choice::of(AgentId(0), 0, 0);
    assert!(choice < Choice::of(AgentId(1), 0, 0));
}
