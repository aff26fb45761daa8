//! Copies by `cp.async`: when they write, and who learns of it.

use crate::common::*;
use barcheck_model::program::Target::Ptx;
use barcheck_model::program::*;
use std::fmt::Write as _;

fn fill(array: u32) -> S {
    S::Op(Op::Proxy(ProxyOp::Begin(Transfer::Fill, ArrayId(array), None)))
}

fn commit() -> S {
    S::Op(Op::Proxy(ProxyOp::Commit(Transfer::Fill)))
}

fn wait(newest: Option<u32>) -> S {
    S::Op(Op::Proxy(ProxyOp::Wait(Transfer::Fill, newest)))
}

/// Of copies out of memory.
fn store(array: u32) -> S {
    S::Op(Op::Proxy(ProxyOp::Begin(Transfer::Store, ArrayId(array), None)))
}

fn fence() -> S {
    S::Op(Op::Proxy(ProxyOp::Fence(Window::All)))
}

fn run_of(bodies: &[Vec<S>]) -> Run {
    let agents = u32::try_from(bodies.len()).expect("few");
    let mut group = Group::new(Ptx, agents * 32).scalar(Space::Shared).scalar(Space::Shared);
    for body in bodies {
        group = group.one(body.clone());
    }
    Run::new(group.build())
}

/// The rules found along some steps.
fn found(bodies: &[Vec<S>], steps: &str) -> Vec<String> {
    let log = run_of(bodies).log(steps);
    assert!(log.iter().all(|step| !step.starts_with("END")), "{log:?}");
    log.iter().filter_map(|step| Some(step.split_once("! ")?.1.to_owned())).collect()
}

const NOTHING: &[String] = &[];

/// What one warp does, step by step.
fn alone(body: Vec<S>) -> Vec<String> {
    let steps = "0 ".repeat(body.len());
    found(&[body], &steps)
}

// clause: ptx.cp-async, ptx.cp-async-groups, ptx.cp-async-wait-group
#[test]
fn a_copy_may_land_at_any_time_before_its_own_lanes_have_waited_for_it() {
    let race = ["data-race 0,0".to_owned()];
    let read_after = |mut body: Vec<S>| {
        body.push(read(0));
        alone(body)
    };
    assert_eq!(read_after(vec![fill(0)]), race);
    assert_eq!(read_after(vec![fill(0), commit()]), race);
    assert_eq!(read_after(vec![fill(0), wait(Some(0))]), race);
    assert_eq!(read_after(vec![fill(0), commit(), wait(Some(1))]), race);
    assert_eq!(read_after(vec![fill(0), commit(), wait(Some(0))]), NOTHING);
    // An empty group counts, and none is needed.
    assert_eq!(read_after(vec![fill(0), commit(), commit(), wait(Some(1))]), NOTHING);
    assert_eq!(read_after(vec![fill(0), wait(None)]), NOTHING);
    assert_eq!(read_after(vec![fill(0), commit(), wait(None)]), NOTHING);
    // Its groups are not those of copies out of memory.
    let out = |op| S::Op(Op::Proxy(op));
    let of_others = vec![fill(0), out(ProxyOp::Commit(Transfer::Store)), wait(Some(0))];
    assert_eq!(read_after(of_others), race);
    let by_others = vec![fill(0), commit(), out(ProxyOp::Wait(Transfer::Store, Some(0)))];
    assert_eq!(read_after(by_others), race);
}

// clause: ptx.cp-async
#[test]
fn a_copy_conflicts_with_every_access_but_the_copies_of_its_own_warp() {
    let race = ["data-race 0,0".to_owned()];
    assert_eq!(alone(vec![fill(0), write(0)]), race);
    assert_eq!(alone(vec![fill(0), store(0)]), race);
    assert_eq!(alone(vec![fill(0), fill(0)]), NOTHING);
    assert_eq!(alone(vec![fill(0), fill(0), commit(), wait(Some(0)), read(0)]), NOTHING);
    assert_eq!(alone(vec![fill(0), commit(), fill(0), wait(Some(0)), read(0)]), race);
    // What comes before is in order.
    assert_eq!(alone(vec![read(0), write(0), fill(0)]), NOTHING);
    let pair = |a: Vec<S>, b: Vec<S>| found(&[a, b], "0 1");
    let race = ["data-race 0,1".to_owned()];
    assert_eq!(pair(vec![fill(0)], vec![fill(0)]), race);
    assert_eq!(pair(vec![read(0)], vec![fill(0)]), race);
    assert_eq!(pair(vec![fill(0)], vec![fill(1)]), NOTHING);
}

// clause: ptx.cp-async-wait-group
#[test]
fn others_learn_of_a_copy_by_a_barrier_behind_the_wait() {
    let pair = |a: Vec<S>, steps: &str| found(&[a, vec![sync(1, 64), read(0)]], steps);
    assert_eq!(pair(vec![fill(0), wait(None), sync(1, 64)], "0 0 0 1 1"), NOTHING);
    let late = vec![fill(0), sync(1, 64), wait(None)];
    assert_eq!(pair(late.clone(), "0 0 1 1"), ["data-race 0,1"]);
    assert_eq!(pair(late, "0 0 1 0 1"), ["data-race 0,1"]);
}

// clause: ptx.proxies
#[test]
fn a_copy_out_of_what_a_copy_has_filled_needs_a_fence_behind_the_wait() {
    assert_eq!(alone(vec![fill(0), wait(None), store(0)]), ["missing-fence 0,0"]);
    assert_eq!(alone(vec![fill(0), wait(None), fence(), store(0)]), NOTHING);
    assert_eq!(alone(vec![fill(0), fence(), wait(None), store(0)]), ["missing-fence 0,0"]);
}

/// Nothing is lost with the group: what was to be copied is not looked at any more.
// clause: ptx.cp-async
#[test]
fn a_copy_that_nobody_waits_for_may_be_under_way_at_the_end() {
    assert_eq!(alone(vec![fill(0), commit(), exit()]), NOTHING);
}

/// The ages of groups, for waits that leave out up to two of them.
// clause: ptx.cp-async-groups, ptx.cp-async-wait-group
#[test]
fn every_age_of_a_copy_by_every_instruction() {
    let mut table = String::new();
    for commits in 0..4_usize {
        let before = [vec![fill(0)], vec![commit(); commits]].concat();
        for (name, does) in [
            ("fill", fill(1)),
            ("commit", commit()),
            ("wait 0", wait(Some(0))),
            ("wait 1", wait(Some(1))),
            ("wait 2", wait(Some(2))),
            ("wait for all", wait(None)),
        ] {
            let body = [before.clone(), vec![does, wait(Some(2))]].concat();
            let mut run = run_of(&[body]);
            run.play(&"0 ".repeat(commits + 2));
            let left = run.config(0).stores.iter();
            let left: Vec<_> =
                left.map(|store| format!("{} of age {}", store.location.0, store.age)).collect();
            let _ = writeln!(table, "{commits} commits, {name}: {}", left.join(", "));
        }
    }
    insta::assert_snapshot!(table);
}
