//! The table of opcodes: what an instruction does to registers, to barriers, to the flow of control.
//!
//! An opcode that is not in it may do anything: whoever reaches it cannot be followed.

use std::collections::HashMap;
use std::sync::LazyLock;

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Writes what follows from its operands alone.
    Pure,
    /// The same; its first two operands are predicates that it writes.
    Predicates,
    /// The same; its first operand alone is a predicate that it writes.
    Predicate,
    /// Writes what it loads from the address among its operands to what stands before it.
    Loads,
    /// Writes what is not followed.
    Unknown,
    /// Writes what is not followed to as many registers as a tile has.
    Tiles,
    /// Writes what is the same for the lanes of a warp.
    OfWarp,
    /// Writes all predicates.
    AllPredicates,
    /// Writes no register and no memory that anybody reads here.
    Reads,
    /// Writes memory at the address that is its first operand, or that it has.
    Stores,
    /// Exchanges values between lanes, or between lanes and the warp.
    Lanes,
    /// Reads a special register.
    Special,
    /// A barrier of the CTA.
    Barrier,
    /// Gives or takes registers of the CTA.
    Registers,
    /// Synchronises otherwise, or leads to that.
    Synchronises,
    /// Goes on elsewhere.
    Flow,
}

/// Which opcodes, by the part before the first dot, have which effect.
const TABLE: [(Effect, &str); 16] = [
    (
        Effect::Pure,
        "BFE BFI BMSK BREV CSET DADD DFMA DMNMX DMUL DSET F2F F2FP F2I F2IP FADD FADD2 FADD32I FCMP FFMA \
         FFMA2 FFMA32I FLO FMNMX FMNMX3 FMUL FMUL2 FMUL32I FRND FSEL FSET HADD2 HADD2_32I HFMA2 \
         HFMA2_32I HMNMX2 HMUL2 HMUL2_32I HSET2 I2F I2FP I2I I2IP IABS IADD IADD2 IADD3 IADD32I ICMP IDP \
         IDP4A IMAD IMAD32I IMADSP IMNMX IMUL IMUL32I ISAD ISCADD ISCADD32I ISET LEA LOP LOP3 LOP32I MOV \
         MOV32I MUFU POPC PRMT PSET RRO SEL SGXT SHF SHL SHR UBMSK UBREV UF2F UF2FP UF2I UF2IP UFADD \
         UFFMA UFLO UFMNMX UFMUL UFRND UFSEL UFSET UI2F UI2FP UI2I UI2IP UIABS UIADD3 UIMAD UIMNMX ULEA \
         ULOP ULOP3 ULOP32I UMOV UPOPC UPRMT USEL USGXT USHF USHL USHR UVIADD UVIADDMNMX UVIMNMX \
         UVIMNMX3 VABSDIFF VABSDIFF4 VADD VHMNMX VIADD VIADDMNMX VIMNMX VIMNMX3 VMAD VMNMX VSET VSHL \
         VSHR XMAD",
    ),
    (Effect::Predicates, "CSETP DSETP FSETP HSETP2 ISETP PLOP3 PSETP UFSETP UISETP UPLOP3 UPSETP VSETP"),
    (Effect::Predicate, "FCHK"),
    (Effect::Loads, "LD LDC LDCU LDG LDGMC LDL LDS LDSM LDU ULDC"),
    (
        Effect::Unknown,
        "AL2P ATOM ATOMG ATOMS BMOV CCTLT FSWZ FSWZADD GETCRSPTR GETLMEMBASE ISBERD LEPC MATCH MOVM P2R \
         PIXLD QSPC RPCMOV SUATOM SULD SUQUERY TEX TEXS TLD TLD4 TLD4S TLDS TMML TXA TXD TXQ UP2UR \
         UTCATOMSWS UVIRTCOUNT",
    ),
    (Effect::Tiles, "BGMMA BMMA DMMA HGMMA HMMA IGMMA IMMA LDT LDTM OMMA QGMMA QMMA"),
    (Effect::OfWarp, "CREDUX REDUX"),
    (Effect::AllPredicates, "R2P UR2UP"),
    (
        Effect::Reads,
        "ACQBULK ACQSHMINIT BREAK BSSY CCTL CCTLL CGAERRBAR DEPBAR ENDCOLLECTIVE ERRBAR FENCE \
         GENMETADATA LDGDEPBAR MEMBAR NANOSLEEP NOP PMTRIG PREEXIT PREFETCH SETLMEMBASE TEXDEPBAR \
         UBLKPF UCCTL USETSHMSZ UTCCP UTCHMMA UTCIMMA UTCMXQMMA UTCOMMA UTCQMMA UTCSHIFT \
         UTMACCTL UTMACMDFLUSH UTMAPF WARPGROUP WARPGROUPSET YIELD",
    ),
    (Effect::Stores, "LDGSTS RED REDG ST STG STL STS STSM STT STTM SURED SUST UBLKRED UTMAREDG UTMASTG"),
    (Effect::Lanes, "ELECT R2UR SHFL VOTE VOTEU"),
    (Effect::Special, "CS2R CS2UR S2R S2UR"),
    (Effect::Barrier, "B2R BAR R2B"),
    (Effect::Registers, "USETMAXREG"),
    (
        Effect::Synchronises,
        "ARRIVES REDAS STAS SYNCS UBLKCP UCGABAR_ARV UCGABAR_WAIT UGETNEXTWORKID UTCBAR UTMALDG",
    ),
    (
        Effect::Flow,
        "BPT BRA BRK BRX BRXU BSYNC CAL CALL CONT EXIT JCAL JMP JMX JMXU KILL LONGJMP PBK PCNT PEXIT \
         PLONGJMP PRET RET RTT SSY SYNC WARPSYNC",
    ),
];

