//! Random kernels in which some warps fill the stages of a ring by stores, and others read them: two objects
//! for each stage say that it is full, and that it is empty. Often there is a slip.

use super::chance::Chance;
use super::random_fences::fence;
use std::fmt::Write;

struct Pipe {
    warps: usize,
    /// The first warps fill.
    fill: usize,
    stages: usize,
    rounds: String,
    /// Bytes of a stage.
    bytes: usize,
    /// Which slip, if any.
    slip: usize,
    /// A stage is found by its number, or by a pointer.
    by_pointer: bool,
}

/// A kernel, and its threads.
pub fn random_kernel_of_stages(chance: &mut Chance) -> (String, [u32; 3]) {
    let warps = 2 + chance.below(3);
    let fill = 1 + chance.below(warps - 1);
    let pipe = Pipe {
        warps,
        fill,
        stages: 1 + chance.below(3),
        rounds: [2, 3, 4, 6].map(|rounds| rounds.to_string())[chance.below(4)].clone(),
        bytes: fill * 128,
        slip: chance.below(19),
        by_pointer: chance.once_in(2),
    };
    let pipe = Pipe { rounds: if chance.once_in(4) { "%n".to_owned() } else { pipe.rounds }, ..pipe };
    let mut text = begin(&pipe);
    for (label, fills) in [("F", true), ("R", false)] {
        rounds(chance, &pipe, label, fills, &mut text);
    }
    text.push_str("\tret;\n}\n");
    (text, [u32::try_from(warps * 32).unwrap_or(32), 1, 1])
}

fn begin(pipe: &Pipe) -> String {
    let Pipe { warps, fill, stages, bytes, slip, .. } = pipe;
    let threads = warps * 32;
    let mut text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u32 n)\n.reqntid {threads}\n{{\n\
         \t.reg .pred %p, %q;\n\t.reg .b32 %t, %warp, %lane, %n, %i, %s, %par, %at, %obj, %own, %v;\n\
         \t.shared .align 16 .b8 ring[{}];\n\t.shared .align 8 .b64 full[{stages}];\n\
         \t.shared .align 8 .b64 empty[{stages}];\n\
         \tmov.u32 %t, %tid.x;\n\tshr.u32 %warp, %t, 5;\n\tand.b32 %lane, %t, 31;\n\
         \tld.param.u32 %n, [n];\n\tsetp.ne.u32 %p, %t, 0;\n\t@%p bra $BEGUN;\n",
        stages * bytes
    );
    for stage in 0..*stages {
        let (at, read) = (stage * 8, warps - fill - usize::from(*slip == 1 && warps - fill > 1));
        let fill = fill - usize::from(*slip == 2 && *fill > 1);
        let _ = writeln!(
            text,
            "\tmbarrier.init.shared.b64 [full+{at}], {fill};\n\tmbarrier.init.shared.b64 [empty+{at}], {read};"
        );
    }
    let _ = writeln!(
        text,
        "$BEGUN:\n\tbar.sync 0;\n\tmov.u32 %i, 0;\n\tmov.u32 %s, 0;\n\
         \tsetp.ge.u32 %p, %warp, {fill};\n\t@%p bra $R;"
    );
    text
}

/// What those do who fill, or who read.
fn rounds(chance: &mut Chance, pipe: &Pipe, label: &str, fills: bool, text: &mut String) {
    let Pipe { stages, rounds, bytes, slip, by_pointer, .. } = pipe;
    let (waits, tells) = if fills { ("empty", "full") } else { ("full", "empty") };
    let parity = u32::from(fills != (*slip == 3));
    let step = if *by_pointer { *bytes } else { 1 };
    let _ = writeln!(text, "${label}:\n\tmov.u32 %par, {parity};\n${label}L:");
    if *by_pointer {
        let _ = writeln!(text, "\tmov.u32 %at, %s;\n\tdiv.u32 %obj, %s, {bytes};\n\tshl.b32 %obj, %obj, 3;");
    } else {
        let _ = writeln!(text, "\tmul.lo.s32 %at, %s, {bytes};\n\tshl.b32 %obj, %s, 3;");
    }
    let wait = format!(
        "\tmov.u32 %v, {waits};\n\tadd.s32 %v, %v, %obj;\n${label}W:\n\
         \tmbarrier.try_wait.parity.shared.b64 %q, [%v], %par;\n\t@!%q bra ${label}W;\n"
    );
    let relaxed = if matches!(*slip, 4 | 16..) || *slip == 5 && fills { ".relaxed.cta" } else { "" };
    let fence = if *slip < 16 { String::new() } else { format!("\t{};\n", fence(chance)) };
    // Before the access it comes too early.
    let (early, late) = if *slip == 18 { (fence.as_str(), "") } else { ("", fence.as_str()) };
    let tell = format!(
        "\tbar.warp.sync -1;\n{late}\tsetp.eq.u32 %q, %lane, 0;\n\
         \tmov.u32 %v, {tells};\n\tadd.s32 %v, %v, %obj;\n\
         \t@%q mbarrier.arrive{relaxed}.shared.b64 _, [%v];\n"
    );
    let access = format!("{early}{}", access(chance, pipe, fills));
    let parts = match slip {
        6 if !fills => [&wait, &tell, &access],
        7 if fills => [&access, &wait, &tell],
        8 if !fills => [&access, &wait, &tell],
        _ => [&wait, &access, &tell],
    };
    parts.iter().for_each(|part| text.push_str(part));
    let _ = writeln!(
        text,
        "\tadd.s32 %s, %s, {step};\n\tsetp.eq.u32 %q, %s, {};\n\tselp.b32 %s, 0, %s, %q;\n\
         \t@%q xor.b32 %par, %par, 1;\n\tadd.s32 %i, %i, 1;\n\tsetp.lt.u32 %p, %i, {rounds};\n\
         \t@%p bra ${label}L;\n\tret;",
        step * stages
    );
}

fn access(chance: &mut Chance, pipe: &Pipe, fills: bool) -> String {
    let mut text = String::from("\tmov.u32 %own, ring;\n\tadd.s32 %own, %own, %at;\n");
    let width = [("u32", 4), ("u16", 2), ("f32", 4)][chance.below(3)];
    if fills {
        let part = if pipe.slip == 9 { 64 } else { 128 };
        let _ = writeln!(text, "\tmad.lo.s32 %own, %warp, {part}, %own;");
        let _ = writeln!(text, "\tmad.lo.s32 %own, %lane, {}, %own;", width.1);
        let _ = writeln!(text, "\tst.shared.{} [%own], %t;", width.0);
    } else {
        let far = chance.below(pipe.bytes / 4) * 4;
        let far = if pipe.slip == 10 { far + pipe.bytes } else { far };
        let _ = writeln!(text, "\tadd.s32 %own, %own, {far};");
        if chance.once_in(2) {
            let _ = writeln!(text, "\tand.b32 %v, %lane, 7;\n\tmad.lo.s32 %own, %v, {}, %own;", width.1);
        }
        let _ = writeln!(text, "\tld.shared.{} %v, [%own];", width.0);
    }
    text
}
