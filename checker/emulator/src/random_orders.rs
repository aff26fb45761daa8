//! Random kernels in which each warp has code of its own: accesses to a few places, and in between barriers
//! by which some warps tell others how far they are. All come to the barriers in one order, so that nobody
//! hangs.

use super::chance::Chance;
use super::random_fences::fence;
use std::fmt::Write;

/// Bytes of a place: a word for each lane, and what other widths need.
const PLACE: usize = 256;

/// Some arrive, some wait.
#[derive(Clone, Copy)]
enum By {
    /// A barrier of its own number; whoever waits arrives as well.
    Barrier,
    /// The first phase of an object; arrivals that publish no more than what fences stand behind.
    Object { relaxed: bool },
}

struct Event {
    by: By,
    arrive: usize,
    wait: usize,
}

fn event(chance: &mut Chance, warps: usize) -> Event {
    let all = (1 << warps) - 1;
    let some = |chance: &mut Chance| 1 + chance.below(all);
    if chance.once_in(4) {
        return Event { by: By::Barrier, arrive: all, wait: all };
    }
    let (arrive, wait) = (some(chance), some(chance));
    match chance.below(3) {
        0 => Event { by: By::Object { relaxed: chance.once_in(3) }, arrive, wait },
        _ => Event { by: By::Barrier, arrive: arrive | wait, wait },
    }
}

/// A kernel, and its threads.
pub fn random_kernel_of_warps(chance: &mut Chance) -> (String, [u32; 3]) {
    let warps = 2 + chance.below(3);
    let events: Vec<Event> = (0..2 + chance.below(5)).map(|_| event(chance, warps)).collect();
    let (places, often) = (1 + chance.below(3), 2 + chance.below(4));
    let bytes = places * PLACE;
    let mut text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u32 n)\n.reqntid {}\n{{\n\
         \t.reg .pred %p, %q;\n\t.reg .b32 %t, %warp, %lane, %n, %at, %v;\n\
         \t.shared .align 16 .b8 places[{bytes}];\n\t.shared .align 8 .b8 objects[{}];\n\
         \tmov.u32 %t, %tid.x;\n\tshr.u32 %warp, %t, 5;\n\tand.b32 %lane, %t, 31;\n\
         \tld.param.u32 %n, [n];\n\tmov.u32 %at, places;\n\tmad.lo.s32 %at, %lane, 4, %at;\n\
         \tsetp.ne.u32 %p, %t, 0;\n\t@%p bra $BEGUN;\n",
        warps * 32,
        events.len() * 8
    );
    for (index, event) in events.iter().enumerate() {
        if matches!(event.by, By::Object { .. }) {
            let (at, count) = (index * 8, event.arrive.count_ones());
            let _ = writeln!(text, "\tmbarrier.init.shared.b64 [objects+{at}], {count};");
        }
    }
    text.push_str("$BEGUN:\n\tbar.sync 0;\n");
    for warp in 0..warps {
        let _ = writeln!(text, "\tsetp.ne.u32 %p, %warp, {warp};\n\t@%p bra $WARP{warp};");
        for (index, event) in events.iter().enumerate() {
            if chance.once_in(often) {
                access(chance, places, &mut text);
            }
            if chance.once_in(12) {
                let _ = writeln!(text, "\t{};", fence(chance));
            }
            if chance.once_in(12) {
                let _ = writeln!(text, "\tsetp.eq.u32 %q, %lane, {};\n\t@%q ret;", chance.below(32));
            }
            if matches!(event.by, By::Barrier) && event.wait >> warp & 1 == 1 && chance.once_in(6) {
                apart(chance, event, (index, warp), places, &mut text);
            } else {
                meet(chance, event, (index, warp), &mut text);
            }
        }
        if chance.once_in(2) {
            access(chance, places, &mut text);
        }
        let _ = writeln!(text, "{}$WARP{warp}:", if chance.once_in(4) { "\tret;\n" } else { "" });
    }
    if chance.once_in(2) {
        text.push_str("\tbar.sync 0;\n");
        access(chance, places, &mut text);
    }
    text.push_str("\tret;\n}\n");
    (text, [u32::try_from(warps * 32).unwrap_or(32), 1, 1])
}

