//! What a system says in words of its own.

use barcheck_model::barrier::{AnyBarrier, BarrierAction, BarrierId};
use barcheck_model::program::{AgentId, BarrierInstruction, Program};

use super::expressions::Lanes;
use super::figures::{Gathering, Naming, Present};
use crate::trace::Operands;

/// The words of a system for what its specification asks. Everything else is said alike for all, and so is
/// what a system does not say in its own way.
pub(crate) trait Wording {
    /// By what a wait is preceded, in a sentence, where that is not obvious.
    fn before_a_wait(&self) -> Option<&'static str> {
        None
    }

    /// A barrier's name, and its name in a column's width.
    fn barrier(&self, _: &Program, id: BarrierId) -> Names {
        Names::by_number(id)
    }

    /// Which barrier ids there are, where an instruction names one by a number.
    fn ids(&self) -> Option<&'static str> {
        None
    }

    /// What an instruction, with its operands' values, may count in a group of this size, if it counts
    /// anything.
    fn counts(&self, _instruction: &str, _group_size: u32) -> Option<Counts> {
        None
    }

    /// What must not be mixed with reductions, if there are any.
    fn mixed(&self) -> Option<&'static str> {
        None
    }

    /// Why the exit of an agent completes nothing.
    fn exit(&self) -> &'static str {
        EXIT
    }

    /// Arrive and wait alternate: who arrives again must have waited, whatever generation gathers.
    fn waits_between_arrivals(&self) -> bool {
        false
    }

    /// Whether an instruction is the one by which agents allocate barriers together.
    fn allocates(&self, _: &str) -> bool {
        false
    }

    /// Why barriers that order two accesses in time do not order them in memory, and what to do about it.
    fn unpublished(&self, parties: Parties<'_>) -> Unpublished {
        Unpublished::by_exit(parties)
    }

    /// An instruction with its operands' values.
    fn instruction(&self, _: &BarrierInstruction, _: &dyn Lanes, written: &str, _: u32) -> String {
        written.to_owned()
    }

    /// The operands of an instruction that are in range.
    fn operands(&self, _: &BarrierAction) -> Option<Operands> {
        None
    }

    /// Whether an instruction may arrive on a barrier, as far as can be told without running it.
    fn may_use(&self, _: &BarrierInstruction, _: &Naming<'_>) -> bool {
        true
    }

    /// Whether the agent belongs to those that share the barrier.
    fn is_member(&self, _: &Program, _: AgentId, _: BarrierId) -> bool {
        true
    }

    /// The generation that gathers at a barrier, if any.
    fn gathering(&self, _: &Program, _: BarrierId, _: &AnyBarrier, _: Present) -> Option<Gathering> {
        None
    }
}

/// What is counted by an instruction, and how far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    /// What is counted, unless it is told by the word count.
    pub(crate) of: Option<&'static str>,
    /// Which numbers there are, in a sentence.
    pub(crate) says: String,
    /// The clause that says so, where it is not the first on which the rule rests.
    pub(crate) clause: Option<&'static str>,
    /// Threads are counted.
    pub(crate) of_threads: bool,
}

impl Counts {
    /// Of a count by the rule's first clause.
    pub(super) fn usual(says: String, of_threads: bool) -> Self {
        Self { of: None, says, clause: None, of_threads }
    }

    /// Of a number by a clause of its own.
    pub(super) fn by(clause: &'static str, of: &'static str, says: String) -> Self {
        Self { of: Some(of), says, clause: Some(clause), of_threads: false }
    }
}

/// Of a system that says nothing in its own way.
pub(super) struct Plain;

impl Wording for Plain {}

/// The names of a barrier.
pub(crate) struct Names {
    pub(crate) name: String,
    pub(crate) short: String,
}

impl Names {
    /// The same in a cluster, where every CTA has one of that number.
    pub(super) fn by_number_in(program: &Program, id: BarrierId) -> Self {
        match program.home(id) {
            Some(home) if program.ctas > 1 => {
                let (id, cta) = (home.barrier.0, home.cta);
                Self { name: format!("barrier {id} of cta {cta}"), short: format!("c{cta}b{id}") }
            }
            _ => Self::by_number(id),
        }
    }

    /// Those of a barrier that the protocol calls by its number.
    pub(super) fn by_number(id: BarrierId) -> Self {
        Self { name: format!("barrier {}", id.0), short: format!("b{}", id.0) }
    }
}

/// The agents of two accesses, by their names.
#[derive(Clone, Copy)]
pub(crate) struct Parties<'n> {
    pub(crate) earlier: &'n str,
    pub(crate) later: &'n str,
    /// Where the earlier one arrives.
    pub(crate) at: &'n str,
    /// It arrives on a barrier after its access.
    pub(crate) arrives: bool,
}

/// Why what an agent wrote is not seen, and what to do: the ends of sentences.
pub(crate) struct Unpublished {
    pub(crate) why: String,
    pub(crate) fix: String,
}

impl Unpublished {
    /// By an exit, where every arrival publishes.
    pub(super) fn by_exit(parties: Parties<'_>) -> Self {
        let Parties { earlier, .. } = parties;
        Self {
            why: format!("{earlier} has exited, which may complete a barrier and publishes nothing"),
            fix: format!("let {earlier} arrive itself, after its access and before it exits"),
        }
    }
}

/// The ids of named barriers with up to 32 of them.
pub(super) const IDS_OF_32: &str = "There are 32 barriers, 0 to 31; from 1 to 32 can be allocated.";
/// The ids of a CTA's barriers.
pub(super) const IDS_OF_16: &str = "There are 16 barriers, 0 to 15.";
/// Where all participants are counted one by one.
pub(super) const EXIT: &str = "An exit does not count as an arrival.";
/// Where a count may be left to those that live.
pub(super) const EXIT_OF_WARP: &str =
    "An exit does not count as an arrival on a barrier with an explicit count.";

/// Counts of participants.
pub(super) fn participants(what: &str, group_size: u32) -> String {
    format!("{what} is from 1 to the size of the group, {group_size}.")
}
