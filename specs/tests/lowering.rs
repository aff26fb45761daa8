//! What statements become: every operation of a role with its place and text, whole in `snapshots/`.

use std::fmt::Write as _;

use barcheck_model::program::Program;
use barcheck_specs::bar::{LoadOptions, load};

/// The program that `source` is.
#[track_caller]
fn program(source: &str) -> Program {
    match load(source.as_bytes(), &LoadOptions::default()) {
        Ok(loaded) => loaded.program,
        Err(diagnostics) => {
            panic!("{}", barcheck_specs::render(&diagnostics, "file.bar", source, false))
        }
    }
}

/// Compares the code of all roles of `source` with the snapshot called `name`.
#[track_caller]
fn check(name: &str, source: &str) {
    let program = program(source);
    let mut text = source.trim_end().to_owned();
    for role in &program.roles {
        let code = &role.code;
        let _ = write!(text, "\n\n{:?} empty={}", role.name, code.empty);
        for (index, local) in code.locals.iter().enumerate() {
            let _ = write!(text, "\n  local {index}: {} {:?}", local.name, local.kind);
        }
        for (index, op) in code.ops.iter().enumerate() {
            let place = code.places[index];
            let at = format!("{}:{}+{}", place.line, place.column, place.length);
            let _ = write!(text, "\n{index:3}  {at:9} `{}`\n       {op:?}", code.texts[index]);
        }
        for (index, construct) in code.constructs.iter().enumerate() {
            let _ = write!(text, "\n  {index}: {construct:?}");
        }
    }
    insta::assert_snapshot!(name, text);
}

/// As [`check`], for the statements of one block of `target`.
#[track_caller]
fn check_in(target: &str, name: &str, statements: &str) {
    let (size, agents) = match target {
        "ptx" | "bcu" => ("cta 64", "warps 0..2"),
        "nbarrier" => ("thread_group 2", "threads 0..2"),
        "split_barrier" => ("workgroup 2; subgroup_size 2", "invocations 0..2"),
        _ => ("workgroup 2", "subgroups 0..2"),
    };
    check(
        name,
        &format!(
            "target {target}; {size}; shared buf[4], flag; const N = 4;\n{agents} {{\n{statements}\n}}\n"
        ),
    );
}

#[test]
fn structure() {
    check_in("ptx", "for_loop", "for i in 0..N { if i == 2 { continue; } bar.sync i; }");
    check_in(
        "ptx",
        "for_loop_bounds",
        "let n = 2;\nfor i in n - 1..n * 2 { for i in i..i + 1 { if ? { break; } } }",
    );
    check_in("ptx", "while_loop", "while ? { continue; }\nwhile lane < 4 {}");
    check_in("ptx", "endless_loop", "loop {\n  if uniform ? { break; }\n  continue;\n}");
    check_in(
        "ptx",
        "if_else",
        "if warp == 0 { bar.sync 0; } else if uniform go ? { exit; } else { assert 1; }\nif ? {}",
    );
    check_in("ptx", "empty_loop", "loop {}");
    check("empty_block", "target ptx; cta 64;\nwarp 0 as nobody {}\nwarp 1 { exit; }\n");
}

#[test]
fn names() {
    check_in("ptx", "shadowing", "let x = N;\nif ? { let x = x + 1; let N = x; x = N; }\nx = x * N;");
    check_in("ptx", "any_value", "let x = any 0..N;\nx = any x..8;");
}

#[test]
fn folding() {
    check_in(
        "ptx",
        "folding",
        "assert 1 + 2 * 3 - 7 << 1 | 8;\nassert 1 / 0;\nassert 0 && 1 / 0;\nassert 1 || 1 % 0;\nassert \
         -9223372036854775808 / -1;\nassert !(3 > 2) == false;\nassert warp * 0;\nassert 0x10 ^ 1 & \
         3;\nassert 1 << 64;\nassert - - 5 == 5;",
    );
}

#[test]
fn ptx() {
    check_in(
        "ptx",
        "ptx",
        "let d = 0;\nbar.sync 1;\nBAR.CTA.SYNC 1, 64;\nbarrier.sync 2;\nbarrier.cta.sync.aligned 2, \
         32;\nbar.arrive 3;\nbarrier.arrive 3, 64;\nbar.red.popc.u32 d, 4, lane < \
         3;\nbarrier.cta.red.and.aligned.pred _, 4, 64, !d;\nbar.red.or.pred d, 4, !?;\n@d bar.sync \
         0;\n@!d bar.sync 0;\nmembar.cta;\nfence.acq_rel.cta;\nread buf[d];\nwrite flag;\natomic buf[0];",
    );
}

#[test]
fn bcu() {
    check_in(
        "bcu",
        "bcu",
        "BAR.SYNC 0x0 ;\nBAR.SYNC R4, R5;\nbar.arv RZ, 0x40;\nBAR.RED.OR 0x0, P0;\nBAR.RED.AND R4, \
         !P1;\nBAR.RED.AND RZ, PT;\nBAR.RED.POPC (R4), ?;\nBAR.RED.POPC R4, 64, lane < 2;\nB2R.RESULT RZ, \
         P0;\nB2R.RESULT R4;\nBAR.RESULT R4, PT;\nB2R R1, 2;\nB2R.BAR RZ, N;\nB2R.WARP R1;\nB2R.WARP R1, \
         3;\nR2B 2, R1;\nR2B.BAR 2, RZ;\nR2B.WARP R1;\nR2B.WARP 3, R1;\n@!P0 BAR.SYNC 0x0;\n@PT BAR.SYNC 1;",
    );
    check_in(
        "bcu",
        "bcu_registers",
        "R4 = 0x12;\nP0 = warp < 2;\nR1 = any 0..4;\nRZ = R4 / 0;\nPT = any 0..2;\nlet x = R4 + RZ + \
         PT;\nfor i in 0..R4 {}",
    );
}

