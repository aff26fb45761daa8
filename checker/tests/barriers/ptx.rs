//! `barrier{.cta}`.

use crate::journal::{Journal, both, clash, executions, failure};
use barcheck::barriers::ptx::{Cta, Error, ExitedThreads, Misuse, RedOp, RedResult, Warp};
use barcheck::barriers::{Loom, Std};
use barcheck_model::rule::Rule;

fn rule<T: std::fmt::Debug>(result: Result<T, Error>) -> Rule {
    result.expect_err("misuse").rule().expect("a rule")
}

#[test]
fn an_id_is_from_0_to_15() {
    let cta = Cta::<Std>::new(64);
    let warp = cta.warp(0);
    assert_eq!(rule(warp.sync(16, Some(64))), Rule::BarrierIdRange);
    assert_eq!(rule(warp.red(-1, None, RedOp::And, &[true])), Rule::BarrierIdRange);
    assert_eq!(rule(warp.arrive(16, None)), Rule::BarrierIdRange, "before anything else");
    assert_eq!(warp.arrive(15, Some(64)), Ok(()));
}

#[test]
fn an_arrive_needs_a_count() {
    let cta = Cta::<Std>::new(64);
    let warp = cta.warp(0);
    assert_eq!(rule(warp.arrive(1, None)), Rule::ArriveNeedsCount);
    assert_eq!(rule(warp.arrive(1, Some(0))), Rule::ArriveNeedsCount);
    assert_eq!(warp.arrive(1, Some(64)), Ok(()));
}

#[test]
fn a_count_is_a_multiple_of_32_within_the_cta() {
    let cta = Cta::<Std>::new(40);
    let warp = cta.warp(0);
    for count in [-32, 0, 16, 33, 96, i64::MAX] {
        assert_eq!(rule(warp.sync(1, Some(count))), Rule::CountRange, "{count}");
    }
    assert_eq!(warp.sync(1, Some(32)), Ok(()));
    assert_eq!(warp.arrive(1, Some(64)), Ok(()), "40 threads are two warps");
}

#[test]
fn counts_agree_in_one_generation() {
    let cta = Cta::<Std>::new(96);
    assert_eq!(cta.warp(0).arrive(1, Some(64)), Ok(()));
    let other = cta.warp(1).arrive(1, Some(96));
    assert_eq!(other, Err(Error::Misuse(Misuse::CountMismatch { barrier: 1, announced: 64, given: 96 })));
    assert_eq!(rule(other), Rule::CountMismatch);
    assert_eq!(cta.warp(1).arrive(1, Some(64)), Ok(()), "the mistake has changed nothing");
    assert_eq!(cta.warp(1).arrive(1, Some(96)), Ok(()), "another generation");
}

#[test]
fn a_missing_count_agrees_with_the_size_of_the_cta() {
    loom::model(|| {
        let cta = Cta::<Loom>::new(64);
        let (one, other) = (cta.warp(0), cta.warp(1));
        let met = both::<Loom, _, _>(move || one.sync(0, None), || other.sync(0, Some(64)));
        assert_eq!(met, (Ok(()), Ok(())));
    });
}

#[test]
fn a_part_of_a_warp_comes_to_no_barrier() {
    let cta = Cta::<Std>::new(64);
    let warp = cta.warp(0);
    warp.set_apart(true);
    assert_eq!(rule(warp.sync(16, Some(32))), Rule::BarrierIdRange);
    assert_eq!(rule(warp.sync(1, Some(33))), Rule::CountRange);
    assert_eq!(rule(warp.sync(1, Some(32))), Rule::PartialWarp);
    assert_eq!(
        (rule(warp.warp_sync(3, 1)), rule(warp.warp_sync(1, -1))),
        (Rule::PartialWarp, Rule::PartialWarp)
    );
    assert_eq!((warp.warp_sync(1, 3), warp.warp_sync(u32::MAX, 0xffff_ffff)), (Ok(()), Ok(())));
    warp.set_apart(false);
    assert_eq!(warp.sync(1, Some(32)), Ok(()));
}

#[test]
fn a_warp_arrives_once_in_a_generation() {
    let cta = Cta::<Std>::new(64);
    let warp = cta.warp(0);
    assert_eq!(warp.arrive(1, Some(64)), Ok(()));
    assert_eq!(rule(warp.arrive(1, Some(64))), Rule::RepeatedArrival);
    assert_eq!(rule(warp.sync(1, Some(64))), Rule::RepeatedArrival);
    assert_eq!(cta.warp(1).sync(1, Some(64)), Ok(()));
    assert_eq!(warp.arrive(1, Some(64)), Ok(()), "reset by the completion");
}

