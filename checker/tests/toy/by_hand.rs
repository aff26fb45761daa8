//! The judge itself, judged: protocols with a known truth, and for every rule some that violate it and some
//! that nearly do.

use super::naive::explore;
use super::protocol::{Protocol, Stmt, arrive, atomic, of_roles, read, sync, write};

/// More states than any protocol here has.
const CAP: usize = 100_000;

/// Threads with a program each, and one location.
fn threads(bodies: Vec<Vec<Stmt>>) -> Protocol {
    of_roles(1, bodies.into_iter().map(|body| (1, body)).collect())
}

/// Checks that exactly these rules are violated.
#[track_caller]
fn shows(bodies: Vec<Vec<Stmt>>, rules: &[&str]) {
    protocol_shows(&threads(bodies), rules);
}

#[track_caller]
fn protocol_shows(protocol: &Protocol, rules: &[&str]) {
    let outcome = explore(protocol, CAP).expect("a small protocol");
    let found: Vec<&str> = outcome.rules.iter().copied().collect();
    assert_eq!(found, rules, "\n{}", protocol.text());
}

fn either(then: Vec<Stmt>, other: Vec<Stmt>) -> Stmt {
    Stmt::If(then, other)
}

const TOO_MANY: &str = "too-many-participants";

#[test]
fn all_who_wait_go_on_when_the_delivery_lands() {
    shows(vec![vec![sync(0, 2)], vec![sync(0, 2)]], &[]);
    shows(vec![vec![sync(0, 1)]], &[]);
    shows(vec![vec![arrive(0, 2)], vec![sync(0, 2)]], &[]);
    shows(vec![vec![arrive(0, 2)], vec![arrive(0, 2)]], &[]);
    protocol_shows(&of_roles(0, vec![(4, vec![sync(3, 4), sync(3, 4)])]), &[]);
}

#[test]
fn a_delivery_is_a_step_of_its_own() {
    let states = |bodies| explore(&threads(bodies), CAP).expect("a small protocol").states;
    assert_eq!(states(vec![vec![]]), 1);
    // The exit and the landing come in either order.
    assert_eq!(states(vec![vec![arrive(0, 1)]]), 5);
    // The exit waits for the landing.
    assert_eq!(states(vec![vec![sync(0, 1)]]), 4);
    // Two deliveries of one thread land in either order: 1, then 2 for the first, 4 for both, twice.
    assert_eq!(states(vec![vec![arrive(0, 1), arrive(1, 1)]]), 1 + 2 + 4 + 4);
    assert_eq!(explore(&threads(vec![vec![arrive(0, 1)]]), 2), None);
}

#[test]
fn a_delivery_lands_after_its_thread_has_exited() {
    shows(vec![vec![sync(0, 2), sync(1, 1)], vec![arrive(0, 2)]], &[]);
    let reuse = vec![sync(0, 2), sync(0, 1)];
    shows(vec![reuse, vec![arrive(0, 2)]], &[]);
}

#[test]
fn an_arrival_while_the_delivery_may_be_pending_is_one_too_many() {
    shows(vec![vec![arrive(0, 1), arrive(0, 1)]], &[TOO_MANY]);
    shows(vec![vec![arrive(0, 1), sync(0, 1)]], &[TOO_MANY]);
    shows(vec![vec![arrive(0, 1)], vec![arrive(0, 1)]], &[TOO_MANY]);
    // What lands at another barrier says nothing.
    shows(vec![vec![arrive(0, 1), sync(1, 1), arrive(0, 1)]], &[TOO_MANY]);
    // Who has seen it land may arrive again, and whoever was told.
    shows(vec![vec![sync(0, 1), arrive(0, 1)]], &[]);
    shows(vec![vec![arrive(0, 1), arrive(1, 1), arrive(2, 1), arrive(3, 1)]], &[]);
    shows(vec![vec![sync(0, 1), arrive(1, 2)], vec![sync(1, 2), arrive(0, 1)]], &[]);
    shows(vec![vec![arrive(0, 1), arrive(1, 2)], vec![sync(1, 2), arrive(0, 1)]], &[TOO_MANY]);
}

