//! From the text of a listing to the code of one entry, as the extraction of protocols reads it.

mod answers;
mod arithmetic;
mod barriers;
mod calls;
mod clusters;
mod collectives;
mod copies;
mod data;
mod dispatch;
mod flow;
mod half;
mod lanes;
mod logic;
mod memory;
mod objects;
mod of_lanes;
mod predicates;
mod registers;
mod results;
mod routes;
mod spills;
mod stacks;
mod state;
mod tensors;
mod webs;

use std::collections::HashMap;

use barcheck_model::program::Target;

use crate::kernel::code::Code;
use crate::module::Launch;

use super::syntax::Listing;
use state::Lowerer;

pub(super) use data::{constants_of, shown_param};

/// The code of the function at `entry` in the listing, with what it calls, in the statements of a target: the
/// BCU's, or PTX for kernels that use what only that has.
pub(super) fn lower(listing: &Listing<'_>, entry: usize, launch: &Launch, target: Target) -> Code {
    let mut lowerer = Lowerer {
        listing,
        launch,
        target,
        entry,
        code: Code::default(),
        names: HashMap::new(),
        registers: HashMap::new(),
        frames: Vec::new(),
        of_lanes: None,
        has_words: spills::is_of_words(&listing.functions[entry]),
        asks: listing.functions.iter().flat_map(|function| &function.statements).any(objects::asks),
        maps: Vec::new(),
        returns: HashMap::new(),
        reduces_all: (0..).zip(&listing.functions).all(|(at, function)| {
            at != entry && function.is_entry || barriers::reduces_all(function, launch.count())
        }),
    };
    lowerer.region(entry, 0);
    lowerer.asks_for_clusters();
    let mut cells: Vec<u32> = lowerer.registers.values().copied().collect();
    cells.sort_unstable();
    let mut code = lowerer.code;
    webs::separate(&mut code, &cells);
    tensors::name_maps(&mut code, &lowerer.maps);
    code
}
