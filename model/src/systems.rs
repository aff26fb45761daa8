//! The one list of barrier systems. Whatever tells systems apart is made from it; a new system stands here
//! with its rooms, and opens nothing else.

/// Makes something of the list of systems: calls a macro with it.
///
/// `barriers`: kinds of barriers, each with its module in [`crate::barrier`]. `instructions`: those of
/// [`crate::program`]. `targets`: what protocols are written for, each with who answers for its barriers.
macro_rules! systems {
    ($make:ident) => {
        $make! {
            barriers {
                /// PTX, `barrier{.cta}`.
                Ptx(ptx)
                /// PTX, mbarrier objects.
                Mbarrier(mbarrier)
                /// PTX, `barrier.cluster`.
                Cluster(cluster)
                /// PTX, the registers of a CTA.
                Registers(registers)
                /// BCU.
                Bcu(bcu)
                /// vISA and XeGPU.
                Nbarrier(nbarrier)
                /// Split barriers.
                Split(split)
                /// For the tests.
                Toy(toy) [feature = "toy"]
            }
            instructions {
                Ptx(PtxOp)
                Mbarrier(MbarrierOp)
                Cluster(ClusterOp)
                Warp(WarpOp)
                Bcu(BcuOp)
                Nbarrier(NbarrierOp)
                Split(SplitOp)
                Xegpu(XegpuOp)
                Toy(ToyOp) [feature = "toy"]
            }
            targets {
                /// PTX ISA, `barrier{.cta}`, `bar{.cta}` and mbarrier objects: agents are warps.
                Ptx(ptx::Ptx)
                /// The BCU instruction set, `BAR`, `BAR.RED`, `B2R`, `R2B`: agents are warps.
                Bcu(bcu::Bcu)
                /// Intel vISA `NBARRIER`: agents are hardware threads.
                Nbarrier(nbarrier::Nbarrier)
                /// `SPV_INTEL_split_barrier`: agents are invocations.
                SplitBarrier(split::Split)
                /// The XeGPU dialect's named barriers: agents are subgroups.
                Xegpu(xegpu::Xegpu)
                /// For the tests: completions are delivered by what is pending.
                Toy(toy::Toy) [feature = "toy"]
            }
        }
    };
}
pub(crate) use systems;
