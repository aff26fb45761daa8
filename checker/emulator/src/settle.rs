//! Lanes of a warp that wait for one another, and warps that wait for one another.

use super::cta::{Cta, Did, Event, Outcome, Parked, lanes};
use super::kernel::{Instruction, Operand};
use super::named::Operands;
use super::opcode::{Arrival, Op, Together};
use super::races::Through;

impl Cta<'_> {
    /// A lane that has come to a barrier, with what it brings.
    pub fn at_barrier(
        &self,
        warp: usize,
        lane: usize,
        instruction: &Instruction,
        what: Arrival,
        aligned: Option<usize>,
    ) -> Option<Parked> {
        let operands = &instruction.operands;
        let number = |at: usize| Some(self.value(warp, lane, operands.get(at)?) & 0xffff_ffff);
        let (first, last) = match what {
            Arrival::Sync | Arrival::Arrive => (0, operands.len()),
            _ => (1, operands.len() - 1),
        };
        if operands.iter().any(|operand| matches!(operand, Operand::Other(_))) {
            return None;
        }
        let count = if last > first + 1 { Some(number(first + 1)?) } else { None };
        let with = Operands { what, id: number(first)?, count };
        Some(Parked::AtBarrier { with, aligned, is_true: last < operands.len() && number(last)? & 1 == 1 })
    }

    /// Lets go on whoever has nobody to wait for any longer.
    pub fn settle(&mut self, warp: usize) {
        if self.ended.is_some() {
            return;
        }
        while self.done_together(warp) {}
        let live = self.warps[warp].live;
        if live == 0 {
            self.barriers.exit(warp);
            self.events.push(Event { warp, line: 0, is_aligned: false, did: Did::Exit });
        } else {
            self.arrive(warp);
        }
        self.complete();
    }

    fn arrive(&mut self, warp: usize) {
        let state = &self.warps[warp];
        let live: Vec<usize> = lanes(state.live).collect();
        let key = |lane: &usize| match &state.parked[*lane] {
            Some(Parked::AtBarrier { with, aligned, .. }) => Some((*with, *aligned)),
            _ => None,
        };
        let keys: Vec<_> = live.iter().filter_map(key).collect();
        let Some((with, aligned)) = keys.first().copied() else { return };
        let line = |lane: usize| self.kernel.code[state.places[lane]].line;
        if keys.iter().any(|other| other.1.is_some() && *other != (with, aligned)) {
            let places: Vec<usize> = live.iter().map(|lane| line(*lane)).collect();
            let story = format!("warp {warp}, lanes at lines {places:?}");
            self.ended = Some(Outcome::Misuse("partial-warp".to_owned(), story));
            return;
        }
        if keys.len() < live.len() || keys.iter().any(|other| other.0 != with) {
            return;
        }
        let is_true =
            |lane: &&usize| matches!(state.parked[**lane], Some(Parked::AtBarrier { is_true: true, .. }));
        let true_ones = live.iter().filter(is_true).count() as u64;
        let line = line(live[0]);
        if let Err(rule) = self.barriers.arrive(warp, with, true_ones, live.len() as u64) {
            self.ended = Some(Outcome::Misuse(rule, format!("warp {warp}, line {line}")));
            return;
        }
        if let Some(races) = &mut self.races {
            races.release(warp, Through::Named(with.id));
        }
        let did = Did::Arrive(with);
        self.events.push(Event { warp, line, is_aligned: aligned.is_some(), did });
        for lane in live {
            if with.what == Arrival::Arrive {
                self.go_on(warp, lane);
            } else {
                self.warps[warp].parked[lane] = Some(Parked::Waits);
            }
        }
    }

    fn complete(&mut self) {
        while let Some(completed) = self.barriers.completed() {
            for warp in (0..self.warps.len()).filter(|warp| completed.waiting >> warp & 1 == 1) {
                for lane in lanes(self.warps[warp].live) {
                    let place = self.warps[warp].places[lane];
                    let instruction = &self.kernel.code[place];
                    if !matches!(instruction.op, Op::Barrier { what: Arrival::Sync, .. }) {
                        self.set(warp, lane, &instruction.operands[0], completed.result);
                    }
                    self.go_on(warp, lane);
                }
                if let Some(races) = &mut self.races {
                    races.acquire(warp, Through::Named(completed.id as u64));
                }
            }
            if let Some(races) = &mut self.races {
                races.forget(Through::Named(completed.id as u64));
            }
        }
    }

    /// Does what lanes do together, once, if all of a mask are there.
    fn done_together(&mut self, warp: usize) -> bool {
        let state = &self.warps[warp];
        let at = |lane: usize| match &state.parked[lane] {
            Some(Parked::Together { place, mask }) => Some((*place, *mask)),
            _ => None,
        };
        let is_meeting =
            |place: usize| matches!(self.kernel.code[place].op, Op::Together { what: Together::Meet, .. });
        let found = lanes(state.live).find_map(|lane| {
            let (place, mask) = at(lane)?;
            let mask = (mask | 1 << lane) & state.live;
            let is_there = |other: usize| {
                at(other).is_some_and(|(there, _)| there == place || is_meeting(there) && is_meeting(place))
            };
            lanes(mask).all(is_there).then_some((place, mask))
        });
        let Some((place, mask)) = found else { return false };
        if !is_meeting(place) {
            let instruction = &self.kernel.code[place];
            if self.together(warp, mask, instruction).is_none() {
                self.ended = Some(super::cta::beyond(instruction));
                return false;
            }
        }
        for lane in lanes(mask) {
            self.go_on(warp, lane);
        }
        true
    }

    /// What it means that no lane has a step.
    pub fn nobody_goes_on(&mut self) -> Outcome {
        if self.warps.iter().all(|warp| warp.live == 0) {
            return Outcome::Finished;
        }
        let mut story = Vec::new();
        let mut is_apart = false;
        for (index, warp) in self.warps.iter().enumerate() {
            let mut lines: Vec<(usize, u32)> = Vec::new();
            for lane in lanes(warp.live) {
                let line = self.kernel.code[warp.places[lane]].line;
                is_apart |= matches!(warp.parked[lane], Some(Parked::Together { .. }));
                match lines.iter_mut().find(|(other, _)| *other == line) {
                    Some((_, mask)) => *mask |= 1 << lane,
                    None => lines.push((line, 1 << lane)),
                }
            }
            let shown = |(line, mask): &(usize, u32)| format!("line {line} {mask:08x}");
            story.push(format!("warp {index}: {}", lines.iter().map(shown).collect::<Vec<_>>().join(", ")));
        }
        let story = story.join("\n  ");
        if is_apart { Outcome::Apart(story) } else { Outcome::Hang(story) }
    }
}
