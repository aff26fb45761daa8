//! Random kernels with arrays in shared memory, in the manner of a compiler. They go from phase to phase,
//! with barriers in between. In each phase an array has one use: all read it, each warp has a part of its
//! own, one warp has it, and so on. Now and then a barrier is missing, or somebody keeps not to the use.

use super::chance::Chance;
use super::random_rings::ring;
use super::random_values::Writer;

/// Bytes of the part of a warp.
pub const PART: u64 = 128;

/// What is done with an array in a phase.
#[derive(Clone, Copy, Debug)]
enum Use {
    Idle,
    Read,
    /// Each warp has a part: its own, or that of another warp, by the way of counting.
    Parts(usize),
    /// All store the same.
    Same(u64),
    Atomic,
    /// One warp has all of it.
    One(usize),
}

/// A kernel, and its threads.
pub fn random_kernel_with_shared_memory(chance: &mut Chance) -> (String, [u32; 3]) {
    let warps = [2, 3, 4, 2, 4][chance.below(5)];
    let slips = [0, 0, 12, 30][chance.below(4)];
    let mut writer = Writer::new(chance, warps, slips);
    let through = writer.chance.below(6);
    let count = [warps, warps * 32, 1][writer.chance.below(8).saturating_sub(5)];
    writer.begin(count);
    if writer.chance.once_in(6) {
        hand_over(&mut writer);
    }
    let phases = 2 + writer.chance.below(4);
    for _ in 0..phases {
        match writer.chance.below(12) {
            0..=2 => rounds(&mut writer, through, count),
            3 => told(&mut writer, through, count),
            4 if warps != 3 => pairs(&mut writer, through, count),
            _ => {
                phase(&mut writer);
                barrier(&mut writer, through, count);
            }
        }
        if through > 3 && writer.chance.once_in(16) {
            let condition = writer.condition();
            writer.say(&format!("@{condition} ret"));
            writer.together = false;
        }
    }
    let size = [writer.columns, warps * 32 / writer.columns, 1];
    (writer.end(), size.map(|length| u32::try_from(length).unwrap_or(1)))
}

fn choose_use(writer: &mut Writer<'_>) -> Use {
    match writer.chance.below(12) {
        0 => Use::Idle,
        1..=4 => Use::Read,
        5..=7 => Use::Parts(writer.chance.below(4)),
        8 => Use::Same(writer.pick([0, 1, 7, 0x0101_0101])),
        9 => Use::Atomic,
        _ => Use::One(writer.chance.below(writer.warps)),
    }
}

/// A few accesses, each array in one use.
fn phase(writer: &mut Writer<'_>) {
    let uses = [choose_use(writer), choose_use(writer)];
    for _ in 0..1 + writer.chance.below(3) {
        let array = writer.chance.below(2);
        let slip = writer.slip();
        let of = if slip { choose_use(writer) } else { uses[array] };
        let together = writer.together;
        match writer.chance.below(10) {
            0 => {
                writer.together = false;
                let (first, second) = (writer.label(), writer.label());
                let condition = writer.condition();
                writer.say(&format!("@{condition} bra {first}"));
                access(writer, array, of);
                writer.say(&format!("bra.uni {second}"));
                writer.put(&first);
                access(writer, array, of);
                writer.put(&second);
            }
            1 => {
                let bound = writer.bound();
                let label = writer.open_loop();
                writer.together = false;
                access(writer, array, of);
                writer.close_loop(&label, &bound);
            }
            2 => {
                // Either, by what is the same for all.
                let (asked, other) = (writer.predicate(), choose_use(writer));
                let (what, number) = (writer.pick(["%n", "%told"]), writer.chance.below(3));
                writer.say(&format!("setp.gt.u32 {asked}, {what}, {number}"));
                let skip = writer.label();
                writer.say(&format!("@!{asked} bra {skip}"));
                access(writer, array, of);
                writer.put(&skip);
                let skip = writer.label();
                writer.say(&format!("@{asked} bra {skip}"));
                access(writer, array, other);
                writer.put(&skip);
            }
            _ => access(writer, array, of),
        }
        writer.together = together;
    }
}

/// One access, perhaps under a condition.
fn access(writer: &mut Writer<'_>, array: usize, of: Use) {
    let kind = writer.kind();
    let mut guard = if writer.chance.once_in(4) { Some(writer.condition()) } else { None };
    match of {
        Use::Idle => {}
        Use::Read => {
            let at = writer.anywhere(array, kind.bytes);
            writer.load(guard.as_deref(), kind, &at);
        }
        Use::Parts(by) => {
            let at = writer.in_part(array, kind.bytes, by);
            if writer.chance.once_in(3) {
                writer.load(guard.as_deref(), kind, &at);
            } else {
                let value = writer.stored();
                writer.store(guard.as_deref(), kind, &at, &value);
            }
        }
        Use::Same(value) => {
            let kind = writer.word();
            let at = writer.anywhere(array, kind.bytes);
            let value = writer.same(value);
            writer.store(guard.as_deref(), kind, &at, &value);
        }
        Use::Atomic => {
            let at = writer.anywhere(array, 4);
            writer.atomic(guard.as_deref(), &at);
        }
        Use::One(warp) => {
            if !writer.slip() {
                guard = Some(writer.is_warp(warp, guard.as_deref()));
            }
            let at = writer.anywhere(array, kind.bytes);
            if writer.chance.once_in(3) {
                writer.load(guard.as_deref(), kind, &at);
            } else {
                let value = writer.stored();
                writer.store(guard.as_deref(), kind, &at, &value);
            }
        }
    }
}

