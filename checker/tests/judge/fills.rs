//! What is said of copies by `cp.async`, case by case: by the engines and by the naive explorer.

use crate::engine::engine;
use barcheck_model::machine::ExitedThreads;
use barcheck_naive::build::*;
use barcheck_naive::build_mbarrier::*;
use barcheck_naive::explore::explore;
use barcheck_naive::generate_fills::fill;
use barcheck_naive::generate_stores::store;
use barcheck_naive::protocol::*;
use std::collections::BTreeSet;

fn begins() -> Stmt {
    fill(Fill::Begin { array: 0, index: None, written: Written::Short })
}

fn commit() -> Stmt {
    fill(Fill::Commit)
}

fn over(but: i64) -> Stmt {
    fill(Fill::Wait(but))
}

fn all_over() -> Stmt {
    fill(Fill::WaitAll)
}

/// A copy that is waited for.
fn loads() -> Stmt {
    one_lane(vec![begins(), commit(), over(0)])
}

/// A copy out of the location that is waited for.
fn sends() -> Stmt {
    let copies = store(Store::Read { array: 0, index: None, spelling: Spelling::Short });
    one_lane(vec![copies, store(Store::Commit), store(Store::Wait { but: 0, of_reading: true })])
}

fn fence() -> Stmt {
    store(Store::Fence(None))
}

/// What lane 1 does.
fn other(does: Vec<Stmt>) -> Stmt {
    if_(eq(lane(), 1), does, vec![])
}

const RACE: &[&str] = &["data-race"];

/// The rules that a protocol of warps with one location `x` violates.
#[track_caller]
fn violates(bodies: Vec<Vec<Stmt>>, rules: &[&str]) {
    let size = 32 * bodies.len() as i64;
    let blocks = bodies.into_iter().enumerate().map(|(warp, body)| (warp..warp + 1, body)).collect();
    let protocol = protocol(Target::Ptx, size, blocks).with_shared().with_objects("b", None, Some(1));
    let expected: BTreeSet<String> = rules.iter().map(ToString::to_string).collect();
    assert_eq!(explore(&protocol, 10_000).rules, expected, "the naive explorer:\n{}", protocol.text());
    let (_, found) = engine(&protocol.text(), ExitedThreads::Hold).expect("few states");
    assert_eq!(found, expected, "the engines:\n{}", protocol.text());
}

#[test]
fn nobody_knows_of_a_copy_before_its_lane_has_waited() {
    let copy = |before: Stmt| vec![vec![one_lane(vec![begins(), commit()]), before, one_lane(vec![over(0)])]];
    for access in [read(0), write(0), atomic(0), sends()] {
        violates(copy(access.clone()), RACE);
        let mut after = vec![loads(), fence(), access];
        violates(vec![after.clone()], &[]);
        after.insert(0, read(0));
        violates(vec![after], &[]);
    }
    let load = one_lane(vec![object(0).arrive_expect(16), object(0).copy(16, 0)]);
    violates(vec![vec![one_lane(vec![begins()]), load.clone(), object(0).wait(0)]], RACE);
    violates(vec![vec![loads(), load.clone(), object(0).wait(0)]], &["missing-fence"]);
    violates(vec![vec![loads(), fence(), load.clone(), object(0).wait(0)]], &[]);
    violates(vec![vec![load.clone(), loads(), object(0).wait(0)]], RACE);
    violates(vec![vec![load, object(0).wait(0), loads(), read(0)]], &[]);
    violates(vec![vec![one_lane(vec![begins(), commit()])]], &[]);
}

#[test]
fn waits_are_for_groups() {
    let then_read = |does: Vec<Stmt>| vec![vec![one_lane(does), read(0)]];
    violates(then_read(vec![begins(), over(0)]), RACE);
    violates(then_read(vec![begins(), all_over()]), &[]);
    violates(then_read(vec![begins(), commit(), all_over()]), &[]);
    violates(then_read(vec![begins(), commit(), over(1)]), RACE);
    violates(then_read(vec![begins(), commit(), commit(), over(1)]), &[]);
    violates(then_read(vec![begins(), commit(), commit(), over(2)]), RACE);
    violates(then_read(vec![begins(), commit(), begins(), commit(), over(1)]), RACE);
    violates(then_read(vec![begins(), commit(), begins(), over(0)]), RACE);
    violates(then_read(vec![begins(), commit(), begins(), commit(), over(0)]), &[]);
    // Copies out of shared memory have groups of their own.
    let (bulk, bulk_over) = (store(Store::Commit), store(Store::Wait { but: 0, of_reading: false }));
    violates(then_read(vec![begins(), bulk.clone(), over(0)]), RACE);
    violates(then_read(vec![begins(), commit(), bulk_over.clone()]), RACE);
    violates(then_read(vec![begins(), commit(), bulk, over(1)]), RACE);
    let copies = store(Store::Read { array: 0, index: None, spelling: Spelling::Short });
    violates(vec![vec![one_lane(vec![copies, commit(), all_over(), bulk_over])]], &["in-flight-at-exit"]);
}

