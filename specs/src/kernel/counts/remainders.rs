//! The low bits of a number, of what is left of it.

use super::Low;
use super::asked::Asked;
use super::rewrite::{Plan, pass, set};
use crate::common::span::Span;
use crate::kernel::code::Comparison;
use crate::kernel::tree::{Condition, Decided, Decision, Statement, Statements};

impl Plan<'_> {
    /// Whether what is left of a number has its low bits: all that is taken is a multiple.
    pub(super) fn has_rest(&self, low: &Low) -> bool {
        let member = self.families.member(&low.first);
        let place = member.map(|member| self.families.place(&low.first, member.family));
        let place = place.and_then(|place| self.uses.get(&place));
        place.is_some_and(|place| {
            let mut taken = place.rounds.values();
            !place.rounds.is_empty() && place.given == 0 && taken.all(|taken| taken & low.mask == 0)
        })
    }

    /// Whether a condition about a remainder holds, in a variable: where what is left does not say so, as it
    /// was decided.
    pub(super) fn with_rest(
        &self,
        low: &Low,
        asked: Asked,
        decision: &Decision,
        span: Span,
    ) -> (Asked, Statements) {
        let known = || {
            let family = self.families.member(&low.first)?.family;
            Some((family, self.uses.get(&self.families.place(&low.first, family))?.ahead))
        };
        let Some((family, ahead)) = known() else { return (asked, Vec::new()) };
        let name = &self.names[family];
        let flag = format!("{name}_rest");
        let when = |asked: &Asked, then: Statements, otherwise: Statements| {
            let decided = Decided::default();
            let condition = Condition::Value { text: asked.text(), compares: asked.compares(), decided };
            Statement::If { condition, then, otherwise, span }
        };
        let yes = || vec![set(&flag, "1", Some(1), span)];
        let no = || vec![set(&flag, "0", Some(0), span)];
        let mut decision = decision.clone();
        decision.forget();
        let condition = Condition::Uniform { decision, negated: false };
        let decided = vec![Statement::If { condition, then: yes(), otherwise: no(), span }];
        let open =
            Asked::Text(format!("({name}_left == {ahead}) || ({name}_count == 0) || ({name}_left < 0)"));
        let known = vec![when(&asked, yes(), no())];
        (Asked::Compares(flag.clone(), Comparison::Equal, 1), vec![when(&open, decided, known)])
    }

    pub(super) fn low(&self, low: &Low) -> Asked {
        let known = || {
            let member = self.families.member(&low.first)?;
            let offset = self.families.all[member.family].offset()?;
            Some((&self.names[member.family], offset + self.families.more(&low.first, member)?))
        };
        let Some((name, offset)) = known() else { return Asked::Text("1".to_owned()) };
        let rest = match (offset + low.more) & low.mask {
            0 => format!("{name}_left & {}", low.mask),
            more => format!("({name}_left + {more}) & {}", low.mask),
        };
        let least = match low.round {
            None => low.least.to_string(),
            Some((header, by)) => format!("{} + {} * {by}", low.least, pass(header)),
        };
        Asked::Text(format!("({rest}) >= {least}"))
    }
}
