//! The pieces of random kernels: addresses, values, conditions, accesses, loops.

use super::chance::Chance;
use super::random_shared::PART;
use std::fmt::Write;

/// How wide an access is.
#[derive(Clone, Copy, Debug)]
pub struct Width {
    pub bytes: u64,
    pub opcode: &'static str,
    pub elements: usize,
}

const WIDTHS: [Width; 8] = [
    Width { bytes: 4, opcode: "u32", elements: 1 },
    Width { bytes: 4, opcode: "f32", elements: 1 },
    Width { bytes: 1, opcode: "u8", elements: 1 },
    Width { bytes: 2, opcode: "u16", elements: 1 },
    Width { bytes: 8, opcode: "v2.u32", elements: 2 },
    Width { bytes: 16, opcode: "v4.u32", elements: 4 },
    Width { bytes: 4, opcode: "v2.u16", elements: 2 },
    Width { bytes: 4, opcode: "v4.u8", elements: 4 },
];

pub struct Writer<'a> {
    pub chance: &'a mut Chance,
    pub warps: usize,
    /// Of so many decisions one is a slip; 0 for none.
    pub slips: usize,
    /// It writes to global memory.
    writes: bool,
    text: String,
    registers: usize,
    predicates: usize,
    labels: usize,
    counters: Vec<String>,
    wides: usize,
    /// Numbers that came through shared memory and are known.
    pub known: Vec<String>,
    /// The lanes of each warp are together.
    pub together: bool,
    /// Threads along x.
    pub columns: usize,
}

impl<'a> Writer<'a> {
    pub fn new(chance: &'a mut Chance, warps: usize, slips: usize) -> Self {
        let text = String::new();
        let writes = chance.once_in(4);
        let columns = if chance.once_in(4) { [8, 16, 32][chance.below(3)] } else { warps * 32 };
        Self {
            chance,
            warps,
            slips,
            writes,
            text,
            registers: 0,
            predicates: 0,
            labels: 0,
            counters: Vec::new(),
            wides: 0,
            known: Vec::new(),
            together: true,
            columns,
        }
    }

    pub fn pick<T: Copy, const N: usize>(&mut self, from: [T; N]) -> T {
        from[self.chance.below(N)]
    }

    pub fn slip(&mut self) -> bool {
        self.slips > 0 && self.chance.once_in(self.slips)
    }

    pub fn say(&mut self, statement: &str) {
        let _ = writeln!(self.text, "\t{statement};");
    }

    pub fn put(&mut self, label: &str) {
        let _ = writeln!(self.text, "{label}:");
    }

    pub fn register(&mut self) -> String {
        self.registers += 1;
        format!("%r{}", self.registers - 1)
    }

    pub fn predicate(&mut self) -> String {
        self.predicates += 1;
        format!("%p{}", self.predicates - 1)
    }

    pub fn wide(&mut self) -> String {
        self.wides += 1;
        format!("%w{}", self.wides - 1)
    }

    pub fn label(&mut self) -> String {
        self.labels += 1;
        format!("$L{}", self.labels - 1)
    }

