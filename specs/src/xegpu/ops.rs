//! The table of operations: what one without regions does that is not followed by name.
//!
//! An operation that is not in it may do anything: whoever reaches it cannot be followed.

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Its results follow from its operands and attributes alone.
    Pure,
    /// Its results do not, and it changes nothing that others see.
    Reads,
    /// Writes memory: through the operand at this position.
    Writes(usize),
    /// It only declares.
    Declares,
    /// May synchronise.
    Beyond,
}

/// Dialects of which no operation synchronises.
const QUIET: [&str; 13] = [
    "arith",
    "math",
    "index",
    "complex",
    "vector",
    "affine",
    "memref",
    "tensor",
    "xetile",
    "ub",
    "linalg",
    "bufferization",
    "builtin",
];

/// Those of which all results follow from the operands, unless the operation reads memory.
const PURE: [&str; 6] = ["arith", "math", "index", "complex", "vector", "ub"];

/// Operations by their effects; those of dialects that are all alike need not be here.
const TABLE: [(Effect, &str); 7] = [
    (
        Effect::Pure,
        "affine.apply affine.min affine.max affine.delinearize_index affine.linearize_index memref.cast \
         memref.subview memref.view memref.reinterpret_cast memref.collapse_shape memref.expand_shape \
         memref.dim memref.get_global memref.memory_space_cast memref.extract_aligned_pointer_as_index \
         memref.extract_strided_metadata xegpu.create_nd_tdesc xegpu.update_nd_offset xegpu.create_tdesc \
         xegpu.update_offset xegpu.create_mem_desc xegpu.mem_desc_subview xegpu.convert_layout xegpu.dpas \
         xetile.init_tile xetile.update_tile_offset spirv.Constant spirv.Undef spirv.mlir.addressof \
         spirv.IAdd spirv.ISub spirv.IMul spirv.UDiv spirv.SDiv spirv.UMod spirv.SRem spirv.SMod \
         spirv.UConvert spirv.SConvert spirv.FConvert spirv.Bitcast spirv.ConvertPtrToU \
         spirv.ConvertUToPtr spirv.CompositeInsert spirv.CompositeExtract spirv.CompositeConstruct \
         spirv.VectorShuffle spirv.VectorInsertDynamic spirv.VectorExtractDynamic spirv.ShiftLeftLogical \
         spirv.ShiftRightLogical spirv.ShiftRightArithmetic spirv.BitwiseAnd spirv.BitwiseOr \
         spirv.BitwiseXor spirv.Not spirv.IEqual spirv.INotEqual spirv.ULessThan spirv.SLessThan \
         spirv.UGreaterThan spirv.SGreaterThan spirv.ULessThanEqual spirv.SLessThanEqual \
         spirv.UGreaterThanEqual spirv.SGreaterThanEqual spirv.LogicalAnd spirv.LogicalOr \
         spirv.LogicalNot spirv.Select spirv.FAdd spirv.FSub spirv.FMul spirv.FDiv spirv.FNegate \
         spirv.SNegate spirv.AccessChain spirv.PtrAccessChain spirv.InBoundsPtrAccessChain \
         spirv.ConvertSToF spirv.ConvertUToF spirv.ConvertFToS spirv.ConvertFToU llvm.mlir.constant \
         llvm.mlir.undef llvm.mlir.poison llvm.mlir.zero llvm.add llvm.sub llvm.mul llvm.udiv llvm.sdiv \
         llvm.urem llvm.srem llvm.and llvm.or llvm.xor llvm.shl llvm.lshr llvm.ashr llvm.icmp llvm.fcmp \
         llvm.select llvm.trunc llvm.zext llvm.sext llvm.bitcast llvm.ptrtoint llvm.inttoptr \
         llvm.getelementptr llvm.addrspacecast llvm.extractvalue llvm.insertvalue llvm.extractelement \
         llvm.insertelement llvm.shufflevector llvm.fadd llvm.fsub llvm.fmul llvm.fdiv llvm.fneg \
         llvm.mlir.addressof",
    ),
    (
        Effect::Reads,
        "xegpu.load_nd xegpu.load xegpu.load_gather xegpu.prefetch_nd xegpu.prefetch xegpu.load_matrix \
         xegpu.compile_hint xegpu.compiler_hint gpu.block_id gpu.grid_dim gpu.lane_id gpu.subgroup_size \
         gpu.shuffle gpu.rotate gpu.ballot gpu.subgroup_reduce gpu.printf gpu.dynamic_shared_memory \
         gpu.cluster_id gpu.cluster_dim gpu.subgroup_mma_load_matrix gpu.subgroup_mma_compute \
         gpu.subgroup_mma_constant_matrix spirv.Load spirv.Variable spirv.MemoryBarrier spirv.CL.printf \
         xevm.memfence xevm.prefetch xevm.blockload2d xevm.blockprefetch2d xevm.mma llvm.load llvm.alloca \
         llvm.fence",
    ),
    (
        Effect::Writes(1),
        "memref.store memref.copy memref.atomic_rmw vector.store vector.transfer_write vector.scatter \
         vector.maskedstore vector.compressstore xegpu.store_nd xegpu.store xegpu.store_scatter \
         xegpu.store_matrix xetile.store_tile xetile.store xetile.atomic_rmw affine.store \
         affine.vector_store llvm.store gpu.subgroup_mma_store_matrix linalg.copy linalg.fill",
    ),
    (
        Effect::Writes(0),
        "spirv.Store spirv.CopyMemory xevm.blockstore2d llvm.atomicrmw llvm.cmpxchg xegpu.atomic_rmw",
    ),
    // What is written is not among the operands.
    (Effect::Writes(usize::MAX), "memref.dma_start memref.generic_atomic_rmw xetile.atomic_rmw_tile"),
    (
        Effect::Declares,
        "memref.global spirv.GlobalVariable spirv.EntryPoint spirv.ExecutionMode llvm.mlir.global",
    ),
    (
        Effect::Reads,
        "memref.load memref.alloc memref.alloca memref.dealloc memref.prefetch memref.assume_alignment",
    ),
];

