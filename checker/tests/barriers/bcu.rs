//! `BAR`, `BAR.RED`, `B2R` and `R2B`.

use crate::journal::{Journal, both, clash, failure};
use barcheck::barriers::bcu::Operand::{Immediate, Register};
use barcheck::barriers::bcu::{Cta, Error, Kept, RedOp, RedResult, Warp};
use barcheck::barriers::{Loom, Std};
use barcheck_model::rule::Rule;

const REGISTER: Kept = Kept { register: true, predicate: false };
const PREDICATE: Kept = Kept { register: false, predicate: true };

fn rule<T: std::fmt::Debug>(result: Result<T, Error>) -> Rule {
    result.expect_err("misuse").rule().expect("a rule")
}

fn observed(threads: u32) -> (Cta<Std>, Journal) {
    let journal = Journal::default();
    (Cta::observed(threads, journal.clone()), journal)
}

#[test]
fn immediates_must_be_in_range() {
    let cta = Cta::<Std>::new(64);
    let warp = cta.warp(0);
    for id in [-1, 16] {
        assert_eq!(rule(warp.sync(Immediate(id), Immediate(1))), Rule::BarrierIdRange);
        assert_eq!(rule(warp.save_barrier(id).map(|_| ())), Rule::BarrierIdRange);
        assert_eq!(
            rule(warp.save_warp(Some(id)).map(|_| ())),
            Rule::BarrierIdRange,
            "though it has no effect"
        );
    }
    for count in [-32, 33, 4096] {
        assert_eq!(rule(warp.sync(Immediate(1), Immediate(count))), Rule::CountRange, "{count}");
    }
    assert_eq!(rule(warp.arv(Immediate(1), Immediate(0))), Rule::CountRange);
    assert_eq!(warp.arv(Immediate(15), Immediate(4064)), Ok(()));
}

#[test]
fn registers_are_truncated_and_then_checked() {
    let (cta, journal) = observed(64);
    let warp = cta.warp(0);
    assert_eq!(warp.arv(Register(0x23), Register(0x7040)), Ok(()));
    assert_eq!(warp.arv(Register(4), Register(0x40)), Ok(()), "nothing to drop");
    assert_eq!(rule(warp.arv(Immediate(5), Register(0x1000))), Rule::CountRange, "0 is left");
    assert_eq!(rule(warp.arv(Immediate(5), Register(0x1021))), Rule::CountRange, "33 is left");
    assert_eq!(cta.warp(1).sync(Immediate(3), Immediate(64)), Ok(()), "the barrier that was meant");
    assert_eq!(journal.notes(), ["0 register-truncated 3"]);
}

#[test]
fn a_packed_register_has_id_and_count() {
    let (cta, journal) = observed(32);
    let warp = cta.warp(0);
    assert_eq!(warp.red_packed(32 << 4 | 7, RedOp::Popc, &[true]), Ok(()));
    assert_eq!(warp.result(REGISTER), Ok(Some(RedResult::Count(1))));
    assert_eq!(warp.red_packed(1 << 16 | 32 << 4 | 7, RedOp::Popc, &[true]), Ok(()));
    assert_eq!(rule(warp.red_packed(33 << 4 | 7, RedOp::Popc, &[true])), Rule::CountRange);
    assert_eq!(journal.notes(), ["0 register-truncated 7"]);
    assert!(journal.lines().contains(&"0 BAR.RED 7".to_owned()));
}

#[test]
fn a_warp_that_arrives_twice_counts_twice() {
    let (cta, journal) = observed(64);
    let warp = cta.warp(0);
    assert_eq!(warp.arv(Immediate(1), Immediate(64)), Ok(()));
    assert_eq!(warp.sync(Immediate(1), Immediate(64)), Ok(()));
    assert_eq!(journal.notes(), ["0 repeated-arrival 1"]);
}

#[test]
fn counts_agree_in_one_generation() {
    let cta = Cta::<Std>::new(96);
    assert_eq!(cta.warp(0).arv(Immediate(1), Immediate(64)), Ok(()));
    assert_eq!(rule(cta.warp(1).sync(Immediate(1), Immediate(96))), Rule::CountMismatch);
    assert_eq!(rule(cta.warp(1).sync(Immediate(1), Immediate(0))), Rule::CountMismatch);
    assert_eq!(cta.warp(1).sync(Immediate(1), Register(0x1040)), Ok(()), "compared after truncation");
}

#[test]
fn everybody_and_the_size_of_the_cta_are_different_counts() {
    loom::model(|| {
        let cta = Cta::<Loom>::new(64);
        let sync = |count, number| {
            let (warp, cta) = (cta.warp(number), cta.clone());
            move || {
                let end = warp.sync(Immediate(1), Immediate(count)).expect_err("no meeting");
                cta.abort();
                end
            }
        };
        assert_eq!(clash(sync(0, 0), sync(64, 1)), [None, Some(Rule::CountMismatch)]);
    });
}

#[test]
fn an_id_is_for_reductions_or_not_whenever_that_was() {
    let cta = Cta::<Std>::new(32);
    let warp = cta.warp(0);
    assert_eq!(warp.sync(Immediate(1), Immediate(32)), Ok(()));
    assert_eq!(rule(warp.red(Immediate(1), Immediate(32), RedOp::And, &[true])), Rule::MixedRed);
    assert_eq!(warp.red(Immediate(2), Immediate(32), RedOp::And, &[true]), Ok(()));
    assert_eq!(rule(warp.arv(Immediate(2), Immediate(32))), Rule::MixedRed);
    assert_eq!(warp.red(Immediate(2), Immediate(0), RedOp::Or, &[true]), Ok(()), "another generation");
}

