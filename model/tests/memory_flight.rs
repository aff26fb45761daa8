//! What is in flight besides plain copies, and who learns of it: arrivals of `cp.async`, atomics, copies from
//! CTA to CTA; waits that are relaxed; who knows that an object is initialised.

use crate::common::*;
use barcheck_model::machine::{Choice, StepOutcome};
use barcheck_model::program::Target::Ptx;
use barcheck_model::program::*;

fn fill(array: u32) -> S {
    S::Op(Op::Proxy(ProxyOp::Begin(Transfer::Fill, ArrayId(array), None)))
}

fn copied(array: u32, by: Means) -> MbarrierKind {
    MbarrierKind::Copy { bytes: n(16), to: Some((ArrayId(array), None)), by }
}

fn noinc(object: u32) -> S {
    on(object, MbarrierKind::FillsArrive { counted: false })
}

fn waits(object: u32, relaxed: bool) -> S {
    on(object, MbarrierKind::Wait { phase: parity(0), relaxed })
}

fn orders(acquires: bool, releases: bool) -> S {
    S::Op(Op::Fence(Fence::Orders { reach: Reach::Cta, acquires, releases }))
}

fn one_lane(body: Vec<S>) -> S {
    iff(lanes_below(1), body)
}

fn relaxed() -> MbarrierKind {
    let (count, bytes, token) = (None, None, None);
    let [drops, no_complete, within_cta] = [false; 3];
    MbarrierKind::Arrive { count, bytes, drops, no_complete, relaxed: true, within_cta, token }
}

/// Warps of one CTA with two locations and objects.
fn run_of(bodies: &[Vec<S>], objects: &[(Option<u32>, Option<u32>)]) -> Run {
    let agents = u32::try_from(bodies.len()).expect("few");
    let mut group = Group::new(Ptx, agents * 32).scalar(Space::Shared).scalar(Space::Shared);
    for body in bodies {
        group = group.one(body.clone());
    }
    Run::new(with_objects(group.build(), objects).with_lives())
}

/// What became of steps, each written as the agent that makes it, or `l0.1` for the landing of what agent 0
/// has left in flight, by its number.
fn log(run: &mut Run, steps: &str) -> Vec<String> {
    let step = |step: &str| match step.strip_prefix('l') {
        None => run.play(step),
        Some(landing) => {
            let (agent, index) = landing.split_once('.').unwrap_or((landing, "0"));
            let number = |text: &str| text.parse().expect("a number");
            let choice = Choice::landing(AgentId(number(agent)), number(index));
            let StepOutcome::Progress(progressed) = run.machine.step(&run.state, choice) else {
                panic!("{step} does not land")
            };
            run.state = progressed.state;
            String::new()
        }
    };
    steps.split_whitespace().map(step).collect()
}

/// The rules found along some steps.
fn found(bodies: &[Vec<S>], objects: &[(Option<u32>, Option<u32>)], steps: &str) -> Vec<String> {
    let log = log(&mut run_of(bodies, objects), steps);
    assert!(log.iter().all(|step| !step.starts_with("END")), "{log:?}");
    log.iter().filter_map(|step| Some(step.split_once("! ")?.1.to_owned())).collect()
}

const NOTHING: &[String] = &[];

// clause: ptx.cp-async-arrive, barcheck.fills-publish-alone
#[test]
fn an_arrival_of_copies_publishes_what_they_have_written_before_it_and_nothing_else() {
    let reads = |array| vec![waits(0, false), read(array)];
    let objects = [(None, Some(32))];
    let before = vec![fill(0), noinc(0)];
    assert_eq!(found(&[before, reads(0)], &objects, "0 0 l0 1 1"), NOTHING);
    let behind = vec![noinc(0), fill(0)];
    assert_eq!(found(&[behind, reads(0)], &objects, "0 0 l0 1 1"), ["data-race 0,1"]);
    let besides = vec![write(1), fill(0), noinc(0)];
    assert_eq!(found(&[besides, reads(1)], &objects, "0 0 0 l0 1 1"), ["missing-fence 0,1"]);
    // Without any such copies what the warp has done stands for them.
    let alone = vec![write(1), noinc(0)];
    assert_eq!(found(&[alone, reads(1)], &objects, "0 0 l0 1 1"), NOTHING);
}

