//! Order in time and in memory on targets other than split barriers: who knows what of whose accesses.

use crate::common::*;
use barcheck_model::machine::{Detail, ExitedThreads, Options, StepOutcome};
use barcheck_model::program::Target::{Bcu, Nbarrier, Ptx, Xegpu};
use barcheck_model::program::*;

/// How the last of these steps ends, with two scalars, `shared` and `global`.
fn outcome(target: Target, bodies: &[Vec<S>], steps: &str) -> String {
    run_of(target, bodies, Options::default()).play(steps)
}

fn run_of(target: Target, bodies: &[Vec<S>], options: Options) -> Run {
    let agents = u32::try_from(bodies.len()).expect("few");
    let threads = if target.has_lanes() { agents * 32 } else { agents };
    let mut group = Group::new(target, threads).scalar(Space::Shared).scalar(Space::Global);
    for body in bodies {
        group = group.one(body.clone());
    }
    Run::with(group.build(), options)
}

fn pair(target: Target, a: Vec<S>, b: Vec<S>, steps: &str) -> String {
    outcome(target, &[a, b], steps)
}

#[test]
fn accesses_conflict_unless_both_read_or_both_are_atomic() {
    // clause: barcheck.data-race
    let kinds = [AccessKind::Read, AccessKind::Write, AccessKind::Atomic];
    let access = |kind| vec![S::Op(Op::Access(kind, ArrayId(0), None, None)), fence(SHARED)];
    for first in kinds {
        for second in kinds {
            let alike = first == second && first != AccessKind::Write;
            let found = pair(Ptx, access(first), access(second), "0 1");
            let expected = if alike { "access 0" } else { "access 0 ! data-race 0,1" };
            assert_eq!(found, expected, "{first:?} {second:?}");
            // An agent conflicts with nobody but others.
            let own = [access(first), access(second)].concat();
            assert_eq!(pair(Ptx, own, vec![], "0 0 0"), "access 0");
        }
    }
    let elsewhere = pair(Ptx, vec![write(0), fence(SHARED)], vec![write(1)], "0 1");
    assert_eq!(elsewhere, "access 1");
}

#[test]
fn a_race_names_both_accesses() {
    let mut run = run_of(Ptx, &[vec![write(1), fence(SHARED)], vec![read(1)]], Options::default());
    run.play("0");
    let StepOutcome::Noted(_, noted) = run.choose(1, 0, 0) else { panic!("a race") };
    assert_eq!((noted[0].agent, noted[0].pc, noted[0].barrier), (AgentId(1), Pc(0), None));
    let conflict = Detail::Conflict {
        location: LocationId(1),
        earlier: AgentId(0),
        earlier_kind: AccessKind::Write,
        kind: AccessKind::Read,
    };
    assert_eq!(noted[0].detail, conflict);
    // Who comes first does not matter for the order of the names.
    let mut run = run_of(Ptx, &[vec![write(1)], vec![write(1), fence(SHARED)]], Options::default());
    assert_eq!(run.log("1 0"), ["access 1", "access 1 ! data-race 0,1"]);
}

#[test]
fn a_completed_ptx_barrier_orders_what_each_arrival_followed() {
    // clause: ptx.prior-performed
    // clause: ptx.performed-write
    // clause: ptx.performed-read
    // clause: barcheck.knowledge
    let synced = |first, second| pair(Ptx, vec![first, sync(1, 64)], vec![sync(1, 64), second], "0 0 1 1");
    for first in [read(0), write(0), atomic(0)] {
        for second in [read(0), write(0), atomic(0)] {
            assert_eq!(synced(first.clone(), second), "access 0");
        }
    }
    // An arrive publishes like a sync.
    let arrived = |body| pair(Ptx, body, vec![sync(1, 64), read(0), read(1)], "0 0 0 1 1");
    assert_eq!(arrived(vec![write(0), arrive(1, 64), write(1)]), "access 0");
    // A reduction, too.
    let or = || red_unkept(ReductionOp::Or, 1, 64, OPEN);
    assert_eq!(pair(Ptx, vec![write(0), or()], vec![or(), read(0)], "0 0 1 1"), "access 0");
}