#[test]
fn who_only_arrives_has_to_be_told_that_the_delivery_has_landed() {
    let consumer = |times| vec![Stmt::For(times, vec![sync(0, 2), sync(1, 2)])];
    shows(vec![vec![Stmt::For(3, vec![arrive(0, 2), sync(1, 2)])], consumer(3)], &[]);
    shows(vec![vec![Stmt::Loop(vec![arrive(0, 2), sync(1, 2)])], vec![Stmt::Loop(consumer(1))]], &[]);
    // After one arrival comes the next, before anybody else's, with it, or before it has landed.
    let both = vec![vec![arrive(0, 2), arrive(0, 2)], vec![sync(0, 2), sync(0, 2)]];
    shows(both, &["repeated-arrival", TOO_MANY]);
}

#[test]
fn counts_of_one_generation_agree() {
    shows(vec![vec![arrive(0, 2)], vec![arrive(0, 3)], vec![]], &["count-mismatch"]);
    shows(vec![vec![arrive(0, 2)], vec![arrive(0, 2)], vec![]], &[]);
    // The barrier that is full is no more gathering, and the one that is idle again begins anew.
    let late = &["count-mismatch", "dangling-arrival", TOO_MANY];
    shows(vec![vec![arrive(0, 2)], vec![arrive(0, 1)]], late);
    shows(vec![vec![arrive(0, 1), arrive(0, 2)], vec![]], &["dangling-arrival", TOO_MANY]);
    shows(vec![vec![sync(0, 1), sync(0, 2)], vec![arrive(1, 1)]], &["deadlock"]);
    shows(vec![vec![sync(0, 1), sync(1, 2), sync(0, 2)], vec![sync(1, 2), sync(0, 2)]], &[]);
}

#[test]
fn counts_are_from_one_to_all_threads() {
    for count in [-1, 0, 3] {
        shows(vec![vec![arrive(0, count)], vec![]], &["count-range"]);
        shows(vec![vec![sync(0, count)], vec![]], &["count-range"]);
    }
    shows(vec![vec![arrive(0, 1), sync(1, 1)], vec![]], &[]);
    shows(vec![vec![arrive(0, 2)], vec![sync(0, 2)]], &[]);
}

#[test]
fn barriers_are_four() {
    for barrier in [-1, 4] {
        shows(vec![vec![arrive(barrier, 1)]], &["barrier-id-range"]);
        shows(vec![vec![sync(barrier, 1)]], &["barrier-id-range"]);
    }
    shows(vec![vec![sync(0, 1), sync(3, 1)]], &[]);
}

#[test]
fn checks_come_in_their_order_and_the_first_ends_the_path() {
    shows(vec![vec![arrive(4, 9), write(0)], vec![]], &["barrier-id-range"]);
    shows(vec![vec![arrive(0, 1), arrive(0, 9)]], &["count-range"]);
    // Full, with another count, and arrived before.
    shows(vec![vec![arrive(0, 1), arrive(0, 2), sync(4, 1)], vec![]], &["barrier-id-range", TOO_MANY]);
    // With another count, and arrived before.
    shows(vec![vec![arrive(0, 2), arrive(0, 3)], vec![], vec![]], &["count-mismatch"]);
}

#[test]
fn a_thread_arrives_once_in_a_generation() {
    shows(vec![vec![arrive(0, 2), arrive(0, 2)], vec![]], &["repeated-arrival"]);
    shows(vec![vec![arrive(0, 2), sync(0, 2)], vec![]], &["repeated-arrival"]);
    shows(vec![vec![arrive(0, 2), arrive(1, 2)], vec![sync(1, 2), sync(0, 2)]], &[]);
    let next = vec![arrive(0, 2), sync(1, 2), arrive(0, 2)];
    shows(vec![next, vec![sync(0, 2), sync(1, 2), sync(0, 2)]], &[]);
}

