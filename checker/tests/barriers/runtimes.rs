//! Memory under loom, random schedules under shuttle, and giving up.

use crate::journal::{Journal, both, failure};
use barcheck::barriers::ptx::{Cta, Error, ExitedThreads, RedOp, Warp};
use barcheck::barriers::{Cell, Loom, Runtime, Shuttle, Std, Stop};
use std::sync::Arc;

type Location = <Loom as Runtime>::Cell;

fn accesses(first: fn(&Location), barrier: bool, second: fn(&Location)) {
    let (cta, cell) = (Cta::<Loom>::new(64), Arc::new(Location::new()));
    let (one, other) = (cta.warp(0), cta.warp(1));
    let theirs = Arc::clone(&cell);
    let early = move || {
        first(&theirs);
        if barrier { one.arrive(1, Some(64)) } else { Ok(()) }
    };
    let late = || {
        let passed = if barrier { other.sync(1, Some(64)) } else { Ok(()) };
        second(&cell);
        passed
    };
    assert_eq!(both::<Loom, _, _>(early, late), (Ok(()), Ok(())));
}

const READ: fn(&Location) = Location::read;
const WRITE: fn(&Location) = Location::write;
const ATOMIC: fn(&Location) = Location::atomic;

#[test]
fn a_barrier_orders_every_pair_of_accesses() {
    for first in [READ, WRITE, ATOMIC] {
        for second in [READ, WRITE, ATOMIC] {
            loom::model(move || accesses(first, true, second));
        }
    }
}

#[test]
fn without_a_barrier_those_that_agree_do_not_race() {
    loom::model(|| accesses(READ, false, READ));
    loom::model(|| accesses(ATOMIC, false, ATOMIC));
}

#[test]
fn without_a_barrier_those_that_conflict_race() {
    for (first, second) in [
        (READ, WRITE),
        (WRITE, READ),
        (WRITE, WRITE),
        (READ, ATOMIC),
        (ATOMIC, READ),
        (WRITE, ATOMIC),
        (ATOMIC, WRITE),
    ] {
        let text = failure(move || accesses(first, false, second));
        assert!(text.contains("Causality violation"), "{text}");
    }
}

/// What is done at one barrier orders nothing for those who meet at another.
#[test]
fn meeting_elsewhere_orders_nothing() {
    let text = failure(|| {
        let (cta, cell) = (Cta::<Loom>::new(64), Arc::new(Location::new()));
        let (one, other) = (cta.warp(0), cta.warp(1));
        let theirs = Arc::clone(&cell);
        let early = move || {
            theirs.write();
            one.arrive(1, Some(64))
        };
        let late = || {
            let passed = other.arrive(2, Some(64));
            cell.read();
            passed
        };
        assert_eq!(both::<Loom, _, _>(early, late), (Ok(()), Ok(())));
    });
    assert!(text.contains("Causality violation"), "{text}");
}

fn abort_while_blocked<R: Runtime>() {
    let cta = Cta::<R>::new(96);
    let (one, other) = (cta.warp(0), cta.warp(1));
    let waits = R::spawn(move || one.sync(1, Some(64)));
    let reduces = R::spawn(move || other.red(2, None, RedOp::Or, &[true]));
    cta.abort();
    assert_eq!(R::join(waits).expect("no panic"), Err(Stop::Aborted));
    assert_eq!(R::join(reduces).expect("no panic"), Err(Stop::Aborted));
    assert_eq!(cta.warp(2).arrive(3, Some(64)), Err(Stop::Aborted));
    assert_eq!(cta.warp(2).exit(), Err(Stop::Aborted));
}

#[test]
fn giving_up_lets_everybody_return() {
    loom::model(abort_while_blocked::<Loom>);
    shuttle::check_random(abort_while_blocked::<Shuttle>, 200);
    abort_while_blocked::<Std>();
}

