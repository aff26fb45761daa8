//! Loads of what the kernel itself writes: nothing is promised of what they find.
//!
//! Addresses are compared by what they are counted from, whatever the order of the instructions: the
//! parameters and symbols that reach them by sums. Two parameters are taken to point to different memory;
//! what is taken for true of loads says so.

use std::collections::{BTreeSet, HashMap};

use super::code::{
    Action, Argument, Awaited, Code, Function, Memory, ObjectKind, Operation, Register, Synchronisation,
    Written,
};

/// What an address is counted from: a name, and through how many pointers that are loaded.
pub(super) type Root = (u32, u8);

/// The most pointers behind one another that are told apart.
const POINTERS: u8 = 4;

/// What registers may be counted from.
#[derive(Default)]
pub(super) struct Roots {
    of: HashMap<Register, BTreeSet<Root>>,
    /// Names of numbers, which are no addresses.
    numbers: BTreeSet<u32>,
    /// Where memory begins.
    symbols: BTreeSet<u32>,
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
            if let Action::Store { address, memory: Memory::Global, .. } = &instruction.action {
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

/// The loads from shared memory that find what threads store there, as far as addresses tell: what they load
/// follows from what these knew, and not every value need come about.
pub(super) fn stored_by_threads(code: &Code) -> BTreeSet<usize> {
    let all = || code.instructions.iter().enumerate();
    let loads = all().filter_map(|(at, instruction)| match &instruction.action {
        Action::Compute { function: Function::Load(Memory::Shared), arguments, .. } => {
            Some((at, *arguments.first()?))
        }
        _ => None,
    });
    let stores = all().filter_map(|(_, instruction)| match &instruction.action {
        Action::Store { address, memory: Memory::Shared, written: Written::Values(_) } => Some(*address),
        _ => None,
    });
    let (loads, stores): (Vec<_>, Vec<_>) = (loads.collect(), stores.collect());
    if loads.is_empty() || stores.is_empty() {
        return BTreeSet::new();
    }
    let roots = Roots::of(code);
    let of_stores: Vec<BTreeSet<Root>> = stores
        .into_iter()
        .map(|address| address.map(|(base, _)| roots.argument(base)).unwrap_or_default())
        .collect();
    let finds = |address: Argument| {
        let own = roots.argument(address);
        own.is_empty() || of_stores.iter().any(|of| of.is_empty() || !of.is_disjoint(&own))
    };
    loads.into_iter().filter(|(_, address)| finds(*address)).map(|(at, _)| at).collect()
}

impl Roots {
    pub(super) fn of(code: &Code) -> Self {
        let numbers = (0_u32..).zip(&code.names).filter(|(_, name)| name.starts_with('%'));
        let numbers = numbers.map(|(number, _)| number).collect();
        let mut roots = Self { of: HashMap::new(), numbers, symbols: code.symbols.clone() };
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

    pub(super) fn argument(&self, argument: Argument) -> BTreeSet<Root> {
        match argument {
            Argument::Register(register) => self.of.get(&register).cloned().unwrap_or_default(),
            Argument::Same(name) if !self.numbers.contains(&name) => BTreeSet::from([(name, 0)]),
            _ => BTreeSet::new(),
        }
    }

    /// What the result of a function may be counted from. Products are no addresses, nor are narrower
    /// numbers, but for those that are counted from a symbol.
    fn result(&self, function: Function, arguments: &[Argument]) -> BTreeSet<Root> {
        let all = || arguments.iter().flat_map(|argument| self.argument(*argument)).collect();
        match function {
            Function::Integer(Operation::Convert(from), ty) if from.bits < ty.bits => {
                let found: BTreeSet<Root> = all();
                found.into_iter().filter(|(name, _)| self.symbols.contains(name)).collect()
            }
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
pub(super) type Place = (u32, i64);

/// The bytes that one instruction stores at most.
const WIDEST: i64 = 16;

/// What is stored between barriers.
#[derive(Default)]
struct Stored {
    places: BTreeSet<Place>,
    /// Symbols from which the places of others are counted.
    symbols: BTreeSet<u32>,
    /// A store may go anywhere.
    anywhere: bool,
}

impl Stored {
    /// Whether a load may find some of it, from its place or what its address is counted from.
    fn may_be_at(&self, place: Option<Place>, symbols: &BTreeSet<u32>) -> bool {
        let Some((symbol, offset)) = place else {
            let exact = self.places.iter().any(|(symbol, _)| symbols.contains(symbol));
            let is_any = symbols.is_empty() && !(self.places.is_empty() && self.symbols.is_empty());
            return self.anywhere || is_any || exact || !self.symbols.is_disjoint(symbols);
        };
        let around =
            (symbol, offset.saturating_sub(WIDEST - 1))..=(symbol, offset.saturating_add(WIDEST - 1));
        self.anywhere || self.symbols.contains(&symbol) || self.places.range(around).next().is_some()
    }
}

/// Loads from shared memory that no barrier of all threads keeps apart from a store that may be at the same
/// place: some threads may find what another has put there, and others what was there before, or will be.
/// Whatever stands between the same barriers counts, in whichever order: threads go different ways.
fn exchanged_at_will(code: &Code, threads: u32) -> Vec<usize> {
    let (parts, roots) = (between_barriers(code, threads), Roots::of(code));
    let definitions = definitions(code);
    let symbols = |argument: Argument| roots.argument(argument).into_iter().map(|(name, _)| name).collect();
    let mut stored: HashMap<usize, Stored> = HashMap::new();
    for (at, instruction) in code.instructions.iter().enumerate() {
        let Action::Store { address, memory, .. } = &instruction.action else { continue };
        let address = address.filter(|_| !code.is_written_from_elsewhere);
        let here = stored.entry(parts[at]).or_default();
        let names: BTreeSet<u32> = address.map(|(base, _)| symbols(base)).unwrap_or_default();
        match address.and_then(|(base, offset)| place(code, &definitions, base, offset)) {
            Some(place) => {
                here.places.insert(place);
            }
            None => {
                here.anywhere |= names.is_empty() && *memory == Memory::Shared;
                here.symbols.extend(names);
            }
        }
    }
    let mut found = Vec::new();
    for (at, instruction) in code.instructions.iter().enumerate() {
        if let Action::Compute { function: Function::Load(Memory::Shared), arguments, .. } =
            &instruction.action
            && let Some(stored) = stored.get(&parts[at])
        {
            let address = arguments.first().copied();
            let place = address.and_then(|address| place(code, &definitions, address, 0));
            let names = address.map(symbols).unwrap_or_default();
            if stored.may_be_at(place, &names) {
                found.push(at);
            }
        }
    }
    found
}

/// Where each register is written.
pub(super) fn definitions(code: &Code) -> HashMap<Register, Vec<usize>> {
    let mut definitions: HashMap<Register, Vec<usize>> = HashMap::new();
    for (at, instruction) in code.instructions.iter().enumerate() {
        if let Action::Compute { to, .. } = &instruction.action {
            definitions.entry(*to).or_default().push(at);
        }
    }
    definitions
}

/// The place that an address is, if it is a symbol and a number.
pub(super) fn place(
    code: &Code,
    definitions: &HashMap<Register, Vec<usize>>,
    mut argument: Argument,
    mut offset: i64,
) -> Option<Place> {
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
}

/// For each instruction a number, the same for those that some way joins without a barrier of all threads on
/// it. What orders through mbarrier objects is taken to order this as well.
fn between_barriers(code: &Code, threads: u32) -> Vec<usize> {
    let instructions = &code.instructions;
    let separates = |at: usize| match &instructions[at].action {
        Action::Synchronise(barrier) => is_of_all(barrier, threads) && instructions[at].guard.is_none(),
        Action::Object(_) | Action::Test { .. } | Action::Beyond(_) => true,
        _ => false,
    };
    // Each points to another of its part, or is what the part is called.
    let mut part: Vec<usize> = (0..instructions.len()).collect();
    for (at, instruction) in instructions.iter().enumerate() {
        let (to, goes_on) = match &instruction.action {
            Action::Jump(to) => (Some(*to), instruction.guard.is_some()),
            Action::Exit | Action::Abort => (None, instruction.guard.is_some()),
            _ => (None, true),
        };
        for next in to.into_iter().chain(goes_on.then_some(at + 1)) {
            let is_free = next < instructions.len() && !separates(at) && !separates(next);
            if is_free && !is_further_round(code, at, next) {
                let (one, other) = (called(&mut part, at), called(&mut part, next));
                part[one] = other;
            }
        }
    }
    (0..instructions.len()).map(|at| called(&mut part, at)).collect()
}

/// Whether going on from one instruction to another is a further round of waiting at an mbarrier object, in
/// which nothing is loaded or stored. What stands behind the wait is not joined to what stands before it by
/// that.
fn is_further_round(code: &Code, at: usize, to: usize) -> bool {
    let Some(round) = code.instructions.get(to..=at) else { return false };
    let waits = |action: &Action| match action {
        Action::Object(step) => step.kind == ObjectKind::Wait,
        action => matches!(action, Action::Test { .. }),
    };
    let is_idle = |action: &Action| match action {
        Action::Compute { function, .. } => !matches!(function, Function::Load(_)),
        action => matches!(action, Action::Jump(_) | Action::Uses(_) | Action::Nothing) || waits(action),
    };
    round.iter().any(|instruction| waits(&instruction.action))
        && round.iter().all(|instruction| is_idle(&instruction.action))
}

/// What the part of an instruction is called. The way there is shortened.
fn called(part: &mut [usize], mut at: usize) -> usize {
    while part[at] != at {
        part[at] = part[part[at]];
        at = part[at];
    }
    at
}

/// Whether whoever goes on from a barrier knows that all threads have come to it.
fn is_of_all(barrier: &Synchronisation, threads: u32) -> bool {
    match barrier.awaited {
        Awaited::Group => true,
        Awaited::Threads(Argument::Number(count)) => count >= u64::from(threads),
        Awaited::Threads(_) | Awaited::Nobody => false,
    }
}
