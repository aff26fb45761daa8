//! Clusters in listings: their barrier, ranks, and what goes to other CTAs; and near it what is named.

use barcheck_specs::{LoadError, LoadOptions, Loaded, Source, load};
use std::collections::BTreeMap;

/// The address of shared memory in UR8, R8 and R9, an object there that expects one arrival, the rank of the
/// other CTA of two in R0 and UR7.
const BEGIN: &str = "S2UR UR9, SR_CgaCtaId ;\nUMOV UR8, 0x400 ;\nULEA UR8, UR9, UR8, 0x18 ;\nUMOV UR5, 0x1 ;\n\
                     UIADD3 UR4, UPT, UPT, -UR5, 0x100000, URZ ;\nUSHF.L.U32 UR5, UR4, 0xb, URZ ;\n\
                     USHF.L.U32 UR4, UR4, 0x1, URZ ;\nSYNCS.EXCH.64 URZ, [UR8], UR4 ;\n\
                     S2R R0, SR_CgaCtaId ;\nLOP3.LUT R0, R0, 0x1, RZ, 0x3c, !PT ;\nIMAD.U32 R9, RZ, RZ, UR8 ;\n\
                     ULOP3.LUT UR7, UR9, 0x1, URZ, 0x3c, !UPT ;\nMOV R8, 0x400 ;\n";

fn read(code: &str, cluster: i64) -> Result<Loaded, LoadError> {
    let text = format!("\tcode for sm_90\n\tFunction : k\n{BEGIN}{code}EXIT ;\n");
    let mut defines = BTreeMap::from([("cta.x".to_owned(), 32)]);
    if cluster > 0 {
        defines.insert("cluster.x".to_owned(), cluster);
    }
    load(&Source::new("k.sass", text.as_bytes()), &LoadOptions { defines })
}

