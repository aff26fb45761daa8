//! Agents whose code mentions who they are, and who behaves alike all the same: they share an automaton.

use crate::common::*;
use barcheck_model::agent::{Config, Fragment};
use barcheck_model::machine::{ConfigId, Label, Machine, Options};
use barcheck_model::program::Target::{Bcu, Nbarrier, Ptx, SplitBarrier, Xegpu};
use barcheck_model::program::*;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Sets a local that nobody reads to the agent's number: the code tells agents apart, their behaviour does
/// not.
fn mention() -> S {
    set(3, Expr::Agent)
}

/// 0, or, in agent 1 alone, 1.
fn only_in_1() -> Expr {
    Expr::Agent
}

/// The same, where `condition` holds; 0 elsewhere.
fn only_in_1_if(condition: Expr) -> Expr {
    bin(BinaryOp::Mul, only_in_1(), condition)
}

fn reads_state() -> S {
    bcu(BcuOp::ReadBarrier { dest: Some(LocalId(4)), id: n(1) })
}

fn writes_state() -> S {
    bcu(BcuOp::WriteBarrier { id: n(1), source: v(4) })
}

fn two(target: Target, body: Vec<S>) -> Program {
    let threads = if target.has_lanes() { 64 } else { 2 };
    Group::new(target, threads).subgroups_of(2).sequences(1).many(2, body).build()
}

/// A machine that has looked for agents who behave alike, among automata of at most so many configurations.
fn looked(program: Program, most: usize) -> Machine {
    let mut machine = Machine::new(Arc::new(program), Options::default());
    machine.merge_alike(most, &mut || true);
    machine
}

fn classes(machine: &Machine) -> Vec<usize> {
    machine.agents().map(|agent| machine.class(agent)).collect()
}

/// Whether two agents with this code share an automaton in the end.
fn alike(target: Target, body: Vec<S>) -> bool {
    alike_in(two(target, body))
}

