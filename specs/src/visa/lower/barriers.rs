//! Barriers of the thread group.
//!
//! Source: vISA, `NBARRIER`. The barrier of the whole group, in one piece (`barrier`) or split (`sbarrier`),
//! is taken as the named barrier 0 with all threads of the group.

use crate::kernel::code::{Action, Argument, Awaited, Synchronisation, Type};
use crate::visa::operand::Operand;

use super::state::{Current, Lowerer};

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
            ("barrier", []) => {
                self.fixed(current, format!("nbarrier.signal 0, {all}"), Awaited::Nobody);
                // What was before it is done for everybody, as between its halves nothing stands.
                self.fixed(current, "nbarrier.wait 0".to_owned(), Awaited::Group);
                Some(())
            }
            ("sbarrier", ["signal"]) => {
                self.fixed(current, format!("nbarrier.signal 0, {all}"), Awaited::Nobody);
                Some(())
            }
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
