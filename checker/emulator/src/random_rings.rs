//! Loops of random kernels in which a stage of a ring is written while another is read.

use super::chance::Chance;
use super::random_shared::{PART, barrier};
use super::random_values::Writer;

/// How the stage becomes the next one.
#[derive(Clone, Copy)]
enum Step {
    /// The other of two.
    Other,
    /// A count of rounds, cut to two bits.
    Cut,
    /// Back to the first behind the last.
    Back(usize),
    Remainder(usize),
    /// A pointer that goes on by a stage, and back.
    Pointer(usize),
    /// Each half as far as the one before, from the third.
    Halved,
}

fn choose(chance: &mut Chance) -> Step {
    match chance.below(8) {
        0 | 1 => Step::Other,
        2 => Step::Cut,
        3 => Step::Back(2 + chance.below(3)),
        4 => Step::Remainder(2 + chance.below(3)),
        5 | 6 => Step::Pointer(2 + chance.below(3)),
        _ => Step::Halved,
    }
}

/// Stages are written and read in turn.
pub fn ring(writer: &mut Writer<'_>, through: usize, count: usize) {
    let step = choose(writer.chance);
    let (stage, at) = (writer.register(), writer.register());
    let first = if matches!(step, Step::Halved) { 3 } else { 0 };
    writer.say(&format!("mov.u32 {stage}, {first}"));
    let known = (1 + writer.chance.below(5)).to_string();
    let bound = if writer.chance.once_in(4) { "%n".to_owned() } else { known };
    let by = writer.chance.below(4);
    let is_ahead = writer.chance.once_in(2);
    if is_ahead {
        place(writer, step, &stage, &at);
        written(writer, &at, by);
    }
    let slip = writer.slip();
    let label = writer.open_loop();
    if is_ahead {
        barrier(writer, through, count);
        read(writer, &at);
        next(writer, step, &stage);
        place(writer, step, &stage, &at);
        written(writer, &at, by);
    } else {
        place(writer, step, &stage, &at);
        written(writer, &at, by);
        barrier(writer, through, count);
        if slip {
            next(writer, step, &stage);
            place(writer, step, &stage, &at);
        }
        read(writer, &at);
        next(writer, step, &stage);
    }
    writer.close_loop(&label, &bound);
    barrier(writer, through, count);
}

/// Where a stage is, from the array on.
fn place(writer: &mut Writer<'_>, step: Step, stage: &str, at: &str) {
    let size = PART * writer.warps as u64;
    match step {
        Step::Pointer(_) => writer.say(&format!("mov.b32 {at}, {stage}")),
        Step::Cut => {
            writer.say(&format!("and.b32 {at}, {stage}, 3"));
            writer.say(&format!("mul.lo.s32 {at}, {at}, {size}"));
        }
        Step::Remainder(stages) => {
            writer.say(&format!("rem.u32 {at}, {stage}, {stages}"));
            writer.say(&format!("mad.lo.s32 {at}, {at}, {size}, 0"));
        }
        _ if size.is_power_of_two() => {
            writer.say(&format!("shl.b32 {at}, {stage}, {}", size.trailing_zeros()));
        }
        _ => writer.say(&format!("mul.lo.s32 {at}, {stage}, {size}")),
    }
}

fn next(writer: &mut Writer<'_>, step: Step, stage: &str) {
    let size = PART * writer.warps as u64;
    let (by, end) = match step {
        Step::Other => return writer.say(&format!("xor.b32 {stage}, {stage}, 1")),
        Step::Halved => return writer.say(&format!("shr.u32 {stage}, {stage}, 1")),
        Step::Cut | Step::Remainder(_) => return writer.say(&format!("add.s32 {stage}, {stage}, 1")),
        Step::Back(stages) => (1, stages as u64),
        Step::Pointer(stages) => (size, size * stages as u64),
    };
    let over = writer.predicate();
    writer.say(&format!("add.s32 {stage}, {stage}, {by}"));
    writer.say(&format!("setp.eq.s32 {over}, {stage}, {end}"));
    writer.say(&format!("selp.b32 {stage}, 0, {stage}, {over}"));
}

/// Each warp writes its part of the stage, perhaps some of its lanes.
fn written(writer: &mut Writer<'_>, at: &str, by: usize) {
    let width = writer.kind();
    let to = writer.in_part(0, width.bytes, by);
    let to = writer.moved(&to, at);
    let guard = if writer.chance.once_in(4) { Some(writer.condition()) } else { None };
    let value = writer.stored();
    writer.store(guard.as_deref(), width, &to, &value);
}

fn read(writer: &mut Writer<'_>, at: &str) {
    let width = writer.kind();
    let from = writer.anywhere(0, width.bytes);
    let from = writer.moved(&from, at);
    writer.load(None, width, &from);
}
