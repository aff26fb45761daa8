//! The mnemonics of all targets, aliases included.

use std::collections::HashMap;
use std::sync::LazyLock;

use barcheck_model::program::{ReductionOp, Spaces, SplitKind, Target};

/// An instruction of one of the targets, without its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Opcode {
    /// PTX `bar.sync`, `barrier.sync`; the flag says `.aligned`, as every `bar` is.
    PtxSync(bool),
    /// PTX `bar.arrive`, `barrier.arrive`; the flag says `.aligned`.
    PtxArrive(bool),
    /// PTX `bar.red`, `barrier.red`; the flag says `.aligned`.
    PtxRed(ReductionOp, bool),
    /// PTX `membar.cta`, `fence.acq_rel.cta`.
    PtxFence,
    /// `BAR.SYNC`
    BcuSync,
    /// `BAR.ARV`
    BcuArv,
    /// `BAR.RED`
    BcuRed(ReductionOp),
    /// `B2R.RESULT`
    BcuB2rResult,
    /// `BAR.RESULT`, the same with both operands.
    BcuBarResult,
    /// `B2R`, `B2R.BAR`
    BcuB2r,
    /// `B2R.WARP`
    BcuB2rWarp,
    /// `R2B`, `R2B.BAR`
    BcuR2b,
    /// `R2B.WARP`
    BcuR2bWarp,
    /// `nbarrier.signal`
    NbarrierSignal,
    /// `nbarrier.wait`
    NbarrierWait,
    /// vISA `fence`
    NbarrierFence(Spaces),
    /// A SPIR-V barrier instruction.
    Split(SplitKind),
    /// `xegpu.alloc_nbarrier`
    XegpuAlloc,
    /// `xegpu.init_nbarrier`
    XegpuInit,
    /// `xegpu.nbarrier_arrive`
    XegpuArrive,
    /// `xegpu.nbarrier_wait`
    XegpuWait,
    /// `xegpu.mfence`
    XegpuFence,
    /// `xegpu.compile_hint`
    XegpuHint,
}

/// A way to write an instruction.
#[derive(Clone, Debug)]
pub(crate) struct Mnemonic {
    pub(crate) target: Target,
    pub(crate) opcode: Opcode,
    /// As the specification spells it.
    pub(crate) text: String,
}

/// The mnemonics of all targets and where to find each.
struct Table {
    mnemonics: Vec<Mnemonic>,
    /// Positions in `mnemonics` by the text in lower case.
    by_text: HashMap<String, Vec<usize>>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mnemonics = all();
    let mut by_text: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, mnemonic) in mnemonics.iter().enumerate() {
        by_text.entry(mnemonic.text.to_ascii_lowercase()).or_default().push(index);
    }
    Table { mnemonics, by_text }
});

/// The instructions of any target that are written `text`, without regard to case.
pub(crate) fn find(text: &str) -> impl Iterator<Item = &'static Mnemonic> {
    let positions = TABLE.by_text.get(&text.to_ascii_lowercase());
    positions.into_iter().flatten().map(|position| &TABLE.mnemonics[*position])
}

/// The instruction of `target` that is written `text`, without regard to case.
pub(crate) fn find_in(target: Target, text: &str) -> Option<&'static Mnemonic> {
    find(text).find(|mnemonic| mnemonic.target == target)
}

/// All mnemonics of `target`.
pub(crate) fn of_target(target: Target) -> impl Iterator<Item = &'static str> {
    TABLE.mnemonics.iter().filter(move |m| m.target == target).map(|m| m.text.as_str())
}

const REDUCTIONS: [(ReductionOp, &str, &str); 3] =
    [(ReductionOp::Popc, "popc", "u32"), (ReductionOp::And, "and", "pred"), (ReductionOp::Or, "or", "pred")];

fn all() -> Vec<Mnemonic> {
    let mut mnemonics = Vec::new();
    let mut add = |target, opcode, text: &str| {
        mnemonics.push(Mnemonic { target, opcode, text: text.to_owned() });
    };
    add_ptx(&mut |opcode, text| add(Target::Ptx, opcode, text));
    add_bcu(&mut |opcode, text| add(Target::Bcu, opcode, text));
    add_others(&mut add);
    mnemonics
}

