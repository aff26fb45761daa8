//! An emulator of one group of threads: a simple interpreter of PTX, with a reader of its own, random inputs
//! and random schedules. It shares nothing with the extraction of protocols.
#![allow(missing_docs, unreachable_pub)]

mod alu;
mod chance;
mod compute;
mod cta;
mod followed;
mod kernel;
mod mbarriers;
mod memory;
mod memory_mutants;
mod mutants;
mod named;
mod opcode;
mod operands;
mod races;
mod random;
mod random_accesses;
mod random_fences;
mod random_orders;
mod random_pipes;
mod random_rings;
mod random_shared;
mod random_values;
mod reader;
mod schedule;
mod settle;
mod statements;
mod together;
mod touches;

pub use chance::Chance;
pub use cta::{Launch, Outcome};
pub use followed::{Followed, follow};
pub use kernel::Kernel;
pub use memory_mutants::memory_mutant;
pub use mutants::{Mutant, mutant};
pub use races::{Access, How, Race};
pub use random::random_kernel;
pub use random_orders::random_kernel_of_warps;
pub use random_pipes::random_kernel_of_stages;
pub use random_shared::random_kernel_with_shared_memory;
pub use reader::kernels;
pub use schedule::{Run, run};
