//! Loads of what the kernel itself writes: nothing is promised of what they find.
//!
//! Addresses are compared by what they are counted from, whatever the order of the instructions: the
//! parameters and symbols that reach them by sums. Two parameters are taken to point to different memory;
//! what is taken for true of loads says so.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::code::{
    Action, Argument, Code, Function, Memory, Operation, Register, Synchronisation, SynchronisationKind,
};

/// What an address is counted from: a name, and through how many pointers that are loaded.
type Root = (u32, u8);

/// The most pointers behind one another that are told apart.
const POINTERS: u8 = 4;

/// What registers may be counted from.
#[derive(Default)]
struct Roots {
    of: HashMap<Register, BTreeSet<Root>>,
    /// Names of numbers, which are no addresses.
    numbers: BTreeSet<u32>,
}

/// Makes the results of loads unknown where the kernel may write what they load.
/// `threads` is the size of the CTA.
pub(super) fn forget_written(code: &mut Code, threads: u32) {
    let is_global =
        |action: &Action| matches!(action, Action::Compute { function: Function::Load(Memory::Global), .. });
    let mut forgotten = exchanged_at_will(code, threads);
    if code.instructions.iter().any(|instruction| is_global(&instruction.action)) {
        let roots = Roots::of(code);
        let mut written = BTreeSet::new();
        let mut anywhere = false;
        for instruction in &code.instructions {
            if let Action::Store { address, memory: Memory::Global } = &instruction.action {
                let found = address.map(|(base, _)| roots.argument(base)).unwrap_or_default();
                anywhere |= found.is_empty();
                written.extend(found);
            }
        }
        for (at, instruction) in code.instructions.iter().enumerate() {
            let Action::Compute { arguments, .. } = &instruction.action else { continue };
            if !is_global(&instruction.action) {
                continue;
            }
            let found = arguments.first().map(|address| roots.argument(*address)).unwrap_or_default();
            if anywhere || found.iter().any(|root| written.contains(root)) {
                forgotten.push(at);
            }
        }
    }
    for at in forgotten {
        if let Action::Compute { function, arguments, .. } = &mut code.instructions[at].action {
            *function = Function::Unknown;
            arguments.clear();
        }
    }
}

impl Roots {
    fn of(code: &Code) -> Self {
        let numbers = (0_u32..).zip(&code.names).filter(|(_, name)| name.starts_with('%'));
        let mut roots = Self { of: HashMap::new(), numbers: numbers.map(|(number, _)| number).collect() };
        loop {
            let mut changed = false;
            for instruction in &code.instructions {
                let Action::Compute { to, function, arguments } = &instruction.action else { continue };
                let found = roots.result(*function, arguments);
                if !found.is_empty() {
                    let known = roots.of.entry(*to).or_default();
                    let before = known.len();
                    known.extend(found);
                    changed |= known.len() > before;
                }
            }
            if !changed {
                return roots;
            }
        }
    }

    fn argument(&self, argument: Argument) -> BTreeSet<Root> {
        match argument {
            Argument::Register(register) => self.of.get(&register).cloned().unwrap_or_default(),
            Argument::Same(name) if !self.numbers.contains(&name) => BTreeSet::from([(name, 0)]),
            _ => BTreeSet::new(),
        }
    }

    /// What the result of a function may be counted from. Products and narrower numbers are no addresses.
    fn result(&self, function: Function, arguments: &[Argument]) -> BTreeSet<Root> {
        let all = || arguments.iter().flat_map(|argument| self.argument(*argument)).collect();
        match function {
            Function::Integer(Operation::Convert(from), ty) if from.bits < ty.bits => BTreeSet::new(),
            Function::Integer(operation, ty) if ty.bits >= 32 && keeps(operation) => all(),
            Function::Pure(_) | Function::Broadcast => all(),
            Function::Load(_) => {
                let address = arguments.first().map(|address| self.argument(*address)).unwrap_or_default();
                address.into_iter().map(|(name, depth)| (name, (depth + 1).min(POINTERS))).collect()
            }
            _ => BTreeSet::new(),
        }
    }
}

