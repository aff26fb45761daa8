//! Which agent runs which block.

use barcheck_model::program::{RoleId, WARP_SIZE};
use std::ops::Range;

use super::context::Context;
use super::globals::Group;
use crate::bar::ast::{Expr, File, Item, Role};
use crate::bar::meaning_error::MeaningError;
use crate::common::span::Span;

/// The blocks that claimed agents so far.
struct Claims {
    /// Agents in each CTA.
    of_each: usize,
    /// For each agent its block, and where that block names its agents; CTA by CTA.
    of_agent: Vec<Option<(RoleId, Span)>>,
    /// A block's agents are unknown because of an error, so nobody can be called missing.
    unknown: bool,
}

impl Context<'_> {
    /// The role of each agent, CTA by CTA, or `None` after an error. A block that names no CTA is one of all.
    // clause: barcheck.cluster-equal
    pub(super) fn assign_agents(&mut self, file: &File, group: &Group) -> Option<Vec<RoleId>> {
        let lanes = if self.target.has_lanes() { WARP_SIZE } else { 1 };
        let of_each = group.size.div_ceil(lanes) as usize;
        let of_agent = vec![None; of_each * group.ctas as usize];
        let mut claims = Claims { of_each, of_agent, unknown: false };
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
        let noun = self.target.agent_noun();
        let agents = self.among(&role.first, role.end.as_ref(), (noun, claims.of_each, group.span));
        let ctas = match &role.ctas {
            None => Some(0..group.ctas as usize),
            Some((first, end)) => {
                self.among(first, end.as_ref(), ("cta", group.ctas as usize, group.cluster))
            }
        };
        let (agents, ctas) = (agents?, ctas?);
        let span = match &role.end {
            Some(end) => role.first.span.to(end.span),
            None => role.first.span,
        };
        for cta in ctas {
            for agent in agents.clone() {
                let claim = claims.of_agent.get_mut(cta * claims.of_each + agent)?;
                if let Some((_, first)) = claim {
                    let first = *first;
                    let agent = agent_name(noun, agent, (group.ctas > 1).then_some(cta));
                    self.report(&MeaningError::AgentsOverlap { agent, span, first });
                    return None;
                }
                *claim = Some((id, span));
            }
        }
        Some(())
    }

    /// The agents of a CTA, or the CTAs, that a block names, of so many; `size` is where that is said.
    fn among(
        &mut self,
        first: &Expr,
        end: Option<&Expr>,
        (noun, count, size): (&'static str, usize, Span),
    ) -> Option<Range<usize>> {
        let from = self.constant(first);
        let to = match end {
            Some(end) => self.constant(end),
            None => from.and_then(|first| first.checked_add(1)),
        };
        let (from, to) = (from?, to?);
        let span = end.map_or(first.span, |end| first.span.to(end.span));
        if from >= to {
            self.report(&MeaningError::NoAgents { from, to, span });
            return None;
        }
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        if from < 0 || to > count {
            let agent = if from < 0 { from } else { from.max(count) };
            self.report(&MeaningError::AgentsOutside { noun, agent, count, span, size });
            return None;
        }
        Some(usize::try_from(from).ok()?..usize::try_from(to).ok()?)
    }

    /// Agents without a block, of the first CTA that has any.
    fn report_missing(&mut self, claims: &Claims, group: &Group) {
        let ctas = claims.of_agent.chunks(claims.of_each.max(1));
        let with_some = ctas.enumerate().find(|(_, agents)| agents.iter().any(Option::is_none));
        let Some((cta, agents)) = with_some else { return };
        let mut missing: Vec<(i64, i64)> = Vec::new();
        for (agent, _) in (0_i64..).zip(agents).filter(|(_, claim)| claim.is_none()) {
            match missing.last_mut() {
                Some((_, to)) if *to == agent => *to += 1,
                _ => missing.push((agent, agent + 1)),
            }
        }
        let is_same_in_all = claims
            .of_agent
            .chunks(claims.of_each.max(1))
            .all(|other| other.iter().zip(agents).all(|(one, other)| one.is_none() == other.is_none()));
        let (unit, span) = (self.notation.agents, group.span);
        let cta = (!is_same_in_all).then_some(cta);
        self.report(&MeaningError::AgentsMissing { unit, missing, cta, span });
    }
}

/// What an agent is called: `warp 3`, in a cluster `warp 3 of cta 1`.
fn agent_name(noun: &str, agent: usize, cta: Option<usize>) -> String {
    match cta {
        Some(cta) => format!("{noun} {agent} of cta {cta}"),
        None => format!("{noun} {agent}"),
    }
}
