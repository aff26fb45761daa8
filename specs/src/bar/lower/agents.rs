//! Which agent runs which block.

use barcheck_model::program::{RoleId, WARP_SIZE};

use super::context::Context;
use super::globals::Group;
use crate::bar::ast::{File, Item, Role};
use crate::bar::meaning_error::MeaningError;
use crate::common::span::Span;

/// The blocks that claimed agents so far.
struct Claims {
    /// For each agent its block, and where that block names its agents.
    of_agent: Vec<Option<(RoleId, Span)>>,
    /// A block's agents are unknown because of an error, so nobody can be called missing.
    unknown: bool,
}

impl Context<'_> {
    /// The role of each agent, or `None` after an error.
    pub(super) fn assign_agents(&mut self, file: &File, group: &Group) -> Option<Vec<RoleId>> {
        let lanes = if self.target.has_lanes() { WARP_SIZE } else { 1 };
        let count = group.size.div_ceil(lanes);
        let mut claims = Claims { of_agent: vec![None; count as usize], unknown: false };
        let roles = file.items.iter().filter_map(|item| match item {
            Item::Role(role) => Some(role),
            _ => None,
        });
        for (index, role) in roles.enumerate() {
            if self.claim(&mut claims, RoleId::from_index(index), role, group).is_none() {
                claims.unknown = true;
            }
        }
        if !claims.unknown {
            self.report_missing(&claims, group);
        }
        claims.of_agent.into_iter().map(|claim| claim.map(|(role, _)| role)).collect()
    }

    fn claim(&mut self, claims: &mut Claims, id: RoleId, role: &Role, group: &Group) -> Option<()> {
        let from = self.constant(&role.first);
        let to = match &role.end {
            Some(end) => self.constant(end),
            None => from.and_then(|first| first.checked_add(1)),
        };
        let (from, to) = (from?, to?);
        let span = match &role.end {
            Some(end) => role.first.span.to(end.span),
            None => role.first.span,
        };
        if from >= to {
            self.report(&MeaningError::NoAgents { from, to, span });
            return None;
        }
        let count = i64::try_from(claims.of_agent.len()).unwrap_or(i64::MAX);
        let noun = self.target.agent_noun();
        if from < 0 || to > count {
            let agent = if from < 0 { from } else { from.max(count) };
            let size = group.span;
            self.report(&MeaningError::AgentsOutside { noun, agent, count, span, size });
            return None;
        }
        for agent in from..to {
            let claim = usize::try_from(agent).ok().and_then(|a| claims.of_agent.get_mut(a))?;
            match claim {
                Some((_, first)) => {
                    let first = *first;
                    self.report(&MeaningError::AgentsOverlap { noun, agent, span, first });
                    return None;
                }
                None => *claim = Some((id, span)),
            }
        }
        Some(())
    }

    fn report_missing(&mut self, claims: &Claims, group: &Group) {
        let mut missing: Vec<(i64, i64)> = Vec::new();
        for (agent, _) in (0_i64..).zip(&claims.of_agent).filter(|(_, claim)| claim.is_none()) {
            match missing.last_mut() {
                Some((_, to)) if *to == agent => *to += 1,
                _ => missing.push((agent, agent + 1)),
            }
        }
        if !missing.is_empty() {
            let (unit, span) = (self.notation.agents, group.span);
            self.report(&MeaningError::AgentsMissing { unit, missing, span });
        }
    }
}