#[test]
fn what_follows_an_arrive_is_not_carried() {
    // clause: ptx.no-new-access
    let body = vec![arrive(1, 64), write(0)];
    let outcome = pair(Ptx, body, vec![sync(1, 64), read(0)], "0 0 1 1");
    assert_eq!(outcome, "access 0 ! data-race 0,1");
}

#[test]
fn one_that_only_arrives_learns_nothing() {
    // clause: ptx.prior-performed
    let arriver = vec![arrive(1, 64), read(0)];
    let outcome = pair(Ptx, vec![write(0), sync(1, 64)], arriver, "0 0 1 1");
    assert_eq!(outcome, "access 0 ! data-race 0,1");
}

#[test]
fn order_is_transitive() {
    // clause: barcheck.transitive-order
    let bodies = [vec![write(0), sync(1, 64)], vec![sync(1, 64), sync(2, 64)], vec![sync(2, 64), write(0)]];
    assert_eq!(outcome(Ptx, &bodies, "0 0 1 1 2 2"), "access 0");
    // Not from an arrival before it was learnt.
    let early = [vec![write(0), sync(1, 64)], vec![arrive(2, 64), sync(1, 64)], vec![sync(2, 64), write(0)]];
    assert_eq!(outcome(Ptx, &early, "1 0 0 1 2 2"), "access 0 ! data-race 0,2");
}

#[test]
fn a_generation_carries_nothing_into_the_next() {
    // clause: barcheck.knowledge
    let bodies = [
        vec![write(0), sync(1, 64), fence(SHARED)],
        vec![sync(1, 64), fence(SHARED)],
        vec![sync(1, 64), fence(SHARED)],
        vec![sync(1, 64), read(0)],
    ];
    let outcome = outcome(Ptx, &bodies, "0 0 1 2 3 3");
    assert_eq!(outcome, "access 0 ! data-race 0,3");
}

#[test]
fn knowledge_ends_when_a_newer_access_replaces_it() {
    // clause: barcheck.knowledge-replaced
    let again = |first: S, second: S, last| {
        pair(Ptx, vec![first, sync(1, 64), second, fence(SHARED)], vec![sync(1, 64), last], "0 0 1 0 1")
    };
    assert_eq!(again(write(0), write(0), read(0)), "access 0 ! data-race 0,1");
    assert_eq!(again(read(0), read(0), write(0)), "access 0 ! data-race 0,1");
    assert_eq!(again(atomic(0), atomic(0), read(0)), "access 0 ! data-race 0,1");
    // A read replaces neither the write before it nor an access elsewhere; it is known by itself.
    assert_eq!(again(write(0), read(0), read(0)), "access 0");
    assert_eq!(again(write(0), write(1), read(0)), "access 0");
    assert_eq!(again(read(0), atomic(0), atomic(0)), "access 0");
    let mut run = run_of(Ptx, &[vec![write(0), read(0), atomic(0)], vec![write(0)]], Options::default());
    run.play("0 0 0");
    assert_eq!(run.state.memory.accesses().len(), 3);
    assert_eq!(run.play("1"), "access 0 ! data-race 0,1 ! data-race 0,1 ! data-race 0,1");
    let kept: Vec<_> = run.state.memory.accesses().iter().map(|a| (a.agent, a.kind)).collect();
    assert_eq!(kept, [(AgentId(1), AccessKind::Write)], "a write replaces all of the location");
}

#[test]
fn reads_of_several_agents_are_kept_apart() {
    // clause: barcheck.knowledge
    let bodies = [vec![read(0), fence(SHARED)], vec![read(0), fence(SHARED)], vec![write(0)]];
    assert_eq!(outcome(Ptx, &bodies, "0 1 2"), "access 0 ! data-race 0,2 ! data-race 1,2");
}

