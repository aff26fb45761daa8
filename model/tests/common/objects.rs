//! mbarrier objects of a program, and instructions on them.

use super::build::{S, n};
use super::run::Run;
use barcheck_model::barrier::AnyBarrier;
use barcheck_model::barrier::mbarrier::{Barrier, id};
use barcheck_model::program::*;

/// An arrival of each lane, without anything besides.
pub(crate) const ARRIVE: MbarrierKind = MbarrierKind::Arrive {
    count: None,
    bytes: None,
    drops: false,
    no_complete: false,
    relaxed: false,
    within_cta: false,
    token: None,
};

/// The same, and the token is kept in a local.
pub(crate) fn arrive_for(local: u32) -> MbarrierKind {
    let token = Some(LocalId(local));
    MbarrierKind::Arrive {
        count: None,
        bytes: None,
        drops: false,
        no_complete: false,
        relaxed: false,
        within_cta: false,
        token,
    }
}

/// An arrival of so many for each lane, which announces bytes besides.
pub(crate) fn arrive_with(count: Option<Expr>, bytes: Option<Expr>, drops: bool) -> MbarrierKind {
    MbarrierKind::Arrive {
        count,
        bytes,
        drops,
        no_complete: false,
        relaxed: false,
        within_cta: false,
        token: None,
    }
}

pub(crate) fn parity(parity: i64) -> Awaited {
    Awaited::Parity(n(parity))
}

pub(crate) fn token(local: u32) -> Awaited {
    Awaited::Token(LocalId(local))
}

/// `mbarrier.test_wait` into a local, or `try_wait`, which may give up.
pub(crate) fn test(phase: Awaited, gives_up: bool, dest: u32) -> MbarrierKind {
    MbarrierKind::Test { phase, gives_up, relaxed: false, dest: Some(LocalId(dest)) }
}

/// An instruction on an object of the agent's own CTA.
pub(crate) fn on(objects: u32, kind: MbarrierKind) -> S {
    on_one(objects, None, None, kind)
}

/// An instruction on one object of an array, perhaps of another CTA.
pub(crate) fn on_one(objects: u32, index: Option<Expr>, cta: Option<Expr>, kind: MbarrierKind) -> S {
    S::Op(Op::from(MbarrierOp { kind, objects: ObjectsId(objects), index, cta }))
}

/// Objects for a program: each array with its length and the arrivals that its objects expect, if they are
/// initialised.
pub(crate) fn with_objects(program: Program, arrays: &[(Option<u32>, Option<u32>)]) -> Program {
    let mut objects = Vec::new();
    let mut first = 0;
    for (length, count) in arrays.iter().copied() {
        objects.push(Objects { name: format!("o{}", objects.len()), first, length, count, lives: None });
        first += length.unwrap_or(1);
    }
    Program { objects, ..program }
}

/// The state of the object of this number.
pub(crate) fn object_in(run: &Run, number: u32) -> Barrier {
    match run.state.barrier(id(number)) {
        Some(AnyBarrier::Mbarrier(barrier)) => *barrier,
        None => Barrier::Dead,
        Some(other) => panic!("{other:?} is no object"),
    }
}

/// The same in words.
pub(crate) fn object_name(run: &Run, number: u32) -> String {
    let Barrier::Live(live) = object_in(run, number) else { return "dead".to_owned() };
    let parity = if live.odd { "odd" } else { "even" };
    format!("{parity} {}/{} arrivals, {} bytes", live.pending, live.expected, live.bytes)
}
