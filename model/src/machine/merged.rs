//! Several configurations of an agent as one: what it may be in, as long as nothing tells them apart.
//!
//! Which way a choice has gone need not be known before it makes a difference. Until then the agent is in a
//! *merged* configuration, with the ways that are still possible as its members. It has the moves of its
//! members while these agree, and otherwise one move: to decide which of them it has been all the time. No
//! state of the semantics holds one; engines that make choices late do.

use super::automaton::Entry;
use super::{Automaton, ConfigId, Label, Machine};
use crate::agent::{Action, Choices, Config, Context, Move, Outcome, Waiting};
use crate::program::{AgentId, Pc};
use std::sync::Arc;

impl Automaton {
    /// The configurations that one stands for: itself, or the members of a merged one, in order.
    pub(super) fn members(&self, id: ConfigId) -> Arc<[ConfigId]> {
        self.merged.members.get(&id).cloned().unwrap_or_else(|| [id].into())
    }

    /// Whether a configuration stands for several.
    pub(super) fn is_merged(&self, id: ConfigId) -> bool {
        self.merged.members.contains_key(&id)
    }

    /// See [`super::automaton::Lead`].
    fn lead(&mut self, context: Context<'_>, from: ConfigId, label: Label) -> Option<ConfigId> {
        let members = self.merged.members.get(&from)?.clone();
        let mut groups = self.alike(&members);
        let to = match label {
            Label::Made(_, pick, _) if groups.len() > 1 => groups.swap_remove(pick as usize),
            label => members.iter().map(|member| self.follow(context, *member, label)).collect(),
        };
        Some(self.merge(to))
    }

    /// Groups configurations of which nobody else can tell one from another: they differ in locals alone, or
    /// in the place of the instruction that comes next, or at which the agent blocks, if all its lanes are
    /// together. They come in order.
    pub(super) fn alike(&self, ids: &[ConfigId]) -> Vec<Vec<ConfigId>> {
        let mut groups: Vec<(Config, Vec<ConfigId>)> = Vec::new();
        for id in ids {
            let mut config = self.config(*id).clone();
            if let [together] = &mut config.fragments[..] {
                together.pc = Pc::default();
                config.waiting = config.waiting.map(|waiting| Waiting { at: Pc::default(), ..waiting });
            }
            for fragment in &mut config.fragments {
                fragment.locals.clear();
            }
            let same = |(of, group): &(Config, Vec<ConfigId>)| {
                *of == config && same_moves(self.moves(group[0]), self.moves(*id))
            };
            match groups.iter().position(same) {
                Some(group) => groups[group].1.push(*id),
                None => groups.push((config, vec![*id])),
            }
        }
        groups.into_iter().map(|(_, group)| group).collect()
    }

    /// One configuration that stands for all of these.
    pub(super) fn merge(&mut self, ids: Vec<ConfigId>) -> ConfigId {
        let mut members: Vec<ConfigId> = ids.iter().flat_map(|id| self.members(*id).to_vec()).collect();
        members.sort_unstable();
        members.dedup();
        if let [only] = members[..] {
            return only;
        }
        if let Some(known) = self.merged.by_members.get(&members[..]) {
            return *known;
        }
        let groups = self.alike(&members).len();
        let mut places = members.iter().map(|id| self.config(*id).fragments.first().map(|f| f.pc));
        let first = places.next().flatten();
        self.merged.places |= groups == 1 && places.any(|place| place != first);
        let entry = self.entry_for(&members, groups);
        let id = self.push(entry);
        self.merged.lead = Some(Self::lead);
        let members: Arc<[ConfigId]> = members.into();
        // Two tables know the list.
        self.bytes += size_of_val(&members[..]) + 128;
        self.merged.by_members.insert(members.clone(), id);
        self.merged.members.insert(id, members);
        id
    }

    /// To others a merged configuration shows whatever any of its members may show: which decisions it may
    /// yet consult is read off all their places.
    fn entry_for(&self, members: &[ConfigId], groups: usize) -> Entry {
        let configs = || members.iter().map(|id| self.config(*id));
        let first = configs().find(|config| !config.has_exited()).unwrap_or_else(|| self.config(members[0]));
        let fragments = configs().flat_map(|config| config.fragments.clone()).collect();
        let config = Config { fragments, ..first.clone() };
        if groups == 1 {
            return Entry::new(Arc::new(config), self.moves(members[0]).into());
        }
        let (lanes, pc) = first.fragments.first().map_or_else(Default::default, |f| (f.lanes, f.pc));
        let choices = Choices::Open(groups as u64);
        let decide = Move { fragment: 0, lanes, pc, action: Action::Decide, choices };
        Entry::new(Arc::new(Config { fault: None, ..config }), [decide].into())
    }
}

/// Whether moves mean the same, wherever they stand.
fn same_moves(some: &[Move], others: &[Move]) -> bool {
    let same = |(one, other): (&Move, &Move)| {
        (one.fragment, one.lanes, one.choices) == (other.fragment, other.lanes, other.choices)
            && one.action == other.action
    };
    some.len() == others.len() && some.iter().zip(others).all(same)
}

impl Machine {
    /// The configurations that one of an agent's stands for: see [`Self::merge_configs`].
    #[must_use]
    pub fn members(&self, agent: AgentId, config: ConfigId) -> Arc<[ConfigId]> {
        self.automata[self.class(agent)].members(config)
    }

    /// One configuration of an agent that stands for several.
    ///
    /// As long as all that tells them apart are locals and places, its moves are those of each of them, with
    /// the same meaning. Otherwise its only move is a decision: the number of a group of those that are
    /// alike, as [`Self::alike_configs`] has them.
    pub fn merge_configs(&mut self, agent: AgentId, configs: Vec<ConfigId>) -> ConfigId {
        self.parts(agent).1.merge(configs)
    }

    /// Groups configurations of an agent of which nobody else can tell one from another, before they make a
    /// move.
    #[must_use]
    pub fn alike_configs(&self, agent: AgentId, configs: &[ConfigId]) -> Vec<Vec<ConfigId>> {
        self.automata[self.class(agent)].alike(configs)
    }

    /// An agent's moves in one of its configurations.
    #[must_use]
    pub fn moves_in(&self, agent: AgentId, config: ConfigId) -> &[Move] {
        self.automata[self.class(agent)].moves(config)
    }

    /// Whether some configuration of an agent stands for several that are alike in different places.
    #[must_use]
    pub fn merges_places(&self) -> bool {
        self.automata.iter().any(|automaton| automaton.merged.places)
    }

    /// Whether local computation has failed in one of an agent's configurations.
    #[must_use]
    #[inline]
    pub fn has_failed(&self, agent: AgentId, config: ConfigId) -> bool {
        self.automata[self.class(agent)].has_failed(config)
    }

    /// The configuration after a move of an agent that goes as it goes, whatever else happens.
    pub fn config_after(
        &mut self,
        agent: AgentId,
        from: ConfigId,
        index: u32,
        pick: u32,
        outcome: Outcome,
    ) -> ConfigId {
        self.follow(agent, from, Label::Made(index, pick, outcome))
    }

    /// The configuration after an agent's release, with a reduction's result.
    pub fn config_released(&mut self, agent: AgentId, from: ConfigId, result: Option<u32>) -> ConfigId {
        self.follow(agent, from, Label::Released(result))
    }
}