/// Whether the result of an operation on addresses may be one.
fn keeps(operation: Operation) -> bool {
    matches!(
        operation,
        Operation::Convert(_)
            | Operation::Add
            | Operation::Subtract
            | Operation::And
            | Operation::Or
            | Operation::Select
            | Operation::Minimum
            | Operation::Maximum
    )
}

/// A place in shared memory: a symbol and an offset.
type Place = (u32, i64);

/// Loads from shared memory that no barrier of all threads keeps apart from a store at the same place, before
/// or behind: some threads may find what another has put there, and others what was there before, or will be.
fn exchanged_at_will(code: &Code, threads: u32) -> Vec<usize> {
    let mut definitions: HashMap<Register, Vec<usize>> = HashMap::new();
    let mut stores = Vec::new();
    let mut loads: BTreeMap<Place, Vec<usize>> = BTreeMap::new();
    for (at, instruction) in code.instructions.iter().enumerate() {
        match &instruction.action {
            Action::Compute { to, .. } => definitions.entry(*to).or_default().push(at),
            Action::Store { address: Some(_), memory: Memory::Shared } => stores.push(at),
            _ => {}
        }
    }
    let place = |argument: Argument, offset: i64| {
        let mut offset = offset;
        let mut argument = argument;
        for _ in 0..64 {
            let register = match argument {
                Argument::Same(name) => return Some((name, offset)),
                Argument::Register(register) => register,
                _ => return None,
            };
            let [one] = definitions.get(&register)?.as_slice() else { return None };
            let Action::Compute { function, arguments, .. } = &code.instructions[*one].action else {
                return None;
            };
            argument = match (function, arguments.as_slice()) {
                (Function::Integer(Operation::Convert(_), _), [of]) => *of,
                (Function::Integer(Operation::Add, _), [of, Argument::Number(more)]) => {
                    offset = offset.wrapping_add(*more as i64);
                    *of
                }
                _ => return None,
            };
        }
        None
    };
    for (at, instruction) in code.instructions.iter().enumerate() {
        if let Action::Compute { function: Function::Load(Memory::Shared), arguments, .. } =
            &instruction.action
            && let Some(place) = arguments.first().and_then(|address| place(*address, 0))
        {
            loads.entry(place).or_default().push(at);
        }
    }
    let mut found = BTreeSet::new();
    for at in stores {
        let Action::Store { address: Some((base, offset)), .. } = code.instructions[at].action else {
            continue;
        };
        let Some(loads) = place(base, offset).and_then(|place| loads.get(&place)) else { continue };
        let reached = without_barrier(code, at, threads);
        found.extend(loads.iter().filter(|load| reached.contains(load)));
        found.extend(loads.iter().filter(|load| without_barrier(code, **load, threads).contains(&at)));
    }
    found.into_iter().collect()
}

/// The instructions that may follow one without a barrier of all threads on the way. What orders through
/// mbarrier objects is taken to order this as well.
fn without_barrier(code: &Code, from: usize, threads: u32) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut work = vec![from + 1];
    while let Some(at) = work.pop() {
        let Some(instruction) = code.instructions.get(at) else { continue };
        if !reached.insert(at) {
            continue;
        }
        let goes_on = match &instruction.action {
            Action::Jump(to) => {
                work.push(*to);
                instruction.guard.is_some()
            }
            Action::Exit | Action::Abort => instruction.guard.is_some(),
            Action::Synchronise(barrier) => !is_of_all(barrier, threads) || instruction.guard.is_some(),
            Action::Object(_) | Action::Test { .. } | Action::Beyond(_) => false,
            Action::Compute { .. } | Action::Store { .. } | Action::Nothing => true,
        };
        if goes_on {
            work.push(at + 1);
        }
    }
    reached
}

/// Whether whoever goes on from a barrier knows that all threads have come to it.
fn is_of_all(barrier: &Synchronisation, threads: u32) -> bool {
    let counts_all = match barrier.count {
        None => true,
        Some(Argument::Number(count)) => count >= u64::from(threads),
        Some(_) => false,
    };
    counts_all && barrier.kind != SynchronisationKind::Arrive
}