// clause: ptx.cp-async-arrive
#[test]
fn copies_of_several_lanes_are_complete_once_all_of_them_have_arrived_on_one_object() {
    let apart = |objects: [u32; 2]| {
        let [low, high] = objects.map(noinc);
        vec![fill(0), if_else(lanes_below(16), vec![low], vec![high])]
    };
    let reads = |object| vec![waits(object, false), read(0)];
    let objects = [(None, Some(32)), (None, Some(16))];
    assert_eq!(found(&[apart([0, 0]), reads(0)], &objects, "0 0 0 l0 l0 1 1"), NOTHING);
    assert_eq!(found(&[apart([0, 1]), reads(1)], &objects, "0 0 0 l0.1 1 1"), ["data-race 0,1"]);
}

// clause: ptx.cp-async-arrive-counted
#[test]
fn arrivals_that_are_counted_change_nothing_in_what_a_phase_expects() {
    let counted = on(0, MbarrierKind::FillsArrive { counted: true });
    let mut run = run_of(&[vec![fill(0), counted]], &[(None, Some(3))]);
    run.play("0 0");
    assert_eq!(object_name(&run, 0), "even 35/3 arrivals, 0 bytes");
    log(&mut run, "l0");
    assert_eq!(object_name(&run, 0), "even 3/3 arrivals, 0 bytes");
    let counted = on(0, MbarrierKind::FillsArrive { counted: true });
    let mut run = run_of(&[vec![fill(0), counted]], &[(None, Some((1 << 20) - 32))]);
    assert_eq!(run.play("0 0"), "END count-range");
}

// clause: ptx.red-async
#[test]
fn atomics_in_flight_race_with_nothing_atomic_and_each_is_waited_for_by_itself() {
    let sends = |object, by| vec![on(object, MbarrierKind::ExpectTx(n(16))), on(object, copied(0, by))];
    let objects = [(None, Some(32)), (None, Some(32))];
    let both = |a, b| {
        let lane = |object, by| vec![one_lane(sends(object, by))];
        found(&[lane(0, a), lane(1, b)], &objects, "0 0 1 1")
    };
    assert_eq!(both(Means::Reduction, Means::Reduction), NOTHING);
    assert_eq!(both(Means::Reduction, Means::Store), ["data-race 0,1"]);
    assert_eq!(both(Means::Bulk, Means::Reduction), ["data-race 0,1"]);
    let atomic = vec![atomic(0)];
    assert_eq!(found(&[vec![one_lane(sends(0, Means::Reduction))], atomic], &objects, "0 0 1"), NOTHING);
    // Two of one warp, on an object each: who waits for the second knows nothing of the first.
    let [first, second] = [0, 1].map(|object| sends(object, Means::Reduction));
    let twice = vec![one_lane([first, second].concat()), on(1, ARRIVE)];
    let reads = vec![waits(1, false), read(0)];
    assert_eq!(found(&[twice, reads], &objects, "0 0 0 0 0 l0.1 1 1"), ["data-race 0,1"]);
}

