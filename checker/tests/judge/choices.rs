//! Open decisions, names, endless computation, and how findings on one path combine.

use crate::{CAP, comes_to, shows};
use barcheck_naive::build::*;
use barcheck_naive::explore::{Verdict, explore};
use barcheck_naive::protocol::*;

fn two(first: Vec<Stmt>, second: Vec<Stmt>) -> Protocol {
    protocol(Target::Ptx, 64, vec![(0..1, first), (1..2, second)])
}

fn both(body: Vec<Stmt>) -> Protocol {
    protocol(Target::Ptx, 64, vec![(0..2, body)])
}

fn uniform(name: Option<&str>) -> Cond {
    Cond::Uniform(name.map(Into::into))
}

fn either(cond: Cond) -> Vec<Stmt> {
    vec![stmt(Kind::If(cond, vec![sync(1, 64)], vec![sync(2, 64)]))]
}

#[test]
fn decisions_of_its_own_may_part_agents_and_uniform_ones_may_not() {
    shows(&both(either(Cond::Choice)), &["deadlock"]);
    shows(&both(either(uniform(None))), &[]);
}

#[test]
fn a_named_sequence_is_shared_by_all_its_statements() {
    let apart = |name| two(either(uniform(name)), either(uniform(name)));
    shows(&apart(Some("TILE")), &[]);
    shows(&apart(None), &["deadlock"]);
}

#[test]
fn the_kth_decision_is_the_same_however_far_one_agent_leads() {
    let leader = vec![
        stmt(Kind::If(uniform(Some("A")), vec![], vec![])),
        stmt(Kind::If(uniform(Some("A")), vec![sync(1, 64)], vec![])),
    ];
    let skips_the_first = vec![stmt(Kind::If(uniform(Some("A")), vec![sync(1, 64)], vec![]))];
    shows(&both(leader.clone()), &[]);
    shows(&two(leader, skips_the_first), &["deadlock"]);
}

#[test]
fn endless_loops_of_uniform_decisions_are_finite_where_agents_keep_together() {
    let work = while_(uniform(Some("A")), vec![sync(1, 64)]);
    shows(&both(vec![work]), &[]);
    let quits =
        vec![loop_(vec![sync(1, 64), stmt(Kind::If(uniform(None), vec![stmt(Kind::Break)], vec![]))])];
    shows(&both(quits), &[]);
}

#[test]
fn an_agent_past_its_decisions_holds_none_back() {
    let decide = || stmt(Kind::If(uniform(Some("A")), vec![], vec![]));
    let once = vec![decide(), sync(1, 64), loop_(vec![sync(2, 32)])];
    let always = vec![decide(), sync(1, 64), loop_(vec![decide()])];
    shows(&two(once, always), &[]);
}

#[test]
fn an_inner_loop_hides_the_name_of_an_outer_one() {
    let inner = for_("i#2", 5, 6, vec![assert_(eq(v("i#2"), 5))]);
    let body = for_("i", 0, 2, vec![inner, assert_(lt(v("i"), 2))]);
    let p = both(vec![body]);
    assert!(p.text().contains("for i in 5..6"), "{}", p.text());
    shows(&p, &[]);
}

#[test]
fn loop_bounds_are_read_once() {
    let body = vec![
        let_("n", 1),
        for_("i", 0, v("n"), vec![set("n", v("n") + 1), sync(1, 64)]),
        assert_(eq(v("n"), 2)),
    ];
    shows(&both(body), &[]);
}

#[test]
fn endless_local_computation_is_a_step_for_ever() {
    let flips = vec![let_("t", 0), loop_(vec![set("t", Expr::Int(1) - v("t"))])];
    let outcome = explore(&both(flips.clone()), CAP);
    assert_eq!(outcome.verdict, Verdict::Verified);
    assert_eq!((outcome.states, outcome.transitions), (1, 2));
    shows(&two(vec![sync(1, 64)], flips), &["stuck-agent"]);
}

#[test]
fn a_violation_outweighs_an_error_and_an_error_what_is_not_modelled() {
    let broken = vec![let_("a", Expr::Int(1) / 0)];
    let p = two(vec![maybe(broken, vec![])], vec![sync(16, 64)]);
    shows(&p, &["barrier-id-range"]);
    let p = protocol(
        Target::Bcu,
        64,
        vec![
            (0..1, vec![set("R1", 1), maybe(vec![r2b_bar(1, "R1")], vec![])]),
            (1..2, vec![maybe(vec![bar_sync(Expr::Int(1) / 0, 32)], vec![])]),
        ],
    );
    comes_to(&p, Verdict::Error);
}

#[test]
fn an_error_in_local_computation_ends_the_path_with_the_step_before_it() {
    // The read's race is found; the state after it, in which both wait for ever, is not reached.
    let first = vec![read(0), let_("a", Expr::Int(1) / 0), sync(1, 64)];
    let p = two(first, vec![write(0), sync(2, 64)]).with_shared();
    shows(&p, &["data-race"]);
}

#[test]
fn a_loop_whose_exit_is_reachable_leaves_nobody_stuck() {
    let helper = vec![while_(Cond::Choice, vec![assert_(1)]), sync(1, 64)];
    shows(&two(vec![sync(1, 64)], helper), &[]);
}

#[test]
fn a_path_cut_by_an_ending_rule_unblocks_nobody() {
    let helper = vec![while_(Cond::Choice, vec![assert_(1)]), sync(1, 32)];
    shows(&two(vec![sync(1, 64)], helper), &["count-mismatch", "deadlock", "stuck-agent"]);
}

#[test]
fn an_empty_agent_takes_no_step() {
    let outcome = explore(&two(vec![exit()], vec![]), CAP);
    assert_eq!((outcome.states, outcome.transitions), (2, 1));
}
