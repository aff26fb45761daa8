//! The barrier of a cluster.

use crate::journal::{Journal, both, executions};
use barcheck::barriers::cluster::{Cluster, Error, Misuse};
use barcheck::barriers::{Cell, Loom, Runtime, Std};
use barcheck_model::rule::Rule;
use std::sync::Arc;

fn rule<T: std::fmt::Debug>(result: Result<T, Error>) -> Rule {
    result.expect_err("misuse").rule().expect("a rule")
}

#[test]
fn arrive_and_wait_alternate() {
    let cluster = Cluster::<Std>::new(2);
    let (one, other) = (cluster.warp(0), cluster.warp(1));
    assert_eq!(rule(one.wait(false)), Rule::WaitWithoutArrive);
    assert_eq!(one.arrive(false), Ok(()));
    assert_eq!(rule(one.arrive(false)), Rule::RepeatedArrival);
    assert_eq!(other.arrive(true), Ok(()));
    assert_eq!(rule(one.arrive(false)), Rule::RepeatedArrival, "it has yet to wait");
    assert_eq!((one.wait(true), other.wait(true)), (Ok(()), Ok(())));
    assert_eq!(rule(one.wait(false)), Rule::WaitWithoutArrive);
    assert_eq!(one.arrive(false), Ok(()));
}

#[test]
fn lanes_come_together() {
    let cluster = Cluster::<Std>::new(1);
    let warp = cluster.warp(0);
    warp.set_apart(true);
    assert_eq!(rule(warp.arrive(true)), Rule::PartialWarp);
    assert_eq!(rule(warp.wait(true)), Rule::PartialWarp);
    assert_eq!(warp.arrive(false), Err(Error::Misuse(Misuse::Apart)));
    warp.set_apart(false);
    assert_eq!((warp.arrive(true), warp.wait(false)), (Ok(()), Ok(())));
}

#[test]
fn who_has_exited_is_not_waited_for() {
    let journal = Journal::default();
    let cluster = Cluster::<Std>::observed(3, journal.clone());
    let (one, other) = (cluster.warp(0), cluster.warp(1));
    assert_eq!(cluster.warp(2).exit(), Ok(()));
    assert_eq!(one.arrive(false), Ok(()));
    assert_eq!(other.exit(), Ok(()));
    assert_eq!(one.wait(false), Ok(()));
    let told =
        ["2 exit", "0 barrier.cluster.arrive 0", "1 exit", "complete 0 []", "0 barrier.cluster.wait 0"];
    assert_eq!(journal.lines(), told);
}

#[test]
fn what_is_done_before_an_arrival_comes_before_what_follows_a_wait() {
    let count = executions(None, || {
        let cluster = Cluster::<Loom>::new(2);
        let (one, other) = (cluster.warp(0), cluster.warp(1));
        let cells = Arc::new([<Loom as Runtime>::Cell::new(), <Loom as Runtime>::Cell::new()]);
        let run = move |warp: barcheck::barriers::cluster::Warp<Loom>, cells: &[_; 2], mine: usize| {
            for _ in 0..2 {
                Cell::write(&cells[mine]);
                warp.arrive(false).and_then(|()| warp.wait(false)).expect("no misuse");
                Cell::read(&cells[1 - mine]);
                warp.arrive(false).and_then(|()| warp.wait(false)).expect("no misuse");
            }
        };
        let shared = Arc::clone(&cells);
        both::<Loom, _, _>(move || run(one, &shared, 0), move || run(other, &cells, 1));
    });
    println!("{count} executions");
}

#[test]
fn an_exit_lets_those_go_who_wait() {
    loom::model(|| {
        let cluster = Cluster::<Loom>::new(2);
        let (one, other) = (cluster.warp(0), cluster.warp(1));
        let ended = both::<Loom, _, _>(
            move || one.arrive(false).and_then(|()| one.wait(false)),
            move || other.exit(),
        );
        assert_eq!(ended, (Ok(()), Ok(())));
    });
}
