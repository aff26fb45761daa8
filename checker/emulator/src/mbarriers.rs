//! Barriers in shared memory, and what arrives at them later: copies and commits.
//!
//! How many bytes a tensor copy has does not stand in the code. Such copies are slow here: they land when
//! nobody has a step, and then bring all the bytes that are expected.

use super::cta::{Cta, Outcome, Parked, lanes};
use super::kernel::{Instruction, Operand};
use super::opcode::{Memory, Op};
use super::races::{Clock, Through};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default)]
struct Object {
    expected: i64,
    pending: i64,
    bytes: i64,
    phase: u64,
    /// Tensor copies that have been begun in this phase.
    copies: usize,
}

/// What a lane waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// The phase with this parity is over.
    Parity(u64),
    /// This phase is over.
    Phase(u64),
}

/// What lands some time.
#[derive(Clone, Debug)]
enum Landing {
    Bytes(u64, i64),
    /// With it comes what its warp had done.
    Arrival(u64, Option<Clock>),
}

#[derive(Default)]
pub struct Mbarriers {
    objects: BTreeMap<u64, Object>,
    landings: Vec<Landing>,
    /// Steps other than questions, and how often in a row everybody has given up asking without one of them.
    steps: usize,
    given_up: (usize, usize),
}

/// Everybody who asks and gets no answer may ask so often again, before it is a hang.
const ROUNDS: usize = 4;

impl Mbarriers {
    fn is_over(&self, at: u64, until: Until) -> Option<bool> {
        let phase = self.objects.get(&at)?.phase;
        Some(match until {
            Until::Parity(parity) => phase & 1 != parity & 1,
            Until::Phase(token) => phase != token,
        })
    }
}