/// What an opcode does; `None` if it is not in the table.
pub(super) fn effect(opcode: &str) -> Option<Effect> {
    // An mbarrier of chips before sm_90, whose other operations are loads and stores.
    if opcode.starts_with("ATOMS.ARRIVE") {
        return Some(Effect::Synchronises);
    }
    EFFECTS.get(opcode.split('.').next().unwrap_or_default()).copied()
}

static EFFECTS: LazyLock<HashMap<&str, Effect>> = LazyLock::new(|| {
    let rows = TABLE.iter().flat_map(|(effect, words)| words.split_ascii_whitespace().map(|w| (w, *effect)));
    rows.collect()
});

/// Opcodes that may write predicates right behind their result: what is carried, which one was less.
const CARRIES: &str = "IADD3 UIADD3 LEA ULEA IMAD UIMAD VIADD UVIADD VIMNMX UVIMNMX VIMNMX3 UVIMNMX3 VIADDMNMX \
                       UVIADDMNMX IMNMX UIMNMX FMNMX FMNMX3 IADD2 UFMNMX";

/// Whether an opcode may write predicates right behind its result.
pub(super) fn carries(root: &str) -> bool {
    CARRIES.split_ascii_whitespace().any(|word| word == root)
}

/// The registers that each result of an opcode takes.
pub(super) fn width(opcode: &str) -> u32 {
    let mut parts = opcode.split('.');
    let root = parts.next().unwrap_or_default();
    let parts: Vec<&str> = parts.collect();
    let has = |words: &[&str]| parts.iter().any(|part| words.contains(part));
    let by_size = if has(&["256"]) {
        8
    } else if has(&["128"]) {
        4
    } else if has(&["96"]) {
        3
    } else {
        0
    };
    if by_size > 0 {
        return by_size;
    }
    match root {
        "TEX" | "TEXS" | "TLD" | "TLDS" | "TLD4" | "TLD4S" | "TMML" | "TXA" | "TXD" | "TXQ" | "SULD"
        | "SUQUERY" | "SUATOM" | "PIXLD" | "AL2P" => 4,
        "CS2R" if !has(&["32"]) => 2,
        "DADD" | "DFMA" | "DMUL" | "DMNMX" => 2,
        "LEPC" | "GETLMEMBASE" | "GETCRSPTR" => 2,
        "FADD2" | "FFMA2" | "FMUL2" => 2,
        "LDSM" | "MOVM" => {
            if has(&["4"]) {
                4
            } else if has(&["2"]) {
                2
            } else {
                1
            }
        }
        // The high half of 64 bits is one register.
        "SHF" | "USHF" | "MUFU" => 1,
        // What a conversion makes, and what it is made of, are both among its types.
        "I2F" | "I2FP" | "UI2F" | "UI2FP" | "FRND" | "UFRND" => 1 + u32::from(has(&["F64"])),
        "F2I" | "F2IP" | "UF2I" | "UF2IP" => 1 + u32::from(has(&["S64", "U64"])),
        "F2F" | "UF2F" => 1 + u32::from(parts.iter().find(|part| is_real(part)) == Some(&"F64")),
        _ if has(&["64", "WIDE", "F64", "U64", "S64"]) => 2,
        _ => 1,
    }
}

