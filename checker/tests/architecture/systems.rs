//! Where barrier systems are named: in the rooms of each, in the lists that dispatch to them, and in ever
//! fewer places besides.

use crate::source::{Mention, sources};
use std::collections::BTreeSet;

/// The modules of the systems.
const MODULES: [&str; 5] = ["bcu", "nbarrier", "ptx", "split", "xegpu"];
/// What holds such a module, where a path ends with it.
const PARENTS: [&str; 5] = ["agent", "barrier", "crate", "instruction", "super"];
/// Enums with a variant for each system.
const ENUMS: [&str; 4] = ["AnyBarrier", "BarrierAction", "Op", "Target"];
/// Their variants.
const VARIANTS: [&str; 6] = ["Bcu", "Nbarrier", "Ptx", "Split", "SplitBarrier", "Xegpu"];
/// Types of one system.
const TYPES: [&str; 9] = [
    "BcuOp",
    "BcuOperand",
    "BcuRedOperands",
    "NbarrierOp",
    "PtxKind",
    "PtxOp",
    "SplitKind",
    "SplitOp",
    "XegpuOp",
];

/// The rooms of the systems, with the lists that dispatch to them: a folder, or a file without its ending.
const ROOMS: [&str; 21] = [
    "checker/export/src/systems/",
    "checker/gate/src/barriers/",
    "checker/gate/src/systems/",
    "counterexamples/src/wording/",
    "model/src/agent/bcu",
    "model/src/agent/nbarrier",
    "model/src/agent/ptx",
    "model/src/agent/split",
    "model/src/agent/systems",
    "model/src/agent/xegpu",
    "model/src/barrier/",
    "model/src/program/instruction/",
    "model/src/program/mod",
    "model/src/systems",
    "specs/src/bar/system/",
    "specs/src/load",
    "specs/src/ptx/",
    "specs/src/sass/",
    "specs/src/spirv/",
    "specs/src/visa/",
    "specs/src/xegpu/",
];

/// Files outside those rooms that name a system: the threads that execute its instructions, and an example.
/// There were 50 once: none is to come, and whoever no longer names one is taken off.
const ELSEWHERE: [&str; 2] = ["checker/examples/attention/src/lib.rs", "checker/gate/src/operands.rs"];

fn names_a_system(Mention { segments, .. }: &Mention) -> bool {
    let pairs = || segments.windows(2).map(|pair| (pair[0].as_str(), pair[1].as_str()));
    let is_module = |name: &str| MODULES.contains(&name);
    segments.iter().any(|name| TYPES.contains(&name.as_str()))
        || pairs().any(|(first, second)| ENUMS.contains(&first) && VARIANTS.contains(&second))
        || pairs().any(|(first, second)| is_module(first) || PARENTS.contains(&first) && is_module(second))
}

#[test]
fn systems_are_named_in_rooms_of_their_own() {
    let is_room = |path: &str| ROOMS.iter().any(|room| path.starts_with(room));
    let named: BTreeSet<&str> = sources()
        .iter()
        .filter(|source| source.is_product() && !is_room(&source.path))
        .filter(|source| source.paths.iter().any(names_a_system))
        .map(|source| source.path.as_str())
        .collect();
    let listed: BTreeSet<&str> = ELSEWHERE.into_iter().collect();
    println!("{} files outside the rooms of the systems name one", named.len());
    let more: Vec<_> = named.difference(&listed).collect();
    assert!(more.is_empty(), "name a system where a fact of it would do: {more:#?}");
    let fewer: Vec<_> = listed.difference(&named).collect();
    assert!(fewer.is_empty(), "name no system any more, and can be taken off the list: {fewer:#?}");
}

/// The engine asks for facts: there is no exception.
#[test]
fn no_engine_names_a_system() {
    assert!(ELSEWHERE.iter().all(|path| !path.contains("engine/") && !path.contains("machine/")));
}

/// Names are recognised, or their absence would mean nothing.
#[test]
fn names_of_systems_are_recognised() {
    let names = |path: &str| {
        let source = sources().iter().find(|source| source.path == path).expect("a file");
        source.paths.iter().any(names_a_system)
    };
    assert!(names("model/src/agent/systems.rs"), "a path in a pattern");
    assert!(names("checker/export/src/systems/mod.rs"), "variants of targets");
    assert!(names("specs/src/bar/system/split/lower.rs"), "types of one system");
    assert!(!names("model/src/machine/step/mod.rs"));
}
