//! What lanes of a warp do together: shuffles, votes, reductions, elections.

use super::alu::{compute, cut};
use super::cta::{Cta, lanes};
use super::kernel::{Instruction, Operand};
use super::opcode::{Op, Together};

impl Cta<'_> {
    pub fn together(&mut self, warp: usize, mask: u32, instruction: &Instruction) -> Option<()> {
        let Op::Together { what, .. } = &instruction.op else { return None };
        let operands = &instruction.operands;
        let value = |cta: &Self, lane: usize, at: usize| Some(cta.value(warp, lane, operands.get(at)?));
        let mut results = Vec::new();
        for lane in lanes(mask) {
            let mut holds = false;
            let result = match what {
                Together::Meet => return Some(()),
                Together::Elect => {
                    holds = lane == mask.trailing_zeros() as usize;
                    u64::from(mask.trailing_zeros())
                }
                Together::Vote(by) => {
                    let of = |other: usize| value(self, other, 1).is_some_and(|value| value & 1 == 1);
                    let count = lanes(mask).filter(|other| of(*other)).count();
                    match by.as_str() {
                        "all" => u64::from(count == mask.count_ones() as usize),
                        "any" => u64::from(count > 0),
                        "uni" => u64::from(count == 0 || count == mask.count_ones() as usize),
                        _ => lanes(mask).filter(|other| of(*other)).map(|other| 1_u64 << other).sum(),
                    }
                }
                Together::Match => {
                    let mine = value(self, lane, 1)?;
                    lanes(mask)
                        .filter(|other| value(self, *other, 1) == Some(mine))
                        .map(|other| 1_u64 << other)
                        .sum()
                }
                Together::Reduce(by, of) => {
                    let mut all =
                        lanes(mask).filter_map(|other| value(self, other, 1)).map(|value| cut(value, *of));
                    let first = all.next()?;
                    all.try_fold(first, |so_far, value| {
                        compute(by, super::opcode::Type { ..*of }, &[so_far, value])
                    })?
                }
                Together::Shuffle(by) => {
                    let (offset, clamp) = (value(self, lane, 2)? as i64 & 31, value(self, lane, 3)?);
                    let (most, segment) = (clamp as i64 & 31, (clamp >> 8) as i64 & 31);
                    let here = lane as i64;
                    let bound = (here & segment) | (most & !segment);
                    let least = here & segment;
                    let from = match by.as_str() {
                        "up" => here - offset,
                        "down" => here + offset,
                        "bfly" => here ^ offset,
                        _ => least | (offset & !segment),
                    };
                    holds = if by == "up" { from >= bound } else { from <= bound };
                    let from = if holds { from as usize & 31 } else { lane };
                    // A lane that is not there gives what nobody knows.
                    let is_there = mask >> from & 1 == 1;
                    if is_there {
                        value(self, from, 1)? & 0xffff_ffff
                    } else {
                        self.chance.number() & 0xffff_ffff
                    }
                }
            };
            results.push((lane, result, holds));
        }
        for (lane, result, holds) in results {
            match &operands[0] {
                Operand::Pair(first, second) => {
                    let (first, second) = (*first, *second);
                    if let Some(register) = first {
                        self.warps[warp].registers[register][lane] = result;
                    }
                    if let Some(register) = second {
                        self.warps[warp].registers[register][lane] = holds.into();
                    }
                }
                operand => self.set(warp, lane, operand, result),
            }
        }
        Some(())
    }
}
