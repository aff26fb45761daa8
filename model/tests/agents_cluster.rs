//! The barrier of the cluster, and what lanes of a warp do together, executed by warps.

use crate::common::*;
use barcheck_model::program::Target::Ptx;
use barcheck_model::program::*;

fn cluster(kind: ClusterKind, aligned: bool) -> S {
    S::Op(Op::from(ClusterOp { kind, aligned }))
}

fn arrives() -> S {
    cluster(ClusterKind::Arrive { relaxed: false }, false)
}

fn waits() -> S {
    cluster(ClusterKind::Wait, false)
}

/// Two CTAs, each with a warp for each body.
fn two_ctas(bodies: &[Vec<S>]) -> Run {
    let agents = u32::try_from(bodies.len()).expect("few");
    let mut group = Group::new(Ptx, agents * 32).scalar(Space::Global);
    for body in bodies.iter().chain(bodies) {
        group = group.one(body.clone());
    }
    Run::new(Program { ctas: 2, ..group.build() })
}

fn warp(body: Vec<S>) -> Run {
    Run::new(Group::new(Ptx, 32).one(body).build())
}

fn nop() -> S {
    fence(NEITHER)
}

// clause: ptx.cluster-arrive, ptx.cluster-wait
#[test]
fn the_warps_of_all_ctas_meet_and_meet_again() {
    let both = [arrives(), waits()];
    let mut run = two_ctas(&[[both.clone(), both].concat()]);
    assert_eq!(run.log("0 0"), ["arrive b32", "block"], "after the arrival the warp goes on, and waits");
    assert_eq!(run.log("1 1"), ["arrive b32, complete b32, free 0, notify 1", "pass b32"]);
    assert_eq!(
        run.log("1 0 0 1"),
        ["arrive b32", "arrive b32, complete b32, notify 0, notify 1", "pass b32", "pass b32"]
    );
    assert_eq!(run.judgement(), "");
}

// clause: ptx.cluster-once, ptx.cluster-wait-after-arrive
#[test]
fn a_warp_arrives_once_and_waits_after_it() {
    for (body, steps, ends) in [
        (vec![waits()], "0", "END wait-without-arrive"),
        (vec![arrives(), arrives()], "0 0", "END repeated-arrival"),
        // The others have arrived in the meantime: it has yet to wait.
        (vec![arrives(), arrives()], "0 1 0", "END repeated-arrival"),
        (vec![arrives(), waits(), waits()], "0 1 0 0", "END wait-without-arrive"),
    ] {
        assert_eq!(two_ctas(&[body]).play(steps), ends);
    }
}

// clause: ptx.cluster-exited
#[test]
fn who_has_exited_is_not_waited_for() {
    let leaves = |cta| iff(eq(Expr::Cta, n(cta)), vec![exit()]);
    let mut run = two_ctas(&[vec![leaves(1), arrives(), waits()], vec![arrives(), waits()]]);
    assert_eq!(run.log("0 1 3")[2], "arrive b32");
    assert_eq!(run.log("0"), ["block"]);
    assert_eq!(run.play("2"), "exit, complete b32, free 0, notify 1, notify 3");
}

// clause: ptx.cluster-aligned, barcheck.not-modelled
#[test]
fn all_lanes_of_a_warp_come_to_the_barrier_of_the_cluster_together() {
    for kind in [ClusterKind::Arrive { relaxed: false }, ClusterKind::Wait] {
        for (aligned, ends) in [(true, "END partial-warp"), (false, "CUT DivergentCluster")] {
            let part = iff(lanes_below(8), vec![cluster(kind, aligned)]);
            assert_eq!(warp(vec![part]).play("0"), ends);
            let arms = vec![if_else(lanes_below(8), vec![cluster(kind, aligned)], vec![nop()])];
            assert_eq!(warp(arms).play("0.0"), ends);
        }
    }
    // All lanes that have not exited.
    for aligned in [true, false] {
        let rest = vec![
            iff(lanes_below(8), vec![exit()]),
            cluster(ClusterKind::Arrive { relaxed: false }, aligned),
            cluster(ClusterKind::Wait, aligned),
        ];
        let log = warp(rest).log("0.0 0 0");
        assert_eq!(log[1..], ["arrive b16, complete b16, notify 0", "pass b16"], "{aligned}");
    }
}

