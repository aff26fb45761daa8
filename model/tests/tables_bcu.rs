//! BCU barriers: operands at all boundaries, every state by every event, states saved and restored.

use crate::common::*;
use barcheck_model::barrier::bcu::{
    Announcement, Barrier, Contribution, Cta, Live, Opaque, Operand, Operation, ResultCopy, Usage, arrive,
    check_operands, check_state_id, complete, completion, emptied, fetch, read_barrier, unpack,
    write_barrier,
};
use barcheck_model::barrier::{BarrierId, NotModelled, Progress, Refusal, Seat, Token};
use barcheck_model::program::ReductionOp;
use barcheck_model::rule::Rule;
use std::fmt::Write as _;

const CTA: Cta = Cta { warps: 3, exited: 0 };
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
    let usage = match barrier.usage {
        None => "unused",
        Some(Usage::Plain) => "plain",
        Some(Usage::Red) => "red",
    };
    let live = barrier.live.map_or("idle".to_owned(), |live| {
        let red = live.red.map_or(String::new(), |op| format!("{}({}) ", op_name(op), live.predicates));
        format!("{red}count {} {} arrived", live.count, live.arrivals)
    });
    format!("{usage} {live} {} waiting", barrier.waiting)
}

fn state(usage: Usage, red: Option<ReductionOp>, count: u32, arrivals: u32, waiting: u32) -> Barrier {
    let predicates = if red.is_some_and(|op| op != ReductionOp::Or) { 1 } else { 0 };
    Barrier { usage: Some(usage), live: Some(Live { red, count, arrivals, predicates }), waiting }
}

fn states() -> Vec<Barrier> {
    let mut all = vec![Barrier::default()];
    for usage in [Usage::Plain, Usage::Red] {
        all.push(Barrier { usage: Some(usage), ..Barrier::default() });
    }
    for (count, most) in [(0, 2), (64, 1), (96, 4)] {
        for arrivals in (1..=most).filter(|n| count != 96 || *n != 3) {
            for waiting in 0..=arrivals.min(2) {
                if count != 0 || waiting == arrivals {
                    all.push(state(Usage::Plain, None, count, arrivals, waiting));
                }
            }
            if arrivals < 3 {
                all.extend(REDUCTIONS.map(|op| state(Usage::Red, Some(op), count, arrivals, arrivals)));
            }
        }
    }
    all
}

fn literal(value: i64) -> Operand {
    Operand { value, register: false }
}

fn held(value: i64) -> Operand {
    Operand { value, register: true }
}

fn announce(operation: Operation, count: i64) -> Announcement {
    check_operands(operation, literal(1), literal(count), false).expect("operands in range")
}

fn events() -> Vec<(String, Announcement, Contribution)> {
    let mut all = Vec::new();
    for count in [0, 64, 96] {
        all.push((format!("SYNC {count}"), announce(Operation::Sync, count), Contribution::default()));
        if count != 0 {
            all.push((format!("ARV {count}"), announce(Operation::Arv, count), Contribution::default()));
        }
        for op in REDUCTIONS {
            for truths in [0, 32] {
                let what = announce(Operation::Red(op), count);
                let name = format!("RED.{} {count} {truths}/32", op_name(op).to_uppercase());
                all.push((name, what, Contribution { lanes: 32, truths }));
            }
        }
    }
    all
}

#[test]
fn every_state_by_every_arrival() {
    let mut table = String::new();
    for state in states() {
        let mut outcomes = ByOutcome::default();
        for (event, what, contribution) in events() {
            let outcome = arrive(CTA, state, Seat::default(), what, contribution);
            outcomes.add(event, effect_name(outcome, name));
        }
        table += &outcomes.under(&name(&state));
    }
    insta::assert_snapshot!(table);
}

#[test]
fn exits_make_up_the_cta_for_count_0_only() {
    // clause: bcu.exited-warps
    // clause: bcu.red-completion
    // clause: bcu.sync-count-zero
    let mut table = String::from("(exited: 0, 1, 2)\n");
    for state in states() {
        let outcomes: Vec<_> = (0..3)
            .map(|exited| {
                let cta = Cta { warps: 3, exited };
                completion(cta, state).map_or("-".to_owned(), completion_name)
            })
            .collect();
        writeln!(table, "{:40} {}", name(&state), outcomes.join(" | ")).expect("a string takes it");
    }
    insta::assert_snapshot!(table);
}

