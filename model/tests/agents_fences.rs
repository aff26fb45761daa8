//! What fences release, and the relaxed arrivals with which it goes.

use crate::common::*;
use barcheck_model::program::Target::Ptx;
use barcheck_model::program::*;

/// Two CTAs of two warps: the first warp writes, with a fence before or behind that, and arrives; one of
/// either CTA reads once it has waited. No fence makes up for the scope of the arrival.
// clause: ptx.fence-release, ptx.mbarrier-scope
#[test]
fn what_a_fence_has_released_goes_with_later_relaxed_arrivals_within_its_reach() {
    let [near, far] = [Reach::Cta, Reach::Cluster]
        .map(|reach| S::Op(Op::Fence(Fence::Orders { reach, acquires: true, releases: true })));
    for (fence, behind, (relaxed, within_cta), cta, found) in [
        (&near, true, (true, false), 0, ""),
        (&far, true, (true, false), 0, ""),
        (&far, true, (true, true), 0, ""),
        (&near, false, (true, false), 0, " ! missing-fence 0,1"),
        (&near, true, (true, false), 1, " ! missing-fence 0,2"),
        (&far, true, (true, false), 1, ""),
        (&far, false, (true, false), 1, " ! missing-fence 0,2"),
        (&far, true, (true, true), 1, " ! missing-fence 0,2"),
        (&far, true, (false, true), 1, " ! missing-fence 0,2"),
    ] {
        let (count, bytes, token) = (None, None, None);
        let kind = MbarrierKind::Arrive {
            count,
            bytes,
            drops: false,
            no_complete: false,
            relaxed,
            within_cta,
            token,
        };
        let mut writes = vec![write(0), fence.clone(), on_one(0, None, Some(n(cta)), kind)];
        if !behind {
            writes.swap(0, 1);
        }
        let reads = vec![on(0, MbarrierKind::Wait { phase: parity(0), relaxed: false }), read(0)];
        let group = Group::new(Ptx, 64).scalar(Space::Global).one(writes).many(3, reads);
        let mut run = Run::new(Program { ctas: 2, ..with_objects(group.build(), &[(None, Some(32))]) });
        let reader = cta + 1;
        let log = run.log(&format!("0 0 0 {reader} {reader}"));
        assert_eq!(log[3..], [format!("pass b{}", 16 + cta), format!("access 0{found}")], "{cta} {behind}");
    }
}

/// Another agent's writes that a fence knows of are released with the agent's own.
// clause: ptx.fence-release, barcheck.transitive-order
#[test]
fn a_fence_releases_what_its_agent_has_learnt() {
    let fence = S::Op(Op::Fence(Fence::Orders { reach: Reach::Cta, acquires: true, releases: true }));
    let relaxed = MbarrierKind::Arrive {
        count: None,
        bytes: None,
        drops: false,
        no_complete: false,
        relaxed: true,
        within_cta: false,
        token: None,
    };
    for (fenced, found) in [(vec![fence], "access 0"), (vec![], "access 0 ! missing-fence 0,2")] {
        let waits = |object| on(object, MbarrierKind::Wait { phase: parity(0), relaxed: false });
        let passes = [vec![waits(0)], fenced, vec![on_one(1, None, None, relaxed.clone())]].concat();
        let group = Group::new(Ptx, 96)
            .scalar(Space::Shared)
            .one(vec![write(0), on_one(0, None, None, ARRIVE)])
            .one(passes.clone())
            .one(vec![waits(1), read(0)]);
        let objects = [(None, Some(32)), (None, Some(32))];
        let mut run = Run::new(with_objects(group.build(), &objects));
        let middle = "1 ".repeat(passes.len());
        assert_eq!(run.play(&format!("0 0 {middle}2 2")), found);
    }
}

/// Without any fence a relaxed arrival carries nothing in memory, whatever other barriers gather meanwhile.
// clause: ptx.mbarrier-relaxed
#[test]
fn a_relaxed_arrival_without_fences_carries_nothing_that_is_under_way_elsewhere() {
    let relaxed = |object| {
        let kind = MbarrierKind::Arrive {
            count: None,
            bytes: None,
            drops: false,
            no_complete: false,
            relaxed: true,
            within_cta: false,
            token: None,
        };
        on_one(object, None, None, kind)
    };
    let waits = |object| on(object, MbarrierKind::Wait { phase: parity(0), relaxed: false });
    let group = Group::new(Ptx, 96)
        .scalar(Space::Shared)
        .one(vec![waits(0), relaxed(1), sync(0, 64)])
        .one(vec![write(0), arrive(0, 64), relaxed(0)])
        .one(vec![waits(1), read(0)]);
    let mut run = Run::new(with_objects(group.build(), &[(None, Some(32)), (None, Some(32))]));
    assert_eq!(run.play("1 1 1 0 0 2 2"), "access 0 ! missing-fence 1,2");
}
