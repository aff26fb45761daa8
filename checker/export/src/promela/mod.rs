//! Promela, the language of SPIN.
//!
//! An exported model is data and text: tables of what every step leads to, and files (`*.pml`, beside this
//! one) that say in Promela what a barrier and memory do. One process stands for each agent, one `d_step` is
//! one step, and one more process judges states. `deadlock` is what SPIN itself calls an invalid end state.

mod head;
mod judge;
mod memory;
mod phases;
mod sets;
mod states;
mod stuck;
mod tables;

use super::columns::{Barriers, Columns, identifier};
use super::group::{ExportError, Group};
use super::node::{Act, Kind, Node};
use super::systems;
use barcheck_model::rule::Rule;
use std::fmt::Write as _;
pub(crate) use stuck::notes;
use tables::{Tables, declare};

/// Agents that a set of them in a Promela integer has room for.
const MOST_AGENTS: usize = 32;

/// Alternatives that are written out one by one; where there are more, one is picked first.
const MOST_COPIES: usize = 2;

const COMMON: &str = include_str!("common.pml");
const UNIFORM: &str = include_str!("uniform.pml");

/// A protocol as a Promela model; `file` is what the protocol is called.
///
/// # Errors
/// It has more agents, or its automata more steps, than SPIN takes.
pub(super) fn write(group: &Group, file: &str) -> Result<String, ExportError> {
    let agents = group.starts.len();
    if agents > MOST_AGENTS {
        return Err(ExportError::TooMany("agents", agents, MOST_AGENTS));
    }
    states::check(group)?;
    let barriers = group.barriers();
    phases::check(&barriers)?;
    let operations = phases::Operations::of(group);
    let memory = memory::Accesses::of(group);
    let (lists, sequences) = (memory::Lists::of(group), uses_sequences(group));
    let system = group.system;
    let fill_wait = |node: &Node, columns: &mut Columns| (system.fill_wait)(node, columns);
    let tables = Tables::of(group, &barriers, &fill_wait, &mut |step, columns| {
        systems::fill_step(system, &barriers, step, columns);
        operations.fill(step, columns);
        lists.fill(step, columns);
        if sequences {
            let decision = match step.act {
                Act::Decide(sequence, value) => (sequence.index(), usize::from(value)),
                _ => (0, 0),
            };
            columns.push("step_sequence", decision.0);
            columns.push("step_value", decision.1);
        }
        states::fill_step(step, columns);
    })?;
    let mut out = head::head(group, file, &barriers);
    sizes(group, &barriers, &mut out);
    rules(group, &mut out);
    out.push_str(&tables.text);
    out.push('\n');
    out.push_str(COMMON);
    let node = if group.nodes.len() < 256 { "byte" } else { "short" };
    declare_starts(group, node, &mut out);
    if sequences {
        out.push_str(UNIFORM);
    }
    memory.write(group, &barriers, &mut out);
    operations.write(group, &barriers, &mut out);
    out.push_str(system.promela);
    states::write(group, &mut out);
    if group.asserts_stuck_agent() {
        stuck::write(group, &mut out);
    }
    perform(group, &tables, &mut out);
    agents_process(group, &mut out);
    operations.process(group, &mut out);
    if group.asserts_stuck_agent() {
        out.push_str("\n#ifdef STUCK_AGENT\n");
        stuck::judge(group, &mut out);
        out.push_str("\n#else\n");
        judge(group, &barriers, &mut out);
        out.push_str("\n#endif\n");
    } else {
        judge(group, &barriers, &mut out);
    }
    Ok(tables.fold(out))
}

fn uses_sequences(group: &Group) -> bool {
    group.steps().any(|step| matches!(step.act, Act::Decide(..)))
}

