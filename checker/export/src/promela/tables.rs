//! The tables of an exported Promela model: what every step and every wait leads to.

use crate::columns::{Barriers, Columns, identifier};
use crate::group::{ExportError, Group};
use crate::node::{Act, Kind, Node, Step};
use crate::says;
use crate::systems::{self, System};
use std::fmt::Write as _;

/// Numbers that SPIN reads at most in the initial value of one array: its parser keeps all of them on a stack
/// of 10,000.
pub(super) const MOST_ROWS: usize = 9_900;
/// Characters of a line in a table.
const LINE: usize = 100;

/// What a step is called, and what the model does at it.
pub(super) fn verb(system: &System, act: &Act) -> (String, String) {
    let of = |name: &str, does: &str| (name.to_owned(), does.to_owned());
    match act {
        Act::Go => of("GO", "at[_pid] = step_go[row]"),
        Act::Exit => of("EXIT", "leave()"),
        Act::Decide(..) => of("DECIDE", "decide()"),
        Act::Access(..) => of("ACCESS", "access_memory()"),
        Act::Fence(_) => of("FENCE", "fence()"),
        Act::MemoryBarrier(..) => of("MEMORY_BARRIER", "memory_barrier()"),
        Act::Barrier(action, _) => {
            let spelling = (system.spelling)(action);
            of(spelling.name, spelling.promela)
        }
        Act::Alloc(_) => of("ALLOCATE", "allocate()"),
        Act::Refuse(rule) => {
            let rule = identifier(*rule);
            (format!("REFUSE_{}", rule.to_uppercase()), format!("end_{rule}"))
        }
        Act::Fault => of("FAIL", "cut(evaluation_error)"),
        Act::ReadState(..) => of("READ_STATE", "read_state()"),
        Act::WriteState(..) => of("WRITE_STATE", "write_state()"),
        Act::NotModelled => of("LEAVE_OPEN", "cut(not_modelled)"),
    }
}

/// The columns as arrays that are no part of the state.
pub(super) fn declare_all(columns: &Columns, out: &mut String) {
    for (name, values) in columns.all() {
        declare(out, "hidden ", name, values);
    }
}

/// An array with its values.
pub(super) fn declare(out: &mut String, how: &str, name: &str, values: &[usize]) {
    let kind = match values.iter().max() {
        Some(32_768..) => "int",
        Some(256..) => "short",
        _ => "byte",
    };
    let _ = write!(out, "{how}{kind} {name}[{}] = {{", values.len());
    let mut column = LINE;
    for (index, value) in values.iter().enumerate() {
        let text = format!("{value}{}", if index + 1 < values.len() { "," } else { "" });
        if column + text.len() + 1 > LINE {
            out.push_str("\n\t");
            column = 4;
        } else {
            out.push(' ');
        }
        column += text.len() + 1;
        out.push_str(&text);
    }
    out.push_str("\n}\n");
}

/// The tables, and the names of the acts that occur in them, by number.
pub(super) struct Tables {
    pub(super) text: String,
    pub(super) acts: Vec<(String, String)>,
    /// Columns of steps that hold one value throughout, which takes their place in the text: C compilers are
    /// slow where tables are large.
    constants: Vec<(&'static str, usize)>,
}

impl Tables {
    /// `fill_wait` and `fill` add the columns that the target's instructions need.
    pub(super) fn of(
        group: &Group,
        barriers: &Barriers,
        fill_wait: &dyn Fn(&Node, &mut Columns),
        fill: &mut dyn FnMut(&Step, &mut Columns),
    ) -> Result<Self, ExportError> {
        let (mut acts, mut steps, mut waits) = (Vec::new(), Columns::default(), Columns::default());
        let mut text = String::from(
            "/* The nodes that have steps; the rows of the tables, in the order of the steps:\n",
        );
        let mut rows = 0;
        for (number, node) in group.nodes.iter().enumerate() {
            if matches!(node.kind, Kind::Goes { .. }) {
                waits.push("first_step", rows);
                if group.asserts_stuck_agent() {
                    waits.push("alternatives", node.steps.len());
                }
            }
            if let Kind::Waits { barrier, releases, .. } = &node.kind {
                waits.push("wait_bar", barriers.number(*barrier));
                waits.push("wait_first", waits.length("released_to"));
                releases.iter().for_each(|(_, to)| waits.push("released_to", *to));
                fill_wait(node, &mut waits);
            }
            for step in &node.steps {
                let verb = verb(group.system, &step.act);
                let act = acts.iter().position(|known| *known == verb).unwrap_or_else(|| {
                    acts.push(verb);
                    acts.len() - 1
                });
                steps.push("step_act", act);
                steps.push("step_go", systems::goes(group.system, step));
                fill(step, &mut steps);
                let agents = says::agents(&node.agents);
                let noun = group.program.target.agent_noun();
                let _ = writeln!(
                    text,
                    "   row {rows}: node {number}, {noun} {agents}, {}, to node {}",
                    says::plain(&step.says),
                    step.next
                );
                rows += 1;
            }
        }
        text.push_str("*/\n");
        let longest = steps.longest().max(waits.longest());
        if longest > MOST_ROWS {
            return Err(ExportError::TooMany("rows in the tables of steps", longest, MOST_ROWS));
        }
        // Promela has no empty arrays.
        let of_target = group.system.wait_columns;
        for name in ["first_step", "wait_bar", "wait_first", "released_to"].iter().chain(of_target) {
            waits.fill_empty(name);
        }
        for name in ["step_act", "step_go"] {
            steps.fill_empty(name);
        }
        declare_all(&waits, &mut text);
        let constants = steps.take_constant();
        declare_all(&steps, &mut text);
        Ok(Self { text, acts, constants })
    }
}

impl Tables {
    /// The text with the value of every constant column in its place.
    pub(super) fn fold(&self, text: String) -> String {
        self.constants
            .iter()
            .fold(text, |text, (name, value)| text.replace(&format!("{name}[row]"), &value.to_string()))
    }
}
