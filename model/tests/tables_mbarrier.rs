//! mbarrier objects: operands at all boundaries, every state by every event.

use crate::common::*;
use barcheck_model::barrier::mbarrier::{
    Acquire, Action, Barrier, Keeping, Live, MOST, Moved, Phase, What, check_bytes, check_count,
    check_parity, id, number,
};
use barcheck_model::barrier::{
    Applied, Around, Arrival, BarrierId, BarrierState as _, Instruction as _, Progress, Seat, Token,
};
use barcheck_model::program::{LocationId, Reach};
use barcheck_model::rule::Rule;
use std::fmt::Write as _;

/// Nobody is around; of operations in flight there may be some.
struct Nobody {
    is_in_flight: bool,
}

const NOBODY: Nobody = Nobody { is_in_flight: false };

impl Around for Nobody {
    fn agents(&self, _: BarrierId) -> u32 {
        2
    }

    fn exits_release(&self) -> bool {
        false
    }

    fn exited(&self) -> u32 {
        0
    }

    fn is_in_flight(&self, _: BarrierId) -> bool {
        self.is_in_flight
    }

    fn exited_outside(&self, _: BarrierId) -> u32 {
        0
    }
}

fn name(barrier: &Barrier) -> String {
    let Barrier::Live(live) = barrier else { return "dead".to_owned() };
    let Live { expected, pending, bytes, announced, odd, observed, waited } = live;
    let parity = if *odd { "odd" } else { "even" };
    let mut text = format!("{parity} {pending}/{expected} arrivals, {bytes}/{announced} bytes");
    text += if *observed { "" } else { ", unobserved" };
    text += if *waited { ", waited for" } else { "" };
    text
}

fn live(expected: u32, pending: u32, bytes: i32) -> Live {
    let announced = u32::try_from(bytes).unwrap_or(0);
    Live { expected, pending, bytes, announced, odd: false, observed: true, waited: false }
}

/// Every kind of state: arrivals and bytes there and not, either parity, observed or not, waited for or not.
fn states() -> Vec<Barrier> {
    let mut all = vec![Barrier::Dead];
    for (expected, pending, bytes) in [(1, 1, 0), (2, 2, 0), (2, 1, 0), (2, 1, 8), (2, 0, 8), (2, 2, -8)] {
        let state = live(expected, pending, bytes);
        all.push(Barrier::Live(state));
        all.push(Barrier::Live(Live { odd: true, ..state }));
        all.push(Barrier::Live(Live { observed: false, ..state }));
        all.push(Barrier::Live(Live { waited: true, ..state }));
    }
    all
}

fn arrive(count: u32, bytes: i32) -> What {
    What::Arrive {
        count,
        bytes,
        dropped: 0,
        no_complete: false,
        how: Arrival::Publishing,
        kept: Keeping::Nothing,
    }
}

/// An arrival that must not complete the phase.
fn incomplete(dropped: u32) -> What {
    What::Arrive {
        count: 1,
        bytes: 0,
        dropped,
        no_complete: true,
        how: Arrival::Publishing,
        kept: Keeping::Nothing,
    }
}

fn events() -> Vec<(&'static str, What)> {
    vec![
        ("init 2", What::Init(2)),
        ("inval", What::Inval),
        ("arrive", arrive(1, 0)),
        ("arrive 2", arrive(2, 0)),
        ("arrive 3", arrive(3, 0)),
        (
            "arrive relaxed",
            What::Arrive {
                count: 1,
                bytes: 0,
                dropped: 0,
                no_complete: false,
                how: Arrival::AfterFence(Reach::Cta),
                kept: Keeping::Nothing,
            },
        ),
        ("arrive, expect 8", arrive(1, 8)),
        (
            "drop",
            What::Arrive {
                count: 1,
                bytes: 0,
                dropped: 1,
                no_complete: false,
                how: Arrival::Publishing,
                kept: Keeping::Nothing,
            },
        ),
        ("arrive noComplete", incomplete(0)),
        ("drop noComplete", incomplete(1)),
        ("expect 8", What::CountBytes(8)),
        ("complete 8", What::CountBytes(-8)),
        ("complete 16", What::CountBytes(-16)),
        ("wait even", What::Wait(Phase::Parity(false), Acquire::Now)),
        ("wait odd", What::Wait(Phase::Parity(true), Acquire::Now)),
        ("ask even", What::Ask(Phase::Parity(false), Acquire::Now, false)),
        ("ask odd", What::Ask(Phase::Parity(true), Acquire::Now, false)),
        ("copy 8", What::Copy(8, Moved::to(LocationId(0)))),
        ("commit", What::Commit(1)),
        ("arrive when copied", What::FillsArrive { lanes: 2, counted: true, publishes: true }),
        ("arrive when copied, noinc", What::FillsArrive { lanes: 2, counted: false, publishes: true }),
    ]
}