/// Numbers that the text refers to.
fn sizes(group: &Group, barriers: &Barriers, out: &mut String) {
    let first = |rank: u8| group.nodes.iter().take_while(|node| node.kind.rank().0 < rank).count();
    let agents = group.starts.len();
    let set = match agents {
        0..=8 => "byte",
        9..=16 => "short",
        _ => "int",
    };
    let _ = write!(
        out,
        "\n#define AGENTS {agents}\n#define BARRIERS {}\n#define SET {set}\n/* Nodes are in this order: those with steps, \
         those that wait for a barrier, those whose lanes wait for one\n   another for ever, the one of all who have \
         exited, and those where local computation has failed. */\n#define FIRST_WAITING {}\n#define FIRST_PARKED {}\n\
         #define EXITED {}\n",
        barriers.len(),
        first(1),
        first(2),
        first(3),
    );
    if uses_sequences(group) {
        let _ = writeln!(out, "#define SEQUENCES {}", group.program.sequences.len());
        let may = sets::may_decide(group);
        let _ = writeln!(out, "#define MAY_DECIDE(sequence, node) ({may})");
    }
    out.push_str(&(group.system.sizes)(group.sizes(barriers)));
}

/// What becomes of a violation, by the level of its rule.
fn rules(group: &Group, out: &mut String) {
    let target = group.program.target;
    let mut names = vec!["evaluation_error".to_owned(), "not_modelled".to_owned()];
    names.extend(["too_many_decisions_ahead", "too_many_in_flight"].map(str::to_owned));
    let mut switches = String::new();
    for rule in Rule::ALL.iter().copied().filter(|rule| rule.holds_for(target)) {
        let name = identifier(rule);
        let does = match (rule.ends_path(target), group.is_error(rule)) {
            (true, true) => format!("#define end_{name} violated({name})\n"),
            (true, false) => format!("#define end_{name} cut(cut_by_{name})\n"),
            (false, true) => format!("#define note_{name} noted({name})\n"),
            (false, false) => format!("#define note_{name} skip\n"),
        };
        switches.push_str(&does);
        names.push(if rule.ends_path(target) && !group.is_error(rule) {
            format!("cut_by_{name}")
        } else {
            name
        });
    }
    out.push_str(
        "\n/* Each is 1 only while its assertion is checked; the assertion that fails names the rule. */\n",
    );
    for name in names {
        let _ = writeln!(out, "hidden byte {name};");
    }
    out.push_str(
        "/* A rule that is an error is asserted. Of the others, those that end paths cut them short. */\n",
    );
    out.push_str(&switches);
    out.push('\n');
}

fn declare_starts(group: &Group, node: &str, out: &mut String) {
    let mut starts = String::new();
    declare(&mut starts, "", "at", &group.starts);
    let body = starts.split_once(' ').map_or("", |(_, body)| body);
    let _ = write!(out, "\n/* The node of each agent. */\n{node} {body}");
}

/// One step: what is done, by the number of the act.
fn perform(group: &Group, tables: &Tables, out: &mut String) {
    out.push_str("\n/* ---- Steps ---- */\n\n");
    for (number, (name, _)) in tables.acts.iter().enumerate() {
        let _ = writeln!(out, "#define {name} {number}");
    }
    after_a_step(group, out);
    let checks = phases::checks_reach(group);
    out.push_str("\n/* Agent _pid makes the step of a row. */\ninline perform() {\n");
    out.push_str(if checks { "\treach();\n\tif\n\t:: found -> end_remote_after_exit\n" } else { "\tif\n" });
    if tables.acts.is_empty() {
        out.push_str("\t:: else\n");
    }
    for (name, does) in &tables.acts {
        let of = if checks { "!found && " } else { "" };
        let _ = writeln!(out, "\t:: {of}step_act[row] == {name} -> {does}");
    }
    out.push_str("\tfi;\n\tafter_a_step()\n}\n");
}

