//! mbarrier objects.

use crate::journal::{Journal, both, executions, failure};
use barcheck::barriers::mbarrier::{Arrival, Cluster, Error, Flight, Misuse, Object, Phase, Warp};
use barcheck::barriers::{Cell, Loom, Runtime, Shuttle, Std};
use barcheck_model::rule::Rule;
use std::sync::Arc;

const MOST: i64 = (1 << 20) - 1;

fn rule<T>(result: Result<T, Error>) -> Rule {
    result.map(|_| ()).expect_err("misuse").rule().expect("a rule")
}

fn parity(parity: i64) -> Phase {
    Phase::Parity(parity)
}

/// One CTA of two warps and two objects, which expect so many arrivals.
fn cta<R: Runtime>(count: u32) -> (Cluster<R>, Object, Object) {
    let cta = Cluster::<R>::new(2, 2);
    let (one, other) = (cta.object(0, 0), cta.object(0, 1));
    cta.begin_with(one, count);
    cta.begin_with(other, count);
    (cta, one, other)
}

fn lands(flight: Result<Flight<Std>, Error>) -> Result<(), Error> {
    flight.expect("it is begun").land()
}

fn arrives(warp: &Warp<Std>, object: Object) -> Result<(), Error> {
    warp.arrive(object, Arrival::of(1)).map(|_| ())
}

#[test]
fn an_object_lives_from_its_initialisation_to_its_invalidation() {
    let cta = Cluster::<Std>::new(1, 1);
    let (warp, object) = (cta.warp(0), cta.object(0, 0));
    assert_eq!(rule(arrives(&warp, object)), Rule::MbarrierNotLive);
    assert_eq!(rule(warp.expect_tx(object, 1)), Rule::MbarrierNotLive);
    assert_eq!(rule(warp.wait(object, parity(1))), Rule::MbarrierNotLive);
    assert_eq!(rule(warp.test_wait(object, parity(1))), Rule::MbarrierNotLive);
    assert_eq!(rule(warp.copy(object, 1)), Rule::MbarrierNotLive);
    assert_eq!(rule(warp.commit(object)), Rule::MbarrierNotLive);
    assert_eq!(rule(warp.inval(object)), Rule::MbarrierNotLive);
    assert_eq!(warp.init(object, 1), Ok(()));
    assert_eq!(rule(warp.init(object, 1)), Rule::MbarrierLive);
    assert_eq!(warp.inval(object), Ok(()));
    assert_eq!(rule(arrives(&warp, object)), Rule::MbarrierNotLive);
    assert_eq!(warp.init(object, 1), Ok(()), "a second life");
    assert_eq!(arrives(&warp, object), Ok(()));
}

// clause: ptx.mbarrier-no-complete
#[test]
fn an_arrival_that_must_not_complete_the_phase_does_not() {
    let stays = |count| Arrival::of(count).without_completing();
    let (cta, one, other) = cta::<Std>(3);
    let warp = cta.warp(0);
    assert_eq!(warp.arrive(one, stays(2)).map(|_| ()), Ok(()));
    assert_eq!(rule(warp.arrive(one, stays(2))), Rule::OverArrival);
    assert_eq!(rule(warp.arrive(one, stays(1))), Rule::NoComplete);
    assert_eq!(rule(warp.arrive(one, stays(1).dropped())), Rule::NoComplete);
    assert_eq!(arrives(&warp, one), Ok(()));
    warp.set_lanes(3);
    assert_eq!(rule(warp.arrive(other, stays(1))), Rule::NoComplete);
    warp.set_lanes(1);
    // Bytes that have not come keep the phase open.
    assert_eq!(warp.expect_tx(other, 16), Ok(()));
    assert_eq!(warp.arrive(other, stays(3)).map(|_| ()), Ok(()));
    assert_eq!(lands(warp.copy(other, 16)), Ok(()));
}

#[test]
fn one_lane_begins_and_ends_a_life() {
    let cta = Cluster::<Std>::new(1, 1);
    let (warp, object) = (cta.warp(0), cta.object(0, 0));
    warp.set_lanes(32);
    assert_eq!(rule(warp.init(object, 1)), Rule::MbarrierLive);
    warp.set_lanes(1);
    assert_eq!(warp.init(object, 1), Ok(()));
    warp.set_lanes(2);
    assert_eq!(rule(warp.inval(object)), Rule::MbarrierNotLive);
}

