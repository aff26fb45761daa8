//! Order in time and in memory on split barriers: scopes, semantics and storage classes.

use crate::common::*;
use barcheck_model::program::Target::SplitBarrier;
use barcheck_model::program::*;

const SCOPES: [Scope; 4] = [Scope::Invocation, Scope::Subgroup, Scope::Workgroup, Scope::Device];
const CLASSES: [Spaces; 4] = [NEITHER, SHARED, GLOBAL, BOTH];

fn arrive(memory: Scope, semantics: Semantics) -> S {
    split(SplitKind::Arrive, Scope::Workgroup, memory, semantics)
}

fn wait(memory: Scope, semantics: Semantics) -> S {
    split(SplitKind::Wait, Scope::Workgroup, memory, semantics)
}

fn barrier(memory: Scope, semantics: Semantics) -> S {
    split(SplitKind::MemoryBarrier, Scope::Invocation, memory, semantics)
}

const NONE: Semantics = Semantics { acquire: false, release: false, classes: NEITHER };

/// How a read of `location` by `reader` goes when agent 0 has written both locations, arrived with `first`
/// and waited, and the reader, one of four in subgroups of two, has waited with `second`; the reader blocks
/// or not.
fn read_after(first: &[S], second: &[S], reader: u32, location: u32, blocks: bool) -> String {
    let is = |agent: u32| eq(Expr::Agent, n(i64::from(agent)));
    let before = iff(is(0), [vec![write(0), write(1)], first[..first.len() - 1].to_vec()].concat());
    let after = iff(is(reader), [second[1..].to_vec(), vec![read(location)]].concat());
    let body = vec![before, first[first.len() - 1].clone(), second[0].clone(), after];
    let program =
        Group::new(SplitBarrier, 4).subgroups_of(2).scalar(Space::Shared).scalar(Space::Global).many(4, body);
    let mut run = Run::new(program.build());
    let others: Vec<u32> = (1..4).filter(|agent| *agent != reader).collect();
    let (a, b) = (others[0], others[1]);
    let writer = "0 ".repeat(2 + first.len());
    let met = if blocks {
        format!("{reader} {reader} {a} {b} {writer}")
    } else {
        format!("{writer} {a} {b} {reader} {reader}")
    };
    run.play(&met);
    let steps = format!("{reader} ").repeat(second.len());
    run.play(&steps)
}

fn expected(location: u32, ordered: bool, reader: u32) -> String {
    if ordered {
        format!("access {location}")
    } else {
        format!("access {location} ! missing-fence 0,{reader}")
    }
}

/// Whether both scopes contain agent 0 and the reader.
fn contain(scopes: [Scope; 2], reader: u32) -> bool {
    let needed = if reader == 1 { Scope::Subgroup } else { Scope::Workgroup };
    scopes.iter().all(|scope| *scope >= needed)
}

fn has(classes: Spaces, location: u32) -> bool {
    if location == 0 { classes.shared } else { classes.global }
}

#[test]
fn both_memory_scopes_must_contain_both_agents() {
    // clause: split_barrier.memory-scope
    // clause: split_barrier.opencl-flags-meet
    for released in SCOPES {
        for acquired in SCOPES {
            for reader in [1, 2] {
                for blocks in [false, true] {
                    let (first, second) =
                        (arrive(released, release(SHARED)), wait(acquired, acquire(SHARED)));
                    let found = read_after(&[first], &[second], reader, 0, blocks);
                    let ordered = contain([released, acquired], reader);
                    assert_eq!(found, expected(0, ordered, reader), "{released:?} {acquired:?} {blocks}");
                }
            }
        }
    }
}