#[test]
fn immediates_are_checked_as_they_are() {
    // clause: bcu.sixteen-barriers
    // clause: bcu.count-field
    // clause: bcu.red-sixteen-barriers
    // clause: bcu.red-count-field
    // clause: bcu.operand-forms
    // clause: bcu.red-operand-forms
    for operation in [Operation::Sync, Operation::Arv, Operation::Red(ReductionOp::Or)] {
        let check = |id, count| check_operands(operation, literal(id), literal(count), false);
        for id in [-1, 16, 31, 32, 4095, 4096, i64::MIN, i64::MAX, 1 << 32] {
            assert_eq!(check(id, 64), Err(Rule::BarrierIdRange), "{id}");
            assert_eq!(check(id, 1), Err(Rule::BarrierIdRange), "the id is checked first");
        }
        for id in [0, 1, 15] {
            assert_eq!(check(id, 64).map(|what| i64::from(what.id.0)), Ok(id));
        }
        for count in [-32, -1, 1, 15, 16, 31, 33, 4095, 4096, 4128, i64::MIN, i64::MAX, 1 << 32] {
            assert_eq!(check(1, count), Err(Rule::CountRange), "{count}");
        }
        // 4064 is the largest multiple of 32 in twelve bits; no CTA bounds the count.
        for count in [32, 96, 128, 4064] {
            let what = check(1, count).expect("in range");
            assert_eq!((i64::from(what.count), what.truncated, what.operation), (count, false, operation));
        }
    }
}

#[test]
fn count_0_is_for_those_that_wait_only() {
    // clause: bcu.arv-count-positive
    for source in [literal, held] {
        let check = |operation| check_operands(operation, source(1), source(0), false);
        assert_eq!(check(Operation::Arv), Err(Rule::CountRange));
        assert_eq!(check(Operation::Sync).map(|what| what.count), Ok(0));
        assert_eq!(check(Operation::Red(ReductionOp::And)).map(|what| what.count), Ok(0));
    }
}

#[test]
fn registers_lose_their_high_bits_and_the_rest_is_checked() {
    // clause: bcu.operand-low-bits
    let check =
        |id, count| check_operands(Operation::Sync, id, count, false).map(|w| (w.id.0, w.count, w.truncated));
    assert_eq!(check(held(15), literal(64)), Ok((15, 64, false)));
    assert_eq!(check(held(16), literal(64)), Ok((0, 64, true)));
    assert_eq!(check(held(0xffff_ffff), literal(64)), Ok((15, 64, true)));
    assert_eq!(check(literal(1), held(4064)), Ok((1, 4064, false)));
    assert_eq!(check(literal(1), held(4096)), Ok((1, 0, true)));
    assert_eq!(check(literal(1), held(4096 + 64)), Ok((1, 64, true)));
    assert_eq!(check(literal(1), held(4096 + 33)), Err(Rule::CountRange));
    assert_eq!(check(held(31), held(4095)), Err(Rule::CountRange));
    assert_eq!(check(literal(16), held(64)), Err(Rule::BarrierIdRange), "an immediate loses nothing");
    assert_eq!(check(held(16), literal(4096)), Err(Rule::CountRange));
    // An ARV whose count is 0 once its high bits are gone.
    let arv = check_operands(Operation::Arv, literal(1), held(4096), false);
    assert_eq!(arv, Err(Rule::CountRange));
}

#[test]
fn a_packed_register_has_the_id_in_4_bits_and_the_count_in_the_next_12() {
    // clause: bcu.red-packed
    assert_eq!(unpack(0x0405), (held(5), held(0x40), false));
    assert_eq!(unpack(0xfe0f), (held(15), held(0xfe0), false));
    assert_eq!(unpack(0xffff), (held(15), held(0xfff), false));
    assert_eq!(unpack(0x1_0405), (held(5), held(0x40), true), "the bits above are dropped");
    assert_eq!(unpack(0), (held(0), held(0), false));
    let (id, count, dropped) = unpack(0x1_0405);
    let what = check_operands(Operation::Red(ReductionOp::Or), id, count, dropped).expect("in range");
    assert_eq!((what.id, what.count, what.truncated), (BarrierId(5), 64, true));
    let (id, count, dropped) = unpack(0x0015);
    assert_eq!(
        check_operands(Operation::Red(ReductionOp::Or), id, count, dropped),
        Err(Rule::CountRange),
        "a count of 1"
    );
}

