//! Copies out of shared memory: what they see, and for how long they read.

use crate::common::*;
use barcheck_model::program::Target::Ptx;
use barcheck_model::program::*;
use std::fmt::Write as _;

fn store(array: u32) -> S {
    S::Op(Op::Proxy(ProxyOp::Begin(Transfer::Store, ArrayId(array), None)))
}

fn commit() -> S {
    S::Op(Op::Proxy(ProxyOp::Commit(Transfer::Store)))
}

fn wait(newest: u32) -> S {
    S::Op(Op::Proxy(ProxyOp::Wait(Transfer::Store, Some(newest))))
}

fn cross(window: Window) -> S {
    S::Op(Op::Proxy(ProxyOp::Fence(window)))
}

fn bulk(array: u32) -> S {
    let kind = MbarrierKind::Copy { bytes: n(16), to: Some((ArrayId(array), None)), by: Means::Bulk };
    S::Op(Op::from(MbarrierOp { kind, objects: ObjectsId(0), index: None, cta: None }))
}

/// Warps with two locations of shared memory and one of global memory.
fn run_of(bodies: &[Vec<S>]) -> Run {
    let agents = u32::try_from(bodies.len()).expect("few");
    let mut group = Group::new(Ptx, agents * 32);
    for space in [Space::Shared, Space::Shared, Space::Global] {
        group = group.scalar(space);
    }
    for body in bodies {
        group = group.one(body.clone());
    }
    let object = Objects { name: "o".to_owned(), first: 0, length: None, count: Some(32), lives: None };
    Run::new(Program { objects: vec![object], ..group.build() })
}

/// The rules found along some steps.
fn found(bodies: &[Vec<S>], steps: &str) -> Vec<String> {
    let log = run_of(bodies).log(steps);
    assert!(log.iter().all(|step| !step.starts_with("END")), "{log:?}");
    log.iter().filter_map(|step| Some(step.split_once("! ")?.1.to_owned())).collect()
}

const NOTHING: &[String] = &[];

// clause: ptx.proxies
#[test]
fn a_copy_sees_what_was_fenced_after_the_write_by_somebody_who_knew_of_it() {
    // Two writers and whoever copies meet; the steps are those up to the copy.
    let meet = |a: Vec<S>, b: Vec<S>, copier: Vec<S>, steps: &str| {
        let with = |body: Vec<S>| [body, vec![sync(1, 96), sync(2, 96)]].concat();
        let copier = [copier, vec![store(0), sync(2, 96)]].concat();
        found(&[with(a), with(b), copier], steps)
    };
    let missing = ["missing-fence 0,2".to_owned()];
    let at = || sync(1, 96);
    let fence = || cross(Window::All);
    assert_eq!(meet(vec![write(0)], vec![], vec![at()], "0 0 1 2 2"), missing);
    assert_eq!(meet(vec![atomic(0)], vec![], vec![at()], "0 0 1 2 2"), missing);
    // By the writer before it arrives; by whoever copies after it has waited.
    assert_eq!(meet(vec![write(0), fence()], vec![], vec![at()], "0 0 0 1 2 2"), NOTHING);
    assert_eq!(meet(vec![write(0)], vec![], vec![at(), fence()], "0 0 1 2 2 2"), NOTHING);
    // Not before the write, nor before it is known, nor by somebody who does not know of it.
    assert_eq!(meet(vec![fence(), write(0)], vec![], vec![at()], "0 0 0 1 2 2"), missing);
    assert_eq!(meet(vec![write(0)], vec![], vec![fence(), at()], "0 0 1 2 2 2"), missing);
    assert_eq!(meet(vec![write(0)], vec![fence()], vec![at()], "0 0 1 1 2 2"), missing);
    // For that memory.
    assert_eq!(meet(vec![write(0), cross(Window::OwnCta)], vec![], vec![at()], "0 0 0 1 2 2"), NOTHING);
    assert_eq!(meet(vec![write(0), cross(Window::Global)], vec![], vec![at()], "0 0 0 1 2 2"), missing);
    // Another fence does not help, and a read needs none.
    assert_eq!(meet(vec![write(0), barrier_fence()], vec![], vec![at()], "0 0 0 1 2 2"), missing);
    assert_eq!(meet(vec![read(0)], vec![], vec![at()], "0 0 1 2 2"), NOTHING);
    // Of two atomics each has to be fenced by somebody who knows of it.
    let both = |a: Vec<S>, b: Vec<S>, steps: &str| meet(a, b, vec![at()], steps);
    assert_eq!(both(vec![atomic(0), fence()], vec![atomic(0)], "0 0 0 1 1 2 2"), ["missing-fence 1,2"]);
    assert_eq!(both(vec![atomic(0), fence()], vec![atomic(0), fence()], "0 0 0 1 1 1 2 2"), NOTHING);
}

