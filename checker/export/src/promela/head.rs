//! The head of an exported model: what it is, how to run it, and what it asserts.

use crate::columns::Barriers;
use crate::group::Group;
use crate::says;
use crate::systems;
use barcheck_model::rule::Rule;
use std::fmt::Write as _;

/// The head, a comment.
pub(super) fn head(group: &Group, file: &str, barriers: &Barriers) -> String {
    let program = &group.program;
    let asserted = |rule: &&Rule| group.is_error(**rule) && **rule != Rule::StuckAgent;
    let errors: Vec<&str> = Rule::ALL.iter().filter(asserted).map(|rule| rule.name()).collect();
    let mut out = format!(
        "/* {}: {}, {} agents, as a model for SPIN, written by barcheck.\n\n   spin -a model.pml && cc -O2 -w -DSAFETY -DNOREDUCE \
         -o pan pan.c && ./pan -m1000000\n\n   For a state vector above 1024 bytes add -DVECTORSZ=4096 to cc's options. \
         `pan: ... assertion violated !(data_race)` names the\n   rule that is violated, `invalid end state` is deadlock; \
         `spin -t -p model.pml` shows the steps that lead there.\n   `errors: 0` means verified as far as what is \
         asserted goes, but only if pan has looked at everything:\n   if it says `max search depth too small`, run it with \
         a larger -m; if it says `Search not completed`, or runs\n   out of memory, add -DCOLLAPSE to cc's options, or \
         give it more memory.\n\n",
        says::plain(file),
        program.target,
        group.starts.len(),
    );
    wrapped(&mut out, &format!("Asserted: {}.", errors.join(", ")));
    out.push_str(
        "   evaluation_error: an operand has no value. cut_by_*, not_modelled, too_many_*: a path could not be\n   \
         followed, and without another violation nothing is proved; `spin -DIGNORE_CUTS -a` looks for others.\n",
    );
    if group.asserts_stuck_agent() {
        out.push_str(
            "\n   stuck-agent is looked for by a run of its own:\n\n   spin -DSTUCK_AGENT -a model.pml && cc -O2 -w -DNOREDUCE \
             -o pan pan.c && ./pan -a -A -E -m1000000\n\n   `pan: ... acceptance cycle` is a violation, and `spin \
             -DSTUCK_AGENT -t -p model.pml` shows the steps: the last move of\n   process `judge` begins to watch an agent, \
             which what follows, round for ever, does not release.\n",
        );
    } else if group.is_error(Rule::StuckAgent) {
        out.push_str("   Nor is an agent stuck: none can run for ever.\n");
    }
    for note in super::notes(group) {
        wrapped(&mut out, &format!("{note}."));
    }
    let called = |(number, id)| format!("{number} is {}", says::plain(&systems::name(program, id)));
    let names: Vec<String> = barriers.numbers().map(called).collect();
    if !names.is_empty() {
        wrapped(&mut out, &format!("Barriers by number and name: {}.", names.join(", ")));
    }
    out.push_str("*/\n");
    out
}

/// Text in lines of a comment.
fn wrapped(out: &mut String, text: &str) {
    let mut column = 0;
    for word in text.split(' ') {
        if column == 0 || column + word.len() > 110 {
            out.push_str(if column == 0 { "   " } else { "\n   " });
            column = 3;
        }
        let _ = write!(out, "{word} ");
        column += word.len() + 1;
    }
    out.push('\n');
}
