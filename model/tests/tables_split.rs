//! Split barriers: every state by every event, seat and instance; who shares which barrier.

use crate::common::*;
use barcheck_model::barrier::split::{Barrier, Instance, Workgroup, arrive, barrier_of, complete, wait};
use barcheck_model::barrier::{BarrierId, NotModelled, Progress, Refusal, Seat, Token};
use barcheck_model::program::{AgentId, Pc, RoleId, Scope};
use barcheck_model::rule::Rule;
use std::fmt::Write as _;

const VACANT: Seat = Seat {
    arrived: false,
    waiting: false,
    consumer: false,
    notified: false,
    produced_last: false,
    token: Token::None,
};
const ARRIVED: Seat = Seat { arrived: true, ..VACANT };
const NOTIFIED: Seat = Seat { notified: true, ..VACANT };

fn at(statement: u32) -> Instance {
    Instance { role: RoleId(0), statement: Pc(statement), iterations: Box::new([]) }
}

fn name(barrier: &Barrier) -> String {
    let instance =
        |found: &Option<Instance>| found.as_ref().map_or("-".to_owned(), |i| i.statement.0.to_string());
    format!(
        "{} arrived@{} {} waiting@{} {} unwaited@{}",
        barrier.arrived,
        instance(&barrier.arrive),
        barrier.waiting,
        instance(&barrier.wait),
        barrier.unwaited,
        instance(&barrier.past_wait)
    )
}

/// Every state of a barrier of three: who arrived at 1, who waits at 2, who has yet to wait, at 2 like
/// another.
fn states() -> Vec<Barrier> {
    let mut all = Vec::new();
    for arrived in 0..3 {
        for waiting in 0..=arrived {
            for (unwaited, past_wait) in [(0, None), (1, None), (1, Some(at(2))), (2, None), (2, Some(at(2)))]
            {
                if arrived + unwaited > 3 {
                    continue;
                }
                all.push(Barrier {
                    arrived,
                    waiting,
                    arrive: (arrived > 0).then(|| at(1)),
                    wait: (waiting > 0).then(|| at(2)),
                    unwaited,
                    past_wait,
                });
            }
        }
    }
    all
}

#[test]
fn every_state_by_every_event_of_the_workgroup() {
    let mut table = String::new();
    for state in states() {
        let mut outcomes = ByOutcome::default();
        let mut line =
            |event: &str, outcome: Result<_, Refusal>| outcomes.add(event, effect_name(outcome, name));
        // Each of the three has arrived, or has yet to wait, or has nothing to do with the barrier.
        let vacant = state.arrived + state.unwaited < 3;
        for statement in [1, 2, 3].into_iter().filter(|_| vacant) {
            let arrival = |waits| arrive(Scope::Workgroup, 3, &state, VACANT, &at(statement), waits);
            line(&format!("arrive@{statement}"), arrival(false));
            line(&format!("both@{statement}"), arrival(true));
        }
        if state.arrived > state.waiting {
            for statement in [2, 3] {
                let outcome = wait(Scope::Workgroup, &state, ARRIVED, &at(statement));
                line(&format!("wait@{statement} arrived"), outcome);
            }
        }
        if state.unwaited > 0 {
            for statement in [2, 3] {
                let outcome = wait(Scope::Workgroup, &state, NOTIFIED, &at(statement));
                line(&format!("wait@{statement} notified"), outcome);
            }
        }
        if vacant {
            line("wait@2 vacant", wait(Scope::Workgroup, &state, VACANT, &at(2)));
        }
        table += &outcomes.under(&name(&state));
    }
    insta::assert_snapshot!(table);
}

#[test]
fn a_second_arrival_needs_a_wait_first() {
    // clause: split_barrier.opencl-no-second-arrive
    // clause: split_barrier.vulkan-no-second-arrive
    // clause: barcheck.whole-barrier-counts
    let busy = Barrier { arrived: 1, arrive: Some(at(1)), ..Barrier::default() };
    let past = Barrier { unwaited: 1, ..Barrier::default() };
    for waits in [false, true] {
        // Also from another place: the repetition comes before the comparison of instances.
        for (barrier, seat, instance) in
            [(&busy, ARRIVED, at(1)), (&busy, ARRIVED, at(9)), (&past, NOTIFIED, at(1))]
        {
            let outcome = arrive(Scope::Workgroup, 3, barrier, seat, &instance, waits);
            assert_eq!(outcome, Err(Rule::RepeatedArrival.into()));
        }
    }
}

