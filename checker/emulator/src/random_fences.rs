//! Fences of random kernels.

use super::chance::Chance;

/// All fences that are not between proxies.
const FENCES: [&str; 11] = [
    "membar.cta",
    "membar.gl",
    "membar.sys",
    "fence.acq_rel.cta",
    "fence.acq_rel.cluster",
    "fence.acq_rel.gpu",
    "fence.acq_rel.sys",
    "fence.sc.cta",
    "fence.sc.cluster",
    "fence.sc.gpu",
    "fence.sc.sys",
];

pub fn fence(chance: &mut Chance) -> &'static str {
    FENCES[chance.below(FENCES.len())]
}