// clause: ptx.mbarrier-init, ptx.mbarrier-init-once, ptx.mbarrier-inval, ptx.mbarrier-live
// clause: ptx.mbarrier-arrive, ptx.mbarrier-arrive-expect, ptx.mbarrier-arrive-drop
// clause: ptx.mbarrier-pending-range, ptx.mbarrier-expect-tx, ptx.mbarrier-complete-tx
// clause: ptx.mbarrier-phase-complete, ptx.mbarrier-contents
// clause: ptx.mbarrier-observed, ptx.mbarrier-parity-wait, barcheck.over-delivery, ptx.mbarrier-relaxed
// clause: ptx.mbarrier-release, ptx.bulk-copy-completes, ptx.commit-arrives, ptx.mbarrier-no-complete
#[test]
fn every_state_by_every_event() {
    let mut table = String::new();
    for state in states() {
        let mut outcomes = ByOutcome::default();
        for (event, what) in events() {
            let outcome = match (Action { object: 0, what }).apply(&state, Seat::default(), 0, &NOBODY) {
                Err(refusal) => refusal_name(refusal),
                Ok(Applied::Writes(next)) => format!("becomes {}", name(&next)),
                Ok(Applied::Arrives(effect, how)) => {
                    format!("arrives ({how:?}): {}", effect_name(Ok::<_, Rule>(effect), name))
                }
                Ok(Applied::Counts(effect)) => effect_name(Ok::<_, Rule>(effect), name),
                Ok(Applied::Waits(effect, _)) => effect_name(Ok::<_, Rule>(effect), name),
                Ok(Applied::Asks(effect, complete)) => {
                    format!("{complete}: {}", effect_name(Ok::<_, Rule>(effect), name))
                }
                Ok(Applied::Leaves(effect, operation) | Applied::LeavesCounted(effect, operation)) => {
                    let left = effect_name(Ok::<_, Rule>(effect), name);
                    format!("leaves {operation:?}: {left}")
                }
                Ok(other) => panic!("{event} is no instruction on an object: {other:?}"),
            };
            outcomes.add(event, outcome);
        }
        table += &outcomes.under(&name(&state));
    }
    insta::assert_snapshot!(table);
}

/// Nothing else asks what is in flight.
// clause: ptx.mbarrier-inval
#[test]
fn an_object_to_which_something_is_in_flight_is_not_invalidated() {
    let action = |what| Action { object: 0, what };
    let some = Nobody { is_in_flight: true };
    for state in states() {
        for (event, what) in events() {
            let outcome = |around| format!("{:?}", action(what).apply(&state, Seat::default(), 0, around));
            let differs = outcome(&some) != outcome(&NOBODY);
            let is_free = matches!(state, Barrier::Live(Live { waited: false, .. }));
            assert_eq!(differs, event == "inval" && is_free, "{event}: {}", name(&state));
            if differs {
                assert_eq!(outcome(&some), "Err(Violation(MbarrierLive))");
            }
        }
    }
}

// clause: barcheck.stale-completion, ptx.bulk-copy-completes, ptx.commit-arrives
#[test]
fn every_state_by_every_landing() {
    use barcheck_model::barrier::Operation as _;
    let mut table = String::new();
    let mut landings = Vec::new();
    for odd in [false, true] {
        for (name, what) in [("copy of 8", What::Copy(8, Moved::default())), ("commit", What::Commit(1))] {
            let issued = Barrier::Live(Live { odd, ..live(2, 2, 0) });
            let applied = (Action { object: 3, what }).apply(&issued, Seat::default(), 0, &NOBODY);
            let Ok(Applied::Leaves(_, operation)) = applied else {
                panic!("{name} leaves something pending")
            };
            assert_eq!(operation.barrier(), id(3));
            landings.push((format!("{name} from an {} phase", if odd { "odd" } else { "even" }), operation));
        }
    }
    for state in states() {
        let mut outcomes = ByOutcome::default();
        for (event, operation) in &landings {
            let outcome = match operation.land(&state) {
                Err(rule) => rule.name().to_owned(),
                Ok(landing) => {
                    let completes = if landing.completed.is_some() { ", completes" } else { "" };
                    format!("{}{completes}", name(&landing.barrier))
                }
            };
            outcomes.add(event.clone(), outcome);
        }
        let _ = write!(table, "{}", outcomes.under(&name(&state)));
    }
    insta::assert_snapshot!(table);
}

