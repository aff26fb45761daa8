//! Edits of `mbarrier_pingpong_attention.bar`.

use super::Class::*;
use super::Outcome::*;
use super::{Kernel, Mutant};

/// Attention in ping-pong.
pub(crate) const KERNEL: Kernel = Kernel {
    file: "mbarrier_pingpong_attention",
    title: "Attention in ping-pong",
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
            from: "empty[STAGES] count 8",
            to: "empty[STAGES] count 4",
            edit: "`empty` expects 4 arrivals",
            outcome: Found("unobserved-phase"),
        },
        Mutant {
            class: Count,
            from: "bar.sync 2, 256;",
            to: "bar.sync 2, 128;",
            edit: "the second group waits for 128 threads",
            outcome: Found("repeated-arrival"),
        },
        Mutant {
            class: Count,
            from: concat!("bar.arrive 1, 256;\n", "    let i",),
            to: concat!("bar.arrive 1, 128;\n", "    let i",),
            edit: "the second group's first arrival counts 128 threads",
            outcome: Found("count-mismatch"),
        },
        Mutant {
            class: Bytes,
            from: "kv[i % STAGES], 16384",
            to: "kv[i % STAGES], 32768",
            edit: "twice the bytes are copied",
            outcome: Found("over-delivery"),
        },
        Mutant {
            class: Bytes,
            from: concat!("full[i % STAGES], 16384;\n", "            cp",),
            to: concat!("full[i % STAGES], 32768;\n", "            cp",),
            edit: "twice the bytes are announced",
            outcome: Found("deadlock"),
        },
        Mutant {
            class: Parity,
            from: "(i / STAGES) & 1 ^ 1",
            to: "(i / STAGES) & 1",
            edit: "the loader's first wait has parity 0",
            outcome: Found("deadlock"),
        },
        Mutant {
            class: Parity,
            from: concat!("full[i % STAGES], (i / STAGES) & 1;\n", "        bar.sync 2",),
            to: concat!("full[i % STAGES], 0;\n", "        bar.sync 2",),
            edit: "the second group waits for parity 0 in every round",
            outcome: Found("deadlock"),
        },
        Mutant {
            class: Stage,
            from: concat!("read kv[i % STAGES];\n", "        bar.arrive 2",),
            to: concat!("read kv[0];\n", "        bar.arrive 2",),
            edit: "the first group reads stage 0 in every round",
            outcome: Found("data-race"),
        },
        Mutant {
            class: Stage,
            from: concat!(
                "mbarrier.arrive empty[i % STAGES]; }\n",
                "        i = i + 1;\n",
                "    }\n",
                "    bar.sync 1",
            ),
            to: concat!("mbarrier.arrive empty[0]; }\n", "        i = i + 1;\n", "    }\n", "    bar.sync 1",),
            edit: "the first group gives back stage 0 in every round",
            outcome: Found("unobserved-phase"),
        },
        Mutant {
            class: Order,
            from: concat!(
                "read kv[i % STAGES];\n",
                "        bar.arrive 2, 256;\n",
                "        if lane == 0 { mbarrier.arrive empty[i % STAGES]; }",
            ),
            to: concat!(
                "if lane == 0 { mbarrier.arrive empty[i % STAGES]; }\n",
                "        read kv[i % STAGES];\n",
                "        bar.arrive 2, 256;",
            ),
            edit: "the first group gives a stage back before it reads it",
            outcome: Equivalent(
                "the second group gives it back after barrier 2, which the first arrives on after its read",
            ),
        },
        Mutant {
            class: Order,
            from: concat!(
                "bar.sync 2, 256;\n",
                "        read kv[i % STAGES];\n",
                "        bar.arrive 1, 256;",
            ),
            to: concat!("bar.arrive 1, 256;\n", "        read kv[i % STAGES];\n", "        bar.sync 2, 256;",),
            edit: "the second group hands over before its turn",
            outcome: Found("repeated-arrival"),
        },
        Mutant {
            class: Order,
            from: concat!(
                "mbarrier.wait.parity full[i % STAGES], (i / STAGES) & 1;\n",
                "        bar.sync 1, 256;",
            ),
            to: concat!(
                "bar.sync 1, 256;\n",
                "        mbarrier.wait.parity full[i % STAGES], (i / STAGES) & 1;",
            ),
            edit: "the first group takes its turn before it waits for the stage",
            outcome: Equivalent("the loader waits for no turn"),
        },
        Mutant {
            class: Missing,
            from: concat!("    bar.arrive 1, 256;\n", "    let i",),
            to: "    let i",
            edit: "nobody gives the first turn",
            outcome: Found("deadlock"),
        },
        Mutant {
            class: Missing,
            from: concat!("    }\n", "    bar.sync 1, 256;\n", "}",),
            to: concat!("    }\n", "}",),
            edit: "the last arrival on barrier 1 is taken by nobody",
            outcome: Found("dangling-arrival"),
        },
        Mutant {
            class: Missing,
            from: "        bar.arrive 2, 256;\n",
            to: "",
            edit: "the first group hands over no turn",
            outcome: Found("deadlock"),
        },
        Mutant {
            class: Extra,
            from: concat!("    bar.arrive 1, 256;\n", "    let i",),
            to: concat!("    bar.arrive 1, 256;\n", "    bar.arrive 1, 256;\n", "    let i",),
            edit: "the first turn is given twice",
            outcome: Found("repeated-arrival"),
        },
        Mutant {
            class: Extra,
            from: concat!("        bar.arrive 2, 256;\n", "        if lane == 0 {",),
            to: concat!("        bar.arrive 2, 256;\n", "        if lane < 2 {",),
            edit: "two lanes of the first group give a stage back",
            outcome: Found("unobserved-phase"),
        },
        Mutant {
            class: Order,
            from: concat!(
                "bar.arrive 2, 256;\n",
                "        if lane == 0 { mbarrier.arrive empty[i % STAGES]; }",
            ),
            to: concat!(
                "if lane == 0 { mbarrier.arrive empty[i % STAGES]; }\n",
                "        bar.arrive 2, 256;",
            ),
            edit: "the first group gives the stage back before it hands over",
            outcome: Equivalent("both come after the read, and neither waits"),
        },
    ],
};