#[test]
fn ids_of_state_instructions_are_immediates_from_0_to_15() {
    // clause: bcu.b2r-id-ignored
    // clause: bcu.r2b-id-ignored
    for id in [0, 1, 15] {
        assert_eq!(check_state_id(id).map(|id| i64::from(id.0)), Ok(id));
    }
    for id in [-1, 16, 31, 32, 4095, 4096, i64::MIN, i64::MAX, 1 << 32] {
        assert_eq!(check_state_id(id), Err(Rule::BarrierIdRange));
    }
}

fn refused(barrier: Barrier, operation: Operation, count: i64) -> Option<Rule> {
    arrive(CTA, barrier, ARRIVED, announce(operation, count), Contribution::default()).err()
}

#[test]
fn red_never_shares_an_id_with_sync_and_arv_in_any_generation() {
    // clause: bcu.red-own-id
    let used = |usage| Barrier { usage: Some(usage), ..Barrier::default() };
    let red = Operation::Red(ReductionOp::Or);
    assert_eq!(refused(used(Usage::Plain), red, 64), Some(Rule::MixedRed));
    assert_eq!(refused(used(Usage::Red), Operation::Sync, 64), Some(Rule::MixedRed));
    assert_eq!(refused(used(Usage::Red), Operation::Arv, 64), Some(Rule::MixedRed));
    assert_eq!(refused(used(Usage::Red), red, 64), None);
    assert_eq!(refused(used(Usage::Plain), Operation::Arv, 64), None);
    // What R2B has put back counts as well.
    let restored = |red| Barrier { usage: None, ..state(Usage::Plain, red, 64, 1, 0) };
    assert_eq!(refused(restored(None), red, 64), Some(Rule::MixedRed));
    assert_eq!(refused(restored(Some(ReductionOp::Or)), Operation::Sync, 64), Some(Rule::MixedRed));
    assert_eq!(refused(restored(Some(ReductionOp::Or)), red, 64), None);
}

#[test]
fn operators_are_compared_before_counts_and_0_is_not_the_size_of_the_cta() {
    // clause: bcu.count-agrees
    // clause: barcheck.bcu-counts-are-numbers
    // clause: barcheck.one-rule
    let (and, or) = (ReductionOp::And, ReductionOp::Or);
    let red = |op| state(Usage::Red, Some(op), 64, 1, 1);
    assert_eq!(refused(red(and), Operation::Red(or), 96), Some(Rule::MixedRedOp));
    assert_eq!(refused(red(and), Operation::Sync, 96), Some(Rule::MixedRed));
    assert_eq!(refused(red(and), Operation::Red(and), 96), Some(Rule::CountMismatch));
    assert_eq!(refused(red(and), Operation::Red(and), 64), None);
    let plain = |count| state(Usage::Plain, None, count, 1, 1);
    assert_eq!(refused(plain(0), Operation::Sync, 96), Some(Rule::CountMismatch));
    assert_eq!(refused(plain(96), Operation::Sync, 0), Some(Rule::CountMismatch));
    assert_eq!(refused(plain(64), Operation::Arv, 96), Some(Rule::CountMismatch));
}

#[test]
fn each_instruction_adds_32_and_a_second_one_is_noted() {
    // clause: bcu.count-per-instruction
    // clause: bcu.red-counts-instruction
    // clause: bcu.sync-arrives
    // clause: bcu.arv-continues
    let first = announce(Operation::Arv, 96);
    let effect = arrive(CTA, Barrier::default(), Seat::default(), first, Contribution::default());
    let effect = effect.expect("fits");
    assert_eq!((effect.progress, effect.seat, effect.notes.len()), (Progress::Pass, ARRIVED, 0));
    let truncated = Announcement { truncated: true, ..announce(Operation::Sync, 96) };
    let effect = arrive(CTA, effect.barrier, ARRIVED, truncated, Contribution::default()).expect("fits");
    assert_eq!(effect.progress, Progress::Block);
    assert_eq!(effect.notes, [Rule::RepeatedArrival, Rule::RegisterTruncated]);
    assert_eq!(name(&effect.barrier), "plain count 96 2 arrived 1 waiting");
}

#[test]
fn equality_releases_and_overshooting_never_does() {
    // clause: bcu.sync-blocks
    // clause: bcu.completion-wakes
    let at = |arrivals| completion(CTA, state(Usage::Plain, None, 64, arrivals, 1));
    assert!(at(1).is_none() && at(2).is_some() && at(3).is_none() && at(4).is_none());
    let after = emptied(state(Usage::Plain, None, 64, 2, 1));
    assert_eq!(name(&after), "plain idle 0 waiting", "the count starts at zero, the use is remembered");
    assert!(complete(ARRIVED).is_vacant());
}

