//! Copies that their thread waits for: what they do not see, and what they may still read or write.

use super::case::{Case, sentence};
use super::words::Words;
use crate::trace::COPY;

/// A copy begins that does not see what was written, though barriers order the two.
pub(super) fn unfenced(writer: &str, issuer: &str, (access, copy): (&str, &str)) -> [String; 2] {
    let does = if copy == COPY { "writes" } else { "reads" };
    let why = format!(
        "{} own {access} takes the generic proxy, and the copy {does} by the asynchronous one: a barrier \
         orders accesses of one proxy, and both only with a fence.",
        sentence(&format!("{writer}'s"))
    );
    let fix = match writer == issuer {
        true => format!("To fix it, let {issuer} execute `fence.proxy.async` between the two."),
        false => format!(
            "To fix it, let {writer} execute `fence.proxy.async` after its {access} and before it arrives, \
             or {issuer} after its wait and before the copy."
        ),
    };
    [why, fix]
}

/// A location is written that a copy may still read.
pub(super) fn still_reads(issuer: &str, writer: &str) -> String {
    let waits = format!(
        "The copy may be reading until {issuer} has executed `cp.async.bulk.wait_group.read` for its group, \
         with a number that leaves that group not out"
    );
    match writer == issuer {
        true => format!("{waits}."),
        false => format!(
            "{waits}; and {writer} knows of that only from a barrier at which {issuer} arrives after this wait."
        ),
    }
}

/// A location is accessed that a `cp.async` may still write.
pub(super) fn still_writes(issuer: &str, other: &str) -> String {
    let waits = format!(
        "The copy may land at any time until {issuer} has executed `cp.async.wait_group` for its group, with a \
         number that leaves that group not out, or `cp.async.wait_all`, or until an arrival behind it has come by \
         `cp.async.mbarrier.arrive`"
    );
    match other == issuer {
        true => format!("{waits}."),
        false => format!(
            "{waits}; and {other} knows of that only from a barrier at which {issuer} arrives after this wait."
        ),
    }
}

/// Every warp of a CTA has exited, and a copy may still read its memory.
pub(super) fn at_exit(case: &Case<'_>) -> Words {
    let outcome = &case.outcome;
    let (who, at) = (case.agent(outcome.agent), case.at(outcome.location));
    let all = match case.trace.protocol.ctas {
        1 => "everybody has exited",
        _ => "every warp of the CTA has exited",
    };
    let instruction = &outcome.instruction;
    let message = format!("{all}, and nobody has waited for what {who} began by `{instruction}`{at}");
    let sentences = vec![
        format!("{} began to copy out of shared memory by `{instruction}`{at}.", sentence(&who)),
        "Shared memory is gone once the CTA has exited: the thread that began the copy has to execute \
         `cp.async.bulk.commit_group` and `cp.async.bulk.wait_group.read 0` before."
            .to_owned(),
    ];
    Words { message, sentences, ..Words::default() }
}
