//! Copies out of shared memory: how they are written, and what people read after a mistake, whole in
//! `snapshots/`.

use barcheck_model::program::{Op, ProxyOp, Window};
use barcheck_specs::bar::{LoadOptions, load};
use barcheck_specs::render;

fn protocol(body: &str) -> String {
    format!(
        "target ptx;\ncluster 2;\ncta 32;\nparam N = 1;\nshared buf[4];\nglobal out;\nmbarrier full count \
         1;\nwarp 0 {{\n    {body}\n}}\n"
    )
}

/// Renders what is wrong with a body and compares it with the snapshot called `name`.
#[track_caller]
fn check(name: &str, body: &str) {
    let source = protocol(body);
    let diagnostics = load(source.as_bytes(), &LoadOptions::default()).expect_err("an error");
    insta::assert_snapshot!(name, render(&diagnostics, "file.bar", &source, false));
}

/// The operations of the asynchronous proxy that a body is.
fn lowered(body: &str) -> Vec<ProxyOp> {
    let source = protocol(body);
    let loaded = load(source.as_bytes(), &LoadOptions::default());
    let program = loaded.unwrap_or_else(|d| panic!("{}", render(&d, "file.bar", &source, false))).program;
    let ops = program.roles[0].code.ops.iter();
    ops.filter_map(|op| if let Op::Proxy(op) = op { Some(op.clone()) } else { None }).collect()
}

// clause: ptx.proxy-syntax, ptx.bulk-store
#[test]
fn a_copy_may_be_spelled_as_ptx_spells_it() {
    let short = lowered("cp.async.bulk.global buf[1];");
    assert_eq!(short.len(), 1);
    for long in [
        "cp.async.bulk.global.shared::cta buf[1];",
        "cp.async.bulk.global.shared::cta.bulk_group [buf[1]], 4096;",
        "cp.async.bulk.tensor.global buf[1];",
        "cp.async.bulk.tensor.global.shared::cta.bulk_group buf[1];",
        "cp.reduce.async.bulk.global buf[1], 16;",
        "cp.reduce.async.bulk.tensor.global.shared::cta.bulk_group buf[1];",
    ] {
        assert_eq!(lowered(long), short, "{long}");
    }
}

// clause: ptx.proxy-syntax, ptx.bulk-groups, ptx.bulk-wait-group
#[test]
fn groups_and_fences_are_what_they_say() {
    for (text, op) in [
        ("cp.async.bulk.commit_group;", ProxyOp::Commit),
        ("cp.async.bulk.wait_group 0;", ProxyOp::Wait(0)),
        ("cp.async.bulk.wait_group.read N + 1;", ProxyOp::Wait(2)),
        ("fence.proxy.async;", ProxyOp::Fence(Window::All)),
        ("fence.proxy.async.shared::cta;", ProxyOp::Fence(Window::OwnCta)),
        ("fence.proxy.async.shared::cluster;", ProxyOp::Fence(Window::Cluster)),
        ("fence.proxy.async.global;", ProxyOp::Fence(Window::Global)),
    ] {
        assert_eq!(lowered(text), [op], "{text}");
    }
}

/// To the own CTA, or to both.
// clause: ptx.try-cancel
#[test]
fn the_launch_control_answers_by_a_copy_of_16_bytes() {
    let copies = |body: &str| {
        let source = protocol(body);
        let program = load(source.as_bytes(), &LoadOptions::default()).expect("a protocol").program;
        let ops = program.roles[0].code.ops.iter();
        ops.map(|op| format!("{op:?}")).filter(|op| op.contains("Copy { bytes: Int(16)")).collect::<Vec<_>>()
    };
    let own = copies("clusterlaunchcontrol.try_cancel buf[0], full;");
    assert_eq!((own.len(), own[0].contains("cta: None")), (1, true));
    let long =
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 buf[0], full;";
    assert_eq!(copies(long), own);
    let all = copies("clusterlaunchcontrol.try_cancel.multicast::cluster::all [buf[0]], [full];");
    assert!(all.len() == 2 && (0..2).all(|cta| all[cta].contains(&format!("cta: Some(Int({cta}))"))));
}

#[test]
fn mistakes() {
    check("store_of_global_memory", "cp.async.bulk.global out;");
    check("store_of_another_cta", "cp.async.bulk.global buf[0] @ cta 1;");
    check("store_without_a_location", "cp.async.bulk.global;");
    check("groups_unknown", "let n = any 0..2; cp.async.bulk.wait_group n;");
    check("groups_negative", "cp.async.bulk.wait_group.read N - 2;");
    check("groups_missing", "cp.async.bulk.wait_group;");
    check("fence_of_something", "fence.proxy.async buf[0];");
    check("fence_of_another_proxy", "fence.proxy.tensormap;");
    check("answer_looked_at", "clusterlaunchcontrol.query_cancel buf[0];");
    check("answer_of_another_cta", "clusterlaunchcontrol.try_cancel buf[0], full @ cta 1;");
}
