//! Random kernels, as no compiler writes them: blocks that jump to one another by what the warp, the lane, a
//! parameter, a counter, or something loaded says.

use super::chance::Chance;
use std::fmt::Write;

const BLOCKS: usize = 7;
/// Registers by what they hold; the last two are counters.
const VALUES: [&str; 8] = ["%warp", "%lane", "%n", "%same", "%own", "%told", "%i", "%j"];

/// A kernel of three warps.
pub fn random_kernel(chance: &mut Chance) -> String {
    let mut text = String::from(
        ".version 8.0\n.target sm_90\n.visible .entry k(.param .u32 n, .param .u64 data)\n.reqntid 96\n{\n\
         .reg .pred %p, %q;\n.reg .b32 %warp, %lane, %n, %same, %own, %told, %i, %j, %t, %x;\n\
         .reg .b64 %data, %at;\n.shared .align 4 .b32 flag;\n\
         mov.u32 %t, %tid.x;\nshr.u32 %warp, %t, 5;\nand.b32 %lane, %t, 31;\nld.param.u32 %n, [n];\n\
         ld.param.u64 %data, [data];\nmul.wide.u32 %at, %t, 4;\nadd.s64 %at, %at, %data;\n\
         ld.global.u32 %same, [%data+4096];\nld.global.u32 %own, [%at];\n\
         setp.gt.u32 %q, %own, 1;\nmov.u32 %told, 0;\nmov.u32 %i, 0;\nmov.u32 %j, 1;\n",
    );
    if chance.once_in(2) {
        text.push_str("shfl.sync.idx.b32 %warp, %warp, 0, 31, -1;\n");
    }
    let mut loops = 0;
    for block in 0..BLOCKS {
        let _ = writeln!(text, "$B{block}:");
        for _ in 0..chance.below(3) {
            statement(chance, &mut text);
        }
        if chance.once_in(2) {
            end(chance, block, &mut loops, &mut text);
        }
    }
    let _ = writeln!(text, "$B{BLOCKS}:");
    if chance.once_in(2) {
        text.push_str("bar.sync 0;\n");
    }
    let counters: String = (0..loops).map(|number| format!("mov.u32 %k{number}, 0;\n")).collect();
    let declared = format!(".reg .b32 %k<{}>;\n{counters}$B0:\n", loops + 1);
    text = text.replacen("$B0:\n", &declared, 1);
    text + "ret;\n}\n"
}

fn statement(chance: &mut Chance, text: &mut String) {
    let line = match chance.below(10) {
        0..=4 => barrier(chance),
        5 => "add.s32 %i, %i, 1;".to_owned(),
        6 => "xor.b32 %j, %j, 1;".to_owned(),
        7 => "setp.eq.u32 %q, %t, 0;\n@%q st.shared.u32 [flag], %own;\n\
              bar.sync 0;\nld.shared.u32 %told, [flag];"
            .to_owned(),
        8 => format!("setp.ne.u32 %q, {}, 0;\nselp.b32 %j, 1, 2, %q;", value(chance)),
        _ => format!("min.u32 %i, {}, 2;", value(chance)),
    };
    text.push_str(&line);
    text.push('\n');
}

fn value(chance: &mut Chance) -> &'static str {
    VALUES[chance.below(VALUES.len())]
}

fn barrier(chance: &mut Chance) -> String {
    let aligned = ["bar", "bar", "bar", "barrier"][chance.below(4)];
    let id = match chance.below(6) {
        0 => "%j".to_owned(),
        _ => chance.below(3).to_string(),
    };
    let count = ["", "", ", 96", ", 96", ", 64"][chance.below(5)];
    let guard = if chance.once_in(12) { "@%q " } else { "" };
    match chance.below(8) {
        0 if !count.is_empty() => format!("{guard}{aligned}.arrive {id}{count};"),
        1 => format!("{guard}{aligned}.red.popc.u32 %told, {id}{count}, %q;"),
        2 => format!("{guard}{aligned}.red.or.pred %q, {id}{count}, %q;"),
        _ => format!("{guard}{aligned}.sync {id}{count};"),
    }
}

/// How a block ends: by a branch ahead, by a loop, by an exit.
fn end(chance: &mut Chance, block: usize, loops: &mut usize, text: &mut String) {
    let number = chance.below(3);
    let by = ["eq", "ne", "lt", "gt"][chance.below(4)];
    let ahead = block + 1 + chance.below(BLOCKS - block);
    let back = block - chance.below(3).min(block);
    let line = match chance.below(6) {
        0..=2 => format!("setp.{by}.u32 %p, {}, {number};\n@%p bra $B{ahead};", value(chance)),
        3 => {
            *loops += 1;
            let counter = *loops - 1;
            let bound = ["2", "3", "%n", "%same", "%warp", "%told"][chance.below(6)];
            format!(
                "add.u32 %k{counter}, %k{counter}, 1;\n\
                 setp.lt.u32 %p, %k{counter}, {bound};\n@%p bra $B{back};"
            )
        }
        4 => format!("setp.{by}.u32 %p, {}, {number};\n@%p ret;", value(chance)),
        _ => format!("setp.{by}.u32 %p, {}, {number};\n@!%p bra $B{ahead};", value(chance)),
    };
    text.push_str(&line);
    text.push('\n');
}
