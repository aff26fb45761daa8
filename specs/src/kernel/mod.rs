//! From the code of a kernel to a protocol: what remains of each warp once everything that does not concern
//! barriers has been sliced away and everything that is known has been worked in.
//!
//! Nothing here knows a notation: readers of compiled code hand over [`code::Code`].

mod again;
mod alignment;
mod arithmetic;
mod assignments;
pub(crate) mod code;
mod copies;
mod count;
mod counts;
mod decisions;
mod document;
mod dominators;
mod evaluate;
mod expression;
mod extract;
mod flow;
mod gates;
mod given;
mod graph;
mod in_node;
mod joins;
mod keys;
mod landings;
mod lanes;
mod leaders;
mod low_bits;
mod meetings;
mod mentions;
mod mixed;
mod numbers;
mod objects;
mod of_lanes;
mod offsets;
mod operands;
mod origins;
mod peeks;
mod quotients;
mod ranges;
mod reach;
mod recurrences;
pub(crate) mod registers;
mod residual;
mod shares;
mod shifts;
mod slice;
mod steps;
mod structure;
mod terms;
mod tidy;
mod traits;
mod tree;
mod trips;
mod uniform;
mod value;
mod votes;
mod waits;
mod warp;
mod writes;

pub(crate) use extract::{Extraction, Failure, Group, extract};
pub(crate) use tree::Assumption;
pub(crate) use warp::ALL;
