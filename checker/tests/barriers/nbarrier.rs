//! `NBARRIER`.

use crate::journal::{Journal, both, executions, failure};
use barcheck::barriers::nbarrier::{Error, Misuse, Thread, ThreadGroup};
use barcheck::barriers::{Loom, Std, Stop};
use barcheck_model::rule::Rule;

fn rule(result: Result<(), Error>) -> Rule {
    result.expect_err("misuse").rule().expect("a rule")
}

fn observed(threads: usize) -> (ThreadGroup<Std>, Journal) {
    let journal = Journal::default();
    (ThreadGroup::observed(threads, journal.clone()), journal)
}

#[test]
fn operands_have_their_ranges_and_are_looked_at_in_order() {
    let group = ThreadGroup::<Std>::new(2);
    let thread = group.thread(0);
    assert_eq!(rule(thread.signal(32, 3, 0, 0)), Rule::BarrierIdRange);
    assert_eq!(rule(thread.wait(-1)), Rule::BarrierIdRange);
    assert_eq!(rule(thread.signal(31, 3, 0, 0)), Rule::TypeRange);
    assert_eq!(rule(thread.signal(31, -1, 1, 1)), Rule::TypeRange);
    assert_eq!(rule(thread.signal(31, 0, 0, 1)), Rule::CountRange);
    assert_eq!(rule(thread.signal(31, 0, 1, 3)), Rule::CountRange);
    assert_eq!(thread.signal(31, 0, 2, 2), Ok(()));
}

#[test]
fn numbers_agree_in_one_generation() {
    let group = ThreadGroup::<Std>::new(3);
    assert_eq!(group.thread(0).signal(1, 1, 1, 2), Ok(()));
    let other = group.thread(1).signal(1, 2, 2, 2);
    let misuse = Misuse::CountMismatch { barrier: 1, announced: (1, 2), given: (2, 2) };
    assert_eq!(other, Err(Stop::Misuse(misuse)));
    assert_eq!(group.thread(1).signal(1, 2, 1, 2), Ok(()));
}

#[test]
fn a_thread_signals_once_in_a_generation() {
    let group = ThreadGroup::<Std>::new(2);
    let thread = group.thread(0);
    assert_eq!(thread.signal(1, 1, 2, 1), Ok(()));
    assert_eq!(rule(thread.signal(1, 2, 2, 1)), Rule::RepeatedArrival);
    assert_eq!(thread.signal(2, 1, 2, 1), Ok(()), "another barrier");
}

#[test]
fn nobody_exceeds_what_is_announced() {
    let group = ThreadGroup::<Std>::new(3);
    assert_eq!(group.thread(0).signal(1, 1, 1, 2), Ok(()));
    assert_eq!(rule(group.thread(1).signal(1, 1, 1, 2)), Rule::TooManyParticipants);
    assert_eq!(rule(group.thread(1).signal(1, 0, 1, 2)), Rule::TooManyParticipants, "a producer too");
    assert_eq!(group.thread(1).signal(1, 2, 1, 2), Ok(()));
    assert_eq!(group.thread(2).signal(1, 2, 1, 2), Ok(()));
    assert_eq!(group.thread(2).wait(1), Ok(()));
}

#[test]
fn only_consumers_wait() {
    let group = ThreadGroup::<Std>::new(2);
    let (one, other) = (group.thread(0), group.thread(1));
    assert_eq!(rule(one.wait(1)), Rule::WaitWithoutArrive);
    assert_eq!(one.signal(1, 1, 1, 1), Ok(()));
    assert_eq!(rule(one.wait(1)), Rule::ProducerWaits);
    assert_eq!(other.signal(1, 2, 1, 1), Ok(()));
    assert_eq!(rule(one.wait(1)), Rule::ProducerWaits, "after the completion too");
    assert_eq!(other.wait(1), Ok(()));
    assert_eq!(rule(other.wait(1)), Rule::WaitWithoutArrive, "the notification is used up");
}

