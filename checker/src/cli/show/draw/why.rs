//! What the trace shows and why: the narrative in words, who waits for whom or the two accesses, the rule
//! and its clauses.

use super::graph;
use crate::cli::show::state::Viewer;
use crate::cli::show::text::Page;
use crate::cli::show::theme::Ink;
use barcheck_counterexamples::trace::Status;
use barcheck_counterexamples::{ClauseNote, conflict};

/// Sentences shown, at most.
const MOST_SENTENCES: usize = 200;

/// Why, as lines.
pub(super) fn page(viewer: &Viewer<'_>, page: &mut Page) -> Option<usize> {
    let trace = viewer.timeline.trace();
    let outcome = &trace.outcome;
    let conflict = conflict(trace);
    let end = viewer.timeline.agent(outcome.agent, viewer.timeline.last());
    let hangs = conflict.is_none() && end.is_some_and(|state| state.status == Status::Blocked);
    // What the rule is about comes first.
    if let Some(conflict) = &conflict {
        page.heading("The two accesses");
        graph::conflict(viewer, page, conflict);
        page.gap();
    }
    if hangs {
        graph::waits(viewer, page);
        page.gap();
    }
    if let Some(figure) = viewer.timeline.figure() {
        graph::figure(viewer, page, &figure);
        page.gap();
    }
    for sentence in outcome.explanation.lines().take(MOST_SENTENCES) {
        page.text(Ink::Plain, "- ", sentence);
    }
    if !hangs && conflict.is_none() {
        graph::waits(viewer, page);
    }
    let Some(rule) = &viewer.notes.rule else { return None };
    page.heading(&format!("The rule {}", outcome.rule.as_deref().unwrap_or_default()));
    page.text(Ink::Plain, "  ", &rule.meaning);
    let (first, others) = match rule.clauses.split_first() {
        Some((first, others)) => (Some(first), others),
        None => (None, [].as_slice()),
    };
    if let Some(first) = first {
        clause(page, first);
    }
    page.heading("Why it hurts");
    page.text(Ink::Plain, "  ", &rule.why);
    page.heading("How to fix it");
    page.text(Ink::Plain, "  ", &rule.fix);
    if !others.is_empty() {
        page.heading("More clauses");
        for other in others {
            clause(page, other);
        }
    }
    None
}

fn clause(page: &mut Page, note: &ClauseNote) {
    page.text(Ink::Heading, "  ", &format!("{}, {} ({})", note.document, note.section, note.id));
    page.text(Ink::Plain, "  ", &note.says);
}
