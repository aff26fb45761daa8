//! vISA named barriers: operands at all boundaries, every state by every event and seat.

use crate::common::*;
use barcheck_model::barrier::nbarrier::{
    Announcement, Barrier, Gathering, Kind, check_count, check_id, check_signal, complete, signal, wait,
};
use barcheck_model::barrier::{BarrierId, Progress, Seat, Token};
use barcheck_model::rule::Rule;
use std::fmt::Write as _;

const VACANT: Seat = Seat {
    arrived: false,
    waiting: false,
    consumer: false,
    notified: false,
    produced_last: false,
    token: Token::None,
};

fn name(barrier: &Barrier) -> String {
    let gathering = barrier.gathering.map_or("idle".to_owned(), |g| {
        let Gathering { producers, consumers, produced, consumed, waiting } = g;
        format!("{produced}/{producers} producers {consumed}/{consumers} consumers {waiting} waiting")
    });
    format!("{gathering} {} unwaited", barrier.unwaited)
}

fn gathering(limits: (u32, u32), there: (u32, u32), waiting: u32, unwaited: u32) -> Barrier {
    let (producers, consumers) = limits;
    let (produced, consumed) = there;
    Barrier { gathering: Some(Gathering { producers, consumers, produced, consumed, waiting }), unwaited }
}

/// Every state of barriers with up to two producers and two consumers that has not completed.
fn states() -> Vec<Barrier> {
    let mut all = vec![Barrier::default(), Barrier { gathering: None, unwaited: 1 }];
    for limits in [(1, 1), (1, 2), (2, 1), (2, 2)] {
        for produced in 0..=limits.0 {
            for consumed in 0..=limits.1 {
                if (produced, consumed) == (0, 0) || (produced, consumed) == limits {
                    continue;
                }
                for waiting in 0..=consumed {
                    all.push(gathering(limits, (produced, consumed), waiting, 0));
                }
            }
        }
    }
    all.push(gathering((2, 2), (1, 1), 0, 1));
    all
}

/// Every seat that a thread which does not block can have.
fn seats() -> Vec<Seat> {
    let arrived = Seat { arrived: true, ..VACANT };
    let mut all = Vec::new();
    for seat in [
        VACANT,
        Seat { produced_last: true, ..VACANT },
        Seat { produced_last: true, ..arrived },
        Seat { consumer: true, ..arrived },
    ] {
        all.extend([seat, Seat { notified: true, ..seat }]);
    }
    all
}

fn announce(kind: Kind, producers: u32, consumers: u32) -> Announcement {
    Announcement { id: BarrierId(0), kind, producers, consumers }
}

#[test]
fn every_state_by_every_signal_of_a_thread_that_has_not_arrived() {
    let mut table = String::new();
    for state in states() {
        let mut outcomes = ByOutcome::default();
        for limits in [(1, 1), (1, 2), (2, 1), (2, 2)] {
            for kind in [Kind::Both, Kind::Producer, Kind::Consumer] {
                let outcome = signal(state, VACANT, announce(kind, limits.0, limits.1));
                outcomes.add(format!("{kind:?} {} {}", limits.0, limits.1), effect_name(outcome, name));
            }
        }
        table += &outcomes.under(&name(&state));
    }
    insta::assert_snapshot!(table);
}

