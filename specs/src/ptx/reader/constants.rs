//! Constant expressions (PTX ISA, section 4.5, Constant Expressions): what can be computed of integers when a
//! module is read.

use super::lexer::{Kind, Token};
use super::number::number;
use super::state::Reader;

/// The most expressions inside one another.
const DEPTH: u32 = 32;

/// A constant of 64 bits, and whether it is unsigned: a literal is that if it says so or has no sign to
/// spare.
#[derive(Clone, Copy)]
struct Constant {
    bits: u64,
    is_unsigned: bool,
}

/// Operators with two sides, and how much they bind, as in C.
const OPERATORS: [(&[u8], u32); 10] = [
    (b"<<", 4),
    (b">>", 4),
    (b"|", 1),
    (b"^", 2),
    (b"&", 3),
    (b"+", 5),
    (b"-", 5),
    (b"*", 6),
    (b"/", 6),
    (b"%", 6),
];

impl Reader<'_, '_> {
    /// The constant that begins with a token, which is taken; `None` if none does, or nothing can be said of
    /// it.
    pub(super) fn constant(&mut self, first: Token) -> Option<u64> {
        self.binary(first, 0, DEPTH).map(|constant| constant.bits)
    }

    /// Whether the parenthesis that comes next holds a constant, and not the arguments of a call.
    pub(super) fn is_constant_ahead(&mut self) -> bool {
        let source = self.lexer.source.as_bytes();
        let start = self.lexer.peek().span.start as usize;
        let is_operator = |byte: &u8| b"+-*/%&|^~<>".contains(byte);
        let (mut depth, mut computes) = (0_u32, false);
        for (at, byte) in source.iter().enumerate().skip(start).take(200) {
            match byte {
                b'(' => depth += 1,
                b')' if depth == 1 => {
                    let behind = source[at + 1..].iter().find(|byte| !byte.is_ascii_whitespace());
                    return computes || behind.is_some_and(is_operator);
                }
                b')' => depth -= 1,
                _ if is_operator(byte) => computes = true,
                _ if byte.is_ascii_hexdigit() || b"xXuU \t".contains(byte) => {}
                _ => return false,
            }
        }
        false
    }

    fn binary(&mut self, first: Token, least: u32, left: u32) -> Option<Constant> {
        let left = left.checked_sub(1)?;
        let mut so_far = self.unary(first, left)?;
        while let Some((operator, binds)) = self.operator().filter(|(_, binds)| *binds > least) {
            for _ in operator {
                self.lexer.next();
            }
            let token = self.lexer.next();
            let other = self.binary(token, binds, left)?;
            so_far = computed(operator, so_far, other)?;
        }
        Some(so_far)
    }

    /// The operator that comes next.
    fn operator(&mut self) -> Option<(&'static [u8], u32)> {
        let token = self.lexer.peek();
        let rest = &self.lexer.source.as_bytes()[token.span.start as usize..];
        OPERATORS.into_iter().find(|(operator, _)| rest.starts_with(operator))
    }

    fn unary(&mut self, token: Token, left: u32) -> Option<Constant> {
        let left = left.checked_sub(1)?;
        match token.kind {
            Kind::Word => {
                let text = self.text(token);
                let bits = number(text)?;
                Some(Constant { bits, is_unsigned: text.ends_with(['U', 'u']) || bits >> 63 == 1 })
            }
            Kind::Sign(b'(') => {
                let token = self.lexer.next();
                let inside = self.binary(token, 0, left)?;
                self.lexer.take(b')').then_some(inside)
            }
            Kind::Sign(sign @ (b'-' | b'~' | b'+')) => {
                let token = self.lexer.next();
                let of = self.unary(token, left)?;
                let bits = match sign {
                    b'-' => of.bits.wrapping_neg(),
                    b'~' => !of.bits,
                    _ => of.bits,
                };
                Some(Constant { bits, ..of })
            }
            _ => None,
        }
    }
}

fn computed(operator: &[u8], a: Constant, b: Constant) -> Option<Constant> {
    let is_unsigned = a.is_unsigned || b.is_unsigned;
    let (x, y) = (a.bits, b.bits);
    let signed = |of: Option<i64>| of.map(|number| number as u64);
    let bits = match operator {
        b"|" => x | y,
        b"^" => x ^ y,
        b"&" => x & y,
        b"+" => x.wrapping_add(y),
        b"-" => x.wrapping_sub(y),
        b"*" => x.wrapping_mul(y),
        b"/" if is_unsigned => x.checked_div(y)?,
        b"%" if is_unsigned => x.checked_rem(y)?,
        b"/" => signed((x as i64).checked_div(y as i64))?,
        b"%" => signed((x as i64).checked_rem(y as i64))?,
        b"<<" => return Some(Constant { bits: x.checked_shl(u32::try_from(y).ok()?)?, ..a }),
        b">>" if a.is_unsigned => x.checked_shr(u32::try_from(y).ok()?)?,
        b">>" => {
            return Some(Constant { bits: signed((x as i64).checked_shr(u32::try_from(y).ok()?))?, ..a });
        }
        _ => return None,
    };
    Some(Constant { bits, is_unsigned })
}
