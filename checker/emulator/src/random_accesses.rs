//! Accesses and barriers of random kernels.

use super::random_fences::fence;
use super::random_values::{Width, Writer};

impl Writer<'_> {
    /// An address as it stands in brackets, perhaps in a register of 64 bits.
    fn addressed(&mut self, at: &str) -> String {
        if !self.chance.once_in(4) {
            return at.to_owned();
        }
        let (base, offset) = at.split_once('+').unwrap_or((at, "0"));
        let wide = self.wide();
        if self.chance.once_in(2) {
            self.say(&format!("cvt.u64.u32 {wide}, {base}"));
        } else {
            self.say(&format!("mul.wide.u32 {wide}, {base}, 1"));
        }
        format!("{wide}+{offset}")
    }

    pub fn load(&mut self, guard: Option<&str>, width: Width, at: &str) {
        let at = self.addressed(at);
        let guard = guard.map(|guard| format!("@{guard} ")).unwrap_or_default();
        if width.bytes == 16 && guard.is_empty() && self.together && self.chance.once_in(2) {
            let to: Vec<String> = (0..4).map(|_| self.register()).collect();
            let (count, to) = [("x4", &to[..]), ("x2", &to[..2]), ("x1", &to[..1])][self.chance.below(3)];
            let group = to.join(", ");
            return self.say(&format!("ldmatrix.sync.aligned.m8n8.{count}.shared.b16 {{{group}}}, [{at}]"));
        }
        let to: Vec<String> = (0..width.elements).map(|_| self.register()).collect();
        let group = if to.len() == 1 { to[0].clone() } else { format!("{{{}}}", to.join(", ")) };
        self.say(&format!("{guard}ld.shared.{} {group}, [{at}]", width.opcode));
        self.say(&format!("xor.b32 %acc, %acc, {}", to[0]));
    }

    pub fn store(&mut self, guard: Option<&str>, width: Width, at: &str, value: &str) {
        let at = self.addressed(at);
        let guard = guard.map(|guard| format!("@{guard} ")).unwrap_or_default();
        if width.bytes >= 4 && self.slips > 0 && self.chance.once_in(8) {
            let bytes = width.bytes;
            self.say(&format!("{guard}cp.async.ca.shared.global [{at}], [%data], {bytes}"));
            return self.wait_for_copies();
        }
        let from = vec![value.to_owned(); width.elements];
        let group = if from.len() == 1 { from[0].clone() } else { format!("{{{}}}", from.join(", ")) };
        self.say(&format!("{guard}st.shared.{} [{at}], {group}", width.opcode));
    }

    /// Some way to wait for copies; sometimes for too few, or none.
    fn wait_for_copies(&mut self) {
        match self.chance.below(6) {
            0 | 1 => self.say("cp.async.wait_all"),
            2 => {}
            way => {
                self.say("cp.async.commit_group");
                if way == 3 {
                    self.say("cp.async.commit_group");
                }
                let but = u8::from(way == 3 || way == 4 && self.chance.once_in(4));
                self.say(&format!("cp.async.wait_group {but}"));
            }
        }
    }

    pub fn atomic(&mut self, guard: Option<&str>, at: &str) {
        let guard = guard.map(|guard| format!("@{guard} ")).unwrap_or_default();
        let to = self.register();
        let statement = match self.chance.below(6) {
            0 | 1 => format!("red.shared.add.u32 [{at}], %lane"),
            2 => format!("atom.shared.max.u32 {to}, [{at}], %t"),
            3 => format!("ld.volatile.shared.u32 {to}, [{at}]"),
            4 => format!("st.volatile.shared.u32 [{at}], %t"),
            _ => format!("st.relaxed.cta.shared.u32 [{at}], %own"),
        };
        self.say(&format!("{guard}{statement}"));
    }

    /// All arrive at the object and wait for its phase.
    pub fn phase_of_object(&mut self, count: usize) {
        let label = self.label();
        let over = self.predicate();
        let is_relaxed = self.slip();
        let relaxed = if is_relaxed { ".relaxed.cta" } else { "" };
        let arrive = format!("mbarrier.arrive{relaxed}.shared.b64 _, [%object]");
        // With a fence before it, it is no slip.
        let fence = (is_relaxed && self.chance.once_in(2)).then(|| fence(self.chance));
        if count == self.warps * 32 {
            fence.iter().for_each(|fence| self.say(fence));
            self.say(&arrive);
        } else {
            self.say("bar.warp.sync -1");
            fence.iter().for_each(|fence| self.say(fence));
            let first = if count == 1 { "%t" } else { "%lane" };
            self.say(&format!("setp.eq.u32 %q, {first}, 0"));
            self.say(&format!("@%q {arrive}"));
        }
        self.put(&label);
        self.say(&format!("mbarrier.try_wait.parity.shared.b64 {over}, [%object], %parity"));
        self.say(&format!("@!{over} bra {label}"));
        self.say("xor.b32 %parity, %parity, 1");
    }
}