#[test]
fn an_access_by_several_lanes_touches_each_location() {
    let program = |bodies: [S; 2]| {
        let [a, b] = bodies;
        Group::new(Ptx, 64).array(Space::Shared, Some(40)).one(vec![a, fence(SHARED)]).one(vec![b]).build()
    };
    let own = || access_at(AccessKind::Write, 0, bin(BinaryOp::Rem, Expr::Lane, n(3)));
    let reads = |index| access_at(AccessKind::Read, 0, n(index));
    assert_eq!(last(program([own(), reads(2)]), "0 1"), "access 2 ! data-race 0,1");
    assert_eq!(last(program([own(), reads(3)]), "0 1"), "access 3");
    let all = last(program([own(), own()]), "0 1");
    assert_eq!(all, "access 0 1 2 ! data-race 0,1 ! data-race 0,1 ! data-race 0,1");
}

#[test]
fn accesses_that_everybody_alive_knows_are_forgotten() {
    let mut run =
        run_of(Ptx, &[vec![write(0), sync(1, 0)], vec![sync(1, 0), fence(SHARED)]], Options::default());
    run.play("0 0");
    assert_eq!(run.state.memory.accesses().len(), 1);
    assert!(!run.state.memory.is_empty());
    run.play("1");
    assert!(run.state.memory.is_empty());
    // One that is known in time only is kept.
    let bodies = [vec![write(0), signal_all(0, 2), wait(0)], vec![signal_all(0, 2), wait(0), fence(SHARED)]];
    let mut run = run_of(Nbarrier, &bodies, Options::default());
    run.play("0 0 1 1");
    assert_eq!(run.state.memory.accesses().len(), 1);
    // When only its own agent is left, nothing can conflict with it.
    let mut run = run_of(Ptx, &[vec![write(0), fence(SHARED)], vec![]], Options::default());
    run.play("0");
    assert!(run.state.memory.is_empty());
}

#[test]
fn the_exited_are_known_in_time_only_by_barriers_for_live_agents() {
    // clause: barcheck.exit-in-time
    let exits = |sync: S| pair(Ptx, vec![write(0)], vec![sync, read(0)], "0 0 1 1");
    assert_eq!(exits(sync(1, 0)), "access 0 ! missing-fence 0,1");
    assert_eq!(exits(sync(1, 32)), "access 0 ! data-race 0,1");
    // Completed by the exit itself.
    let late = pair(Ptx, vec![write(0)], vec![sync(1, 0), read(0)], "0 1 0 1");
    assert_eq!(late, "access 0 ! missing-fence 0,1");
    let bsync = |count| pair(Bcu, vec![write(0)], vec![bsync(1, count), read(0)], "0 0 1 1");
    assert_eq!(bsync(0), "access 0 ! missing-fence 0,1");
    assert_eq!(bsync(32), "access 0 ! data-race 0,1");
    // What the exited had learnt in memory before is not published by its exit either.
    let bodies = [vec![write(0), sync(1, 64)], vec![sync(1, 64)], vec![sync(2, 0), read(0)]];
    assert_eq!(outcome(Ptx, &bodies, "0 0 1 0 1 2 2"), "access 0 ! missing-fence 0,2");
}

#[test]
fn a_release_by_exits_takes_in_the_exited_as_well() {
    // clause: barcheck.exited-switch
    // clause: barcheck.exit-in-time
    let options = Options { exited_threads: ExitedThreads::Release };
    let bodies = [vec![write(0)], vec![sync(1, 64), read(0)]];
    let mut run = run_of(Ptx, &bodies, options);
    assert_eq!(run.play("1 0 0 1"), "access 0 ! missing-fence 0,1");
    let bodies =
        [vec![write(0), fence(SHARED)], vec![sync(1, 96), read(0), read(1)], vec![write(1), arrive(1, 96)]];
    let mut run = run_of(Ptx, &bodies, options);
    assert_eq!(run.log("0 0 0 2 2 1 1 1")[6..], ["access 0 ! missing-fence 0,1", "access 1"]);
}