    /// What every kernel begins with, and an object that waits for so many.
    pub fn begin(&mut self, count: usize) {
        self.say("mov.u32 %t, %tid.x");
        if self.columns < self.warps * 32 {
            let columns = self.columns;
            self.say("mov.u32 %lane, %tid.y");
            self.say(&format!("mad.lo.s32 %t, %lane, {columns}, %t"));
        }
        for statement in [
            "ld.param.u32 %n, [n]",
            "ld.param.u64 %data, [data]",
            "mul.wide.u32 %at, %t, 4",
            "add.s64 %at, %at, %data",
            "ld.global.u32 %told, [%data+4096]",
            "ld.global.u32 %own, [%at]",
            "mov.u32 %acc, 0",
            "mov.u32 %parity, 0",
            "mov.u32 %object, object",
        ] {
            self.say(statement);
        }
        if self.chance.once_in(2) {
            self.say("and.b32 %n, %n, 3");
        }
        let warp = self.pick(["shr.u32 %warp, %t, 5", "bfe.u32 %warp, %t, 5, 5", "div.u32 %warp, %t, 32"]);
        self.say(warp);
        let lane = self.pick(["and.b32 %lane, %t, 31", "rem.u32 %lane, %t, 32", "mov.u32 %lane, %laneid"]);
        self.say(lane);
        if self.chance.once_in(3) {
            self.say("shfl.sync.idx.b32 %warp, %warp, 0, 31, -1");
        }
        self.say("mov.u32 %base0, array0");
        self.say("mov.u32 %base1, array1");
        if self.chance.once_in(8) {
            self.say("shl.b32 %r0, %n, 4");
            self.registers = self.registers.max(1);
            self.say("add.s32 %base1, %base1, %r0");
        }
        let skip = self.label();
        self.say("setp.ne.u32 %q, %t, 0");
        self.say(&format!("@%q bra {skip}"));
        self.say(&format!("mbarrier.init.shared.b64 [%object], {count}"));
        self.put(&skip);
        self.say("bar.sync 0");
    }