/// What is done after every step, and every landing.
fn after_a_step(group: &Group, out: &mut String) {
    out.push_str("\n/* What has become of no account is forgotten. */\ninline after_a_step() {\n\tskip");
    if uses_sequences(group) {
        out.push_str(";\n\tforget_decisions()");
    }
    if group.has_memory() {
        out.push_str(";\n\tforget_settled()");
    }
    out.push_str(states::after_a_step(group));
    let failed = group.nodes.iter().position(|node| node.kind == Kind::Failed);
    let endless = group.nodes.iter().position(|node| node.kind == Kind::Endless);
    for (first, until, why) in [(failed, endless, "evaluation_error"), (endless, None, "not_modelled")] {
        if let Some(first) = first {
            let until = until.unwrap_or(group.nodes.len());
            let _ = write!(
                out,
                ";\n\tfor (agent : 0 .. AGENTS - 1) {{\n\t\tif\n\t\t:: !ended && at[agent] >= {first} && at[agent] < {until} \
                 -> cut({why})\n\t\t:: else\n\t\tfi\n\t}}"
            );
        }
    }
    if group.asserts_stuck_agent() {
        out.push_str(";\n\tnext_turn()");
    }
    out.push_str("\n}\n");
}

/// The processes of the agents.
fn agents_process(group: &Group, out: &mut String) {
    let noun = group.program.target.agent_noun();
    let most = group.nodes.iter().map(|node| node.steps.len()).max().unwrap_or_default().max(1);
    // Nodes with most alternatives come first.
    let with = |pick: usize| group.nodes.iter().take_while(|node| node.steps.len() > pick).count();
    if most > MOST_COPIES {
        out.push_str("\n/* Which of several alternatives an agent takes; 0 between steps. */\nbyte pick;\n");
    }
    let (goes, chosen): (&str, fn(usize) -> String) = match group.asserts_stuck_agent() {
        true => ("!ended && MY_TURN", |pick| format!(" && CHOSEN({pick})")),
        false => ("!ended", |_| String::new()),
    };
    let _ = write!(out, "\nactive [AGENTS] proctype {noun}() {{\n\tdo\n");
    if most > MOST_COPIES {
        let pick = |pick| format!("\t\t:: at[_pid] < {}{} -> pick = {pick}\n", with(pick), chosen(pick));
        let _ = write!(
            out,
            "\t:: atomic {{ {goes} && at[_pid] < {several} ->\n\t\tif\n{picks}\t\tfi;\n\t\td_step {{ row = first_step[at[_pid]] + \
             pick; pick = 0; perform(); row = 0 }}\n\t}}\n\t:: d_step {{ {goes} && at[_pid] >= {several} && at[_pid] < {all} -> row = \
             first_step[at[_pid]]; perform(); row = 0 }}\n",
            several = with(1),
            picks = (0..most).map(pick).collect::<String>(),
            all = with(0)
        );
    } else {
        for pick in 0..most {
            let _ = writeln!(
                out,
                "\t:: d_step {{ {goes} && at[_pid] < {}{} -> row = first_step[at[_pid]] + {pick}; perform(); row = 0 }}",
                with(pick),
                chosen(pick)
            );
        }
    }
    out.push_str("\tod\n}\n");
}

/// The process that judges states.
fn judge(group: &Group, barriers: &Barriers, out: &mut String) {
    let agents = 0..group.starts.len();
    let all_exited: Vec<String> = agents.map(|agent| format!("HAS_EXITED({agent})")).collect();
    let _ = write!(
        out,
        "\n#define ALL_EXITED ({})\n\nactive proctype judge() {{\nend:\tdo\n\t/* An end that is none of a deadlock. */\n\
         \t:: ended || ALL_EXITED\n",
        all_exited.join(" && ")
    );
    let failed = |kind| group.starts.iter().any(|start| group.nodes[*start].kind == kind);
    for (kind, why) in [(Kind::Failed, "evaluation_error"), (Kind::Endless, "not_modelled")] {
        if failed(kind) {
            let _ = writeln!(out, "\t:: d_step {{ !ended -> cut({why}) }}");
        }
    }
    judge::judge(group, barriers, out);
    out.push_str("\tod\n}\n");
}