fn add_ptx(add: &mut impl FnMut(Opcode, &str)) {
    // clause: ptx.bar-is-aligned
    let spellings = [("bar", "", true), ("barrier", "", false), ("barrier", ".aligned", true)];
    for (name, suffix, aligned) in spellings {
        // clause: ptx.cta-qualifier
        for cta in ["", ".cta"] {
            add(Opcode::PtxSync(aligned), &format!("{name}{cta}.sync{suffix}"));
            add(Opcode::PtxArrive(aligned), &format!("{name}{cta}.arrive{suffix}"));
            for (op, op_text, ty) in REDUCTIONS {
                let text = format!("{name}{cta}.red.{op_text}{suffix}.{ty}");
                add(Opcode::PtxRed(op, aligned), &text);
            }
        }
    }
    add(Opcode::PtxFence, "membar.cta");
    add(Opcode::PtxFence, "fence.acq_rel.cta");
}

fn add_bcu(add: &mut impl FnMut(Opcode, &str)) {
    add(Opcode::BcuSync, "BAR.SYNC");
    add(Opcode::BcuArv, "BAR.ARV");
    for (op, op_text, _) in REDUCTIONS {
        add(Opcode::BcuRed(op), &format!("BAR.RED.{}", op_text.to_ascii_uppercase()));
    }
    // clause: bcu.b2r-result
    add(Opcode::BcuB2rResult, "B2R.RESULT");
    add(Opcode::BcuBarResult, "BAR.RESULT");
    // clause: bcu.b2r-default-mode
    add(Opcode::BcuB2r, "B2R");
    add(Opcode::BcuB2r, "B2R.BAR");
    add(Opcode::BcuB2rWarp, "B2R.WARP");
    // clause: bcu.r2b-default-mode
    add(Opcode::BcuR2b, "R2B");
    add(Opcode::BcuR2b, "R2B.BAR");
    add(Opcode::BcuR2bWarp, "R2B.WARP");
}

fn add_others(add: &mut impl FnMut(Target, Opcode, &str)) {
    let spaces = |shared, global| Opcode::NbarrierFence(Spaces { shared, global });
    // clause: nbarrier.mode
    add(Target::Nbarrier, Opcode::NbarrierSignal, "nbarrier.signal");
    add(Target::Nbarrier, Opcode::NbarrierWait, "nbarrier.wait");
    add(Target::Nbarrier, spaces(true, true), "fence");
    add(Target::Nbarrier, spaces(true, false), "fence.slm");
    add(Target::Nbarrier, spaces(false, true), "fence.ugm");
    // clause: split_barrier.ext-names
    for suffix in ["INTEL", "EXT"] {
        let arrive = format!("OpControlBarrierArrive{suffix}");
        add(Target::SplitBarrier, Opcode::Split(SplitKind::Arrive), &arrive);
        let wait = format!("OpControlBarrierWait{suffix}");
        add(Target::SplitBarrier, Opcode::Split(SplitKind::Wait), &wait);
    }
    add(Target::SplitBarrier, Opcode::Split(SplitKind::Both), "OpControlBarrier");
    add(Target::SplitBarrier, Opcode::Split(SplitKind::MemoryBarrier), "OpMemoryBarrier");
    add(Target::Xegpu, Opcode::XegpuAlloc, "xegpu.alloc_nbarrier");
    add(Target::Xegpu, Opcode::XegpuInit, "xegpu.init_nbarrier");
    add(Target::Xegpu, Opcode::XegpuArrive, "xegpu.nbarrier_arrive");
    add(Target::Xegpu, Opcode::XegpuWait, "xegpu.nbarrier_wait");
    add(Target::Xegpu, Opcode::XegpuFence, "xegpu.mfence");
    add(Target::Xegpu, Opcode::XegpuHint, "xegpu.compile_hint");
}
