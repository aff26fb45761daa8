//! The table of opcodes: how the operands of an instruction are laid out, and what it does.
//!
//! An instruction that is not in it may do anything: whoever reaches it cannot be followed.

use std::collections::HashMap;
use std::sync::LazyLock;

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Says something of the module: types, constants, names.
    Declares,
    /// Its result follows from its operands alone.
    Pure,
    /// Its result does not, and it changes nothing that others see.
    Reads,
    /// Writes memory.
    Writes,
    /// All invocations of a scope execute it together, and exchange values.
    Collective,
    /// A barrier that is followed.
    Barrier,
    /// Goes on elsewhere.
    Flow,
    /// May synchronise in a way that is not followed.
    Synchronises,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opcode {
    pub(super) number: u16,
    /// Without `Op`.
    pub(super) name: &'static str,
    /// A letter for each operand, as the table says.
    pub(super) operands: &'static str,
    pub(super) effect: Effect,
}

impl Opcode {
    pub(super) fn has_type(&self) -> bool {
        self.operands.starts_with('t')
    }

    pub(super) fn has_result(&self) -> bool {
        self.operands.starts_with("tr") || self.operands.starts_with('r')
    }

    /// The letters of the operands behind type and result.
    fn letters(&self) -> &'static [u8] {
        self.operands.trim_start_matches(['t', 'r']).as_bytes()
    }

    /// What the operand at a position behind type and result is: `i`, `n`, `c`, `s`, or `+` for anything.
    pub(super) fn kind(&self, at: usize) -> u8 {
        let mut position = 0;
        let mut letters = self.letters().iter().peekable();
        while let Some(letter) = letters.next() {
            let repeats = letters.next_if(|next| matches!(next, b'?' | b'*')) == Some(&b'*');
            match (letter, (at - position).is_multiple_of(2)) {
                (b'+', _) => return b'+',
                (b'p', true) | (b'q', false) => return b'n',
                (b'p' | b'q' | b'y', _) => return b'i',
                _ if repeats || position == at => return *letter,
                _ => position += 1,
            }
        }
        b'+'
    }

    /// The operands behind type and result that there are at least.
    pub(super) fn least(&self) -> usize {
        let letters = self.letters();
        let is_needed = |at: usize| {
            letters[at].is_ascii_alphabetic() && !matches!(letters.get(at + 1), Some(b'?' | b'*'))
        };
        (0..letters.len()).filter(|at| is_needed(*at)).count()
    }
}

/// The table, by number and by name.
pub(super) struct Table {
    numbers: HashMap<u16, Opcode>,
    names: HashMap<&'static str, Opcode>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table { numbers: HashMap::new(), names: HashMap::new() };
    for row in include_str!("opcodes.txt").lines().filter_map(row) {
        // The first name of a number is the one to show.
        table.numbers.entry(row.number).or_insert(row);
        table.names.insert(row.name, row);
    }
    table
});

fn row(line: &'static str) -> Option<Opcode> {
    let mut words = line.split_ascii_whitespace();
    let number = words.next()?.parse().ok()?;
    let name = words.next()?;
    let operands = words.next().map(|operands| if operands == "-" { "" } else { operands })?;
    let effect = match words.next()? {
        "declares" => Effect::Declares,
        "pure" => Effect::Pure,
        "reads" => Effect::Reads,
        "writes" => Effect::Writes,
        "collective" => Effect::Collective,
        "barrier" => Effect::Barrier,
        "flow" => Effect::Flow,
        _ => Effect::Synchronises,
    };
    Some(Opcode { number, name, operands, effect })
}

/// The row of a number.
pub(super) fn by_number(number: u16) -> Option<Opcode> {
    TABLE.numbers.get(&number).copied()
}

/// The row of a name, `Op` left out.
pub(super) fn by_name(name: &str) -> Option<Opcode> {
    TABLE.names.get(name).copied()
}