#[test]
fn a_sync_or_red_of_bcu_is_a_memory_barrier() {
    // clause: bcu.sync-memory
    // clause: bcu.red-memory
    let red = || bred(ReductionOp::Or, 1, 64, truth(n(1)));
    for barrier in [bsync(1, 64), red()] {
        for (first, second) in [(write(0), read(0)), (read(0), write(0)), (atomic(0), write(0))] {
            let found = pair(Bcu, vec![first, barrier.clone()], vec![barrier.clone(), second], "0 0 1 1");
            assert_eq!(found, "access 0");
        }
    }
    assert_eq!(pair(Bcu, vec![write(0)], vec![read(0)], "0 1"), "access 0 ! data-race 0,1");
}

#[test]
fn an_arv_carries_time_but_memory_only_of_what_was_published_before() {
    // clause: bcu.arv-no-memory
    // clause: barcheck.bcu-publishes
    let arv = |body: Vec<S>, last, steps| pair(Bcu, body, vec![bsync(1, 64), last], steps);
    let unpublished = "access 0 ! missing-fence 0,1";
    assert_eq!(arv(vec![write(0), barv(1, 64)], read(0), "0 0 1 1"), unpublished);
    assert_eq!(arv(vec![read(0), barv(1, 64)], write(0), "0 0 1 1"), unpublished);
    assert_eq!(arv(vec![atomic(0), barv(1, 64)], write(0), "0 0 1 1"), unpublished);
    // A sync of the warp with itself publishes.
    assert_eq!(arv(vec![write(0), bsync(2, 32), barv(1, 64)], read(0), "0 0 0 1 1"), "access 0");
    assert_eq!(arv(vec![bsync(2, 32), write(0), barv(1, 64)], read(0), "0 0 0 1 1"), unpublished);
    let red = bred(ReductionOp::Or, 3, 32, truth(n(1)));
    assert_eq!(arv(vec![write(0), red, barv(1, 64)], read(0), "0 0 0 1 1"), "access 0");
    // A newer write is not published by the older sync.
    let newer = vec![write(0), bsync(2, 32), write(0), barv(1, 64)];
    assert_eq!(arv(newer, read(0), "0 0 0 0 1 1"), unpublished);
}

#[test]
fn what_a_warp_has_learnt_by_sync_it_has_published() {
    // clause: barcheck.bcu-publishes
    // clause: barcheck.knowledge-in-memory
    let bodies = [vec![write(0), bsync(1, 64)], vec![bsync(1, 64), barv(2, 64)], vec![bsync(2, 64), read(0)]];
    assert_eq!(outcome(Bcu, &bodies, "0 0 1 1 2 2"), "access 0");
    // Learnt in time only, it stays so.
    let bodies = [vec![write(0), barv(1, 64)], vec![bsync(1, 64), bsync(2, 64)], vec![bsync(2, 64), read(0)]];
    assert_eq!(outcome(Bcu, &bodies, "0 0 1 1 2 2"), "access 0 ! missing-fence 0,2");
    // One that only arrives learns nothing.
    let arriver = vec![barv(1, 64), read(0)];
    assert_eq!(pair(Bcu, vec![write(0), bsync(1, 64)], arriver, "0 0 1 1"), "access 0 ! data-race 0,1");
}

/// A signal and a wait of both agents, with the second blocked or not.
fn handshake(first: Vec<S>, second: Vec<S>, order: &str) -> String {
    let meet = || vec![signal_all(0, 2), wait(0)];
    pair(Nbarrier, [first, meet()].concat(), [meet(), second].concat(), order)
}

