//! Reads listings: `cuobjdump -sass`, `nvdisasm`, CuAssembler, maxas, and instructions alone.

mod about;
mod functions;
mod line;
mod mapping;
mod statement;

use crate::common::diagnostic::Sink;

use super::syntax::Listing;

/// The functions of a listing.
pub(super) fn read<'s>(source: &'s str, errors: &mut Sink) -> Listing<'s> {
    functions::read(source, errors)
}

pub(super) use line::looks_like_one;
