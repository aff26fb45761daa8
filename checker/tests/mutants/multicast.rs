//! Edits of `cluster_multicast_tiles.bar`.

use super::Class::*;
use super::Outcome::*;
use super::{Kernel, Mutant};

/// A pair of CTAs with multicast.
pub(crate) const KERNEL: Kernel = Kernel {
    file: "cluster_multicast_tiles",
    title: "A pair of CTAs with multicast",
    mutants: &[
        Mutant {
            class: Count,
            from: "empty[STAGES] count 4",
            to: "empty[STAGES] count 2",
            edit: "`empty` expects the arrivals of one CTA",
            outcome: Found("over-arrival"),
        },
        Mutant {
            class: Count,
            from: "full[STAGES] count 1",
            to: "full[STAGES] count 2",
            edit: "`full` expects 2 arrivals",
            outcome: Found("deadlock"),
        },
        Mutant {
            class: Bytes,
            from: "full[s], 4096",
            to: "full[s], 2048",
            edit: "the bytes of one half are announced",
            outcome: Found("stale-completion"),
        },
        Mutant {
            class: Bytes,
            from: "cluster_ctarank], 2048",
            to: "cluster_ctarank], 4096",
            edit: "each CTA sends twice the bytes",
            outcome: Found("stale-completion"),
        },
        Mutant {
            class: Bytes,
            from: "full[s], 3;",
            to: "full[s], 1;",
            edit: "the halves go to CTA 0 alone",
            outcome: Found("deadlock"),
        },
        Mutant {
            class: Parity,
            from: "& 1 ^ 1;",
            to: "& 1;",
            edit: "the loader's first wait has parity 0",
            outcome: Found("deadlock"),
        },
        Mutant {
            class: Parity,
            from: "empty[s], (i / STAGES) & 1 ^ 1;",
            to: "empty[s], 1;",
            edit: "the loader waits for parity 1 in every round",
            outcome: Found("over-arrival"),
        },
        Mutant {
            class: Parity,
            from: "full[s], (i / STAGES) & 1;",
            to: "full[s], i & 1;",
            edit: "the parity is that of the round, not of the ring",
            outcome: Found("deadlock"),
        },
        Mutant {
            class: Stage,
            from: "buf[2 * s + cluster_ctarank]",
            to: "buf[2 * s]",
            edit: "both CTAs send the first half",
            outcome: Found("data-race"),
        },
        Mutant {
            class: Stage,
            from: "read buf[2 * s + 1];",
            to: "read buf[(2 * s + 3) % (2 * STAGES)];",
            edit: "the second half of the other stage is read",
            outcome: Found("data-race"),
        },
        Mutant {
            class: Stage,
            from: "2048, full[s], 3",
            to: "2048, full[0], 3",
            edit: "every copy completes on stage 0",
            outcome: Found("stale-completion"),
        },
        Mutant {
            class: Order,
            from: concat!(
                "            read buf[2 * s + 1];\n",
                "            for c in 0..2 { if lane == 0 { mbarrier.arrive.release.cluster empty[s] @ cta c; } }",
            ),
            to: concat!(
                "            for c in 0..2 { if lane == 0 { mbarrier.arrive.release.cluster empty[s] @ cta c; } }\n",
                "            read buf[2 * s + 1];",
            ),
            edit: "a stage is given back before its second half is read",
            outcome: Found("data-race"),
        },
        Mutant {
            class: Order,
            from: concat!("    barrier.cluster.arrive;\n", "    barrier.cluster.wait;\n", "}\n", "warps",),
            to: concat!("}\n", "warps",),
            edit: "the loaders exit without the barrier of the cluster",
            outcome: Equivalent("a CTA is there until its last warp exits, and an exit counts as an arrival"),
        },
        Mutant {
            class: Order,
            from: concat!(
                "                mbarrier.arrive.expect_tx full[s], 4096;\n",
                "                cp.async.bulk.multicast::cluster buf[2 * s + cluster_ctarank], 2048, full[s], 3;",
            ),
            to: concat!(
                "                cp.async.bulk.multicast::cluster buf[2 * s + cluster_ctarank], 2048, full[s], 3;\n",
                "                mbarrier.arrive.expect_tx full[s], 4096;",
            ),
            edit: "copies begin before their bytes are announced",
            outcome: Equivalent("the phase waits for the arrival that announces them"),
        },
        Mutant {
            class: Missing,
            from: "for c in 0..2 {",
            to: "for c in 0..1 {",
            edit: "stages are given back to CTA 0 alone",
            outcome: Found("deadlock"),
        },
        Mutant {
            class: Missing,
            from: "empty[s] @ cta c",
            to: "empty[s] @ cta cluster_ctarank",
            edit: "stages are given back to the own CTA alone, twice",
            outcome: Found("data-race"),
        },
        Mutant {
            class: Extra,
            from: "if lane == 0 { mbarrier.arrive.release",
            to: "if lane < 2 { mbarrier.arrive.release",
            edit: "two lanes give a stage back",
            outcome: Found("over-arrival"),
        },
        Mutant {
            class: Extra,
            from: concat!("    barrier.cluster.arrive;\n", "    barrier.cluster.wait;\n", "}\n", "warps",),
            to: concat!(
                "    barrier.cluster.arrive;\n",
                "    barrier.cluster.arrive;\n",
                "    barrier.cluster.wait;\n",
                "}\n",
                "warps",
            ),
            edit: "the loaders arrive twice on the barrier of the cluster",
            outcome: Found("repeated-arrival"),
        },
        Mutant {
            class: Scope,
            from: "arrive.release.cluster",
            to: "arrive.release.cta",
            edit: "stages are given back with `.release.cta`",
            outcome: Found("missing-fence"),
        },
        Mutant {
            class: Scope,
            from: "arrive.release.cluster",
            to: "arrive.relaxed.cluster",
            edit: "stages are given back with `.relaxed`",
            outcome: Found("missing-fence"),
        },
    ],
};
