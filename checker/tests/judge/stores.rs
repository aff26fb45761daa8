//! What is said of copies out of shared memory, case by case: by the engines and by the naive explorer.

use crate::engine::engine;
use barcheck_model::machine::ExitedThreads;
use barcheck_naive::build::*;
use barcheck_naive::build_mbarrier::*;
use barcheck_naive::explore::explore;
use barcheck_naive::generate_stores::store;
use barcheck_naive::protocol::AccessKind::{Read, Write};
use barcheck_naive::protocol::*;
use barcheck_naive::stores::Window;
use std::collections::BTreeSet;

fn copies() -> Stmt {
    store(Store::Read { array: 0, index: None, spelling: Spelling::Short })
}

fn commit() -> Stmt {
    store(Store::Commit)
}

fn over(but: i64) -> Stmt {
    store(Store::Wait { but, of_reading: true })
}

fn fence(window: Option<Window>) -> Stmt {
    store(Store::Fence(window))
}

/// A copy that is waited for.
fn sends() -> Stmt {
    one_lane(vec![copies(), commit(), over(0)])
}

/// The rules that a protocol of warps with one location `x` violates.
#[track_caller]
fn violates(bodies: Vec<Vec<Stmt>>, rules: &[&str]) {
    in_cluster(1, bodies, rules);
}

#[track_caller]
fn in_cluster(ctas: usize, bodies: Vec<Vec<Stmt>>, rules: &[&str]) {
    let size = 32 * bodies.len() as i64;
    let blocks = bodies.into_iter().enumerate().map(|(warp, body)| (warp..warp + 1, body)).collect();
    let protocol = protocol(Target::Ptx, size, blocks)
        .with_shared()
        .with("g", Space::Global, None)
        .with_objects("b", None, Some(1))
        .with_ctas(ctas);
    let expected: BTreeSet<String> = rules.iter().map(ToString::to_string).collect();
    assert_eq!(explore(&protocol, 10_000).rules, expected, "the naive explorer:\n{}", protocol.text());
    let (_, found) = engine(&protocol.text(), ExitedThreads::Hold).expect("few states");
    assert_eq!(found, expected, "the engines:\n{}", protocol.text());
}

#[test]
fn a_generic_write_needs_a_fence_by_somebody_who_knows_of_it() {
    let meet = || sync_all(1);
    violates(vec![vec![write(0), sends()]], &["missing-fence"]);
    violates(vec![vec![write(0), fence(None), sends()]], &[]);
    violates(vec![vec![atomic(0), sends()]], &["missing-fence"]);
    violates(vec![vec![fence(None), write(0), sends()]], &["missing-fence"]);
    violates(vec![vec![write(0), fence(None), write(0), sends()]], &["missing-fence"]);
    violates(vec![vec![write(0), fence(Some(Window::Global)), sends()]], &["missing-fence"]);
    violates(vec![vec![sends(), read(0)]], &[]);
    // By the writer before the barrier, or by whoever copies after it.
    violates(vec![vec![write(0), fence(None), meet()], vec![meet(), sends()]], &[]);
    violates(vec![vec![write(0), meet()], vec![meet(), fence(None), sends()]], &[]);
    violates(vec![vec![write(0), meet()], vec![fence(None), meet(), sends()]], &["missing-fence"]);
    violates(vec![vec![write(0), meet(), fence(None)], vec![meet(), sends()]], &["missing-fence"]);
    // By a third, who passes on what it knows.
    let third = vec![meet(), fence(None), sync_all(2)];
    violates(vec![vec![write(0), meet(), sync_all(2)], third, vec![meet(), sync_all(2), sends()]], &[]);
    violates(vec![vec![write(0), fence(None)], vec![sends()]], &["data-race"]);
}

#[test]
fn a_fence_for_the_own_cta_does_not_reach_its_neighbour() {
    let meet = || vec![cluster_arrive(), cluster_wait()];
    let with = |window| {
        let first = vec![access_at(Write, 0, None, (Expr::Rank + 1) % 2), fence(window)];
        vec![[first, meet(), vec![sends()], meet()].concat()]
    };
    in_cluster(2, with(None), &[]);
    in_cluster(2, with(Some(Window::Cluster)), &[]);
    in_cluster(2, with(Some(Window::Own)), &["missing-fence"]);
    // Whoever copies has the location in its own CTA.
    let first = vec![access_at(Write, 0, None, (Expr::Rank + 1) % 2)];
    let second = vec![fence(Some(Window::Own)), sends()];
    in_cluster(2, vec![[first, meet(), second, meet()].concat()], &[]);
    in_cluster(2, vec![vec![write(0), fence(Some(Window::Own)), sends()]], &[]);
}

