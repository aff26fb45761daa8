//! Clusters, tokens and questions of `ptx`: for every rule a protocol that violates it and one that nearly
//! does. The engines are asked too.

use crate::engine::engine;
use crate::{CAP, comes_to};
use barcheck_model::machine::ExitedThreads;
use barcheck_naive::build::*;
use barcheck_naive::build_mbarrier::*;
use barcheck_naive::explore::{Verdict, explore};
use barcheck_naive::protocol::AccessKind::Read;
use barcheck_naive::protocol::*;

/// Checks that exactly these rules are violated, by the explorer and by every engine.
#[track_caller]
fn shows(protocol: &Protocol, rules: &[&str]) {
    crate::shows(protocol, rules);
    let verdict = explore(protocol, CAP).verdict;
    let (said, found) = engine(&protocol.text(), ExitedThreads::Hold).expect("few states");
    let found: Vec<&str> = found.iter().map(String::as_str).collect();
    assert_eq!((said, found), (verdict, rules.to_vec()), "\n{}", protocol.text());
}

/// Two CTAs of one warp, with one object, a location `x` and a location `y`.
fn pair(count: i64, body: Vec<Stmt>) -> Protocol {
    let p = protocol(Target::Ptx, 32, vec![(0..1, body)]).with_ctas(2);
    p.with_shared().with("y", Space::Shared, None).with_objects("done", None, Some(count))
}

/// Two CTAs of one warp that do different things.
fn apart(count: i64, first: Vec<Stmt>, second: Vec<Stmt>) -> Protocol {
    pair(count, vec![if_(eq(Expr::Rank, 0), first, second)])
}

fn done() -> Object {
    object(0)
}

fn meet() -> Vec<Stmt> {
    vec![cluster_arrive(), cluster_wait()]
}

fn and_meet(mut body: Vec<Stmt>) -> Vec<Stmt> {
    body.extend(meet());
    body
}

fn other() -> Expr {
    Expr::from(1) - Expr::Rank
}

#[test]
fn a_cta_that_has_exited_cannot_be_reached() {
    let signal = vec![one_lane(vec![done().at(0, arrival(None))])];
    shows(&apart(1, vec![], signal.clone()), &["remote-after-exit"]);
    shows(&apart(2, meet(), and_meet(signal)), &["dangling-arrival"]);
    shows(&apart(1, vec![], vec![access_at(Read, 0, None, 0)]), &["remote-after-exit"]);
    shows(&apart(1, meet(), and_meet(vec![access_at(Read, 0, None, 0)])), &[]);
    // Who does nothing but that is not like who does it to its own CTA.
    shows(&pair(1, vec![access_at(Read, 0, None, 0)]), &["remote-after-exit"]);
}

#[test]
fn what_is_in_flight_has_landed_before_its_cta_exits() {
    let copies = || one_lane(vec![done().arrive_expect(16), done().copy(16, 0)]);
    let for_ever = || vec![loop_(vec![])];
    shows(&apart(1, vec![copies()], for_ever()), &["in-flight-at-exit"]);
    shows(&apart(1, vec![copies(), done().wait(0)], for_ever()), &[]);
    shows(&apart(1, vec![copies()], vec![done().wait(0)]), &["deadlock", "in-flight-at-exit"]);
    let commits = one_lane(vec![done().commit()]);
    shows(&apart(1, vec![commits.clone()], for_ever()), &["commit-at-exit"]);
    shows(&apart(1, vec![commits, done().wait(0)], for_ever()), &[]);
    // What is sent to another CTA has to come before that exits.
    let sends = one_lane(vec![done().act(Act::CommitAll(2))]);
    shows(&apart(1, vec![sends.clone()], vec![]), &["remote-after-exit"]);
    shows(&apart(1, vec![sends], vec![done().wait(0)]), &[]);
}

