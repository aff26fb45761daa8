//! Named barriers of vISA and XeGPU, step by step.

use crate::common::*;
use barcheck_model::machine::{Detail, End, StepOutcome};
use barcheck_model::program::Target::{Nbarrier, Xegpu};
use barcheck_model::program::*;

fn pair(a: Vec<S>, b: Vec<S>) -> Program {
    Group::new(Nbarrier, 2).one(a).one(b).build()
}

#[test]
fn a_full_barrier_frees_those_who_block_and_notifies_the_others() {
    // clause: nbarrier.wait-blocks
    // clause: nbarrier.signal-notifies
    // clause: nbarrier.baseline-form
    let body = vec![signal_all(0, 3), wait(0)];
    let mut run = Run::new(Group::new(Nbarrier, 3).many(3, body).build());
    assert_eq!(run.log("0 0 1"), ["arrive b0", "block", "arrive b0"]);
    assert_eq!(run.play("2"), "arrive b0, complete b0, free 0, notify 1, notify 2");
    assert_eq!(run.log("1 2"), ["pass b0", "pass b0"]);
    assert!(run.state.barriers.is_empty() && run.state.agents.iter().all(|a| a.seats.is_empty()));
}

#[test]
fn producers_go_on_and_only_consumers_wait() {
    // clause: nbarrier.general-form
    // clause: nbarrier.type-roles
    // clause: nbarrier.named-barrier
    // clause: nbarrier.wait-ignores-fields
    let consumer = vec![signal(0, 2, 1, 1), wait(0)];
    let mut run = Run::new(pair(vec![signal(0, 1, 1, 1)], consumer));
    assert_eq!(run.log("1 1"), ["arrive b0", "block"]);
    assert_eq!(run.play("0"), "arrive b0, complete b0, free 1");
    assert_eq!(run.play("0"), "exit", "a producer owes no wait");
    assert!(run.state.agents[0].seats.is_empty(), "that it produced last matters to nobody any more");
}

#[test]
fn a_wait_by_a_producer_or_by_nobody_at_all_ends_the_path() {
    // clause: nbarrier.only-consumers-wait
    let consumer = vec![signal(0, 2, 1, 1), wait(0)];
    let producer = vec![signal(0, 1, 1, 1), wait(0)];
    assert_eq!(last(pair(producer.clone(), consumer.clone()), "0 0"), "END producer-waits");
    assert_eq!(last(pair(producer, consumer.clone()), "0 1 0"), "END producer-waits", "also when complete");
    assert_eq!(last(pair(vec![wait(0)], vec![]), "0"), "END wait-without-arrive");
    let twice = vec![signal(0, 2, 1, 1), wait(0), wait(0)];
    assert_eq!(last(pair(vec![signal(0, 1, 1, 1)], twice), "0 1 1 1"), "END wait-without-arrive");
    // Another barrier is another matter.
    let other = vec![signal(0, 1, 1, 1), wait(1)];
    assert_eq!(last(pair(other, consumer), "0 0"), "END wait-without-arrive");
}

#[test]
fn a_consumer_that_produced_since_still_passes_its_wait() {
    // clause: nbarrier.only-consumers-wait
    let first = vec![signal(0, 2, 1, 1), signal(0, 1, 1, 1), wait(0), wait(0)];
    let second = vec![signal(0, 1, 1, 1), fence(SHARED)];
    let mut run = Run::new(pair(first, second));
    assert_eq!(run.play("0 1"), "arrive b0, complete b0, notify 0");
    assert_eq!(run.play("0"), "arrive b0 ! reuse-before-free 0");
    assert_eq!(run.log("0 0"), ["pass b0", "END producer-waits"]);
}

#[test]
fn a_consumer_that_has_not_waited_would_lose_the_next_notification() {
    // clause: barcheck.lost-notification
    let lazy = vec![signal(0, 2, 1, 1), signal(0, 2, 1, 1), wait(0)];
    let producer = vec![signal(0, 1, 1, 1), signal(0, 1, 1, 1)];
    let mut run = Run::new(pair(producer.clone(), lazy));
    assert_eq!(run.log("0 1"), ["arrive b0", "arrive b0, complete b0, notify 1"]);
    assert_eq!(run.play("1"), "arrive b0 ! reuse-before-free 1");
    assert_eq!(run.play("0"), "END lost-notification");
    // One that waits in between loses nothing.
    let diligent = vec![signal(0, 2, 1, 1), wait(0), signal(0, 2, 1, 1), wait(0)];
    let mut run = Run::new(pair(producer, diligent));
    assert_eq!(run.log("0 1 1 1 0")[4], "arrive b0, complete b0, notify 1");
}

