//! PTX barriers: operands at all boundaries, and every state by every event.

use crate::common::*;
use barcheck_model::barrier::ptx::{
    Announcement, BARRIERS, Barrier, Class, Contribution, Cta, Operation, arrive, check_operands, complete,
    completion,
};
use barcheck_model::barrier::{BarrierId, Completion, Progress, Seat, Token};
use barcheck_model::program::ReductionOp;
use barcheck_model::rule::Rule;

const CTA: Cta = Cta { warps: 3, exits_release: false, repeats_count: false };
const RELEASING: Cta = Cta { exits_release: true, ..CTA };
const REDUCTIONS: [ReductionOp; 3] = [ReductionOp::Popc, ReductionOp::And, ReductionOp::Or];
const ARRIVED: Seat = Seat {
    arrived: true,
    waiting: false,
    consumer: false,
    notified: false,
    produced_last: false,
    token: Token::None,
};

fn name(barrier: &Barrier) -> String {
    match barrier {
        Barrier::Idle => "idle".to_owned(),
        Barrier::Active { expected, all, class, arrived, waiting, predicates } => {
            let class = match class {
                Class::Plain => "plain".to_owned(),
                Class::Red(op) => format!("{}({predicates})", op_name(*op)),
            };
            let all = if *all { " all" } else { "" };
            format!("{class} {expected}{all} {arrived} arrived {waiting} waiting")
        }
    }
}

/// Every state that a barrier of a CTA of three warps can be in with two predicates per operator.
fn states() -> Vec<Barrier> {
    let mut all_states = vec![Barrier::Idle];
    for (expected, all) in [(64, false), (96, false), (96, true)] {
        for arrived in 1..expected / 32 {
            for waiting in 0..=arrived {
                if !all || waiting == arrived {
                    let class = Class::Plain;
                    all_states.push(Barrier::Active {
                        expected,
                        all,
                        class,
                        arrived,
                        waiting,
                        predicates: 0,
                    });
                }
            }
            for op in REDUCTIONS {
                let some = if op == ReductionOp::Popc { arrived * 20 } else { 1 };
                for predicates in [0, some] {
                    let (class, waiting) = (Class::Red(op), arrived);
                    all_states.push(Barrier::Active { expected, all, class, arrived, waiting, predicates });
                }
            }
        }
    }
    all_states
}

fn announce(operation: Operation, count: Option<i64>) -> Announcement {
    check_operands(CTA, operation, 1, count).expect("operands in range")
}

fn events() -> Vec<(String, Announcement, Contribution)> {
    let mut all = Vec::new();
    for count in [None, Some(64), Some(96)] {
        let text = count.map_or(String::new(), |n| format!(" {n}"));
        all.push((format!("sync{text}"), announce(Operation::Sync, count), Contribution::default()));
        if count.is_some() {
            all.push((format!("arrive{text}"), announce(Operation::Arrive, count), Contribution::default()));
        }
        for op in REDUCTIONS {
            for truths in [0, 5, 32] {
                let what = announce(Operation::Red(op), count);
                let contribution = Contribution { lanes: 32, truths };
                all.push((format!("red.{}{text} {truths}/32", op_name(op)), what, contribution));
            }
        }
    }
    all
}

#[test]
fn every_state_by_every_arrival_of_a_warp_that_has_not_arrived() {
    let mut table = String::new();
    for state in states() {
        let mut outcomes = ByOutcome::default();
        for (event, what, contribution) in events() {
            let outcome = arrive(CTA, state, Seat::default(), what, contribution, 0);
            outcomes.add(event, effect_name(outcome, name));
        }
        table += &outcomes.under(&name(&state));
    }
    insta::assert_snapshot!(table);
}

#[test]
fn exits_complete_what_waits_for_live_warps_and_in_release_mode_what_somebody_waits_on() {
    let mut table = String::new();
    for state in states() {
        let mut outcomes = ByOutcome::default();
        for (mode, cta) in [("hold", CTA), ("release", RELEASING)] {
            for exited in 0..3 {
                let outcome = completion(cta, state, exited).map_or("-".to_owned(), completion_name);
                outcomes.add(format!("{mode} with {exited} exited"), outcome);
            }
        }
        table += &outcomes.under(&name(&state));
    }
    insta::assert_snapshot!(table);
}

