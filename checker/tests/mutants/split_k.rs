//! Edits of `cluster_split_k.bar`.

use super::Class::*;
use super::Outcome::*;
use super::{Kernel, Mutant};

/// Partial sums over a cluster.
pub(crate) const KERNEL: Kernel = Kernel {
    file: "cluster_split_k",
    title: "Partial sums over a cluster",
    mutants: &[
        Mutant {
            class: Count,
            from: "empty[STAGES] count 2",
            to: "empty[STAGES] count 1",
            edit: "`empty` expects 1 arrival",
            outcome: Found("unobserved-phase"),
        },
        Mutant {
            class: Count,
            from: "taken count 1",
            to: "taken count 2",
            edit: "`taken` expects 2 arrivals",
            outcome: Found("deadlock"),
        },
        Mutant {
            class: Count,
            from: "bar.sync 1, 64",
            to: "bar.sync 1, 96",
            edit: "barrier 1 waits for 96 threads",
            outcome: Found("deadlock"),
        },
        Mutant {
            class: Bytes,
            from: "summed, 16384",
            to: "summed, 8192",
            edit: "the bytes of one CTA are announced",
            outcome: Found("unobserved-phase"),
        },
        Mutant {
            class: Bytes,
            from: "partial[cluster_ctarank], 8192",
            to: "partial[cluster_ctarank], 4096",
            edit: "half of a partial sum is sent",
            outcome: Found("deadlock"),
        },
        Mutant {
            class: Parity,
            from: "summed, tile & 1",
            to: "summed, 0",
            edit: "CTA 0 waits for parity 0 in every tile",
            outcome: Found("deadlock"),
        },
        Mutant {
            class: Parity,
            from: "taken, tile & 1 ^ 1",
            to: "taken, tile & 1",
            edit: "the first wait for a free place has parity 0",
            outcome: Found("deadlock"),
        },
        Mutant {
            class: Parity,
            from: "taken, tile & 1 ^ 1",
            to: "taken, 1",
            edit: "the others wait for parity 1 in every tile",
            outcome: Found("data-race"),
        },
        Mutant {
            class: Parity,
            from: "full[s], (i / STAGES) & 1;",
            to: "full[s], 0;",
            edit: "the math warps wait for parity 0 in every round",
            outcome: Found("data-race"),
        },
        Mutant {
            class: Stage,
            from: "st.async partial[cluster_ctarank]",
            to: "st.async partial[1]",
            edit: "all CTAs send to one place",
            outcome: Found("data-race"),
        },
        Mutant {
            class: Stage,
            from: "tensor buf[s], 32768, full[s]",
            to: "tensor buf[s], 32768, full[(s + 1) % STAGES]",
            edit: "a copy completes on the next stage",
            outcome: Found("data-race"),
        },
        Mutant {
            class: Stage,
            from: "read buf[s]",
            to: "read buf[0]",
            edit: "stage 0 is read in every round",
            outcome: Found("data-race"),
        },
        Mutant {
            class: Order,
            from: concat!(
                "                read partial[2];\n",
                "                for c in 1..3 { if lane == 0 { mbarrier.arrive.release.cluster taken @ cta c; } }",
            ),
            to: concat!(
                "                for c in 1..3 { if lane == 0 { mbarrier.arrive.release.cluster taken @ cta c; } }\n",
                "                read partial[2];",
            ),
            edit: "places are given back before the last is read",
            outcome: Found("data-race"),
        },
        Mutant {
            class: Order,
            from: concat!(
                "            read buf[s];\n",
                "            if lane == 0 { mbarrier.arrive empty[s]; }",
            ),
            to: concat!(
                "            if lane == 0 { mbarrier.arrive empty[s]; }\n",
                "            read buf[s];",
            ),
            edit: "a stage is given back before it is read",
            outcome: Found("data-race"),
        },
        Mutant {
            class: Order,
            from: "                mbarrier.wait.parity taken, tile & 1 ^ 1;\n",
            to: "",
            edit: "the others do not wait until their place is free",
            outcome: Found("data-race"),
        },
        Mutant {
            class: Order,
            from: "        bar.sync 1, 64;\n",
            to: "",
            edit: "warp 1 does not wait for what warp 2 has added up",
            outcome: Found("data-race"),
        },
        Mutant {
            class: Order,
            from: "        bar.sync 2, 64;\n",
            to: "",
            edit: "warp 2 does not wait until warp 1 has read its part",
            outcome: Equivalent(
                "a tile has more rounds than the ring has stages, so warp 2 needs a stage that warp 1 gives back after its read",
            ),
        },
        Mutant {
            class: Count,
            from: "bar.sync 2, 64",
            to: "bar.sync 2, 32",
            edit: "barrier 2 waits for 32 threads",
            outcome: Found("arrival-race"),
        },
        Mutant {
            class: Missing,
            from: "for c in 1..3 { if",
            to: "for c in 1..2 { if",
            edit: "the place of CTA 2 is not given back",
            outcome: Found("deadlock"),
        },
        Mutant {
            class: Missing,
            from: "{ mbarrier.arrive.expect_tx summed, 16384; }",
            to: "{ mbarrier.expect_tx summed, 16384; }",
            edit: "bytes are announced without an arrival",
            outcome: Found("deadlock"),
        },
        Mutant {
            class: Extra,
            from: "for c in 1..3 { if",
            to: "for c in 0..3 { if",
            edit: "CTA 0 arrives on its own `taken` as well",
            outcome: Found("unobserved-phase"),
        },
        Mutant {
            class: Extra,
            from: "if lane == 0 { mbarrier.arrive empty[s]; }",
            to: "mbarrier.arrive empty[s];",
            edit: "all lanes give a stage back",
            outcome: Found("over-arrival"),
        },
        Mutant {
            class: Scope,
            from: "arrive.release.cluster taken",
            to: "arrive.release.cta taken",
            edit: "places are given back with `.release.cta`",
            outcome: Found("missing-fence"),
        },
        Mutant {
            class: Order,
            from: concat!("    barrier.cluster.arrive;\n", "    barrier.cluster.wait;\n", "}\n", "warps",),
            to: concat!("}\n", "warps",),
            edit: "the loaders exit without the barrier of the cluster",
            outcome: Equivalent("a CTA is there until its last warp exits, and an exit counts as an arrival"),
        },
    ],
};