#[test]
fn a_wait_needs_an_arrival_that_no_other_wait_has_used() {
    // clause: split_barrier.opencl-wait-after-arrive
    // clause: split_barrier.vulkan-wait-after-arrive
    let outcome = wait(Scope::Workgroup, &Barrier::default(), VACANT, &at(1));
    assert_eq!(outcome, Err(Rule::WaitWithoutArrive.into()));
    let past = Barrier { unwaited: 1, ..Barrier::default() };
    let effect = wait(Scope::Workgroup, &past, NOTIFIED, &at(1)).expect("the generation is complete");
    assert_eq!((effect.progress, effect.seat), (Progress::Pass, VACANT));
    let outcome = wait(Scope::Workgroup, &effect.barrier, effect.seat, &at(1));
    assert_eq!(outcome, Err(Rule::WaitWithoutArrive.into()));
    // Others' instances play no part for one that may not wait at all.
    let waiting = Barrier { arrived: 1, waiting: 1, arrive: Some(at(1)), wait: Some(at(2)), ..past };
    assert_eq!(wait(Scope::Workgroup, &waiting, VACANT, &at(9)), Err(Rule::WaitWithoutArrive.into()));
}

#[test]
fn agents_meet_in_the_same_dynamic_instance_of_arrive_and_of_wait() {
    // clause: split_barrier.arrive-uniform
    // clause: split_barrier.wait-uniform
    // clause: split_barrier.opencl-all-arrive
    // clause: split_barrier.opencl-all-wait
    // clause: split_barrier.subgroup-client
    let busy = Barrier {
        arrived: 2,
        waiting: 1,
        arrive: Some(at(1)),
        wait: Some(at(2)),
        unwaited: 0,
        past_wait: None,
    };
    let past = Barrier { unwaited: 2, past_wait: Some(at(2)), ..Barrier::default() };
    let other_role = Instance { role: RoleId(1), ..at(1) };
    let other_iteration = Instance { iterations: Box::new([1]), ..at(1) };
    for (scope, refusal) in [
        (Scope::Workgroup, Refusal::Violation(Rule::NonuniformBarrier)),
        (Scope::Subgroup, Refusal::NotModelled(NotModelled::SubgroupDivergence)),
    ] {
        assert!(arrive(scope, 4, &busy, VACANT, &at(1), false).is_ok());
        for other in [&at(3), &other_role, &other_iteration] {
            assert_eq!(arrive(scope, 4, &busy, VACANT, other, false), Err(refusal));
        }
        assert!(wait(scope, &busy, ARRIVED, &at(2)).is_ok());
        assert_eq!(wait(scope, &busy, ARRIVED, &at(3)), Err(refusal));
        assert!(wait(scope, &past, NOTIFIED, &at(2)).is_ok());
        assert_eq!(wait(scope, &past, NOTIFIED, &at(3)), Err(refusal));
        // An unsplit barrier meets arrivals and waits at once.
        let same = Barrier { wait: Some(at(1)), ..busy.clone() };
        assert!(arrive(scope, 4, &same, VACANT, &at(1), true).is_ok());
        assert_eq!(arrive(scope, 4, &busy, VACANT, &at(1), true), Err(refusal));
    }
}