#[test]
fn a_reduction_meets_only_its_like() {
    let cta = Cta::<Std>::new(96);
    assert_eq!(cta.warp(0).arrive(1, Some(64)), Ok(()));
    let mixed = cta.warp(1).red(1, Some(96), RedOp::Or, &[true]);
    assert_eq!(rule(mixed), Rule::MixedRed, "before the count");
    assert_eq!(cta.warp(1).sync(1, Some(64)), Ok(()));
    let alone = cta.warp(1).red(1, Some(32), RedOp::Or, &[false]);
    assert_eq!(alone, Ok(RedResult::Predicate(false)), "the barrier is idle");
}

#[test]
fn two_operators_do_not_meet_whoever_is_first() {
    loom::model(|| {
        let cta = Cta::<Loom>::new(64);
        let red = |op, number| {
            let (warp, cta) = (cta.warp(number), cta.clone());
            move || {
                let end = warp.red(2, None, op, &[true]).expect_err("no meeting");
                cta.abort();
                end
            }
        };
        assert_eq!(clash(red(RedOp::And, 0), red(RedOp::Or, 1)), [None, Some(Rule::MixedRedOp)]);
    });
}

#[test]
fn findings_that_end_nothing_are_noted() {
    let journal = Journal::default();
    let cta = Cta::<Std>::observed(64, ExitedThreads::Hold, journal.clone());
    let (one, other) = (cta.warp(0), cta.warp(1));
    assert_eq!(one.sync(0, Some(32)), Ok(()));
    assert_eq!(one.arrive(1, Some(64)), Ok(()));
    assert_eq!(other.arrive(1, Some(64)), Ok(()));
    assert_eq!(one.arrive(2, Some(64)), Ok(()));
    assert_eq!((one.exit(), other.exit()), (Ok(()), Ok(())));
    assert_eq!(journal.notes(), ["0 reserved-barrier 0", "1 nobody-waits 1", "1 dangling-arrival 2"]);
}

#[test]
fn the_observer_is_told_every_step_once() {
    let journal = Journal::default();
    let cta = Cta::<Std>::observed(64, ExitedThreads::Hold, journal.clone());
    let (one, other) = (cta.warp(0), cta.warp(1));
    assert_eq!(one.arrive(1, Some(64)), Ok(()));
    assert_eq!(rule(one.arrive(1, Some(64))), Rule::RepeatedArrival);
    assert_eq!(rule(one.sync(99, None)), Rule::BarrierIdRange);
    assert_eq!(other.sync(1, Some(64)), Ok(()));
    assert_eq!(other.exit(), Ok(()));
    let told = [
        "0 arrive 1",
        "0 arrive 1: repeated-arrival",
        "0 sync: barrier-id-range",
        "1 sync 1",
        "complete 1 []",
        "1 exit",
    ];
    assert_eq!(journal.lines(), told);
}

#[test]
fn a_wait_is_told_when_it_begins_and_not_when_it_ends() {
    loom::model(|| {
        let journal = Journal::default();
        let cta = Cta::<Loom>::observed(64, ExitedThreads::Hold, journal.clone());
        let (one, other) = (cta.warp(0), cta.warp(1));
        let met = both::<Loom, _, _>(move || one.sync(1, Some(64)), || other.arrive(1, Some(64)));
        assert_eq!(met, (Ok(()), Ok(())));
        let blocked = ["0 sync 1 blocks", "1 arrive 1", "complete 1 [0]"];
        let passed = ["1 arrive 1", "0 sync 1", "complete 1 []"];
        assert!(journal.lines() == blocked || journal.lines() == passed, "{:?}", journal.lines());
    });
}

#[test]
fn an_exit_completes_a_barrier_of_the_whole_cta() {
    for reading in [ExitedThreads::Hold, ExitedThreads::Release] {
        loom::model(move || {
            let cta = Cta::<Loom>::observed(64, reading, ());
            let (one, other) = (cta.warp(0), cta.warp(1));
            let ends = both::<Loom, _, _>(move || other.exit(), || one.red(3, None, RedOp::Popc, &[true]));
            assert_eq!(ends, (Ok(()), Ok(RedResult::Count(1))));
        });
    }
}

fn sync_against_exit(reading: ExitedThreads) {
    let cta = Cta::<Loom>::observed(64, reading, ());
    let (one, other) = (cta.warp(0), cta.warp(1));
    assert_eq!(both::<Loom, _, _>(move || other.exit(), || one.sync(1, Some(64))), (Ok(()), Ok(())));
}

#[test]
fn an_exit_releases_an_explicit_count_only_if_asked_to() {
    loom::model(|| sync_against_exit(ExitedThreads::Release));
    assert!(failure(|| sync_against_exit(ExitedThreads::Hold)).contains("deadlock"));
}