#[test]
fn release_and_acquire_are_both_needed_with_the_locations_class() {
    // clause: split_barrier.arrive-memory
    // clause: split_barrier.wait-memory
    // clause: split_barrier.storage-classes
    // clause: split_barrier.semantics-none
    // clause: split_barrier.opencl-flags-meet
    let orders = |classes| {
        [(false, false), (false, true), (true, false), (true, true)].map(|(acquire, release)| Semantics {
            acquire,
            release,
            classes,
        })
    };
    for released in CLASSES.into_iter().flat_map(orders) {
        for acquired in CLASSES.into_iter().flat_map(orders) {
            for location in [0, 1] {
                let (first, second) = (arrive(Scope::Workgroup, released), wait(Scope::Workgroup, acquired));
                let found = read_after(&[first], &[second], 2, location, location == 0);
                let ordered = released.release
                    && acquired.acquire
                    && has(released.classes, location)
                    && has(acquired.classes, location);
                assert_eq!(found, expected(location, ordered, 2), "{released:?} {acquired:?}");
            }
        }
    }
}

#[test]
fn a_memory_barrier_before_the_arrive_or_after_the_wait_does_the_same() {
    // clause: split_barrier.memory-barrier
    let workgroup = Scope::Workgroup;
    for scope in SCOPES {
        for classes in CLASSES {
            for (reader, location) in [(1, 0), (1, 1), (2, 0), (2, 1)] {
                let ordered = contain([scope, workgroup], reader) && has(classes, location);
                let blocks = reader == 1;
                let first = [barrier(scope, release(classes)), arrive(workgroup, NONE)];
                let found = read_after(&first, &[wait(workgroup, acquire(BOTH))], reader, location, blocks);
                assert_eq!(found, expected(location, ordered, reader), "release {scope:?} {classes:?}");
                let second = [wait(workgroup, NONE), barrier(scope, acquire(classes))];
                let found =
                    read_after(&[arrive(workgroup, release(BOTH))], &second, reader, location, blocks);
                assert_eq!(found, expected(location, ordered, reader), "acquire {scope:?} {classes:?}");
                let both = [barrier(scope, release(classes)), arrive(workgroup, NONE)];
                let found = read_after(&both, &second, reader, location, blocks);
                assert_eq!(found, expected(location, ordered, reader), "both {scope:?} {classes:?}");
            }
        }
    }
}

#[test]
fn a_memory_barrier_of_the_other_kind_or_place_does_nothing() {
    // clause: split_barrier.memory-barrier
    let workgroup = Scope::Workgroup;
    let acquiring = [barrier(workgroup, acquire(BOTH)), arrive(workgroup, NONE)];
    let found = read_after(&acquiring, &[wait(workgroup, acquire(BOTH))], 2, 0, false);
    assert_eq!(found, expected(0, false, 2));
    let releasing = [wait(workgroup, NONE), barrier(workgroup, release(BOTH))];
    let found = read_after(&[arrive(workgroup, release(BOTH))], &releasing, 2, 0, false);
    assert_eq!(found, expected(0, false, 2));
    // A release before the write covers nothing of it.
    let program = |first: Vec<S>| {
        let body = vec![if_else(eq(Expr::Agent, n(0)), first, vec![]), arrive(workgroup, NONE)];
        let after = vec![wait(workgroup, acquire(BOTH)), iff(eq(Expr::Agent, n(1)), vec![read(0)])];
        let group = Group::new(SplitBarrier, 2).subgroups_of(2).scalar(Space::Shared);
        last(group.many(2, [body, after].concat()).build(), "0 0 0 1 1 1")
    };
    assert_eq!(program(vec![barrier(workgroup, release(BOTH)), write(0)]), expected(0, false, 1));
    assert_eq!(program(vec![write(0), barrier(workgroup, release(BOTH))]), expected(0, true, 1));
}

/// Agents meet in a chain of three generations of whole barriers with these semantics; the third reads what
/// the first wrote.
fn chained(first: Semantics, second: Semantics, scope: Scope) -> String {
    let both = |semantics| split(SplitKind::Both, Scope::Workgroup, scope, semantics);
    let is = |agent: i64| eq(Expr::Agent, n(agent));
    let body = vec![iff(is(0), vec![write(0)]), both(first), both(second), iff(is(2), vec![read(0)])];
    let group = Group::new(SplitBarrier, 3).subgroups_of(2).scalar(Space::Shared);
    last(group.many(3, body).build(), "0 0 1 2 0 1 2 2")
}

