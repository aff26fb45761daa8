//! Modules as words: an instruction begins with its length and its opcode.

use std::fmt::Write;

use crate::common::span::{Span, offset};

use super::error::SpirvError;
use super::opcodes::by_number;
use super::syntax::{Instruction, Listing, Operand, Widths};

/// The first word of a module.
const MAGIC: u32 = 0x0723_0203;
/// The words before the first instruction.
const HEADER: usize = 5;

/// Whether these bytes begin as a module of words does, in either order of bytes.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC.to_le_bytes()) || bytes.starts_with(&MAGIC.to_be_bytes())
}

/// Reads a module, and writes it down for people, as far as it goes.
pub(super) fn read(bytes: &[u8]) -> (Listing, Option<SpirvError>) {
    let mut listing = Listing::default();
    let error = read_into(bytes, &mut listing).err();
    (listing, error)
}

fn read_into(bytes: &[u8], listing: &mut Listing) -> Result<(), SpirvError> {
    let is_little = bytes.starts_with(&MAGIC.to_le_bytes());
    let (chunks, rest) = bytes.as_chunks::<4>();
    let word = |chunk: &[u8; 4]| {
        if is_little { u32::from_le_bytes(*chunk) } else { u32::from_be_bytes(*chunk) }
    };
    let words: Vec<u32> = chunks.iter().map(word).collect();
    let header = |at: usize| words.get(at).copied().unwrap_or_default();
    let version = (header(1) >> 16 & 0xff, header(1) >> 8 & 0xff);
    let _ = writeln!(listing.text, "; SPIR-V {}.{}, bound {}", version.0, version.1, header(3));
    let cut = |listing: &Listing, at: usize| {
        let end = offset(listing.text.len());
        SpirvError::CutShort(at * 4, Span::new(end.saturating_sub(1), end))
    };
    if words.len() < HEADER {
        return Err(cut(listing, words.len()));
    }
    let mut widths = Widths::default();
    let mut at = HEADER;
    while at < words.len() {
        let (count, number) = ((words[at] >> 16) as usize, (words[at] & 0xffff) as u16);
        let Some(operands) = words.get(at + 1..at + count).filter(|_| count > 0) else {
            return Err(cut(listing, at));
        };
        let mut instruction = decode(number, operands).ok_or_else(|| cut(listing, at))?;
        widths.join(&mut instruction);
        write_down(&mut listing.text, number, &mut instruction);
        listing.instructions.push(instruction);
        at += count;
    }
    if !rest.is_empty() {
        return Err(cut(listing, words.len()));
    }
    Ok(())
}

/// The instruction that words are; `None` if they are too few.
fn decode(number: u16, words: &[u32]) -> Option<Instruction> {
    let row = by_number(number);
    let mut instruction = Instruction {
        opcode: row.map(|row| row.number),
        ty: 0,
        result: 0,
        operands: Vec::new(),
        span: Span::default(),
    };
    let mut rest = words;
    let mut front = |has: bool| match rest.split_first() {
        _ if !has => Some(0),
        Some((first, more)) => {
            rest = more;
            Some(*first)
        }
        None => None,
    };
    instruction.ty = front(row.is_some_and(|row| row.has_type()))?;
    instruction.result = front(row.is_some_and(|row| row.has_result()))?;
    while let Some((first, more)) = rest.split_first() {
        let kind = row.map_or(b'+', |row| row.kind(instruction.operands.len()));
        if kind == b's' {
            let (text, more) = string(rest)?;
            instruction.operands.push(Operand::Text(text.into()));
            rest = more;
        } else {
            instruction.operands.push(Operand::Number(u64::from(*first)));
            rest = more;
        }
    }
    (instruction.operands.len() >= row.map_or(0, |row| row.least())).then_some(instruction)
}

/// A string, which ends with a zero in its last word, and what follows it.
fn string(words: &[u32]) -> Option<(String, &[u32])> {
    let mut bytes = Vec::new();
    for (at, word) in words.iter().enumerate() {
        for byte in word.to_le_bytes() {
            if byte == 0 {
                return Some((String::from_utf8_lossy(&bytes).into_owned(), &words[at + 1..]));
            }
            bytes.push(byte);
        }
    }
    None
}

/// Writes an instruction as assembly text, a line of its own.
fn write_down(text: &mut String, number: u16, instruction: &mut Instruction) {
    let row = by_number(number);
    let start = offset(text.len());
    if instruction.result > 0 {
        let _ = write!(text, "%{} = ", instruction.result);
    }
    let _ = match row {
        Some(row) => write!(text, "Op{}", row.name),
        None => write!(text, "OpUnknown{number}"),
    };
    if instruction.ty > 0 {
        let _ = write!(text, " %{}", instruction.ty);
    }
    for (at, operand) in instruction.operands.iter().enumerate() {
        let letter = row.map_or(b'n', |row| row.kind(at));
        let _ = match operand {
            Operand::Number(id) if letter == b'i' => write!(text, " %{id}"),
            Operand::Number(number) => write!(text, " {number}"),
            Operand::Word(word) => write!(text, " {word}"),
            Operand::Text(string) => write!(text, " \"{}\"", escaped(string)),
        };
    }
    instruction.span = Span::new(start, offset(text.len()));
    text.push('\n');
}

fn escaped(string: &str) -> String {
    string.chars().flat_map(|c| (matches!(c, '"' | '\\')).then_some('\\').into_iter().chain([c])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(instructions: &[&[u32]]) -> Vec<u8> {
        let mut words = vec![MAGIC, 0x1_0400, 0, 9, 0];
        for instruction in instructions {
            words.push(((instruction.len() as u32) << 16) | instruction[0]);
            words.extend(&instruction[1..]);
        }
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn whole(bytes: &[u8]) -> Listing {
        let (listing, error) = read(bytes);
        assert!(error.is_none());
        listing
    }

    #[test]
    fn words_are_written_down_as_text() {
        let name = u32::from_le_bytes(*b"ab\0\0");
        let listing = whole(&module(&[&[5, 3, name], &[224, 1, 2, 3]]));
        assert_eq!(listing.text, "; SPIR-V 1.4, bound 9\nOpName %3 \"ab\"\nOpControlBarrier %1 %2 %3\n");
        assert_eq!(listing.instructions[1].span.text(&listing.text), "OpControlBarrier %1 %2 %3");
    }

    #[test]
    fn the_other_order_of_bytes_is_read_too() {
        let mut bytes = module(&[&[21, 1, 32, 0]]);
        bytes.chunks_exact_mut(4).for_each(<[u8]>::reverse);
        assert!(is_binary(&bytes));
        assert!(whole(&bytes).text.ends_with("%1 = OpTypeInt 32 0\n"));
    }

    #[test]
    fn numbers_of_64_bits_take_two_words() {
        let listing = whole(&module(&[&[21, 1, 64, 0], &[43, 1, 2, 5, 1]]));
        assert_eq!(listing.instructions[1].operands, [Operand::Number(5 + (1 << 32))]);
    }

    #[test]
    fn what_is_cut_short_is_no_module() {
        let whole = module(&[&[5, 3, u32::from_le_bytes(*b"ab\0\0")], &[224, 1, 2, 3]]);
        for length in 4..whole.len() {
            let at_a_border = length == HEADER * 4 || length == HEADER * 4 + 12;
            assert_eq!(read(&whole[..length]).1.is_none(), at_a_border, "{length}");
        }
        // An instruction of no words would never end.
        assert!(read(&module(&[])).1.is_none());
        let mut endless = module(&[]);
        endless.extend(224_u32.to_le_bytes());
        assert!(read(&endless).1.is_some());
    }
}