/// With explicit counts among them, a barrier of the whole CTA waits for a number of arrivals.
#[test]
fn a_count_given_once_binds_the_generation() {
    assert!(
        failure(|| {
            let cta = Cta::<Loom>::new(96);
            let (one, other) = (cta.warp(0), cta.warp(1));
            assert_eq!(cta.warp(2).exit(), Ok(()));
            let _ = both::<Loom, _, _>(move || other.sync(0, Some(96)), || one.sync(0, None));
        })
        .contains("deadlock")
    );
}

#[test]
fn each_gets_the_result_of_its_own_generation() {
    fn rounds(warp: &Warp<Loom>, seed: u32) -> Vec<RedResult> {
        let lanes = |round: u32| [round & 1 == seed, true, round > 1];
        (0..3).map(|round| warp.red(0, None, RedOp::Popc, &lanes(round)).expect("no misuse")).collect()
    }
    let executions = executions(None, || {
        let cta = Cta::<Loom>::new(64);
        let (one, other) = (cta.warp(0), cta.warp(1));
        let (a, b) = both::<Loom, _, _>(move || rounds(&one, 0), || rounds(&other, 1));
        assert_eq!(a, [3, 3, 5].map(RedResult::Count));
        assert_eq!(a, b);
    });
    assert!(executions > 1);
}

#[test]
fn and_and_or_tell_truth_values() {
    let cta = Cta::<Std>::new(32);
    let red = |op, lanes: &[bool]| cta.warp(0).red(1, None, op, lanes).expect("no misuse");
    assert_eq!(red(RedOp::And, &[true, true]), RedResult::Predicate(true));
    assert_eq!(red(RedOp::And, &[true, false]), RedResult::Predicate(false));
    assert_eq!(red(RedOp::Or, &[true, false]), RedResult::Predicate(true));
    assert_eq!(red(RedOp::Or, &[false, false]), RedResult::Predicate(false));
    assert_eq!(red(RedOp::Popc, &[true, false, true]), RedResult::Count(2));
}

/// What the producer of a ring does in four rounds over two stages, where so many threads meet.
fn produce(warp: Warp<Loom>, threads: i64) -> Result<(), Error> {
    for round in 0..4 {
        let (full, empty) = (2 * (round % 2), 2 * (round % 2) + 1);
        if round >= 2 {
            warp.sync(empty, Some(threads))?;
        }
        warp.arrive(full, Some(threads))?;
    }
    warp.exit()
}

/// What a consumer does.
fn consume(warp: Warp<Loom>, threads: i64) -> Result<(), Error> {
    for round in 0..4 {
        let (full, empty) = (2 * (round % 2), 2 * (round % 2) + 1);
        warp.sync(full, Some(threads))?;
        if round < 2 {
            warp.arrive(empty, Some(threads))?;
        }
    }
    warp.exit()
}

/// The number is the measure by which the locks were laid out: it must not grow unnoticed.
#[test]
fn a_ring_of_two_runs_to_its_end_in_few_executions() {
    let executions = executions(None, || {
        let cta = Cta::<Loom>::new(64);
        let (producer, consumer) = (cta.warp(0), cta.warp(1));
        let ends = both::<Loom, _, _>(move || produce(producer, 64), || consume(consumer, 64));
        assert_eq!(ends, (Ok(()), Ok(())));
    });
    assert!(executions <= 3_780, "{executions}");
}

#[test]
fn a_ring_of_three_runs_to_its_end_in_few_executions() {
    let executions = executions(Some(2), || {
        let cta = Cta::<Loom>::new(96);
        let (producer, one, other) = (cta.warp(0), cta.warp(1), cta.warp(2));
        let consumers = move || both::<Loom, _, _>(move || consume(one, 96), || consume(other, 96));
        let ends = both::<Loom, _, _>(consumers, || produce(producer, 96));
        assert_eq!(ends, ((Ok(()), Ok(())), Ok(())));
    });
    assert!(executions <= 793, "{executions}");
}

#[test]
fn roles_exchanged_in_the_wrong_order_deadlock() {
    let text = failure(|| {
        let cta = Cta::<Loom>::new(64);
        let (one, other) = (cta.warp(0), cta.warp(1));
        let crossed = move |warp: Warp<Loom>, first: i64| {
            warp.sync(first, Some(64))?;
            warp.sync(3 - first, Some(64))
        };
        let _ = both::<Loom, _, _>(move || crossed(one, 1), || crossed(other, 2));
    });
    assert!(text.contains("deadlock"), "{text}");
}
