//! `ptx`: barriers of phases, what is in flight, and clusters.

use super::tables::declare;
use crate::columns::{Barriers, Columns, Sort};
use crate::group::{ExportError, Group};
use crate::node::Step;
use crate::systems::{self, Operation};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Barriers that a byte has numbers for, one of which stands for none.
const MOST_BARRIERS: usize = 250;

/// Whether SPIN takes so many barriers.
///
/// # Errors
/// There are more barriers than numbers for them.
pub(super) fn check(barriers: &Barriers) -> Result<(), ExportError> {
    match barriers.numbers().count() {
        there if there > MOST_BARRIERS => Err(ExportError::TooMany("barriers", there, MOST_BARRIERS)),
        _ => Ok(()),
    }
}

/// Whether steps are to be looked at for CTAs that have exited.
pub(super) fn checks_reach(group: &Group) -> bool {
    group.steps().any(|step| step.reaches > 0)
}

/// What can be in flight, by the first row that leaves it there.
pub(super) struct Operations {
    rows: BTreeMap<Operation, usize>,
    /// The protocol has barriers of phases, or several CTAs.
    used: bool,
    slots: usize,
}

impl Operations {
    pub(super) fn of(group: &Group) -> Self {
        let mut rows = BTreeMap::new();
        for (row, step) in group.steps().enumerate() {
            if let Some(operation) = systems::operation(step) {
                rows.entry(operation).or_insert(row);
            }
        }
        let is_phased = |step: &Step| systems::sort(&step.act) != Sort::Generations;
        let used = group.program.ctas > 1 || group.steps().any(is_phased);
        Self { rows, used, slots: group.slots() }
    }

    /// The columns of a step.
    pub(super) fn fill(&self, step: &Step, columns: &mut Columns) {
        if self.used {
            systems::fill_phased(step, columns);
            let row = systems::operation(step).map_or(0, |operation| self.rows[&operation]);
            columns.push("step_operation", row);
        }
    }

    /// The text and the declarations.
    pub(super) fn write(&self, group: &Group, barriers: &Barriers, out: &mut String) {
        if self.used {
            if self.slots == 0 {
                out.push_str("\n#define count_flying() skip\n");
            }
            self.write_reach(group, barriers, out);
            write_objects(group, barriers, out);
        }
        if self.slots > 0 {
            let _ = writeln!(out, "\n#define SLOTS {}", self.slots);
            out.push_str(include_str!("flight.pml"));
        }
        match barriers.of_sort(Sort::Cluster).count() {
            0 => out.push_str("#define settle_cluster() skip\n"),
            _ => out.push_str(include_str!("cluster.pml")),
        }
        out.push('\n');
    }

    fn write_reach(&self, group: &Group, barriers: &Barriers, out: &mut String) {
        let objects = barriers.of_sort(Sort::Object).count();
        let _ = write!(
            out,
            "\n#define OBJECTS {objects}\n#define CLUSTER (BARRIERS + OBJECTS)\nhidden byte found;\n"
        );
        if group.program.ctas > 1 {
            let mut homes = vec![0; barriers.len()];
            for (number, id) in barriers.numbers() {
                homes.resize(homes.len().max(number + 1), 0);
                homes[number] = group.program.home(id).map_or(0, |home| home.cta as usize);
            }
            declare(out, "hidden ", "home_of", &homes);
            out.push_str("#define HOME_OF(bar) home_of[bar]\n");
        } else {
            out.push_str("#define HOME_OF(bar) 0\n");
        }
        if self.slots > 0 || checks_reach(group) {
            out.push_str(include_str!("reach.pml"));
        }
        match checks_reach(group) {
            true => out.push_str(include_str!("remote.pml")),
            false => out.push_str("#define reach() found = 0\n"),
        }
    }