#[test]
fn whole_barriers_release_and_acquire_and_order_lasts() {
    // clause: split_barrier.control-barrier
    let full = Semantics { acquire: true, release: true, classes: SHARED };
    assert_eq!(chained(full, NONE, Scope::Workgroup), "access 0");
    assert_eq!(
        chained(NONE, full, Scope::Workgroup),
        "access 0",
        "the writer's own access is released later, too"
    );
    assert_eq!(chained(NONE, NONE, Scope::Workgroup), expected(0, false, 2));
    assert_eq!(chained(full, full, Scope::Subgroup), expected(0, false, 2));
    assert_eq!(chained(release(SHARED), full, Scope::Workgroup), "access 0");
}

#[test]
fn order_is_transitive_through_scopes() {
    // clause: barcheck.transitive-order
    // clause: split_barrier.memory-own-accesses
    let full = Semantics { acquire: true, release: true, classes: SHARED };
    let is = |agent: i64| eq(Expr::Agent, n(agent));
    let sub = |semantics| split(SplitKind::Both, Scope::Subgroup, Scope::Subgroup, semantics);
    let chain = |near: Semantics, memory: Scope| {
        let body = vec![
            iff(is(0), vec![write(0)]),
            sub(near),
            split(SplitKind::Both, Scope::Workgroup, memory, full),
            iff(is(2), vec![read(0)]),
        ];
        let group = Group::new(SplitBarrier, 3).subgroups_of(2).scalar(Space::Shared);
        let mut run = Run::new(group.many(3, body).build());
        run.play("0 0 1 2 0 1 2 2")
    };
    assert_eq!(chain(full, Scope::Workgroup), "access 0");
    assert_eq!(chain(full, Scope::Subgroup), expected(0, false, 2));
    // Without the first hop the writer itself still releases at the workgroup's barrier.
    assert_eq!(chain(NONE, Scope::Workgroup), "access 0");
    // Agent 1 has learnt it near and passes it on to agents 2 and 3 without agent 0.
    let pass_on = |near: Semantics| {
        let wide = |kind| split(kind, Scope::Subgroup, Scope::Subgroup, near);
        let body = vec![iff(is(0), vec![write(0)]), wide(SplitKind::Both), iff(is(1), vec![atomic(1)])];
        let group = Group::new(SplitBarrier, 2).subgroups_of(2).scalar(Space::Shared).scalar(Space::Shared);
        let more = vec![iff(is(1), vec![read(0)])];
        last(group.many(2, [body, more].concat()).build(), "0 0 1 1 1")
    };
    assert_eq!(pass_on(full), "access 0");
    assert_eq!(pass_on(NONE), expected(0, false, 1));
}

#[test]
fn an_invocations_own_barrier_and_another_subgroups_order_nothing() {
    // clause: split_barrier.execution-scope
    let full = Semantics { acquire: true, release: true, classes: SHARED };
    let is = |agent: i64| eq(Expr::Agent, n(agent));
    let outcome = |scope, steps| {
        let both = split(SplitKind::Both, scope, Scope::Workgroup, full);
        let body = vec![iff(is(0), vec![write(0)]), both, iff(is(2), vec![read(0)])];
        let group = Group::new(SplitBarrier, 4).subgroups_of(2).scalar(Space::Shared);
        last(group.many(4, body).build(), steps)
    };
    assert_eq!(outcome(Scope::Invocation, "0 0 2 2"), "access 0 ! data-race 0,2");
    assert_eq!(outcome(Scope::Subgroup, "0 0 1 2 3 2"), "access 0 ! data-race 0,2");
    assert_eq!(outcome(Scope::Workgroup, "0 0 1 2 3 2"), "access 0");
}

