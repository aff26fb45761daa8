//! A group of threads that runs a kernel: warps of 32 lanes, each lane at a place of its own, in a random
//! schedule.

use super::chance::{Chance, hash};
use super::kernel::{Instruction, Kernel, Operand};
use super::mbarriers::{Mbarriers, Until};
use super::memory::Words;
use super::named::{Barriers, Operands};
use super::opcode::Op;
use super::races::Races;

/// Where a lane that has no step stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parked {
    /// At a barrier, until the lanes of its warp are there. An aligned one is one instruction.
    AtBarrier { with: Operands, aligned: Option<usize>, is_true: bool },
    /// Its warp has arrived; it waits for the others.
    Waits,
    /// It does something together with the lanes of a mask.
    Together { place: usize, mask: u32 },
    /// Until a phase of an mbarrier is over.
    Tests { at: u64, until: Until },
}

pub struct Warp {
    /// The value of each register in each lane.
    pub registers: Vec<[u64; 32]>,
    pub places: [usize; 32],
    pub live: u32,
    /// Live lanes that stand nowhere.
    pub ready: u32,
    pub parked: [Option<Parked>; 32],
    pub local: [Words; 32],
}

/// The lanes of a mask.
pub fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros() as usize;
        rest &= rest.wrapping_sub(1);
        (lane < 32).then_some(lane)
    })
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Finished,
    /// The kernel has ended the grid.
    Trapped,
    /// Somebody waits at a barrier and nobody can go on: where everybody stands.
    Hang(String),
    /// A barrier is used as it must not be: the rule, and where.
    Misuse(String, String),
    /// Somebody waits for lanes of its own warp, at an instruction that is no barrier.
    Apart(String),
    OutOfFuel,
    /// An instruction that is not emulated.
    Beyond(String),
}

/// Something that a warp has done as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub warp: usize,
    pub line: usize,
    pub is_aligned: bool,
    pub did: Did,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Did {
    /// It has arrived at a barrier.
    Arrive(Operands),
    Exit,
}

/// What is random in a run.
pub struct Launch {
    pub size: [u32; 3],
    pub seed: u64,
    pub fuel: usize,
    /// Whether data races are looked for.
    pub races: bool,
}

pub struct Cta<'a> {
    pub kernel: &'a Kernel,
    pub size: [u32; 3],
    pub seed: u64,
    pub warps: Vec<Warp>,
    pub barriers: Barriers,
    pub shared: Words,
    pub global: Words,
    pub params: Words,
    pub mbarriers: Mbarriers,
    /// Registers that are free, and those of each thread.
    pub free: u64,
    pub has: Vec<[u64; 32]>,
    /// The groups of `wgmma` that each thread has committed.
    pub committed: Vec<[u64; 32]>,
    pub chance: Chance,
    pub clock: u64,
    pub ended: Option<Outcome>,
    pub events: Vec<Event>,
    pub races: Option<Races>,
}

impl<'a> Cta<'a> {
    pub fn new(kernel: &'a Kernel, launch: &Launch) -> Self {
        let threads = launch.size.iter().product::<u32>();
        let salt = |name: u64| hash(&[launch.seed, name]);
        let warp = |index: u32| {
            let here = (threads - index * 32).min(32);
            let of_lane = |lane: usize| Words::new(salt(100 + u64::from(index) * 32 + lane as u64));
            Warp {
                registers: vec![[0; 32]; kernel.registers],
                places: [0; 32],
                live: if here == 32 { u32::MAX } else { (1 << here) - 1 },
                ready: if here == 32 { u32::MAX } else { (1 << here) - 1 },
                parked: Default::default(),
                local: std::array::from_fn(of_lane),
            }
        };
        Self {
            kernel,
            size: launch.size,
            seed: launch.seed,
            warps: (0..threads.div_ceil(32)).map(warp).collect(),
            barriers: Barriers::new(threads.into()),
            shared: Words::new(salt(1)),
            global: Words::new(salt(2)),
            params: params(kernel, salt(3)),
            mbarriers: Mbarriers::default(),
            free: 0,
            committed: vec![[0; 32]; threads.div_ceil(32) as usize],
            has: vec![[compiled_for(kernel, threads); 32]; threads.div_ceil(32) as usize],
            chance: Chance(launch.seed),
            clock: 0,
            ended: None,
            events: Vec::new(),
            races: launch.races.then(|| Races::new(threads.div_ceil(32) as usize)),
        }
    }

    /// Lanes of a warp that execute the same instruction now.
    pub fn group(&mut self, warp: usize, ready: u32, is_wild: bool) -> u32 {
        let places = &self.warps[warp].places;
        let behind = lanes(ready).min_by_key(|lane| places[*lane]).unwrap_or(0);
        let is_wild = is_wild && self.chance.once_in(4);
        let first = if is_wild {
            lanes(ready).nth(self.chance.below(ready.count_ones() as usize)).unwrap_or(behind)
        } else {
            behind
        };
        if is_wild && self.chance.once_in(4) {
            return 1 << first;
        }
        let places = &self.warps[warp].places;
        let place = places[first];
        lanes(ready).filter(|lane| places[*lane] == place).fold(0, |mask, lane| mask | 1 << lane)
    }

    pub fn step(&mut self, warp: usize, group: u32) {
        let kernel = self.kernel;
        let first = group.trailing_zeros() as usize;
        let place = self.warps[warp].places[first];
        let instruction = &kernel.code[place];
        let taken = match instruction.guard {
            None => group,
            Some((register, is_negated)) => {
                let values = &self.warps[warp].registers[register];
                let holds = |lane: &usize| (values[*lane] & 1 == 1) != is_negated;
                lanes(group).filter(holds).fold(0, |mask, lane| mask | 1 << lane)
            }
        };
        for lane in lanes(group) {
            self.warps[warp].places[lane] = place + 1;
        }
        self.clock += 1;
        if taken != 0 {
            self.execute(warp, taken, place, instruction);
        }
    }