/// Whether a modifier is a type of floating-point numbers.
fn is_real(part: &str) -> bool {
    matches!(part, "F16" | "F32" | "F64" | "BF16" | "TF32")
}

/// Whether an opcode that seems to take two registers for a result certainly does.
pub(super) fn is_pair_for_certain(opcode: &str) -> bool {
    let mut parts = opcode.split('.');
    let root = parts.next().unwrap_or_default();
    root.starts_with('D') || parts.any(|part| part == "WIDE" || part == "64")
}

/// The registers that the accumulators of a matrix instruction, or a load of a tile, take at most.
pub(super) fn tile(opcode: &str) -> u32 {
    let mut parts = opcode.split('.');
    let root = parts.next().unwrap_or_default();
    let parts: Vec<&str> = parts.collect();
    match root {
        "BGMMA" | "HGMMA" | "IGMMA" | "QGMMA" => {
            // 64xNxK: N / 2 for each of 128 threads, of 4 bytes.
            let columns = parts.iter().find_map(|part| part.split('x').nth(1)?.parse::<u32>().ok());
            columns.map_or(128, |columns| columns.div_ceil(2)).min(256)
        }
        "LDT" | "LDTM" => {
            let times = parts.iter().find_map(|part| part.strip_prefix('x')?.parse::<u32>().ok());
            let has = |word: &str| opcode.contains(word);
            let each = if has("256") {
                4
            } else if has("128bit") || has("128B") {
                2
            } else {
                1
            };
            (times.unwrap_or(128) * each).min(256)
        }
        "DMMA" if parts.contains(&"884") => 4,
        "DMMA" => 8,
        "HMMA" if parts.contains(&"884") => 8,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opcode_is_found_by_what_stands_before_its_first_dot() {
        assert_eq!(effect("BAR.SYNC.DEFER_BLOCKING"), Some(Effect::Barrier));
        assert_eq!(effect("IMAD.MOV.U32"), Some(Effect::Pure));
        assert_eq!(effect("QUANTUM.SYNC"), None);
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

    #[test]
    fn results_take_as_many_registers_as_they_are_wide() {
        assert_eq!((width("LDG.E.128"), width("LDG.E.64"), width("LDG.E")), (4, 2, 1));
        assert_eq!((width("IMAD.WIDE.U32"), width("IMAD"), width("DFMA")), (2, 1, 2));
        assert_eq!((width("F2F.F64.F32"), width("F2F.F32.F64")), (2, 1));
        assert_eq!((width("I2F.F64"), width("I2F.S64"), width("F2I.F64"), width("F2I.S64")), (2, 1, 1, 2));
        assert_eq!((width("SHF.L.U64.HI"), width("CS2R"), width("CS2R.32")), (1, 2, 1));
        assert_eq!((tile("HGMMA.64x256x16.F32.BF16"), tile("HMMA.16816.F32")), (128, 4));
        assert_eq!((tile("LDTM.x64"), tile("LDTM.16dp256bit.x8")), (64, 32));
    }
}
