//! What is said of a protocol that was extracted: what is taken for true, and what is not looked at.

use std::collections::BTreeMap;

use crate::common::diagnostic::{Diagnostic, Severity};
use crate::common::span::Span;
use crate::kernel::{Assumption, Extraction};

use super::entry::Entry;
use super::launch::{Launch, Sizes};

/// Places of one kind that are told.
const MOST_PLACES: usize = 100;

/// The remarks; `noun` is what an agent is called.
pub(super) fn remarks(
    extraction: &Extraction,
    entry: &Entry,
    (launch, sizes): (&Launch, &Sizes),
    noun: &str,
) -> Vec<Diagnostic> {
    let note = |code, message: &str, span| Diagnostic {
        severity: Severity::Note,
        ..Diagnostic::error(code, message, span)
    };
    let mut remarks = Vec::new();
    if launch.is_bound() {
        let ([x, y, z], unit, [_, bounded_by]) = (launch.size, sizes.unit, sizes.words);
        let message = match sizes.is_default {
            true => format!(
                "taken to be launched with {x} x {y} x {z} {unit}, as `{bounded_by}` has them by default"
            ),
            false => {
                format!("taken to be launched with all {x} x {y} x {z} {unit} that `{bounded_by}` allows")
            }
        };
        let span = sizes.most.map_or(entry.span, |most| most.span);
        remarks.push(note("assumed", &message, span).help(format!("say otherwise by {}", sizes.option)));
    }
    for (message, span) in &extraction.assumed {
        remarks.push(note("assumed", &format!("assumed: {message}"), *span));
    }
    for assumption in &extraction.assumes {
        let (message, span) = assumed(assumption);
        remarks.push(note("assumed", &message, span));
    }
    for (span, of_lane) in &extraction.private {
        let who = if *of_lane { "lane" } else { noun };
        let is_address = extraction.memory.as_ref().is_some_and(|memory| memory.others.contains(span));
        let message = match is_address {
            true => {
                "which bytes are accessed here depends on data: that others access them, and that they do \
                     not, are both explored"
                    .to_owned()
            }
            false => format!("unknown, and perhaps not the same for each {who}: both outcomes are explored"),
        };
        remarks.push(note("data-dependent", &message, *span));
    }
    for span in &extraction.aborts {
        remarks.push(note("assumed", "assumed: the kernel does not end with an error here", *span));
    }
    // However many places one has, no other is left out.
    let mut of_message: BTreeMap<String, usize> = BTreeMap::new();
    remarks.retain(|remark: &Diagnostic| {
        let places = of_message.entry(remark.message.clone()).or_default();
        *places += 1;
        *places <= MOST_PLACES
    });
    remarks
}

/// What is taken for true, and where.
fn assumed(assumption: &Assumption) -> (String, Span) {
    let (message, span) = match assumption {
        Assumption::Otherwise { span, announced, completed } => {
            let message = format!(
                "{announced} bytes are announced here for copies that complete {completed}, going by what is \
                 announced for their tensor maps elsewhere"
            );
            return (message, *span);
        }
        Assumption::Unwritten(span) => ("nobody writes what is loaded here while the kernel runs", span),
        Assumption::Told(span) => {
            ("all threads load the same here: whoever stores it does so before a barrier", span)
        }
        Assumption::Forwarded(span) => (
            "this loads what was stored there before: copies, and stores by pointers of which nothing is known, go \
             elsewhere",
            span,
        ),
        Assumption::Unwrapped(span) => ("the sums and products compared here do not overflow", span),
        Assumption::Written(span) => {
            ("what decides here has been written, though there are ways on which it is not", span)
        }
        Assumption::Natural(span) => ("the number that is computed with here is not negative", span),
        Assumption::Bytes(span) => {
            ("the copies that follow what is announced for them complete it, in equal parts", span)
        }
        Assumption::Announced(span) => (
            "as many bytes are announced here as the copies that follow complete, whatever number it is",
            span,
        ),
        Assumption::Aside(span) => (
            "this copy completes nothing: only some of the ways have it, and the others complete all that is announced",
            span,
        ),
        Assumption::Theirs(span) => {
            ("this copy completes its part of what others announce for its mbarrier object", span)
        }
        Assumption::Awaited(span) => {
            ("this loop comes to its end: what it asks for, again and again, comes about", span)
        }
        Assumption::InOrder(span) => {
            ("lanes that mean different objects here come to them one after the other", span)
        }
        Assumption::Exited(span) => {
            ("threads that leave the kernel here do so before others of their warp come to a barrier", span)
        }
        Assumption::Collective(span) => (
            "`wgmma` is of all four warps of a warpgroup: none of them has waited for a group, or begins the next \
             one, before all have committed it",
            span,
        ),
        Assumption::Pair(span) => (
            "bit 24 of a shared-memory address is the lowest of the CTA's rank, so that clearing it leads to \
             the even CTA of a pair",
            span,
        ),
    };
    (format!("assumed: {message}"), *span)
}