#[test]
fn the_last_arrival_completes_and_leaves_those_who_have_yet_to_wait() {
    // clause: split_barrier.arrive
    // clause: split_barrier.wait
    let busy = Barrier {
        arrived: 2,
        waiting: 1,
        arrive: Some(at(1)),
        wait: Some(at(2)),
        unwaited: 0,
        past_wait: None,
    };
    let effect = arrive(Scope::Workgroup, 3, &busy, VACANT, &at(1), false).expect("same instance");
    assert_eq!(name(&effect.barrier), "0 arrived@- 0 waiting@- 2 unwaited@2");
    assert_eq!((effect.progress, effect.seat), (Progress::Pass, ARRIVED));
    assert!(effect.completed.is_some_and(|done| !done.takes_in_exited && done.result.is_none()));
    assert_eq!(complete(ARRIVED), NOTIFIED);
    assert_eq!(complete(Seat { waiting: true, ..ARRIVED }), VACANT);
    assert_eq!(complete(NOTIFIED), NOTIFIED);
    assert_eq!(complete(VACANT), VACANT);
    let again =
        arrive(Scope::Workgroup, 3, &effect.barrier, VACANT, &at(7), false).expect("a new generation");
    assert_eq!(name(&again.barrier), "1 arrived@7 0 waiting@- 2 unwaited@2");
}

#[test]
fn an_unsplit_barrier_is_arrival_and_wait_in_one() {
    // clause: split_barrier.control-barrier
    // clause: split_barrier.overview
    let effect = arrive(Scope::Workgroup, 2, &Barrier::default(), VACANT, &at(1), true).expect("the first");
    assert_eq!((effect.progress, effect.seat), (Progress::Block, Seat { waiting: true, ..ARRIVED }));
    assert_eq!(name(&effect.barrier), "1 arrived@1 1 waiting@1 0 unwaited@-");
    let effect = arrive(Scope::Workgroup, 2, &effect.barrier, VACANT, &at(1), true).expect("the last");
    assert!(effect.completed.is_some_and(|done| !done.nobody_waits));
    assert_eq!(effect.barrier, Barrier::default());
}

#[test]
fn each_scope_instance_has_a_barrier_of_its_own() {
    // clause: split_barrier.execution-scope
    let mut table = String::new();
    for (invocations, subgroup_size) in [(1, 1), (4, 4), (5, 2), (5, 8), (6, 3)] {
        let group = Workgroup { invocations, subgroup_size };
        writeln!(table, "{invocations} in subgroups of {subgroup_size}: {} subgroups", group.subgroups())
            .expect("a string takes it");
        for agent in (0..invocations).map(AgentId) {
            let shares = [Scope::Workgroup, Scope::Subgroup, Scope::Invocation].map(|scope| {
                let barrier = barrier_of(group, scope, agent).expect("modelled");
                assert_eq!(group.scope_of(barrier), scope);
                format!("b{} of {}", barrier.0, group.members(barrier))
            });
            writeln!(table, "  {} in subgroup {}: {}", agent.0, group.subgroup_of(agent), shares.join(", "))
                .expect("a string takes it");
        }
    }
    insta::assert_snapshot!(table);
}

#[test]
fn the_last_subgroup_may_be_smaller() {
    // clause: split_barrier.execution-scope
    let group = Workgroup { invocations: 5, subgroup_size: 2 };
    let members = |scope, agent| group.members(group.barrier_of(scope, AgentId(agent)).expect("modelled"));
    assert_eq!(members(Scope::Subgroup, 0), 2);
    assert_eq!(members(Scope::Subgroup, 3), 2);
    assert_eq!(members(Scope::Subgroup, 4), 1);
    assert_eq!((members(Scope::Workgroup, 4), members(Scope::Invocation, 2)), (5, 1));
    assert_eq!(group.barrier_of(Scope::Subgroup, AgentId(4)), Ok(BarrierId(3)));
    assert_eq!(group.barrier_of(Scope::Invocation, AgentId(4)), Ok(BarrierId(8)));
}

#[test]
fn the_device_as_execution_scope_is_not_modelled() {
    // clause: split_barrier.device-scope
    let group = Workgroup { invocations: 2, subgroup_size: 2 };
    assert_eq!(barrier_of(group, Scope::Device, AgentId(0)), Err(NotModelled::DeviceScope));
    let words = [NotModelled::DeviceScope, NotModelled::SubgroupDivergence, NotModelled::ForgedState]
        .map(NotModelled::describe);
    assert!(words.iter().all(|words| words.contains("not modelled")));
    assert!(words[0].contains("Device") && words[1].contains("subgroup") && words[2].contains("R2B"));
}