// clause: ptx.proxies
#[test]
fn a_bulk_copy_over_what_a_warp_has_written_asks_for_a_fence_and_over_what_it_has_read_for_none() {
    let proxies = S::Op(Op::Proxy(ProxyOp::Fence(Window::All)));
    let lands = |by| vec![sync(1, 64), one_lane(vec![on(0, copied(0, by))])];
    let objects = [(None, Some(32))];
    for (before, by, expected) in [
        (vec![write(0)], Means::Bulk, Some("missing-fence 0,1")),
        (vec![write(0), proxies.clone()], Means::Bulk, None),
        (vec![proxies, write(0)], Means::Bulk, Some("missing-fence 0,1")),
        (vec![read(0)], Means::Bulk, None),
        (vec![write(0)], Means::Store, None),
        (vec![write(0)], Means::Reduction, None),
    ] {
        let steps = format!("{}0 1 1", "0 ".repeat(before.len()));
        let writes = [before, vec![sync(1, 64)]].concat();
        let rules = found(&[writes, lands(by)], &objects, &steps);
        assert_eq!(rules, expected.into_iter().collect::<Vec<_>>());
    }
}

// clause: ptx.bulk-copy-across
#[test]
fn a_copy_to_another_cta_reads_its_source_until_it_has_landed() {
    let across = copied(1, Means::Across(ArrayId(0), None));
    let body = |then: Vec<S>| vec![one_lane([vec![on(0, across.clone())], then].concat())];
    let objects = [(None, Some(1))];
    assert_eq!(found(&[body(vec![read(0)])], &objects, "0 0"), NOTHING);
    assert_eq!(found(&[body(vec![write(0)])], &objects, "0 0"), ["data-race 0,0"]);
    let writes = vec![one_lane([vec![write(0)], vec![on(0, across.clone())]].concat())];
    assert_eq!(found(&[writes], &objects, "0 0"), ["missing-fence 0,0"]);
    let announces = vec![on(0, MbarrierKind::ExpectTx(n(16))), on(0, ARRIVE)];
    let waited = [announces, vec![on(0, across.clone()), waits(0, false), write(0)]].concat();
    assert_eq!(found(&[vec![one_lane(waited)]], &objects, "0 0 0 l0 0 0"), NOTHING);
}

// clause: ptx.mbarrier-relaxed-wait, ptx.fence-acquire
#[test]
fn a_relaxed_wait_acquires_behind_a_fence_that_acquires() {
    let writes = vec![write(0), on(0, ARRIVE)];
    let late = ["missing-fence 0,1".to_owned()];
    for (is_relaxed, fences, expected) in [
        (false, vec![], NOTHING),
        (true, vec![], &late[..]),
        (true, vec![orders(true, false)], NOTHING),
        (true, vec![orders(true, true)], NOTHING),
        (true, vec![orders(false, true)], &late[..]),
    ] {
        let steps = format!("0 0 1 {}1", "1 ".repeat(fences.len()));
        let reads = [vec![waits(0, is_relaxed)], fences, vec![read(0)]].concat();
        assert_eq!(found(&[writes.clone(), reads], &[(None, Some(32))], &steps), expected);
    }
}

// clause: ptx.mbarrier-init-order, ptx.mbarrier-init-fence
#[test]
fn who_knows_of_an_initialisation_in_time_alone_may_not_use_the_object() {
    let init = one_lane(vec![on(1, MbarrierKind::Init(n(32)))]);
    let objects = [(None, Some(32)), (None, None)];
    let uses = vec![waits(0, false), on(1, ARRIVE)];
    let fence = S::Op(Op::Fence(Fence::ReleasesInitialised));
    let begins = |how, fences: Vec<S>| [vec![init.clone()], fences, vec![on(0, how)]].concat();
    let rules = |how, fences: Vec<S>| {
        let steps = format!("0 {}0 1 1", "0 ".repeat(fences.len()));
        found(&[begins(how, fences), uses.clone()], &objects, &steps)
    };
    assert_eq!(rules(relaxed(), vec![]), ["missing-fence 0,1"]);
    assert_eq!(rules(relaxed(), vec![fence]), NOTHING);
    assert_eq!(rules(relaxed(), vec![orders(false, true)]), NOTHING);
    // The one that initialises knows of it itself.
    let own = vec![init.clone(), on(1, relaxed())];
    assert_eq!(found(&[own], &objects, "0 0"), NOTHING);
}