fn access(chance: &mut Chance, places: usize, text: &mut String) {
    let at = chance.below(places) * PLACE;
    let at = if chance.once_in(6) { at + [4, 64, 128][chance.below(3)] } else { at };
    let guard = match chance.below(8) {
        0 => {
            let _ = writeln!(text, "\tsetp.lt.u32 %q, %lane, {};", 1 + chance.below(31));
            "@%q "
        }
        1 => {
            let _ = writeln!(text, "\tsetp.gt.u32 %q, %n, {};", chance.below(3));
            ["@%q ", "@!%q "][chance.below(2)]
        }
        _ => "",
    };
    let place = if chance.once_in(4) { format!("[places+{at}]") } else { format!("[%at+{at}]") };
    let statement = match chance.below(12) {
        0..=3 => format!("st.shared.u32 {place}, %t"),
        4 => format!("st.shared.u32 {place}, {}", chance.below(2)),
        5 => format!("st.shared.u8 {place}, %t"),
        6..=8 => format!("ld.shared.u32 %v, {place}"),
        9 => format!("ld.shared.u16 %v, {place}"),
        10 => format!("red.shared.add.u32 {place}, 1"),
        _ => format!("st.volatile.shared.u32 {place}, %t"),
    };
    let _ = writeln!(text, "\t{guard}{statement};");
}

/// Lanes of a warp come to a barrier on two ways.
fn apart(
    chance: &mut Chance,
    event: &Event,
    (index, warp): (usize, usize),
    places: usize,
    text: &mut String,
) {
    let (id, count) = (1 + index, event.arrive.count_ones() * 32);
    let lane = 1 + chance.below(31);
    let _ = writeln!(text, "\tsetp.lt.u32 %p, %lane, {lane};\n\t@%p bra $A{warp}_{index};");
    for (label, end) in [("A", "\tbra.uni $B"), ("B", "")] {
        if chance.once_in(2) {
            access(chance, places, text);
        }
        let _ = writeln!(text, "\tbarrier.sync {id}, {count};");
        if chance.once_in(3) {
            access(chance, places, text);
        }
        if label == "A" {
            let _ = writeln!(text, "{end}{warp}_{index};\n$A{warp}_{index}:");
        } else {
            let _ = writeln!(text, "$B{warp}_{index}:");
        }
    }
}

/// What a warp does at a barrier.
fn meet(chance: &mut Chance, event: &Event, (index, warp): (usize, usize), text: &mut String) {
    let (arrives, waits) = (event.arrive >> warp & 1 == 1, event.wait >> warp & 1 == 1);
    let count = event.arrive.count_ones() * 32;
    let id = 1 + index;
    match event.by {
        By::Barrier if waits => {
            let _ = writeln!(text, "\tbar.sync {id}, {count};");
        }
        By::Barrier if arrives => {
            let _ = writeln!(text, "\tbar.arrive {id}, {count};");
        }
        By::Barrier => {}
        By::Object { relaxed } => {
            let at = index * 8;
            if arrives {
                let how = if relaxed { ".relaxed.cta" } else { "" };
                let fence = fence(chance);
                let (whole, single) = (format!("\t{fence};\n"), format!("\t@%q {fence};\n"));
                // Before the arrival, by one lane or by all; behind it; or nowhere.
                let (all, one, late) = match chance.below(8) {
                    0..4 if relaxed => (whole.as_str(), "", ""),
                    4 if relaxed => ("", single.as_str(), ""),
                    5 if relaxed => ("", "", whole.as_str()),
                    _ => ("", "", ""),
                };
                let _ = write!(
                    text,
                    "\tbar.warp.sync -1;\n{all}\tsetp.eq.u32 %q, %lane, 0;\n{one}\
                     \t@%q mbarrier.arrive{how}.shared.b64 _, [objects+{at}];\n{late}"
                );
            }
            if waits {
                let _ = writeln!(
                    text,
                    "$W{warp}_{index}:\n\tmbarrier.try_wait.parity.shared.b64 %q, [objects+{at}], 0;\n\
                     \t@!%q bra $W{warp}_{index};"
                );
            }
        }
    }
}