#[test]
fn a_signal_before_every_wait_is_done_is_noted() {
    // clause: nbarrier.free-after-waits
    let body = vec![signal_all(0, 2), wait(0), signal_all(0, 2), wait(0)];
    let mut run = Run::new(pair(body.clone(), body));
    assert_eq!(run.log("0 1 0")[2], "pass b0");
    assert_eq!(run.play("0"), "arrive b0 ! reuse-before-free 0");
    assert_eq!(run.log("1 1"), ["pass b0", "arrive b0, complete b0, notify 0, notify 1"]);
}

#[test]
fn numbers_that_differ_repeated_signals_and_one_too_many_end_the_path() {
    // clause: nbarrier.participants-agree
    // clause: nbarrier.signal-notifies
    // clause: nbarrier.participant-total
    assert_eq!(last(pair(vec![signal_all(0, 2)], vec![signal_all(0, 1)]), "0 1"), "END count-mismatch");
    assert_eq!(last(pair(vec![signal_all(0, 2)], vec![signal(0, 0, 2, 1)]), "0 1"), "END count-mismatch");
    let twice = vec![signal_all(0, 2), signal_all(0, 2)];
    assert_eq!(last(pair(twice, vec![]), "0 0"), "END repeated-arrival");
    let producers = pair(vec![signal(0, 1, 1, 1)], vec![signal(0, 1, 1, 1)]);
    assert_eq!(last(producers, "0 1"), "END too-many-participants");
}

#[test]
fn an_exit_between_signal_and_wait_is_noted_for_consumers() {
    // clause: barcheck.missing-wait
    // clause: barcheck.exits-release-nothing
    // clause: nbarrier.free-after-waits
    let mut run = Run::new(pair(vec![signal_all(3, 2)], vec![signal_all(3, 2), wait(3)]));
    assert_eq!(run.log("0 0"), ["arrive b3", "exit ! missing-wait 0"]);
    // It has arrived: the other's arrival completes the barrier, and the notification stays.
    assert_eq!(run.log("1 1 1"), ["arrive b3, complete b3, notify 0, notify 1", "pass b3", "exit"]);
    let mut run = Run::new(pair(vec![signal_all(3, 2)], vec![signal_all(3, 2), wait(3)]));
    let StepOutcome::Noted(_, noted) = ({
        run.log("0 1");
        run.choose(0, 0, 0)
    }) else {
        panic!("noted")
    };
    assert_eq!(findings(&noted), " ! missing-wait 0");
    assert_eq!(noted[0].barrier.map(|b| b.0), Some(3));
    // A third that never comes hangs the rest.
    let mut run =
        Run::new(Group::new(Nbarrier, 3).many(2, vec![signal_all(0, 3), wait(0)]).one(vec![]).build());
    run.play("0 0 1 1");
    assert_eq!(run.judgement(), "! deadlock 0,1");
}

#[test]
fn operands_are_refused_with_the_offending_value() {
    // clause: nbarrier.id-range
    // clause: nbarrier.type-range
    // clause: nbarrier.producers-range
    // clause: nbarrier.consumers-range
    let refused = |statement: S| {
        let StepOutcome::Error(end) = Run::new(pair(vec![statement], vec![])).choose(0, 0, 0) else {
            panic!("the path should end");
        };
        let End::Violation(found) = *end else { panic!("a rule should be violated") };
        (found.rule.name(), found.detail)
    };
    assert_eq!(refused(signal(32, 7, 8, 9)), ("barrier-id-range", Detail::Operand(32)));
    assert_eq!(refused(wait(-1)), ("barrier-id-range", Detail::Operand(-1)));
    assert_eq!(refused(signal(0, 7, 8, 9)), ("type-range", Detail::Operand(7)));
    assert_eq!(refused(signal(0, 1, 8, 9)), ("count-range", Detail::Operand(8)));
    assert_eq!(refused(signal(0, 1, 2, 9)), ("count-range", Detail::Operand(9)));
    assert_eq!(refused(signal_all(31, 3)), ("count-range", Detail::Operand(3)));
}

fn subgroups(bodies: [Vec<S>; 2]) -> Program {
    let [a, b] = bodies;
    Group::new(Xegpu, 2).one(a).one(b).build()
}

