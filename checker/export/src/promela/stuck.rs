//! `stuck-agent`: a run of its own, since SPIN judges single paths and the rule speaks of all that go on from
//! a state.
//!
//! From every state in which an agent is blocked one continuation is followed, and an acceptance cycle is one
//! that never releases it. An agent that is stuck stays so on every continuation; one that does not go round
//! ends, in a deadlock or at a rule that ends paths, which the other run finds: so that no violation is
//! missed. Conversely, where agents have no alternatives and no other rule is violated, all fair
//! continuations release the same agents: what is found is real. Where they have, another continuation might
//! release it, and the model says so.

use super::sets;
use crate::columns::Sort;
use crate::group::Group;
use crate::node::Act;
use crate::systems;
use barcheck_model::rule::Rule;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// What a continuation that goes round for ever does not show.
const ONE_OF_MANY: &str = "stuck-agent is judged on one continuation of each state: no agent that is stuck is missed, but one that \
                           is found might be released on another, by other choices";

/// What is in flight lands before anybody goes on.
const LANDINGS: &str = "#ifdef STUCK_AGENT\n/* The agent that has gone on last. */\nbyte last;\n#endif\n\
    #define LAST_AGENT last\n#define LANDING (AGENTS + 1)\n\
    inline note_last() {\n\tif\n\t:: watched && _pid < AGENTS -> last = _pid\n\t:: else\n\tfi\n}\n\
    inline landings_first() {\n\tif\n\t:: aloft -> turn = LANDING\n\t:: else\n\tfi\n}\n";

/// What is said less than whole.
pub(crate) fn notes(group: &Group) -> Vec<String> {
    let says_less = group.asserts_stuck_agent() && !is_confluent(group);
    says_less.then(|| ONE_OF_MANY.to_owned()).into_iter().collect()
}

/// Nothing but violations depends on what is chosen, or on who goes first.
fn is_confluent(group: &Group) -> bool {
    let reads = group.steps().any(|step| matches!(step.act, Act::ReadState(..)));
    // A wait for a phase may come too late, when the one after it is complete.
    let phased = group.steps().any(|step| systems::sort(&step.act) == Sort::Object);
    let races = Rule::ArrivalRace.holds_for(group.program.target) && !group.is_error(Rule::ArrivalRace);
    let chooses = group.nodes.iter().any(|node| {
        let fragments: BTreeSet<usize> = node.steps.iter().map(|step| step.fragment).collect();
        fragments.len() < node.steps.len()
    });
    !(reads || phased || races || chooses)
}

/// Who is blocked, and the continuation that is followed.
pub(super) fn write(group: &Group, out: &mut String) {
    let lanes: Vec<usize> = group.blocked_lanes().collect();
    let alternatives = group.nodes.iter().any(|node| node.steps.len() > 1);
    let landings = match group.slots() {
        0 => "#define LAST_AGENT _pid\n#define landings_first() skip\n#define note_last() skip\n",
        _ => LANDINGS,
    };
    let _ = write!(
        out,
        "\n{landings}#define BLOCKED(node) ((node) >= FIRST_WAITING && (node) < EXITED || {})\n#define HAS_ALTERNATIVES {}\n{}",
        sets::among("(node)", &lanes),
        u8::from(alternatives),
        include_str!("stuck.pml")
    );
}

/// The process that judges who is stuck.
pub(super) fn judge(group: &Group, out: &mut String) {
    out.push_str("\nactive proctype judge() {\n\tif\n");
    for agent in 0..group.starts.len() {
        let _ = writeln!(
            out,
            "\t:: d_step {{ !ended && BLOCKED(at[{agent}]) -> watched = {}; next_turn() }}",
            agent + 1
        );
    }
    // Without a step to leave by, a path that ends here would count as one that stays for ever.
    out.push_str("\tfi;\naccept_stuck_agent:\n\tended || turn == AGENTS\n}\n");
}