#[test]
fn every_seat_by_every_event() {
    let mut table = String::new();
    for seat in seats() {
        writeln!(table, "seat {}", seat_name(seat)).expect("a string takes it");
        let unwaited = u32::from(seat.notified);
        let busy = gathering((2, 2), (1, 1), 0, unwaited);
        for kind in [Kind::Both, Kind::Producer, Kind::Consumer] {
            let outcome = signal(busy, seat, announce(kind, 2, 2));
            writeln!(table, "  signal {kind:9?} {}", effect_name(outcome, name)).expect("a string");
        }
        writeln!(table, "  wait, busy       {}", effect_name(wait(busy, seat), name)).expect("a string");
        if !seat.arrived {
            let idle = Barrier { gathering: None, unwaited };
            writeln!(table, "  wait, idle       {}", effect_name(wait(idle, seat), name)).expect("a string");
        }
        let after = complete(seat).map_or_else(|rule| rule.to_string(), seat_name);
        writeln!(table, "  completion       {after}").expect("a string takes it");
        if seat.arrived && seat.consumer {
            let after = complete(Seat { waiting: true, ..seat }).map_or_else(|r| r.to_string(), seat_name);
            writeln!(table, "  completion, waiting {after}").expect("a string takes it");
        }
    }
    insta::assert_snapshot!(table);
}

#[test]
fn ids_go_from_0_to_31() {
    // clause: nbarrier.id-range
    for id in [0, 1, 15, 16, 31] {
        assert_eq!(check_id(id).map(|id| i64::from(id.0)), Ok(id));
    }
    for id in [-1, 32, 4095, 4096, i64::MIN, i64::MAX, 1 << 32] {
        assert_eq!(check_id(id), Err(Rule::BarrierIdRange));
        assert_eq!(check_signal(id, 3, 0, 0, 4), Err(Rule::BarrierIdRange), "the id is checked first");
    }
}

#[test]
fn types_go_from_0_to_2() {
    // clause: nbarrier.type-range
    // clause: nbarrier.general-form
    // clause: nbarrier.type-roles
    for (number, kind) in [(0, Kind::Both), (1, Kind::Producer), (2, Kind::Consumer)] {
        let what = check_signal(31, number, 3, 4, 4);
        assert_eq!(what, Ok(Announcement { id: BarrierId(31), ..announce(kind, 3, 4) }));
    }
    for number in [-1, 3, 15, 16, 256, i64::MIN, i64::MAX, 1 << 32] {
        assert_eq!(check_signal(0, number, 0, 0, 4), Err(Rule::TypeRange), "before the counts");
    }
    assert!(Kind::Both.produces() && Kind::Both.consumes());
    assert!(Kind::Producer.produces() && !Kind::Producer.consumes());
    assert!(!Kind::Consumer.produces() && Kind::Consumer.consumes());
}

#[test]
fn numbers_go_from_1_to_the_size_of_the_group() {
    // clause: nbarrier.producers-range
    // clause: nbarrier.consumers-range
    for count in [1, 2, 4] {
        assert_eq!(check_count(count, 4).map(i64::from), Ok(count));
        assert!(check_signal(0, 0, count, 1, 4).is_ok() && check_signal(0, 0, 1, count, 4).is_ok());
    }
    for count in [-1, 0, 5, 31, 4096, i64::MIN, i64::MAX, (1 << 32) + 1] {
        assert_eq!(check_count(count, 4), Err(Rule::CountRange), "{count}");
        assert_eq!(check_signal(0, 0, count, 1, 4), Err(Rule::CountRange));
        assert_eq!(check_signal(0, 0, 1, count, 4), Err(Rule::CountRange));
    }
}

#[test]
fn counts_are_compared_before_repetition_and_repetition_before_room() {
    // clause: barcheck.one-rule
    // clause: nbarrier.participants-agree
    // clause: nbarrier.signal-notifies
    // clause: nbarrier.participant-total
    let full = gathering((1, 2), (1, 1), 0, 0);
    let there = Seat { arrived: true, consumer: true, ..VACANT };
    assert_eq!(signal(full, there, announce(Kind::Both, 2, 2)), Err(Rule::CountMismatch));
    assert_eq!(signal(full, there, announce(Kind::Both, 1, 1)), Err(Rule::CountMismatch));
    assert_eq!(signal(full, there, announce(Kind::Both, 1, 2)), Err(Rule::RepeatedArrival));
    assert_eq!(signal(full, VACANT, announce(Kind::Both, 1, 2)), Err(Rule::TooManyParticipants));
    assert_eq!(signal(full, VACANT, announce(Kind::Producer, 1, 2)), Err(Rule::TooManyParticipants));
    let done = signal(full, VACANT, announce(Kind::Consumer, 1, 2)).expect("one consumer is missing");
    assert!(done.completed.is_some());
    let consumers = gathering((2, 1), (1, 1), 0, 0);
    assert_eq!(signal(consumers, VACANT, announce(Kind::Consumer, 2, 1)), Err(Rule::TooManyParticipants));
}

