//! The one list of barrier systems. Whatever tells systems apart is made from it; a new system stands here
//! with its rooms, and opens nothing else.

/// Makes something of the list of systems: calls a macro with it.
///
/// `barriers`: kinds of barriers, each with its module in [`crate::barrier`]. `targets`: what protocols are
/// written for, each with its instructions in [`crate::program`], and who answers for its barriers.
macro_rules! systems {
    ($make:ident) => {
        $make! {
            barriers {
                /// PTX.
                Ptx(ptx)
                /// BCU.
                Bcu(bcu)
                /// vISA and XeGPU.
                Nbarrier(nbarrier)
                /// Split barriers.
                Split(split)
                /// For the tests.
                Toy(toy) [feature = "toy"]
            }
            targets {
                /// PTX ISA, `barrier{.cta}` and `bar{.cta}`: agents are warps.
                Ptx(Ptx(PtxOp), ptx::Ptx)
                /// The BCU instruction set, `BAR`, `BAR.RED`, `B2R`, `R2B`: agents are warps.
                Bcu(Bcu(BcuOp), bcu::Bcu)
                /// Intel vISA `NBARRIER`: agents are hardware threads.
                Nbarrier(Nbarrier(NbarrierOp), nbarrier::Nbarrier)
                /// `SPV_INTEL_split_barrier`: agents are invocations.
                SplitBarrier(Split(SplitOp), split::Split)
                /// The XeGPU dialect's named barriers: agents are subgroups.
                Xegpu(Xegpu(XegpuOp), xegpu::Xegpu)
                /// For the tests: completions are delivered by what is pending.
                Toy(Toy(ToyOp), toy::Toy) [feature = "toy"]
            }
        }
    };
}
pub(crate) use systems;
