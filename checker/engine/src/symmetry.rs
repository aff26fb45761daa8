//! Symmetry: agents that run the same automaton are interchangeable.
//!
//! A permutation of such agents maps steps to steps: slots are numbered alike within a class, barriers
//! know how many have arrived but not who, and what memory knows of agents is renamed along. So
//! of all states that differ only in who is who, one is kept: the one in which the slots of
//! interchangeable agents are sorted. Where memory distinguishes agents with equal slots,
//! several representatives of one orbit may be kept: that costs states, never correctness.
//!
//! What would break it: a rule or an instruction that looks at an agent's index. Indices are only seen
//! by expressions (agents whose code mentions theirs have an automaton of their own) and by
//! split barriers of subgroups (only agents of one subgroup are interchanged).

use super::flows::{bits, held};
use super::layout::{Layout, Packed};
use super::numbering::to_u32;
use super::renamings::REST;
use super::rest::{Rest, renamed};
use super::tables::Tables;
use barcheck_model::program::AgentId;

/// Groups of interchangeable agents.
#[derive(Clone, Debug, Default)]
pub(super) struct Symmetry {
    /// Each with two agents at least, in order.
    groups: Vec<Vec<usize>>,
    agents: usize,
}

impl Symmetry {
    /// Nobody is interchangeable.
    pub(super) fn none(tables: &Tables) -> Self {
        Self { groups: Vec::new(), agents: tables.class_of.len() }
    }

    /// Agents of one class are interchangeable, within subgroups where there are any.
    pub(super) fn of(tables: &Tables) -> Self {
        let subgroup = |agent: usize| tables.machine.subgroup(AgentId::from_index(agent));
        let mut groups: Vec<((usize, usize), Vec<usize>)> = Vec::new();
        for (agent, class) in tables.class_of.iter().enumerate() {
            let key = (*class, subgroup(agent));
            match groups.iter_mut().find(|(k, _)| *k == key) {
                Some((_, group)) => group.push(agent),
                None => groups.push((key, vec![agent])),
            }
        }
        let groups = groups.into_iter().map(|(_, g)| g).filter(|g| g.len() > 1).collect();
        Self { groups, ..Self::none(tables) }
    }

    /// Whether there is anybody to interchange.
    pub(super) fn is_trivial(&self) -> bool {
        self.groups.is_empty()
    }

    /// Sorts the state's agents. `None` if the layout has no room for the result. With `moved`, says where each
    /// agent went.
    pub(super) fn canonical<const W: usize>(
        &self,
        tables: &mut Tables,
        layout: &Layout,
        mut words: Packed<W>,
        moved: Option<&mut Vec<u32>>,
    ) -> Option<Packed<W>> {
        let rest = layout.rest.get(&words);
        let decides = !tables.quiet[rest as usize];
        let remembers = layout.remembers(&words);
        if !decides && !remembers && moved.is_none() {
            self.sort_slots(layout, &mut words);
            return Some(words);
        }
        let to = self.sorted(tables, layout, &words);
        let identity = to.iter().enumerate().all(|(agent, target)| agent == *target as usize);
        if !identity {
            let from = words;
            for (agent, target) in to.iter().enumerate() {
                layout.agents[*target as usize].set(&mut words, layout.agents[agent].get(&from));
            }
            let order = tables.renamings.order(&to);
            let rest = decides.then_some((REST, layout.rest));
            let cells = (0..).zip(&layout.cells).map(|(cell, field)| (cell, *field));
            for (cell, field) in cells.filter(|(_, field)| field.get(&from) != 0).chain(rest) {
                let renamed = rename(tables, cell, field.get(&from), (order, &to));
                field.set(&mut words, renamed);
                if field.get(&words) != renamed {
                    return None;
                }
            }
        }
        if let Some(moved) = moved {
            *moved = to;
        }
        Some(words)
    }

    /// Sorts the agents of a state in which nothing but their slots distinguishes them.
    pub(super) fn sort_slots<const W: usize>(&self, layout: &Layout, words: &mut Packed<W>) {
        for group in &self.groups {
            sort_group(layout, group, words);
        }
    }

    /// For each agent of a sorted state, whether one before it can do the same, and what that leads to is the same state, once it is sorted.
    pub(super) fn like_another<const W: usize>(
        &self,
        tables: &Tables,
        layout: &Layout,
        words: &Packed<W>,
    ) -> Vec<bool> {
        let mut alike = vec![false; self.agents];
        if tables.quiet[layout.rest.get(words) as usize] && !layout.remembers(words) {
            for pair in self.groups.iter().flat_map(|group| group.windows(2)) {
                alike[pair[1]] = layout.agents[pair[0]].get(words) == layout.agents[pair[1]].get(words);
            }
        }
        alike
    }

    /// Where each agent goes when groups are sorted by slot, and by what memory knows of agents with equal slots.
    fn sorted<const W: usize>(&self, tables: &mut Tables, layout: &Layout, words: &Packed<W>) -> Vec<u32> {
        let mut to: Vec<u32> = (0..to_u32(self.agents)).collect();
        let cells = held(&layout.cells, words);
        for group in &self.groups {
            let mut order: Vec<_> =
                group.iter().map(|agent| (layout.agents[*agent].get(words), *agent)).collect();
            order.sort_unstable();
            // Only those who are alike so far are told apart by what they have decided and know.
            for alike in order.chunk_by_mut(|a, b| a.0 == b.0).filter(|alike| alike.len() > 1) {
                bits(cells).for_each(|cell| tables.cells.rank(cell, layout.cells[cell].get(words)));
                let sequences = &tables.rests.get(layout.rest.get(words)).sequences;
                let positions = |agent: usize| sequences.iter().map(move |s| s.position[agent]);
                let ranks = |agent: usize| {
                    let ranks = |cell: usize| tables.cells.ranks(cell, layout.cells[cell].get(words));
                    bits(cells).map(move |cell| ranks(cell)[agent])
                };
                alike.sort_unstable_by(|(_, a), (_, b)| {
                    let decided = positions(*a).cmp(positions(*b));
                    decided.then_with(|| ranks(*a).cmp(ranks(*b))).then(a.cmp(b))
                });
            }
            for (place, (_, agent)) in group.iter().zip(order) {
                to[agent] = to_u32(*place);
            }
        }
        to
    }
}

/// The number of a cell's content, or of a rest, after agents have been renamed.
fn rename(tables: &mut Tables, cell: u32, before: u32, (order, to): (u32, &[u32])) -> u32 {
    let key = (cell, before, order);
    if let Some(renamed) = tables.renamings.get(key) {
        return renamed;
    }
    let number = if cell == REST {
        let Rest { sequences, allocated } = tables.rests.get(before);
        let after = Rest { sequences: renamed(sequences, to), allocated: *allocated };
        tables.number_rest(&after, Rest::clone)
    } else {
        let names: Vec<_> = to.iter().map(|agent| AgentId(*agent)).collect();
        tables.cells.renamed(cell as usize, before, &names)
    };
    tables.renamings.learn(key, number);
    number
}

/// Sorts the slots of a group in place; they are few and nearly sorted.
fn sort_group<const W: usize>(layout: &Layout, group: &[usize], words: &mut Packed<W>) {
    for end in 1..group.len() {
        let slot = layout.agents[group[end]].get(words);
        let mut hole = end;
        while hole > 0 {
            let before = layout.agents[group[hole - 1]].get(words);
            if before <= slot {
                break;
            }
            layout.agents[group[hole]].set(words, before);
            hole -= 1;
        }
        if hole < end {
            layout.agents[group[hole]].set(words, slot);
        }
    }
}
