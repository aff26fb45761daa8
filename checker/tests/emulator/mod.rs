//! An emulator of one group of threads: a simple interpreter of PTX, with a reader of its own, random inputs
//! and random schedules. It shares nothing with the extraction of protocols.

mod alu;
mod chance;
mod compute;
mod cta;
mod followed;
mod kernel;
mod mbarriers;
mod memory;
mod mutants;
mod named;
mod opcode;
mod operands;
mod random;
mod reader;
mod schedule;
mod settle;
mod statements;
mod together;

pub(crate) use chance::Chance;
pub(crate) use cta::{Launch, Outcome};
pub(crate) use followed::{Followed, follow};
pub(crate) use kernel::Kernel;
pub(crate) use mutants::mutant;
pub(crate) use random::random_kernel;
pub(crate) use reader::kernels;
pub(crate) use schedule::run;
