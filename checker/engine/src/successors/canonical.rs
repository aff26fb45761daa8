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

use crate::packed::layout::{Layout, Packed};
use crate::packed::numbering::to_u32;
use crate::packed::permutations::RESIDUAL;
use crate::packed::residual::Residual;
use crate::packed::transformers::{bits, held};
use crate::successors::tables::Tables;
use barcheck_model::program::AgentId;

/// Groups of interchangeable agents.
#[derive(Clone, Debug, Default)]
pub(crate) struct Symmetry {
    /// Each with two agents at least, in order.
    groups: Vec<Vec<usize>>,
    agents: usize,
}

impl Symmetry {
    /// Nobody is interchangeable.
    pub(crate) fn none(tables: &Tables) -> Self {
        Self { groups: Vec::new(), agents: tables.class_of.len() }
    }

    /// Agents of one class are interchangeable, within subgroups where there are any.
    pub(crate) fn of(tables: &Tables) -> Self {
        Self::within(tables, &vec![0; tables.class_of.len()])
    }

    /// The same where agents are told apart by numbers, besides.
    pub(crate) fn within(tables: &Tables, numbers: &[usize]) -> Self {
        let subgroup = |agent: usize| tables.machine.subgroup(AgentId::from_index(agent));
        let mut groups: Vec<((usize, usize, usize), Vec<usize>)> = Vec::new();
        for ((agent, class), number) in tables.class_of.iter().enumerate().zip(numbers) {
            let key = (*class, subgroup(agent), *number);
            match groups.iter_mut().find(|(k, _)| *k == key) {
                Some((_, group)) => group.push(agent),
                None => groups.push((key, vec![agent])),
            }
        }
        let groups = groups.into_iter().map(|(_, g)| g).filter(|g| g.len() > 1).collect();
        Self { groups, ..Self::none(tables) }
    }

    /// Whether there is anybody to interchange.
    pub(crate) fn is_trivial(&self) -> bool {
        self.groups.is_empty()
    }

    /// Sorts the state's agents. `None` if the layout has no room for the result. With `permutation`, says
    /// where each agent went.
    pub(crate) fn canonical<const W: usize>(
        &self,
        tables: &mut Tables,
        layout: &Layout,
        mut words: Packed<W>,
        permutation: Option<&mut Vec<u32>>,
    ) -> Option<Packed<W>> {
        let residual = layout.residual.get(&words);
        let decides = !tables.quiet[residual as usize];
        let remembers = layout.remembers(&words);
        if !decides && !remembers && permutation.is_none() {
            self.sort_slots(layout, &mut words);
            return Some(words);
        }
        let to = self.permutation_of(tables, layout, &words);
        let identity = to.iter().enumerate().all(|(agent, target)| agent == *target as usize);
        if !identity {
            let from = words;
            for (agent, target) in to.iter().enumerate() {
                layout.agents[*target as usize].set(&mut words, layout.agents[agent].get(&from));
            }
            let order = tables.permutations.number(&to);
            let residual = decides.then_some((RESIDUAL, layout.residual));
            let location_classes =
                (0..).zip(&layout.location_classes).map(|(location_class, field)| (location_class, *field));
            for (location_class, field) in
                location_classes.filter(|(_, field)| field.get(&from) != 0).chain(residual)
            {
                let renamed = permute(tables, location_class, field.get(&from), (order, &to));
                field.set(&mut words, renamed);
                if field.get(&words) != renamed {
                    return None;
                }
            }
        }
        if let Some(permutation) = permutation {
            *permutation = to;
        }
        Some(words)
    }

    /// Sorts the agents of a state in which nothing but their slots distinguishes them.
    pub(crate) fn sort_slots<const W: usize>(&self, layout: &Layout, words: &mut Packed<W>) {
        for group in &self.groups {
            sort_group(layout, group, words);
        }
    }

    /// For each agent of a sorted state, whether one before it can do the same, and what that leads to is the
    /// same state, once it is sorted.
    pub(crate) fn like_another<const W: usize>(
        &self,
        tables: &Tables,
        layout: &Layout,
        words: &Packed<W>,
    ) -> Vec<bool> {
        let mut alike = vec![false; self.agents];
        if tables.quiet[layout.residual.get(words) as usize] && !layout.remembers(words) {
            for pair in self.groups.iter().flat_map(|group| group.windows(2)) {
                alike[pair[1]] = layout.agents[pair[0]].get(words) == layout.agents[pair[1]].get(words);
            }
        }
        alike
    }

    /// Where each agent goes when groups are sorted by slot, and by what memory knows of agents with equal
    /// slots.
    fn permutation_of<const W: usize>(
        &self,
        tables: &mut Tables,
        layout: &Layout,
        words: &Packed<W>,
    ) -> Vec<u32> {
        let mut to: Vec<u32> = (0..to_u32(self.agents)).collect();
        let location_classes = held(&layout.location_classes, words);
        for group in &self.groups {
            let mut order: Vec<_> =
                group.iter().map(|agent| (layout.agents[*agent].get(words), *agent)).collect();
            order.sort_unstable();
            // Only those who are alike so far are told apart by what they have decided and know.
            for alike in order.chunk_by_mut(|a, b| a.0 == b.0).filter(|alike| alike.len() > 1) {
                bits(location_classes).for_each(|location_class| {
                    tables
                        .location_classes
                        .rank(location_class, layout.location_classes[location_class].get(words));
                });
                let residual = tables.residuals.get(layout.residual.get(words));
                let ranks = |agent: usize| {
                    let ranks = |location_class: usize| {
                        tables
                            .location_classes
                            .ranks(location_class, layout.location_classes[location_class].get(words))
                    };
                    bits(location_classes).map(move |location_class| ranks(location_class)[agent])
                };
                alike.sort_unstable_by(|(_, a), (_, b)| {
                    let decided = residual.compare(*a, *b);
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

/// The number of an abstract value of a location class, or of a residual, after agents have been renamed.
fn permute(tables: &mut Tables, location_class: u32, before: u32, (order, to): (u32, &[u32])) -> u32 {
    let key = (location_class, before, order);
    if let Some(renamed) = tables.permutations.get(key) {
        return renamed;
    }
    let number = if location_class == RESIDUAL {
        let after = tables.residuals.get(before).renamed(to);
        tables.number_residual(&after, Residual::clone)
    } else {
        let names: Vec<_> = to.iter().map(|agent| AgentId(*agent)).collect();
        tables.location_classes.renamed(location_class as usize, before, &names)
    };
    tables.permutations.learn(key, number);
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