#[test]
fn a_named_barrier_orders_in_time_and_a_fence_of_the_writer_in_memory() {
    // clause: nbarrier.no-memory
    // clause: barcheck.fence-publishes
    // clause: barcheck.missing-fence
    for order in ["0 0 0 1 1 1", "1 1 0 0 0 1", "1 0 0 0 1 1"] {
        let found = |between: Vec<S>, second: Vec<S>| handshake(between, second, order);
        let unfenced = "access 0 ! missing-fence 0,1";
        assert_eq!(found(vec![write(0), fence(SHARED)], vec![read(0)]), "access 0");
        assert_eq!(found(vec![write(0), fence(BOTH)], vec![read(0)]), "access 0");
        assert_eq!(found(vec![atomic(0), fence(SHARED)], vec![write(0)]), "access 0");
        assert_eq!(found(vec![write(0), fence(GLOBAL)], vec![read(0)]), unfenced);
        assert_eq!(found(vec![fence(SHARED), write(0)], vec![read(0)]), unfenced);
        assert_eq!(found(vec![atomic(0), fence(NEITHER)], vec![write(0)]), unfenced);
        assert_eq!(found(vec![write(1), fence(GLOBAL)], vec![read(1)]), "access 1");
        assert_eq!(found(vec![write(1), fence(SHARED)], vec![read(1)]), "access 1 ! missing-fence 0,1");
        // An earlier read needs no fence.
        assert_eq!(found(vec![fence(SHARED), read(0)], vec![write(0)]), "access 0");
    }
    let unfenced = handshake(vec![write(0), fence(NEITHER)], vec![fence(SHARED), read(0)], "0 0 0 1 1 1 1");
    assert_eq!(unfenced, "access 0 ! missing-fence 0,1", "a reader's fence publishes nobody else's write");
}

#[test]
fn a_fence_after_the_signal_comes_too_late() {
    // clause: barcheck.fence-publishes
    let late = vec![write(0), signal(0, 1, 1, 1), fence(SHARED)];
    let found = pair(Nbarrier, late, vec![signal(0, 2, 1, 1), wait(0), read(0)], "0 0 0 1 1 1");
    assert_eq!(found, "access 0 ! missing-fence 0,1");
}

#[test]
fn a_fence_publishes_ones_own_accesses_only() {
    // clause: barcheck.fence-publishes
    let chain = |first: S, second: S| {
        let bodies = [
            vec![write(0), first, signal(0, 1, 1, 1)],
            vec![signal(0, 2, 1, 1), wait(0), second, signal(1, 1, 1, 1)],
            vec![signal(1, 2, 1, 1), wait(1), read(0)],
        ];
        outcome(Nbarrier, &bodies, "0 0 0 1 1 1 1 2 2 2")
    };
    assert_eq!(chain(fence(SHARED), fence(NEITHER)), "access 0", "and then it travels with every arrival");
    assert_eq!(chain(fence(NEITHER), fence(SHARED)), "access 0 ! missing-fence 0,2");
}

#[test]
fn a_notification_carries_what_its_own_generation_knew() {
    // clause: barcheck.knowledge
    let lazy = vec![signal(0, 2, 1, 1), wait(0), read(0), read(1)];
    let producer =
        vec![write(1), fence(GLOBAL), signal(0, 1, 1, 1), write(0), fence(SHARED), signal(0, 1, 1, 1)];
    let other = vec![signal(0, 2, 1, 1), wait(0), read(0)];
    let mut run = run_of(Nbarrier, &[lazy, producer, other], Options::default());
    run.play("0 1 1 1 1 1 1 2");
    assert_eq!(run.log("0 0 0"), ["pass b0", "access 0 ! data-race 0,1", "access 1"]);
    assert_eq!(run.log("2 2"), ["pass b0", "access 0"]);
}

#[test]
fn exits_carry_nothing_on_named_barriers() {
    // clause: barcheck.exits-release-nothing
    let lone = vec![signal_all(0, 1), wait(0), read(0)];
    assert_eq!(pair(Nbarrier, vec![write(0)], lone, "0 0 1 1 1"), "access 0 ! data-race 0,1");
}

#[test]
fn xegpu_fences_select_the_memory_and_order_like_those_of_visa() {
    // clause: xegpu.mfence
    // clause: xegpu.memory-kind
    let meet = || vec![xarrive(), xwait()];
    let bound = || vec![alloc(1), init(0, 2)];
    let found = |between: Vec<S>, second: Vec<S>| {
        let first = [bound(), between, meet()].concat();
        pair(Xegpu, first, [bound(), meet(), second].concat(), "0 0 1 1 0 0 0 1 1 1")
    };
    assert_eq!(found(vec![write(0), fence(SHARED)], vec![read(0)]), "access 0");
    assert_eq!(found(vec![write(0), fence(GLOBAL)], vec![read(0)]), "access 0 ! missing-fence 0,1");
    assert_eq!(found(vec![write(1), fence(GLOBAL)], vec![write(1)]), "access 1");
    assert_eq!(found(vec![write(1), fence(SHARED)], vec![write(1)]), "access 1 ! missing-fence 0,1");
    assert_eq!(found(vec![read(0), fence(NEITHER)], vec![write(0)]), "access 0");
}