#[test]
fn ids_outside_0_to_15_are_refused_whatever_the_rest() {
    // clause: ptx.sixteen-barriers
    assert_eq!(BARRIERS, 16);
    for operation in [Operation::Sync, Operation::Arrive, Operation::Red(ReductionOp::And)] {
        for id in [-1, 16, 31, 32, 4095, 4096, i64::MIN, i64::MAX, 1 << 32] {
            for count in [None, Some(0), Some(32), Some(33)] {
                assert_eq!(check_operands(CTA, operation, id, count), Err(Rule::BarrierIdRange), "{id}");
            }
        }
        for id in [0, 1, 15] {
            let what = check_operands(CTA, operation, id, Some(64)).expect("in range");
            assert_eq!((i64::from(what.id.0), what.operation), (id, operation));
        }
    }
}

#[test]
fn counts_are_positive_multiples_of_32_up_to_the_cta() {
    // clause: ptx.count-multiple
    // clause: barcheck.count-bound
    // clause: barcheck.count-zero
    for operation in [Operation::Sync, Operation::Red(ReductionOp::Popc), Operation::Arrive] {
        for count in [-32, -1, 1, 15, 16, 31, 33, 63, 65, 95, 97, 128, 4096, i64::MIN, i64::MAX, 1 << 32] {
            assert_eq!(check_operands(CTA, operation, 0, Some(count)), Err(Rule::CountRange), "{count}");
        }
        for count in [32, 64, 96] {
            let what = check_operands(CTA, operation, 0, Some(count)).expect("in range");
            assert_eq!((i64::from(what.expected), what.all), (count, false));
        }
    }
    for operation in [Operation::Sync, Operation::Red(ReductionOp::Popc)] {
        assert_eq!(check_operands(CTA, operation, 0, Some(0)), Err(Rule::CountRange));
    }
}

#[test]
fn an_arrive_without_or_with_zero_count_needs_one() {
    // clause: ptx.arrive-count
    // clause: ptx.syntax
    for count in [None, Some(0)] {
        assert_eq!(check_operands(CTA, Operation::Arrive, 3, count), Err(Rule::ArriveNeedsCount));
    }
    assert_eq!(check_operands(CTA, Operation::Arrive, 3, Some(32)).map(|what| what.expected), Ok(32));
}

#[test]
fn a_missing_count_is_the_cta_in_whole_warps_and_agrees_with_that_number() {
    // clause: ptx.count-default
    // clause: barcheck.count-missing-is-size
    let all = announce(Operation::Sync, None);
    assert_eq!((all.expected, all.all, CTA.threads()), (96, true, 96));
    let joined = Barrier::Active {
        expected: 96,
        all: true,
        class: Class::Plain,
        arrived: 1,
        waiting: 1,
        predicates: 0,
    };
    let none = Contribution::default();
    let number = announce(Operation::Arrive, Some(96));
    let after = arrive(CTA, joined, Seat::default(), number, none, 0).expect("agrees").barrier;
    assert_eq!(name(&after), "plain 96 2 arrived 1 waiting", "no longer waits for live warps only");
    // The other way round it is explicit already and stays so.
    let after = arrive(CTA, after, Seat::default(), all, none, 1).expect("agrees");
    assert_eq!((after.barrier, after.progress), (Barrier::Idle, Progress::Block));
}

