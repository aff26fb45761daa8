//! What a program is said to hold, instruction by instruction: engines leave out what does not concern it.

use crate::common::*;
use barcheck_model::program::Target::Ptx;
use barcheck_model::program::*;

/// What a program of one instruction holds, each by a word.
fn holds(instruction: &S) -> String {
    let group = Group::new(Ptx, 64).scalar(Space::Shared).many(2, vec![instruction.clone()]);
    let program = with_objects(group.build(), &[(None, Some(32))]);
    let words = [
        (program.has_accesses(), "accesses"),
        (program.leaves_pending(), "pending"),
        (program.has_remote(), "remote"),
        (program.has_pools(), "pools"),
        (program.counts_exits(), "exits"),
        (program.stores(), "stores"),
        (!program.time_is_memory(), "relaxed"),
    ];
    let found: Vec<_> = words.into_iter().filter(|(is, _)| *is).map(|(_, word)| word).collect();
    found.join(" ")
}

fn arrival(relaxed: bool, within_cta: bool) -> MbarrierKind {
    MbarrierKind::Arrive {
        count: None,
        bytes: None,
        drops: false,
        no_complete: false,
        relaxed,
        within_cta,
        token: None,
    }
}

fn copy(to: Option<u32>) -> MbarrierKind {
    MbarrierKind::Copy { bytes: n(16), to: to.map(|array| (ArrayId(array), None)), by: Means::Bulk }
}

fn cluster(kind: ClusterKind) -> S {
    S::Op(Op::from(ClusterOp { kind, aligned: false }))
}

fn proxy(op: ProxyOp) -> S {
    S::Op(Op::Proxy(op))
}

// clause: ptx.mbarrier-relaxed, ptx.mbarrier-scope, ptx.cluster-relaxed, ptx.bulk-copy-asynchronous
// clause: ptx.commit-arrives, ptx.cluster-exited, ptx.bulk-store, ptx.registers-inc
#[test]
fn every_instruction_by_what_engines_have_to_look_for() {
    let here = |kind| on(0, kind);
    let there = |kind| on_one(0, None, Some(n(0)), kind);
    let warp = |op: WarpOp| holds(&S::Op(Op::from(op))).contains("pools");
    assert!(!warp(WarpOp::Sync(n(1))));
    assert!([true, false].iter().all(|takes| warp(WarpOp::Registers { takes: *takes, count: n(64) })));
    for (instruction, found) in [
        (here(arrival(false, false)), ""),
        (here(arrival(true, false)), "relaxed"),
        (here(arrival(false, true)), ""),
        (there(arrival(false, false)), "remote"),
        (there(arrival(false, true)), "remote relaxed"),
        (there(arrival(true, true)), "remote relaxed"),
        (here(MbarrierKind::Init(n(1))), ""),
        (here(MbarrierKind::Inval), ""),
        (here(MbarrierKind::ExpectTx(n(8))), ""),
        (here(MbarrierKind::Wait { phase: parity(0), relaxed: false }), ""),
        (here(test(parity(0), true, 0)), ""),
        // A copy publishes its own write alone, whatever its agent has done.
        (here(copy(None)), "pending relaxed"),
        (here(copy(Some(0))), "accesses pending relaxed"),
        (here(MbarrierKind::Commit), "pending"),
        (there(MbarrierKind::Commit), "pending remote"),
        (cluster(ClusterKind::Arrive { relaxed: false }), "remote exits"),
        (cluster(ClusterKind::Arrive { relaxed: true }), "remote exits relaxed"),
        (cluster(ClusterKind::Wait), "remote exits"),
        (proxy(ProxyOp::Begin(Transfer::Store, ArrayId(0), None)), "accesses stores relaxed"),
        (proxy(ProxyOp::Commit(Transfer::Store)), ""),
        (proxy(ProxyOp::Wait(Transfer::Store, Some(0))), ""),
        (proxy(ProxyOp::Fence(Window::All)), ""),
    ] {
        let S::Op(op) = &instruction else { panic!("an operation") };
        assert_eq!(holds(&instruction), found, "{op:?}");
    }
}

/// Whether a choice that was made just before an instruction makes a difference to its warp.
fn is_read_by(instructions: &[S]) -> bool {
    let body = [&[any(0, n(0), n(2))], instructions, &[fence(NEITHER)]].concat();
    let group = Group::new(Ptx, 32).array(Space::Shared, Some(2)).one(body);
    let program = with_objects(group.build(), &[(Some(2), Some(32))]);
    let after = |pick: u32| {
        let mut run = Run::new(program.clone());
        run.play(&format!("0.0.{pick}"));
        run.config(0).clone()
    };
    after(0) != after(1)
}

/// A choice that nobody reads leads to one state, as if it had not been made.
#[test]
fn every_instruction_by_the_locals_that_it_reads() {
    let warp = |op: WarpOp| S::Op(Op::from(op));
    let reads = |value: Expr| {
        [
            on_one(0, Some(value.clone()), None, ARRIVE),
            on_one(0, None, Some(value.clone()), ARRIVE),
            on(0, MbarrierKind::Init(value.clone())),
            on(0, arrive_with(Some(value.clone()), None, false)),
            on(0, arrive_with(None, Some(value.clone()), false)),
            on(0, MbarrierKind::ExpectTx(value.clone())),
            on(0, MbarrierKind::CompleteTx(value.clone())),
            on(0, MbarrierKind::Wait { phase: Awaited::Parity(value.clone()), relaxed: false }),
            on(0, test(Awaited::Parity(value.clone()), false, 1)),
            on(0, MbarrierKind::Copy { bytes: value.clone(), to: None, by: Means::Bulk }),
            on(
                0,
                MbarrierKind::Copy {
                    bytes: n(8),
                    to: Some((ArrayId(0), Some(value.clone()))),
                    by: Means::Bulk,
                },
            ),
            warp(WarpOp::Sync(value.clone())),
            warp(WarpOp::Registers { takes: false, count: value.clone() }),
            proxy(ProxyOp::Begin(Transfer::Store, ArrayId(0), Some(value))),
        ]
    };
    for (value, is_read) in [(n(1), false), (v(0), true)] {
        for instruction in reads(value.clone()) {
            let S::Op(op) = &instruction else { panic!("an operation") };
            assert_eq!(is_read_by(std::slice::from_ref(&instruction)), is_read, "{op:?}");
        }
    }
    let none = [
        on(0, MbarrierKind::Inval),
        on(0, MbarrierKind::Commit),
        cluster(ClusterKind::Arrive { relaxed: false }),
        cluster(ClusterKind::Wait),
        proxy(ProxyOp::Commit(Transfer::Store)),
    ];
    assert!(none.into_iter().all(|instruction| !is_read_by(&[instruction])));
    // What an instruction sets is not what was chosen before.
    let (asks, waits) =
        (on(0, test(parity(0), false, 0)), on(0, MbarrierKind::Wait { phase: token(0), relaxed: false }));
    assert!(!is_read_by(&[asks, assert(v(0))]) && is_read_by(&[assert(v(0))]));
    assert!(!is_read_by(&[on(0, arrive_for(0)), waits.clone()]) && is_read_by(&[waits]));
    assert!(is_read_by(&[on(0, test(token(0), false, 1))]));
}
