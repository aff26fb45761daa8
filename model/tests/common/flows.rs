//! What steps do to memory, written down.

use barcheck_model::machine::{Advanced, Choice, Detail, Finding, Log, Machine, State};
use barcheck_model::memory::{Flow, Memory};
use barcheck_model::program::LocationId;

/// What a step does to memory is done to the accesses to each location by itself, and comes to the same as
/// all at once.
pub(crate) fn assert_same_by_locations(
    machine: &mut Machine,
    before: &State,
    choice: Choice,
    (after, noted): (&Memory, &[Finding]),
) {
    let State { agents, barriers, memory, sequences, allocated, pending } = before.clone();
    let mut state = State { agents, barriers, memory: Flow::default(), sequences, allocated, pending };
    assert_eq!(machine.advance(&mut state, choice, &mut Log::default()), Advanced::Progress);
    let flow = state.memory;
    let program = machine.program().clone();
    let count = u32::try_from(program.locations()).expect("few");
    let mut all = Memory::default();
    for (first, end) in (0..count).map(|location| (LocationId(location), LocationId(location + 1))) {
        let mut here = memory.within(first, end);
        let unordered = !flow.apply((machine.layout(), &program), &mut here, |location| location == first);
        let conflicts = noted
            .iter()
            .any(|finding| matches!(finding.detail, Detail::Conflict { location, .. } if location == first));
        assert_eq!(unordered, conflicts, "{choice:?} {first:?}");
        let here = if conflicts { after.within(first, end) } else { here };
        all.append(&here);
    }
    assert_eq!(all, *after, "{choice:?}");
}