fn barrier_fence() -> S {
    fence(BOTH)
}

// clause: ptx.proxies
#[test]
fn a_fence_travels_as_knowledge_does_and_a_new_write_needs_a_new_one() {
    // Through a third warp.
    let through = |third: Vec<S>| {
        let third = [vec![sync(1, 64)], third, vec![sync(2, 64)]].concat();
        found(&[vec![write(0), sync(1, 64)], third, vec![sync(2, 64), store(0)]], "0 0 1 1 1 2 2")
    };
    assert_eq!(through(vec![cross(Window::All)]), NOTHING);
    let not_fenced = vec![write(0), sync(1, 64)];
    let passes_on = vec![sync(1, 64), sync(2, 64)];
    let late = [not_fenced, passes_on, vec![sync(2, 64), store(0)]];
    assert_eq!(found(&late, "0 0 1 1 2 2"), ["missing-fence 0,2"]);
    // One's own write, too.
    let alone = |body: Vec<S>, steps: &str| found(&[body], steps);
    assert_eq!(alone(vec![write(0), store(0)], "0 0"), ["missing-fence 0,0"]);
    assert_eq!(alone(vec![write(0), cross(Window::All), store(0)], "0 0 0"), NOTHING);
    let again = vec![write(0), cross(Window::All), write(0), store(0)];
    assert_eq!(alone(again, "0 0 0 0"), ["missing-fence 0,0"]);
    let elsewhere = vec![write(0), cross(Window::All), write(1), store(0), store(1)];
    assert_eq!(alone(elsewhere, "0 0 0 0 0"), ["missing-fence 0,0"]);
    assert_eq!(alone(vec![store(0)], "0"), NOTHING);
    // What is not known at all is a race, and nothing else.
    assert_eq!(found(&[vec![write(0)], vec![store(0)]], "0 1"), ["data-race 0,1"]);
}

/// Known in time alone, it is not there to be fenced, and is found once.
// clause: ptx.proxies, ptx.mbarrier-relaxed
#[test]
fn a_fence_is_not_for_what_a_relaxed_arrival_has_not_made_visible() {
    let kind = MbarrierKind::Arrive {
        count: None,
        bytes: None,
        drops: false,
        no_complete: false,
        relaxed: true,
        within_cta: false,
        token: None,
    };
    let writer = vec![write(0), on(0, kind)];
    for fences in [vec![], vec![cross(Window::All)]] {
        let steps = "0 0 1 1 ".to_owned() + if fences.is_empty() { "" } else { "1" };
        let copier =
            [vec![on(0, MbarrierKind::Wait { phase: parity(0), relaxed: false })], fences, vec![store(0)]]
                .concat();
        assert_eq!(found(&[writer.clone(), copier], &steps), ["missing-fence 0,1"]);
    }
}

