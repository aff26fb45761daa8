//! The barrier of the cluster: every state by every event; and where the barriers and the memory of each CTA
//! are.

use crate::common::*;
use barcheck_model::barrier::cluster::{Action, Barrier, What};
use barcheck_model::barrier::{
    Applied, Around, Arrival, BarrierId, BarrierState as _, Instruction as _, Progress, Seat, mbarrier,
};
use barcheck_model::program::{
    AgentId, Array, ArrayId, Home, LocationId, Objects, Program, Reach, Space, Target,
};
use barcheck_model::rule::Rule;

/// Four warps, so many of which have exited.
struct Four {
    exited: u32,
}

impl Around for Four {
    fn agents(&self, _: BarrierId) -> u32 {
        4
    }

    fn exits_release(&self) -> bool {
        false
    }

    fn exited(&self) -> u32 {
        self.exited
    }

    fn is_in_flight(&self, _: BarrierId) -> bool {
        false
    }

    fn exited_outside(&self, _: BarrierId) -> u32 {
        self.exited
    }
}

const ARRIVED: Seat = Seat {
    arrived: true,
    waiting: false,
    consumer: true,
    notified: false,
    produced_last: false,
    token: barcheck_model::barrier::Token::None,
};

fn seats() -> [(&'static str, Seat); 3] {
    let notified = Seat { notified: true, ..Seat::default() };
    [("has not arrived", Seat::default()), ("has arrived", ARRIVED), ("has yet to wait", notified)]
}

// clause: ptx.cluster-arrive, ptx.cluster-wait, ptx.cluster-wait-after-arrive, ptx.cluster-once
// clause: ptx.cluster-exited, ptx.cluster-relaxed, ptx.cluster-memory
#[test]
fn every_state_by_every_event() {
    let mut table = String::new();
    let events = [
        ("arrive", What::Arrive { how: Arrival::Publishing }),
        ("arrive relaxed", What::Arrive { how: Arrival::AfterFence(Reach::Cta) }),
        ("wait", What::Wait),
    ];
    for (arrived, exited) in [(0, 0), (1, 0), (3, 0), (2, 1), (0, 3)] {
        for (who, seat) in seats() {
            let mut outcomes = ByOutcome::default();
            for (event, what) in events {
                let action = Action { barrier: BarrierId(16), what };
                let name = |barrier: &Barrier| format!("{} arrived", barrier.arrived);
                let outcome = match action.apply(&Barrier { arrived }, seat, 0, &Four { exited }) {
                    Err(refusal) => refusal_name(refusal),
                    Ok(Applied::Arrives(effect, how)) => {
                        format!("arrives ({how:?}): {}", effect_name(Ok::<_, Rule>(effect), name))
                    }
                    Ok(Applied::Waits(effect, _)) => effect_name(Ok::<_, Rule>(effect), name),
                    Ok(other) => panic!("{event}: {other:?}"),
                };
                outcomes.add(event, outcome);
            }
            table += &outcomes.under(&format!("{arrived} arrived, {exited} exited, the warp {who}"));
        }
    }
    insta::assert_snapshot!(table);
}

// clause: ptx.cluster-exited
#[test]
fn an_exit_completes_what_all_others_have_arrived_for() {
    let completed = |arrived, exited| {
        let barrier = Barrier { arrived };
        barrier.completed_by_exit(BarrierId(16), &Four { exited }).map(|(after, _)| after.arrived)
    };
    assert_eq!([completed(3, 1), completed(2, 1), completed(0, 4)], [Some(0), None, None]);
}

// clause: ptx.cluster-wait
#[test]
fn a_completion_lets_go_who_waits_and_tells_the_others() {
    let waiting = Seat { waiting: true, ..ARRIVED };
    assert_eq!(Target::Ptx.complete(waiting), Ok(Seat::default()));
    let notified = Seat { notified: true, ..Seat::default() };
    assert_eq!(Target::Ptx.complete(ARRIVED), Ok(notified));
    let action = Action { barrier: BarrierId(16), what: What::Wait };
    let waits = |seat| match action.apply(&Barrier { arrived: 1 }, seat, 0, &Four { exited: 0 }) {
        Ok(Applied::Waits(effect, _)) => effect.progress,
        other => panic!("{other:?}"),
    };
    assert_eq!([waits(notified), waits(ARRIVED)], [Progress::Pass, Progress::Block]);
}

/// Three CTAs of two warps, each with five objects and three locations, one of which is of all.
fn cluster() -> Program {
    let array = |name: &str, space, first, length| Array {
        name: name.to_owned(),
        space,
        first: LocationId(first),
        length,
    };
    let objects = |name: &str, first, length| Objects {
        name: name.to_owned(),
        first,
        length,
        count: None,
        lives: None,
    };
    Program {
        target: Target::Ptx,
        threads: 48,
        ctas: 3,
        registers: 0,
        repeats_count: false,
        subgroup_size: 1,
        arrays: vec![array("buf", Space::Shared, 0, Some(2)), array("flag", Space::Global, 2, None)],
        objects: vec![objects("full", 0, Some(4)), objects("done", 4, None)],
        roles: Vec::new(),
        agents: vec![barcheck_model::program::RoleId(0); 6],
        sequences: Vec::new(),
    }
}

// clause: ptx.cta-scope, barcheck.cluster-equal
#[test]
fn every_cta_has_barriers_objects_and_memory_of_its_own() {
    let program = cluster();
    let mut numbers = Vec::new();
    for cta in 0..3 {
        for id in 0..16 {
            let barrier = program.named_barrier(cta, id);
            assert_eq!(program.home(barrier), Some(Home { cta, barrier: BarrierId(id) }));
            numbers.push(barrier);
        }
        for number in 0..5 {
            let barrier = mbarrier::id(program.object_in(cta, number));
            assert_eq!(program.home(barrier), Some(Home { cta, barrier: mbarrier::id(number) }));
            numbers.push(barrier);
        }
    }
    assert_eq!(program.home(program.cluster_barrier()), None);
    numbers.push(program.cluster_barrier());
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), 3 * (16 + 5) + 1);
    let named =
        |cta, array, element| program.location_name(program.location_in(cta, ArrayId(array), element));
    assert_eq!([named(0, 0, 1), named(2, 0, 0)], ["buf[1] of cta 0", "buf[0] of cta 2"]);
    assert_eq!([named(0, 1, 0), named(2, 1, 0)], ["flag", "flag"]);
    assert_eq!(program.locations(), 9);
    let who = [AgentId(0), AgentId(5)];
    assert_eq!(who.map(|agent| program.agent_name(agent)), ["cta 0 warp 0", "cta 2 warp 1"]);
    assert_eq!(who.map(|agent| program.lanes(agent)), [32, 16]);
    assert!(program.shares(AgentId(3), program.named_barrier(1, 0)));
    assert!(!program.shares(AgentId(3), program.named_barrier(2, 0)));
    assert!(program.shares(AgentId(3), program.cluster_barrier()));
}