#[test]
fn what_one_scopes_barrier_carries_no_others_hands_out() {
    // clause: split_barrier.execution-scope
    // clause: barcheck.knowledge
    let full = Semantics { acquire: true, release: true, classes: SHARED };
    for (writer, reader) in [(2, 0), (4, 0), (0, 2), (0, 4), (4, 2), (2, 4), (1, 2), (3, 0)] {
        // The workgroup's generation is complete, but the reader has only met its own subgroup since.
        let body = vec![
            iff(eq(Expr::Agent, n(writer)), vec![write(0)]),
            arrive(Scope::Workgroup, full),
            split(SplitKind::Both, Scope::Subgroup, Scope::Workgroup, full),
            iff(eq(Expr::Agent, n(reader)), vec![read(0)]),
        ];
        let group = Group::new(SplitBarrier, 5).subgroups_of(2).scalar(Space::Shared);
        let mate = if reader == 4 { String::new() } else { format!("{} ", reader + 1) };
        let steps = format!("{writer} 0 1 2 3 4 {mate}{reader} {reader}");
        let outcome = last(group.many(5, body).build(), &steps);
        let (low, high) = (writer.min(reader), writer.max(reader));
        assert_eq!(outcome, format!("access 0 ! data-race {low},{high}"), "{steps}");
    }
}

#[test]
fn a_wait_at_one_scope_learns_nothing_of_the_other_scopes_completed_generation() {
    // clause: split_barrier.execution-scope
    // clause: barcheck.knowledge
    let full = Semantics { acquire: true, release: true, classes: SHARED };
    let pairs = (0..5).flat_map(|writer| (0..5).map(move |reader| (writer, reader)));
    for (writer, reader) in pairs.filter(|(writer, reader)| writer != reader) {
        for (first, second) in [(Scope::Subgroup, Scope::Workgroup), (Scope::Workgroup, Scope::Subgroup)] {
            for memory in [Scope::Subgroup, Scope::Workgroup] {
                // The write follows the arrival for which the reader waits; both generations are complete by
                // then.
                let body = vec![
                    split(SplitKind::Arrive, first, memory, full),
                    iff(eq(Expr::Agent, n(writer)), vec![write(0)]),
                    split(SplitKind::Arrive, second, memory, full),
                    split(SplitKind::Wait, first, memory, full),
                    iff(eq(Expr::Agent, n(reader)), vec![read(0)]),
                ];
                let group = Group::new(SplitBarrier, 5).subgroups_of(2).scalar(Space::Shared);
                let steps = format!("0 1 2 3 4 {writer} 0 1 2 3 4 {reader} {reader}");
                let outcome = last(group.many(5, body).build(), &steps);
                let (low, high) = (writer.min(reader), writer.max(reader));
                assert_eq!(outcome, format!("access 0 ! data-race {low},{high}"), "{first:?} {memory:?}");
            }
        }
    }
}

#[test]
fn an_invocations_own_barrier_leaves_no_trace_in_memory() {
    // clause: split_barrier.execution-scope
    let full = Semantics { acquire: true, release: true, classes: SHARED };
    let own = |kind| split(kind, Scope::Invocation, Scope::Workgroup, full);
    let after = |between: Vec<S>, steps| {
        let body = [vec![write(0)], between, vec![fence(NEITHER)]].concat();
        let group = Group::new(SplitBarrier, 3).subgroups_of(2).scalar(Space::Shared);
        let mut run = Run::new(group.many(3, body).build());
        run.play(steps);
        run.state.memory
    };
    assert_eq!(after(vec![], "2"), after(vec![own(SplitKind::Both)], "2 2"));
    assert_eq!(after(vec![], "2"), after(vec![own(SplitKind::Arrive), own(SplitKind::Wait)], "2 2 2"));
}

/// Two agents split their barriers; the first writes after its wait of the first generation and arrives again
/// before the second has waited at all.
fn ahead(semantics: Semantics) -> Run {
    let (workgroup, kind) = (Scope::Workgroup, acquire(SHARED));
    let is = |agent: i64| eq(Expr::Agent, n(agent));
    let body = vec![
        iff(is(0), vec![write(1)]),
        arrive(workgroup, semantics),
        wait(workgroup, kind),
        iff(is(0), vec![write(0)]),
        iff(is(1), vec![read(0), read(1)]),
        arrive(workgroup, semantics),
        wait(workgroup, kind),
        iff(is(1), vec![read(0)]),
    ];
    let group = Group::new(SplitBarrier, 2).subgroups_of(2).scalar(Space::Shared).scalar(Space::Shared);
    Run::new(group.many(2, body).build())
}

