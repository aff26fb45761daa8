//! mbarrier objects of `ptx`: for every rule a protocol that violates it and one that nearly does.

use crate::{comes_to, shows};
use barcheck_naive::build::*;
use barcheck_naive::build_mbarrier::*;
use barcheck_naive::explore::Verdict;
use barcheck_naive::protocol::*;

/// Two warps with one object, a location `x` and a location `y`.
fn two(count: i64, first: Vec<Stmt>, second: Vec<Stmt>) -> Protocol {
    let p = protocol(Target::Ptx, 64, vec![(0..1, first), (1..2, second)]);
    p.with_shared().with("y", Space::Shared, None).with_objects("done", None, Some(count))
}

/// One warp whose first lane does something before all of it goes on.
fn alone(count: i64, one: Vec<Stmt>, all: Vec<Stmt>) -> Protocol {
    let mut body = vec![one_lane(one)];
    body.extend(all);
    protocol(Target::Ptx, 32, vec![(0..1, body)]).with_shared().with_objects("done", None, Some(count))
}

fn done() -> Object {
    object(0)
}

#[test]
fn a_wait_goes_on_when_the_phase_of_its_parity_is_complete() {
    let arrives = || vec![one_lane(vec![done().arrive()])];
    shows(&two(1, arrives(), vec![done().wait(0)]), &[]);
    shows(&two(1, vec![], vec![done().wait(0)]), &["deadlock"]);
    // On a fresh object that of parity 1 is.
    shows(&two(1, vec![], vec![done().wait(1)]), &[]);
    shows(&two(1, arrives(), vec![done().wait(0), done().wait(1)]), &["deadlock"]);
    shows(&two(1, arrives(), vec![done().wait(2)]), &["parity-range"]);
    // Exits are no arrivals.
    shows(&two(2, arrives(), vec![exit()]), &["dangling-arrival"]);
}

#[test]
fn every_lane_arrives_by_itself() {
    shows(&alone(32, vec![], vec![done().arrive(), done().wait(0)]), &[]);
    shows(&alone(31, vec![], vec![done().arrive(), done().wait(0)]), &["over-arrival"]);
    shows(&alone(3, vec![done().arrive_by(3)], vec![done().wait(0)]), &[]);
    shows(&alone(2, vec![done().arrive_by(3)], vec![done().wait(0)]), &["over-arrival"]);
    shows(&alone(2, vec![done().arrive_by(0)], vec![]), &["count-range"]);
}

#[test]
fn an_arrival_that_must_not_complete_the_phase_needs_another_behind_it() {
    let stays = || one_lane(vec![done().arrive_no_complete(1)]);
    let last = || one_lane(vec![done().arrive()]);
    shows(&alone(2, vec![done().arrive_no_complete(1), done().arrive()], vec![done().wait(0)]), &[]);
    shows(&alone(2, vec![done().arrive(), done().arrive_no_complete(1)], vec![]), &["no-complete"]);
    shows(&two(2, vec![stays()], vec![last(), done().wait(0)]), &["no-complete"]);
    shows(&two(2, vec![stays(), sync(1, 64)], vec![sync(1, 64), last(), done().wait(0)]), &[]);
    shows(&two(2, vec![stays()], vec![done().wait(0)]), &["deadlock"]);
    // More than the phase waits for is the graver mistake.
    shows(&alone(1, vec![done().arrive_no_complete(2)], vec![]), &["over-arrival"]);
    shows(&alone(32, vec![], vec![done().arrive_no_complete(1)]), &["no-complete"]);
    // What lands may come last.
    let lands =
        |first: Stmt, then: Stmt| alone(1, vec![done().expect(16), first, then], vec![done().wait(0)]);
    shows(&lands(done().arrive_no_complete(1), done().copy(16, 0)), &[]);
    shows(&lands(done().copy(16, 0), done().arrive_no_complete(1)), &["no-complete"]);
}