#[test]
fn others() {
    check_in(
        "nbarrier",
        "nbarrier",
        "let x = 1;\nnbarrier.signal 0, 2;\nNBARRIER.signal 0 x thread N;\nnbarrier.wait \
         x;\nfence;\nfence.slm;\nfence.ugm;\nread buf[0];",
    );
    check_in(
        "split_barrier",
        "split",
        "OpControlBarrierArriveINTEL Workgroup, Device, \
         Release|WorkgroupMemory|CrossWorkgroupMemory;\nOpControlBarrierWaitEXT Workgroup, Workgroup, \
         Acquire | ImageMemory;\nOpControlBarrier Subgroup, Invocation, None;\nOpMemoryBarrier Device, \
         SequentiallyConsistent|CrossWorkgroupMemory;\nopcontrolbarrier workgroup, WORKGROUP, \
         acquirerelease;",
    );
    check_in(
        "xegpu",
        "xegpu",
        "xegpu.alloc_nbarrier 2;\nxegpu.nbarrier_wait %h;\nif ? { %h = XeGPU.init_nbarrier subgroup % 2, 2; \
         }\nxegpu.nbarrier_arrive %h;\nxegpu.mfence;\nxegpu.mfence {};\nxegpu.mfence {memory_kind \
         = \"slm\", fence_op = \"none\", fence_scope = \"local\"};\nXeGPU.mfence {memory_kind = ugm, \
         fence_scope = global};\nxegpu.compile_hint {hint = {a; \"}\", b}};",
    );
}

#[test]
fn blocks_of_some_ctas() {
    let roles = |text: &str| -> Vec<u32> { program(text).agents.iter().map(|role| role.0).collect() };
    let cluster = "target ptx; cluster 3; cta 64;\n";
    let alike = format!("{cluster}warp 1 {{}} warp 0 {{}}");
    assert_eq!(roles(&alike), [1, 0, 1, 0, 1, 0]);
    let led = format!("{cluster}warp 0 of cta 0 as leader {{}} WARP 0 OF CTAS 1..3 {{}} warps 1..2 {{}}");
    assert_eq!(roles(&led), [0, 2, 1, 2, 1, 2]);
    assert_eq!(roles("target ptx; cta 32; warp 0 of cta 0 {}"), [0]);
}

#[test]
fn the_whole_program() {
    let program = program(
        "target split_barrier; workgroup 3 * 2; subgroup_size 4; shared a, b[3]; global c;\ninvocations \
         1..6 { while uniform k ? {} while uniform ? {} while uniform k ? {} }\ninvocation 0 {}\n",
    );
    assert_eq!((program.threads, program.subgroup_size), (6, 4));
    assert_eq!(program.sequences, [Some("k".to_owned()), None]);
    let roles: Vec<u32> = program.agents.iter().map(|role| role.0).collect();
    assert_eq!(roles, [1, 0, 0, 0, 0, 0]);
    let arrays: Vec<_> = program.arrays.iter().map(|a| (a.first.0, a.length)).collect();
    assert_eq!(arrays, [(0, None), (1, Some(3)), (4, None)]);
    assert_eq!(program.locations(), 5);
}

#[test]
fn params_are_overridden() {
    let source = b"target ptx; cta 32 * N; param N = 1; ";
    assert!(load(source, &LoadOptions::default()).is_err(), "declared later");
    let source = b"target ptx; param N = 1; const M = N + 1; cta 32 * M; warps 0..M {}";
    let mut options = LoadOptions::default();
    options.defines.insert("N".to_owned(), 3);
    options.defines.insert("other".to_owned(), 3);
    let loaded = load(source, &options).expect("well formed");
    assert_eq!(loaded.program.threads, 128);
    assert_eq!(loaded.params.into_iter().collect::<Vec<_>>(), ["N"]);
}

#[test]
fn shared_blocks_stand_in_the_place_of_their_uses() {
    check(
        "shared_block",
        "target ptx; cta 64; shared buf[4]; mbarrier full[4] count 1;\n\
         block put(where, bars, s) {\n    let k = s * 2;\n    write where[k];\n    if uniform ? { mbarrier.arrive bars[s]; }\n}\n\
         block twice(bars) { put(buf, bars, 0); put(buf, bars, 1); }\n\
         warps 0..=1 { let k = 5; twice(full); put(buf, full, k); }\n",
    );
}

#[test]
fn shared_numbers_are_decided_bit_by_bit() {
    check_in(
        "ptx",
        "shared_number",
        "let n = uniform tiles any 1..=6;\nlet one = uniform any 7..8;\nbar.sync n + one;",
    );
}

#[test]
fn stages_advance_with_their_parity_and_results_declare_themselves() {
    check_in(
        "ptx",
        "advance",
        "let s = 0;\nlet p = 1;\nadvance s, p, N;\nbar.red.popc.u32 k, s, p;\nassert k == 64;",
    );
}