#[test]
fn a_wait_learns_of_its_own_generation_only() {
    // clause: barcheck.knowledge
    let mut run = ahead(release(SHARED));
    assert_eq!(run.log("0 0 1")[2], "arrive b0, complete b0, notify 0, notify 1");
    assert_eq!(run.log("0 0 0"), ["pass b0", "access 0", "arrive b0"]);
    assert_eq!(run.log("1 1 1"), ["pass b0", "access 0 ! data-race 0,1", "access 1"]);
    assert_eq!(run.log("1 1 1"), ["arrive b0, complete b0, notify 0, notify 1", "pass b0", "access 0"]);
    let mut run = ahead(NONE);
    assert_eq!(run.log("0 0 1 1 1 1")[5], "access 1 ! missing-fence 0,1");
}

#[test]
fn what_a_generation_carried_is_forgotten_once_all_have_waited() {
    let mut run = ahead(release(SHARED));
    run.play("0 0 1 0 1");
    let access = run.state.memory.accesses();
    assert!(access.is_empty(), "both know it: {access:?}");
    // Known in time only, the access stays, with nothing carried that could reach a later wait.
    let (workgroup, full) = (Scope::Workgroup, acquire(SHARED));
    let is = |agent: i64| eq(Expr::Agent, n(agent));
    let body = vec![
        iff(is(0), vec![write(0)]),
        arrive(workgroup, release(SHARED)),
        wait(workgroup, NONE),
        arrive(workgroup, NONE),
        wait(workgroup, full),
        iff(is(1), vec![read(0)]),
    ];
    let group = Group::new(SplitBarrier, 2).subgroups_of(2).scalar(Space::Shared);
    let outcome = last(group.many(2, body).build(), "0 0 1 0 1 0 1 1 1");
    assert_eq!(outcome, expected(0, false, 1), "released then, acquired now: not the same barrier");
}

#[test]
fn every_wait_of_a_generation_learns_the_same_however_late() {
    // clause: split_barrier.wait-memory
    // clause: barcheck.knowledge
    let is = |agent: i64| eq(Expr::Agent, n(agent));
    let body = vec![
        iff(is(0), vec![write(0)]),
        arrive(Scope::Workgroup, release(SHARED)),
        wait(Scope::Workgroup, acquire(SHARED)),
        iff(not(is(0)), vec![read(0)]),
    ];
    let group = Group::new(SplitBarrier, 4).subgroups_of(2).scalar(Space::Shared);
    let program = group.many(4, body).build();
    assert_eq!(last(program.clone(), "0 0 1 2 3 1 0 3 2 2"), "access 0");
    assert_eq!(last(program, "0 0 1 2 3 2 1 0 3 3"), "access 0");
}

/// The memory once all of five invocations in subgroups of two have met, by these instructions, after
/// `writer` has written.
fn met(writer: i64, scope: Scope, meeting: &[SplitKind], steps: &[u32]) -> barcheck_model::memory::Memory {
    let meeting = meeting.iter().map(|kind| split(*kind, Scope::Workgroup, scope, release(SHARED)));
    let mut body = vec![iff(eq(Expr::Agent, n(writer)), vec![write(0)])];
    body.extend(meeting);
    body.push(barrier(Scope::Workgroup, NONE));
    let group = Group::new(SplitBarrier, 5).subgroups_of(2).scalar(Space::Shared);
    let mut run = Run::new(group.many(5, body).build());
    run.step(u32::try_from(writer).expect("an agent"));
    for agent in steps {
        assert_ne!(run.step(*agent), "disabled");
    }
    run.state.memory
}