// clause: ptx.cluster-memory, ptx.cluster-relaxed
#[test]
fn an_arrival_publishes_to_the_cluster_unless_it_is_relaxed() {
    for (relaxed, found) in [(false, "access 0"), (true, "access 0 ! missing-fence 0,1")] {
        let arrive = || cluster(ClusterKind::Arrive { relaxed }, false);
        let by_cta = |cta, then: S| iff(eq(Expr::Cta, n(cta)), vec![then]);
        let body = vec![by_cta(0, write(0)), arrive(), waits(), by_cta(1, read(0)), nop()];
        let mut run = two_ctas(&[body]);
        assert_eq!(run.play("0 0 1 1 1"), found);
    }
}

/// The first of two CTAs writes and the second reads; what stands before and behind the write is a fence.
// clause: ptx.fence-release, ptx.cluster-relaxed
#[test]
fn a_fence_before_a_relaxed_arrival_publishes_as_far_as_it_reaches() {
    let [near, far] = [Reach::Cta, Reach::Cluster]
        .map(|reach| S::Op(Op::Fence(Fence::Orders { reach, acquires: true, releases: true })));
    for (before, behind, found) in [
        (nop(), far.clone(), "access 0"),
        (nop(), near, "access 0 ! missing-fence 0,1"),
        (far, nop(), "access 0 ! missing-fence 0,1"),
    ] {
        let relaxed = || cluster(ClusterKind::Arrive { relaxed: true }, false);
        let writes = iff(eq(Expr::Cta, n(0)), vec![before, write(0), behind]);
        let reads = iff(eq(Expr::Cta, n(1)), vec![read(0)]);
        let mut run = two_ctas(&[vec![writes, relaxed(), waits(), reads, nop()]]);
        assert_eq!(run.play("0 0 0 0 1 1 1"), found);
    }
}

// clause: ptx.warp-sync, barcheck.not-modelled
#[test]
fn lanes_of_a_mask_meet_if_they_are_together_and_belong_to_it() {
    let meet = |mask: i64| S::Op(Op::from(WarpOp::Sync(n(mask))));
    let all = i64::from(u32::MAX);
    for (lanes, mask, outcome) in [
        (32, all, "fence"),
        (8, 0xff, "fence"),
        (8, 0x7f, "END partial-warp"),
        (32, 0xff, "END partial-warp"),
        (8, 0, "END partial-warp"),
        (32, -1, "END partial-warp"),
        (32, all + 1, "END partial-warp"),
        (8, 0x1ff, "CUT DivergentWarp"),
        (8, all, "CUT DivergentWarp"),
    ] {
        let mut run = warp(vec![iff(lanes_below(lanes), vec![meet(mask)]), nop()]);
        assert_eq!(run.play("0"), outcome, "{lanes} {mask:#x}");
    }
    let held = vec![set(0, n(all)), S::Op(Op::from(WarpOp::Sync(v(0)))), nop()];
    assert_eq!(warp(held).play("0"), "fence", "a local holds the mask");
    // Lanes that have exited are not waited for.
    let rest = |mask| vec![iff(lanes_below(8), vec![exit()]), meet(mask), nop()];
    assert_eq!(warp(rest(all)).play("0.0 0"), "fence");
    assert_eq!(warp(rest(i64::from(!0xff_u32))).play("0.0 0"), "fence");
}