    /// The process that lets land what is in flight.
    pub(super) fn process(&self, group: &Group, out: &mut String) {
        if self.slots == 0 {
            return;
        }
        let goes = match group.asserts_stuck_agent() {
            true => "!ended && LANDING_GOES",
            false => "!ended",
        };
        let _ = write!(
            out,
            "\nactive proctype landing() {{\nend:\tdo\n\t:: atomic {{ {goes} && aloft ->\n\t\tif\n"
        );
        for slot in 0..self.slots {
            let _ = writeln!(out, "\t\t:: aloft > {slot} -> slot = {slot}");
        }
        out.push_str("\t\tfi;\n\t\td_step { land(); after_a_step(); slot = 0; row = 0 }\n\t}\n\tod\n}\n");
    }
}

/// Objects, as they are in the beginning.
fn write_objects(group: &Group, barriers: &Barriers, out: &mut String) {
    let objects: Vec<_> = barriers.of_sort(Sort::Object).collect();
    if objects.is_empty() {
        return;
    }
    let counts: Vec<Option<u32>> =
        objects.iter().map(|object| systems::initial_count(&group.program, *object)).collect();
    let initial =
        |what: fn(u32) -> usize| counts.iter().map(|count| count.map_or(0, what)).collect::<Vec<_>>();
    let most =
        group.steps().filter_map(|step| systems::expects(&step.act)).chain(initial(|n| n as usize)).max();
    let kind = match most {
        Some(32_768..) => "int",
        Some(256..) => "short",
        _ => "byte",
    };
    out.push('\n');
    for (kind, name, values) in [
        ("byte", "live", initial(|_| 1)),
        (kind, "due", initial(|count| count as usize)),
        (kind, "missing", initial(|count| count as usize)),
        ("int", "bytes", initial(|_| 0)),
        ("byte", "odd", initial(|_| 0)),
        ("byte", "seen", initial(|_| 1)),
    ] {
        let values: Vec<String> = values.iter().map(usize::to_string).collect();
        let _ = writeln!(out, "{kind} {name}[OBJECTS] = {{ {} }};", values.join(", "));
    }
    match group.steps().any(|step| systems::keeps_token(&step.act)) {
        true => out.push_str(include_str!("tokens.pml")),
        false => out.push_str(NO_TOKENS),
    }
    out.push_str(include_str!("objects.pml"));
}

const NO_TOKENS: &str = "\n/* No agent keeps a token. */\n#define PRESENT 1\n#define BEFORE 2\n#define TOKEN(agent) 0\n\
    #define keep_token() skip\n#define age_token() skip\n#define outdate_tokens() skip\n";

const NO_RELEASES: &str = "\n/* What fences release is of no use to anybody. */\n\
    #define release_by_fence() skip\n#define carry_released() skip\n";

/// What fences release, and what relaxed arrivals carry of it. Other texts refer to it.
pub(super) fn write_releases(group: &Group, barriers: &Barriers, out: &mut String) {
    let sizes = group.sizes(barriers);
    if !sizes.releases {
        out.push_str(NO_RELEASES);
        return;
    }
    let first = sizes.agents + sizes.barriers + 2 * sizes.phased + sizes.slots;
    let _ = writeln!(out, "\n#define FIRST_RELEASED {first}");
    out.push_str(include_str!("fences_memory.pml"));
}

/// What barriers of phases and what is in flight do to knowledge.
pub(super) fn write_memory(group: &Group, barriers: &Barriers, out: &mut String) {
    let sizes = group.sizes(barriers);
    if sizes.phased > 0 {
        let _ = writeln!(out, "\n#define PHASED {}", sizes.phased);
        out.push_str(include_str!("phases_memory.pml"));
    }
    if sizes.slots > 0 {
        out.push_str(include_str!("flight_memory.pml"));
    }
}

/// What holds knowledge while it is in flight, and the record of what copies write.
pub(super) fn holders(group: &Group, barriers: &Barriers) -> String {
    let sizes = group.sizes(barriers);
    match sizes.slots {
        // The text names what knows of copies also where nobody copies.
        0 => "#define RECORD 0\n#define IN_FLIGHT(slot) 0\n".to_owned(),
        _ => format!(
            "#define RECORD (HOLDERS - 1)\n#define IN_FLIGHT(slot) (AGENTS + {} + (slot))\n",
            sizes.barriers + 2 * sizes.phased
        ),
    }
}
