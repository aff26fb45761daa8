//! Rules of `nbarrier` and `xegpu`.

use crate::{comes_to, shows};
use barcheck_naive::build::*;
use barcheck_naive::explore::Verdict;
use barcheck_naive::protocol::*;

fn threads(blocks: Vec<Vec<Stmt>>) -> Protocol {
    let blocks: Vec<_> = (0..).zip(blocks).map(|(n, b)| (n..n + 1, b)).collect();
    protocol(Target::Nbarrier, blocks.len() as i64, blocks)
}

fn subgroups(blocks: Vec<Vec<Stmt>>) -> Protocol {
    let blocks: Vec<_> = (0..).zip(blocks).map(|(n, b)| (n..n + 1, b)).collect();
    protocol(Target::Xegpu, blocks.len() as i64, blocks)
}

/// A subgroup's work with a handle on barrier 0 for so many.
fn with_handle(count: i32, work: Vec<Stmt>) -> Vec<Stmt> {
    let mut body = vec![alloc(1), init("h", 0, count)];
    body.extend(work);
    body
}

fn meet() -> Vec<Stmt> {
    vec![signal_all(1, 2), wait(1)]
}

fn handle_meet() -> Vec<Stmt> {
    vec![handle_arrive("h"), handle_wait("h")]
}

#[test]
fn everyone_who_signals_and_waits_goes_on() {
    shows(&threads(vec![meet(), meet()]), &[]);
    let p = subgroups(vec![with_handle(2, handle_meet()), with_handle(2, handle_meet())]);
    shows(&p, &[]);
}

#[test]
fn a_missing_partner_deadlocks_even_after_its_exit() {
    shows(&threads(vec![meet(), vec![]]), &["deadlock"]);
    shows(&subgroups(vec![with_handle(2, handle_meet()), vec![]]), &["deadlock"]);
}

#[test]
fn a_loop_elsewhere_does_not_hide_a_hang() {
    shows(&threads(vec![meet(), vec![loop_(vec![])]]), &["stuck-agent"]);
    let p = subgroups(vec![with_handle(2, handle_meet()), vec![loop_(vec![])]]);
    shows(&p, &["stuck-agent"]);
}

#[test]
fn signals_of_one_generation_agree_on_their_counts() {
    let p = threads(vec![vec![signal(1, 1, 1, 1)], vec![signal(1, 2, 2, 1), wait(1)]]);
    shows(&p, &["count-mismatch"]);
    let p = subgroups(vec![with_handle(2, handle_meet()), with_handle(1, handle_meet())]);
    // The one who wants nobody else may also come and go first, when the barrier is idle.
    shows(&p, &["count-mismatch", "deadlock", "reuse-before-free"]);
    shows(&threads(vec![vec![signal(1, 1, 1, 1)], vec![signal(1, 2, 1, 1), wait(1)]]), &[]);
}

#[test]
fn subgroups_agree_on_what_they_allocate() {
    shows(&subgroups(vec![vec![alloc(1)], vec![alloc(2)]]), &["count-mismatch"]);
    shows(&subgroups(vec![vec![alloc(2)], vec![alloc(2), alloc(2)]]), &[]);
}

#[test]
fn counts_are_between_one_and_the_group() {
    for count in [0, 3] {
        shows(&threads(vec![vec![signal_all(1, count)], vec![]]), &["count-range"]);
        shows(&threads(vec![vec![signal(1, 1, 1, count)], vec![]]), &["count-range"]);
        shows(&subgroups(vec![with_handle(count, vec![]), vec![]]), &["count-range"]);
    }
}

#[test]
fn barriers_are_thirty_two() {
    shows(&threads(vec![vec![signal_all(32, 1)]]), &["barrier-id-range"]);
    shows(&threads(vec![vec![wait(32)]]), &["barrier-id-range"]);
    shows(&threads(vec![vec![signal_all(31, 1), wait(31)]]), &[]);
    for count in [0, 33] {
        shows(&subgroups(vec![vec![alloc(count)]]), &["barrier-id-range"]);
    }
    shows(&subgroups(vec![vec![alloc(32), init("h", 32, 1)]]), &["barrier-id-range"]);
    shows(&subgroups(vec![vec![alloc(32), init("h", 31, 1)]]), &[]);
}

#[test]
fn a_barrier_is_allocated_before_it_is_bound() {
    shows(&subgroups(vec![vec![init("h", 0, 1)]]), &["barrier-not-allocated"]);
    shows(&subgroups(vec![vec![alloc(1), init("h", 1, 1)]]), &["barrier-not-allocated"]);
    // Another subgroup's allocation does not count.
    let p = subgroups(vec![vec![alloc(1)], vec![init("h", 0, 1)]]);
    shows(&p, &["barrier-not-allocated"]);
}