#[test]
fn an_object_that_is_waited_for_is_not_invalidated() {
    loom::model(|| {
        let (cta, object, _) = cta::<Loom>(1);
        let (waiter, other) = (cta.warp(0), cta.warp(1));
        let (waited, ended) = both::<Loom, _, _>(
            move || waiter.wait(object, parity(0)),
            move || {
                let ended = other.inval(object);
                cta.abort();
                ended
            },
        );
        match ended {
            Ok(()) => assert_ne!(waited, Ok(())),
            ended => assert_eq!(ended, Err(Error::Misuse(Misuse::Awaited))),
        }
    });
}

#[test]
fn counts_bytes_and_parities_have_ranges() {
    let cta = Cluster::<Std>::new(1, 1);
    let (warp, object) = (cta.warp(0), cta.object(0, 0));
    for count in [-1, 0, MOST + 1, i64::MAX] {
        assert_eq!(rule(warp.init(object, count)), Rule::CountRange, "{count}");
    }
    assert_eq!(warp.init(object, MOST), Ok(()));
    assert_eq!(rule(warp.arrive(object, Arrival::of(0))), Rule::CountRange);
    assert_eq!(rule(warp.arrive(object, Arrival::of(MOST + 1))), Rule::CountRange);
    for bytes in [-1, MOST + 1, i64::MIN, i64::MAX] {
        assert_eq!(rule(warp.expect_tx(object, bytes)), Rule::TxRange, "{bytes}");
        assert_eq!(rule(warp.copy(object, bytes)), Rule::TxRange, "{bytes}");
    }
    assert_eq!(warp.expect_tx(object, MOST), Ok(()));
    assert_eq!(rule(warp.expect_tx(object, 1)), Rule::TxRange, "together too many");
    assert_eq!(rule(warp.arrive(object, Arrival::expecting(1))), Rule::TxRange);
    assert_eq!(warp.complete_tx(object, MOST), Ok(()));
    assert_eq!(warp.complete_tx(object, MOST), Ok(()), "before they are announced");
    assert_eq!(rule(warp.complete_tx(object, 1)), Rule::TxRange);
    for given in [-1, 2] {
        assert_eq!(rule(warp.wait(object, parity(given))), Rule::ParityRange, "{given}");
        assert_eq!(rule(warp.test_wait(object, parity(given))), Rule::ParityRange, "{given}");
    }
    assert_eq!(warp.wait(object, parity(1)), Ok(()), "the phase before the first");
}

#[test]
fn no_more_arrive_than_the_phase_waits_for() {
    let (cta, object, _) = cta::<Std>(2);
    let warp = cta.warp(0);
    assert_eq!(rule(warp.arrive(object, Arrival::of(3))), Rule::OverArrival);
    assert_eq!(arrives(&warp, object), Ok(()));
    let over = warp.arrive(object, Arrival::of(2));
    assert_eq!(over.map(|_| ()), Err(Error::Misuse(Misuse::OverArrival { pending: 1, given: 2 })));
    assert_eq!(arrives(&warp, object), Ok(()), "the mistake has changed nothing");
    assert_eq!(warp.test_wait(object, parity(0)), Ok(true));
}

#[test]
fn every_lane_arrives() {
    let (cta, one, other) = cta::<Std>(32);
    let warp = cta.warp(0);
    warp.set_lanes(32);
    assert_eq!(arrives(&warp, one), Ok(()));
    assert_eq!(warp.test_wait(one, parity(0)), Ok(true));
    assert_eq!(rule(warp.arrive(other, Arrival::of(2))), Rule::OverArrival);
    assert_eq!(warp.expect_tx(other, 32), Ok(()));
    assert_eq!(rule(warp.expect_tx(other, MOST / 31)), Rule::TxRange);
    assert_eq!(lands(warp.copy(other, 32)), Ok(()));
    assert_eq!(lands(warp.commit(other)), Ok(()));
    assert_eq!(warp.test_wait(other, parity(0)), Ok(true));
}