// clause: ptx.proxies
#[test]
fn what_everybody_knows_as_fenced_is_forgotten_and_nothing_is_kept_of_other_locations() {
    let kept = |body: Vec<S>, steps: &str| {
        let mut run = run_of(&[body.clone(), body]);
        run.play(steps);
        run.state.memory.accesses().len()
    };
    let tail = || vec![sync(1, 64), iff(n(0), vec![store(0)]), sync(2, 64)];
    assert_eq!(kept([vec![write(0), cross(Window::All)], tail()].concat(), "0 0"), 2);
    let first = |then: Vec<S>| [vec![iff(eq(Expr::Agent, n(0)), then)], tail()].concat();
    assert_eq!(kept(first(vec![write(0), cross(Window::All)]), "0 0 0 1"), 0);
    assert_eq!(kept(first(vec![write(0)]), "0 0 1"), 1);
    assert_eq!(kept(first(vec![write(1)]), "0"), 1);
}

// clause: ptx.bulk-store, ptx.bulk-wait-group
#[test]
fn a_copy_reads_until_its_own_lanes_have_waited_for_its_group() {
    let groups = |body: Vec<S>, steps: &str| found(&[[body, vec![write(0)]].concat()], steps);
    let race = ["data-race 0,0".to_owned()];
    assert_eq!(groups(vec![store(0)], "0 0"), race);
    assert_eq!(groups(vec![store(0), wait(0)], "0 0 0"), race);
    assert_eq!(groups(vec![store(0), commit()], "0 0 0"), race);
    assert_eq!(groups(vec![store(0), commit(), wait(0)], "0 0 0 0"), NOTHING);
    assert_eq!(groups(vec![store(0), commit(), wait(1)], "0 0 0 0"), race);
    // An empty group counts.
    assert_eq!(groups(vec![store(0), commit(), commit(), wait(1)], "0 0 0 0 0"), NOTHING);
    assert_eq!(groups(vec![store(0), commit(), commit(), wait(2)], "0 0 0 0 0"), race);
    // Two copies out of one location: both are waited for, and of each lane the youngest is kept.
    let twice = |newest| vec![store(0), commit(), store(0), commit(), wait(newest)];
    assert_eq!(groups(twice(1), "0 0 0 0 0 0"), race);
    assert_eq!(groups(twice(0), "0 0 0 0 0 0"), NOTHING);
    let mut run = run_of(&[twice(1)]);
    run.play("0 0 0 0");
    assert_eq!(run.config(0).stores.iter().map(|store| store.age).collect::<Vec<_>>(), [1]);
    // A copy into the location, and reads.
    let into = |body: Vec<S>| [vec![store(0), commit()], body, vec![bulk(0)]].concat();
    assert_eq!(found(&[into(vec![])], "0 0 0"), race);
    assert_eq!(found(&[into(vec![wait(0)])], "0 0 0 0"), NOTHING);
    assert_eq!(found(&[vec![store(0), read(0), store(0)]], "0 0 0"), NOTHING);
    // Nobody reads what has not landed.
    assert_eq!(found(&[vec![bulk(0), store(0)]], "0 0"), race);
}

// clause: ptx.bulk-groups
#[test]
fn groups_are_those_of_each_lane() {
    let lane = |bound: i64, body: Vec<S>| iff(lanes_below(bound), body);
    let of = |body: Vec<S>, count: usize| {
        let mut run = run_of(&[[body, vec![write(0)]].concat()]);
        let log = run.log(&"0 ".repeat(count));
        log.into_iter().filter_map(|step| Some(step.split_once("! ")?.1.to_owned())).collect::<Vec<_>>()
    };
    let race = ["data-race 0,0".to_owned()];
    // Lanes that have begun nothing may wait as well, and all do.
    assert_eq!(of(vec![lane(1, vec![store(0), commit()]), wait(0)], 4), NOTHING);
    assert_eq!(of(vec![lane(1, vec![store(0)]), commit(), lane(1, vec![wait(0)])], 4), NOTHING);
    // Of two lanes that copy one waits.
    assert_eq!(of(vec![lane(2, vec![store(0), commit()]), lane(1, vec![wait(0)])], 4), race);
    let mut run = run_of(&[vec![lane(2, vec![store(0), commit()]), lane(1, vec![wait(0)]), sync(1, 0)]]);
    run.play("0 0 0");
    let left: Vec<_> = run.config(0).stores.iter().map(|store| (store.age, store.lanes)).collect();
    assert_eq!(left, [(1, 2)]);
    // Only one of them commits.
    let mut run = run_of(&[vec![lane(2, vec![store(0)]), lane(1, vec![commit()]), wait(1)]]);
    run.play("0 0");
    let ages: Vec<_> = run.config(0).stores.iter().map(|store| (store.age, store.lanes)).collect();
    assert_eq!(ages, [(0, 2), (1, 1)]);
}