#[test]
fn a_result_is_undefined_unless_a_reduction_has_defined_it() {
    let cta = Cta::<Std>::new(32);
    let warp = cta.warp(0);
    assert_eq!(rule(warp.result(REGISTER)), Rule::UndefinedResult);
    assert_eq!(rule(warp.save_warp(None).map(|_| ())), Rule::UndefinedResult);
    assert_eq!(warp.result(Kept::default()), Ok(None), "nothing is kept");
    assert_eq!(warp.red(Immediate(1), Immediate(0), RedOp::And, &[true]), Ok(()));
    assert_eq!(rule(warp.result(REGISTER)), Rule::UndefinedResult);
    assert_eq!(rule(warp.result(Kept { register: true, predicate: true })), Rule::UndefinedResult);
    assert_eq!(warp.result(PREDICATE), Ok(Some(RedResult::Predicate(true))));
    assert_eq!(warp.red(Immediate(1), Immediate(0), RedOp::Popc, &[true; 3]), Ok(()));
    assert_eq!(rule(warp.result(PREDICATE)), Rule::UndefinedResult);
    assert_eq!(warp.result(REGISTER), Ok(Some(RedResult::Count(3))));
}

#[test]
fn a_result_that_nobody_fetched_is_overwritten() {
    let (cta, journal) = observed(32);
    let warp = cta.warp(0);
    let red = || warp.red(Immediate(1), Immediate(0), RedOp::Or, &[true]).expect("no misuse");
    red();
    assert_eq!(warp.result(Kept::default()), Ok(None));
    red();
    let saved = warp.save_warp(None).expect("a result");
    red();
    assert_eq!(journal.notes(), Vec::<String>::new(), "fetched, saved");
    red();
    assert_eq!(journal.notes(), ["0 result-overwritten 1"]);
    assert_eq!(warp.restore_warp(Some(3), saved), Ok(()));
    assert_eq!(warp.result(PREDICATE), Ok(Some(RedResult::Predicate(true))));
}

#[test]
fn a_barrier_in_use_keeps_its_state() {
    let (cta, journal) = observed(96);
    let (one, other) = (cta.warp(0), cta.warp(1));
    let idle = one.save_barrier(1).expect("a state");
    assert_eq!(one.arv(Immediate(1), Immediate(64)), Ok(()));
    let half = other.save_barrier(1).expect("a state");
    assert_eq!(rule(other.restore_barrier(1, idle)), Rule::StateClobbered);
    assert_eq!(other.restore_barrier(1, half), Ok(()), "its own state");
    assert_eq!(other.sync(Immediate(1), Immediate(64)), Ok(()));
    assert_eq!(other.restore_barrier(1, half), Ok(()), "idle");
    assert_eq!(other.arv(Immediate(1), Immediate(64)), Ok(()), "the restored arrival counts");
    assert_eq!(other.restore_barrier(2, half), Ok(()));
    for warp in [one, other, cta.warp(2)] {
        assert_eq!(warp.exit(), Ok(()));
    }
    assert_eq!(journal.notes(), ["1 nobody-waits 1", "2 dangling-arrival 2"]);
}

#[test]
fn an_exit_completes_what_waits_for_everybody() {
    loom::model(|| {
        let cta = Cta::<Loom>::new(64);
        let (one, other) = (cta.warp(0), cta.warp(1));
        let red = || {
            one.red(Immediate(1), Immediate(0), RedOp::Popc, &[true, false])?;
            one.result(REGISTER)
        };
        let ends = both::<Loom, _, _>(move || other.exit(), red);
        assert_eq!(ends, (Ok(()), Ok(Some(RedResult::Count(1)))));
    });
}

#[test]
fn an_exit_does_not_complete_a_number() {
    let text = failure(|| {
        let cta = Cta::<Loom>::new(64);
        let (one, other) = (cta.warp(0), cta.warp(1));
        let _ = both::<Loom, _, _>(move || other.exit(), || one.sync(Immediate(1), Immediate(64)));
    });
    assert!(text.contains("deadlock"), "{text}");
}

#[test]
fn a_reduction_gives_the_same_to_all() {
    loom::model(|| {
        let cta = Cta::<Loom>::new(64);
        let red = |warp: Warp<Loom>, lane| {
            move || {
                warp.red(Immediate(1), Immediate(64), RedOp::Popc, &[lane, true])?;
                let first = warp.result(REGISTER)?;
                warp.red(Immediate(1), Immediate(64), RedOp::And, &[lane])?;
                Ok::<_, Error>((first, warp.result(PREDICATE)?))
            }
        };
        let (one, other) = both::<Loom, _, _>(red(cta.warp(0), true), red(cta.warp(1), false));
        assert_eq!(one, Ok((Some(RedResult::Count(3)), Some(RedResult::Predicate(false)))));
        assert_eq!(one, other);
    });
}

#[test]
fn two_operators_do_not_meet() {
    loom::model(|| {
        let cta = Cta::<Loom>::new(64);
        let red = |op, number| {
            let (warp, cta) = (cta.warp(number), cta.clone());
            move || {
                let end = warp.red(Immediate(1), Immediate(64), op, &[true]).expect_err("no meeting");
                cta.abort();
                end
            }
        };
        assert_eq!(clash(red(RedOp::And, 0), red(RedOp::Or, 1)), [None, Some(Rule::MixedRedOp)]);
    });
}
