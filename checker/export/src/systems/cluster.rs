//! The barrier of a cluster, of PTX.

use super::step::Spelling;
use crate::node::Act;
use barcheck_model::barrier::cluster::{Action, What};
use barcheck_model::barrier::{Arrival, BarrierAction};

/// What an instruction is called.
pub(super) fn spelling(action: &Action) -> Spelling {
    let (name, promela, tla) = match action.what {
        What::Arrive { .. } => ("ARRIVE_AT_CLUSTER", "arrive_at_cluster()", "ArriveAtCluster(t, a, r)"),
        What::Wait => ("WAIT_AT_CLUSTER", "wait_at_cluster()", "WaitAtCluster(t, a, r)"),
    };
    Spelling { name, promela, tla, goes_where_it_blocks: false }
}

/// What travels with an arrival.
pub(super) fn arrival(act: &Act) -> Option<Arrival> {
    let Act::Barrier(BarrierAction::Cluster(action), _) = act else { return None };
    if let What::Arrive { how } = action.what { Some(how) } else { None }
}