#[test]
fn a_type_0_thread_is_one_producer_and_one_consumer() {
    // clause: barcheck.type-0-counts-twice
    let effect = signal(Barrier::default(), VACANT, announce(Kind::Both, 2, 2)).expect("room");
    assert_eq!(effect.barrier, gathering((2, 2), (1, 1), 0, 0));
    assert_eq!(effect.progress, Progress::Pass);
    let effect = signal(effect.barrier, VACANT, announce(Kind::Both, 2, 2)).expect("room");
    assert_eq!(effect.barrier, Barrier { gathering: None, unwaited: 2 });
    assert!(effect.completed.is_some_and(|done| done.nobody_waits && !done.takes_in_exited));
}

#[test]
fn a_wait_consumes_a_notification_or_blocks_as_a_consumer_or_is_an_error() {
    // clause: nbarrier.wait-blocks
    // clause: nbarrier.only-consumers-wait
    let consumer = Seat { arrived: true, consumer: true, ..VACANT };
    let notified = Seat { notified: true, ..VACANT };
    assert!(VACANT.is_vacant() && !notified.is_vacant() && !consumer.is_vacant());
    let effect = wait(Barrier { gathering: None, unwaited: 2 }, notified).expect("notified");
    assert_eq!((effect.progress, effect.seat, effect.barrier.unwaited), (Progress::Pass, VACANT, 1));
    let busy = gathering((2, 2), (1, 1), 0, 0);
    let effect = wait(busy, consumer).expect("a consumer");
    assert_eq!(effect.progress, Progress::Block);
    assert_eq!(effect.seat, Seat { waiting: true, ..consumer });
    assert_eq!(effect.barrier, gathering((2, 2), (1, 1), 1, 0));
    assert_eq!(wait(busy, VACANT), Err(Rule::WaitWithoutArrive));
    assert_eq!(wait(busy, Seat { produced_last: true, ..VACANT }), Err(Rule::ProducerWaits));
    let producer = Seat { arrived: true, produced_last: true, ..VACANT };
    assert_eq!(wait(busy, producer), Err(Rule::ProducerWaits));
    // A pending notification comes first, also for one that has produced since.
    assert!(wait(gathering((2, 2), (1, 1), 0, 1), Seat { notified: true, ..producer }).is_ok());
}

#[test]
fn a_consumer_that_still_holds_a_notification_would_lose_one() {
    // clause: barcheck.lost-notification
    let consumer = Seat { arrived: true, consumer: true, ..VACANT };
    assert_eq!(complete(consumer), Ok(Seat { notified: true, ..VACANT }));
    assert_eq!(complete(Seat { notified: true, ..consumer }), Err(Rule::LostNotification));
    // One that blocks is released: it holds nothing. A producer gets none to lose.
    assert_eq!(complete(Seat { waiting: true, ..consumer }), Ok(VACANT));
    let producer = Seat { arrived: true, notified: true, produced_last: true, ..VACANT };
    assert_eq!(complete(producer), Ok(Seat { arrived: false, ..producer }));
}

#[test]
fn a_signal_before_all_waits_are_done_is_noted() {
    // clause: nbarrier.free-after-waits
    let note = |unwaited| {
        let barrier = Barrier { gathering: None, unwaited };
        signal(barrier, VACANT, announce(Kind::Both, 2, 2)).expect("room").notes
    };
    assert!(note(0).is_empty());
    assert_eq!(note(1), [Rule::ReuseBeforeFree]);
}