#[test]
fn a_handle_is_set_before_it_is_used() {
    let p = subgroups(vec![vec![
        alloc(1),
        maybe(vec![init("h", 0, 1)], vec![]),
        handle_arrive("h"),
        handle_wait("h"),
    ]]);
    comes_to(&p, Verdict::Error);
}

#[test]
fn a_second_signal_in_one_generation_is_an_error() {
    let p = threads(vec![vec![signal_all(1, 2), signal_all(1, 2)], vec![]]);
    shows(&p, &["repeated-arrival"]);
    let twice = with_handle(2, vec![handle_arrive("h"), handle_arrive("h")]);
    shows(&subgroups(vec![twice, vec![]]), &["repeated-arrival"]);
}

#[test]
fn more_signals_than_a_generation_has_room_for() {
    let p = threads(vec![meet(), meet(), meet()]);
    shows(&p, &["arrival-race", "deadlock", "reuse-before-free"]);
    let each = || with_handle(2, handle_meet());
    let p = subgroups(vec![each(), each(), each()]);
    shows(&p, &["arrival-race", "deadlock", "reuse-before-free"]);
}

#[test]
fn producers_and_consumers_are_counted_apart() {
    let producer = || vec![signal(1, 1, 1, 1)];
    let consumer = || vec![signal(1, 2, 1, 1), wait(1)];
    shows(&threads(vec![producer(), consumer()]), &[]);
    let p = threads(vec![producer(), producer(), consumer()]);
    shows(&p, &["arrival-race", "dangling-arrival", "reuse-before-free", "too-many-participants"]);
}

#[test]
fn types_are_three() {
    shows(&threads(vec![vec![signal(1, 3, 1, 1)]]), &["type-range"]);
    shows(&threads(vec![vec![signal(1, -1, 1, 1)]]), &["type-range"]);
    shows(&threads(vec![vec![signal(1, 0, 1, 1), wait(1)]]), &[]);
}

#[test]
fn a_wait_needs_an_arrival() {
    shows(&threads(vec![vec![wait(1)]]), &["wait-without-arrive"]);
    let again = vec![signal_all(1, 1), wait(1), wait(1)];
    shows(&threads(vec![again]), &["wait-without-arrive"]);
    shows(&subgroups(vec![with_handle(1, vec![handle_wait("h")])]), &["wait-without-arrive"]);
}

#[test]
fn a_producer_does_not_wait() {
    let p = threads(vec![vec![signal(1, 1, 1, 1), wait(1)], vec![]]);
    shows(&p, &["producer-waits"]);
    let both = vec![signal(1, 0, 1, 1), wait(1)];
    shows(&threads(vec![both]), &[]);
}

#[test]
fn a_consumer_that_leaves_without_waiting() {
    shows(&threads(vec![vec![signal_all(1, 1)]]), &["missing-wait"]);
    shows(&threads(vec![vec![signal_all(1, 2)], vec![]]), &["dangling-arrival", "missing-wait"]);
    shows(&subgroups(vec![with_handle(1, vec![handle_arrive("h")])]), &["missing-wait"]);
    let p = subgroups(vec![with_handle(2, vec![handle_arrive("h")]), vec![]]);
    shows(&p, &["dangling-arrival", "missing-wait"]);
}

#[test]
fn a_notification_that_was_not_consumed_is_lost() {
    let body = vec![signal_all(1, 1), signal_all(1, 1)];
    shows(&threads(vec![body]), &["lost-notification"]);
    let body = with_handle(1, vec![handle_arrive("h"), handle_arrive("h")]);
    shows(&subgroups(vec![body]), &["lost-notification"]);
}

#[test]
fn a_loop_over_one_barrier_reuses_it_before_all_have_waited() {
    let body = || vec![loop_(meet())];
    shows(&threads(vec![body(), body()]), &["reuse-before-free"]);
    let apart = || vec![loop_(vec![signal_all(1, 2), wait(1), signal_all(2, 2), wait(2)])];
    shows(&threads(vec![apart(), apart()]), &[]);
    let each = || with_handle(2, vec![loop_(handle_meet())]);
    shows(&subgroups(vec![each(), each()]), &["reuse-before-free"]);
}

#[test]
fn an_assertion_fails() {
    shows(&threads(vec![vec![assert_(own())]]), &["assertion"]);
    shows(&subgroups(vec![vec![assert_(own())]]), &["assertion"]);
}
