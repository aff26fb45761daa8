//! mbarriers in listings: what is followed, as compilers write it, and what is named.

use barcheck_specs::{LoadError, LoadOptions, Loaded, Source, load};
use std::collections::BTreeMap;

fn read(text: &str, threads: i64) -> Result<Loaded, LoadError> {
    let options = LoadOptions { defines: BTreeMap::from([("cta.x".to_owned(), threads)]) };
    load(&Source::new("k.sass", text.as_bytes()), &options)
}

/// The address of shared memory in UR8, and an object that expects two arrivals.
const INIT: &str = "S2UR UR9, SR_CgaCtaId ;\nUMOV UR8, 0x400 ;\nULEA UR8, UR9, UR8, 0x18 ;\nUMOV UR5, 0x2 ;\n\
                    UIADD3 UR4, UPT, UPT, -UR5, 0x100000, URZ ;\nUSHF.L.U32 UR5, UR4, 0xb, URZ ;\n\
                    USHF.L.U32 UR4, UR4, 0x1, URZ ;\n";

/// A listing for a chip, with this code behind [`INIT`].
fn listing(code: &str) -> String {
    format!("\tcode for sm_90\n\tFunction : k\n{INIT}{code}")
}

/// The protocol of two warps behind its head, in one line.
#[track_caller]
fn extracted(code: &str) -> String {
    let loaded = read(&listing(code), 64).unwrap_or_else(|error| panic!("{:?}", error.diagnostics));
    let text = loaded.extracted.expect("a kernel").text;
    assert!(text.contains("target ptx;"), "{text}");
    let lines = text.lines().skip_while(|line| !line.starts_with("cta")).skip(1);
    lines.map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn refused(code: &str, says: &str) {
    let error = read(&listing(code), 64).expect_err("it is not followed");
    assert_eq!(error.diagnostics[0].code, "not-followed");
    assert!(error.diagnostics[0].message.contains(says), "{}", error.diagnostics[0].message);
}

const ONCE: &str = "SYNCS.EXCH.64 URZ, [UR8], UR4 ;\n";

#[test]
fn what_a_warp_does_once_is_done_by_its_first_lane() {
    let code = format!("{ONCE}BAR.SYNC.DEFER_BLOCKING 0x0 ;\nEXIT ;\n");
    assert_eq!(
        extracted(&code),
        "mbarrier mbar; warps 0..2 { if lane == 0 { mbarrier.init mbar, 2; } bar.sync 0; }"
    );
    // Where one lane comes, it is that one.
    let code = format!(
        "S2R R0, SR_TID.X ;\nISETP.NE.AND P0, PT, R0, 0x5, PT ;\n@P0 BRA `(L) ;\n{ONCE}L:\nBAR.SYNC 0x0 ;\nEXIT ;\n"
    );
    assert!(extracted(&code).contains("warp 0 { if lane == 5 { mbarrier.init mbar, 2; } bar.sync 0; }"));
    // Of lanes that part on data it is not known which come.
    refused(
        &format!(
            "LDG.E R0, [R2.64] ;\nISETP.NE.AND P0, PT, R0, 0x5, PT ;\n@P0 BRA `(L) ;\n{ONCE}L:\nBAR.SYNC 0x0 ;\nEXIT ;\n"
        ),
        "which lanes come here",
    );
    refused(
        &format!(
            "LDG.E R0, [R2.64] ;\nISETP.NE.AND P0, PT, R0, 0x5, PT ;\n@P0 EXIT ;\n{ONCE}BAR.SYNC 0x0 ;\nEXIT ;\n"
        ),
        "which lanes come here",
    );
}

#[test]
fn votes_of_known_lanes_are_known_where_all_come() {
    let code = format!(
        "S2R R0, SR_TID.X ;\nISETP.NE.AND P0, PT, R0, RZ, PT ;\nVOTEU.ALL UP0, P0 ;\n@!UP0 {ONCE}BAR.SYNC 0x0 ;\nEXIT ;\n"
    );
    let expected = "mbarrier mbar; warp 0 { if lane == 0 { mbarrier.init mbar, 2; } bar.sync 0; } warp 1 { bar.sync 0; }";
    assert_eq!(extracted(&code), expected);
    let code = format!(
        "S2R R0, SR_TID.X ;\nISETP.NE.AND P0, PT, R0, RZ, PT ;\nLDG.E R1, [R2.64] ;\n\
         ISETP.NE.AND P1, PT, R1, RZ, PT ;\n@P1 BRA `(L) ;\nVOTEU.ALL UP0, P0 ;\n@!UP0 {ONCE}L:\nBAR.SYNC 0x0 ;\nEXIT ;\n"
    );
    assert!(read(&listing(&code), 64).is_err());
}

#[test]
fn arrivals_and_expectations_are_told_apart() {
    let of = |form: &str, amount: &str| {
        let code = format!(
            "{ONCE}BAR.SYNC 0x0 ;\nMOV R1, 0x3 ;\nSYNCS.ARRIVE.TRANS64{form} RZ, [UR8], {amount} ;\nEXIT ;\n"
        );
        let text = extracted(&code);
        text.split_once("bar.sync 0; ").expect("a barrier").1.trim_end_matches(" }").to_owned()
    };
    assert_eq!(of(".A1T0", "RZ"), "mbarrier.arrive mbar;");
    assert_eq!(of(".RED.A1T0", "RZ"), "mbarrier.arrive mbar;");
    assert_eq!(of(".ART0", "R1"), "mbarrier.arrive mbar, 3;");
    assert_eq!(of("", "R1"), "mbarrier.arrive.expect_tx mbar, 3;");
    assert_eq!(of(".RED.A0TR", "R1"), "mbarrier.expect_tx mbar, 3;");
    assert_eq!(of(".RED.A0TX", "R1"), "mbarrier.complete_tx mbar, 3;");
    assert_eq!(of(".OPTOUT.A1T0", "RZ"), "mbarrier.arrive_drop mbar;");
    assert_eq!(of(".OPTOUT.ART0", "R1"), "mbarrier.arrive_drop mbar, 3;");
}

#[test]
fn waiting_loops_wait_however_they_are_laid_out() {
    let ask = "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR8], R3 ;\n";
    let wait = "mbarrier.wait.parity mbar, 1;";
    let head = format!("{ONCE}BAR.SYNC 0x0 ;\nMOV R2, 0x1 ;\nSHF.L.U32 R3, R2, 0x1f, RZ ;\n");
    assert!(extracted(&format!("{head}L:\n{ask}@!P0 BRA `(L) ;\nEXIT ;\n")).contains(wait));
    assert!(extracted(&format!("{head}L:\n{ask}@P0 EXIT ;\nBRA `(L) ;\n")).contains(wait));
    let apart = format!(
        "{head}{ask}MOV R7, R8 ;\n@!P0 BRA `(L) ;\nM:\nEXIT ;\nL:\nYIELD ;\n{ask}@!P0 BRA `(L) ;\nBRA `(M) ;\n"
    );
    assert!(extracted(&apart).contains(wait));
    // What is done between question and answer is done before the wait.
    let step = apart.replace("MOV R7, R8", "@P1 SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR8], RZ");
    let step = extracted(&step.replace("MOV R2, 0x1 ;", "MOV R2, 0x1 ;\nISETP.EQ.AND P1, PT, RZ, RZ, PT ;"));
    assert!(step.contains(&format!("mbarrier.arrive mbar; {wait}")), "{step}");
    // The loop asks for another phase.
    refused(&apart.replace("MOV R7, R8", "MOV R3, RZ"), "not asked until it holds");
}

#[test]
fn copies_arrive_at_the_object_behind_where_they_go() {
    let head = format!(
        "UIADD3 UR12, UPT, UPT, UR8, 0x80, URZ ;\nUMOV UR13, UR8 ;\nUMOV UR16, 0x40 ;\n{ONCE}BAR.SYNC 0x0 ;\n\
         ELECT P0, URZ, PT ;\n@!P0 EXIT ;\nMOV R1, 0x400 ;\nSYNCS.ARRIVE.TRANS64 RZ, [UR8], R1 ;\n"
    );
    let copy = extracted(&format!("{head}UBLKCP.S.G [UR12], [UR14], UR16 ;\nEXIT ;\n"));
    assert!(copy.contains("mbarrier.arrive.expect_tx mbar, 1024; cp.async.bulk _, 1024, mbar;"), "{copy}");
    let tensor = extracted(&format!("{head}UTMALDG.2D [UR12], [UR14] ;\nEXIT ;\n"));
    assert!(tensor.contains("cp.async.bulk _, 1024, mbar;"), "{tensor}");
    let commit = extracted(&format!("{head}UTCBAR [UR8], URZ ;\nEXIT ;\n"));
    assert!(commit.contains("tcgen05.commit mbar;"), "{commit}");
}

#[test]
fn loops_over_lanes_are_done_by_each_of_them() {
    let of = |holds: &str| {
        format!(
            "UIADD3 UR12, UPT, UPT, UR8, 0x80, URZ ;\nUMOV UR13, UR8 ;\nUMOV UR16, 0x40 ;\n{ONCE}BAR.SYNC 0x0 ;\n\
             S2R R0, SR_TID.X ;\nISETP.{holds}, PT ;\nL:\n@P0 ELECT P1, URZ, PT ;\nUBLKCP.S.G [UR12], [UR14], UR16 ;\n\
             @P1 PLOP3.LUT P0, PT, P1, PT, PT, 0x8, 0x0 ;\nPLOP3.LUT P1, PT, PT, PT, PT, 0x8, 0x0 ;\n\
             @P0 BRA.U.ANY `(L) ;\nEXIT ;\n"
        )
    };
    let one = extracted(&of("EQ.AND P0, PT, R0, 0x7"));
    assert!(one.contains("if lane == 7 { cp.async.bulk _, 1024, mbar; }"), "{one}");
    let all = extracted(&of("GE.AND P0, PT, R0, RZ"));
    assert!(all.contains("bar.sync 0; cp.async.bulk _, 1024, mbar; }"), "{all}");
    // Any other loop of this kind goes on as long as any lane says so.
    let other = extracted(&of("EQ.AND P0, PT, R0, 0x7").replace("UBLKCP", "MOV R0, R0 ;\nUBLKCP"));
    assert!(other.contains("loop {") && !other.contains("lane == 7"), "{other}");
}

#[test]
fn what_is_not_known_for_certain_is_named() {
    for unknown in [
        "SYNCS.CAS.64 RZ, [UR8], R2, R4",
        "SYNCS.ARRIVE.TRANS64.A2T2 RZ, [UR8], RZ",
        "SYNCS.EXCH.64 R2, [UR8], R4",
        "UCGABAR_GET",
        "UGETNEXTWORKID.SELFCAST [UR8], [UR8]",
        "SYNCS.CCTL.IVALL",
        "ARRIVES.LDGSTSBAR.64 [UR8]",
        "ATOMS.ARRIVE.64 RZ, [UR8]",
        "B2R.BAR R0, 0x1",
    ] {
        let code = format!("{ONCE}{unknown} ;\nBAR.SYNC 0x0 ;\nEXIT ;\n");
        refused(&code, &format!("`{}`", unknown.split(' ').next().unwrap_or_default()));
    }
    // An object that no `SYNCS.EXCH` has prepared, and one with a state that no initialisation leaves.
    refused("SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR8], RZ ;\nEXIT ;\n", "not initialised");
    refused(&format!("UMOV UR5, 0x7 ;\n{ONCE}BAR.SYNC 0x0 ;\nEXIT ;\n"), "count");
}

#[test]
fn reductions_beside_mbarriers_are_those_of_ptx() {
    let text = extracted(&format!(
        "{ONCE}BAR.RED.POPC.DEFER_BLOCKING 0x0, P1 ;\nB2R.RESULT R2 ;\nBAR.ARV 0x1, 0x40 ;\nBAR.RED.OR 0x2, 0x40, P0 ;\nEXIT ;\n"
    ));
    for statement in ["bar.red.popc.u32 _, 0, ?;", "bar.arrive 1, 64;", "bar.red.or.pred _, 2, 64, ?;"] {
        assert!(text.contains(statement), "{text}");
    }
}

/// `__syncthreads` and `__syncthreads_count` share barrier 0 in what compilers make for chips that take it.
#[test]
fn reductions_beside_plain_barriers_are_those_of_the_chip() {
    let code = "BAR.SYNC 0x0 ;\nBAR.RED.POPC 0x0, P1 ;\nB2R.RESULT R2 ;\nEXIT ;\n";
    let target = |text: &str| {
        let text = read(text, 64).expect("a protocol").extracted.expect("a kernel").text;
        text.lines().find_map(|line| line.strip_prefix("target ")).expect("a target").to_owned()
    };
    assert_eq!(target(&format!("\tcode for sm_80\n\tFunction : k\n{code}")), "ptx;");
    assert_eq!(target(code), "bcu;");
    let saved = format!("\tcode for sm_80\n\tFunction : k\nB2R.BAR R4, 0x1 ;\n{code}");
    assert_eq!(target(&saved), "bcu;");
}
