//! Copies into another CTA of the cluster, which must not exit before they land.

use super::{agree, rules, stubborn};
use barcheck::Verdict;

/// The lanes of CTA 1 copy so many bytes together to CTA 0, where something is done meanwhile.
fn copied(bytes: u32, meanwhile: &str) -> String {
    format!(
        "target ptx; cluster 2; cta 64; mbarrier filled;
        warps 0..2 {{
            if uniform ? {{ bar.sync 1, 64; }}
            if cluster_ctarank == 0 {{
                if warp == 0 {{ if lane == 0 {{
                    mbarrier.init filled, 1; mbarrier.arrive.expect_tx filled, {bytes};
                }} }}
                bar.sync 0;
            }}
            barrier.cluster.arrive; barrier.cluster.wait;
            if cluster_ctarank == 0 {{ {meanwhile} }} else {{
                cp.async.bulk _, 16, filled @ cta 0; cp.async.bulk _, 16, filled @ cta 0;
            }}
        }}"
    )
}

#[test]
fn whoever_waits_for_a_copy_of_another_cta_knows_that_it_was_begun() {
    let waits = ["mbarrier.wait.parity filled, 0;", "if warp == 0 { mbarrier.wait.parity filled, 0; }"];
    for wait in waits {
        let outcome = agree(&copied(2048, wait));
        assert_eq!((outcome.verdict, rules(&outcome)), (Verdict::Verified, Vec::new()), "{wait}");
    }
}

#[test]
fn copies_of_another_cta_that_nobody_waits_for_come_too_late() {
    let waits = "mbarrier.wait.parity filled, 0;";
    for (bytes, meanwhile, found) in [
        (2048, "bar.sync 0;", "remote-after-exit"),
        (2048, "", "remote-after-exit"),
        (16, waits, "over-delivery"),
    ] {
        let outcome = stubborn(&copied(bytes, meanwhile));
        assert_eq!(
            (outcome.verdict, rules(&outcome)),
            (Verdict::Violated, vec![found]),
            "{bytes}, {meanwhile}"
        );
    }
}