#[test]
fn who_waits_for_nobody_deadlocks() {
    shows(vec![vec![sync(0, 2)], vec![]], &["deadlock"]);
    shows(vec![vec![sync(0, 2)], vec![sync(1, 2)]], &["deadlock"]);
    let crossed = vec![vec![sync(0, 2), sync(1, 2)], vec![sync(1, 2), sync(0, 2)]];
    shows(crossed, &["deadlock"]);
    shows(vec![vec![sync(0, 2)], vec![either(vec![arrive(0, 2)], vec![])]], &["deadlock"]);
    shows(vec![vec![sync(0, 2)], vec![either(vec![arrive(0, 2)], vec![sync(0, 2)])]], &[]);
    // Nobody has a step but the delivery.
    shows(vec![vec![sync(0, 2)], vec![sync(0, 2)], vec![]], &[]);
    let rounds = |times| vec![Stmt::For(times, vec![sync(0, 2)])];
    shows(vec![rounds(2), rounds(3)], &["deadlock"]);
    shows(vec![rounds(3), rounds(3)], &[]);
}

#[test]
fn arrivals_left_over_are_worth_a_warning() {
    shows(vec![vec![arrive(0, 2)], vec![]], &["dangling-arrival"]);
    let warned = explore(&threads(vec![vec![arrive(0, 2)], vec![]]), CAP).expect("a small protocol");
    assert!(!warned.is_violated());
    shows(vec![vec![arrive(0, 2)], vec![arrive(0, 2)]], &[]);
    shows(vec![vec![arrive(0, 2)], vec![either(vec![arrive(0, 2)], vec![])]], &["dangling-arrival"]);
    // A full barrier holds none, and what is pending elsewhere does not hide them.
    shows(vec![vec![arrive(0, 1)], vec![]], &[]);
    shows(vec![vec![arrive(1, 1), arrive(0, 2)], vec![]], &["dangling-arrival"]);
    // Who waits for the others has not exited.
    shows(vec![vec![arrive(0, 3)], vec![sync(0, 3)], vec![]], &["deadlock"]);
    shows(vec![vec![arrive(0, 2), Stmt::Loop(vec![read(0)])], vec![]], &[]);
}

#[test]
fn a_loop_elsewhere_does_not_hide_a_hang() {
    let for_ever = || Stmt::Loop(vec![read(0)]);
    shows(vec![vec![sync(0, 2)], vec![for_ever()]], &["stuck-agent"]);
    shows(vec![vec![sync(0, 2)], vec![Stmt::Loop(vec![sync(1, 1)])]], &["stuck-agent"]);
    shows(vec![vec![sync(0, 2)], vec![Stmt::While(vec![])]], &["deadlock", "stuck-agent"]);
    let perhaps = either(vec![arrive(0, 2)], vec![]);
    shows(vec![vec![sync(0, 2)], vec![perhaps, for_ever()]], &["stuck-agent"]);
    // Somebody may come, or is due.
    shows(vec![vec![sync(0, 2)], vec![Stmt::While(vec![]), arrive(0, 2)]], &[]);
    shows(vec![vec![sync(0, 2)], vec![arrive(0, 2), for_ever()]], &[]);
    shows(vec![vec![sync(0, 1)], vec![for_ever()]], &[]);
    shows(vec![vec![Stmt::Loop(vec![sync(0, 2)])], vec![Stmt::Loop(vec![sync(0, 2)])]], &[]);
    shows(vec![vec![arrive(0, 2)], vec![for_ever()]], &[]);
}

#[test]
fn accesses_that_no_barrier_orders_race() {
    let race = &["data-race"];
    shows(vec![vec![write(0)], vec![read(0)]], race);
    shows(vec![vec![write(0)], vec![write(0)]], race);
    shows(vec![vec![atomic(0)], vec![read(0)]], race);
    shows(vec![vec![atomic(0)], vec![write(0)]], race);
    shows(vec![vec![atomic(0)], vec![atomic(0)]], &[]);
    shows(vec![vec![read(0)], vec![read(0)]], &[]);
    shows(vec![vec![write(0), read(0), atomic(0), write(0)], vec![]], &[]);
    protocol_shows(&of_roles(1, vec![(2, vec![write(0)])]), race);
    protocol_shows(&of_roles(2, vec![(1, vec![write(0)]), (1, vec![write(1)])]), &[]);
}