#[test]
fn arrivals_that_are_dropped_are_not_expected_later() {
    let stays = |rounds| {
        vec![for_(
            "i",
            0,
            rounds,
            vec![one_lane(vec![done().arrive()]), done().wait(bin(Op::Rem, v("i"), 2))],
        )]
    };
    shows(&two(2, stays(3), vec![one_lane(vec![done().arrive_drop()])]), &[]);
    shows(&two(2, stays(2), vec![one_lane(vec![done().arrive()])]), &["deadlock"]);
    shows(&alone(1, vec![done().arrive_drop()], vec![]), &["over-arrival"]);
}

#[test]
fn a_phase_has_to_be_seen_complete_before_the_next_arrival() {
    let again = |between: Vec<Stmt>| {
        let mut body = between;
        body.push(one_lane(vec![done().arrive()]));
        alone(1, vec![done().arrive()], body)
    };
    shows(&again(vec![]), &["unobserved-phase"]);
    shows(&again(vec![done().wait(0)]), &[]);
    // Bytes are no arrivals.
    let bytes = vec![done().arrive(), done().expect(16), done().complete(16)];
    shows(&alone(1, bytes, vec![]), &[]);
}

#[test]
fn a_phase_waits_for_the_bytes_that_are_announced() {
    let brings = |announced, bytes| {
        alone(1, vec![done().arrive_expect(announced), done().copy(bytes, 0)], vec![done().wait(0)])
    };
    shows(&brings(32, 32), &[]);
    shows(&brings(32, 16), &["deadlock"]);
    shows(&brings(16, 32), &["over-delivery"]);
    shows(&brings((1 << 20) - 1, (1 << 20) - 1), &[]);
    shows(&brings(1 << 20, 16), &["tx-range"]);
    // Bytes may come before they are announced, but not before the phase has all arrivals.
    shows(&alone(1, vec![done().copy(16, 0), done().arrive_expect(16)], vec![done().wait(0)]), &[]);
    let late = vec![done().copy(16, 0), done().arrive(), done().expect(16)];
    shows(&alone(1, late, vec![done().wait(0)]), &["in-flight-at-exit", "over-delivery", "stale-completion"]);
}

#[test]
fn what_lands_lands_in_the_phase_in_which_it_was_left() {
    let p = |one| alone(1, one, vec![done().wait(0)]);
    shows(&p(vec![done().commit()]), &[]);
    shows(&p(vec![done().copy(0, 0), done().arrive()]), &["in-flight-at-exit", "stale-completion"]);
    shows(&p(vec![done().copy(0, 0), done().inval()]), &["mbarrier-live", "mbarrier-not-live"]);
    let again = vec![done().commit(), done().inval(), done().init(1)];
    shows(&alone(1, again, vec![]), &["mbarrier-live"]);
    shows(&alone(1, vec![done().commit()], vec![]), &["commit-at-exit"]);
    shows(&alone(2, vec![done().commit()], vec![]), &["commit-at-exit", "dangling-arrival"]);
}

#[test]
fn only_what_is_initialised_can_be_used() {
    let p = |one, all| {
        let mut p = alone(1, one, all);
        p.objects[0].count = None;
        p
    };
    shows(&p(vec![done().init(1), done().arrive()], vec![done().wait(0)]), &[]);
    shows(&p(vec![done().arrive()], vec![]), &["mbarrier-not-live"]);
    shows(&p(vec![done().commit()], vec![]), &["mbarrier-not-live"]);
    shows(&p(vec![done().init(1), done().init(1)], vec![]), &["mbarrier-live"]);
    shows(&p(vec![done().init(1), done().inval(), done().init(1)], vec![]), &[]);
    shows(&p(vec![], vec![done().init(1)]), &["mbarrier-live"]);
    shows(&p(vec![done().init(1)], vec![done().inval()]), &["mbarrier-not-live"]);
    shows(&p(vec![done().init(0)], vec![]), &["count-range"]);
    shows(&p(vec![], vec![done().init(0)]), &["count-range"]);
    shows(
        &two(1, vec![done().wait(0)], vec![one_lane(vec![done().inval()])]),
        &["mbarrier-live", "mbarrier-not-live"],
    );
}