#[test]
fn a_phase_is_seen_before_the_next_arrival() {
    let (cta, one, other) = cta::<Std>(1);
    let warp = cta.warp(0);
    assert_eq!(arrives(&warp, one), Ok(()));
    assert_eq!(rule(arrives(&warp, one)), Rule::UnobservedPhase);
    assert_eq!(rule(warp.arrive(one, Arrival::of(2))), Rule::UnobservedPhase, "before it is too many");
    assert_eq!(warp.try_wait(one, parity(0), true), Ok(false), "has given up, and seen nothing");
    assert_eq!(rule(arrives(&warp, one)), Rule::UnobservedPhase);
    assert_eq!(warp.test_wait(one, parity(0)), Ok(true));
    assert_eq!(arrives(&warp, one), Ok(()));
    assert_eq!(arrives(&warp, other), Ok(()));
    assert_eq!(warp.wait(other, parity(0)), Ok(()));
    assert_eq!(arrives(&warp, other), Ok(()));
    assert_eq!(rule(lands(warp.commit(other))), Rule::UnobservedPhase, "what lands arrives, too");
}

#[test]
fn who_waits_has_seen_the_phase() {
    loom::model(|| {
        let (cta, object, _) = cta::<Loom>(1);
        let (waiter, other) = (cta.warp(0), cta.warp(1));
        let (waited, arrived) = both::<Loom, _, _>(
            move || waiter.wait(object, parity(0)).and_then(|()| waiter.arrive(object, Arrival::of(1))),
            move || other.arrive(object, Arrival::of(1)),
        );
        assert!(waited.is_ok() && arrived.is_ok());
    });
}

#[test]
fn dropped_arrivals_are_not_expected_any_more() {
    let (cta, object, other) = cta::<Std>(2);
    let warp = cta.warp(0);
    assert!(warp.arrive(other, Arrival::of(2)).is_ok());
    assert_eq!(rule(warp.arrive(other, Arrival::of(2).dropped())), Rule::OverArrival, "before it arrives");
    assert!(warp.arrive(object, Arrival::of(1).dropped()).is_ok());
    assert_eq!(warp.test_wait(object, parity(0)), Ok(false), "this phase waits for two");
    assert_eq!(arrives(&warp, object), Ok(()));
    assert_eq!(warp.test_wait(object, parity(0)), Ok(true));
    assert_eq!(arrives(&warp, object), Ok(()));
    assert_eq!(warp.test_wait(object, parity(1)), Ok(true), "the next for one");
    assert_eq!(rule(warp.arrive(object, Arrival::of(1).dropped())), Rule::OverArrival, "none would be left");
}

#[test]
fn a_phase_waits_for_bytes_and_arrivals() {
    let (cta, one, other) = cta::<Std>(1);
    let warp = cta.warp(0);
    assert!(warp.arrive(one, Arrival::expecting(64)).is_ok());
    assert_eq!(lands(warp.copy(one, 32)), Ok(()));
    assert_eq!(warp.test_wait(one, parity(0)), Ok(false));
    assert_eq!(lands(warp.copy(one, 32)), Ok(()));
    assert_eq!(warp.test_wait(one, parity(0)), Ok(true));
    assert_eq!(lands(warp.copy(other, 32)), Ok(()), "before they are announced");
    assert!(warp.arrive(other, Arrival::expecting(32)).is_ok());
    assert_eq!(warp.test_wait(other, parity(0)), Ok(true));
}

#[test]
fn more_bytes_than_announced_are_an_error_once_all_have_arrived() {
    let (cta, one, other) = cta::<Std>(1);
    let warp = cta.warp(0);
    assert_eq!(warp.complete_tx(one, 32), Ok(()));
    assert_eq!(rule(arrives(&warp, one)), Rule::OverDelivery);
    assert!(warp.arrive(one, Arrival::expecting(32)).is_ok(), "as many as have come");
    assert!(warp.arrive(other, Arrival::expecting(16)).is_ok());
    let over = lands(warp.copy(other, 32));
    assert_eq!(over, Err(Error::Misuse(Misuse::OverDelivery { surplus: 16 })));
    assert_eq!(lands(warp.copy(other, 16)), Ok(()));
}