/// A warp that produces for the others through two stages, and these hand the stages back.
fn pipeline<R: Runtime>(warps: usize, rounds: i64) {
    let threads = 32 * warps as u32;
    let everybody = Some(i64::from(threads));
    let cta = Cta::<R>::new(threads);
    let load = move |warp: Warp<R>| -> Result<(), Error> {
        for round in 0..rounds {
            if round >= 2 {
                warp.sync(3 + round % 2, everybody)?;
            }
            warp.arrive(1 + round % 2, everybody)?;
        }
        warp.exit()
    };
    let compute = move |warp: Warp<R>| -> Result<(), Error> {
        for round in 0..rounds {
            warp.sync(1 + round % 2, everybody)?;
            if round + 2 < rounds {
                warp.arrive(3 + round % 2, everybody)?;
            }
        }
        warp.exit()
    };
    let loader = cta.warp(0);
    let mut handles = vec![R::spawn(move || load(loader))];
    for warp in (1..warps).map(|number| cta.warp(number)) {
        handles.push(R::spawn(move || compute(warp)));
    }
    for handle in handles {
        assert_eq!(R::join(handle).expect("no panic"), Ok(()));
    }
}

#[test]
fn a_warp_specialised_pipeline_runs_to_its_end() {
    shuttle::check_random(|| pipeline::<Shuttle>(8, 6), 200);
    shuttle::check_pct(|| pipeline::<Shuttle>(4, 6), 200, 3);
    pipeline::<Std>(16, 50);
    let mut few = loom::model::Builder::new();
    few.preemption_bound = Some(1);
    few.check(|| pipeline::<Loom>(3, 3));
}

/// Two warps go first to a barrier that has room for two of three. The third may come in time and leave one
/// behind.
fn left_behind<R: Runtime>() {
    let cta = Cta::<R>::new(96);
    let warps: Vec<_> = (0..3).map(|number| cta.warp(number)).collect();
    let handles: Vec<_> = warps
        .into_iter()
        .map(|warp| {
            R::spawn(move || {
                warp.sync(1, Some(64))?;
                if warp.number() == 2 { Ok(()) } else { warp.sync(1, Some(64)) }
            })
        })
        .collect();
    for handle in handles {
        assert_eq!(R::join(handle).expect("no panic"), Ok(()));
    }
}

#[test]
fn a_hang_that_depends_on_the_schedule_is_found() {
    assert!(failure(left_behind::<Loom>).contains("deadlock"));
    let pct = std::panic::catch_unwind(|| shuttle::check_pct(left_behind::<Shuttle>, 1_000, 2));
    assert!(pct.is_err());
}

/// Between two completions everybody has come once, and all but the last have blocked.
fn told_in_order<R: Runtime>(warps: usize, rounds: usize) {
    let journal = Journal::default();
    let cta = Cta::<R>::observed(32 * warps as u32, ExitedThreads::Hold, journal.clone());
    let run = |number| {
        let warp = cta.warp(number);
        R::spawn(move || (0..rounds).try_for_each(|_| warp.sync(5, None)))
    };
    let handles: Vec<_> = (0..warps).map(run).collect();
    for handle in handles {
        assert_eq!(R::join(handle).expect("no panic"), Ok(()));
    }
    let lines = journal.lines();
    assert_eq!(lines.len(), (warps + 1) * rounds);
    for round in lines.chunks(warps + 1) {
        let blocked = round.iter().filter(|line| line.ends_with("sync 5 blocks")).count();
        assert_eq!(blocked, warps - 1, "{round:?}");
        assert!(round[warps - 1].ends_with("sync 5"), "{round:?}");
        assert!(round[warps].starts_with("complete 5 ["), "{round:?}");
    }
}

#[test]
fn what_the_observer_is_told_is_one_order_of_the_steps() {
    told_in_order::<Std>(6, 300);
    shuttle::check_random(|| told_in_order::<Shuttle>(5, 4), 200);
    loom::model(|| told_in_order::<Loom>(2, 2));
}