#[test]
fn subgroups_allocate_initialise_arrive_and_wait() {
    // clause: xegpu.alloc
    // clause: xegpu.init
    // clause: xegpu.arrive
    // clause: xegpu.wait
    // clause: barcheck.xegpu-lowering
    let body = || vec![alloc(4), init(3, 2), xarrive(), xwait()];
    let mut run = Run::new(subgroups([body(), body()]));
    assert_eq!(run.log("0 0 0 0"), ["move", "move", "arrive b3", "block"]);
    assert_eq!(run.log("1 1 1 1")[2..], ["arrive b3, complete b3, free 0, notify 1", "pass b3"]);
}

#[test]
fn all_subgroups_allocate_alike() {
    // clause: barcheck.alloc-agrees
    let twice = subgroups([vec![alloc(4), alloc(4), init(3, 2)], vec![alloc(5)]]);
    let mut run = Run::new(twice.clone());
    assert_eq!(run.log("0 0 0"), ["move", "move", "move"]);
    assert_eq!(run.play("1"), "END count-mismatch");
    assert_eq!(last(twice, "1 0"), "END count-mismatch");
    assert_eq!(last(subgroups([vec![alloc(4), alloc(5)], vec![]]), "0 0"), "END count-mismatch");
    assert_eq!(last(subgroups([vec![alloc(33)], vec![]]), "0"), "END barrier-id-range");
}

#[test]
fn only_this_subgroups_allocation_makes_a_barrier_usable() {
    // clause: xegpu.alloc
    let program = || subgroups([vec![alloc(4), init(4, 2)], vec![init(0, 2), alloc(4), init(0, 2)]]);
    assert_eq!(last(program(), "0 1"), "END barrier-not-allocated");
    assert_eq!(last(program(), "0 0"), "END barrier-not-allocated");
    // An initialisation alone binds: several may do it, and again.
    let again = vec![alloc(1), init(0, 2), init(0, 1), xarrive(), xwait()];
    let mut run = Run::new(subgroups([again, vec![]]));
    assert_eq!(run.log("0 0 0 0 0")[3..], ["arrive b0, complete b0, notify 0", "pass b0"]);
}

#[test]
fn participants_agree_and_a_wait_needs_the_subgroups_own_arrival() {
    // clause: xegpu.participants
    // clause: barcheck.xegpu-wait-needs-arrive
    let body = |count| vec![alloc(1), init(0, count), xarrive(), xarrive()];
    assert_eq!(last(subgroups([body(2), body(1)]), "0 0 0 1 1 1"), "END count-mismatch");
    assert_eq!(last(subgroups([body(2), body(2)]), "0 0 0 0"), "END repeated-arrival");
    let waits = vec![alloc(1), init(0, 2), xwait()];
    assert_eq!(last(subgroups([waits, vec![]]), "0 0 0"), "END wait-without-arrive");
    let exits = vec![alloc(1), init(0, 2), xarrive()];
    assert_eq!(last(subgroups([exits, vec![]]), "0 0 0 0"), "exit ! missing-wait 0");
}

#[test]
fn initialisation_refuses_operands_with_the_offending_value() {
    // clause: barcheck.xegpu-id-range
    let refused = |statement: S| {
        let mut run = Run::new(subgroups([vec![alloc(4), statement], vec![]]));
        run.play("0");
        let StepOutcome::Error(end) = run.choose(0, 0, 0) else { panic!("the path should end") };
        let End::Violation(found) = *end else { panic!("a rule should be violated") };
        (found.rule.name(), found.detail)
    };
    assert_eq!(refused(init(32, 3)), ("barrier-id-range", Detail::Operand(32)));
    assert_eq!(refused(init(4, 3)), ("barrier-not-allocated", Detail::Operand(4)));
    assert_eq!(refused(init(3, 3)), ("count-range", Detail::Operand(3)));
}

#[test]
fn a_handle_is_neither_a_number_nor_anything_before_its_initialisation() {
    // clause: xegpu.handle
    // clause: barcheck.evaluation-error
    let unset = subgroups([vec![xarrive()], vec![]]);
    assert_eq!(last(unset, "0"), "FAULT Unset(LocalId(8))");
    let unset = subgroups([vec![xwait()], vec![]]);
    assert_eq!(last(unset, "0"), "FAULT Unset(LocalId(8))");
    let number = subgroups([vec![alloc(1), init(0, 2), assert(v(8))], vec![]]);
    assert_eq!(last(number, "0 0 0"), "FAULT NotANumber(LocalId(8))");
    let arrive = subgroups([vec![set(8, n(0)), xarrive()], vec![]]);
    assert_eq!(last(arrive, "0"), "FAULT NotANumber(LocalId(8))");
}
