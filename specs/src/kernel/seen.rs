//! What threads may see of what others do meanwhile: results of atomic operations and of strong loads.

use super::code::{Action, Argument, Code};
use super::graph::{Graph, Next};
use crate::common::span::Span;

/// A branch that goes by what threads may see of what others do meanwhile.
pub(super) fn decides(code: &Code, graph: &Graph) -> Option<Span> {
    let mut seen = code.seen.clone();
    loop {
        let before = seen.len();
        for instruction in &code.instructions {
            if let Action::Compute { to, arguments, .. } = &instruction.action {
                let of =
                    |argument: &Argument| matches!(argument, Argument::Register(of) if seen.contains(of));
                if arguments.iter().any(of)
                    || instruction.guard.is_some_and(|guard| seen.contains(&guard.register))
                {
                    seen.insert(*to);
                }
            }
        }
        if seen.len() == before {
            break;
        }
    }
    let blocks = graph.blocks.iter().enumerate().filter(|(block, _)| graph.reached[*block]);
    blocks.into_iter().find_map(|(_, block)| match block.then {
        Next::Branch { guard, span, .. } if seen.contains(&guard.register) => Some(span),
        _ => None,
    })
}
