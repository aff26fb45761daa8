//! What is said, case by case, of arrivals of `cp.async`, of what is sent without being a bulk copy, of
//! copies into what threads have written, of relaxed waits, and of who has initialised an object: by the
//! engines and by the naive explorer.

use crate::engine::engine;
use barcheck_model::machine::ExitedThreads;
use barcheck_naive::build::*;
use barcheck_naive::build_mbarrier::*;
use barcheck_naive::explore::explore;
use barcheck_naive::fences::{Extent, Word};
use barcheck_naive::generate_fills::fill;
use barcheck_naive::generate_stores::store;
use barcheck_naive::protocol::*;
use std::collections::BTreeSet;

const RACE: &[&str] = &["data-race"];
const FENCE: &[&str] = &["missing-fence"];

/// Warps with the locations `x` and `y`, and the objects `b` and `c` of some counts.
fn with(counts: [i64; 2], bodies: Vec<Vec<Stmt>>) -> Protocol {
    let size = 32 * bodies.len() as i64;
    let blocks = bodies.into_iter().enumerate().map(|(warp, body)| (warp..warp + 1, body)).collect();
    let protocol = protocol(Target::Ptx, size, blocks).with_shared().with("y", Space::Shared, None);
    protocol.with_objects("b", None, Some(counts[0])).with_objects("c", None, Some(counts[1]))
}

/// The rules that a protocol violates.
#[track_caller]
fn violates(protocol: &Protocol, rules: &[&str]) {
    let expected: BTreeSet<String> = rules.iter().map(ToString::to_string).collect();
    assert_eq!(explore(protocol, 10_000).rules, expected, "the naive explorer:\n{}", protocol.text());
    let (_, found) = engine(&protocol.text(), ExitedThreads::Hold).expect("few states");
    assert_eq!(found, expected, "the engines:\n{}", protocol.text());
}

fn begins() -> Stmt {
    fill(Fill::Begin { array: 0, index: None, written: Written::Short })
}

fn b() -> Object {
    object(0)
}

fn c() -> Object {
    object(1)
}

fn fence(word: Word, extent: Extent) -> Stmt {
    instr(Instr::PtxFence(Fence::new(word, extent)))
}

fn between_proxies() -> Stmt {
    store(Store::Fence(None))
}

fn relaxed_wait(on: &Object) -> Stmt {
    let mut wait = on.wait(0);
    wait.on_mut().expect("it is on an object").gains = Gains::AtFence(None);
    wait
}

fn sends(sent: Sent) -> Stmt {
    b().act(Act::Send(sent, 16.into(), (0, None)))
}

#[test]
fn an_arrival_of_cp_async_tells_that_copies_are_over() {
    let fills = |arrives: Vec<Stmt>| vec![one_lane([vec![begins()], arrives].concat()), b().wait(0), read(0)];
    let noinc = b().fill_arrive(true, false);
    violates(&with([1, 1], vec![fills(vec![noinc.clone()])]), &[]);
    // It does not tell of what is begun behind it.
    violates(&with([1, 1], vec![fills(vec![noinc.clone(), begins()])]), RACE);
    let others = vec![one_lane(vec![begins(), noinc]), b().wait(0)];
    violates(&with([1, 1], vec![others.clone(), vec![b().wait(0), read(0)]]), &[]);
    violates(&with([1, 1], vec![others, vec![read(0)]]), RACE);
}

#[test]
fn an_arrival_that_is_not_counted_waits_for_another() {
    let inc = b().fill_arrive(false, true);
    let fills = |last: Vec<Stmt>| [vec![one_lane(vec![begins(), inc.clone()])], last].concat();
    let last = || vec![one_lane(vec![b().arrive()]), b().wait(0), read(0)];
    violates(&with([1, 1], vec![fills(last())]), &[]);
    violates(&with([1, 1], vec![fills(vec![b().wait(0), read(0)])]), &["deadlock"]);
}

#[test]
fn all_lanes_that_have_copied_to_a_location_have_to_arrive() {
    let half = |on: &Object| on.fill_arrive(true, false);
    let split = |other: Vec<Stmt>| vec![begins(), if_(lt(lane(), 16), vec![half(&b())], other)];
    let reads = vec![b().wait(0), read(0)];
    for other in [vec![half(&c())], vec![]] {
        let ends = other.iter().map(|_| c().wait(0)).collect();
        violates(&with([16, 16], vec![[split(other), reads.clone(), ends].concat()]), RACE);
    }
    let one = [split(vec![half(&b())]), vec![b().wait(0), read(0)]].concat();
    violates(&with([32, 1], vec![one]), &[]);
}

#[test]
fn an_arrival_of_cp_async_publishes_copies_alone() {
    let first = |fills: bool| {
        let mut does = vec![write(1)];
        does.extend(fills.then(|| one_lane(vec![begins()])));
        does.push(one_lane(vec![b().fill_arrive(true, false)]));
        does
    };
    let second = vec![b().wait(0), read(1)];
    violates(&with([1, 1], vec![first(true), second.clone()]), FENCE);
    violates(&with([1, 1], vec![first(false), second]), &[]);
}

#[test]
fn reductions_in_flight_are_atomics() {
    let sums = |sent, other: Stmt| {
        let first = vec![one_lane(vec![b().arrive_expect(32), sends(sent), sends(sent)]), b().wait(0)];
        with([1, 1], vec![first, vec![other]])
    };
    violates(&sums(Sent::Reduction, atomic(0)), &[]);
    violates(&sums(Sent::Reduction, write(0)), RACE);
    violates(&sums(Sent::Reduction, read(0)), RACE);
    violates(&sums(Sent::Value, read(1)), RACE);
}

