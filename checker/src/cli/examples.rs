//! The protocols of the library that `barcheck explain` shows, as part of the program.

macro_rules! library {
    ($($path:literal,)*) => {
        &[$(($path, include_str!(concat!("../../../specs/protocols/", $path))),)*]
    };
}

/// Path relative to `specs/protocols`, and text. A test holds that there is one for every rule.
const EXAMPLES: &[(&str, &str)] = library![
    "bcu/id_truncated.bar",
    "bcu/result_before_any_red.bar",
    "bcu/result_overwritten.bar",
    "bcu/state_clobbered.bar",
    "nbarrier/lost_notification.bar",
    "nbarrier/missing_fence.bar",
    "nbarrier/producer_waits.bar",
    "nbarrier/reuse_in_a_loop.bar",
    "nbarrier/two_producers_for_one.bar",
    "nbarrier/type_3.bar",
    "ptx/arrive_without_count.bar",
    "ptx/assertion_popc_of_warps.bar",
    "ptx/barrier_zero_with_count.bar",
    "ptx/cloned_barrier_broken.bar",
    "ptx/count_48_broken.bar",
    "ptx/count_mismatch.bar",
    "ptx/dangling_arrival.bar",
    "ptx/data_race_no_barrier.bar",
    "ptx/deadlock_crossed_order.bar",
    "ptx/id_beyond_fifteen_broken.bar",
    "ptx/nobody_waits.bar",
    "ptx/red_mixed_with_sync.bar",
    "ptx/red_two_operators.bar",
    "ptx/runaway_arrival_broken.bar",
    "ptx/stuck_behind_a_loop.bar",
    "ptx/two_reductions_one_id_broken.bar",
    "split_barrier/missing_wait_of_one.bar",
    "split_barrier/two_barriers_in_two_arms.bar",
    "split_barrier/wait_first.bar",
    "xegpu/id_not_allocated.bar",
];

/// The text of a protocol of the library.
pub(crate) fn source(path: &str) -> Option<&'static str> {
    EXAMPLES.iter().find(|(known, _)| *known == path).map(|(_, text)| *text)
}
