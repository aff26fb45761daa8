//! Instructions on the barrier of the cluster as a warp executes them: all lanes together.

use super::action::{Action, Choices};
use super::config::Config;
use super::eval::Eval;
use super::execute::Execute;
use super::operands::Bad;
use super::outcome::Outcome;
use crate::barrier::cluster::{self, What};
use crate::barrier::{Arrival, BarrierAction, NotModelled};
use crate::program::{ClusterKind, ClusterOp, Reach};
use crate::rule::Rule;

impl Execute for ClusterOp {
    fn action(&self, eval: &Eval<'_>, config: &Config, index: usize) -> Result<(Action, Choices), Bad> {
        let lanes = config.fragments[index].lanes;
        let action = match (lanes == config.live_lanes(), self.aligned) {
            (true, _) => {
                let what = match self.kind {
                    // clause: ptx.cluster-memory
                    ClusterKind::Arrive { relaxed: false } => What::Arrive { how: Arrival::Publishing },
                    // clause: ptx.cluster-relaxed, ptx.fence-release
                    ClusterKind::Arrive { relaxed: true } => {
                        let reach = if eval.context.program.ctas > 1 { Reach::Cluster } else { Reach::Cta };
                        What::Arrive { how: Arrival::AfterFence(reach) }
                    }
                    ClusterKind::Wait => What::Wait,
                };
                let barrier = eval.context.program.cluster_barrier();
                Action::Barrier(cluster::Action { barrier, what }.into())
            }
            // clause: ptx.cluster-aligned
            (false, true) => return Err(Bad::Rule(Rule::PartialWarp, i64::from(lanes))),
            (false, false) => Action::NotModelled(NotModelled::DivergentCluster),
        };
        Ok((action, Choices::One))
    }

    fn groups(&self, eval: &Eval<'_>) -> Vec<u32> {
        vec![eval.lanes]
    }

    fn perform(&self, _: &mut Config, _: usize, _: &Action, _: Outcome) {}

    fn arrived(&self, _: &mut Config, _: &BarrierAction) {}

    fn take_result(&self, _: &mut Config, _: usize, _: u32) {}
}
