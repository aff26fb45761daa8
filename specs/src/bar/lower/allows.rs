//! What a file says is not to be reported of it.

use super::context::Context;
use crate::bar::ast;
use crate::bar::meaning_error::{MeaningError, NotAllowed};
use crate::common::contents::Allow;
use crate::common::lint::Check;

impl Context<'_> {
    /// Notes what is allowed; errors are reported.
    pub(super) fn allow(&mut self, allow: &ast::Allow) {
        let ast::Allow { name, reason, span } = allow;
        if reason.text.is_empty() {
            self.report(&MeaningError::NoReason { span: reason.span });
        }
        let Some(check) = Check::from_name(&name.text) else {
            let suggestion = self.suggest(&name.text, || Check::all().map(Check::name));
            let (name, span) = (name.text.chars().take(40).collect(), name.span);
            self.report(&MeaningError::UnknownRule { name, suggestion, span });
            return;
        };
        let why = match check {
            Check::Rule(rule) if !rule.holds_for(self.target) => Some(NotAllowed::OtherTarget(self.target)),
            Check::Rule(rule) if rule.ends_path(self.target) => Some(NotAllowed::EndsPath),
            Check::Rule(_) | Check::Lint(_) => None,
        };
        if let Some(why) = why {
            self.report(&MeaningError::NotAllowed { name: check.name(), why, span: name.span });
            return;
        }
        if let Some(first) = self.allows.iter().find(|known| known.check == check) {
            let (what, first) = (format!("`allow {}`", check.name()), first.span);
            self.report(&MeaningError::Twice { what, span: *span, first });
            return;
        }
        self.allows.push(Allow { check, reason: reason.text.to_string(), span: *span });
    }
}