#[test]
fn all_of_the_cluster_meet_by_turns() {
    shows(&pair(1, meet()), &[]);
    shows(&pair(1, vec![cluster_arrive()]), &[]);
    shows(&pair(1, vec![cluster_arrive(), cluster_arrive()]), &["repeated-arrival"]);
    shows(&pair(1, vec![cluster_wait()]), &["wait-without-arrive"]);
    shows(&apart(1, vec![done().wait(0)], meet()), &["deadlock"]);
    // Who has exited is not waited for.
    shows(&apart(1, vec![], meet()), &[]);
    let aligned = instr(Instr::ClusterArrive { relaxed: false, aligned: true });
    shows(&pair(1, vec![one_lane(vec![aligned])]), &["partial-warp"]);
    let some_lanes = vec![one_lane(vec![cluster_arrive()])];
    comes_to(&pair(1, some_lanes), Verdict::Inconclusive);
}

#[test]
fn arrivals_release_as_far_as_they_say() {
    let hands_over = |does: Vec<Stmt>, then: Vec<Stmt>| {
        let writes = [vec![access_at(AccessKind::Write, 0, None, 1)], does].concat();
        apart(1, and_meet(writes), and_meet([then, vec![read(0)]].concat()))
    };
    let by = |scope| vec![one_lane(vec![done().at(1, arrival(scope))])];
    let waits = || vec![done().wait(0)];
    shows(&hands_over(by(None), waits()), &[]);
    shows(&hands_over(by(Some(Reach::Cluster)), waits()), &[]);
    shows(&hands_over(by(Some(Reach::Cta)), waits()), &["missing-fence"]);
    shows(&hands_over(meet(), meet()), &[]);
    let relaxed = || vec![instr(Instr::ClusterArrive { relaxed: true, aligned: false }), cluster_wait()];
    shows(&hands_over(relaxed(), meet()), &["missing-fence"]);
    shows(&hands_over(vec![], vec![]), &["data-race"]);
    // In the own CTA the scope is wide enough.
    let own = vec![one_lane(vec![done().at(Expr::Rank, arrival(Some(Reach::Cta)))]), done().wait(0)];
    shows(&pair(1, own), &[]);
}

#[test]
fn every_cta_has_its_own() {
    shows(&pair(1, vec![write(0), sync_all(0), one_lane(vec![done().arrive()]), done().wait(0)]), &[]);
    let everywhere = pair(1, vec![access(AccessKind::Write, 2, None)]).with("g", Space::Global, None);
    shows(&everywhere, &["data-race"]);
    let all = vec![one_lane(vec![done().at(other(), arrival(None))]), done().wait(0)];
    shows(&pair(1, all.clone()), &[]);
    shows(&pair(1, all[..1].to_vec()), &["remote-after-exit"]);
    shows(&pair(1, and_meet(all[..1].to_vec())), &[]);
}

#[test]
fn a_multicast_comes_to_each_cta_of_its_mask() {
    let loads = |mask| vec![one_lane(vec![done().act(Act::Multicast(16.into(), Some((0, None)), mask))])];
    let expects = || one_lane(vec![done().arrive_expect(16)]);
    let takes = || vec![done().wait(0), read(0)];
    let all = |mask, takes: Vec<Stmt>| {
        let loads = if_(eq(Expr::Rank, 0), loads(mask), vec![]);
        pair(1, and_meet([and_meet(vec![expects()]), vec![loads], takes].concat()))
    };
    shows(&all(3, takes()), &[]);
    shows(&all(1, takes()), &["deadlock"]);
    shows(&all(3, vec![read(0)]), &["data-race", "in-flight-at-exit", "remote-after-exit"]);
}

/// One warp, with one object.
fn alone(count: i64, body: Vec<Stmt>) -> Protocol {
    protocol(Target::Ptx, 32, vec![(0..1, body)]).with_shared().with_objects("done", None, Some(count))
}