#[test]
fn lanes_of_a_warp_wait_for_their_own_copies() {
    violates(vec![vec![begins(), commit(), over(0), read(0)]], &[]);
    violates(vec![vec![begins(), commit(), one_lane(vec![over(0)]), read(0)]], RACE);
    violates(vec![vec![begins(), one_lane(vec![commit()]), over(0), read(0)]], RACE);
    violates(vec![vec![one_lane(vec![begins(), commit()]), other(vec![over(0)]), read(0)]], RACE);
    violates(vec![vec![one_lane(vec![begins()]), commit(), over(0), read(0)]], &[]);
    // They do not race among themselves, but all have to have waited.
    let both = vec![one_lane(vec![begins(), commit()]), other(vec![begins(), commit()])];
    violates(vec![[both.clone(), vec![over(0), read(0)]].concat()], &[]);
    violates(vec![[both.clone(), vec![other(vec![over(0)]), read(0)]].concat()], RACE);
    let apart = vec![other(vec![over(0)]), one_lane(vec![over(0)]), read(0)];
    violates(vec![[both, apart].concat()], &[]);
    violates(vec![vec![loads(), other(vec![begins()]), read(0)]], RACE);
}

/// Whoever writes in between races with the copies, and ends none of them.
#[test]
fn a_copy_that_another_warp_overwrites_is_under_way_until_its_own_lane_has_waited() {
    let writes = || vec![access(AccessKind::Write, 0, None)];
    let send = || vec![begins(), other(vec![begins(), all_over()]), sends()];
    violates(vec![send(), writes()], RACE);
    violates(
        vec![vec![begins(), other(vec![begins(), all_over()]), all_over(), sends()], vec![]],
        &["missing-fence"],
    );
}

#[test]
fn a_barrier_tells_others_what_its_warp_has_waited_for() {
    let meet = || sync_all(1);
    for access in [read(0), write(0), atomic(0), loads()] {
        violates(vec![vec![loads(), meet()], vec![meet(), access.clone()]], &[]);
        violates(vec![vec![loads()], vec![access.clone()]], RACE);
        let late = vec![one_lane(vec![begins(), commit()]), meet(), one_lane(vec![over(0)])];
        violates(vec![late, vec![meet(), access.clone()]], RACE);
        // The copy comes after what others have done.
        violates(vec![vec![access.clone(), meet()], vec![meet(), loads()]], &[]);
        violates(vec![vec![access, meet()], vec![loads(), meet()]], RACE);
    }
    let arrives = |relaxed: bool| {
        let on = object(0);
        one_lane(vec![if relaxed { on.arrive_relaxed() } else { on.arrive() }])
    };
    violates(vec![vec![loads(), arrives(false)], vec![object(0).wait(0), read(0)]], &[]);
    violates(vec![vec![loads(), arrives(true)], vec![object(0).wait(0), read(0)]], &["missing-fence"]);
    violates(vec![vec![write(0), arrives(true)], vec![object(0).wait(0), loads()]], &["missing-fence"]);
}

#[test]
fn it_belongs_to_the_generic_proxy() {
    let missing = &["missing-fence"];
    violates(vec![vec![loads(), sends()]], missing);
    violates(vec![vec![loads(), fence(), sends()]], &[]);
    let early = vec![one_lane(vec![begins(), commit()]), fence(), one_lane(vec![over(0)]), sends()];
    violates(vec![early], missing);
    violates(vec![vec![loads(), fence(), loads(), sends()]], missing);
    violates(vec![vec![loads(), fence(), sends(), loads(), read(0)]], &[]);
    let meet = || sync_all(1);
    violates(vec![vec![loads(), meet()], vec![meet(), fence(), sends()]], &[]);
    violates(vec![vec![loads(), meet()], vec![fence(), meet(), sends()]], missing);
    violates(vec![vec![loads(), fence(), meet()], vec![meet(), sends()]], &[]);
    // A copy that still reads is waited for first.
    violates(vec![vec![sends(), meet()], vec![meet(), loads()]], &[]);
    violates(vec![vec![sends()], vec![loads()]], RACE);
}
