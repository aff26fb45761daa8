//! Order in time and in memory.

use crate::shows;
use barcheck_naive::build::*;
use barcheck_naive::protocol::*;

fn two(target: Target, first: Vec<Stmt>, second: Vec<Stmt>) -> Protocol {
    let size = if target.has_lanes() { 64 } else { 2 };
    protocol(target, size, vec![(0..1, first), (1..2, second)]).with_shared()
}

const RACE: &[&str] = &["data-race"];
const FENCE: &[&str] = &["missing-fence"];

#[test]
fn accesses_that_no_barrier_orders_race() {
    for target in Target::ALL {
        shows(&two(target, vec![write(0)], vec![read(0)]), RACE);
        shows(&two(target, vec![write(0)], vec![write(0)]), RACE);
        shows(&two(target, vec![atomic(0)], vec![read(0)]), RACE);
        shows(&two(target, vec![atomic(0)], vec![write(0)]), RACE);
        shows(&two(target, vec![atomic(0)], vec![atomic(0)]), &[]);
        shows(&two(target, vec![read(0)], vec![read(0)]), &[]);
    }
}

#[test]
fn ptx_arrivals_and_waits_order_memory() {
    let p = |first, second| two(Target::Ptx, first, second);
    shows(&p(vec![write(0), arrive(1, 64)], vec![sync(1, 64), read(0)]), &[]);
    shows(&p(vec![arrive(1, 64), write(0)], vec![sync(1, 64), read(0)]), RACE);
    // The one who only arrives learns nothing.
    shows(&p(vec![arrive(1, 64), read(0)], vec![write(0), sync(1, 64)]), RACE);
}

#[test]
fn ptx_order_is_transitive() {
    let p = protocol(
        Target::Ptx,
        96,
        vec![
            (0..1, vec![write(0), arrive(1, 64)]),
            (1..2, vec![sync(1, 64), arrive(2, 64)]),
            (2..3, vec![sync(2, 64), read(0)]),
        ],
    );
    shows(&p.with_shared(), &[]);
}

#[test]
fn a_warp_that_has_left_is_ordered_in_time_alone() {
    shows(&two(Target::Ptx, vec![write(0)], vec![sync_all(1), read(0)]), FENCE);
    shows(&two(Target::Bcu, vec![write(0)], vec![bar_sync(1, 0), read(0)]), FENCE);
    shows(&two(Target::Ptx, vec![write(0)], vec![sync(1, 32), read(0)]), RACE);
}

#[test]
fn bcu_arv_publishes_nothing_of_its_own() {
    let p = |first, second| two(Target::Bcu, first, second);
    shows(&p(vec![write(0), bar_arv(1, 64)], vec![bar_sync(1, 64), read(0)]), FENCE);
    shows(&p(vec![read(0), bar_arv(1, 64)], vec![bar_sync(1, 64), write(0)]), FENCE);
    shows(&p(vec![write(0), bar_sync(1, 64)], vec![bar_sync(1, 64), read(0)]), &[]);
    // A SYNC in between has published.
    let first = vec![write(0), bar_sync(2, 32), bar_arv(1, 64)];
    shows(&p(first, vec![bar_sync(1, 64), read(0)]), &[]);
}

#[test]
fn bcu_red_is_a_memory_barrier() {
    let red = || bar_red(RedOp::Or, 1, 64, pred(1));
    shows(&two(Target::Bcu, vec![write(0), red()], vec![red(), read(0)]), &[]);
}

#[test]
fn nbarrier_needs_the_writers_fence() {
    let meet = |mut before: Vec<Stmt>, after: Vec<Stmt>| {
        before.extend([signal_all(1, 2), wait(1)]);
        before.extend(after);
        before
    };
    let p = |before, after| two(Target::Nbarrier, meet(before, vec![]), meet(vec![], after));
    shows(&p(vec![write(0)], vec![read(0)]), FENCE);
    shows(&p(vec![write(0)], vec![fence(), read(0)]), FENCE);
    shows(&p(vec![write(0), fence()], vec![read(0)]), &[]);
    shows(&p(vec![fence(), write(0)], vec![read(0)]), FENCE);
    let global = instr(Instr::Fence(Some(Space::Global)));
    shows(&p(vec![write(0), global], vec![read(0)]), FENCE);
    shows(&p(vec![atomic(0)], vec![read(0)]), FENCE);
    // An earlier read needs none.
    shows(&p(vec![read(0)], vec![write(0)]), &[]);
}

#[test]
fn nbarrier_orders_what_was_signalled_and_not_more() {
    let first = vec![signal_all(1, 2), write(0), fence(), wait(1)];
    let second = vec![signal_all(1, 2), wait(1), read(0)];
    shows(&two(Target::Nbarrier, first, second), RACE);
}