impl Cta<'_> {
    pub fn mbarrier(&mut self, warp: usize, taken: u32, place: usize, it: &Instruction) -> Option<()> {
        let Op::Memory(memory) = &it.op else { return None };
        if it.text.contains("cta_group::2") || it.text.contains("multicast") {
            return None;
        }
        for lane in lanes(taken) {
            if let Err(rule) = self.mbarrier_one((warp, lane), place, memory, it)? {
                let story = format!("warp {warp}, lane {lane}, line {}: {}", it.line, it.text);
                self.ended = Some(Outcome::Misuse(rule.to_owned(), story));
                break;
            }
        }
        self.wake();
        Some(())
    }

    /// Executes an instruction for one lane; nothing where it is not understood.
    fn mbarrier_one(
        &mut self,
        (warp, lane): (usize, usize),
        place: usize,
        memory: &Memory,
        it: &Instruction,
    ) -> Option<Result<(), &'static str>> {
        let is_address = |operand: &&Operand| matches!(operand, Operand::Address(..));
        let of_lane = |cta: &Self, operand: &Operand| cta.value(warp, lane, operand) & 0xffff_ffff;
        let first = it.operands.iter().position(|operand| is_address(&operand))?;
        let last = it.operands.iter().rfind(is_address)?;
        let is_copy = matches!(memory, Memory::Filled);
        let at = of_lane(self, if is_copy { last } else { &it.operands[first] });
        let behind = it.operands.get(first + 1);
        let number = behind.map(|operand| of_lane(self, operand) as i64);
        self.mbarriers.steps += usize::from(!matches!(memory, Memory::Test { .. }));
        if let Memory::Initialise = memory {
            self.initialise(at, number?);
            return Some(Ok(()));
        }
        let Some(object) = self.mbarriers.objects.get_mut(&at) else {
            return Some(Err("mbarrier-not-initialised"));
        };
        let phase = object.phase;
        match memory {
            Memory::Initialise => {}
            Memory::Invalidate => drop(self.mbarriers.objects.remove(&at)),
            Memory::Expect => object.bytes += number?,
            Memory::Arrive { expects, drops, no_complete } => {
                let count = if *expects { 1 } else { number.unwrap_or(1) };
                object.bytes += if *expects { number? } else { 0 };
                object.expected -= if *drops { count } else { 0 };
                if first > 0 {
                    self.set(warp, lane, &it.operands[0], phase);
                }
                match &mut self.races {
                    Some(races) if is_relaxed(it) => races.release_fenced(warp, Through::Open(at)),
                    Some(races) => races.release(warp, Through::Open(at)),
                    None => {}
                }
                let done = self.arrives(at, count);
                let is_over = self.mbarriers.objects.get(&at).is_some_and(|object| object.phase != phase);
                return Some(if *no_complete && is_over { Err("no-complete") } else { done });
            }
            Memory::Test { by_parity } => {
                let until =
                    if *by_parity { Until::Parity(number? as u64) } else { Until::Phase(number? as u64) };
                let is_over = self.mbarriers.is_over(at, until)?;
                let is_patient = it.text.contains("try_wait") && !self.chance.once_in(8);
                if is_over {
                    self.has_seen(warp, at, it);
                }
                if is_over || !is_patient {
                    self.set(warp, lane, &it.operands[0], is_over.into());
                } else {
                    self.park(warp, lane, place, Parked::Tests { at, until });
                }
            }
            Memory::Filled if it.text.contains("tensor") => object.copies += 1,
            Memory::Filled => {
                let size = it.operands.iter().rev().skip_while(|operand| *operand != last).nth(1)?;
                let bytes = of_lane(self, size) as i64;
                self.mbarriers.landings.push(Landing::Bytes(at, bytes));
            }
            Memory::Committed => {
                let clock = self.races.as_mut().map(|races| races.leave(warp));
                self.mbarriers.landings.push(Landing::Arrival(at, clock));
            }
        }
        self.judge_phase(at);
        Some(Ok(()))
    }

    fn initialise(&mut self, at: u64, count: i64) {
        let object = Object { expected: count, pending: count, ..Object::default() };
        self.mbarriers.objects.insert(at, object);
        if let Some(races) = &mut self.races {
            races.forget(Through::Open(at));
            races.forget(Through::Over(at));
        }
    }

    /// A warp has seen that a phase is over.
    fn has_seen(&mut self, warp: usize, at: u64, it: &Instruction) {
        if let Some(races) = self.races.as_mut().filter(|_| !is_relaxed(it)) {
            races.acquire(warp, Through::Over(at));
        }
    }

    fn arrives(&mut self, at: u64, count: i64) -> Result<(), &'static str> {
        let Some(object) = self.mbarriers.objects.get_mut(&at) else {
            return Err("mbarrier-not-initialised");
        };
        if count > object.pending {
            return Err("over-arrival");
        }
        object.pending -= count;
        self.judge_phase(at);
        Ok(())
    }

    fn judge_phase(&mut self, at: u64) {
        let Some(object) = self.mbarriers.objects.get_mut(&at) else { return };
        if object.pending == 0 && object.bytes == 0 {
            *object = Object {
                expected: object.expected,
                pending: object.expected,
                bytes: 0,
                phase: object.phase + 1,
                copies: 0,
            };
            if let Some(races) = &mut self.races {
                races.phase_is_over(at);
            }
        }
    }

    /// Lanes whose phase is over go on.
    fn wake(&mut self) {
        for warp in 0..self.warps.len() {
            for lane in lanes(self.warps[warp].live) {
                let Some(Parked::Tests { at, until }) = self.warps[warp].parked[lane] else { continue };
                if self.mbarriers.is_over(at, until) == Some(true) {
                    let instruction = &self.kernel.code[self.warps[warp].places[lane]];
                    self.set(warp, lane, &instruction.operands[0], 1);
                    self.has_seen(warp, at, instruction);
                    self.go_on(warp, lane);
                }
            }
        }
    }

    /// Nobody goes on: a question does not wait for ever, but is answered with no after some time. Whether
    /// somebody does something else then is for the next time to say.
    pub fn give_up_asking(&mut self) -> bool {
        let done = self.mbarriers.steps + self.events.len();
        let (before, rounds) = self.mbarriers.given_up;
        let rounds = if before == done { rounds + 1 } else { 1 };
        self.mbarriers.given_up = (done, rounds);
        let mut asked = false;
        for warp in 0..self.warps.len() {
            for lane in lanes(self.warps[warp].live) {
                if rounds <= ROUNDS && matches!(self.warps[warp].parked[lane], Some(Parked::Tests { .. })) {
                    let instruction = &self.kernel.code[self.warps[warp].places[lane]];
                    self.set(warp, lane, &instruction.operands[0], 0);
                    self.go_on(warp, lane);
                    asked = true;
                }
            }
        }
        asked
    }

    /// Something lands. Where nobody has a step, tensor copies do, if nothing else is left.
    pub fn land(&mut self, is_idle: bool) -> bool {
        let waiting = self.mbarriers.landings.len();
        if waiting > 0 {
            let landing = self.mbarriers.landings.swap_remove(self.chance.below(waiting));
            let done = match landing {
                Landing::Arrival(at, clock) => {
                    if let (Some(races), Some(clock)) = (&mut self.races, clock) {
                        races.publish(&clock, Through::Open(at));
                    }
                    self.arrives(at, 1)
                }
                Landing::Bytes(at, bytes) => {
                    if let Some(object) = self.mbarriers.objects.get_mut(&at) {
                        object.bytes -= bytes;
                    }
                    self.judge_phase(at);
                    Ok(())
                }
            };
            if let Err(rule) = done {
                self.ended =
                    Some(Outcome::Misuse(rule.to_owned(), "what has been committed arrives".to_owned()));
            }
            self.wake();
            return true;
        }
        if !is_idle {
            return false;
        }
        let is_full = |object: &Object| object.pending == 0 && object.bytes > 0 && object.copies > 0;
        let full: Vec<u64> =
            self.mbarriers.objects.iter().filter(|(_, object)| is_full(object)).map(|(at, _)| *at).collect();
        for at in &full {
            if let Some(object) = self.mbarriers.objects.get_mut(at) {
                object.bytes = 0;
            }
            self.judge_phase(*at);
        }
        self.wake();
        !full.is_empty()
    }
}

/// It orders nothing in memory by itself.
fn is_relaxed(it: &Instruction) -> bool {
    it.text.contains(".relaxed")
}