/// So that configurations that cannot behave otherwise are equal.
// clause: ptx.bulk-groups
#[test]
fn lanes_that_have_committed_apart_are_named_together_in_the_end() {
    let arms = if_else(lanes_below(8), vec![commit()], vec![commit()]);
    let mut run = run_of(&[vec![store(0), arms, wait(0), sync(1, 0)]]);
    let mut left = |steps| {
        run.play(steps);
        let stores = run.config(0).stores.iter();
        stores.map(|store| (store.age, store.lanes)).collect::<Vec<_>>()
    };
    assert_eq!(left("0"), [(0, u32::MAX)]);
    assert_eq!(left("0.0"), [(0, !0xff), (1, 0xff)]);
    assert_eq!(left("0"), [(1, u32::MAX)]);
    assert_eq!(left("0"), []);
}

/// The ages of groups, for waits that leave out up to two of them.
// clause: ptx.bulk-groups, ptx.bulk-wait-group
#[test]
fn every_age_by_every_instruction() {
    let mut table = String::new();
    for commits in 0..5_usize {
        let before = [vec![store(0)], vec![commit(); commits]].concat();
        for (name, does) in [
            ("store", store(1)),
            ("commit", commit()),
            ("wait 0", wait(0)),
            ("wait 1", wait(1)),
            ("wait 2", wait(2)),
            ("fence", cross(Window::All)),
        ] {
            let body = [before.clone(), vec![does, wait(2)]].concat();
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

// clause: ptx.bulk-wait-group
#[test]
fn others_may_write_once_they_have_learned_of_the_wait() {
    let pair = |a: Vec<S>, b: Vec<S>, steps: &str| found(&[a, b], steps);
    let done = || vec![store(0), commit(), wait(0), sync(1, 64)];
    assert_eq!(pair(done(), vec![sync(1, 64), write(0)], "0 0 0 0 1 1"), NOTHING);
    let early = vec![store(0), commit(), sync(1, 64), wait(0)];
    assert_eq!(pair(early.clone(), vec![sync(1, 64), write(0)], "0 0 0 1 1"), ["data-race 0,1"]);
    assert_eq!(pair(early.clone(), vec![sync(1, 64), write(0)], "0 0 0 1 0 1"), ["data-race 0,1"]);
    assert_eq!(pair(early, vec![sync(1, 64), read(0)], "0 0 0 1 1"), NOTHING);
}

// clause: ptx.bulk-source-lifetime
#[test]
fn a_cta_does_not_exit_while_copies_may_read_its_memory() {
    let exits = |bodies: &[Vec<S>], steps: &str| found(bodies, steps);
    let left = ["in-flight-at-exit 0".to_owned()];
    assert_eq!(exits(&[vec![store(0), commit()]], "0 0 0"), left);
    assert_eq!(exits(&[vec![store(0), commit(), wait(0)]], "0 0 0 0"), NOTHING);
    assert_eq!(exits(&[vec![store(0), wait(0)]], "0 0 0"), left);
    // It is found when the last warp has exited, whoever that is.
    let bodies = [vec![store(0), commit()], vec![sync(1, 32)]];
    assert_eq!(exits(&bodies, "0 0 0"), NOTHING);
    assert_eq!(exits(&bodies, "0 0 0 1 1"), left);
    assert_eq!(exits(&bodies, "1 1 0 0 0"), left);
    // Of each CTA by itself.
    let group = Group::new(Ptx, 32).scalar(Space::Shared).one(vec![store(0)]).one(vec![sync(1, 32)]);
    let mut run = Run::new(Program { ctas: 2, ..group.build() });
    assert!(run.play("0 0").contains("in-flight-at-exit"));
}

/// A window of a fence, of the memory of the own CTA or of all of the cluster.
// clause: ptx.proxies, ptx.proxy-syntax
#[test]
fn what_a_peer_has_written_is_fenced_by_the_peer_for_the_cluster_or_by_whoever_copies_for_its_cta() {
    let meet = |relaxed| {
        let arrive = ClusterOp { kind: ClusterKind::Arrive { relaxed }, aligned: false };
        let wait = ClusterOp { kind: ClusterKind::Wait, aligned: false };
        vec![S::Op(Op::from(arrive)), S::Op(Op::from(wait))]
    };
    let remote = || S::Op(Op::Access(AccessKind::Write, ArrayId(0), None, Some(n(1))));
    let of = |by_peer: Option<Window>, by_own: Option<Window>, relaxed: bool| {
        let first = |then: Vec<S>| iff(eq(Expr::Cta, n(0)), then);
        let second = |then: Vec<S>| iff(eq(Expr::Cta, n(1)), then);
        let body = [
            vec![first([vec![remote()], by_peer.map(cross).into_iter().collect()].concat())],
            meet(relaxed),
            vec![second([by_own.map(cross).into_iter().collect(), vec![store(0)]].concat()), sync(1, 32)],
        ];
        let group = Group::new(Ptx, 32).scalar(Space::Shared).scalar(Space::Global).many(2, body.concat());
        let mut run = Run::new(Program { ctas: 2, ..group.build() });
        let steps = "0 ".repeat(2 + usize::from(by_peer.is_some())) + "1 1 1 1";
        let log = run.log(&steps);
        log.iter().any(|step| step.contains("missing-fence"))
    };
    assert!(of(None, None, false));
    for (window, covers) in
        [(Window::All, true), (Window::Cluster, true), (Window::OwnCta, false), (Window::Global, false)]
    {
        assert_eq!(of(Some(window), None, false), !covers, "{window:?}");
    }
    assert!(!of(None, Some(Window::OwnCta), false) && of(None, Some(Window::Global), false));
    // A relaxed arrival passes on neither the write nor the fence.
    assert!(of(Some(Window::All), None, true));
}

/// A copy out of an array whose index some lanes have computed.
// clause: ptx.bulk-store, ptx.bulk-groups
#[test]
fn copies_out_of_an_array_are_those_of_the_elements_that_the_lanes_name() {
    let stores = |index: Expr| {
        let store = S::Op(Op::Proxy(ProxyOp::Begin(Transfer::Store, ArrayId(0), Some(v(0)))));
        let body = vec![set(0, index), store, commit(), wait(0), sync(1, 0)];
        Run::new(Group::new(Ptx, 32).array(Space::Shared, Some(4)).one(body).build())
    };
    let left = |run: &Run| {
        let stores = run.config(0).stores.iter();
        stores.map(|store| (store.location.0, store.lanes)).collect::<Vec<_>>()
    };
    let mut same = stores(n(2));
    assert_eq!(same.play("0"), "access 2");
    assert_eq!(left(&same), [(2, u32::MAX)]);
    let mut apart = stores(by_lane(8, 3, -2));
    assert_eq!(apart.play("0"), "access 1 3");
    assert_eq!(left(&apart), [(1, !0xff), (3, 0xff)]);
    for (expr, index) in [(n(4), 4), (n(-1), -1), (by_lane(31, 0, 4), 4)] {
        assert_eq!(stores(expr).play("0"), format!("FAULT IndexOutside {{ index: {index}, length: 4 }}"));
    }
}
