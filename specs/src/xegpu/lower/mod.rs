//! From the operations of a kernel to its code, as the extraction of protocols reads it.

mod affine;
mod arithmetic;
mod barriers;
mod control;
mod dispatch;
mod indices;
mod state;

use std::collections::HashMap;

use crate::kernel::code::{Action, Code};
use crate::module::Launch;

use super::error::MlirError;
use super::kernels::Agents;
use super::syntax::Operation;
use super::tree::Tree;
use state::{Context, Lowerer, Value};

/// The code of a kernel.
///
/// # Errors
/// A value is used that nothing defines.
pub(super) fn lower<'s>(
    source: &'s str,
    tree: &Tree<'_, 's>,
    kernel: &Operation<'s>,
    (launch, agents): (&Launch, &Agents),
) -> Result<Code, MlirError> {
    let mut lowerer = Lowerer {
        source,
        tree,
        launch,
        agents,
        code: Code::default(),
        names: HashMap::new(),
        scopes: vec![HashMap::new()],
        contexts: vec![Context::Entry],
        blocks: Vec::new(),
        calls: Vec::new(),
        handles: Vec::new(),
        whole: 0,
        error: None,
    };
    for (position, name) in tree.params(kernel).into_iter().enumerate() {
        let short = name.trim_start_matches('%');
        let value = match launch.param(Some((position, short)), short) {
            Some(given) => crate::kernel::code::Argument::Number(given as u64),
            None => {
                let name = lowerer.name(short);
                lowerer.code.same(name, launch.said(Some((position, short)), short), 64)
            }
        };
        lowerer.define(name, Value::Leaf(value));
    }
    lowerer.begin(kernel);
    if let Some(region) = kernel.regions.first() {
        lowerer.region(region);
    }
    lowerer.emit(kernel.span, Action::Exit);
    match lowerer.error {
        Some(error) => Err(error),
        None => Ok(lowerer.code),
    }
}