/// The protocol behind the initialisation, in one line.
#[track_caller]
fn extracted(code: &str) -> String {
    let loaded = read(code, 2).unwrap_or_else(|error| panic!("{:?}", error.diagnostics));
    let text = loaded.extracted.expect("a kernel").text;
    assert!(text.contains("cluster 2;") && text.contains("target ptx;"), "{text}");
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn refused(code: &str, says: &str) {
    let error = read(code, 2).map(|loaded| loaded.extracted.map(|extracted| extracted.text));
    let error = error.expect_err("it is not followed");
    assert!(error.diagnostics[0].message.contains(says), "{}", error.diagnostics[0].message);
}

#[test]
fn an_arrival_releases_where_a_fence_stands_before_it() {
    let released = "MEMBAR.ALL.GPU ;\nERRBAR ;\nCGAERRBAR ;\nUCGABAR_ARV ;\nUCGABAR_WAIT ;\n";
    assert!(extracted(released).contains("barrier.cluster.arrive.release.aligned; barrier.cluster.wait"));
    for relaxed in [
        "UCGABAR_ARV ;\nUCGABAR_WAIT ;\n",
        "MEMBAR.ALL.CTA ;\nUCGABAR_ARV ;\nUCGABAR_WAIT ;\n",
        "@P0 MEMBAR.ALL.GPU ;\nUCGABAR_ARV ;\nUCGABAR_WAIT ;\n",
        "MEMBAR.ALL.GPU ;\nSTS [R8], R0 ;\nUCGABAR_ARV ;\nUCGABAR_WAIT ;\n",
    ] {
        assert!(extracted(relaxed).contains("barrier.cluster.arrive.relaxed.aligned;"), "{relaxed}");
    }
    refused("UCGABAR_ARV.X ;\n", "UCGABAR_ARV.X");
}

#[test]
fn without_a_cluster_that_is_said_where_it_matters() {
    let assumed = |code: &str| {
        let loaded = read(code, 0).expect("a protocol");
        loaded.warnings.iter().any(|warning| warning.message.contains("without a cluster"))
    };
    let window = "S2UR UR9, SR_CgaCtaId ;\nULEA UR6, UR9, UR8, 0x18 ;\nMOV R0, RZ ;\n";
    // The rank that the beginning of the code reads makes more than addresses.
    assert!(assumed(window));
    let mut text = format!("\tcode for sm_90\n\tFunction : k\n{BEGIN}BAR.SYNC 0x0 ;\nEXIT ;\n");
    text = text.replace("LOP3.LUT R0, R0, 0x1, RZ, 0x3c, !PT", "LEA R0, R0, R8, 0x18");
    text = text.replace("ULOP3.LUT UR7, UR9, 0x1, URZ, 0x3c, !UPT ;\n", "");
    let options = LoadOptions { defines: BTreeMap::from([("cta.x".to_owned(), 32)]) };
    let loaded = load(&Source::new("k.sass", text.as_bytes()), &options).expect("a protocol");
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    // How large clusters are stands in constant memory.
    let text = text.replace("BAR.SYNC", "ULDC.64 UR6, c[0x0][0x140] ;\nBAR.SYNC");
    let options = LoadOptions { defines: BTreeMap::from([("cta.x".to_owned(), 32)]) };
    let loaded = load(&Source::new("k.sass", text.as_bytes()), &options).expect("a protocol");
    assert_eq!(loaded.warnings.len(), 1);
}

#[test]
fn an_address_with_another_rank_is_that_of_a_peer() {
    let arrives = "PRMT R2, R0, 0x654, R9 ;\nSYNCS.ARRIVE.TRANS64.RED.A1T0 RZ, [R2+URZ], RZ ;\n";
    let text = extracted(arrives);
    assert!(text.contains("mbarrier.arrive mbar @ cta"), "{text}");
    // The own rank is the own memory.
    let own = extracted(&format!("S2R R0, SR_CgaCtaId ;\n{arrives}"));
    assert!(own.contains("mbarrier.arrive mbar;"), "{own}");
    // Other bytes are no rank, and what is shifted by less is no window.
    refused(&arrives.replace("0x654", "0x6540"), "mbarrier object");
    refused(
        "S2R R3, SR_CgaCtaId ;\nLEA R2, R3, R8, 0x10 ;\nSYNCS.ARRIVE.TRANS64.A1T0 RZ, [R2], RZ ;\n",
        "mbarrier object",
    );
    // A register that is not the rank of the CTA.
    refused(
        "LDG.E R3, [R4.64] ;\nLEA R2, R3, R8, 0x18 ;\nSYNCS.ARRIVE.TRANS64.A1T0 RZ, [R2], RZ ;\n",
        "mbarrier object",
    );
    refused(
        "S2R R3, SR_CgaCtaId ;\nIADD3 R3, R3, 0x1, RZ ;\nLEA R2, R3, R8, 0x18 ;\n\
         SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R2], RZ ;\n",
        "CTA 2 of the cluster",
    );
}

#[test]
fn copies_and_messages_go_to_where_their_registers_say() {
    let elect = "ELECT P1, URZ, PT ;\n@!P1 BRA `(L) ;\n";
    let peer = "UPRMT UR12, UR7, 0x654, UR8 ;\nUMOV UR13, UR12 ;\nUMOV UR6, 0x40 ;\n";
    let of = |step: &str| extracted(&format!("{peer}{elect}{step} ;\nL:\nBAR.SYNC 0x0 ;\n"));
    assert!(of("UBLKCP.S.S [UR12], [UR8], UR6").contains("cp.async.bulk _, 1024, mbar @ cta"));
    let multicast = of("UMOV UR6, 0x30040 ;\nUMOV UR9, UR8 ;\nUBLKCP.S.G.MULTICAST [UR8], [UR2], UR6");
    assert!(multicast.contains("cp.async.bulk.multicast::cluster _, 1024, mbar, 3;"), "{multicast}");
    let commit = of("UMOV UR6, 0x2 ;\nUTCBAR.MULTICAST [UR8], URZ, UR6");
    assert!(commit.contains("tcgen05.commit.multicast::cluster mbar, 2;"), "{commit}");
    let message = "PRMT R3, R0, 0x654, R9 ;\n@P0 EXIT ;\n";
    for (step, bytes) in [("STAS", 4), ("STAS.64", 8), ("STAS.128", 16), ("REDAS.ADD.64", 8)] {
        let text = extracted(&format!(
            "S2R R4, SR_TID.X ;\nISETP.NE.AND P0, PT, R4, RZ, PT ;\n{message}{step} [R2.64], R6 ;\n"
        ));
        assert!(text.contains(&format!("cp.async.bulk _, {bytes}, mbar @ cta")), "{text}");
    }
    for unknown in [
        "UBLKCP.S.G.TWICE [UR8], [UR2], UR6",
        "UTMALDG.2D.IM2COL.W [UR8], [UR2]",
        "UTMALDG.2D.MULTICAST [UR8], [UR2]",
        "UTCBAR.MULTICAST [UR8], URZ",
        "STAS.256 [R2.64], R6",
        "STAS [R2], R6",
    ] {
        let name = unknown.split(' ').next().unwrap_or_default();
        refused(&format!("{unknown} ;\n"), &format!("`{name}`"));
    }
}

#[test]
fn objects_that_each_lane_stores_are_initialised() {
    let code = |state: &str, flush: &str| {
        format!(
            "S2R R2, SR_LANEID ;\nISETP.GT.U32.AND P1, PT, R2, 0x1, PT ;\nIADD3 R5, R9, 0x40, RZ ;\n\
             LEA R5, R2, R5, 0x3 ;\nMOV R10, {state} ;\nSHF.L.U32 R11, R10, 0xb, RZ ;\n\
             SHF.L.U32 R10, R10, 0x1, RZ ;\n@!P1 STS.64 [R5+URZ], R10 ;\n{flush}BAR.SYNC 0x0 ;\n"
        )
    };
    let flush = "FENCE.VIEW.ASYNC.S ;\nSYNCS.CCTL.IVALL ;\n";
    let text = extracted(&code("0xffffd", flush));
    assert!(text.contains("[2];") && text.contains(", 3;"), "{text}");
    // A state that is none, and one that is stored behind another access.
    refused(&code("R4", flush), "count");
    refused(&code("0xffffd", &format!("LDS R3, [R9] ;\n{flush}")), "SYNCS.CCTL.IVALL");
}

#[test]
fn a_wait_whose_first_round_stands_alone_is_one_wait() {
    let code = |again: &str| {
        format!(
            "SHF.L.U32 R7, RZ, 0x1f, RZ ;\nSYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR8], R7 ;\n@!P1 BRA `(L) ;\nB:\n\
             BAR.SYNC 0x0 ;\nEXIT ;\nL:\nIMAD.U32 R12, RZ, RZ, UR8 ;\n\
             SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [R12+URZ], R7 ;\n@!P1 NANOSLEEP.SYNCS 0x989680 ;\n\
             @!P1 SYNCS.PHASECHK.TRANS64 P1, {again} ;\n@!P1 BRA `(L) ;\nBRA `(B) ;\n"
        )
    };
    assert!(extracted(&code("[R12+URZ], R7")).contains("mbarrier.wait.parity mbar, 0; bar.sync 0;"));
    refused(&code("[R12+URZ], R6"), "which is not asked until it holds");
    refused(&code("[R12+0x8], R7"), "which is not asked until it holds");
}

#[test]
fn parted_lanes_that_come_together_for_the_same_barrier_come_to_that() {
    let code = |id: &str, back: &str| {
        format!(
            "BRA.DIV UR4, `(D) ;\nBAR.SYNC.DEFER_BLOCKING 0x2, 0x20 ;\nB:\nNOP ;\nC:\nEXIT ;\nD:\n\
             MOV R3, {id} ;\nMOV R2, 0x20 ;\nMOV R4, 0xffffffff ;\nWARPSYNC.COLLECTIVE.ALL `(M) ;\nSHF.L.U32 R2, R2, 0x10, RZ ;\n\
             LOP3.LUT R2, R2, 0xf, R3, 0xf8, !PT ;\nBAR.SYNC.DEFER_BLOCKING R2, R2 ;\n\
             SHF.R.U32 R2, R2, 0x10, RZ ;\nENDCOLLECTIVE ;\nM:\nBRA `({back}) ;\n"
        )
    };
    assert!(extracted(&code("0x2", "B")).contains("bar.sync 2, 32;"));
    refused(&code("0x3", "B"), "where lanes have parted");
    refused(&code("R7", "B"), "where lanes have parted");
    refused(&code("0x2", "C"), "where lanes have parted");
}
