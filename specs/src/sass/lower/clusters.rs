//! What concerns the other CTAs of a cluster: its barrier, and addresses in their memory.
//!
//! No specification says what these instructions do. What is followed is what compilers make of one PTX
//! instruction each: of a kernel that has nothing but this instruction, for sm_90a and sm_100a.

use std::collections::BTreeSet;

use crate::kernel::code::{
    Action, Argument, Awaited, Comparison, Function, Index, Operation, Synchronisation,
};
use crate::kernel::groups::initialised;
use crate::sass::chips::{self, WINDOW};
use crate::sass::opcodes::{self, Effect};
use crate::sass::operand::{self, Kind, Operand, Register};
use crate::sass::syntax::Statement;

use super::arithmetic::compares;
use super::results::results;
use super::routes::follows;
use super::state::{Current, Lowerer, WORD};

/// What the memory of the own CTA is called among addresses, and what that of another is further on.
const OWN: &str = "%shared";
const OTHER: &str = "mapa";
/// Instructions before one that are looked at.
const NEAR: usize = 64;

impl<'m> Lowerer<'m> {
    /// An instruction is about other CTAs of the cluster.
    pub(super) fn is_about_clusters(&mut self, current: &Current<'m>) {
        self.launch.assume_no_cluster(&mut self.code.assumed, current.span());
    }

    /// Whether the chip has clusters, as far as it is known.
    pub(super) fn has_clusters(&self) -> bool {
        self.function().chip.is_none_or(|chip| chip >= 90)
    }

    /// `UCGABAR_ARV` and `UCGABAR_WAIT`, which a warp executes as a whole. That it releases what was written
    /// before is said by a fence that stands before it: there is none for one that is relaxed.
    pub(super) fn cluster_barrier(&mut self, current: &Current<'m>) -> Option<()> {
        current.operands.is_empty().then_some(())?;
        self.is_about_clusters(current);
        let statement = match current.root {
            "UCGABAR_ARV" if self.releases(current.at) => "barrier.cluster.arrive.release.aligned",
            "UCGABAR_ARV" => "barrier.cluster.arrive.relaxed.aligned",
            _ => "barrier.cluster.wait.acquire.aligned",
        };
        let awaited = match current.root == "UCGABAR_WAIT" && self.follows_arrival(current) {
            true => Awaited::Group,
            false => Awaited::Nobody,
        };
        if statement.contains(".relaxed") && self.initialises() {
            // No instruction says it of initialisations alone, which the arrival releases as kernels mean it.
            self.emit(current, initialised());
        }
        let (statement, operands) = (statement.to_owned(), Vec::new());
        self.emit(current, Action::Synchronise(Synchronisation { statement, operands, awaited }));
        Some(())
    }

    /// Whether the kernel initialises objects.
    fn initialises(&self) -> bool {
        self.function().statements.iter().any(|statement| statement.opcode.starts_with("SYNCS.EXCH"))
    }

