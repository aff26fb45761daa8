//! Why a path goes no further, in words.

use barcheck_model::agent::FaultKind;
use barcheck_model::machine::CutReason;
use barcheck_model::program::{AgentId, LocalId, Program};

/// What went wrong in an evaluation.
pub(crate) fn fault_message(program: &Program, agent: AgentId, kind: &FaultKind) -> String {
    let name = |local: LocalId| {
        let locals = &program.code(agent).locals;
        locals.get(local.index()).map_or("a local", |l| l.name.as_str()).to_owned()
    };
    match kind {
        FaultKind::DivisionByZero => "division by zero".to_owned(),
        FaultKind::Overflow => {
            "overflow: the result does not fit 64 bits, or a shift is outside 0..=63".to_owned()
        }
        FaultKind::IndexOutside { index, length } => {
            format!("index {index} is outside an array of {length} elements")
        }
        FaultKind::Unset(local) => format!("`{}` is read before it is set", name(*local)),
        FaultKind::NotANumber(local) => format!("`{}` holds no number here", name(*local)),
        FaultKind::EmptyRange => "`any` over an empty range".to_owned(),
        FaultKind::Endless(local) => endless(local.map(name).as_deref()),
    }
}

fn endless(local: Option<&str>) -> String {
    match local {
        Some(name) => format!("local computation goes on too long to be followed; `{name}` keeps changing"),
        None => "local computation goes on too long to be followed".to_owned(),
    }
}

/// Why the model could not follow.
pub(crate) fn cut_message(reason: &CutReason) -> String {
    match reason {
        CutReason::NotModelled(what) => what.describe().to_owned(),
        CutReason::Endless(local) => endless(local.as_deref()),
    }
}