#[test]
fn arrivals_release_and_waits_acquire() {
    let p = |arrive: Stmt| two(1, vec![write(0), one_lane(vec![arrive])], vec![done().wait(0), read(0)]);
    shows(&p(done().arrive()), &[]);
    shows(&p(done().arrive_relaxed()), &["missing-fence"]);
    // A commit is an arrival of what came before it, whenever it lands.
    shows(&p(done().commit()), &[]);
    let after = |arrive: Stmt| two(1, vec![one_lane(vec![arrive]), write(0)], vec![done().wait(0), read(0)]);
    shows(&after(done().arrive()), &["data-race"]);
    shows(&after(done().commit()), &["data-race"]);
    // A wait that passes acquires as well, but not what came before an object's present life.
    let second = |arrive: Stmt| {
        let first = vec![write(0), one_lane(vec![done().arrive()]), done().wait(0)];
        let mut first = [first, vec![one_lane(vec![done().inval(), done().init(1)])]].concat();
        first.push(one_lane(vec![arrive]));
        two(1, first, vec![object(1).wait(0), done().wait(1), read(0)]).with_objects("go", None, Some(1))
    };
    shows(&second(object(1).arrive()), &[]);
    shows(&second(object(1).arrive_relaxed()), &["missing-fence"]);
}

#[test]
fn a_copy_is_known_to_whoever_waits_for_its_phase_and_to_nobody_else() {
    let begins = || one_lane(vec![done().arrive_expect(16), done().copy(16, 0)]);
    shows(&two(1, vec![begins()], vec![done().wait(0), read(0)]), &[]);
    shows(&two(1, vec![begins(), read(0), done().wait(0)], vec![]), &["data-race"]);
    shows(&two(1, vec![begins(), done().wait(0), read(0)], vec![]), &[]);
    shows(&two(1, vec![read(0), begins(), done().wait(0)], vec![]), &[]);
    shows(&two(1, vec![write(0), begins(), done().wait(0)], vec![]), &["missing-fence"]);
    shows(&two(1, vec![begins(), done().wait(0)], vec![write(0)]), &["data-race"]);
    // Two copies are not in the order of their warp.
    let twice = |array| one_lane(vec![done().arrive_expect(32), done().copy(16, 0), done().copy(16, array)]);
    shows(&two(1, vec![twice(0), done().wait(0)], vec![]), &["data-race"]);
    shows(&two(1, vec![twice(1), done().wait(0)], vec![]), &[]);
}

#[test]
fn lanes_that_wait_while_others_could_go_on_are_not_modelled() {
    let p = |other| {
        two(1, vec![if_(eq(lane(), 0), vec![done().wait(0)], other)], vec![one_lane(vec![done().arrive()])])
    };
    shows(&p(vec![]), &[]);
    comes_to(&p(vec![read(0)]), Verdict::Inconclusive);
}

#[test]
fn lanes_that_name_objects_of_their_own_initialise_each_its_own() {
    let by_lanes = |lanes: i32, index: Expr| {
        let init = object_at(0, index).init(32);
        let rest = [0, 1].map(|at| object_at(0, at).arrive());
        let mut body = vec![if_(lt(lane(), lanes), vec![init], vec![])];
        body.extend(rest);
        let p = protocol(Target::Ptx, 32, vec![(0..1, body)]);
        p.with_objects("done", Some(2), None)
    };
    shows(&by_lanes(2, lane()), &[]);
    shows(&by_lanes(4, bin(Op::Div, lane(), 2)), &["mbarrier-live"]);
}