    /// Whether a fence for the whole cluster stands before a statement, with nothing between that touches
    /// memory or leads there.
    fn releases(&self, at: usize) -> bool {
        let is_fence = |statement: &Statement<'_>| {
            let mut parts = statement.opcode.split('.');
            let of_all = |part| matches!(part, "GPU" | "SYS" | "VC");
            parts.next() == Some("MEMBAR") && statement.guard.is_none() && parts.any(of_all)
        };
        self.before(at).find(|statement| is_fence(statement) || !is_quiet(statement)).is_some_and(is_fence)
    }

    /// Whether a wait stands behind its arrival with nothing between that touches memory: all have come.
    fn follows_arrival(&self, current: &Current<'m>) -> bool {
        let is_arrival = |statement: &Statement<'_>| statement.opcode == "UCGABAR_ARV";
        let mut found = self.before(current.at).enumerate();
        let arrival = found.find(|(_, statement)| is_arrival(statement) || !is_quiet(statement));
        let same = current.statement.guard;
        arrival.is_some_and(|(distance, arrival)| {
            is_arrival(arrival) && arrival.guard == same && self.releases(current.at - 1 - distance)
        })
    }

    /// The statements before one, the nearest first, as far as control comes from them alone.
    pub(super) fn before(&self, at: usize) -> impl Iterator<Item = &'m Statement<'m>> {
        let function = self.function();
        let places = (0..at).rev().take(NEAR);
        places
            .take_while(|before| !function.entered.contains(&(before + 1)))
            .map(|before| &function.statements[before])
    }

    /// Whether some instruction puts the rank of the CTA into a register.
    pub(super) fn may_hold_rank(&self, operand: &Operand<'m>) -> bool {
        let is_it = |statement: &Statement<'_>| {
            let [to, from] = statement.operands.as_slice() else { return false };
            is_rank(from) && Operand::of(to).target() == operand.plain()
        };
        operand.plain().is_some() && self.has_clusters() && self.function().statements.iter().any(is_it)
    }

    /// An address in the shared memory of a CTA of the cluster: that of the own one if its rank says so.
    pub(super) fn in_window(
        &mut self,
        current: &Current<'m>,
        rank: &Operand<'m>,
        offset: &Operand<'m>,
    ) -> Option<Argument> {
        let (rank, offset) = (self.integer(current, rank)?, self.integer(current, offset)?);
        let own = self.name(OWN);
        self.code.symbols.insert(own);
        let own = Argument::Same(own);
        let equal = compares(Comparison::Equal, WORD);
        let is_own = self.intermediate(current, equal, &[rank, Argument::Index(Index::Rank)]);
        let further = self.further(current, rank);
        let further = self.word(current, Operation::Select, &[Argument::Number(0), further, is_own]);
        Some(self.sum(current, &[own, offset, further]))
    }

    /// `PRMT R0, R1, 0x654, R2`: the same address in the memory of the CTA with this rank.
    pub(super) fn elsewhere(
        &mut self,
        current: &Current<'m>,
        rank: &Operand<'m>,
        address: &Operand<'m>,
    ) -> Option<Argument> {
        let (rank, address) = (self.integer(current, rank)?, self.integer(current, address)?);
        self.is_about_clusters(current);
        let further = self.further(current, rank);
        Some(self.word(current, Operation::Add, &[address, further]))
    }

    /// What an address in the memory of the CTA with this rank has more than one in the own.
    fn further(&mut self, current: &Current<'m>, rank: Argument) -> Argument {
        let name = self.name(OTHER);
        self.code.elsewhere = Some(name);
        self.intermediate(current, Function::Pure(name), &[rank])
    }

    /// Whether the rank that an instruction reads is asked for other reasons than addresses in the memory of
    /// the own CTA, on some way on which the register still holds it.
    pub(super) fn tells_groups_apart(&self, current: &Current<'m>) -> bool {
        let Some(register) = current.operands.first().and_then(|operand| operand.target()) else {
            return true;
        };
        let Some(frame) = self.frames.last() else { return true };
        let (mut work, mut seen) = (vec![current.at + 1], BTreeSet::new());
        while let Some(at) = work.pop() {
            let Some(statement) = self.function().statements.get(at).filter(|_| seen.insert(at)) else {
                continue;
            };
            let here = self.current(at, statement);
            let behind = results(&here).map_or(0, |results| results.behind);
            let is_window = here.root.ends_with("LEA")
                && here.operands.last().is_some_and(|by| by.kind == Kind::Number(WINDOW));
            if !is_window && statement.operands.iter().skip(behind).any(|text| mentions(text, register)) {
                return true;
            }
            let is_written = here.operands.iter().take(behind).any(|o| o.target() == Some(register));
            if statement.guard.is_some() || !is_written {
                let (goes_on, others) = follows(self.listing, self.here(), at, &frame.pops);
                work.extend(others);
                work.extend(goes_on.then_some(at + 1));
            }
        }
        false
    }

    /// The position of the CTA in a direction of the grid: clusters follow one another along each.
    pub(super) fn in_grid(&mut self, current: &Current<'m>, direction: u8) -> Argument {
        let cluster = self.cluster(direction);
        let count = Argument::Number(u64::from(self.launch.cluster[usize::from(direction)]));
        let first = self.word(current, Operation::Multiply, &[cluster, count]);
        self.word(current, Operation::Add, &[first, Argument::Index(Index::Group(direction))])
    }

    fn cluster(&mut self, direction: u8) -> Argument {
        let letter = ['x', 'y', 'z'][usize::from(direction)];
        let is_alone = self.launch.cluster[usize::from(direction)] == 1;
        self.place_in_grid(&format!("%{}.{letter}", if is_alone { "ctaid" } else { "clusterid" }))
    }

    /// A register that is the same for the whole group: known if the launch says so.
    pub(super) fn place_in_grid(&mut self, name: &str) -> Argument {
        self.launch.of_grid(name).map_or_else(|| Argument::Same(self.name(name)), Argument::Number)
    }

    /// What the place of constant memory at an offset says of clusters.
    pub(super) fn cluster_constant(&self, offset: i64, is_counted_from_size: bool) -> Option<u32> {
        let places = self.function().chip.and_then(chips::clusters)?;
        if places.is_counted_from_size != is_counted_from_size {
            return None;
        }
        let cluster = self.launch.cluster;
        let direction = places.size.iter().position(|place| *place == offset);
        let is_count = places.count == offset;
        direction.map(|direction| cluster[direction]).or(is_count.then(|| cluster.iter().product()))
    }

    /// Says what is taken for true where the entry reads from constant memory how large clusters are.
    pub(super) fn asks_for_clusters(&mut self) {
        let asks = |statement: &&Statement<'_>| {
            let words = i64::from(opcodes::width(statement.opcode));
            let is_one = |at: i64| self.cluster_constant(at, false).is_some();
            statement.operands.iter().any(|text| match Operand::of(text).kind {
                Kind::Constant(0, None, offset) => (0..words).any(|word| is_one(offset + 4 * word)),
                _ => false,
            })
        };
        let found = self.listing.functions[self.entry].statements.iter().find(asks);
        if let Some(span) = found.map(|statement| statement.span) {
            self.launch.assume_no_cluster(&mut self.code.assumed, span);
        }
    }

    /// `CS2R.32 R0, SR_CgaSize; IMAD R0, R0, -0xa0, RZ; LDC R1, c[0x0][R0+0x2a0]`, perhaps with a `R2UR`
    /// between: whether the register of an address in constant memory is made so.
    pub(super) fn is_counted_from_size(&self, at: usize, register: Register) -> bool {
        let mut register = register;
        for before in self.before(at) {
            let [to, rest @ ..] = before.operands.as_slice() else { return false };
            if Operand::of(to).plain() != Some(register) || before.guard.is_some() {
                if before.opcode == "NOP" {
                    continue;
                }
                return false;
            }
            match (before.opcode, rest) {
                ("R2UR", [from]) => match Operand::of(from).plain() {
                    Some(from) => register = from,
                    None => return false,
                },
                ("IMAD", [from, "-0xa0", "RZ"]) if Operand::of(from).plain() == Some(register) => {}
                ("CS2R.32", ["SR_CgaSize"]) => return true,
                _ => return false,
            }
        }
        false
    }

    /// `I2FP.F32.U32 R0, R1; FMUL R0, R0, R2; F2I.U32.TRUNC.NTZ R0, R0` of the position of the CTA in a
    /// direction of the grid and of what the launch gives for that: the position of its cluster.
    pub(super) fn cluster_in_grid(&mut self, current: &Current<'m>) -> Option<Argument> {
        let [_, product] = current.operands.as_slice() else { return None };
        let product = self.written_by(current.at, product.plain()?)?;
        let multiplication = &self.function().statements[product];
        let ("FMUL", [_, a, b]) = (multiplication.opcode, multiplication.operands.as_slice()) else {
            return None;
        };
        let direction = self.reciprocal(product, b)?;
        let position = self.written_by(product, Operand::of(a).plain()?)?;
        let conversion = &self.function().statements[position];
        let ("I2FP.F32.U32", [_, from]) = (conversion.opcode, conversion.operands.as_slice()) else {
            return None;
        };
        let read = self.written_by(position, Operand::of(from).plain()?)?;
        let name = ["SR_CTAID.X", "SR_CTAID.Y", "SR_CTAID.Z"][usize::from(direction)];
        let read = &self.function().statements[read];
        (["S2R", "S2UR"].contains(&read.opcode) && read.operands.get(1) == Some(&name)).then_some(())?;
        self.is_about_clusters(current);
        Some(self.cluster(direction))
    }

    /// Of which direction an operand is what the launch gives to divide by the length of clusters.
    fn reciprocal(&self, at: usize, operand: &str) -> Option<u8> {
        let operand = Operand::of(operand);
        let places = self.function().chip.and_then(chips::clusters)?;
        let of = |kind: &Kind<'_>, at: usize| {
            let Kind::Constant(0, register, offset) = kind else { return None };
            let is_counted = register.is_some_and(|register| self.is_counted_from_size(at, register));
            let is_right = is_counted == places.is_counted_from_size && register.is_some() == is_counted;
            let direction = places.reciprocals.iter().position(|place| place == offset)?;
            u8::try_from(direction).ok().filter(|_| is_right)
        };
        if matches!(operand.kind, Kind::Constant(..)) {
            return of(&operand.kind, at);
        }
        let load = self.written_by(at, operand.plain()?)?;
        let statement = &self.function().statements[load];
        let [_, from] = statement.operands.as_slice() else { return None };
        ["LDC", "ULDC", "LDCU"].contains(&statement.opcode).then(|| of(&Operand::of(from).kind, load))?
    }

    /// The statement that has written a register before another, as far as control comes from there alone.
    fn written_by(&self, at: usize, register: Register) -> Option<usize> {
        let number = register.number?;
        for (distance, statement) in self.before(at).enumerate() {
            let before = at - 1 - distance;
            if opcodes::effect(statement.opcode) == Some(Effect::Flow) {
                return None;
            }
            if opcodes::effect(statement.opcode) == Some(Effect::Reads) {
                continue;
            }
            let here = self.current(before, statement);
            let written = |result: &super::results::Result| {
                let first = result.register.number.filter(|_| result.register.file == register.file);
                first.is_some_and(|first| (first..first + result.width).contains(&number))
            };
            let stores = opcodes::effect(statement.opcode) == Some(Effect::Stores);
            if !stores && results(&here)?.all.iter().any(written) {
                return statement.guard.is_none().then_some(before);
            }
        }
        None
    }
}

/// Whether a register stands in an operand.
fn mentions(text: &str, register: Register) -> bool {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter_map(operand::register).any(|word| word == register)
}

fn is_rank(name: &str) -> bool {
    name.eq_ignore_ascii_case("SR_CgaCtaId")
}

/// Whether an instruction touches no memory that is written, and leads nowhere.
fn is_quiet(statement: &Statement<'_>) -> bool {
    let is_constant = ["LDC", "ULDC", "LDCU"].iter().any(|load| statement.opcode.starts_with(load));
    match opcodes::effect(statement.opcode) {
        Some(Effect::Loads) => is_constant,
        Some(
            Effect::Pure
            | Effect::Predicates
            | Effect::Predicate
            | Effect::Special
            | Effect::Lanes
            | Effect::OfWarp
            | Effect::AllPredicates
            | Effect::Reads,
        ) => true,
        _ => statement.opcode.starts_with("WARPSYNC"),
    }
}
