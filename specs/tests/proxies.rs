//! Copies out of shared memory: how they are written, and what people read after a mistake, whole in
//! `snapshots/`.

use barcheck_model::program::{Op, ProxyOp, Transfer, Window};
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

/// With the source, which may be left out, the bytes, formats and hints.
// clause: ptx.proxy-syntax, ptx.cp-async, ptx.mbarrier-no-complete
#[test]
fn qualifiers_that_change_nothing_may_be_written() {
    for (short, long) in [
        ("cp.async.bulk.global buf[1];", "cp.async.bulk.global.shared::cta.bulk_group [_], [buf[1]], 4096;"),
        (
            "cp.async.bulk.tensor.global buf[1];",
            "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint buf[1];",
        ),
        (
            "cp.reduce.async.bulk.global buf[1];",
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 buf[1];",
        ),
        ("cp.async buf[1];", "cp.async.cg.shared.global.L2::128B [buf[1]], [_], 16;"),
        ("cp.async buf[1];", "cp.async.ca.shared::cta.global buf[1], 4;"),
    ] {
        assert_eq!(lowered(long), lowered(short), "{long}");
    }
    let objects = |body: &str| {
        let source = protocol(&format!("if lane == 0 {{ {body} }}"));
        let loaded = load(source.as_bytes(), &LoadOptions::default());
        let program = loaded.unwrap_or_else(|d| panic!("{}", render(&d, "file.bar", &source, false))).program;
        program.roles[0].code.ops.clone()
    };
    for (short, long) in [
        (
            "cp.async.bulk buf[1], 16, full;",
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf[1]], [_], 16, [full];",
        ),
        (
            "cp.async.bulk.tensor buf[1], 16, full;",
            "cp.async.bulk.tensor.3d.shared::cta.global.im2col.mbarrier::complete_tx::bytes buf[1], 16, full;",
        ),
        (
            "cp.async.bulk.multicast::cluster buf[1], 16, full, 3;",
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster\
             .cta_group::1 buf[1], 16, full, 3;",
        ),
        (
            "tcgen05.commit full;",
            "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [full];",
        ),
        (
            "st.async buf[1], 4, full;",
            "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [buf[1]], 4, [full];",
        ),
        (
            "red.async buf[1], 4, full;",
            "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 buf[1], 4, full;",
        ),
        ("mbarrier.try_wait.parity full, 0;", "mbarrier.try_wait.parity.shared::cta.b64 [full], 0, 1000;"),
        ("mbarrier.arrive.noComplete full, 2;", "mbarrier.arrive.noComplete.shared.b64 _, [full], 2;"),
        (
            "mbarrier.arrive_drop.noComplete full, 2;",
            "mbarrier.arrive_drop.noComplete.release.shared::cta.b64 full, 2;",
        ),
        ("cp.async.mbarrier.arrive.noinc full;", "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [full];"),
        ("cp.async.mbarrier.arrive full;", "cp.async.mbarrier.arrive.shared.b64 [full];"),
        (
            "cp.async.bulk.shared::cluster.shared::cta buf[1], buf[0], 16, full;",
            "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [buf[1]], [buf[0]], 16, [full];",
        ),
        (
            "mbarrier.try_wait.parity.relaxed full, 0;",
            "mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 [full], 0;",
        ),
        ("fence.acquire.cluster;", "fence.acquire.gpu;"),
        ("fence.release.cluster;", "fence.release.sys;"),
        (
            "fence.proxy.tensormap::generic.release.gpu;",
            "fence.proxy.tensormap::generic.acquire.cta [_], 128;",
        ),
        ("membar.cta;", "fence.sc.cta;"),
        ("fence.acq_rel.cluster;", "membar.gl;"),
        ("fence.acq_rel.cluster;", "fence.sc.sys;"),
        ("bar.warp.sync 0xffffffff;", "bar.warp.sync;"),
    ] {
        assert_eq!(objects(long), objects(short), "{long}");
    }
    let copy = "cp.async.bulk.tensor.2d.shared::cluster.shared::cta.tile buf[1], 16, full;";
    assert!(load(protocol(copy).as_bytes(), &LoadOptions::default()).is_err());
}

// clause: ptx.cp-async
#[test]
fn copies_by_cp_async_go_to_shared_memory_and_arrive_in_their_own_cta() {
    check("arrival_of_fills_elsewhere", "cp.async.mbarrier.arrive.noinc full @ cta 1;");
    check("fill_of_global_memory", "cp.async out;");
}

// clause: ptx.bulk-copy-across
#[test]
fn a_copy_to_another_cta_names_its_source_in_its_own() {
    let copy = "cp.async.bulk.shared::cluster.shared::cta buf[0]";
    check("source_of_global_memory", &format!("{copy}, out, 16, full @ cta 1;"));
    check("source_of_another_cta", &format!("{copy}, buf[1] @ cta 1, 16, full @ cta 1;"));
    check("source_left_out", &format!("{copy}, 16, full @ cta 1;"));
}

// clause: ptx.elect
#[test]
fn who_is_elected_goes_into_a_local() {
    check("elected_lane_named", "elect.sync l|p, 0xffffffff;");
    check("elected_without_a_local", "elect.sync p, 0xffffffff;");
}

// clause: ptx.proxy-syntax, ptx.bulk-groups, ptx.bulk-wait-group
#[test]
fn groups_and_fences_are_what_they_say() {
    for (text, op) in [
        ("cp.async.commit_group;", ProxyOp::Commit(Transfer::Fill)),
        ("cp.async.wait_group N;", ProxyOp::Wait(Transfer::Fill, Some(1))),
        ("cp.async.wait_all;", ProxyOp::Wait(Transfer::Fill, None)),
        ("cp.async.bulk.commit_group;", ProxyOp::Commit(Transfer::Store)),
        ("cp.async.bulk.wait_group 0;", ProxyOp::Wait(Transfer::Store, Some(0))),
        ("cp.async.bulk.wait_group.read N + 1;", ProxyOp::Wait(Transfer::Store, Some(2))),
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
    check("no_complete_without_a_count", "if lane == 0 { mbarrier.arrive.noComplete full; }");
    check("no_complete_elsewhere", "if lane == 0 { mbarrier.arrive.noComplete full @ cta 1, 1; }");
    check("no_complete_relaxed", "if lane == 0 { mbarrier.arrive.noComplete.relaxed full, 1; }");
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
