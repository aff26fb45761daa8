//! The BCU's registers, by their names.

use barcheck_model::program::LocalKind;

use crate::bar::notation::{self, Registers};

pub(super) const REGISTERS: Registers = Registers {
    find: |name| register(name).map(Register::lowered),
    looks_like_one,
    known: "`R0` to `R254`, `RZ`, `P0` to `P6` and `PT`",
};

/// The kinds of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Register {
    /// `R0` to `R254`.
    General,
    /// `RZ`, which reads as zero.
    Zero,
    /// `P0` to `P6`.
    Predicate,
    /// `PT`, which reads as true.
    True,
}

impl Register {
    fn lowered(self) -> notation::Register {
        use notation::Register::{Constant, Variable};
        match self {
            Self::General => Variable(LocalKind::Register),
            Self::Predicate => Variable(LocalKind::Predicate),
            Self::Zero => Constant { value: 0, sink: ".rz" },
            Self::True => Constant { value: 1, sink: ".pt" },
        }
    }
}

/// Whether a name is a letter of the registers, in either case, and a number.
fn looks_like_one(name: &str) -> bool {
    let digits = name.strip_prefix(['R', 'P', 'r', 'p']).unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The register that `name` is, if it is one.
// clause: bcu.operand-registers
pub(super) fn register(name: &str) -> Option<Register> {
    match name {
        "RZ" => return Some(Register::Zero),
        "PT" => return Some(Register::True),
        _ => {}
    }
    let (kind, most) = match name.as_bytes().first()? {
        b'R' => (Register::General, 254),
        b'P' => (Register::Predicate, 6),
        _ => return None,
    };
    let digits = &name[1..];
    let canonical = digits == "0" || !digits.starts_with('0');
    let is_number = canonical && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number: u32 = digits.parse().ok().filter(|_| is_number)?;
    (number <= most).then_some(kind)
}
