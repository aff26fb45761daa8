//! What is in flight to mbarrier objects, step by step.

use crate::common::*;
use barcheck_model::program::Target::Ptx;
use barcheck_model::program::*;

fn commit(object: u32) -> S {
    on(object, MbarrierKind::Commit)
}

fn copy(object: u32, array: u32) -> S {
    on(object, MbarrierKind::Copy { bytes: n(16), to: Some((ArrayId(array), None)), by: Means::Bulk })
}

fn arrive_at(cta: i64) -> S {
    on_one(0, None, Some(n(cta)), ARRIVE)
}

fn inval(object: u32) -> S {
    iff(lanes_below(1), vec![on(object, MbarrierKind::Inval)])
}

/// Objects that expect a warp's arrivals.
fn of_warps(program: Program, number: usize) -> Program {
    with_objects(program, &vec![(None, Some(32)); number])
}

fn alone(body: Vec<S>) -> Run {
    let group = Group::new(Ptx, 32).scalar(Space::Shared).scalar(Space::Shared).one(body);
    Run::new(of_warps(group.build(), 2))
}

// clause: ptx.mbarrier-inval
#[test]
fn an_object_is_invalidated_once_nothing_is_in_flight_to_it() {
    let to_it = || alone(vec![commit(0), inval(0), sync(1, 0)]);
    assert_eq!(to_it().log("0 0").pop().as_deref(), Some("END mbarrier-live"));
    let mut landed = to_it();
    landed.play("0");
    landed.land(0);
    assert!(!landed.play("0").starts_with("END"), "nothing is in flight any more");
    // Near miss: what is in flight goes to another one.
    assert!(!alone(vec![commit(1), inval(0), sync(1, 0)]).play("0 0").starts_with("END"));
    assert!(!alone(vec![inval(0), sync(1, 0)]).play("0").starts_with("END"));
}

#[test]
fn what_is_in_flight_has_a_place_of_its_own() {
    let mut run = alone(vec![copy(0, 0), copy(0, 1), commit(0), sync(1, 0)]);
    assert!(run.log("0 0 0").iter().all(|step| !step.starts_with("END")));
    let mut slots: Vec<_> = run.state.pending.iter().map(|pending| pending.operation.slot()).collect();
    slots.sort_unstable();
    assert_eq!(slots, [Some(0), Some(1), Some(2)]);
}

// clause: ptx.remote-lifetime
#[test]
fn another_cta_is_reached_until_all_its_agents_have_exited() {
    let run = |cta| {
        let group = Group::new(Ptx, 64).one(vec![arrive_at(cta)]).many(3, vec![sync(1, 32)]);
        Run::new(Program { ctas: 2, ..of_warps(group.build(), 1) })
    };
    // The warps of CTA 1 meet nobody, and exit.
    let leave = |run: &mut Run, agents: &[u32]| {
        for agent in agents {
            run.step(*agent);
            run.step(*agent);
        }
    };
    for (left, ends) in [(&[][..], false), (&[2], false), (&[2, 3], true)] {
        let mut remote = run(1);
        leave(&mut remote, left);
        assert_eq!(remote.play("0") == "END remote-after-exit", ends, "{left:?} have left");
        let mut own = run(0);
        leave(&mut own, left);
        assert!(!own.play("0").starts_with("END"), "{left:?} have left");
    }
}

/// That is another rule's.
// clause: ptx.remote-lifetime
#[test]
fn what_a_cta_has_left_to_itself_lands_after_its_exit() {
    let group = Group::new(Ptx, 32).one(vec![commit(0)]).one(vec![sync(1, 0)]);
    let mut run = Run::new(Program { ctas: 2, ..of_warps(group.build(), 1) });
    run.play("0 0");
    assert!(run.config(0).has_exited());
    assert!(!run.land(0).starts_with("END"));
    assert!(run.state.pending.is_empty());
}
