//! Rules of `split_barrier`.

use crate::{comes_to, shows};
use barcheck_naive::build::*;
use barcheck_naive::explore::Verdict;
use barcheck_naive::protocol::*;

fn all(invocations: i64, body: Vec<Stmt>) -> Protocol {
    let range = 0..invocations as usize;
    protocol(Target::Split, invocations, vec![(range, body)])
}

fn in_(scope: Scope) -> (Stmt, Stmt) {
    (split_arrive(scope, order(None)), split_wait(scope, order(None)))
}

fn pair() -> (Stmt, Stmt) {
    in_(Scope::Workgroup)
}

fn whole() -> Stmt {
    control_barrier(Scope::Workgroup, order(None))
}

#[test]
fn everyone_who_arrives_and_waits_goes_on() {
    let (arrive, wait) = pair();
    shows(&all(3, vec![arrive, wait]), &[]);
    shows(&all(3, vec![whole(), whole()]), &[]);
}

#[test]
fn an_exit_releases_nobody() {
    let (arrive, wait) = pair();
    let leave = if_(eq(own(), 0), vec![exit()], vec![]);
    shows(&all(2, vec![leave, arrive, wait]), &["deadlock"]);
    let spin = if_(eq(own(), 0), vec![loop_(vec![])], vec![]);
    let (arrive, wait) = pair();
    shows(&all(2, vec![spin, arrive, wait]), &["stuck-agent"]);
}

#[test]
fn arrive_and_wait_alternate() {
    let (arrive, wait) = pair();
    shows(&all(2, vec![arrive.clone(), arrive.clone()]), &["repeated-arrival"]);
    shows(&all(2, vec![arrive.clone(), whole()]), &["repeated-arrival"]);
    shows(&all(2, vec![wait.clone()]), &["wait-without-arrive"]);
    shows(&all(2, vec![arrive.clone(), wait.clone(), wait.clone()]), &["wait-without-arrive"]);
    shows(&all(2, vec![arrive.clone(), wait.clone(), arrive, wait]), &[]);
}

#[test]
fn an_arrival_is_waited_for_before_the_end() {
    let (arrive, _) = pair();
    shows(&all(2, vec![arrive]), &["missing-wait"]);
}

#[test]
fn agents_meet_at_the_same_statement() {
    let (arrive, wait) = pair();
    let arms = if_(eq(own(), 0), vec![arrive.clone()], vec![arrive.clone()]);
    shows(&all(2, vec![arms, wait.clone()]), &["nonuniform-barrier"]);
    let arms = if_(eq(own(), 0), vec![wait.clone()], vec![wait]);
    shows(&all(2, vec![arrive, arms]), &["nonuniform-barrier"]);
    let arms = if_(eq(own(), 0), vec![whole()], vec![whole()]);
    shows(&all(2, vec![arms]), &["nonuniform-barrier"]);
}

#[test]
fn agents_meet_in_the_same_iteration() {
    let skewed = for_("i", 0, 2, vec![if_(eq(v("i"), own()), vec![whole()], vec![])]);
    shows(&all(2, vec![skewed]), &["nonuniform-barrier"]);
    let alike = for_("i", 0, 2, vec![if_(eq(v("i"), 1), vec![whole()], vec![])]);
    shows(&all(2, vec![alike]), &[]);
}

#[test]
fn endless_loops_stay_finite() {
    let (arrive, wait) = pair();
    shows(&all(2, vec![loop_(vec![arrive, wait])]), &[]);
    shows(&all(2, vec![loop_(vec![whole(), loop_(vec![stmt(Kind::Break)])])]), &[]);
}

#[test]
fn the_other_side_of_an_iteration_is_another_instance() {
    // Arrive in one iteration and wait in the next, everyone alike.
    let (arrive, wait) = pair();
    let body = for_("i", 0, 3, vec![if_(bin(Op::Gt, v("i"), 0), vec![wait.clone()], vec![]), arrive]);
    shows(&all(2, vec![body, wait]), &[]);
}

#[test]
fn each_subgroup_has_a_barrier_of_its_own() {
    let (arrive, wait) = in_(Scope::Subgroup);
    let body = vec![if_(lt(own(), 2), vec![arrive, wait], vec![])];
    let mut p = all(3, body);
    p.subgroup_size = Some(2);
    shows(&p, &[]);
    p.subgroup_size = Some(3);
    shows(&p, &["deadlock"]);
}

#[test]
fn a_subgroup_that_meets_from_two_places_is_not_modelled() {
    let (arrive, wait) = in_(Scope::Subgroup);
    let arms = if_(eq(own(), 0), vec![arrive.clone()], vec![arrive]);
    comes_to(&all(2, vec![arms, wait]), Verdict::Inconclusive);
}

#[test]
fn an_invocation_is_alone() {
    let (arrive, wait) = in_(Scope::Invocation);
    let body = vec![if_(eq(own(), 0), vec![arrive, wait], vec![])];
    shows(&all(2, body), &[]);
}

#[test]
fn device_as_execution_scope_is_not_modelled() {
    let (arrive, wait) = in_(Scope::Device);
    comes_to(&all(2, vec![arrive, wait]), Verdict::Inconclusive);
}

#[test]
fn an_assertion_fails() {
    shows(&all(2, vec![assert_(own())]), &["assertion"]);
}
