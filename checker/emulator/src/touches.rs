//! Which bytes of shared memory an instruction touches.

use super::alu::cut;
use super::cta::{Cta, lanes};
use super::kernel::{Instruction, Operand, WINDOW};
use super::opcode::{Op, Space, Type};
use super::races::{Access, How, Range};

/// Words of an opcode that make an access strong.
const STRONG: [&str; 5] = ["volatile", "relaxed", "acquire", "release", "mmio"];
/// Rows of a matrix that `ldmatrix` and `stmatrix` move, and their bytes.
const ROWS: usize = 8;
const ROW: u32 = 16;

impl Cta<'_> {
    /// Looks for races of an instruction, before it is executed.
    pub fn touch(&mut self, warp: usize, taken: u32, it: &Instruction) {
        if self.races.is_none() {
            return;
        }
        let (space, how) = match &it.op {
            Op::Load { space, .. } => (*space, if is_strong(it) { How::StrongRead } else { How::Read }),
            Op::Store { space, .. } => (*space, if is_strong(it) { How::StrongWrite } else { How::Write }),
            Op::Atomic { space, .. } => (*space, How::Atomic),
            Op::Copy => (Space::Shared, How::Fill),
            Op::Nothing if it.text.contains("cp.async.") => return self.groups_of_copies(warp, taken, it),
            Op::Nothing if is_fence(it) => return self.races.iter_mut().for_each(|races| races.fence(warp)),
            Op::Opaque if it.text.contains("ldmatrix.") => (Space::Shared, How::Read),
            Op::Nothing if it.text.contains("stmatrix.") => (Space::Shared, How::Write),
            _ => return,
        };
        let asks = how == How::StrongRead || matches!(it.op, Op::Atomic { returns: true, .. });
        let ranges = if matches!(space, Space::Shared | Space::Generic) {
            self.ranges(warp, taken, space, it).unwrap_or_default()
        } else {
            Vec::new()
        };
        if let Some(races) = &mut self.races {
            races.asks |= asks;
            races.touch(Access { warp, line: it.line, how }, &ranges);
        }
    }

    /// Groups of `cp.async`, and waits for them.
    fn groups_of_copies(&mut self, warp: usize, taken: u32, it: &Instruction) {
        let Some(races) = &mut self.races else { return };
        if it.text.contains("cp.async.commit_group") {
            races.commit(warp, taken);
        } else if it.text.contains("cp.async.wait_all") {
            races.wait(warp, taken, None);
        } else if let (true, Some(Operand::Number(but))) =
            (it.text.contains("cp.async.wait_group"), it.operands.first())
        {
            races.wait(warp, taken, Some(*but));
        }
    }

    fn ranges(&self, warp: usize, taken: u32, space: Space, it: &Instruction) -> Option<Vec<Range>> {
        let mut ranges = Vec::new();
        let mut add = |cta: &Self, lane: usize, operand: &Operand, bytes: u32| {
            let at = cta.value(warp, lane, operand);
            if let Some(first) = in_shared(space, at) {
                ranges.push(Range { lane: lane as u8, first, bytes, value: None });
            }
        };
        match &it.op {
            Op::Load { of, .. } => {
                let (to, from) = (it.operands.first()?, it.operands.get(1)?);
                let bytes = elements(to).len() as u32 * of.bits.div_ceil(8);
                lanes(taken).for_each(|lane| add(self, lane, from, bytes));
            }
            Op::Atomic { of, returns, .. } => {
                let at = it.operands.get(usize::from(*returns))?;
                lanes(taken).for_each(|lane| add(self, lane, at, of.bits.div_ceil(8)));
            }
            Op::Copy => {
                let (to, size) = (it.operands.first()?, it.operands.get(2)?);
                lanes(taken)
                    .for_each(|lane| add(self, lane, to, self.value(warp, lane, size).min(16) as u32));
            }
            Op::Store { of, .. } => return self.stored(warp, taken, space, *of, it),
            _ => {
                // One row for each of the first lanes.
                let is_address = |operand: &&Operand| matches!(operand, Operand::Address(..));
                let at = it.operands.iter().find(is_address)?;
                let matrices = ["x4", "x2", "x1"].iter().position(|word| has_word(it, word))?;
                let rows = (ROWS << 2) >> matrices;
                has_word(it, "m8n8").then_some(())?;
                lanes(taken).filter(|lane| *lane < rows).for_each(|lane| add(self, lane, at, ROW));
            }
        }
        Some(ranges)
    }

    /// What is stored is of interest if it is one value for all lanes.
    fn stored(
        &self,
        warp: usize,
        taken: u32,
        space: Space,
        of: Type,
        it: &Instruction,
    ) -> Option<Vec<Range>> {
        let (to, from) = (it.operands.first()?, elements(it.operands.get(1)?));
        let bytes = of.bits.div_ceil(8);
        let mut ranges = Vec::new();
        for (index, part) in (0_u64..).zip(from) {
            let mut values = lanes(taken).map(|lane| cut(self.value(warp, lane, part), of));
            let first = values.next();
            let value = first.filter(|first| values.all(|value| value == *first));
            for lane in lanes(taken) {
                let at = self.value(warp, lane, to).wrapping_add(index * u64::from(bytes));
                if let Some(first) = in_shared(space, at) {
                    ranges.push(Range { lane: lane as u8, first, bytes, value });
                }
            }
        }
        Some(ranges)
    }
}

fn elements(operand: &Operand) -> &[Operand] {
    if let Operand::Group(list) = operand { list } else { std::slice::from_ref(operand) }
}

fn has_word(it: &Instruction, word: &str) -> bool {
    it.text.split([' ', '.']).any(|other| other == word)
}

/// A fence that releases, with an arrival behind it, and is not between proxies.
fn is_fence(it: &Instruction) -> bool {
    let opcode = it.text.split(' ').find(|word| !word.starts_with('@')).unwrap_or_default();
    match opcode.split('.').collect::<Vec<_>>()[..] {
        ["membar", level, ..] => level != "proxy",
        ["fence", kind, ..] => !["proxy", "mbarrier_init", "acquire"].contains(&kind),
        _ => false,
    }
}

fn is_strong(it: &Instruction) -> bool {
    it.text.split([' ', '.']).any(|word| STRONG.contains(&word))
}

/// The place in shared memory, if an address is one.
fn in_shared(space: Space, address: u64) -> Option<u64> {
    let (space, at) =
        if space == Space::Generic { super::compute::window(address) } else { (space, address) };
    (space == Space::Shared).then_some(at & (WINDOW - 1))
}
