//! From the text of a kernel to its code, as the extraction of protocols reads it.

mod barriers;
mod cells;
mod compute;
mod flow;
mod state;

use crate::kernel::code::Code;
use crate::module::Launch;

use super::syntax::Function;
use state::Lowerer;

/// The code of a kernel.
pub(super) fn lower(function: &Function<'_>, launch: &Launch) -> Code {
    let mut lowerer = Lowerer::new(function, launch);
    lowerer.region(0);
    lowerer.code
}