#[test]
fn a_token_names_the_phase_of_its_arrival() {
    let arrives = |name| let_on(name, done().on(arrival(None)));
    let again = || set_on("t", done().on(arrival(None)));
    let waits = || done().wait_token("t");
    shows(&alone(32, vec![arrives("t"), waits()]), &[]);
    shows(&alone(64, vec![arrives("t"), waits()]), &["deadlock"]);
    shows(&alone(32, vec![arrives("t"), waits(), waits()]), &[]);
    shows(&alone(32, vec![arrives("t"), waits(), again(), waits()]), &[]);
    let later = vec![arrives("t"), waits(), done().arrive(), done().wait(1), waits()];
    shows(&alone(32, later), &["stale-token"]);
    let asks =
        vec![arrives("t"), let_on("r", done().on(ask(false, Phase::Token("t".into())))), assert_(v("r"))];
    shows(&alone(32, asks.clone()), &[]);
    shows(&alone(64, asks), &["assertion"]);
}

/// Lanes that have no token do not wait with that of another lane.
#[test]
fn every_lane_waits_with_a_token_of_its_own() {
    for lane_number in [0, 5] {
        let arrives = set_on("t", done().on(arrival(None)));
        let body =
            vec![let_("t", 0), if_(eq(lane(), lane_number), vec![arrives], vec![]), done().wait_token("t")];
        let protocol = alone(1, body);
        let (said, found) = engine(&protocol.text(), ExitedThreads::Hold).expect("few states");
        assert_eq!(said, Verdict::Violated, "{}", protocol.text());
        assert!(found.contains("stale-token"), "{found:?}");
    }
}

#[test]
fn what_is_asked_is_answered_by_what_is_complete() {
    let asks = |may_miss, parity: i32| let_on("r", done().on(ask(may_miss, Phase::Parity(parity.into()))));
    let arrives = || one_lane(vec![done().arrive()]);
    shows(&alone(1, vec![arrives(), asks(false, 0), assert_(v("r"))]), &[]);
    shows(&alone(2, vec![arrives(), asks(false, 0), assert_(eq(v("r"), 0))]), &["dangling-arrival"]);
    // A try may come back with no.
    shows(&alone(1, vec![arrives(), asks(true, 0), assert_(v("r"))]), &["assertion"]);
    shows(&alone(2, vec![arrives(), asks(true, 0), assert_(eq(v("r"), 0))]), &["dangling-arrival"]);
    shows(&alone(1, vec![asks(false, 1), assert_(v("r"))]), &[]);
    shows(&alone(1, vec![asks(false, 2)]), &["parity-range"]);
    // A yes has seen the phase, a no has not.
    shows(&alone(1, vec![arrives(), asks(false, 0), arrives()]), &[]);
    shows(&alone(1, vec![arrives(), asks(false, 1), arrives()]), &["unobserved-phase"]);
    shows(&alone(1, vec![arrives(), asks(true, 0), arrives()]), &["unobserved-phase"]);
}

#[test]
fn a_loop_that_asks_is_a_wait() {
    for asking in [Asking::While, Asking::If, Asking::Kept, Asking::Flag] {
        let until = |parity: i32| done().ask_until(asking, Phase::Parity(parity.into()));
        let arrives = one_lane(vec![done().arrive()]);
        shows(&alone(1, vec![arrives.clone(), until(0)]), &[]);
        shows(&alone(2, vec![arrives, until(0)]), &["deadlock"]);
        shows(&alone(1, vec![until(1)]), &[]);
        let by_token =
            vec![let_on("t", done().on(arrival(None))), done().ask_until(asking, Phase::Token("t".into()))];
        shows(&alone(32, by_token.clone()), &[]);
        shows(&alone(64, by_token), &["deadlock"]);
    }
}

/// The most important thing is that a loop which asks in vain is not called verified.
#[test]
fn a_loop_that_does_more_than_ask_is_not_followed() {
    let asks = |parity: i32| done().on(ask(false, Phase::Parity(parity.into())));
    let leaves = |parity| if_asked(false, asks(parity), vec![stmt(Kind::Break)]);
    let looks = alone(1, vec![loop_(vec![leaves(0), assert_(1)])]);
    comes_to(&looks, Verdict::Inconclusive);
    let (said, _) = engine(&looks.text(), ExitedThreads::Hold).expect("few states");
    assert_ne!(said, Verdict::Verified);
}
