//! What single threads do with each other: one phase of an `nbarrier`, `split_barrier` or `xegpu`
//! protocol, and odd instructions.

use super::build::*;
use super::generate::{Bodies, Gen};
use super::protocol::*;

const HANDLES: [&str; 2] = ["h", "g"];

impl Gen {
    /// Some blocks meet on a barrier.
    pub fn thread_phase(&mut self, bodies: &mut Bodies) {
        match self.target {
            Target::Nbarrier => self.nbarrier_phase(bodies),
            Target::Xegpu => self.xegpu_phase(bodies),
            _ => self.split_phase(bodies),
        }
    }

    fn between(&mut self, body: &mut Vec<Stmt>) {
        if self.rng.chance(20) && !self.arrays.is_empty() {
            body.push(self.some_access());
        }
    }

    fn nbarrier_phase(&mut self, bodies: &mut Bodies) {
        let chosen = self.participants();
        let population = self.population(&chosen);
        let id = self.id();
        let agent = self.rng.range(0, self.agents);
        let one_produces = self.rng.chance(40) && population > 1;
        let everyone_signals_alike = !one_produces && self.rng.chance(60);
        let producer_kind = *self.rng.pick(&[1, 1, 0]);
        for (block, body) in bodies.iter_mut().enumerate() {
            if !chosen[block] {
                continue;
            }
            let threads = self.about(population, 1);
            let id = self.id_operand(id);
            if everyone_signals_alike {
                body.push(signal_all(id.clone(), threads));
                self.between(body);
                body.push(wait(id));
                continue;
            }
            if !one_produces {
                body.push(signal(id.clone(), 0, threads, threads));
                self.between(body);
                body.push(wait(id));
                continue;
            }
            let consumers = population - i32::from(producer_kind == 1);
            let consumers = self.about(consumers, 1);
            let kind = match self.rng.below(50) {
                0 => 3,
                1 => 2,
                _ => producer_kind,
            };
            let mut first = vec![signal(id.clone(), kind, 1, consumers)];
            if kind == 0 || self.rng.chance(15) {
                first.push(wait(id.clone()));
            }
            let mut second = vec![signal(id.clone(), 2, 1, consumers)];
            self.between(&mut second);
            second.push(wait(id));
            body.push(if_(eq(own(), agent), first, second));
        }
    }

    /// Allocation and initialisation in front of everything.
    pub fn handles(&mut self, body: &mut Vec<Stmt>) {
        let count = match self.rng.below(40) {
            0 => 3,
            1 => *self.rng.pick(&[0, 33]),
            2 => 1,
            _ => 2,
        };
        let mut front = vec![alloc(count)];
        for (id, handle) in HANDLES.iter().enumerate() {
            let id = if self.rng.chance(3) { *self.rng.pick(&[2, 32, -1]) } else { id as i32 };
            let threads = self.about(self.agents, 1);
            front.push(init(handle, id, threads));
        }
        if self.rng.chance(2) {
            front.swap(0, 1);
        }
        if self.rng.chance(10) {
            front.push(instr(Instr::CompileHint));
        }
        front.append(body);
        *body = front;
    }

    fn xegpu_phase(&mut self, bodies: &mut Bodies) {
        let chosen = self.participants();
        let handle = *self.rng.pick(&HANDLES);
        let population = self.population(&chosen);
        let id = i32::from(handle == HANDLES[1]);
        for (block, body) in bodies.iter_mut().enumerate() {
            if !chosen[block] {
                continue;
            }
            if population < self.agents && self.rng.chance(70) {
                body.push(init(handle, id, population));
            }
            body.push(handle_arrive(handle));
            self.between(body);
            if !self.rng.chance(5) {
                body.push(handle_wait(handle));
            }
        }
    }

    pub fn memory_scope(&mut self) -> Scope {
        match self.rng.below(10) {
            0 => Scope::Device,
            1 => Scope::Subgroup,
            2 if self.rng.chance(50) => Scope::Invocation,
            _ => Scope::Workgroup,
        }
    }

    pub fn semantics(&mut self) -> Semantics {
        use Order::{Acquire, AcquireRelease, Release, SequentiallyConsistent};
        let order = match self.rng.below(12) {
            0..2 => None,
            2..4 => Some(Release),
            4..6 => Some(Acquire),
            6 => Some(SequentiallyConsistent),
            _ => Some(AcquireRelease),
        };
        Semantics {
            order,
            workgroup_memory: self.rng.chance(75),
            cross_workgroup_memory: self.rng.chance(60),
            image_memory: self.rng.chance(10),
        }
    }

    fn execution_scope(&mut self) -> Scope {
        match self.rng.below(100) {
            0..16 => Scope::Subgroup,
            16..20 => Scope::Invocation,
            20 => Scope::Device,
            _ => Scope::Workgroup,
        }
    }

    fn half(&mut self, scope: Scope, arrives: bool) -> Stmt {
        let (memory, semantics) = (self.memory_scope(), self.semantics());
        instr(if arrives {
            Instr::SplitArrive { scope, memory, semantics }
        } else {
            Instr::SplitWait { scope, memory, semantics }
        })
    }

    fn whole(&mut self, scope: Scope) -> Stmt {
        instr(Instr::ControlBarrier { scope, memory: self.memory_scope(), semantics: self.semantics() })
    }

    fn split_phase(&mut self, bodies: &mut Bodies) {
        let scope = self.execution_scope();
        let apart = self.rng.chance(65);
        for body in bodies.iter_mut() {
            if !apart {
                body.push(self.whole(scope));
                continue;
            }
            let fences = self.rng.chance(15);
            if fences {
                body.extend(self.fence());
            }
            body.push(self.half(scope, true));
            self.between(body);
            body.push(self.half(scope, false));
            if fences {
                body.extend(self.fence());
            }
        }
    }

    /// An instruction that belongs to nothing else.
    pub fn thread_instr(&mut self) -> Stmt {
        let id = self.id();
        let right = self.rng.range(1, self.agents + 1);
        let threads = self.about(right, 1);
        match self.target {
            Target::Nbarrier => match self.rng.below(6) {
                0 => signal_all(id, threads),
                1 => signal(id, self.rng.range(-1, 4), threads, 1),
                2 => signal(id, self.rng.range(0, 3), 1, threads),
                3 => signal(id, 1, 1, 1),
                _ => wait(id),
            },
            Target::Xegpu => {
                let handle = *self.rng.pick(&HANDLES);
                match self.rng.below(8) {
                    0 => alloc(self.rng.range(0, 4)),
                    1..3 => init(handle, self.rng.range(0, 3), threads),
                    3..5 => handle_arrive(handle),
                    5..7 => handle_wait(handle),
                    _ => instr(Instr::CompileHint),
                }
            }
            _ => {
                let scope = self.execution_scope();
                match self.rng.below(4) {
                    0 => self.half(scope, true),
                    1..3 => self.half(scope, false),
                    _ => self.whole(scope),
                }
            }
        }
    }
}