    /// The text of the kernel.
    pub fn end(self) -> String {
        let end = if self.writes { "\tst.global.u32 [%at], %acc;\n" } else { "" };
        let Self { warps, registers, predicates, text, wides, columns, .. } = self;
        let bytes = PART as usize * warps * 4;
        format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u32 n, .param .u64 data)\n\
             .reqntid {columns}, {}, 1\n{{\n\t.reg .pred %q, %p<{}>;\n\
             \t.reg .b32 %t, %n, %warp, %lane, %own, %told, %acc, %parity, %object, %base0, %base1, %r<{}>;\n\
             \t.reg .b64 %data, %at, %w<{}>;\n\t.shared .align 16 .b8 array0[{bytes}];\n\
             \t.shared .align 16 .b8 array1[{bytes}];\n\t.shared .align 8 .b64 object;\n{text}\
             {end}\tret;\n}}\n",
            warps * 32 / columns,
            predicates + 1,
            registers + 1,
            wides + 1,
        )
    }

    pub fn kind(&mut self) -> Width {
        if self.chance.once_in(2) { WIDTHS[0] } else { WIDTHS[self.chance.below(WIDTHS.len())] }
    }

    pub fn word(&mut self) -> Width {
        WIDTHS[0]
    }

    pub fn counter(&self) -> String {
        self.counters.last().cloned().unwrap_or_else(|| "%warp".to_owned())
    }

    pub fn open_loop(&mut self) -> String {
        let (counter, label) = (self.register(), self.label());
        self.say(&format!("mov.u32 {counter}, 0"));
        self.put(&label);
        self.counters.push(counter);
        label
    }

    pub fn close_loop(&mut self, label: &str, bound: &str) {
        let Some(counter) = self.counters.pop() else { return };
        let again = self.predicate();
        self.say(&format!("add.s32 {counter}, {counter}, 1"));
        self.say(&format!("setp.lt.u32 {again}, {counter}, {bound}"));
        self.say(&format!("@{again} bra {label}"));
    }

    /// How often a loop without barriers is gone through.
    pub fn bound(&mut self) -> String {
        self.pick(["2", "3", "%n", "%warp", "%lane", "1"]).to_owned()
    }

    /// A number that depends on the thread, as it may be computed.
    pub fn value(&mut self, depth: usize) -> String {
        if depth == 0 || self.chance.once_in(6) {
            return self.leaf();
        }
        let (a, b) = (self.value(depth - 1), self.value(depth - 1));
        let to = self.register();
        let number = self.pick([1, 2, 3, 4, 5, 7, 31, 32, 63, 96, 124]);
        let few = 1 + self.chance.below(6);
        let statement = match self.chance.below(20) {
            0..=3 => format!("add.s32 {to}, {a}, {b}"),
            4 | 5 => format!("sub.s32 {to}, {a}, {b}"),
            6 | 7 => format!("xor.b32 {to}, {a}, {number}"),
            8 => format!("and.b32 {to}, {a}, {number}"),
            9 => format!("or.b32 {to}, {a}, {b}"),
            10 | 11 => format!("shl.b32 {to}, {a}, {few}"),
            12 => format!("shr.{}32 {to}, {a}, {few}", self.pick(["u", "s", "b"])),
            13 => format!("mul.lo.s32 {to}, {a}, {number}"),
            14 => format!("mad.lo.s32 {to}, {a}, {number}, {b}"),
            15 => format!("min.{}32 {to}, {a}, {b}", self.pick(["u", "s"])),
            16 => format!("max.{}32 {to}, {a}, {number}", self.pick(["u", "s"])),
            17 => {
                let condition = self.known_condition();
                match self.chance.below(4) {
                    0 | 1 => format!("selp.b32 {to}, {a}, {b}, {condition}"),
                    2 => {
                        self.say(&format!("mov.u32 {to}, {a}"));
                        format!("@{condition} add.s32 {to}, {to}, {b}")
                    }
                    _ => self.joined(&to, [&a, &b], &condition),
                }
            }
            18 if self.chance.once_in(8) => self.summed(&to, &a, number),
            18 if self.together => self.exchanged(&to, &a),
            _ => self.rarely(&to, [&a, &b], number, few),
        };
        self.say(&statement);
        to
    }

    /// Two numbers, by a branch.
    fn joined(&mut self, to: &str, [a, b]: [&str; 2], condition: &str) -> String {
        let (other, end) = (self.label(), self.label());
        self.say(&format!("@{condition} bra {other}"));
        self.say(&format!("add.s32 {to}, {a}, 4"));
        self.say(&format!("bra.uni {end}"));
        self.put(&other);
        self.say(&format!("mov.b32 {to}, {b}"));
        self.put(&end);
        format!("add.s32 {to}, {to}, {a}")
    }

    /// A sum that a loop makes, of more rounds in some lanes.
    fn summed(&mut self, to: &str, a: &str, number: usize) -> String {
        let few = self.register();
        let bound = self.pick(["%lane", "%warp", "%t"]);
        self.say(&format!("and.b32 {few}, {bound}, 3"));
        self.say(&format!("mov.u32 {to}, {a}"));
        let label = self.open_loop();
        self.say(&format!("add.s32 {to}, {to}, {number}"));
        self.close_loop(&label, &few);
        format!("xor.b32 {to}, {to}, 4")
    }

    /// What lanes tell one another.
    fn exchanged(&mut self, to: &str, a: &str) -> String {
        let by = self.chance.below(32);
        match self.chance.below(6) {
            0 => format!("shfl.sync.idx.b32 {to}, {a}, {by}, 31, -1"),
            1 => format!("shfl.sync.up.b32 {to}, {a}, {by}, 0, -1"),
            2 => format!("shfl.sync.down.b32 {to}, {a}, {by}, 31, -1"),
            3 => format!("shfl.sync.bfly.b32 {to}, {a}, {by}, 31, -1"),
            4 => {
                let condition = self.known_condition();
                format!("vote.sync.ballot.b32 {to}, {condition}, -1")
            }
            _ => format!("redux.sync.{}.u32 {to}, {a}, -1", self.pick(["add", "min", "max"])),
        }
    }

    /// What compilers compute now and then.
    fn rarely(&mut self, to: &str, [a, b]: [&str; 2], number: usize, few: usize) -> String {
        let length = self.chance.below(6);
        let sign = self.pick(["u", "s"]);
        match self.chance.below(14) {
            0 | 1 => format!("bfe.{sign}32 {to}, {a}, {few}, {length}"),
            2 | 3 => format!("bfi.b32 {to}, {a}, {b}, {few}, {length}"),
            4 => format!("lop3.b32 {to}, {a}, {b}, {number}, {}", self.chance.below(256)),
            5 => format!("shf.{}.wrap.b32 {to}, {a}, {b}, {few}", self.pick(["l", "r"])),
            6 => format!("div.{sign}32 {to}, {a}, {number}"),
            7 => format!("rem.{sign}32 {to}, {a}, {number}"),
            8 => format!("{} {to}, {a}", self.pick(["not.b32", "neg.s32", "abs.s32"])),
            9 => format!("{} {to}, {a}", self.pick(["brev.b32", "popc.b32", "clz.b32"])),
            10 => format!("mul.hi.{sign}32 {to}, {a}, {}", 1_u64 << (20 + few)),
            11 => format!("cvt.{} {to}, {a}", self.pick(["u32.u8", "s32.s8", "u32.u16", "s32.s16"])),
            12 => format!("mul24.lo.{sign}32 {to}, {a}, {number}"),
            _ if !self.chance.once_in(4) => format!("sad.u32 {to}, {a}, {number}, {b}"),
            _ => format!("prmt.b32 {to}, {a}, {b}, {}", self.chance.below(0x1_0000)),
        }
    }

    fn leaf(&mut self) -> String {
        match self.chance.below(9) {
            0..=2 => "%t".to_owned(),
            3 | 4 => "%lane".to_owned(),
            5 => "%warp".to_owned(),
            6 => self.counter(),
            7 if !self.known.is_empty() && self.chance.once_in(2) => {
                self.known[self.chance.below(self.known.len())].clone()
            }
            _ => {
                let to = self.register();
                let number = self.chance.below(129);
                self.say(&format!("mov.u32 {to}, {number}"));
                to
            }
        }
    }

    fn known_condition(&mut self) -> String {
        let to = self.predicate();
        let by = self.pick(["eq", "ne", "lt", "gt", "le", "ge"]);
        let of = self.pick(["u32", "s32"]);
        let what = self.pick(["%t", "%lane", "%warp"]);
        let most = if what == "%t" {
            self.warps * 32
        } else if what == "%lane" {
            32
        } else {
            self.warps
        };
        let number = self.chance.below(most);
        self.say(&format!("setp.{by}.{of} {to}, {what}, {number}"));
        if self.chance.once_in(5) {
            let other = self.known_condition();
            let join = self.pick(["and.pred", "or.pred", "xor.pred"]);
            self.say(&format!("{join} {to}, {to}, {other}"));
        } else if self.chance.once_in(6) {
            self.say(&format!("not.pred {to}, {to}"));
        }
        to
    }

    /// A condition, known for each thread more often than not.
    pub fn condition(&mut self) -> String {
        if !self.chance.once_in(6) {
            return self.known_condition();
        }
        let to = self.predicate();
        let what = self.pick(["%n", "%told", "%own", "%n"]);
        let number = self.chance.below(4);
        self.say(&format!("setp.gt.u32 {to}, {what}, {number}"));
        to
    }

    /// A warp's number is this, and another condition holds.
    pub fn is_warp(&mut self, warp: usize, other: Option<&str>) -> String {
        let to = self.predicate();
        match other {
            Some(other) => self.say(&format!("setp.eq.and.u32 {to}, %warp, {warp}, {other}")),
            None => self.say(&format!("setp.eq.u32 {to}, %warp, {warp}")),
        }
        to
    }

    /// An address anywhere in an array.
    pub fn anywhere(&mut self, array: usize, bytes: u64) -> String {
        let size = PART * self.warps as u64;
        let to = self.register();
        if self.chance.once_in(5) {
            let at = self.chance.below(size as usize) as u64 / bytes * bytes;
            return format!("%base{array}+{at}");
        }
        let value = self.value(3);
        let of_one = self.slip();
        match self.chance.below(3) {
            0 => {
                let most = if of_one { size * 2 } else { size } / bytes;
                self.say(&format!("rem.u32 {to}, {value}, {most}"));
                self.say(&format!("mul.lo.s32 {to}, {to}, {bytes}"));
            }
            1 => {
                let most = size / bytes - 1;
                self.say(&format!("min.u32 {to}, {value}, {most}"));
                self.say(&format!("mul.lo.s32 {to}, {to}, {bytes}"));
            }
            _ => {
                let mask = size.next_power_of_two() / if self.warps == 3 { 2 } else { 1 } - bytes;
                self.say(&format!("and.b32 {to}, {value}, {mask}"));
            }
        }
        self.say(&format!("add.s32 {to}, {to}, %base{array}"));
        self.with_offset(&to, bytes)
    }

    fn with_offset(&mut self, register: &str, bytes: u64) -> String {
        if self.slip() {
            let by = bytes * self.pick([1, 2, 32]);
            return format!("{register}+{by}");
        }
        register.to_owned()
    }

    /// An address in the part of the warp. Parts may be counted in several ways.
    pub fn in_part(&mut self, array: usize, bytes: u64, by: usize) -> String {
        let (part, to) = (self.register(), self.register());
        let last = self.warps - 1;
        match by {
            1 => self.say(&format!("sub.s32 {part}, {last}, %warp")),
            2 => {
                self.say(&format!("add.s32 {part}, %warp, 1"));
                self.say(&format!("rem.u32 {part}, {part}, {}", self.warps));
            }
            3 if self.warps != 3 => self.say(&format!("xor.b32 {part}, %warp, 1")),
            _ => self.say(&format!("mov.u32 {part}, %warp")),
        }
        let value = if self.chance.once_in(3) {
            let scaled = self.register();
            self.say(&format!("mul.lo.s32 {scaled}, %lane, {bytes}"));
            scaled
        } else {
            self.value(3)
        };
        let mask = if self.slip() { PART * 2 - bytes } else { PART - bytes };
        self.say(&format!("and.b32 {to}, {value}, {mask}"));
        let shift = if self.slip() { 6 } else { 7 };
        match self.chance.below(4) {
            0 => self.say(&format!("mad.lo.s32 {to}, {part}, {}, {to}", 1 << shift)),
            1 => self.say(&format!("bfi.b32 {to}, {part}, {to}, {shift}, 8")),
            _ => {
                let join = self.pick(["or.b32", "add.s32"]);
                self.say(&format!("shl.b32 {part}, {part}, {shift}"));
                self.say(&format!("{join} {to}, {to}, {part}"));
            }
        }
        self.say(&format!("add.s32 {to}, {to}, %base{array}"));
        self.with_offset(&to, bytes)
    }

    /// An address, so many bytes further on.
    pub fn moved(&mut self, at: &str, by: &str) -> String {
        let to = self.register();
        let (base, offset) = at.split_once('+').unwrap_or((at, "0"));
        self.say(&format!("add.s32 {to}, {base}, {by}"));
        format!("{to}+{offset}")
    }

    /// What is stored: the same for all, or not.
    pub fn stored(&mut self) -> String {
        match self.chance.below(5) {
            0 => "%own".to_owned(),
            1 => "%acc".to_owned(),
            2 => self.counter(),
            3 => self.value(2),
            _ => self.chance.below(3).to_string(),
        }
    }

    /// A value that is the same for all, if nobody slips.
    pub fn same(&mut self, value: u64) -> String {
        if self.slip() {
            return self.stored();
        }
        let to = self.register();
        match self.chance.below(4) {
            0 if !self.writes => return "%told".to_owned(),
            1 => return "%n".to_owned(),
            _ => self.say(&format!("mov.u32 {to}, {value}")),
        }
        to
    }
}