#[test]
fn who_waits_learns_what_those_knew_who_arrived() {
    let race = &["data-race"];
    shows(vec![vec![write(0), arrive(0, 2)], vec![sync(0, 2), read(0)]], &[]);
    shows(vec![vec![write(0), sync(0, 2)], vec![sync(0, 2), write(0)]], &[]);
    shows(vec![vec![write(0), sync(0, 2), read(0)], vec![sync(0, 2), read(0)]], &[]);
    // What comes after the arrival is not brought, and who only arrives learns nothing.
    shows(vec![vec![arrive(0, 2), write(0)], vec![sync(0, 2), read(0)]], race);
    shows(vec![vec![arrive(0, 2), read(0)], vec![write(0), sync(0, 2)]], race);
    // Nor does anybody learn from another generation.
    shows(vec![vec![write(0), arrive(0, 1)], vec![sync(1, 1), read(0)]], race);
    // Order is transitive, and goes by those who waited.
    let by_waiting = vec![write(0), arrive(0, 2)];
    shows(vec![by_waiting.clone(), vec![sync(0, 2), arrive(1, 2)], vec![sync(1, 2), read(0)]], &[]);
    shows(vec![by_waiting, vec![arrive(0, 2), arrive(1, 2)], vec![sync(1, 2), read(0)]], race);
}

#[test]
fn an_access_after_a_race_is_judged_by_the_latest_ones() {
    let knows_all = vec![read(0), sync(0, 2), write(0)];
    shows(vec![knows_all, vec![read(0), sync(0, 2)]], &[]);
    // The write hides the reads before it from whoever knows the write alone.
    let writes = vec![sync(0, 2), write(0), arrive(1, 2)];
    shows(vec![vec![read(0), arrive(0, 2)], writes, vec![sync(1, 2), write(0)]], &[]);
}

#[test]
fn choices_are_made_anew_and_by_each_thread_for_itself() {
    let chooses = || vec![either(vec![sync(0, 2)], vec![sync(1, 2)])];
    shows(vec![chooses(), chooses()], &["deadlock"]);
    shows(vec![vec![either(vec![sync(0, 1)], vec![]), sync(0, 1)]], &[]);
    shows(vec![vec![Stmt::While(vec![sync(0, 1)])]], &[]);
    shows(vec![vec![Stmt::While(vec![arrive(0, 1)])]], &[TOO_MANY]);
    protocol_shows(&of_roles(0, vec![(2, vec![Stmt::While(vec![sync(0, 2)])])]), &["deadlock"]);
}

#[test]
fn a_protocol_is_printed_in_the_language() {
    let inner = Stmt::For(2, vec![Stmt::For(3, vec![sync(0, 3)])]);
    let choice = either(vec![write(0)], vec![Stmt::While(vec![atomic(1)])]);
    let protocol = of_roles(2, vec![(2, vec![inner, choice]), (1, vec![Stmt::Loop(vec![arrive(-1, 3)])])]);
    let text = "target toy;
thread_group 3;
shared x0;
shared x1;
threads 0..2 {
    for i0 in 0..2 {
        for i1 in 0..3 {
            toy.sync 0, 3;
        }
    }
    if ? {
        write x0;
    } else {
        while ? {
            atomic x1;
        }
    }
}
thread 2 {
    loop {
        toy.arrive (-1), 3;
    }
}
";
    assert_eq!(protocol.text(), text);
}

#[test]
fn a_loop_without_a_step_is_no_protocol() {
    for body in [vec![], vec![Stmt::For(0, vec![read(0)])], vec![Stmt::For(2, vec![])]] {
        assert!(!threads(vec![vec![either(vec![], vec![Stmt::Loop(body)])]]).well_formed());
    }
    for body in [vec![Stmt::For(2, vec![read(0)])], vec![either(vec![], vec![])], vec![Stmt::While(vec![])]] {
        assert!(threads(vec![vec![Stmt::Loop(body)]]).well_formed());
    }
}
