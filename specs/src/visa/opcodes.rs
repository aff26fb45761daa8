//! The table of opcodes: what an instruction does to variables, to barriers, to the flow of control.
//!
//! An opcode that is not in it may do anything: whoever reaches it cannot be followed.

use std::collections::HashMap;
use std::sync::LazyLock;

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Writes its first operand, from the others alone.
    Computes,
    /// May write any variable that it names.
    Touches,
    /// Writes nothing.
    Nothing,
    /// A barrier.
    Barrier,
    /// May be a barrier.
    Message,
    /// Goes on elsewhere.
    Flow,
}

const TABLE: [(Effect, &str); 6] = [
    (
        Effect::Computes,
        "abs acos add add3 addc addr_add and asin asr atan avg bfe bfi bfn bfrev cbit cmp cos div divm \
         dp2 dp3 dp4 dp4a dph exp fbh fbl fcvt frc inv invm line log lrp lzd mac mach mad madw max min \
         mod mov movs mul mulh not or pack_mask plane pln pow rndd rnde rndu rndz rol ror rsqrt rsqtm \
         sad2 sad2add sel setp shl shr sigm sin smov sqrt sqrtm srnd sub subb tanh unpack_mask xor",
    ),
    (
        Effect::Touches,
        "3d_load 3d_sample 3d_sample4 atomic avs bdpas block_ld block_st breakpoint dpas dpasw \
         dword_atomic dword_atomic_typed gather gather4_scaled gather4_typed gather_scaled info load \
         lsc_append lsc_atomic lsc_load lsc_load_block2d lsc_load_quad lsc_load_quad_typed \
         lsc_load_strided lsc_prefetch lsc_read lsc_store lsc_store_block2d lsc_store_quad \
         lsc_store_strided lsc_store_uncompressed lsc_typed_atomic media_ld media_st oword_ld \
         oword_ld_unaligned oword_st qw_gather qw_scatter resinfo rt_write sample sample4 sample4_unorm \
         sample_unorm sampleinfo scatter scatter4_scaled scatter4_typed scatter_scaled svm_atomic \
         svm_block_ld svm_block_st svm_gather svm_gather4_scaled svm_scatter svm_scatter4_scaled \
         transpose_ld typed_atomic urb_write va vme_fbr vme_idm vme_ime vme_sic",
    ),
    (
        Effect::Nothing,
        "cache_flush fence fence_global fence_local fence_sw file lifetime lifetime.end lifetime.start \
         loc lsc_fence nop optnone sched_fence sync wait yield",
    ),
    (Effect::Barrier, "barrier nbarrier sbarrier"),
    (Effect::Message, "raw_send raw_sendc raw_sendg raw_sends raw_sends_eot raw_sendsc sendg wait_event"),
    (Effect::Flow, "call eot faddr fcall fret goto ifcall jmp ret subroutine switchjmp"),
];

static EFFECTS: LazyLock<HashMap<&str, Effect>> = LazyLock::new(|| {
    let rows = TABLE.iter().flat_map(|(effect, words)| words.split_ascii_whitespace().map(|w| (w, *effect)));
    rows.collect()
});

/// What an opcode does, by the part before the first dot; `None` if it is not in the table.
pub(super) fn effect(opcode: &str) -> Option<Effect> {
    EFFECTS.get(root(opcode).as_str()).copied()
}

/// An opcode in small letters, without modifiers.
pub(super) fn root(opcode: &str) -> String {
    opcode.split('.').next().unwrap_or_default().to_ascii_lowercase()
}

/// Whether an instruction is a barrier or may be one.
pub(super) fn may_synchronise(opcode: &str) -> bool {
    matches!(effect(opcode), None | Some(Effect::Barrier | Effect::Message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opcode_is_found_by_what_stands_before_its_first_dot() {
        assert_eq!(effect("nbarrier.signal"), Some(Effect::Barrier));
        assert_eq!(effect("NBARRIER.wait"), Some(Effect::Barrier));
        assert_eq!(effect("cmp.lt"), Some(Effect::Computes));
        assert_eq!(effect("quantum"), None);
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