    fn execute(&mut self, warp: usize, taken: u32, place: usize, instruction: &'a Instruction) {
        match &instruction.op {
            Op::Branch => {
                for lane in lanes(taken) {
                    self.warps[warp].places[lane] = instruction.targets[0];
                }
            }
            Op::Jump => {
                for lane in lanes(taken) {
                    let index = self.value(warp, lane, &instruction.operands[0]) as usize & 0xffff_ffff;
                    match instruction.targets.get(index) {
                        Some(target) => self.warps[warp].places[lane] = *target,
                        None => self.ended = Some(beyond(instruction)),
                    }
                }
            }
            Op::Exit => {
                self.warps[warp].live &= !taken;
                self.warps[warp].ready &= !taken;
                self.settle(warp);
            }
            Op::Trap => self.ended = Some(Outcome::Trapped),
            Op::Nothing => self.touch(warp, taken, instruction),
            Op::Beyond => self.ended = Some(beyond(instruction)),
            Op::Barrier { what, is_aligned } => {
                for lane in lanes(taken) {
                    let Some(parked) =
                        self.at_barrier(warp, lane, instruction, *what, is_aligned.then_some(place))
                    else {
                        self.ended = Some(beyond(instruction));
                        return;
                    };
                    self.park(warp, lane, place, parked);
                }
                self.settle(warp);
            }
            Op::Groups { waits } => self.groups(warp, taken, (place, *waits), instruction),
            Op::Registers { takes } => {
                let Operand::Number(wanted) = instruction.operands[0] else {
                    self.ended = Some(beyond(instruction));
                    return;
                };
                for lane in lanes(taken) {
                    let has = self.has[warp][lane];
                    if *takes && wanted.saturating_sub(has) > self.free {
                        // It comes again.
                        self.warps[warp].places[lane] = place;
                        continue;
                    }
                    self.free = self.free + has - wanted;
                    self.has[warp][lane] = wanted;
                }
            }
            Op::Together { has_mask, .. } => {
                for lane in lanes(taken) {
                    let mask = match instruction.operands.last().filter(|_| *has_mask) {
                        Some(mask) => self.value(warp, lane, mask) as u32,
                        None => u32::MAX,
                    };
                    self.park(warp, lane, place, Parked::Together { place, mask });
                }
                self.settle(warp);
            }
            _ => {
                if self.compute(warp, taken, place, instruction).is_none() {
                    self.ended = Some(beyond(instruction));
                }
            }
        }
    }

    /// What a warpgroup computes is complete once all its threads have committed it.
    fn groups(&mut self, warp: usize, taken: u32, (place, waits): (usize, bool), instruction: &Instruction) {
        let left = match instruction.operands.first() {
            Some(Operand::Number(left)) if waits => *left,
            _ => 0,
        };
        let first = warp / 4 * 4;
        for lane in lanes(taken) {
            if !waits {
                self.committed[warp][lane] += 1;
                continue;
            }
            let wanted = self.committed[warp][lane].saturating_sub(left);
            let of_group = self.committed.iter().skip(first).take(4);
            if of_group.flatten().any(|committed| *committed < wanted) {
                // It comes again.
                self.warps[warp].places[lane] = place;
            }
        }
    }

    pub fn park(&mut self, warp: usize, lane: usize, place: usize, parked: Parked) {
        self.warps[warp].places[lane] = place;
        self.warps[warp].parked[lane] = Some(parked);
        self.warps[warp].ready &= !(1 << lane);
    }

    /// A lane goes on behind the instruction at which it stands.
    pub fn go_on(&mut self, warp: usize, lane: usize) {
        self.warps[warp].places[lane] += 1;
        self.warps[warp].parked[lane] = None;
        self.warps[warp].ready |= 1 << lane;
    }
}

pub fn beyond(instruction: &Instruction) -> Outcome {
    Outcome::Beyond(format!("{}: {}", instruction.line, instruction.text))
}

/// The registers of each thread in the beginning: what the kernel says, else what there is room for, but no
/// more than it asks for later.
fn compiled_for(kernel: &Kernel, threads: u32) -> u64 {
    const FILE: u64 = 65_536;
    let (given, beside) = kernel.compiled_for;
    let most: u32 = kernel.required.or(kernel.most).map_or(0, |size| size.iter().product());
    let lanes = u64::from(threads.max(most).div_ceil(32) * 32) * beside.unwrap_or(1);
    let asked =
        kernel.code.iter().filter_map(|instruction| match (&instruction.op, &instruction.operands[..]) {
            (Op::Registers { takes: true }, [Operand::Number(count)]) => Some(*count),
            _ => None,
        });
    let room = FILE / lanes / 8 * 8;
    given.unwrap_or_else(|| asked.chain([room, 256]).min().unwrap_or(room))
}

/// Parameters: pointers if they have eight bytes, more often than not.
fn params(kernel: &Kernel, salt: u64) -> Words {
    let mut words = Words::new(salt);
    for (index, (at, bytes)) in kernel.params.iter().enumerate() {
        let random = hash(&[salt, index as u64, 7]);
        if *bytes == 8 && !random.is_multiple_of(4) {
            words.store(*at, 4, (random >> 32) & 0xff_ff00);
            words.store(*at + 4, 4, 0x10_0000 + ((index as u64) << 4));
        } else if *bytes == 8 {
            words.store(*at + 4, 4, 0);
        }
    }
    words
}