#[test]
fn blocking_or_passing_leaves_the_same_memory() {
    let halves = [SplitKind::Arrive, SplitKind::Wait];
    for writer in 0..5 {
        for scope in [Scope::Subgroup, Scope::Workgroup] {
            let blocked = met(writer, scope, &halves, &[0, 0, 1, 1, 2, 2, 3, 3, 4, 4]);
            assert_eq!(blocked.accesses().len(), 1);
            assert_eq!(blocked, met(writer, scope, &halves, &[4, 3, 2, 1, 0, 0, 1, 2, 3, 4]));
            // A whole barrier, at which everybody blocks, carries the same and keeps nothing for later.
            assert_eq!(blocked, met(writer, scope, &[SplitKind::Both], &[0, 1, 2, 3, 4]));
        }
    }
}

#[test]
fn a_race_in_time_is_a_race_whatever_the_semantics() {
    // clause: split_barrier.wait-memory
    // clause: barcheck.data-race
    let is = |agent: i64| eq(Expr::Agent, n(agent));
    let body = vec![
        arrive(Scope::Workgroup, release(SHARED)),
        iff(is(0), vec![write(0)]),
        wait(Scope::Workgroup, acquire(SHARED)),
        iff(is(1), vec![read(0)]),
    ];
    let group = Group::new(SplitBarrier, 2).subgroups_of(2).scalar(Space::Shared);
    assert_eq!(last(group.many(2, body).build(), "0 0 1 1 1"), "access 0 ! data-race 0,1");
    // A read is ordered like a write: it needs release and acquire here.
    let body = |semantics| {
        let body = vec![
            iff(is(0), vec![read(0)]),
            arrive(Scope::Workgroup, semantics),
            wait(Scope::Workgroup, acquire(SHARED)),
            iff(is(1), vec![write(0)]),
        ];
        let group = Group::new(SplitBarrier, 2).subgroups_of(2).scalar(Space::Shared);
        last(group.many(2, body).build(), "0 0 1 1 1")
    };
    assert_eq!(body(release(SHARED)), "access 0");
    assert_eq!(body(NONE), expected(0, false, 1));
}

#[test]
fn memory_is_the_same_for_invocations_of_other_names_in_their_subgroup() {
    let body = vec![
        atomic(0),
        split(SplitKind::MemoryBarrier, Scope::Invocation, Scope::Subgroup, release(SHARED)),
        read(1),
        arrive(Scope::Workgroup, release(GLOBAL)),
        wait(Scope::Workgroup, NONE),
        split(SplitKind::MemoryBarrier, Scope::Invocation, Scope::Workgroup, acquire(BOTH)),
        split(SplitKind::Arrive, Scope::Subgroup, Scope::Workgroup, release(BOTH)),
        split(SplitKind::Wait, Scope::Subgroup, Scope::Subgroup, acquire(SHARED)),
        atomic(0),
    ];
    let group = Group::new(SplitBarrier, 4).subgroups_of(2).scalar(Space::Shared).scalar(Space::Global);
    let program = group.many(4, body).build();
    let steps =
        [0, 0, 1, 0, 2, 2, 1, 1, 0, 2, 2, 1, 3, 3, 3, 0, 3, 1, 1, 0, 0, 1, 2, 2, 3, 3, 1, 1, 3, 2, 2, 3, 1];
    for to in [[1, 0, 2, 3], [0, 1, 3, 2], [1, 0, 3, 2]] {
        let (mut a, mut b) = (Run::new(program.clone()), Run::new(program.clone()));
        let names: Vec<_> = to.iter().map(|agent| AgentId(*agent)).collect();
        for agent in steps {
            assert_ne!(a.step(agent), "disabled");
            b.step(to[agent as usize]);
            let layout = a.machine.layout();
            assert_eq!(a.state.memory.renamed(layout, &names), b.state.memory);
            for agent in a.machine.agents() {
                let own = a.state.memory.profile(layout, agent);
                assert_eq!(own, b.state.memory.profile(layout, names[agent.index()]));
            }
        }
    }
}
