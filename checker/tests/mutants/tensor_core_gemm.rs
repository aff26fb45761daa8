//! Edits of `mbarrier_tensor_core_gemm.bar`.

use super::Class::*;
use super::Outcome::*;
use super::{Kernel, Mutant};

/// A GEMM with commits and a tile scheduler.
pub(crate) const KERNEL: Kernel = Kernel {
    file: "mbarrier_tensor_core_gemm",
    title: "A GEMM with commits and a tile scheduler",
    mutants: &[
        Mutant {
            class: Count,
            from: "taken count 4",
            to: "taken count 3",
            edit: "`taken` expects 3 arrivals",
            outcome: Found("unobserved-phase"),
        },
        Mutant {
            class: Count,
            from: "heard count 6",
            to: "heard count 5",
            edit: "`heard` expects 5 arrivals",
            outcome: Found("unobserved-phase"),
        },
        Mutant {
            class: Count,
            from: "empty[STAGES] count 1",
            to: "empty[STAGES] count 2",
            edit: "`empty` expects 2 arrivals",
            outcome: Found("deadlock"),
        },
        Mutant {
            class: Bytes,
            from: concat!("answered, 16;\n", "            cp",),
            to: concat!("answered, 32;\n", "            cp",),
            edit: "32 bytes of an answer are announced",
            outcome: Found("deadlock"),
        },
        Mutant {
            class: Bytes,
            from: "tile[i % STAGES], 32768",
            to: "tile[i % STAGES], 16384",
            edit: "half of a tile is copied",
            outcome: Found("deadlock"),
        },
        Mutant {
            class: Parity,
            from: "heard, t & 1 ^ 1",
            to: "heard, 1",
            edit: "the scheduler waits for parity 1 in every round",
            outcome: Found("over-arrival"),
        },
        Mutant {
            class: Parity,
            from: concat!("empty[i % STAGES], (i / STAGES) & 1 ^ 1;\n", "            if",),
            to: concat!("empty[i % STAGES], (i / STAGES) & 1;\n", "            if",),
            edit: "the loader's first wait has parity 0",
            outcome: Found("deadlock"),
        },
        Mutant {
            class: Parity,
            from: "taken, t & 1 ^ 1",
            to: "taken, t & 1",
            edit: "the first wait for the accumulator has parity 0",
            outcome: Found("deadlock"),
        },
        Mutant {
            class: Parity,
            from: "done, t & 1;",
            to: "done, 0;",
            edit: "the epilogue waits for parity 0 in every tile",
            outcome: Found("unobserved-phase"),
        },
        Mutant {
            class: Stage,
            from: "tcgen05.commit empty[i % STAGES]",
            to: "tcgen05.commit empty[(i + 1) % STAGES]",
            edit: "the commit gives the next stage back",
            outcome: Found("unobserved-phase"),
        },
        Mutant {
            class: Stage,
            from: "read tile[i % STAGES];",
            to: "read tile[(i + 1) % STAGES];",
            edit: "the tensor core reads the next stage",
            outcome: Found("data-race"),
        },
        Mutant {
            class: Stage,
            from: "tile[i % STAGES], 32768, full[i % STAGES]",
            to: "tile[0], 32768, full[i % STAGES]",
            edit: "every copy writes stage 0",
            outcome: Found("data-race"),
        },
        Mutant {
            class: Order,
            from: concat!(
                "        read response;\n",
                "        if lane == 0 { mbarrier.arrive heard; }\n",
                "        mbarrier.wait.parity taken",
            ),
            to: concat!(
                "        if lane == 0 { mbarrier.arrive heard; }\n",
                "        read response;\n",
                "        mbarrier.wait.parity taken",
            ),
            edit: "an answer is given back before it is read",
            outcome: Found("data-race"),
        },
        Mutant {
            class: Order,
            from: concat!("        write accumulator;\n", "        if lane == 0 { tcgen05.commit done; }",),
            to: concat!("        if lane == 0 { tcgen05.commit done; }\n", "        write accumulator;",),
            edit: "the accumulator is committed before it is written",
            outcome: Found("data-race"),
        },
        Mutant {
            class: Order,
            from: concat!(
                "            read tile[i % STAGES];\n",
                "            if lane == 0 { tcgen05.commit empty[i % STAGES]; }",
            ),
            to: concat!(
                "            if lane == 0 { tcgen05.commit empty[i % STAGES]; }\n",
                "            read tile[i % STAGES];",
            ),
            edit: "a stage is committed before it is read",
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
            class: Missing,
            from: "        mbarrier.wait.parity taken, t & 1 ^ 1;\n",
            to: "",
            edit: "nobody waits until the accumulator is free",
            outcome: Found("data-race"),
        },
        Mutant {
            class: Missing,
            from: "        if lane == 0 { tcgen05.commit done; }\n",
            to: "",
            edit: "the accumulator is not committed",
            outcome: Found("deadlock"),
        },
        Mutant {
            class: Missing,
            from: concat!("        if lane == 0 { mbarrier.arrive heard; }\n", "        for k",),
            to: "        for k",
            edit: "the loader does not say that it has heard",
            outcome: Found("deadlock"),
        },
        Mutant {
            class: Extra,
            from: "tcgen05.commit empty[i % STAGES]; }",
            to: "tcgen05.commit empty[i % STAGES]; tcgen05.commit empty[i % STAGES]; }",
            edit: "a stage is committed twice",
            outcome: Found("stale-completion"),
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
                "    for s in 0..STAGES {\n",
                "        mbarrier.wait.parity empty[i % STAGES], (i / STAGES) & 1 ^ 1;\n",
                "        i = i + 1;\n",
                "    }\n",
            ),
            to: "",
            edit: "the last commits are not waited for",
            outcome: Equivalent("at the usual levels: `commit-at-exit` is told with `--strict` alone"),
        },
        Mutant {
            class: Order,
            from: concat!(
                "        if lane == 0 { mbarrier.arrive heard; }\n",
                "        mbarrier.wait.parity taken, t & 1 ^ 1;",
            ),
            to: concat!(
                "        mbarrier.wait.parity taken, t & 1 ^ 1;\n",
                "        if lane == 0 { mbarrier.arrive heard; }",
            ),
            edit: "the answer is given back after the wait for the accumulator",
            outcome: Equivalent("whoever gives the accumulator back has its answer already"),
        },
    ],
};
