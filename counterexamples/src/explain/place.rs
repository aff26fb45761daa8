//! Places that matter beside the first, and what happened there: facts, put into words last.

use crate::names::{self, Noun};
use crate::trace::{Location, Related};

/// A place, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Whoever did something there, or the first of them.
    pub(crate) agent: u32,
    pub(crate) location: Location,
    pub(crate) remark: Remark,
}

/// What is said of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Remark {
    /// What agents did there.
    Did(Vec<u32>, Did),
    /// Lanes, given as a bit mask, stand there.
    Lanes(String),
    /// An instruction and who executed it.
    Executed { instruction: String, by: u32 },
    /// An access to memory.
    Access { by: u32, access: String, location: String },
    /// A generation was completed there.
    Completed(Completed),
    /// An object, which is named, is given its count there.
    Count { on: String, count: u32 },
}

/// What an agent did; several agents that did the same can be named together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Did {
    /// It waits on a barrier, which is named.
    Waits(String),
    /// It waited on an object, which is named, and went on.
    Waited(String),
    RunsForEver,
    Exited,
    /// It left a loop, and exited.
    LeftItsLoop,
    /// It arrived on a barrier, which is named.
    ArrivedOn(String),
    Arrived,
    /// It went on without an arrival on a barrier, which is named.
    WentOn(String),
    /// It passed by an arrival; what its locals were, in brackets.
    PassedBy(String),
    /// It found a condition false, which is named.
    Declined(String),
    /// It found a condition true, which is named.
    Accepted(String),
    /// It waits, and never arrives on a barrier, which is named.
    NeverArrives(String),
    /// It passed its wait on an object, which is named, though nothing had come.
    PassedTooEarly(String),
    ArrivedFirst,
    ArrivedLast,
    ArrivedAndNeverWaited,
    ArrivedAgainBeforeWaiting,
    /// It announced counts, which are named.
    Announced(String),
    Signalled,
    MayArrive,
    /// It is at this dynamic instance of a barrier.
    IsAtThisOne,
}

/// Which generation was completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Completed {
    /// The one before the one that the outcome is about.
    GenerationBefore,
    /// The latest reduction.
    LastReduction,
    /// The reduction whose result is lost.
    LostResult,
}

impl Place {
    /// As a trace writes it.
    pub(crate) fn related(&self, noun: impl Into<Noun>) -> Related {
        let Location { line, column, .. } = self.location;
        Related { agent: self.agent, line, column, role: self.remark.in_words(noun) }
    }
}

impl Remark {
    pub(crate) fn in_words(&self, noun: impl Into<Noun>) -> String {
        let noun = noun.into();
        let agent = |agent: u32| names::agents(noun, &[agent]);
        match self {
            Self::Did(agents, did) => {
                format!("{} {}", names::agents(noun, agents), did.in_words(agents.len() > 1))
            }
            Self::Lanes(lanes) => {
                let verb = if names::is_one_lane(lanes) { "is" } else { "are" };
                format!("{} {verb} here", names::lanes_of(lanes))
            }
            Self::Executed { instruction, by } => format!("`{instruction}` by {}", agent(*by)),
            Self::Access { by, access, location } => format!("{}'s {access} of {location}", agent(*by)),
            Self::Completed(which) => which.in_words().to_owned(),
            Self::Count { on, count } => format!("{on} is given the count {count} here"),
        }
    }
}

impl Did {
    /// What one did, or `several`.
    fn in_words(&self, several: bool) -> String {
        let verb = |one: &'static str, many: &'static str| if several { many } else { one };
        match self {
            Self::Waits(on) => format!("{} here on {on}", verb("waits", "wait")),
            Self::Waited(on) => format!("waited here for {on}"),
            Self::LeftItsLoop => format!("left {} loop here", verb("its", "their")),
            Self::RunsForEver => format!("{} here for ever", verb("runs", "run")),
            Self::Exited => "exited here".to_owned(),
            Self::ArrivedOn(on) => format!("arrived on {on} here"),
            Self::Arrived => "arrived here".to_owned(),
            Self::WentOn(on) => format!("went on here, without arriving on {on}"),
            Self::PassedBy(locals) => format!("passed by here{locals}"),
            Self::Accepted(condition) => format!("found `{condition}` true here"),
            Self::Declined(condition) => format!("found `{condition}` false here"),
            Self::NeverArrives(on) => {
                format!("{} here and never {} on {on}", verb("waits", "wait"), verb("arrives", "arrive"))
            }
            Self::PassedTooEarly(on) => format!("passed here too early, on {on}"),
            Self::ArrivedFirst => "arrived here first".to_owned(),
            Self::ArrivedLast => "arrived here last".to_owned(),
            Self::ArrivedAndNeverWaited => "arrived here and never waited".to_owned(),
            Self::ArrivedAgainBeforeWaiting => {
                format!("arrived here again before {} waited", verb("it", "they"))
            }
            Self::Announced(counts) => format!("announced {counts} here"),
            Self::Signalled => "signalled here".to_owned(),
            Self::MayArrive => "may arrive here".to_owned(),
            Self::IsAtThisOne => format!("{} at this one", verb("is", "are")),
        }
    }
}

impl Completed {
    fn in_words(self) -> &'static str {
        match self {
            Self::GenerationBefore => "the generation before was completed here",
            Self::LastReduction => "the last reduction completed here",
            Self::LostResult => "the result that is lost came here",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_did_and_what_several_did() {
        let cases = [
            (Did::Waits("barrier 1".to_owned()), "waits here on barrier 1", "wait here on barrier 1"),
            (Did::RunsForEver, "runs here for ever", "run here for ever"),
            (Did::Exited, "exited here", "exited here"),
            (
                Did::ArrivedAgainBeforeWaiting,
                "arrived here again before it waited",
                "arrived here again before they waited",
            ),
            (Did::IsAtThisOne, "is at this one", "are at this one"),
        ];
        for (did, one, several) in cases {
            assert_eq!(Remark::Did(vec![3], did.clone()).in_words("warp"), format!("warp 3 {one}"));
            assert_eq!(Remark::Did(vec![0, 1, 2], did).in_words("warp"), format!("warps 0-2 {several}"));
        }
    }

    #[test]
    fn one_lane_is_and_several_are() {
        assert_eq!(Remark::Lanes("0x00000010".to_owned()).in_words("warp"), "lane 4 is here");
        assert_eq!(Remark::Lanes("0x000000ff".to_owned()).in_words("warp"), "lanes 0-7 are here");
    }
}