#[test]
fn results_are_counts_for_popc_and_truth_values_else() {
    // clause: bcu.red-reduces
    // clause: bcu.red-logic
    // clause: bcu.red-popc
    let result = |op, first: (u32, u32), second: (u32, u32)| {
        let mut barrier = Barrier::default();
        let mut done = None;
        for (lanes, truths) in [first, second] {
            let what = announce(Operation::Red(op), 64);
            let part = Contribution { lanes, truths };
            let effect = arrive(CTA, barrier, Seat::default(), what, part).expect("fits");
            (barrier, done) = (effect.barrier, effect.completed);
        }
        done.and_then(|done| done.result)
    };
    let (popc, and, or) = (ReductionOp::Popc, ReductionOp::And, ReductionOp::Or);
    assert_eq!(result(popc, (32, 7), (10, 3)), Some(10));
    assert_eq!(result(and, (32, 32), (10, 10)), Some(1));
    assert_eq!(result(and, (32, 32), (10, 9)), Some(0));
    assert_eq!(result(and, (32, 0), (10, 10)), Some(0));
    assert_eq!(result(or, (32, 0), (10, 0)), Some(0));
    assert_eq!(result(or, (32, 0), (10, 1)), Some(1));
    assert_eq!(result(or, (32, 1), (10, 0)), Some(1));
    assert_eq!(result(or, (32, 1), (10, 1)), Some(1));
}

#[test]
fn a_state_goes_back_onto_an_idle_barrier_or_an_equal_state_only() {
    // clause: bcu.b2r-bar
    // clause: bcu.r2b-bar
    // clause: barcheck.state-equal
    // clause: bcu.r2b-context-only
    let busy = state(Usage::Plain, None, 64, 1, 1);
    let saved = read_barrier(busy);
    assert_eq!(saved, Opaque::Barrier(busy.live));
    assert_eq!(read_barrier(Barrier::default()), Opaque::Barrier(None));
    let restored = write_barrier(Barrier::default(), Some(saved)).expect("idle");
    assert_eq!(restored, Barrier { live: busy.live, ..Barrier::default() });
    assert_eq!(write_barrier(busy, Some(saved)), Ok(busy));
    let clobbered = Err(Refusal::Violation(Rule::StateClobbered));
    assert_eq!(write_barrier(busy, Some(Opaque::Barrier(None))), clobbered);
    for other in [
        Live { count: 96, ..busy.live.expect("active") },
        Live { arrivals: 2, ..busy.live.expect("active") },
        Live { predicates: 1, ..busy.live.expect("active") },
        Live { red: Some(ReductionOp::Or), ..busy.live.expect("active") },
    ] {
        assert_eq!(write_barrier(busy, Some(Opaque::Barrier(Some(other)))), clobbered);
    }
}

#[test]
fn a_state_that_was_never_read_is_not_modelled() {
    // clause: barcheck.not-modelled
    let forged = Err(Refusal::NotModelled(NotModelled::ForgedState));
    assert_eq!(write_barrier(Barrier::default(), None), forged);
    let copy = ResultCopy { op: ReductionOp::Or, result: 1 };
    assert_eq!(write_barrier(Barrier::default(), Some(Opaque::Warp(copy))), forged);
}

#[test]
fn a_result_is_fetched_by_the_output_that_its_operator_defines() {
    // clause: bcu.b2r-result
    // clause: bcu.b2r-result-kind
    // clause: bcu.b2r-result-undefined
    // clause: bcu.result-discarded
    let undefined = Err(Rule::UndefinedResult);
    let copy = |op| Some(ResultCopy { op, result: 1 });
    let popc = copy(ReductionOp::Popc);
    assert_eq!(fetch(popc, true, false), Ok(Some(1)));
    assert_eq!(fetch(popc, false, true), undefined);
    assert_eq!(fetch(popc, true, true), undefined);
    for logic in [copy(ReductionOp::And), copy(ReductionOp::Or)] {
        assert_eq!(fetch(logic, false, true), Ok(Some(1)));
        assert_eq!(fetch(logic, true, false), undefined);
        assert_eq!(fetch(logic, true, true), undefined);
    }
    assert_eq!(fetch(None, true, false), undefined);
    assert_eq!(fetch(None, false, true), undefined);
    assert_eq!(fetch(None, false, false), Ok(None), "what is not kept is never undefined");
    assert_eq!(fetch(popc, false, false), Ok(Some(1)));
}