#[test]
fn what_lands_lands_in_the_phase_that_it_was_begun_in() {
    let (cta, one, other) = cta::<Std>(1);
    let warp = cta.warp(0);
    let (copy, commit) = (warp.copy(one, 16), warp.commit(one));
    assert_eq!(arrives(&warp, one), Ok(()));
    assert_eq!(rule(lands(copy)), Rule::StaleCompletion);
    assert_eq!(rule(lands(commit)), Rule::StaleCompletion);
    assert_eq!(rule(warp.inval(one)), Rule::MbarrierLive, "what may not land stays in flight");
    let (copy, commit) = (warp.copy(other, 0), warp.commit(other));
    assert_eq!(rule(warp.inval(other)), Rule::MbarrierLive, "both are in flight");
    assert_eq!(lands(copy), Ok(()));
    assert_eq!(rule(warp.inval(other)), Rule::MbarrierLive, "one is in flight");
    assert_eq!(lands(commit), Ok(()));
    assert_eq!(warp.inval(other), Ok(()));
}

#[test]
fn a_token_names_the_present_phase_or_the_one_before() {
    let (cta, one, other) = cta::<Std>(1);
    let warp = cta.warp(0);
    let token = warp.arrive(one, Arrival::of(1)).expect("no misuse").expect("a token");
    assert_eq!(warp.wait(one, Phase::Of(token)), Ok(()));
    assert_eq!(rule(warp.wait(other, Phase::Of(token))), Rule::StaleToken, "of another object");
    let next = warp.arrive(one, Arrival::of(1)).expect("no misuse").expect("a token");
    assert_eq!(rule(warp.wait(one, Phase::Of(token))), Rule::StaleToken);
    assert_eq!(rule(warp.test_wait(one, Phase::Of(token))), Rule::StaleToken);
    assert_eq!(warp.test_wait(one, Phase::Of(next)), Ok(true));
    assert_eq!(warp.inval(one), Ok(()));
    assert_eq!(warp.init(one, 1), Ok(()));
    assert_eq!(rule(warp.wait(one, Phase::Of(next))), Rule::StaleToken, "of another life");
    let expects_more = cta.warp(1);
    assert!(expects_more.arrive(other, Arrival::expecting(1)).is_ok());
    assert_eq!(warp.test_wait(other, parity(0)), Ok(false));
}

#[test]
fn a_parity_is_that_of_the_last_complete_phase_or_is_waited_for() {
    let (cta, object, _) = cta::<Std>(1);
    let warp = cta.warp(0);
    for phase in 0..4 {
        assert_eq!(warp.test_wait(object, parity(phase & 1)), Ok(false));
        assert_eq!(warp.test_wait(object, parity(phase & 1 ^ 1)), Ok(true));
        assert_eq!(warp.try_wait(object, parity(phase & 1 ^ 1), true), Ok(false));
        assert_eq!(arrives(&warp, object), Ok(()));
    }
}

#[test]
fn findings_and_steps_are_told() {
    let journal = Journal::default();
    let cta = Cluster::<Std>::observed(1, 2, 1, journal.clone());
    let (warp, object) = (cta.warp(1), cta.object(0, 0));
    assert_eq!(warp.init(object, 2), Ok(()));
    assert!(warp.arrive(object, Arrival::expecting(8)).is_ok());
    let (one, other) = (warp.copy(object, 8), warp.copy(object, 8));
    assert_eq!(cta.holding_arrivals(), [0]);
    assert_eq!(arrives(&warp, object), Ok(()));
    assert_eq!(lands(other), Ok(()));
    assert_eq!(rule(lands(one)), Rule::StaleCompletion);
    assert!(cta.holding_arrivals().is_empty());
    let told = [
        "1 mbarrier.init 0",
        "1 mbarrier.arrive 0",
        "1 cp.async.bulk 0",
        "1 cp.async.bulk 0",
        "1 mbarrier.arrive 0",
        "1 lands 0 (its 1)",
        "complete 0 []",
        "1 lands 0 (its 0): stale-completion",
    ];
    assert_eq!(journal.lines(), told);
}

#[test]
fn what_has_come_to_an_incomplete_phase_is_left_in_the_end() {
    let (cta, one, other) = cta::<Std>(1);
    let warp = cta.warp(0);
    assert!(cta.holding_arrivals().is_empty());
    assert_eq!(warp.expect_tx(one, 8), Ok(()));
    assert_eq!(warp.complete_tx(other, 8), Ok(()));
    assert_eq!(cta.holding_arrivals(), [0, 1]);
    assert_eq!((warp.complete_tx(one, 8), arrives(&warp, one)), (Ok(()), Ok(())));
    assert_eq!(cta.holding_arrivals(), [1]);
}