// clause: ptx.cta-scope
#[test]
fn without_objects_the_barriers_of_the_ctas_follow_one_another() {
    let program = Program { objects: Vec::new(), ..cluster() };
    for cta in 0..3 {
        for id in [0, 15] {
            let barrier = program.named_barrier(cta, id);
            assert_eq!(barrier, BarrierId(cta * 16 + id));
            assert_eq!(program.home(barrier), Some(Home { cta, barrier: BarrierId(id) }));
        }
    }
    assert_eq!((program.cluster_barrier(), program.home(BarrierId(48))), (BarrierId(48), None));
}

// clause: ptx.registers-file, ptx.cta-scope
#[test]
fn every_cta_has_a_pool_of_registers_and_no_number_is_of_two_barriers() {
    let program = Program { registers: 64, ..cluster() };
    let pools = [0, 1, 2].map(|cta| program.register_pool(cta));
    let first = program.cluster_barrier().0 + 1;
    assert_eq!(pools, [first, first + 1, first + 2].map(BarrierId));
    assert_eq!(program.barrier_numbers(), first + 3);
    for (cta, pool) in (0..).zip(pools) {
        assert_eq!(program.home(pool), Some(Home { cta, barrier: pools[0] }));
        assert!(program.is_pool(pool) && !cluster().is_pool(pool), "without registers there is none");
        let sharing: Vec<_> = (0..6).filter(|agent| program.shares(AgentId(*agent), pool)).collect();
        assert_eq!(sharing, [2 * cta, 2 * cta + 1]);
    }
    assert!(!program.is_pool(program.cluster_barrier()) && !program.is_pool(BarrierId(0)));
    // Fifteen objects leave one number out before the barriers of the second CTA.
    assert_eq!(program.home(BarrierId(31)), None);
}

#[test]
fn a_cta_by_itself_is_not_named_and_has_every_barrier() {
    let program = Program { ctas: 1, threads: 96, ..cluster() };
    assert_eq!([0, 5].map(|agent| program.agent_name(AgentId(agent))), ["warp 0", "warp 5"]);
    let location = |array, element| program.location_in(0, ArrayId(array), element);
    let named = [location(0, 1), location(1, 0)].map(|at| program.location_name(at));
    assert_eq!(named, ["buf[1]", "flag"]);
    for barrier in [program.named_barrier(0, 3), mbarrier::id(4), program.cluster_barrier()] {
        assert_eq!(program.home(barrier), Some(Home { cta: 0, barrier }));
        assert!(program.shares(AgentId(5), barrier));
    }
    assert_eq!((program.objects_per_cta(), program.objects_in_all(), program.locations()), (5, 5, 3));
    let empty = Program { arrays: Vec::new(), objects: Vec::new(), ..program };
    assert_eq!((empty.objects_per_cta(), empty.locations()), (0, 0));
    assert_eq!(empty.cluster_barrier(), BarrierId(16));
}

#[test]
fn objects_are_called_as_the_protocol_names_them() {
    let program = cluster();
    let alone = Program { ctas: 1, agents: program.agents[..2].to_vec(), ..program.clone() };
    let name = |program: &Program, cta, number| {
        mbarrier::object_name(program, mbarrier::id(program.object_in(cta, number)))
    };
    let some = |name: &str| Some(name.to_owned());
    assert_eq!([name(&alone, 0, 0), name(&alone, 0, 3)], [some("full[0]"), some("full[3]")]);
    assert_eq!(name(&alone, 0, 4), some("done"));
    assert_eq!(
        [name(&program, 0, 4), name(&program, 2, 1)],
        [some("done of cta 0"), some("full[1] of cta 2")]
    );
    // A second array counts from its own first one.
    let mut two = alone.clone();
    two.objects = vec![two.objects[1].clone(), two.objects[0].clone()];
    (two.objects[0].first, two.objects[1].first) = (0, 1);
    assert_eq!([name(&two, 0, 0), name(&two, 0, 2)], [some("done"), some("full[1]")]);
    // No other barrier is an object.
    let others = [alone.named_barrier(0, 15), mbarrier::id(5), alone.cluster_barrier()];
    assert_eq!(others.map(|barrier| mbarrier::object_name(&alone, barrier)), [None, None, None]);
    let others = [program.named_barrier(1, 0), program.cluster_barrier()];
    assert_eq!(others.map(|barrier| mbarrier::object_name(&program, barrier)), [None, None]);
}
