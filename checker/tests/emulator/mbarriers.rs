//! Barriers in shared memory. They are not emulated yet.

use super::cta::Cta;
use super::kernel::Instruction;

#[derive(Default)]
pub(crate) struct Mbarriers;

impl Cta<'_> {
    pub(crate) fn mbarrier(&mut self, _: usize, _: u32, _: usize, _: &Instruction) -> Option<()> {
        None
    }
}
