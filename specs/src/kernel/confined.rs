//! Accesses within the memory that begins at their symbol.

use super::code::Code;
use super::tree::{Condition, Footprint, Statement};
use super::value::{Term, Values};

/// Leaves out what accesses would touch before or behind the memory of their symbol. Under a condition by
/// which lanes or rounds differ it is taken that it does not come to that, or the kernel would be beyond what
/// is defined. What is done in any case and touches some of it is not followed, nor is what would touch
/// nothing else.
pub(super) fn confine(statements: &mut [Statement], is_asked: bool, values: &Values, code: &Code) {
    for statement in statements {
        match statement {
            Statement::Access(access) => {
                if let Some(bytes) = &mut access.bytes
                    && let Some(length) = length(bytes, values, code)
                {
                    let is_cut = confined(bytes, length);
                    if is_cut && (!is_asked || bytes.parts.is_empty()) {
                        access.bytes = None;
                    }
                }
            }
            Statement::If { condition, then, otherwise, .. } => {
                let is_asked = is_asked || !matches!(condition, Condition::Uniform { .. });
                confine(then, is_asked, values, code);
                confine(otherwise, is_asked, values, code);
            }
            Statement::Copy { to, .. } => confine(to, false, values, code),
            Statement::Loop { body, .. } | Statement::For { body, .. } => {
                confine(body, is_asked, values, code);
            }
            _ => {}
        }
    }
}

/// How long the memory is that begins where an access is counted from.
fn length(bytes: &Footprint, values: &Values, code: &Code) -> Option<i64> {
    let [only] = bytes.base[..] else { return None };
    match values.term(only) {
        Term::Same(name) => i64::try_from(*code.lengths.get(name)?).ok(),
        _ => None,
    }
}

/// Whether something is left out.
fn confined(bytes: &mut Footprint, length: i64) -> bool {
    let is_cut = bytes.parts.iter().any(|(from, to)| *from < 0 || *to > length);
    bytes.parts.iter_mut().for_each(|(from, to)| (*from, *to) = ((*from).max(0), (*to).min(length)));
    bytes.parts.retain(|(from, to)| from < to);
    is_cut
}