// clause: ptx.mbarrier-count-range, ptx.mbarrier-tx-range, ptx.mbarrier-parity
#[test]
fn operands_are_checked_at_their_boundaries() {
    let most = i64::from(MOST);
    assert_eq!(most, (1 << 20) - 1);
    for (count, checked) in [
        (i64::MIN, Err(Rule::CountRange)),
        (0, Err(Rule::CountRange)),
        (1, Ok(1)),
        (most, Ok(MOST)),
        (most + 1, Err(Rule::CountRange)),
        ((1 << 32) + 1, Err(Rule::CountRange)),
    ] {
        assert_eq!(check_count(count), checked, "{count}");
    }
    for (bytes, checked) in [
        (-1, Err(Rule::TxRange)),
        (0, Ok(0)),
        (most, Ok((1 << 20) - 1)),
        (most + 1, Err(Rule::TxRange)),
        (i64::MAX, Err(Rule::TxRange)),
    ] {
        assert_eq!(check_bytes(bytes), checked, "{bytes}");
    }
    for (parity, checked) in
        [(0, Ok(false)), (1, Ok(true)), (2, Err(Rule::ParityRange)), (-1, Err(Rule::ParityRange))]
    {
        assert_eq!(check_parity(parity), checked, "{parity}");
    }
}

// clause: ptx.mbarrier-token, ptx.mbarrier-token-wait, ptx.mbarrier-test-wait, ptx.mbarrier-try-wait
#[test]
fn a_token_names_its_phase_until_the_next_one_is_complete() {
    let barrier = Barrier::Live(live(2, 2, 0));
    let applied = |what, seat, pick| (Action { object: 0, what }).apply(&barrier, seat, pick, &NOBODY);
    let arrive = What::Arrive {
        count: 1,
        bytes: 0,
        dropped: 0,
        no_complete: false,
        how: Arrival::Publishing,
        kept: Keeping::Token,
    };
    let Ok(Applied::Arrives(effect, _)) = applied(arrive, Seat::default(), 0) else { panic!("it arrives") };
    assert_eq!(effect.seat.token, Token::Present);
    // Of tokens in several locals of a warp all name one phase.
    let one_more = What::Arrive {
        count: 1,
        bytes: 0,
        dropped: 0,
        no_complete: false,
        how: Arrival::Publishing,
        kept: Keeping::OneMore,
    };
    let beside = |token| applied(one_more, Seat { token, ..Seat::default() }, 0).map_err(refusal_name);
    assert!(matches!(beside(Token::Present), Ok(Applied::Arrives(..))));
    for token in [Token::Before, Token::Stale] {
        assert!(beside(token).is_err_and(|why| why.contains("SeveralTokens")), "{token:?}");
    }
    let ages = std::iter::successors(Some(Token::Present), |token| Some(token.aged()));
    let found: Vec<_> = ages
        .take(4)
        .map(|token| {
            let seat = Seat { token, ..Seat::default() };
            let ask = |pick| match applied(What::Ask(Phase::OfToken, Acquire::Now, true), seat, pick) {
                Ok(Applied::Asks(_, complete)) => Ok(complete),
                Ok(other) => panic!("{other:?}"),
                Err(refusal) => Err(refusal_name(refusal)),
            };
            let wait = match applied(What::Wait(Phase::OfToken, Acquire::Now), seat, 0) {
                Ok(Applied::Waits(effect, _)) => Ok(effect.progress == Progress::Pass),
                Ok(other) => panic!("{other:?}"),
                Err(refusal) => Err(refusal_name(refusal)),
            };
            (ask(0), ask(1), wait)
        })
        .collect();
    let stale = || Err("stale-token".to_owned());
    assert_eq!(
        found,
        [
            (Ok(false), Ok(false), Ok(false)),
            (Ok(true), Ok(false), Ok(true)),
            (stale(), stale(), stale()),
            (stale(), stale(), stale()),
        ]
    );
    assert_eq!(Token::None.aged(), Token::None);
}

// clause: ptx.mbarrier-tx-range
#[test]
fn bytes_stay_within_their_range_in_both_directions() {
    let most = i32::try_from(MOST).unwrap();
    let full = Live::new(2).count_bytes(most).unwrap().0;
    assert_eq!(full.count_bytes(1), Err(Rule::TxRange));
    assert!(full.count_bytes(-1).is_ok());
    let empty = Live::new(2).count_bytes(-most).unwrap().0;
    assert_eq!(empty.count_bytes(-1), Err(Rule::TxRange));
    assert!(empty.count_bytes(1).is_ok());
}

#[test]
fn what_a_phase_announces_or_receives_beyond_the_range_depends_on_the_order() {
    let most = i32::try_from(MOST).unwrap();
    let live = |bytes, announced| Barrier::Live(Live { announced, ..live(2, 2, bytes) });
    assert!(!Barrier::Dead.depends_on_order());
    assert!(!live(most, MOST).depends_on_order() && !live(0, MOST).depends_on_order());
    assert!(live(0, MOST + 1).depends_on_order() && live(-1, MOST).depends_on_order());
}

#[test]
fn objects_come_after_the_barriers_of_the_cta() {
    assert_eq!((id(0), number(id(7)), number(BarrierId(15))), (BarrierId(16), Some(7), None));
}

#[test]
fn an_object_holds_arrivals_while_its_phase_has_begun() {
    let mut held = String::new();
    for state in states() {
        let _ = writeln!(held, "{}: {}", name(&state), state.holds_arrivals());
    }
    insta::assert_snapshot!(held);
}
