//! Edits of `mbarrier_tma_pipeline.bar`.

use super::Class::*;
use super::Outcome::*;
use super::{Kernel, Mutant};

/// A pipeline of load, math and epilogue.
pub(crate) const KERNEL: Kernel = Kernel {
    file: "mbarrier_tma_pipeline",
    title: "A pipeline of load, math and epilogue",
    mutants: &[
        Mutant {
            class: Count,
            from: "full[STAGES] count 1",
            to: "full[STAGES] count 2",
            edit: "`full` expects 2 arrivals",
            outcome: Found("deadlock"),
        },
        Mutant {
            class: Count,
            from: "empty[STAGES] count 4",
            to: "empty[STAGES] count 3",
            edit: "`empty` expects 3 arrivals",
            outcome: Found("data-race"),
        },
        Mutant {
            class: Count,
            from: "taken count 4",
            to: "taken count 5",
            edit: "`taken` expects 5 arrivals",
            outcome: Found("deadlock"),
        },
        Mutant {
            class: Bytes,
            from: "full[i % STAGES], 32768",
            to: "full[i % STAGES], 16384",
            edit: "half of the bytes are announced",
            outcome: Found("stale-completion"),
        },
        Mutant {
            class: Bytes,
            from: "a[i % STAGES], 16384",
            to: "a[i % STAGES], 8192",
            edit: "half of the bytes of `a` are copied",
            outcome: Found("deadlock"),
        },
        Mutant {
            class: Parity,
            from: "empty[i % STAGES], (i / STAGES) & 1 ^ 1",
            to: "empty[i % STAGES], (i / STAGES) & 1",
            edit: "the loader's first wait has parity 0",
            outcome: Found("deadlock"),
        },
        Mutant {
            class: Parity,
            from: "empty[i % STAGES], (i / STAGES) & 1 ^ 1",
            to: "empty[i % STAGES], 1",
            edit: "the loader waits for parity 1 in every round",
            outcome: Found("over-arrival"),
        },
        Mutant {
            class: Parity,
            from: "full[i % STAGES], (i / STAGES) & 1;",
            to: "full[i % STAGES], 0;",
            edit: "the math warps wait for parity 0 in every round",
            outcome: Found("data-race"),
        },
        Mutant {
            class: Parity,
            from: "taken, tile & 1 ^ 1",
            to: "taken, 1",
            edit: "the math warps wait for `taken` with parity 1 in every tile",
            outcome: Found("deadlock"),
        },
        Mutant {
            class: Parity,
            from: "done, tile & 1",
            to: "done, tile & 1 ^ 1",
            edit: "the epilogue's parity is the other one",
            outcome: Found("deadlock"),
        },
        Mutant {
            class: Stage,
            from: "b[i % STAGES], 16384, full[i % STAGES]",
            to: "b[i % STAGES], 16384, full[0]",
            edit: "the copy of `b` completes on stage 0",
            outcome: Found("stale-completion"),
        },
        Mutant {
            class: Stage,
            from: "read a[i % STAGES]",
            to: "read a[(i + 1) % STAGES]",
            edit: "the next stage of `a` is read",
            outcome: Found("data-race"),
        },
        Mutant {
            class: Stage,
            from: "full[i % STAGES], (i / STAGES) & 1;",
            to: "full[(i + 1) % STAGES], (i / STAGES) & 1;",
            edit: "the math warps wait for the next stage",
            outcome: Found("data-race"),
        },
        Mutant {
            class: Order,
            from: concat!(
                "            read b[i % STAGES];\n",
                "            if lane == 0 { mbarrier.arrive empty[i % STAGES]; }",
            ),
            to: concat!(
                "            if lane == 0 { mbarrier.arrive empty[i % STAGES]; }\n",
                "            read b[i % STAGES];",
            ),
            edit: "a stage is given back before `b` is read",
            outcome: Found("data-race"),
        },
        Mutant {
            class: Order,
            from: concat!("        read accumulator;\n", "        if lane == 0 { mbarrier.arrive taken; }",),
            to: concat!("        if lane == 0 { mbarrier.arrive taken; }\n", "        read accumulator;",),
            edit: "the accumulator is given back before it is read",
            outcome: Found("data-race"),
        },
        Mutant {
            class: Order,
            from: concat!(
                "                mbarrier.arrive.expect_tx full[i % STAGES], 32768;\n",
                "                cp.async.bulk.tensor a[i % STAGES], 16384, full[i % STAGES];",
            ),
            to: concat!(
                "                cp.async.bulk.tensor a[i % STAGES], 16384, full[i % STAGES];\n",
                "                mbarrier.arrive.expect_tx full[i % STAGES], 32768;",
            ),
            edit: "the copy of `a` begins before its bytes are announced",
            outcome: Equivalent("the phase waits for the arrival that announces them"),
        },
        Mutant {
            class: Missing,
            from: "if lane == 0 { mbarrier.arrive done; }",
            to: "",
            edit: "the math warps do not arrive on `done`",
            outcome: Found("deadlock"),
        },
        Mutant {
            class: Missing,
            from: "mbarrier.arrive.expect_tx full",
            to: "mbarrier.expect_tx full",
            edit: "bytes are announced without an arrival",
            outcome: Found("deadlock"),
        },
        Mutant {
            class: Extra,
            from: "if lane == 0 { mbarrier.arrive done; }",
            to: "if lane == 0 { mbarrier.arrive done, 2; }",
            edit: "the math warps arrive on `done` twice each",
            outcome: Found("deadlock"),
        },
        Mutant {
            class: Extra,
            from: "if lane == 0 { mbarrier.arrive taken; }",
            to: "mbarrier.arrive taken;",
            edit: "all lanes of the epilogue arrive on `taken`",
            outcome: Found("over-arrival"),
        },
        Mutant {
            class: Order,
            from: concat!(
                "        mbarrier.wait.parity taken, tile & 1 ^ 1;\n",
                "        for k in 0..TRIPS {\n",
                "            mbarrier.wait.parity full",
            ),
            to: concat!(
                "        for k in 0..TRIPS {\n",
                "            mbarrier.wait.parity taken, tile & 1 ^ 1;\n",
                "            mbarrier.wait.parity full",
            ),
            edit: "the math warps wait for `taken` in every round of a tile",
            outcome: Equivalent("its phase stays the same until the tile is done"),
        },
    ],
};
