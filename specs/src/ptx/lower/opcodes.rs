//! The table of opcodes: what an instruction does to registers, to barriers, to the flow of control.
//!
//! An opcode that is not in it may do anything: whoever reaches it cannot be followed.

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Writes what follows from its other operands alone: its first operand, or all before an address.
    Pure,
    /// Writes what it loads, likewise.
    Loads,
    /// Writes what is not followed, likewise.
    Unknown,
    /// Writes what is the same for the lanes of a warp.
    OfWarp,
    /// Writes no register.
    Reads,
    /// Exchanges values between lanes, and is followed.
    Lanes,
    /// A barrier of the CTA, or of a warp.
    Barrier,
    /// Gives or takes registers of the CTA.
    Registers,
    /// A step on an mbarrier object, or what leads to one.
    Synchronises,
    /// Goes on elsewhere.
    Flow,
}

/// Which opcodes, by the part before the first dot, have which effect.
const TABLE: [(Effect, &str); 10] = [
    (
        Effect::Pure,
        "mov cvt add sub mul mad mul24 mad24 sad div rem abs neg min max popc clz bfind fns brev bfe bfi szext \
         bmsk dp2a dp4a testp copysign fma rcp sqrt rsqrt sin cos lg2 ex2 tanh set setp selp slct and or xor \
         not cnot lop3 shl shr shf prmt cvta mapa getctarank isspacep istypep vadd vsub vabsdiff vmin vmax \
         vshl vshr vmad vset vadd2 vsub2 vavrg2 vabsdiff2 vmin2 vmax2 vset2 vadd4 vsub4 vavrg4 vabsdiff4 \
         vmin4 vmax4 vset4 clusterlaunchcontrol",
    ),
    (Effect::Loads, "ld ldu"),
    (
        Effect::Unknown,
        "addc subc madc atom tex tld4 txq suld suq match mma wmma wgmma tcgen05 ldmatrix movmatrix multimem \
         createpolicy alloca stacksave",
    ),
    (Effect::OfWarp, "redux activemask"),
    (
        Effect::Reads,
        "st red prefetch prefetchu fence membar cp nanosleep griddepcontrol stmatrix tensormap \
         discard applypriority pmevent sust sured stackrestore",
    ),
    (Effect::Lanes, "shfl vote elect"),
    (Effect::Barrier, "bar barrier"),
    (Effect::Registers, "setmaxnreg"),
    (Effect::Synchronises, "mbarrier"),
    (Effect::Flow, "bra brx call ret exit trap brkpt"),
];

/// What an opcode does; `None` if it is not in the table.
pub(super) fn effect(opcode: &str) -> Option<Effect> {
    let root = opcode.split('.').next().unwrap_or_default();
    // Copies and commits say by a modifier that they arrive at an mbarrier object. Fences only order.
    if opcode.contains(".mbarrier") && root != "fence" {
        return Some(Effect::Synchronises);
    }
    let has = |words: &str| words.split_ascii_whitespace().any(|word| word == root);
    TABLE.into_iter().find(|(_, words)| has(words)).map(|(effect, _)| effect)
}

/// Whether what an instruction reads may come to somebody: it is more than an order or a hint.
pub(super) fn hands_on(opcode: &str) -> bool {
    let idle = "prefetch prefetchu fence membar nanosleep griddepcontrol discard applypriority pmevent";
    let root = opcode.split('.').next().unwrap_or_default();
    !idle.split(' ').any(|word| word == root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opcode_is_found_by_what_stands_before_its_first_dot() {
        assert_eq!(effect("mad.wide.s32"), Some(Effect::Pure));
        assert_eq!(effect("mbarrier.try_wait.parity.shared::cta.b64"), Some(Effect::Synchronises));
        assert_eq!(effect("ret"), Some(Effect::Flow));
    }

    #[test]
    fn an_opcode_that_is_new_is_in_no_row() {
        assert_eq!(effect("quantum.sync"), None);
        assert_eq!(effect("movx.b32"), None);
        assert_eq!(effect(""), None);
    }

    #[test]
    fn no_opcode_has_two_effects() {
        let mut words: Vec<&str> =
            TABLE.iter().flat_map(|(_, words)| words.split_ascii_whitespace()).collect();
        let count = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), count);
    }
}
