//! PTX, `barrier{.cta}`, `bar{.cta}` and mbarrier objects: words and instructions.

mod cluster;
mod foreign;
mod lower;
mod mbarrier;
mod proxy;
mod spellings;
mod unqualified;

use std::sync::LazyLock;

use barcheck_model::program::{Fence, Reach, ReductionOp, Target};

use crate::bar::notation::Notation;
use crate::bar::opcode::{Form, Mnemonics};
use crate::common::limits;

use super::definition::System;
use cluster::Cluster;
use foreign::FOREIGN;
use mbarrier::Mbarrier;
use proxy::Proxy;

pub(super) static SYSTEM: System = System {
    notation: &NOTATION,
    lower: |role, instruction| role.ptx(instruction),
    foreign: &FOREIGN,
    #[cfg(feature = "clauses")]
    clauses: include_str!("../../../../clauses/ptx.toml"),
};

static NOTATION: Notation = Notation {
    target: Target::Ptx,
    size: "cta",
    unit: "threads",
    largest: limits::CTA_THREADS,
    agents: "warps",
    subgroups: false,
    index_keeps_case: false,
    commas_optional: false,
    handles_from: None,
    objects: Some("mbarrier"),
    cluster: true,
    registers: None,
    mnemonics: || MNEMONICS.all(),
    unqualified: unqualified::unqualified,
};

/// What an instruction does; the flag says `.aligned`, as every `bar` is.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Sync(bool),
    Arrive(bool),
    Red(ReductionOp, bool),
    /// `membar`, `fence`.
    Fence(Fence),
    /// On an mbarrier object.
    Mbarrier(Mbarrier),
    /// Of the asynchronous proxy.
    Proxy(Proxy),
    /// On the barrier of the cluster.
    Cluster(Cluster),
    /// `bar.warp.sync`.
    WarpSync,
    /// `elect.sync`.
    Elect,
    /// `setmaxnreg`; the flag says `.inc`.
    Registers(bool),
    /// `griddepcontrol`: the other grid always comes to its end.
    Grid,
}

static MNEMONICS: LazyLock<Mnemonics<Operation>> = LazyLock::new(|| {
    let mut mnemonics = Mnemonics::new(Target::Ptx);
    // clause: ptx.bar-is-aligned
    let spellings = [("bar", "", true), ("barrier", "", false), ("barrier", ".aligned", true)];
    let reductions = [
        (ReductionOp::Popc, "popc", "u32"),
        (ReductionOp::And, "and", "pred"),
        (ReductionOp::Or, "or", "pred"),
    ];
    for (name, suffix, aligned) in spellings {
        // clause: ptx.cta-qualifier
        for cta in ["", ".cta"] {
            let mut add = |operation, text: String| {
                mnemonics.add(operation, text);
                if name != "bar" || !cta.is_empty() {
                    mnemonics.mark_alias();
                }
            };
            add(Operation::Sync(aligned), format!("{name}{cta}.sync{suffix}"));
            add(Operation::Arrive(aligned), format!("{name}{cta}.arrive{suffix}"));
            for (op, op_text, ty) in reductions {
                add(Operation::Red(op, aligned), format!("{name}{cta}.red.{op_text}{suffix}.{ty}"));
            }
        }
    }
    fences(|fence, text, is_alias| {
        mnemonics.add(Operation::Fence(fence), text);
        if is_alias {
            mnemonics.mark_alias();
        }
    });
    for (name, takes) in [("inc", true), ("dec", false)] {
        mnemonics.add(Operation::Registers(takes), format!("setmaxnreg.{name}"));
        mnemonics.add(Operation::Registers(takes), format!("setmaxnreg.{name}.sync.aligned.u32"));
        mnemonics.mark_alias();
    }
    mnemonics.add(Operation::WarpSync, "bar.warp.sync");
    mnemonics.add_of(Form::JoinedWords, Operation::Elect, "elect.sync");
    mnemonics.add(Operation::Grid, "griddepcontrol.wait");
    mnemonics.add(Operation::Grid, "griddepcontrol.launch_dependents");
    cluster::spellings(|operation, text, is_alias| {
        mnemonics.add(Operation::Cluster(operation), text);
        if is_alias {
            mnemonics.mark_alias();
        }
    });
    proxy::spellings(|operation, text, is_alias| {
        mnemonics.add_of(Form::Places, Operation::Proxy(operation), text);
        if is_alias {
            mnemonics.mark_alias();
        }
    });
    spellings::of_objects(|operation, text, is_alias| {
        mnemonics.add_of(Form::Places, Operation::Mbarrier(operation), text);
        if is_alias {
            mnemonics.mark_alias();
        }
    });
    mnemonics
});

/// Calls `add` with all spellings of fences, what each does, and whether it is an alias.
// clause: ptx.fence-release, ptx.fence-acquire
fn fences(mut add: impl FnMut(Fence, String, bool)) {
    let reaches =
        [("cta", Reach::Cta), ("cluster", Reach::Cluster), ("gpu", Reach::Cluster), ("sys", Reach::Cluster)];
    let both = |reach| Fence::Orders { reach, acquires: true, releases: true };
    add(both(Reach::Cta), "membar.cta".to_owned(), false);
    for (scope, reach) in reaches {
        let is_alias = ["gpu", "sys"].contains(&scope);
        add(both(reach), format!("fence.acq_rel.{scope}"), is_alias);
        add(both(reach), format!("fence.sc.{scope}"), true);
        let acquires = Fence::Orders { reach, acquires: true, releases: false };
        add(acquires, format!("fence.acquire.{scope}"), is_alias);
        let releases = Fence::Orders { reach, acquires: false, releases: true };
        add(releases, format!("fence.release.{scope}"), is_alias);
    }
    for level in ["gl", "sys"] {
        add(both(Reach::Cluster), format!("membar.{level}"), true);
    }
}