/// The numbers of instructions that the reader knows more of than the table says.
pub(super) mod op {
    pub(in crate::spirv) const UNDEF: u16 = 1;
    pub(in crate::spirv) const NAME: u16 = 5;
    pub(in crate::spirv) const STRING: u16 = 7;
    pub(in crate::spirv) const LINE: u16 = 8;
    pub(in crate::spirv) const EXT_INST_IMPORT: u16 = 11;
    pub(in crate::spirv) const EXT_INST: u16 = 12;
    pub(in crate::spirv) const ENTRY_POINT: u16 = 15;
    pub(in crate::spirv) const EXECUTION_MODE: u16 = 16;
    pub(in crate::spirv) const TYPE_VOID: u16 = 19;
    pub(in crate::spirv) const TYPE_BOOL: u16 = 20;
    pub(in crate::spirv) const TYPE_INT: u16 = 21;
    pub(in crate::spirv) const TYPE_FLOAT: u16 = 22;
    pub(in crate::spirv) const TYPE_VECTOR: u16 = 23;
    pub(in crate::spirv) const TYPE_MATRIX: u16 = 24;
    pub(in crate::spirv) const TYPE_ARRAY: u16 = 28;
    pub(in crate::spirv) const TYPE_RUNTIME_ARRAY: u16 = 29;
    pub(in crate::spirv) const TYPE_STRUCT: u16 = 30;
    pub(in crate::spirv) const TYPE_POINTER: u16 = 32;
    pub(in crate::spirv) const TYPE_FUNCTION: u16 = 33;
    pub(in crate::spirv) const CONSTANT_TRUE: u16 = 41;
    pub(in crate::spirv) const CONSTANT_FALSE: u16 = 42;
    pub(in crate::spirv) const CONSTANT: u16 = 43;
    pub(in crate::spirv) const CONSTANT_COMPOSITE: u16 = 44;
    pub(in crate::spirv) const CONSTANT_NULL: u16 = 46;
    pub(in crate::spirv) const SPEC_CONSTANT_TRUE: u16 = 48;
    pub(in crate::spirv) const SPEC_CONSTANT_FALSE: u16 = 49;
    pub(in crate::spirv) const SPEC_CONSTANT: u16 = 50;
    pub(in crate::spirv) const SPEC_CONSTANT_COMPOSITE: u16 = 51;
    pub(in crate::spirv) const SPEC_CONSTANT_OP: u16 = 52;
    pub(in crate::spirv) const FUNCTION: u16 = 54;
    pub(in crate::spirv) const FUNCTION_PARAMETER: u16 = 55;
    pub(in crate::spirv) const FUNCTION_END: u16 = 56;
    pub(in crate::spirv) const FUNCTION_CALL: u16 = 57;
    pub(in crate::spirv) const VARIABLE: u16 = 59;
    pub(in crate::spirv) const LOAD: u16 = 61;
    pub(in crate::spirv) const STORE: u16 = 62;
    pub(in crate::spirv) const COPY_MEMORY: u16 = 63;
    pub(in crate::spirv) const COPY_MEMORY_SIZED: u16 = 64;
    pub(in crate::spirv) const ACCESS_CHAIN: u16 = 65;
    pub(in crate::spirv) const IN_BOUNDS_ACCESS_CHAIN: u16 = 66;
    pub(in crate::spirv) const PTR_ACCESS_CHAIN: u16 = 67;
    pub(in crate::spirv) const IN_BOUNDS_PTR_ACCESS_CHAIN: u16 = 70;
    pub(in crate::spirv) const DECORATE: u16 = 71;
    pub(in crate::spirv) const MEMBER_DECORATE: u16 = 72;
    pub(in crate::spirv) const VECTOR_SHUFFLE: u16 = 79;
    pub(in crate::spirv) const COMPOSITE_CONSTRUCT: u16 = 80;
    pub(in crate::spirv) const COMPOSITE_EXTRACT: u16 = 81;
    pub(in crate::spirv) const COMPOSITE_INSERT: u16 = 82;
    pub(in crate::spirv) const COPY_OBJECT: u16 = 83;
    pub(in crate::spirv) const BITCAST: u16 = 124;
    pub(in crate::spirv) const PTR_CAST_TO_GENERIC: u16 = 121;
    pub(in crate::spirv) const GENERIC_CAST_TO_PTR: u16 = 122;
    pub(in crate::spirv) const CONTROL_BARRIER: u16 = 224;
    pub(in crate::spirv) const MEMORY_BARRIER: u16 = 225;
    pub(in crate::spirv) const PHI: u16 = 245;
    pub(in crate::spirv) const LABEL: u16 = 248;
    pub(in crate::spirv) const BRANCH: u16 = 249;
    pub(in crate::spirv) const BRANCH_CONDITIONAL: u16 = 250;
    pub(in crate::spirv) const SWITCH: u16 = 251;
    pub(in crate::spirv) const KILL: u16 = 252;
    pub(in crate::spirv) const RETURN: u16 = 253;
    pub(in crate::spirv) const RETURN_VALUE: u16 = 254;
    pub(in crate::spirv) const UNREACHABLE: u16 = 255;
    pub(in crate::spirv) const LIFETIME_START: u16 = 256;
    pub(in crate::spirv) const LIFETIME_STOP: u16 = 257;
    pub(in crate::spirv) const NO_LINE: u16 = 317;
    pub(in crate::spirv) const EXECUTION_MODE_ID: u16 = 331;
    pub(in crate::spirv) const COPY_LOGICAL: u16 = 400;
    pub(in crate::spirv) const TERMINATE_INVOCATION: u16 = 4416;
    pub(in crate::spirv) const ARRIVE: u16 = 6142;
    pub(in crate::spirv) const WAIT: u16 = 6143;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_a_row() {
        let lines = include_str!("opcodes.txt").lines().filter(|line| !line.starts_with('#'));
        for line in lines {
            assert!(row(line).is_some(), "{line}");
        }
    }

    #[test]
    fn instructions_are_found_by_number_and_by_name() {
        let barrier = by_name("ControlBarrier").expect("it is in the table");
        assert_eq!((barrier.number, barrier.effect), (op::CONTROL_BARRIER, Effect::Barrier));
        assert_eq!(by_number(op::ARRIVE).map(|row| row.name), Some("ControlBarrierArriveINTEL"));
        assert_eq!(by_name("ControlBarrierArriveEXT").map(|row| row.number), Some(op::ARRIVE));
        assert_eq!(by_name("QuantumSwap").map(|row| row.number), None);
        assert_eq!(by_number(op::PHI).map(|row| row.operands), Some("try*"));
    }

    #[test]
    fn operands_are_told_apart_by_their_position() {
        let kinds = |name: &str| {
            let row = by_name(name).expect("it is in the table");
            ((0..5).map(|at| row.kind(at) as char).collect::<String>(), row.least())
        };
        assert_eq!(kinds("Switch"), ("iinin".to_owned(), 2));
        assert_eq!(kinds("Phi"), ("iiiii".to_owned(), 0));
        assert_eq!(kinds("ExtInst"), ("iniii".to_owned(), 2));
        assert_eq!(kinds("Load"), ("in+++".to_owned(), 1));
        assert_eq!(kinds("EntryPoint"), ("nisii".to_owned(), 3));
    }
}