#[test]
fn fences_change_nothing_on_ptx() {
    let arrives = vec![write(0), fence(BOTH), arrive(1, 64)];
    assert_eq!(pair(Ptx, arrives, vec![sync(1, 64), read(0)], "0 0 0 1 1"), "access 0");
    assert_eq!(pair(Ptx, vec![write(0), fence(BOTH)], vec![read(0)], "0 0 1"), "access 0 ! data-race 0,1");
}

/// Agent 0 writes and arrives at one barrier, agents 1 and 2 meet at another.
fn bystanders(target: Target, one: i64, other: i64) -> Vec<Vec<S>> {
    match target {
        Ptx => vec![
            vec![write(0), arrive(one, 64)],
            vec![sync(other, 64), read(0)],
            vec![sync(other, 64), fence(SHARED)],
        ],
        Bcu => vec![
            vec![write(0), bsync(one, 64)],
            vec![bsync(other, 64), read(0)],
            vec![bsync(other, 64), fence(SHARED)],
        ],
        _ => vec![
            vec![write(0), signal_all(one, 2)],
            vec![signal_all(other, 2), read(0), wait(other)],
            vec![signal_all(other, 2), wait(other), read(0)],
        ],
    }
}

#[test]
fn what_one_barrier_carries_no_other_hands_out() {
    // clause: barcheck.knowledge
    for (target, barriers) in [(Ptx, 16), (Bcu, 16), (Nbarrier, 32)] {
        for one in 0..barriers {
            for other in (0..barriers).filter(|other| *other != one) {
                let bodies = bystanders(target, one, other);
                let found = outcome(target, &bodies, "0 0 1 2 1");
                assert_eq!(found, "access 0 ! data-race 0,1", "{target} {one} {other}");
                if target == Nbarrier {
                    let found = outcome(target, &bodies, "0 0 1 2 2 2");
                    assert_eq!(found, "access 0 ! data-race 0,2", "{target} {one} {other}");
                }
            }
        }
    }
}

#[test]
fn every_barrier_carries() {
    // clause: barcheck.knowledge
    for id in 0..16 {
        assert_eq!(
            pair(Ptx, vec![write(0), arrive(id, 64)], vec![sync(id, 64), read(0)], "0 0 1 1"),
            "access 0"
        );
        assert_eq!(
            pair(Bcu, vec![write(0), bsync(id, 64)], vec![bsync(id, 64), read(0)], "0 0 1 1"),
            "access 0"
        );
    }
    for id in 0..32 {
        let consumer = vec![signal(id, 2, 1, 1), wait(id), read(0)];
        let producer = vec![write(0), fence(SHARED), signal(id, 1, 1, 1)];
        assert_eq!(pair(Nbarrier, producer.clone(), consumer.clone(), "0 0 0 1 1 1"), "access 0");
        assert_eq!(pair(Nbarrier, producer, consumer, "1 1 0 0 0 1"), "access 0");
    }
}

#[test]
fn a_generation_that_is_over_leaves_no_trace() {
    let after = |target, between: Vec<S>, steps: &str| {
        let agent = [vec![write(0)], between, vec![fence(NEITHER)]].concat();
        let idle = vec![fence(SHARED)];
        let mut run = run_of(target, &[idle.clone(), idle, agent], Options::default());
        run.play(steps);
        run.state.memory
    };
    for id in [0, 15] {
        assert_eq!(after(Ptx, vec![], "2"), after(Ptx, vec![sync(id, 32)], "2 2"));
    }
    for id in [0, 31] {
        let lone = vec![signal_all(id, 1), wait(id)];
        assert_eq!(after(Nbarrier, vec![], "2"), after(Nbarrier, lone, "2 2 2"));
        let late = vec![signal_all(id, 1), fence(NEITHER), wait(id)];
        assert_eq!(after(Nbarrier, vec![], "2"), after(Nbarrier, late, "2 2 2 2"));
    }
}

