//! What people read after a mistake that concerns clusters, whole in `snapshots/`.

use barcheck_specs::bar::{LoadOptions, load};
use barcheck_specs::{Lint, render};

/// Renders what is wrong with `source` and compares it with the snapshot called `name`.
#[track_caller]
fn check(name: &str, source: &str) {
    let diagnostics = match load(source.as_bytes(), &LoadOptions::default()) {
        Ok(loaded) => {
            let said = loaded.lints.into_iter().filter(|linted| linted.lint != Lint::Unused);
            said.map(|linted| linted.diagnostic).collect()
        }
        Err(diagnostics) => diagnostics,
    };
    assert!(!diagnostics.is_empty(), "{name}: nothing to report");
    insta::assert_snapshot!(name, render(&diagnostics, "file.bar", source, false));
}

/// Each block has fences of its own; what its own CTA does itself needs none.
// clause: ptx.mbarrier-init-fence
#[test]
fn initialisations_without_a_fence() {
    let of = |fences: [&str; 2]| {
        let [first, second] = fences;
        format!(
            "target ptx;\ncluster 2;\ncta 64;\nmbarrier copied, own, far;\nwarp 0 {{\n    if lane == 0 {{\n        \
             mbarrier.init copied, 1;\n        mbarrier.init own, 1;\n        {first}\n    }}\n    \
             barrier.cluster.arrive;\n    barrier.cluster.wait;\n    if lane == 0 {{\n        \
             cp.async.bulk _, 16, copied;\n        mbarrier.arrive own;\n        \
             mbarrier.arrive far @ cta 1;\n    }}\n}}\nwarp 1 {{\n    if lane == 0 {{ \
             mbarrier.init far, 1; {second} }}\n    barrier.cluster.arrive;\n    barrier.cluster.wait;\n}}\n"
        )
    };
    check("unfenced_init", &of(["", ""]));
    check("unfenced_init_of_one_block", &of(["fence.mbarrier_init.release.cluster;", ""]));
    let fenced = of(["fence.mbarrier_init.release.cluster;", "fence.proxy.async;"]);
    let loaded = load(fenced.as_bytes(), &LoadOptions::default()).expect("a protocol");
    assert!(loaded.lints.is_empty(), "{:?}", loaded.lints);
}

#[test]
fn agents_of_some_ctas() {
    let of = |name: &str, blocks: &str| {
        check(name, &format!("target ptx;\ncluster 3;\ncta 64;\n{blocks}"));
    };
    of("ctas_missing", "warp 0 {}\nwarp 1 of ctas 0..2 {}\n");
    of("ctas_missing_in_all", "warp 0 {}\n");
    of("ctas_overlap", "warp 0 {}\nwarp 1 of ctas 0..=1 {}\nwarps 0..2 of ctas 1..3 {}\n");
    of("ctas_outside", "warps 0..2 of ctas 0..4 {}\n");
    of("ctas_empty", "warps 0..2 of ctas 1..1 {}\n");
    of("ctas_unnamed", "warps 0..2 of 1 {}\n");
    check("cta_of_one", "target ptx;\ncta 64;\nwarps 0..2 of cta 1 {}\n");
    check("cta_of_another_target", "target bcu;\ncta 64;\nwarps 0..2 of cta 0 {}\n");
}

/// What other CTAs have published is not seen in the scope of the own one.
#[test]
fn a_wait_within_the_cta_for_arrivals_of_another() {
    let of = |wait: &str, at: &str| {
        format!(
            "target ptx;\ncluster 2;\ncta 32;\nshared s;\nmbarrier full count 1;\nwarp 0 of cta 0 {{\n    \
             {wait} full, 0;\n    read s;\n}}\nwarp 0 of cta 1 {{\n    write s @ cta 0;\n    \
             if lane == 0 {{ mbarrier.arrive.release.cluster full{at}; }}\n}}\n"
        )
    };
    check("wait_within_the_cta", &of("mbarrier.wait.parity.acquire.cta", " @ cta 0"));
    for (wait, at) in [
        ("mbarrier.wait.parity.acquire.cluster", " @ cta 0"),
        ("mbarrier.wait.parity", " @ cta 0"),
        ("mbarrier.wait.parity.acquire.cta", ""),
    ] {
        let loaded = load(of(wait, at).as_bytes(), &LoadOptions::default());
        assert!(loaded.is_ok(), "{wait}{at}: {:?}", loaded.err());
    }
}
