//! Memory in Promela: which accesses there can be, and their numbers.

use super::phases;
use super::tables::{declare, declare_all};
use crate::columns::{Barriers, Columns, kind_number};
use crate::group::Group;
use crate::node::Step;
use barcheck_model::program::{AgentId, LocationId, Space};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

const MEMORY: &str = include_str!("memory.pml");
/// What barriers do to knowledge, where there is none.
const SILENT: [&str; 18] = [
    "publish()",
    "learn()",
    "keep()",
    "take_out()",
    "take_in_exited()",
    "forget_generation()",
    "hand_over()",
    "forget_carried()",
    "receive()",
    "receive_released()",
    "publish_to_phase()",
    "hand_on()",
    "observe(who)",
    "forget_phases()",
    "take_off()",
    "deliver()",
    "move_knowledge(from, to)",
    "leave_behind(who)",
];
/// Kinds of accesses, copies left out.
const KINDS: usize = 3;
/// What a slot holds that no access belongs to.
const NO_ACCESS: usize = 32_767;

/// The accesses that may be remembered, one for each location, kind and agent that there can be.
pub(super) struct Accesses {
    /// For each location and kind the agents, from the first to the last, and the number of the first's
    /// access.
    slots: BTreeMap<(LocationId, usize), (usize, usize, usize)>,
    count: usize,
}

impl Accesses {
    pub(super) fn of(group: &Group) -> Self {
        let mut agents: BTreeMap<(LocationId, usize), BTreeSet<AgentId>> = BTreeMap::new();
        for node in &group.nodes {
            for step in &node.steps {
                let Some((kind, locations)) = step.act.accesses() else { continue };
                for location in locations {
                    agents.entry((location, kind_number(kind))).or_default().extend(&node.agents);
                }
            }
        }
        let (mut slots, mut count) = (BTreeMap::new(), 0);
        for (slot, agents) in agents {
            let (Some(first), Some(last)) = (agents.first(), agents.last()) else { continue };
            slots.insert(slot, (first.index(), last.index(), count));
            count += last.index() - first.index() + 1;
        }
        Self { slots, count }
    }

    /// The text and the tables of memory, or macros that do nothing.
    pub(super) fn write(&self, group: &Group, barriers: &Barriers, out: &mut String) {
        if self.count == 0 {
            out.push_str("\n/* No agent accesses memory. */\n");
            for name in SILENT {
                let _ = writeln!(out, "#define {name} skip");
            }
            for name in ["fence()", "memory_barrier()"] {
                let _ = writeln!(out, "#define {name} at[_pid] = step_go[row]");
            }
            out.push('\n');
            return;
        }
        let (bits, word) = match self.count {
            0..=8 => (8, "byte"),
            9..=16 => (16, "short"),
            _ => (32, "int"),
        };
        let words = self.count.div_ceil(bits);
        let locations = group.program.locations();
        let system = group.system;
        let holders = (system.holders)(group.sizes(barriers));
        let exists = match self.kinds() {
            KINDS => "KNOWS(in_time, owner_of[access], access)",
            _ => "KNOWS(in_time, (kind_of[access] == COPY -> RECORD : owner_of[access]), access)",
        };
        let _ = write!(
            out,
            "\n#define LOCATIONS {locations}\n#define HOLDERS {holders}\n#define BITS {bits}\n#define WORDS {words}\n\
             #define WORD {word}\n\
             #define ACCESSES {}\n\
             #define KINDS {}\n\
             #define EXISTS(access) {exists}\n\
             #define HAS_FENCES {}\n",
            self.count,
            self.kinds(),
            u8::from(group.program.target.facts().fences_publish),
        );
        self.declare_slots(locations, out);
        self.declare_accesses(group, out);
        out.push_str(&phases::holders(group, barriers));
        out.push_str(MEMORY);
        phases::write_releases(group, barriers, out);
        out.push_str(system.promela_memory);
        phases::write_memory(group, barriers, out);
    }

    /// Kinds of accesses that are told apart.
    fn kinds(&self) -> usize {
        let copies = self.slots.keys().any(|(_, kind)| *kind >= KINDS);
        if copies { KINDS + 1 } else { KINDS }
    }

    fn declare_slots(&self, locations: usize, out: &mut String) {
        let kinds = self.kinds();
        let slot =
            |index: usize| self.slots.get(&(LocationId::from_index(index / kinds), index % kinds)).copied();
        let all = || (0..locations * kinds).map(slot);
        let numbers: Vec<usize> = all().map(|slot| slot.map_or(NO_ACCESS, |(_, _, number)| number)).collect();
        declare(out, "hidden ", "slot_of", &numbers);
        let firsts: Vec<usize> = all().map(|slot| slot.map_or(0, |(first, _, _)| first)).collect();
        declare(out, "hidden ", "slot_first", &firsts);
        let lasts: Vec<usize> = all().map(|slot| slot.map_or(0, |(_, last, _)| last)).collect();
        declare(out, "hidden ", "slot_last", &lasts);
    }

    fn declare_accesses(&self, group: &Group, out: &mut String) {
        let mut columns = Columns::default();
        for ((location, kind), (first, last, _)) in &self.slots {
            let space = group.program.array_of(*location).space;
            for agent in *first..=*last {
                columns.push("owner_of", agent);
                columns.push("kind_of", *kind);
                columns.push("space_of", usize::from(space == Space::Global));
            }
        }
        declare_all(&columns, out);
        // Where lanes touch several locations, their numbers follow one another in a list.
        let mut lists = Lists::of(group);
        if lists.all.is_empty() {
            lists.all.push(0);
        }
        declare(out, "hidden ", "locations", &lists.all);
    }
}

/// The locations of accesses, one list after the other.
#[derive(Default)]
pub(super) struct Lists {
    all: Vec<usize>,
    starts: BTreeMap<Vec<LocationId>, usize>,
}

impl Lists {
    pub(super) fn of(group: &Group) -> Self {
        let mut lists = Self::default();
        for step in group.steps() {
            let Some((_, touched)) = step.act.accesses() else { continue };
            if !lists.starts.contains_key(&touched) {
                let start = lists.all.len();
                lists.all.extend(touched.iter().map(|location| location.index()));
                lists.starts.insert(touched, start);
            }
        }
        lists
    }

    /// The columns of a step that concern memory.
    pub(super) fn fill(&self, step: &Step, columns: &mut Columns) {
        if self.all.is_empty() {
            return;
        }
        let (kind, start, count) = match step.act.accesses() {
            Some((kind, touched)) => (kind_number(kind), self.starts[&touched], touched.len()),
            None => (0, 0, 0),
        };
        columns.push("step_kind", kind);
        columns.push("step_locations", start);
        columns.push("step_touches", count);
    }
}