#[test]
fn who_drops_its_arrival_leaves_none_behind() {
    let (cta, one, other) = cta::<Std>(3);
    let warp = cta.warp(0);
    assert!(warp.arrive(one, Arrival::of(1).dropped()).is_ok());
    assert!(cta.holding_arrivals().is_empty());
    assert!(warp.arrive(one, Arrival::of(1)).is_ok());
    assert_eq!(cta.holding_arrivals(), [0]);
    assert!(warp.arrive(other, Arrival::of(1)).is_ok());
    assert!(warp.arrive(other, Arrival::of(1).dropped()).is_ok());
    assert_eq!(cta.holding_arrivals(), [0, 1]);
}

#[test]
fn an_object_belongs_to_its_cta() {
    let cluster = Cluster::<Std>::observed(2, 1, 1, ());
    let (warp, remote) = (cluster.warp(0), cluster.object(1, 0));
    let not_local = Err(Error::Misuse(Misuse::NotLocal { cta: 1 }));
    assert_eq!(warp.init(remote, 1), not_local);
    assert_eq!(warp.wait(remote, parity(0)), not_local);
    cluster.begin_with(remote, 2);
    assert_eq!(warp.arrive(remote, Arrival::of(1)), Ok(None), "no token");
    assert_eq!((warp.reach([0, 1]), lands(warp.commit(remote))), (Ok(()), Ok(())));
    assert_eq!(cluster.warp(1).test_wait(remote, parity(0)), Ok(true));
}

#[test]
fn nothing_comes_to_a_cta_that_has_exited() {
    let cluster = Cluster::<Std>::observed(2, 2, 1, ());
    let (warp, remote) = (cluster.warp(0), cluster.object(1, 0));
    cluster.begin_with(remote, 3);
    let flight = warp.copy(remote, 8);
    assert_eq!(cluster.warp(2).exit(), Ok(()));
    assert_eq!(arrives(&warp, remote), Ok(()), "one of two warps is left");
    let (last, own) = (cluster.warp(3), cluster.warp(3));
    assert_eq!(last.exit(), Ok(()));
    assert_eq!(rule(arrives(&warp, remote)), Rule::RemoteAfterExit);
    assert_eq!(rule(warp.copy(remote, 8)), Rule::RemoteAfterExit);
    assert_eq!(rule(warp.reach([1])), Rule::RemoteAfterExit);
    assert_eq!(rule(lands(flight)), Rule::RemoteAfterExit);
    assert_eq!((warp.reach([0]), lands(own.copy(remote, 8))), (Ok(()), Ok(())), "its own");
}

/// A ring of one stage: a copy fills it, a warp reads it and gives it back.
fn ring<R: Runtime>(rounds: i64, waits: bool) {
    let (cta, full, empty) = cta::<R>(1);
    let stage = Arc::new(R::Cell::new());
    let (load, math, copied) = (cta.warp(0), cta.warp(1), Arc::clone(&stage));
    let loader = R::spawn(move || {
        for i in 0..rounds {
            load.wait(empty, parity(i & 1 ^ 1)).expect("no misuse");
            load.arrive(full, Arrival::expecting(8)).expect("no misuse");
            let (copy, copied) = (load.copy(full, 8).expect("no misuse"), Arc::clone(&copied));
            R::spawn(move || {
                copied.write();
                copy.land().expect("no misuse");
            });
        }
    });
    for i in 0..rounds {
        if waits {
            math.wait(full, parity(i & 1)).expect("no misuse");
        }
        stage.read();
        if waits {
            math.arrive(empty, Arrival::of(1)).expect("no misuse");
        }
    }
    R::join(loader).expect("no panic");
}

#[test]
fn a_ring_runs_under_every_schedule_and_on_every_runtime() {
    println!("{} executions", executions(Some(3), || ring::<Loom>(2, true)));
    ring::<Std>(50, true);
    shuttle::check_random(|| ring::<Shuttle>(5, true), 200);
}

#[test]
fn a_stage_that_is_read_without_waiting_is_a_race() {
    assert!(failure(|| ring::<Loom>(1, false)).contains("Causality violation"));
}