#[test]
fn what_a_copy_brought_needs_no_fence() {
    let full = object(0);
    let load = one_lane(vec![full.arrive_expect(16), full.copy(16, 0)]);
    violates(vec![vec![load.clone(), full.wait(0), sends()]], &[]);
    violates(vec![vec![load.clone(), full.wait(0), write(0), sends()]], &["missing-fence"]);
    violates(vec![vec![load.clone(), sends(), full.wait(0)]], &["data-race"]);
    violates(vec![vec![write(0), load.clone(), full.wait(0), sends()]], &["missing-fence"]);
    violates(vec![vec![write(0), fence(None), load, full.wait(0), sends()]], &[]);
}

#[test]
fn a_copy_reads_until_its_own_lane_has_waited_for_its_group() {
    let all = |does: Vec<Stmt>| vec![does];
    let race = &["data-race"];
    violates(all(vec![one_lane(vec![copies(), commit(), over(0)]), write(0)]), &[]);
    violates(all(vec![one_lane(vec![copies(), commit(), over(0)]), atomic(0)]), &[]);
    violates(all(vec![one_lane(vec![copies(), commit()]), write(0), one_lane(vec![over(0)])]), race);
    violates(all(vec![one_lane(vec![copies(), commit()]), atomic(0), one_lane(vec![over(0)])]), race);
    violates(all(vec![one_lane(vec![copies(), commit()]), read(0), one_lane(vec![over(0)])]), &[]);
    // Of no group, of the newest one, and of one that is not among the newest any more.
    let last = || one_lane(vec![commit(), over(0)]);
    violates(all(vec![one_lane(vec![copies(), over(0)]), write(0), last()]), race);
    violates(all(vec![one_lane(vec![copies(), commit(), over(1)]), write(0), last()]), race);
    violates(all(vec![one_lane(vec![copies(), commit(), commit(), over(1)]), write(0), last()]), &[]);
    violates(all(vec![one_lane(vec![copies(), commit(), commit(), over(2)]), write(0), last()]), race);
    // Another lane has groups of its own.
    let other = |does: Vec<Stmt>| if_(eq(lane(), 1), does, vec![]);
    violates(all(vec![one_lane(vec![copies(), commit()]), other(vec![over(0)]), write(0), last()]), race);
    violates(all(vec![one_lane(vec![copies()]), other(vec![commit(), over(0)]), write(0), last()]), race);
    violates(all(vec![one_lane(vec![copies()]), commit(), over(0), write(0)]), &[]);
    violates(all(vec![copies(), one_lane(vec![commit(), over(0)]), write(0), commit(), over(0)]), race);
}

#[test]
fn others_may_write_once_they_have_learned_that_it_has_been_read() {
    let meet = || sync_all(1);
    violates(vec![vec![sends(), meet()], vec![meet(), write(0)]], &[]);
    violates(vec![vec![sends()], vec![write(0)]], &["data-race"]);
    let late = vec![one_lane(vec![copies(), commit()]), meet(), one_lane(vec![over(0)])];
    violates(vec![late.clone(), vec![meet(), write(0)]], &["data-race"]);
    let load = one_lane(vec![object(0).arrive_expect(16), object(0).copy(16, 0)]);
    violates(vec![late, vec![meet(), load.clone(), object(0).wait(0)]], &["data-race"]);
    violates(vec![vec![sends(), meet()], vec![meet(), load, object(0).wait(0)]], &[]);
}

#[test]
fn nobody_leaves_while_a_copy_reads() {
    let left = &["in-flight-at-exit"];
    violates(vec![vec![one_lane(vec![copies()])]], left);
    violates(vec![vec![one_lane(vec![copies(), commit()])]], left);
    violates(vec![vec![one_lane(vec![copies(), commit(), over(1)])]], left);
    violates(vec![vec![one_lane(vec![copies(), commit(), over(0)])]], &[]);
    violates(vec![vec![one_lane(vec![copies(), commit(), exit()]), over(0)]], left);
    violates(vec![vec![access(Read, 0, None), commit(), over(0)]], &[]);
}
