//! What a system says in words of its own.

use barcheck_model::barrier::BarrierId;
use barcheck_model::program::Program;

/// The words of a system for what its specification asks. Everything else is said alike for all.
pub(crate) trait Wording {
    /// A barrier's name, and its name in a column's width.
    fn barrier(&self, program: &Program, id: BarrierId) -> Names;

    /// Which barrier ids there are, where an instruction names one by a number.
    fn ids(&self) -> Option<&'static str>;

    /// Which counts an instruction may announce in a group of this size, if it announces any.
    fn counts(&self, group_size: u32) -> Option<String>;

    /// What must not be mixed with reductions, if there are any.
    fn mixed(&self) -> Option<&'static str>;

    /// Why the exit of an agent completes nothing.
    fn exit(&self) -> &'static str;

    /// Arrive and wait alternate: who arrives again must have waited, whatever generation gathers.
    fn waits_between_arrivals(&self) -> bool;

    /// Whether an instruction is the one by which agents allocate barriers together.
    fn allocates(&self, instruction: &str) -> bool;

    /// Why barriers that order two accesses in time do not order them in memory, and what to do about it.
    fn unpublished(&self, parties: Parties<'_>) -> Unpublished;
}

/// The names of a barrier.
pub(crate) struct Names {
    pub(crate) name: String,
    pub(crate) short: String,
}

impl Names {
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
    /// The earlier one arrives on a barrier after its access.
    pub(crate) arrives: bool,
}

/// Why what an agent wrote is not seen, and what to do: the ends of sentences.
pub(crate) struct Unpublished {
    pub(crate) why: String,
    pub(crate) mend: String,
}

impl Unpublished {
    /// By an exit, where every arrival publishes.
    pub(super) fn by_exit(parties: Parties<'_>) -> Self {
        let Parties { earlier, .. } = parties;
        Self {
            why: format!("{earlier} has exited, which may complete a barrier and publishes nothing"),
            mend: format!("let {earlier} arrive itself, after its access and before it exits"),
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
pub(super) fn participants(group_size: u32) -> String {
    format!("A count is from 1 to the size of the group, {group_size}.")
}