#[test]
fn classes_are_compared_before_counts_and_counts_before_repetition() {
    // clause: barcheck.one-rule
    // clause: ptx.red-not-mixed
    // clause: barcheck.mixed-red-op
    // clause: ptx.count-agrees
    // clause: ptx.more-than-intended
    let gathering =
        |class| Barrier::Active { expected: 64, all: false, class, arrived: 1, waiting: 1, predicates: 0 };
    let none = Contribution::default();
    let refused = |class, operation, count| {
        arrive(CTA, gathering(class), ARRIVED, announce(operation, Some(count)), none, 0).map(|_| ())
    };
    let (and, or) = (ReductionOp::And, ReductionOp::Or);
    assert_eq!(refused(Class::Plain, Operation::Red(and), 96), Err(Rule::MixedRed));
    assert_eq!(refused(Class::Red(and), Operation::Sync, 96), Err(Rule::MixedRed));
    assert_eq!(refused(Class::Red(and), Operation::Arrive, 96), Err(Rule::MixedRed));
    assert_eq!(refused(Class::Red(and), Operation::Red(or), 96), Err(Rule::MixedRedOp));
    assert_eq!(refused(Class::Red(and), Operation::Red(and), 96), Err(Rule::CountMismatch));
    assert_eq!(refused(Class::Plain, Operation::Arrive, 96), Err(Rule::CountMismatch));
    assert_eq!(refused(Class::Plain, Operation::Arrive, 64), Err(Rule::RepeatedArrival));
    assert_eq!(refused(Class::Red(and), Operation::Red(and), 64), Err(Rule::RepeatedArrival));
}

#[test]
fn a_warp_counts_32_threads_and_only_waiting_ones_block() {
    // clause: ptx.signals-arrival
    // clause: ptx.arrive-no-wait
    // clause: ptx.sync-waits
    let none = Contribution::default();
    let first = announce(Operation::Arrive, Some(64));
    let effect = arrive(CTA, Barrier::Idle, Seat::default(), first, none, 0).expect("fits");
    assert_eq!(effect.progress, Progress::Pass);
    assert_eq!(effect.seat, ARRIVED);
    assert_eq!(effect.completed, None);
    let second = announce(Operation::Sync, Some(64));
    let effect = arrive(CTA, effect.barrier, Seat::default(), second, none, 0).expect("fits");
    // The last to arrive is released like the others, so it takes its seat among those that wait.
    assert_eq!((effect.progress, effect.seat), (Progress::Block, Seat { waiting: true, ..ARRIVED }));
    let done = Completion { result: None, takes_in_exited: false, nobody_waits: false, up_to: None };
    assert_eq!((effect.barrier, effect.completed), (Barrier::Idle, Some(done)));
}

#[test]
fn a_generation_of_arrivals_only_has_nobody_who_waits() {
    // clause: barcheck.nobody-waits
    let what = announce(Operation::Arrive, Some(32));
    let effect = arrive(CTA, Barrier::Idle, Seat::default(), what, Contribution::default(), 0);
    let done = Completion { result: None, takes_in_exited: false, nobody_waits: true, up_to: None };
    assert_eq!(effect.expect("fits").completed, Some(done));
}

#[test]
fn a_completed_generation_leaves_every_seat_vacant() {
    // clause: ptx.complete-reinit
    assert!(complete(ARRIVED).is_vacant() && complete(Seat { waiting: true, ..ARRIVED }).is_vacant());
}

#[test]
fn reductions_count_lanes_or_tell_all_or_any() {
    // clause: ptx.red-combine
    // clause: ptx.red-popc
    // clause: ptx.red-and-or
    let result = |op, parts: [(u32, u32); 2]| {
        let mut barrier = Barrier::Idle;
        let mut completed = None;
        for (lanes, truths) in parts {
            let what = announce(Operation::Red(op), Some(64));
            let effect = arrive(CTA, barrier, Seat::default(), what, Contribution { lanes, truths }, 0);
            let effect = effect.expect("fits");
            (barrier, completed) = (effect.barrier, effect.completed);
        }
        completed.and_then(|done| done.result).expect("complete")
    };
    let (popc, and, or) = (ReductionOp::Popc, ReductionOp::And, ReductionOp::Or);
    assert_eq!(result(popc, [(32, 7), (10, 3)]), 10);
    assert_eq!(result(popc, [(32, 0), (32, 0)]), 0);
    // A partial warp whose lanes are all true is as true as a whole one.
    assert_eq!(result(and, [(32, 32), (10, 10)]), 1);
    assert_eq!(result(and, [(32, 32), (10, 9)]), 0);
    assert_eq!(result(and, [(32, 31), (10, 10)]), 0);
    assert_eq!(result(or, [(32, 0), (10, 0)]), 0);
    assert_eq!(result(or, [(32, 1), (10, 0)]), 1);
    assert_eq!(result(or, [(32, 0), (10, 1)]), 1);
    assert_eq!(result(or, [(32, 1), (10, 1)]), 1);
}