/// What an operation does.
pub(super) fn effect(name: &str) -> Effect {
    let has = |words: &str| words.split_ascii_whitespace().any(|word| word == name);
    if let Some((effect, _)) = TABLE.into_iter().find(|(_, words)| has(words)) {
        return effect;
    }
    let (dialect, rest) = name.split_once('.').unwrap_or(("builtin", name));
    if !QUIET.contains(&dialect) || sounds(rest) {
        return Effect::Beyond;
    }
    let reads = ["load", "read", "gather", "alloc"].iter().any(|word| rest.contains(word));
    if ["store", "write", "scatter", "atomic"].iter().any(|word| rest.contains(word)) {
        Effect::Writes(usize::MAX)
    } else if PURE.contains(&dialect) && !reads {
        Effect::Pure
    } else {
        Effect::Reads
    }
}

/// Whether a name sounds as if agents waited for one another.
fn sounds(name: &str) -> bool {
    ["barrier", "sync", "wait", "signal", "arrive"].iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unknown_may_synchronise() {
        assert_eq!(effect("quantum.swap"), Effect::Beyond);
        assert_eq!(effect("xegpu.nbarrier_join"), Effect::Beyond);
        assert_eq!(effect("xetile.tile_barrier"), Effect::Beyond);
        assert_eq!(effect("gpu.all_reduce"), Effect::Beyond);
        assert_eq!(effect("llvm.call"), Effect::Beyond);
        assert_eq!(effect("spirv.FunctionCall"), Effect::Beyond);
    }

    #[test]
    fn what_is_known_is_told_apart() {
        assert_eq!(effect("arith.addf"), Effect::Pure);
        assert_eq!(effect("vector.transfer_read"), Effect::Reads);
        assert_eq!(effect("xegpu.store_nd"), Effect::Writes(1));
        assert_eq!(effect("memref.atomic_yield"), Effect::Writes(usize::MAX));
        assert_eq!(effect("math.exp"), Effect::Pure);
    }
}