#[test]
fn each_reduction_is_known_when_it_has_landed() {
    let one =
        |bytes: i32| vec![one_lane(vec![b().arrive_expect(bytes), sends(Sent::Reduction)]), b().wait(0)];
    let again = one_lane(vec![c().act(Act::Send(Sent::Reduction, 16.into(), (0, None)))]);
    violates(&with([1, 1], vec![[one(16), vec![read(0)]].concat()]), &[]);
    let late = [one_lane(vec![c().arrive_expect(16)]), again, read(0), c().wait(0)];
    violates(&with([1, 1], vec![[one(16), late.to_vec()].concat()]), RACE);
}

#[test]
fn a_copy_into_what_threads_have_written_needs_a_fence_between_the_proxies() {
    let copies = |before: Vec<Stmt>, act: Act| {
        let all = one_lane(vec![b().arrive_expect(16), b().act(act)]);
        with([1, 1], vec![[before, vec![all, b().wait(0), read(0)]].concat()])
    };
    let bulk = || Act::Copy(16.into(), Some((0, None)));
    violates(&copies(vec![write(0)], bulk()), FENCE);
    violates(&copies(vec![write(0), between_proxies()], bulk()), &[]);
    violates(&copies(vec![between_proxies(), write(0)], bulk()), FENCE);
    violates(&copies(vec![read(0)], bulk()), &[]);
    violates(&copies(vec![write(0)], Act::Send(Sent::Value, 16.into(), (0, None))), &[]);
}

#[test]
fn a_copy_between_memories_reads_its_source_until_it_lands() {
    let copy = |before: Vec<Stmt>, after: Vec<Stmt>| {
        let act = Act::Between { bytes: 16.into(), to: (0, None), from: (1, None), spelled: true };
        let all = one_lane(vec![b().arrive_expect(16), b().act(act)]);
        with([1, 1], vec![[before, vec![all], after].concat()])
    };
    let written = || vec![write(1), between_proxies()];
    violates(&copy(written(), vec![b().wait(0), write(1), read(0)]), &[]);
    violates(&copy(written(), vec![read(1), b().wait(0)]), &[]);
    violates(&copy(written(), vec![write(1), b().wait(0)]), RACE);
    violates(&copy(vec![write(1)], vec![b().wait(0)]), FENCE);
    violates(&copy(vec![], vec![read(0), b().wait(0)]), RACE);
}

#[test]
fn a_relaxed_wait_acquires_at_a_fence() {
    let told = |behind: Vec<Stmt>| {
        let first = vec![write(0), one_lane(vec![b().arrive()])];
        with([1, 1], vec![first, [vec![relaxed_wait(&b())], behind].concat()])
    };
    violates(&told(vec![read(0)]), FENCE);
    for word in [Word::Acquire, Word::AcqRel, Word::Sc, Word::Membar] {
        violates(&told(vec![fence(word, Extent::Cta), read(0)]), &[]);
    }
    violates(&told(vec![fence(Word::Release, Extent::Sys), read(0)]), FENCE);
    violates(&told(vec![read(1), fence(Word::Acquire, Extent::Cta), read(0)]), &[]);
}

#[test]
fn a_fence_reaches_as_far_as_those_who_arrive() {
    let across = |extent: Extent| {
        let tells = vec![write(0), one_lane(vec![b().at(1, arrival(None))])];
        let mut wait = relaxed_wait(&b());
        wait.on_mut().expect("it is on an object").gains = Gains::AtFence(Some(Reach::Cluster));
        let waits = vec![wait, fence(Word::Acquire, extent), access_at(AccessKind::Read, 0, None, 0)];
        let meets = vec![cluster_arrive(), cluster_wait()];
        let body = [vec![if_(eq(Expr::Rank, 0), tells, waits)], meets].concat();
        with([1, 1], vec![body]).with_ctas(2)
    };
    violates(&across(Extent::Cta), FENCE);
    violates(&across(Extent::Cluster), &[]);
}

#[test]
fn who_uses_an_object_knows_in_memory_that_it_is_initialised() {
    let begun = |fences: Vec<Stmt>, relaxed: bool| {
        let meets = vec![instr(Instr::ClusterArrive { relaxed, aligned: false }), cluster_wait()];
        let tells = vec![one_lane(vec![b().at((Expr::Rank + 1) % 2, arrival(None))]), b().wait(0)];
        let body = [vec![one_lane(vec![b().init(1)])], fences, meets.clone(), tells, meets].concat();
        let mut protocol = with([1, 1], vec![body]).with_ctas(2);
        protocol.objects[0].count = None;
        protocol
    };
    violates(&begun(vec![], false), &[]);
    violates(&begun(vec![], true), FENCE);
    violates(&begun(vec![instr(Instr::PtxFence(Fence::INIT))], true), &[]);
    violates(&begun(vec![fence(Word::Release, Extent::Cluster)], true), &[]);
    violates(&begun(vec![fence(Word::Release, Extent::Cta)], true), FENCE);
}

#[test]
fn a_fence_for_initialisations_is_for_nothing_else() {
    let meets = |first: Vec<Stmt>| {
        let relaxed = vec![instr(Instr::ClusterArrive { relaxed: true, aligned: false }), cluster_wait()];
        let reads = vec![access_at(AccessKind::Read, 0, None, (Expr::Rank + 1) % 2)];
        let last = vec![cluster_arrive(), cluster_wait()];
        with([1, 1], vec![[first, relaxed, reads, last].concat()]).with_ctas(2)
    };
    violates(&meets(vec![write(0), instr(Instr::PtxFence(Fence::INIT))]), FENCE);
    violates(&meets(vec![write(0), fence(Word::AcqRel, Extent::Cluster)]), &[]);
}