#[test]
fn a_notification_is_not_lost() {
    let (group, journal) = observed(2);
    let (one, other) = (group.thread(0), group.thread(1));
    assert_eq!(one.signal(1, 2, 1, 1), Ok(()));
    assert_eq!(other.signal(1, 1, 1, 1), Ok(()));
    assert_eq!(one.signal(1, 2, 1, 1), Ok(()));
    let lost = other.signal(1, 1, 1, 1);
    assert_eq!(lost, Err(Stop::Misuse(Misuse::LostNotification { barrier: 1, thread: 0 })));
    assert_eq!(one.wait(1), Ok(()), "that of the first generation");
    assert_eq!(other.signal(1, 1, 1, 1), Ok(()), "nothing had changed");
    assert_eq!(one.wait(1), Ok(()), "that of the second");
    assert_eq!(journal.notes(), ["0 reuse-before-free 1"]);
}

#[test]
fn exits_leave_waits_and_arrivals_behind() {
    let (group, journal) = observed(3);
    let [one, two, three] = [0, 1, 2].map(|number| group.thread(number));
    assert_eq!(one.signal(1, 2, 1, 1), Ok(()));
    assert_eq!(two.signal(1, 1, 1, 1), Ok(()));
    assert_eq!(two.signal_all(4, 2), Ok(()));
    assert_eq!(three.signal(5, 1, 1, 2), Ok(()));
    assert_eq!(three.fence(), Ok(()));
    for thread in [one, two, three] {
        assert_eq!(thread.exit(), Ok(()));
    }
    let notes = ["0 missing-wait 1", "1 missing-wait 4", "2 dangling-arrival 4", "2 dangling-arrival 5"];
    assert_eq!(journal.notes(), notes);
}

/// Each consumer has a notification of its own: a fast one may go round again before a slow one has waited.
#[test]
fn a_fast_thread_may_come_again_before_a_slow_one_has_waited() {
    fn rounds(thread: Thread<Loom>) -> Result<(), Error> {
        for _ in 0..2 {
            thread.signal_all(1, 2)?;
            thread.wait(1)?;
        }
        thread.exit()
    }
    let executions = executions(None, || {
        let group = ThreadGroup::<Loom>::new(2);
        let (one, other) = (group.thread(0), group.thread(1));
        assert_eq!(both::<Loom, _, _>(move || rounds(one), || rounds(other)), (Ok(()), Ok(())));
    });
    assert!(executions > 2);
}

#[test]
fn a_producer_feeds_two_consumers_through_two_barriers() {
    fn consume(thread: Thread<Loom>) -> Result<(), Error> {
        for stage in 0..2 {
            thread.signal(stage, 2, 1, 2)?;
            thread.wait(stage)?;
        }
        thread.exit()
    }
    executions(Some(2), || {
        let group = ThreadGroup::<Loom>::new(3);
        let (producer, one, other) = (group.thread(0), group.thread(1), group.thread(2));
        let consumers = move || both::<Loom, _, _>(move || consume(one), || consume(other));
        let produce = || {
            producer.signal(0, 1, 1, 2)?;
            producer.signal(1, 1, 1, 2)
        };
        assert_eq!(both::<Loom, _, _>(consumers, produce), ((Ok(()), Ok(())), Ok(())));
    });
}

#[test]
fn an_exit_releases_nobody() {
    let text = failure(|| {
        let group = ThreadGroup::<Loom>::new(2);
        let (one, other) = (group.thread(0), group.thread(1));
        let wait = move || {
            one.signal_all(1, 2)?;
            one.wait(1)
        };
        let _ = both::<Loom, _, _>(wait, || other.exit());
    });
    assert!(text.contains("deadlock"), "{text}");
}

#[test]
fn a_wait_pays_for_one_of_two_arrivals_and_an_exit_owes_the_other() {
    let (group, journal) = observed(2);
    let (early, late) = (group.thread(0), group.thread(1));
    for (thread, what) in [(&early, "first"), (&late, "completes"), (&early, "second")] {
        assert_eq!(thread.signal(1, 0, 2, 2), Ok(()), "{what}");
    }
    assert_eq!(early.wait(1), Ok(()));
    assert_eq!(early.exit(), Ok(()));
    assert!(journal.notes().contains(&"0 missing-wait 1".to_owned()), "{:?}", journal.notes());
}