#[test]
fn xegpu_needs_the_writers_fence() {
    let p = |fences: Vec<Stmt>| {
        let mut first = vec![alloc(1), init("h", 0, 2), write(0)];
        first.extend(fences);
        first.extend([handle_arrive("h"), handle_wait("h")]);
        let second = vec![alloc(1), init("h", 0, 2), handle_arrive("h"), handle_wait("h"), read(0)];
        two(Target::Xegpu, first, second)
    };
    shows(&p(vec![]), FENCE);
    shows(&p(vec![mfence()]), &[]);
    shows(&p(vec![instr(Instr::Mfence(Some(Space::Global)))]), FENCE);
}

/// Invocation 0 writes before a barrier, invocation 1 reads after it.
fn handover(before: Vec<Stmt>, arrive: Semantics, wait: Semantics, after: Vec<Stmt>) -> Protocol {
    let mut body = vec![if_(eq(own(), 0), vec![write(0)], vec![])];
    body.extend(before);
    body.push(split_arrive(Scope::Workgroup, arrive));
    body.push(split_wait(Scope::Workgroup, wait));
    body.extend(after);
    body.push(if_(eq(own(), 1), vec![read(0)], vec![]));
    protocol(Target::Split, 2, vec![(0..2, body)]).with_shared()
}

#[test]
fn split_order_needs_both_halves() {
    let none = || order(None);
    let release = || order(Some(Order::Release));
    let acquire = || order(Some(Order::Acquire));
    shows(&handover(vec![], none(), none(), vec![]), FENCE);
    shows(&handover(vec![], release(), none(), vec![]), FENCE);
    shows(&handover(vec![], none(), acquire(), vec![]), FENCE);
    shows(&handover(vec![], release(), acquire(), vec![]), &[]);
    shows(&handover(vec![], acquire(), release(), vec![]), FENCE);
    let both = || order(Some(Order::SequentiallyConsistent));
    shows(&handover(vec![], both(), both(), vec![]), &[]);
}

#[test]
fn split_order_needs_the_storage_class_and_the_scope() {
    let release = || order(Some(Order::Release));
    let acquire = || order(Some(Order::Acquire));
    let mut other_class = release();
    other_class.workgroup_memory = false;
    shows(&handover(vec![], other_class, acquire(), vec![]), FENCE);
    let mut no_order = order(None);
    no_order.workgroup_memory = true;
    shows(&handover(vec![], no_order, acquire(), vec![]), FENCE);
    let mut p = handover(vec![], release(), acquire(), vec![]);
    for stmt in &mut p.blocks[0].body {
        if let Kind::Instr(Instr::SplitWait { memory, .. }) = &mut stmt.kind {
            *memory = Scope::Invocation;
        }
    }
    shows(&p, FENCE);
}

#[test]
fn split_memory_barriers_stand_in_for_either_half() {
    let release = || order(Some(Order::Release));
    let acquire = || order(Some(Order::Acquire));
    let fence = |s| vec![memory_barrier(s)];
    shows(&handover(fence(release()), order(None), acquire(), vec![]), &[]);
    shows(&handover(vec![], release(), order(None), fence(acquire())), &[]);
    shows(&handover(fence(release()), order(None), order(None), fence(acquire())), &[]);
    shows(&handover(fence(release()), order(None), order(None), vec![]), FENCE);
    shows(&handover(vec![], order(None), order(None), fence(acquire())), FENCE);
}

#[test]
fn a_control_barrier_has_both_halves() {
    let body = |s: Semantics| {
        vec![
            if_(eq(own(), 0), vec![write(0)], vec![]),
            control_barrier(Scope::Workgroup, s),
            if_(eq(own(), 1), vec![read(0)], vec![]),
        ]
    };
    let p = |s| protocol(Target::Split, 2, vec![(0..2, body(s))]).with_shared();
    shows(&p(order(Some(Order::AcquireRelease))), &[]);
    shows(&p(order(Some(Order::Release))), FENCE);
}

#[test]
fn lanes_of_one_warp_do_not_race() {
    let body = vec![access(AccessKind::Write, 0, Some(lane() % 2))];
    let p = protocol(Target::Ptx, 32, vec![(0..1, body)]);
    shows(&p.with("buf", Space::Shared, Some(2)), &[]);
}

#[test]
fn places_of_an_array_are_apart() {
    let body = |index: Expr| vec![access(AccessKind::Write, 0, Some(index))];
    let p = |index| {
        let p = protocol(Target::Ptx, 64, vec![(0..2, body(index))]);
        p.with("buf", Space::Shared, Some(2))
    };
    shows(&p(own()), &[]);
    shows(&p(own() / 2), RACE);
}