/// Phases in a loop.
fn rounds(writer: &mut Writer<'_>, through: usize, count: usize) {
    let bound =
        if writer.chance.once_in(6) { "%n".to_owned() } else { (1 + writer.chance.below(4)).to_string() };
    match writer.chance.below(6) {
        // Halves of 96 threads part a warp.
        0 if writer.warps != 3 || writer.chance.once_in(32) => halves(writer, through, count),
        1..=3 => ring(writer, through, count),
        4 => two_buffers(writer, &bound, through, count),
        _ => {
            let label = writer.open_loop();
            for _ in 0..1 + writer.chance.below(2) {
                phase(writer);
                barrier(writer, through, count);
            }
            writer.close_loop(&label, &bound);
        }
    }
}

/// A number that some thread has stored for all.
fn told(writer: &mut Writer<'_>, through: usize, count: usize) {
    let at = format!("%base1+{}", writer.chance.below(32) * 4);
    let number = writer.chance.below(64) * 2;
    let guard = if writer.chance.once_in(2) { Some(writer.is_warp(0, None)) } else { None };
    let guard = guard.map(|guard| format!("@{guard} ")).unwrap_or_default();
    writer.say(&format!("{guard}st.shared.u32 [{at}], {number}"));
    barrier(writer, through, count);
    let to = writer.register();
    writer.say(&format!("ld.shared.u32 {to}, [{at}]"));
    writer.known.push(to.clone());
    if writer.chance.once_in(2) {
        let asked = writer.predicate();
        let number = if writer.slip() { number + 1 } else { number };
        writer.say(&format!("setp.ne.u32 {asked}, {to}, {number}"));
        let (skip, array) = (writer.label(), writer.chance.below(2));
        writer.say(&format!("@{asked} bra {skip}"));
        let of = choose_use(writer);
        let of = if array == 0 { of } else { Use::Read };
        access(writer, array, of);
        writer.put(&skip);
    }
    barrier(writer, through, count);
}

/// Pairs of warps have barriers of their own.
fn pairs(writer: &mut Writer<'_>, through: usize, count: usize) {
    let (pair, id, at) = (writer.register(), writer.register(), writer.register());
    access(writer, 0, Use::Parts(3));
    writer.say(&format!("shr.u32 {pair}, %warp, 1"));
    writer.say(&format!("add.s32 {id}, {pair}, 8"));
    if !writer.slip() {
        writer.say(&format!("bar.sync {id}, 64"));
    }
    let value = writer.value(3);
    let (mask, shift) = if writer.slip() { (508, 7) } else { (252, 8) };
    writer.say(&format!("and.b32 {at}, {value}, {mask}"));
    writer.say(&format!("mad.lo.s32 {at}, {pair}, {}, {at}", 1 << shift));
    writer.say(&format!("add.s32 {at}, {at}, %base0"));
    let word = writer.word();
    writer.load(None, word, &at);
    barrier(writer, through, count);
}

/// A sum over all threads, half of them in each round.
fn halves(writer: &mut Writer<'_>, through: usize, count: usize) {
    let stride = writer.register();
    let (slips, shift) = (writer.slip(), if writer.slip() { 3 } else { 2 });
    let threads = writer.warps * 32;
    let first = if threads == 96 { 48 } else { threads / 2 };
    writer.say(&format!("mov.u32 {stride}, {first}"));
    let mine = writer.register();
    writer.say(&format!("shl.b32 {mine}, %t, {shift}"));
    writer.say(&format!("add.s32 {mine}, {mine}, %base0"));
    writer.say(&format!("st.shared.u32 [{mine}], %own"));
    barrier(writer, through, count);
    let label = writer.label();
    writer.put(&label);
    let (is_in, theirs, sum) = (writer.predicate(), writer.register(), writer.register());
    let by = if slips { "le" } else { "lt" };
    writer.say(&format!("setp.{by}.u32 {is_in}, %t, {stride}"));
    writer.say(&format!("shl.b32 {theirs}, {stride}, 2"));
    writer.say(&format!("add.s32 {theirs}, {theirs}, {mine}"));
    let skip = writer.label();
    writer.say(&format!("@!{is_in} bra {skip}"));
    writer.say(&format!("ld.shared.u32 {sum}, [{theirs}]"));
    writer.say(&format!("add.s32 {sum}, {sum}, %own"));
    writer.say(&format!("st.shared.u32 [{mine}], {sum}"));
    writer.put(&skip);
    barrier(writer, through, count);
    let again = writer.predicate();
    let last = if threads == 96 { 3 } else { 1 };
    writer.say(&format!("setp.gt.u32 {again}, {stride}, {last}"));
    writer.say(&format!("shr.u32 {stride}, {stride}, 1"));
    writer.say(&format!("@{again} bra {label}"));
    if threads == 96 {
        barrier(writer, through, count);
    }
}