fn alike_in(program: Program) -> bool {
    let fresh = Machine::new(Arc::new(program.clone()), Options::default());
    assert_eq!(classes(&fresh), [0, 1], "the code mentions the agent");
    match classes(&looked(program, 1000))[..] {
        [0, 0] => true,
        [0, 1] => false,
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn agents_whose_number_makes_no_difference_share_an_automaton() {
    let body = vec![mention(), sync(1, 64), fence(SHARED)];
    let mut machine = looked(two(Ptx, body.clone()), 1000);
    assert_eq!(classes(&machine), [0, 0]);
    let of = |machine: &Machine, agent| machine.alike(AgentId(agent)).collect::<Vec<_>>();
    assert_eq!(
        (of(&machine, 0), of(&machine, 1)),
        (vec![AgentId(0), AgentId(1)], vec![AgentId(0), AgentId(1)])
    );
    assert!(machine.automata()[1].is_empty(), "nobody needs the other one");
    let state = machine.initial();
    let mut run = Run { machine, state };
    assert_eq!(run.log("1 0"), ["arrive b1, block", "arrive b1, block, complete b1, free 0, free 1"]);
    // Some of a role may, others not; another role with the same text is another matter.
    let odd = vec![sync_of(add(n(1), eq(Expr::Agent, n(1))), Some(n(64))), fence(SHARED)];
    let group = Group::new(Ptx, 192).many(3, odd).many(3, body);
    let machine = looked(group.build(), 1000);
    assert_eq!(classes(&machine), [0, 1, 0, 3, 3, 3]);
    assert_eq!(of(&machine, 2), [AgentId(0), AgentId(2)]);
    let same = || vec![mention(), sync(1, 64)];
    let roles = Group::new(Ptx, 128).many(2, same()).many(2, same()).build();
    assert_eq!(classes(&looked(roles, 1000)), [0, 0, 2, 2]);
}

#[test]
fn what_is_done_to_objects_clusters_and_registers_tells_agents_apart_where_it_differs() {
    let in_ptx = |instruction: S| {
        let body = vec![mention(), instruction, fence(SHARED)];
        let program = Program { registers: 64, ..two(Ptx, body) };
        alike_in(with_objects(program, &[(Some(2), Some(32))]))
    };
    let arrive = |index| on_one(0, Some(index), None, ARRIVE);
    assert!(in_ptx(arrive(n(1))) && !in_ptx(arrive(only_in_1())));
    let cluster = |kind| S::Op(Op::from(ClusterOp { kind, aligned: false }));
    assert!(in_ptx(cluster(ClusterKind::Arrive { relaxed: false })));
    let sets = |count| S::Op(Op::from(WarpOp::Registers { takes: false, count }));
    let eight_less_in_1 = bin(BinaryOp::Sub, n(64), bin(BinaryOp::Mul, n(8), only_in_1()));
    assert!(in_ptx(sets(n(64))) && !in_ptx(sets(eight_less_in_1)));
}

#[test]
fn agents_that_move_otherwise_stay_apart_however_late_it_shows() {
    let other = || sync_of(add(n(2), only_in_1()), Some(n(32)));
    assert!(!alike(Ptx, vec![other()]));
    assert!(!alike(Ptx, vec![fence(SHARED), other()]));
    assert!(!alike(Ptx, vec![arrive(1, 64), other()]));
    assert!(!alike(Ptx, vec![sync(1, 64), other()]));
    assert!(!alike(Ptx, vec![bar_sync(1, 0), fence(SHARED), other()]));
    assert!(!alike(Bcu, vec![bsync(1, 64), assert(not(only_in_1()))]));
    assert!(!alike(Bcu, vec![barv(1, 64), assert(not(only_in_1()))]));
    assert!(!alike(Nbarrier, vec![signal_all(1, 2), wait(1), assert(not(only_in_1()))]));
    let split = |kind| bare(kind, Scope::Workgroup);
    let halves = vec![split(SplitKind::Arrive), split(SplitKind::Wait), assert(not(only_in_1()))];
    assert!(!alike(SplitBarrier, halves));
    assert!(!alike(SplitBarrier, vec![split(SplitKind::Both), assert(not(only_in_1()))]));
    assert!(!alike(SplitBarrier, vec![split(SplitKind::MemoryBarrier), assert(not(only_in_1()))]));
    // Parked fragments, and an exit that makes the rest of the warp arrive.
    let exits = vec![if_else(lanes_below(8), vec![exit()], vec![sync(1, 64)])];
    assert!(!alike(Ptx, [exits.clone(), vec![other()]].concat()));
    assert!(alike(Ptx, [vec![mention()], exits].concat()));
}

#[test]
fn agents_that_choose_alike_and_end_up_elsewhere_stay_apart() {
    // Both come to 0 and 1, but from the third choice each to another one.
    let third = || eq(v(0), n(2));
    let lands = add(only_in_1_if(third()), bin(BinaryOp::Mul, v(0), not(third())));
    assert!(!alike(Ptx, vec![any(0, n(0), n(3)), set(0, lands), fence(SHARED), assert(lt(v(0), n(9)))]));
    let uniform = S::If(Condition::Uniform(SequenceId(0)), vec![assert(not(only_in_1()))], vec![]);
    assert!(!alike(Ptx, vec![uniform]));
    let private = S::If(Condition::Private, vec![assert(not(only_in_1()))], vec![]);
    assert!(!alike(Ptx, vec![private]));
    let open = S::If(Condition::Private, vec![fence(SHARED)], vec![]);
    assert!(alike(Ptx, vec![mention(), open, any(0, n(0), n(3)), assert(lt(v(0), n(9)))]));
}

#[test]
fn every_result_that_a_reduction_can_have_is_considered() {
    // clause: ptx.red-result
    // clause: bcu.b2r-result
    for (op, results) in [
        (ReductionOp::Popc, vec![0, 1, 5, 64]),
        (ReductionOp::And, vec![0, 1]),
        (ReductionOp::Or, vec![0, 1]),
    ] {
        for result in results {
            let body = vec![red(op, 1, 64, OPEN), assert(not(only_in_1_if(eq(v(0), n(result)))))];
            assert!(!alike(Ptx, body), "{op:?} {result}");
            let (register, predicate, local) =
                if op == ReductionOp::Popc { (Some(4), None, 4) } else { (None, Some(6), 6) };
            let fetch = crate::common::result(register, predicate);
            let differs = assert(not(only_in_1_if(eq(v(local), n(result)))));
            assert!(!alike(Bcu, vec![bred(op, 1, 64, OPEN), fetch, differs]), "{op:?} {result}");
        }
        // No more than all 64 threads can be counted.
        let body = vec![red(op, 1, 64, OPEN), assert(not(only_in_1_if(eq(v(0), n(65)))))];
        assert!(alike(Ptx, body), "{op:?}");
    }
}

#[test]
fn what_follows_the_end_of_a_path_makes_no_difference() {
    // clause: barcheck.path
    let differs = || sync_of(add(n(2), only_in_1()), Some(n(64)));
    for ends in [sync(16, 64), assert(n(0)), assert(bin(BinaryOp::Div, n(1), n(0))), forever(vec![])] {
        assert!(alike(Ptx, vec![ends, differs()]));
    }
    let device = bare(SplitKind::Arrive, Scope::Device);
    assert!(alike(SplitBarrier, vec![device, assert(not(only_in_1()))]));
}

#[test]
fn agents_that_read_a_barriers_state_or_choose_among_very_many_are_not_compared() {
    // What the register may come to hold cannot be listed.
    assert!(!alike(Bcu, vec![mention(), reads_state()]));
    let picks = |number| vec![mention(), any(0, n(0), n(number)), fence(SHARED)];
    assert!(alike(Ptx, picks(256)));
    assert!(!alike(Ptx, picks(257)));
}

#[test]
fn no_reduction_counts_more_threads_than_there_are_or_its_barrier_waits_for() {
    // clause: bcu.red-popc
    // clause: bcu.red-completion
    for (threads, count, most) in [(128, 64, 64), (128, 0, 128), (64, 4064, 64)] {
        let program = Group::new(Bcu, threads).one(vec![bred(ReductionOp::Popc, 1, count, OPEN)]);
        let others = threads / 32 - 1;
        let program = program.many(others, vec![]).build();
        let mut machine = Machine::new(Arc::new(program), Options::default());
        let automaton = machine.unfolded(AgentId(0), 1000, &mut || true).expect("it is small");
        let labels = automaton.labelled_edges().into_iter().map(|(_, label, _)| label);
        let results: BTreeSet<Label> = labels.filter(|label| matches!(label, Label::Released(_))).collect();
        let all = (0..=most).map(|result| Label::Released(Some(result)));
        assert_eq!(results, all.collect(), "{threads} threads, a count of {count}");
    }
}

#[test]
fn states_that_lanes_have_read_apart_are_told_apart_and_one_read_together_is_one() {
    // clause: bcu.b2r-bar
    let held = |body: Vec<S>| {
        let program = Group::new(Bcu, 32).one([body, vec![fence(SHARED), writes_state()]].concat()).build();
        let mut machine = Machine::new(Arc::new(program), Options::default());
        let automaton = machine.unfolded(AgentId(0), 1000, &mut || true).expect("it is small");
        let configs =
            (0..automaton.len()).map(|id| automaton.config(ConfigId(u32::try_from(id).expect("few"))));
        let holds = |config: &Config| -> BTreeSet<u32> {
            config.fragments.iter().flat_map(Fragment::unknown_states).collect()
        };
        configs.map(|config| holds(config).len()).max()
    };
    let below = |lanes| Condition::Value(lt(Expr::Lane, n(lanes)));
    let halves = |lanes| S::If(below(lanes), vec![reads_state()], vec![reads_state()]);
    assert_eq!(held(vec![reads_state()]), Some(1));
    assert_eq!(held(vec![halves(16)]), Some(2));
    // All lanes go one way; what is read anew takes the place of what was read before.
    assert_eq!(held(vec![halves(32)]), Some(1));
    assert_eq!(held(vec![reads_state(), fence(SHARED), reads_state()]), Some(1));
    let some = S::If(below(16), vec![reads_state()], vec![]);
    assert_eq!(held(vec![reads_state(), some.clone()]), Some(2));
    assert_eq!(held(vec![reads_state(), some.clone(), some]), Some(2));
}

#[test]
fn automata_beyond_the_bound_are_not_compared() {
    // Before the fence, before the exit, exited.
    let program = || two(Ptx, vec![mention(), fence(SHARED)]);
    assert_eq!(classes(&looked(program(), 3)), [0, 0]);
    assert_eq!(looked(program(), 3).automata()[0].len(), 3);
    assert_eq!(classes(&looked(program(), 2)), [0, 1]);
    assert_eq!(classes(&looked(program(), 0)), [0, 1]);
}

#[test]
fn the_search_ends_when_told_to_and_asks_at_every_configuration() {
    let asked = |program: Program, most_answers: usize| {
        let mut machine = Machine::new(Arc::new(program), Options::default());
        let mut answers = 0;
        machine.merge_alike(1000, &mut || {
            answers += 1;
            answers <= most_answers
        });
        (classes(&machine), answers)
    };
    let program = || two(Ptx, vec![mention(), fence(SHARED)]);
    assert_eq!(asked(program(), 6), (vec![0, 0], 6));
    assert_eq!(asked(program(), 5), (vec![0, 1], 6));
    assert_eq!(asked(program(), 0).0, [0, 1]);
    // One that is alone in its role has nobody to be compared with.
    let alone = || vec![mention(), fence(SHARED)];
    assert_eq!(asked(Group::new(Ptx, 64).one(alone()).one(alone()).build(), 1000), (vec![0, 1], 0));
}

#[test]
fn a_configuration_with_many_edges_counts_as_several() {
    // Released with 0 to 64, or with 0 to 128.
    for (threads, more) in [(32, 0), (64, 1), (128, 2)] {
        let program =
            Group::new(Bcu, threads).many(threads / 32, vec![bred(ReductionOp::Popc, 1, 0, OPEN)]).build();
        let mut machine = Machine::new(Arc::new(program), Options::default());
        let mut asked = 0;
        let automaton = machine.unfolded(AgentId(0), 1000, &mut || {
            asked += 1;
            true
        });
        assert_eq!(asked, automaton.expect("it is small").len() + more, "{threads} threads");
    }
}

#[test]
fn no_run_finds_anything_that_was_not_worked_out() {
    let explored = |target, body: Vec<S>, runs: &[&str]| {
        let mut machine = looked(two(target, [vec![mention()], body].concat()), 1000);
        let size = |machine: &Machine| (machine.automata()[0].len(), machine.automata()[0].edges().count());
        let known = size(&machine);
        for steps in runs {
            let state = machine.initial();
            let mut run = Run { machine, state };
            assert!(run.log(steps).iter().all(|step| step != "disabled"), "{steps}");
            assert_eq!(size(&run.machine), known, "{target} {steps}");
            machine = run.machine;
        }
    };
    explored(Ptx, vec![sync(1, 64), arrive(2, 64)], &["0 1 1 0 0 1", "1 0 1 0 1 0"]);
    explored(Bcu, vec![bsync(1, 64), barv(2, 64)], &["0 1 1 0 0 1", "1 0 1 0 1 0"]);
    // A wait may block, or pass.
    explored(Nbarrier, vec![signal_all(1, 2), wait(1)], &["0 0 1 1 0 1", "1 0 0 1 0 1"]);
    let meet = vec![alloc(1), init(0, 2), xarrive(), xwait()];
    explored(Xegpu, meet, &["0 0 0 0 1 1 1 1 0 1", "1 1 1 0 0 0 0 1 0 1"]);
    let split = |kind| bare(kind, Scope::Workgroup);
    let halves = vec![split(SplitKind::Arrive), split(SplitKind::Wait)];
    explored(SplitBarrier, halves, &["0 0 1 1 0 1", "1 0 0 1 0 1"]);
    explored(SplitBarrier, vec![split(SplitKind::Both)], &["0 1 1 0", "1 0 0 1"]);
}
