//! What a report for scripts says of how a protocol was extracted from a kernel.

use super::place::{JsonPlace, place};
use barcheck_specs::{Accesses, Extracted, Launched};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
pub(crate) struct JsonExtraction<'a> {
    group: JsonGroup,
    instructions: JsonInstructions,
    barriers: &'a BTreeMap<String, usize>,
    /// None where accesses are not looked at.
    accesses: Option<JsonAccesses<'a>>,
}

/// What the kernel is launched with.
#[derive(Serialize)]
struct JsonGroup {
    size: [u32; 3],
    unit: &'static str,
    cluster: [u32; 3],
    /// Who says the size.
    from: &'static str,
}

#[derive(Serialize)]
struct JsonInstructions {
    read: usize,
    relevant: usize,
}

#[derive(Serialize)]
struct JsonAccesses<'a> {
    followed: usize,
    not_followed: Vec<JsonPlace>,
    /// Why data races are not decided, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    undecided: Option<&'a str>,
}

fn accesses(accesses: &Accesses) -> JsonAccesses<'_> {
    JsonAccesses {
        followed: accesses.followed,
        not_followed: accesses.others.iter().copied().map(place).collect(),
        undecided: accesses.undecided.as_deref(),
    }
}

pub(crate) fn extraction(extracted: &Extracted) -> JsonExtraction<'_> {
    let Launched { size, unit, cluster, from } = extracted.launch;
    JsonExtraction {
        group: JsonGroup { size, unit, cluster, from: from.name() },
        instructions: JsonInstructions { read: extracted.instructions, relevant: extracted.kept },
        barriers: &extracted.barriers,
        accesses: extracted.memory.as_ref().map(accesses),
    }
}
