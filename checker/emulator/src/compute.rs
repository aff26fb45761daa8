//! Instructions that concern one lane at a time.

use super::alu::{compare, compute, convert, cut, kept, product};
use super::chance::{hash, likely};
use super::cta::{Cta, lanes};
use super::kernel::{CALLS, Instruction, LOCAL, Operand, SHARED, Special, WINDOW};
use super::opcode::{Kind, Op, Space, Type};

impl Cta<'_> {
    /// The value of an operand in a lane.
    pub fn value(&self, warp: usize, lane: usize, operand: &Operand) -> u64 {
        match operand {
            Operand::Register(register, is_negated) => {
                self.warps[warp].registers[*register][lane] ^ u64::from(*is_negated)
            }
            Operand::Number(number) => *number,
            Operand::Special(special) => self.special(warp, lane, *special),
            Operand::Address(base, offset) => {
                let base = base.map_or(0, |register| self.warps[warp].registers[register][lane]);
                base.wrapping_add(*offset)
            }
            _ => 0,
        }
    }

    fn special(&self, warp: usize, lane: usize, special: Special) -> u64 {
        let thread = (warp * 32 + lane) as u64;
        let [x, y, z] = self.size.map(u64::from);
        let chosen = |name: u64| hash(&[self.seed, 9, name]);
        let grid = |axis: usize| chosen(axis as u64) % 5 + 1;
        match special {
            Special::Tid(axis) => [thread % x, thread / x % y, thread / (x * y), 0][axis],
            Special::Ntid(axis) => [x, y, z, 1][axis],
            Special::Ctaid(axis) if axis < 3 => chosen(10 + axis as u64) % grid(axis),
            Special::Ctaid(_) | Special::ClusterRank => 0,
            Special::Nctaid(axis) => grid(axis),
            Special::Lane => lane as u64,
            Special::Warp => warp as u64,
            Special::Warps => self.warps.len() as u64,
            Special::LanesBelow { with } => (1 << (lane + usize::from(with))) - 1,
            Special::LanesAbove { with } => 0xffff_ffff & !((1 << (lane + usize::from(!with))) - 1),
            Special::LaneMask => 1 << lane,
            Special::Clock => self.clock * 1000,
            Special::One => 1,
            Special::Chosen(name) => chosen(100 + name) % 100,
        }
    }

    /// Gives a register a value, or several registers one that depends on it.
    pub fn set(&mut self, warp: usize, lane: usize, to: &Operand, value: u64) {
        let registers = &mut self.warps[warp].registers;
        match to {
            Operand::Register(register, _) => registers[*register][lane] = value,
            Operand::Pair(first, second) => {
                for register in [first, second].into_iter().flatten() {
                    registers[*register][lane] = value;
                }
            }
            Operand::Group(list) => {
                for (index, part) in list.iter().enumerate() {
                    self.set(warp, lane, part, hash(&[value, index as u64]));
                }
            }
            _ => {}
        }
    }

    /// Executes an instruction for some lanes, or says that it cannot.
    pub fn compute(&mut self, warp: usize, taken: u32, place: usize, it: &Instruction) -> Option<()> {
        self.touch(warp, taken, it);
        if matches!(it.op, Op::Memory(_)) {
            return self.mbarrier(warp, taken, place, it);
        }
        let is_known = |operand: &Operand| !matches!(operand, Operand::Other(_));
        if it.op != Op::Opaque && !it.operands.iter().all(is_known) {
            return None;
        }
        if it.op == Op::Opaque && it.operands.is_empty() {
            return Some(());
        }
        for lane in lanes(taken) {
            self.compute_one(warp, lane, taken, it)?;
        }
        Some(())
    }

    fn compute_one(&mut self, warp: usize, lane: usize, taken: u32, it: &Instruction) -> Option<()> {
        let operand = |at: usize| it.operands.get(at);
        let value = |cta: &Self, at: usize| Some(cta.value(warp, lane, operand(at)?));
        let result = match &it.op {
            Op::Alu(name, of) => {
                let mut values = [0; 5];
                for (value, from) in values.iter_mut().zip(&it.operands[1..]) {
                    *value = self.value(warp, lane, from);
                }
                let narrow = Type { bits: 32, ..*of };
                let counts = ["popc", "clz", "bfind"].contains(&name.as_str());
                kept(compute(name, *of, &values)?, if counts { narrow } else { *of })
            }
            Op::Product { half, adds, of } => {
                let added = if *adds { value(self, 3)? } else { 0 };
                let to = Type { bits: if *half == 'w' { of.bits * 2 } else { of.bits }, ..*of };
                kept(product(*half, *of, value(self, 1)?, value(self, 2)?).wrapping_add(added), to)
            }
            Op::Move(of) => return self.move_one(warp, lane, *of, it),
            Op::Convert(to, from, how) => convert(value(self, 1)?, *to, *from, how),
            Op::Compare { by, with, of, masks } => {
                let holds = compare(by, *of, value(self, 1)?, value(self, 2)?)?;
                return self.compared(warp, lane, holds, with.as_deref(), *masks, it);
            }
            Op::Load { space, of, is_fresh } => return self.load(warp, lane, *space, *of, *is_fresh, it),
            Op::Store { space, of } => return self.store(warp, lane, *space, *of, it),
            Op::Atomic { space, of, by, returns } => {
                return self.atomic(warp, lane, (*space, *of), by, *returns, it);
            }
            Op::ToGeneric(space, is_to) => {
                let window = match space {
                    Space::Shared => SHARED,
                    Space::Local => LOCAL,
                    _ => 0,
                };
                let from = value(self, 1)?;
                if *is_to { from.wrapping_add(window) } else { from.wrapping_sub(window) }
            }
            Op::IsIn(space) => u64::from(window(value(self, 1)?).0 == *space),
            Op::Copy => {
                let (to, from) = (value(self, 0)?, value(self, 1)?);
                for word in 0..(value(self, 2)? / 4).min(4) {
                    let copied = self.read(warp, lane, Space::Global, from.wrapping_add(word * 4), 4);
                    self.write(warp, lane, Space::Shared, to.wrapping_add(word * 4), 4, copied);
                }
                return Some(());
            }
            Op::ActiveMask => taken.into(),
            Op::Opaque => {
                let mut inputs = vec![self.seed];
                inputs.extend(
                    it.operands.iter().skip(1).flat_map(flat).map(|from| self.value(warp, lane, from)),
                );
                let of = it.text.split(' ').next().unwrap_or_default().bytes().map(u64::from).sum();
                inputs.push(of);
                hash(&inputs)
            }
            _ => return None,
        };
        self.set(warp, lane, operand(0)?, result);
        Some(())
    }

    fn move_one(&mut self, warp: usize, lane: usize, of: Type, it: &Instruction) -> Option<()> {
        let bits = |length: usize| of.bits.min(64) / u32::try_from(length.max(1)).unwrap_or(1);
        match (it.operands.first()?, it.operands.get(1)?) {
            (Operand::Group(to), from) => {
                let (value, bits) = (self.value(warp, lane, from), bits(to.len()));
                for (index, part) in (0_u32..).zip(to) {
                    let part_of = Type { kind: Kind::Bits, bits };
                    self.set(warp, lane, part, cut(value >> (index * bits), part_of));
                }
            }
            (to, Operand::Group(from)) => {
                let bits = bits(from.len());
                let part_of = Type { kind: Kind::Bits, bits };
                let part = |(index, part): (u32, &Operand)| {
                    cut(self.value(warp, lane, part), part_of) << (index * bits)
                };
                let value = (0_u32..).zip(from).map(part).sum();
                self.set(warp, lane, to, value);
            }
            (to, from) => {
                let value = kept(self.value(warp, lane, from), of);
                self.set(warp, lane, to, value);
            }
        }
        Some(())
    }

    fn compared(
        &mut self,
        warp: usize,
        lane: usize,
        holds: bool,
        with: Option<&str>,
        masks: Option<Type>,
        it: &Instruction,
    ) -> Option<()> {
        let other = match with {
            Some(_) => self.value(warp, lane, it.operands.get(3)?) & 1 == 1,
            None => false,
        };
        let combined = |holds: bool| match with {
            Some("and") => holds && other,
            Some("or") => holds || other,
            Some("xor") => holds != other,
            _ => holds,
        };
        let (first, second) = (combined(holds), combined(!holds));
        if let Operand::Pair(to, negated) = &it.operands[0] {
            for (register, value) in [(to, first), (negated, second)] {
                if let Some(register) = register {
                    self.warps[warp].registers[*register][lane] = value.into();
                }
            }
            return Some(());
        }
        let value = match masks {
            None => u64::from(first),
            Some(of) if of.kind == Kind::Float => u64::from(if first { 1.0_f32.to_bits() } else { 0 }),
            Some(_) => {
                if first {
                    0xffff_ffff
                } else {
                    0
                }
            }
        };
        self.set(warp, lane, &it.operands[0], value);
        Some(())
    }

    pub fn read(&self, warp: usize, lane: usize, space: Space, address: u64, bytes: u32) -> u64 {
        let (space, address) = if space == Space::Generic { window(address) } else { (space, address) };
        match space {
            Space::Shared => self.shared.load(address & (WINDOW - 1), bytes),
            Space::Param if address < CALLS => self.params.load(address, bytes),
            Space::Local | Space::Param => self.warps[warp].local[lane].load(address, bytes),
            _ => self.global.load(address, bytes),
        }
    }

    pub fn write(&mut self, warp: usize, lane: usize, space: Space, address: u64, bytes: u32, value: u64) {
        let (space, address) = if space == Space::Generic { window(address) } else { (space, address) };
        match space {
            Space::Shared => self.shared.store(address & (WINDOW - 1), bytes, value),
            Space::Local | Space::Param => self.warps[warp].local[lane].store(address, bytes, value),
            _ => self.global.store(address, bytes, value),
        }
    }

    fn load(
        &mut self,
        warp: usize,
        lane: usize,
        space: Space,
        of: Type,
        is_fresh: bool,
        it: &Instruction,
    ) -> Option<()> {
        let from = self.value(warp, lane, it.operands.get(1)?);
        let is_global = space == Space::Global || space == Space::Generic && window(from).0 == Space::Global;
        let single = std::slice::from_ref(it.operands.first()?);
        let to = if let Operand::Group(list) = &it.operands[0] { list } else { single };
        for (index, part) in (0_u64..).zip(to) {
            let bytes = of.bits.div_ceil(8);
            let at = from.wrapping_add(index * u64::from(bytes));
            let mut value = self.read(warp, lane, space, at, bytes);
            // What other groups may have written meanwhile.
            if is_fresh && is_global && self.chance.once_in(2) {
                value = likely(self.chance.number()).into();
            }
            self.set(warp, lane, part, kept(value, of));
        }
        Some(())
    }

    fn store(&mut self, warp: usize, lane: usize, space: Space, of: Type, it: &Instruction) -> Option<()> {
        let to = self.value(warp, lane, it.operands.first()?);
        let single = std::slice::from_ref(it.operands.get(1)?);
        let from = if let Operand::Group(list) = &it.operands[1] { list } else { single };
        for (index, part) in (0_u64..).zip(from) {
            let bytes = of.bits.div_ceil(8);
            let value = self.value(warp, lane, part);
            self.write(warp, lane, space, to.wrapping_add(index * u64::from(bytes)), bytes, value);
        }
        Some(())
    }

    fn atomic(
        &mut self,
        warp: usize,
        lane: usize,
        (space, of): (Space, Type),
        by: &str,
        returns: bool,
        it: &Instruction,
    ) -> Option<()> {
        let first = usize::from(returns);
        let address = self.value(warp, lane, it.operands.get(first)?);
        let given = self.value(warp, lane, it.operands.get(first + 1)?);
        let is_global =
            space == Space::Global || space == Space::Generic && window(address).0 == Space::Global;
        let bytes = of.bits.div_ceil(8);
        let mut old = self.read(warp, lane, space, address, bytes);
        if is_global && self.chance.once_in(4) {
            old = likely(self.chance.number()).into();
        }
        let new = match by {
            "exch" => given,
            "cas" if old == cut(given, of) => self.value(warp, lane, it.operands.get(first + 2)?),
            "cas" => old,
            "inc" if old >= cut(given, of) => 0,
            "inc" => old + 1,
            "dec" if old == 0 || old > cut(given, of) => given,
            "dec" => old - 1,
            _ => compute(by, of, &[old, given])?,
        };
        self.write(warp, lane, space, address, bytes, new);
        if returns {
            self.set(warp, lane, &it.operands[0], kept(old, of));
        }
        Some(())
    }
}

/// An operand, or the parts of it.
fn flat(operand: &Operand) -> Vec<&Operand> {
    match operand {
        Operand::Group(list) => list.iter().flat_map(flat).collect(),
        operand => vec![operand],
    }
}

/// The window of a generic address, and the address in it.
pub fn window(address: u64) -> (Space, u64) {
    match address {
        _ if address.wrapping_sub(SHARED) < WINDOW => (Space::Shared, address - SHARED),
        _ if address.wrapping_sub(LOCAL) < WINDOW => (Space::Local, address - LOCAL),
        _ => (Space::Global, address),
    }
}