/// Plays the steps, and the same with agents renamed; the memories should be the same up to names.
fn renames(program: &Program, steps: &str, to: &[u32]) {
    let renamed: Vec<String> =
        steps.split(' ').map(|s| to[s.parse::<usize>().expect("an agent")].to_string()).collect();
    let to: Vec<_> = to.iter().map(|agent| AgentId(*agent)).collect();
    let (mut a, mut b) = (Run::new(program.clone()), Run::new(program.clone()));
    for length in 1..=renamed.len() {
        let step: Vec<_> = steps.split(' ').skip(length - 1).take(1).collect();
        a.play(step[0]);
        b.play(&renamed[length - 1]);
        let layout = a.machine.layout();
        assert_eq!(a.state.memory.renamed(layout, &to), b.state.memory, "after {length} of {steps}");
        for agent in a.machine.agents() {
            let (one, other) =
                (a.state.memory.profile(layout, agent), b.state.memory.profile(layout, to[agent.index()]));
            assert_eq!(one, other);
        }
    }
}

#[test]
fn memory_is_the_same_for_agents_of_other_names() {
    let memory = |target, threads| Group::new(target, threads).scalar(Space::Shared).scalar(Space::Global);
    for to in [[1, 0, 2], [2, 0, 1], [0, 2, 1], [2, 1, 0]] {
        let body = vec![atomic(0), read(1), arrive(1, 64), sync(2, 96), atomic(0)];
        renames(&memory(Ptx, 96).many(3, body).build(), "0 0 1 0 1 1 2 2 0 1 2 2 1", &to);
        let body = vec![atomic(0), read(1), barv(1, 64), bsync(2, 64), barv(3, 64), atomic(0), fence(SHARED)];
        renames(&memory(Bcu, 96).many(3, body).build(), "0 0 1 0 1 1 0 1 2 2 0 1 0", &to);
        let body =
            vec![atomic(0), fence(SHARED), read(1), signal_all(1, 2), wait(1), atomic(0), fence(NEITHER)];
        let steps = "0 1 0 0 1 2 1 0 1 2 0 2 2 1 0 0";
        renames(&memory(Nbarrier, 3).many(3, body).build(), steps, &to);
        // The last barrier as well as the first.
        let body = vec![atomic(0), signal_all(31, 2), signal_all(0, 2), wait(31), wait(0), fence(SHARED)];
        renames(&memory(Nbarrier, 3).many(3, body).build(), "0 0 1 0 1 1 0 1 0 1 2 2 2", &to);
    }
}

#[test]
fn a_profile_tells_whose_access_it_is_and_how_it_is_known() {
    let bodies = [
        vec![write(0), signal_all(0, 2), wait(0)],
        vec![signal_all(0, 2), wait(0), fence(SHARED)],
        vec![fence(SHARED)],
    ];
    let mut run = run_of(Nbarrier, &bodies, Options::default());
    run.play("0 0 1 1");
    let profile = |agent| run.state.memory.profile(run.machine.layout(), AgentId(agent));
    let write = (LocationId(0), AccessKind::Write);
    assert_eq!(profile(0), [(write.0, write.1, true, 1)]);
    assert_eq!(profile(1), [(write.0, write.1, false, 1)]);
    assert_eq!(profile(2), [(write.0, write.1, false, 0)]);
    let bodies = [vec![crate::common::write(0), bsync(1, 32), fence(SHARED)], vec![fence(SHARED)]];
    let mut run = run_of(Bcu, &bodies, Options::default());
    run.play("0");
    assert_eq!(run.state.memory.profile(run.machine.layout(), AgentId(0))[0].3, 0b011);
    run.play("0");
    assert_eq!(run.state.memory.profile(run.machine.layout(), AgentId(0))[0].3, 0b111);
}
