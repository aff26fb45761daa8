//! Barriers of the thread group.
//!
//! Source: vISA, `NBARRIER`. The barrier of the whole group, in one piece (`barrier`) or split (`sbarrier`),
//! is taken as the named barrier 0 with all threads of the group. A message to the gateway that signals a
//! named barrier is what libraries for the general form of a signal send: its payload says in the third word
//! who takes part.

use crate::kernel::code::{Action, Argument, Awaited, Function, Operation, Synchronisation, Type};
use crate::visa::operand::Operand;
use crate::visa::syntax::Statement;

use super::state::{Cell, Current, Lowerer};

/// The unit to which messages about barriers go, and the descriptor of the one that signals.
const GATEWAY: u64 = 3;
const SIGNALS: u64 = 0x200_0004;
/// The word of its payload that says which barrier, in which part, with how many others.
const PAYLOAD: Cell = Cell { from: 8, bytes: 4 };

/// What operands are called, and how many a signal has: one count for both, or a type and two.
const SIGNAL: [&[&str]; 2] =
    [&["number", "thread count"], &["number", "type", "number of producers", "number of consumers"]];

impl<'m> Lowerer<'m> {
    pub(super) fn barrier(&mut self, current: &Current<'m>) {
        let parts: Vec<&str> = current.parts.iter().map(String::as_str).collect();
        let all = u64::from(self.launch.count());
        let done = match (current.root.as_str(), parts.as_slice()) {
            ("nbarrier", ["signal"]) => self.signal(current),
            ("nbarrier", ["wait"]) => self.operands(current, "nbarrier.wait {}", &["number"]),
            // clause: barcheck.visa-barrier
            ("barrier", []) => {
                self.fixed(current, format!("nbarrier.signal 0, {all}"), Awaited::Nobody);
                // What was before it is done for everybody, as between its halves nothing stands.
                self.fixed(current, "nbarrier.wait 0".to_owned(), Awaited::Group);
                Some(())
            }
            // clause: barcheck.visa-sbarrier-signal
            ("sbarrier", ["signal"]) => {
                self.fixed(current, format!("nbarrier.signal 0, {all}"), Awaited::Nobody);
                Some(())
            }
            // clause: barcheck.visa-sbarrier-wait
            ("sbarrier", ["wait"]) => {
                self.fixed(current, "nbarrier.wait 0".to_owned(), Awaited::Nobody);
                Some(())
            }
            _ => None,
        };
        if done.is_none() {
            self.beyond(current, &format!("`{}`, as it is written here", current.statement.opcode));
        }
    }

    /// `raw_sends.3.1.0.0 (M1, 1) 0x0:ud 0x2000004:ud V40.0 V0.0 V0.0`: a message. To the gateway it is
    /// followed if it signals a named barrier; to other units it only reads and writes.
    pub(super) fn message(&mut self, current: &Current<'m>) {
        let unit = unit(current.statement, &current.root, &current.parts);
        let done = match unit {
            Some(GATEWAY) => self.signal_by_message(current),
            Some(_) => {
                self.touches(current);
                Some(())
            }
            None => None,
        };
        if done.is_none() {
            let name = current.statement.opcode;
            self.beyond(current, &format!("`{name}`, a message that may signal"));
        }
    }

    // clause: barcheck.visa-message
    fn signal_by_message(&mut self, current: &Current<'m>) -> Option<()> {
        let cell = self.payload(current.statement)?;
        let held = self.read(cell)?;
        let word = Type { bits: 32, signed: false };
        let mut operands = Vec::new();
        for (what, from, bits) in [
            ("number", 0, 5),
            ("type", 14, 2),
            ("number of producers", 16, 8),
            ("number of consumers", 24, 8),
        ] {
            let mut part = |operation, by| {
                let function = Function::Integer(operation, word);
                self.intermediate(current, function, &[held, Argument::Number(by)])
            };
            let part = match from {
                0 => part(Operation::And, (1 << bits) - 1),
                _ => {
                    let shifted = part(Operation::ShiftRight, from);
                    let function = Function::Integer(Operation::And, word);
                    self.intermediate(current, function, &[shifted, Argument::Number((1 << bits) - 1)])
                }
            };
            operands.push((part, what));
        }
        let statement = "nbarrier.signal {}, {}, {}, {}".to_owned();
        let awaited = Awaited::Nobody;
        self.emit(current, Action::Synchronise(Synchronisation { statement, operands, awaited }));
        Some(())
    }

    /// The word of the payload of a message that signals.
    pub(super) fn payload(&self, statement: &Statement<'m>) -> Option<(&'m str, Cell)> {
        let [_, descriptor, payload, ..] = statement.operands.as_slice() else { return None };
        let (name, row) = payload.split_once('.')?;
        let (base, from) = self.whole(name).filter(|_| row == "0")?;
        let cell = Cell { from: from.checked_add(PAYLOAD.from)?, ..PAYLOAD };
        (Operand::of(descriptor) == Operand::Number(SIGNALS, false)).then_some((base, cell))
    }

    fn signal(&mut self, current: &Current<'m>) -> Option<()> {
        let count = current.statement.operands.len();
        let words = SIGNAL.into_iter().find(|words| words.len() == count)?;
        let statement = if count == 2 { "nbarrier.signal {}, {}" } else { "nbarrier.signal {}, {}, {}, {}" };
        self.operands(current, statement, words)
    }

    fn operands(
        &mut self,
        current: &Current<'m>,
        statement: &str,
        words: &'static [&'static str],
    ) -> Option<()> {
        let texts = &current.statement.operands;
        if texts.len() != words.len() {
            return None;
        }
        let word = Type { bits: 32, signed: false };
        let mut operands = Vec::new();
        for (text, what) in texts.iter().zip(words) {
            let value = match Operand::of(text) {
                Operand::Number(number, _) => Argument::Number(number),
                _ => self.value(current, text, word)?,
            };
            operands.push((value, *what));
        }
        let (statement, awaited) = (statement.to_owned(), Awaited::Nobody);
        self.emit(current, Action::Synchronise(Synchronisation { statement, operands, awaited }));
        Some(())
    }

    fn fixed(&mut self, current: &Current<'m>, statement: String, awaited: Awaited) {
        let operands = Vec::new();
        self.emit(current, Action::Synchronise(Synchronisation { statement, operands, awaited }));
    }
}

/// The unit to which a message goes: `raw_sends` has it behind its name, the others in the extended
/// descriptor.
fn unit(statement: &Statement<'_>, root: &str, parts: &[String]) -> Option<u64> {
    match root {
        "raw_sends" | "raw_sendsc" if parts.len() == 4 => parts[0].parse().ok(),
        "raw_send" | "raw_sendc" => match Operand::of(statement.operands.first()?) {
            Operand::Number(extended, _) => Some(extended & 0xf),
            _ => None,
        },
        _ => None,
    }
}