/// One half of an array is written while the other is read.
fn two_buffers(writer: &mut Writer<'_>, bound: &str, through: usize, count: usize) {
    let size = PART * writer.warps as u64;
    let by_pointer = writer.chance.once_in(2);
    let (buffer, at) = (writer.register(), writer.register());
    writer.say(&format!("mov.u32 {buffer}, 0"));
    let one_buffer = writer.slip();
    let label = writer.open_loop();
    if !by_pointer {
        let counter = writer.counter();
        writer.say(&format!("and.b32 {buffer}, {counter}, 1"));
        writer.say(&format!("mul.lo.s32 {buffer}, {buffer}, {size}"));
    }
    writer.say(&format!("shl.b32 {at}, %t, 2"));
    if !one_buffer {
        writer.say(&format!("add.s32 {at}, {at}, {buffer}"));
    }
    writer.say(&format!("add.s32 {at}, {at}, %base0"));
    writer.say(&format!("st.shared.u32 [{at}], %own"));
    barrier(writer, through, count);
    let kind = writer.word();
    let from = writer.anywhere(0, kind.bytes);
    let from = writer.moved(&from, &buffer);
    writer.load(None, kind, &from);
    if by_pointer {
        writer.say(&format!("xor.b32 {buffer}, {buffer}, {size}"));
    }
    writer.close_loop(&label, bound);
    barrier(writer, through, count);
}

/// One half of the warps writes, and tells the others.
fn hand_over(writer: &mut Writer<'_>) {
    let threads = writer.warps * 32;
    let border = 1 + writer.chance.below(writer.warps - 1);
    let is_first = writer.predicate();
    let (second, end) = (writer.label(), writer.label());
    let bound = (1 + writer.chance.below(3)).to_string();
    let (full, empty) = ("bar.sync 4", if writer.slip() { "bar.arrive 6" } else { "bar.arrive 5" });
    writer.say(&format!("setp.lt.u32 {is_first}, %warp, {border}"));
    writer.say(&format!("@!{is_first} bra {second}"));
    let label = writer.open_loop();
    access(writer, 0, Use::Parts(0));
    access(writer, 0, Use::Parts(0));
    if !writer.slip() {
        writer.say(&format!("bar.arrive 4, {threads}"));
    }
    writer.say(&format!("bar.sync 5, {threads}"));
    writer.close_loop(&label, &bound);
    writer.say(&format!("bra.uni {end}"));
    writer.put(&second);
    let label = writer.open_loop();
    writer.say(&format!("{full}, {threads}"));
    let kind = writer.kind();
    let at = writer.anywhere(0, kind.bytes);
    writer.load(None, kind, &at);
    writer.say(&format!("{empty}, {threads}"));
    if writer.slip() {
        access(writer, 0, Use::Read);
    }
    writer.close_loop(&label, &bound);
    writer.put(&end);
    if !writer.slip() {
        writer.say("bar.sync 0");
    }
}

/// What stands between phases.
pub fn barrier(writer: &mut Writer<'_>, through: usize, count: usize) {
    if writer.slip() {
        return;
    }
    let threads = writer.warps * 32;
    match through {
        0 if !writer.chance.once_in(3) => writer.phase_of_object(count),
        1 => {
            let id = 1 + writer.chance.below(2);
            writer.say(&format!("barrier.sync {id}, {threads}"));
        }
        2 => {
            let (to, from) = (writer.predicate(), writer.condition());
            writer.say(&format!("bar.red.or.pred {to}, 0, {from}"));
        }
        3 if writer.slips > 0 && writer.chance.once_in(3) => {
            // Some are told, and tell nobody.
            let (is_first, skip, end) = (writer.predicate(), writer.label(), writer.label());
            let border = 1 + writer.chance.below(writer.warps - 1);
            writer.say(&format!("setp.lt.u32 {is_first}, %warp, {border}"));
            writer.say(&format!("@{is_first} bra {skip}"));
            writer.say(&format!("bar.sync 3, {threads}"));
            writer.say(&format!("bra.uni {end}"));
            writer.put(&skip);
            writer.say(&format!("bar.arrive 3, {threads}"));
            writer.put(&end);
        }
        _ => writer.say("bar.sync 0"),
    }
}