/// As tiles of a warp do.
// clause: ptx.warp-sync
#[test]
fn lanes_that_name_masks_of_their_own_meet_apart() {
    let meet = |low: i64, step: i64| S::Op(Op::from(WarpOp::Sync(by_lane(8, low, step))));
    let rest = i64::from(!0xff_u32);
    let mut run = warp(vec![meet(0xff, rest - 0xff), nop()]);
    assert_eq!(run.log("0.0 0.0 0"), ["fence"; 3]);
    // Those that wait for the others are not waited for.
    let mut run = warp(vec![meet(i64::from(u32::MAX), -0xff), nop()]);
    assert_eq!(run.play("0.0"), "CUT DivergentWarp");
}

/// Registers of each lane, and warps for a CTA of so many.
fn registers(has: u32, bodies: &[Vec<S>]) -> Run {
    let agents = u32::try_from(bodies.len()).expect("few");
    let mut group = Group::new(Ptx, agents * 32);
    for body in bodies {
        group = group.one(body.clone());
    }
    Run::new(Program { registers: has, ..group.build() })
}

fn changes(takes: bool, count: i64) -> S {
    S::Op(Op::from(WarpOp::Registers { takes, count: n(count) }))
}

// clause: ptx.registers-dec, ptx.registers-inc, ptx.registers-file
#[test]
fn a_warp_takes_what_others_have_given_and_waits_until_it_is_enough() {
    let gives = |to| vec![changes(false, to), nop()];
    let takes = |to| vec![changes(true, to), nop()];
    let mut run = registers(64, &[takes(104), gives(40), gives(40)]);
    assert_eq!(run.config(0).registers, None);
    assert_eq!(run.play("0"), "block");
    assert_eq!(run.log("1 0"), ["count b17", "disabled"], "24 of 40 are there");
    assert_eq!(run.config(1).registers, Some(40));
    assert_eq!(run.play("2"), "count b17, complete b17, free 0");
    assert_eq!(run.config(0).registers, None, "it tries again");
    assert_eq!(run.log("0 0"), ["pass b17", "fence"]);
    assert_eq!(run.config(0).registers, Some(104));
    let held = S::Op(Op::from(WarpOp::Registers { takes: false, count: v(0) }));
    assert_eq!(registers(64, &[vec![set(0, n(40)), held]]).play("0"), "count b17");
    // What a warp has changed counts for what it asks next.
    let mut run = registers(64, &[vec![changes(false, 40), changes(true, 64), changes(true, 64), nop()]]);
    assert_eq!(run.log("0 0 0"), ["count b17", "pass b17", "count b17"]);
}

// clause: ptx.registers-inc
#[test]
fn a_warp_for_which_it_is_not_enough_is_not_woken_with_the_others() {
    let takes = |to| vec![changes(true, to), nop()];
    let mut run =
        registers(64, &[takes(128), takes(72), vec![changes(false, 56), changes(false, 24), nop()]]);
    assert_eq!(run.log("0 1"), ["block", "block"]);
    assert_eq!(run.play("2"), "count b17, complete b17, free 1");
    assert_eq!(run.log("0 1 0"), ["disabled", "pass b17", "disabled"]);
    assert_eq!(run.play("2"), "count b17", "32 of 64 are there");
}

// clause: ptx.registers-aligned, ptx.registers-range
#[test]
fn all_lanes_of_a_warp_change_their_registers_together() {
    for takes in [false, true] {
        let body = vec![iff(lanes_below(8), vec![changes(takes, 64)]), nop()];
        assert_eq!(registers(64, &[body]).play("0"), "END partial-warp");
        // A number that no warp can ask for is the graver mistake.
        let both = vec![iff(lanes_below(8), vec![changes(takes, 60)]), nop()];
        assert_eq!(registers(64, &[both]).play("0"), "END count-range");
        let rest = vec![iff(lanes_below(8), vec![exit()]), changes(takes, 64), nop()];
        assert_eq!(registers(64, &[rest]).play("0.0 0"), "count b17");
    }
    for (takes, to) in [(false, 72), (true, 56), (false, 16), (false, 60), (true, 264)] {
        assert_eq!(registers(64, &[vec![changes(takes, to)]]).play("0"), "END count-range", "{to}");
    }
}