#[test]
fn only_an_explicit_count_at_barrier_0_is_noted_as_reserved() {
    // clause: barcheck.reserved-barrier
    let notes = |id, count| check_operands(CTA, Operation::Sync, id, count).expect("in range").notes();
    assert_eq!(notes(0, Some(96)), [Rule::ReservedBarrier]);
    assert!(notes(0, None).is_empty() && notes(1, Some(96)).is_empty());
    let what = check_operands(CTA, Operation::Sync, 0, Some(64)).expect("in range");
    assert_eq!(what.id, BarrierId(0));
    let effect = arrive(CTA, Barrier::Idle, Seat::default(), what, Contribution::default(), 0);
    assert_eq!(effect.expect("fits").notes, [Rule::ReservedBarrier]);
}

#[test]
fn a_warp_that_arrives_again_is_counted_again_only_by_that_reading_and_with_a_count() {
    // clause: ptx.more-than-intended
    // clause: barcheck.repeated-switch
    let counting = Cta { repeats_count: true, ..CTA };
    let once = Barrier::Active {
        expected: 64,
        all: false,
        class: Class::Plain,
        arrived: 1,
        waiting: 0,
        predicates: 0,
    };
    let seat = Seat { arrived: true, ..Seat::default() };
    let again = |cta, barrier, operation, count| {
        arrive(cta, barrier, seat, announce(operation, count), Contribution::default(), 0)
    };
    assert_eq!(again(CTA, once, Operation::Sync, Some(64)).err(), Some(Rule::RepeatedArrival));
    let second = again(counting, once, Operation::Sync, Some(64)).expect("it counts");
    assert!(second.completed.is_some() && second.barrier == Barrier::Idle);
    // All threads of the CTA are waited for once each.
    let all = Barrier::Active {
        expected: 96,
        all: true,
        class: Class::Plain,
        arrived: 1,
        waiting: 0,
        predicates: 0,
    };
    assert_eq!(again(counting, all, Operation::Sync, None).err(), Some(Rule::RepeatedArrival));
    let one_more = again(counting, all, Operation::Arrive, Some(96)).expect("it counts");
    assert!(matches!(one_more.barrier, Barrier::Active { arrived: 2, .. }));
}

#[test]
fn exits_hold_or_release_an_explicit_count() {
    // clause: ptx.exited-threads
    // clause: barcheck.exited-switch
    let state = |all, waiting| Barrier::Active {
        expected: 96,
        all,
        class: Class::Plain,
        arrived: 2,
        waiting,
        predicates: 0,
    };
    assert_eq!(completion(CTA, state(false, 2), 1), None);
    let released = completion(RELEASING, state(false, 2), 1).expect("released");
    assert!(released.takes_in_exited && !released.nobody_waits);
    assert_eq!(completion(RELEASING, state(false, 0), 1), None, "nobody waits: nobody to release");
    assert_eq!(completion(RELEASING, state(false, 2), 0), None, "a live warp has not arrived");
    let all = completion(CTA, state(true, 2), 1).expect("everybody alive is there");
    assert!(all.takes_in_exited);
    // At an arrival as well as at an exit.
    let mut what = announce(Operation::Sync, Some(96));
    let first = Barrier::Active {
        expected: 96,
        all: false,
        class: Class::Plain,
        arrived: 1,
        waiting: 0,
        predicates: 0,
    };
    let effect = arrive(RELEASING, first, Seat::default(), what, Contribution::default(), 1);
    assert!(effect.expect("fits").completed.is_some());
    what.operation = Operation::Arrive;
    let effect = arrive(RELEASING, first, Seat::default(), what, Contribution::default(), 1);
    assert_eq!(effect.expect("fits").completed, None);
}
