//! Named barriers, fences, and the barrier of the whole group.

use crate::common::span::Span;
use crate::kernel::code::{Argument, Awaited, Type};
use crate::xegpu::kernels::{Form, allocated};
use crate::xegpu::syntax::Operation;

use super::state::{Handle, Lowerer, Value, copy};

/// What operands are called in messages.
const NUMBER: &str = "number";
const COUNT: &str = "count of participants";
const ROLE: &str = "role";

impl<'s> Lowerer<'_, 's> {
    /// What the kernel begins with: barriers of the whole group are named ones of this reader's own.
    pub(super) fn begin(&mut self, kernel: &Operation<'s>) {
        let form = self.agents.form;
        if let Form::Handles { own, whole } = form
            && whole > 0
        {
            let statement = format!("xegpu.alloc_nbarrier {}", own + i64::from(whole));
            self.synchronise(kernel.span, statement, Vec::new(), Awaited::Nobody);
        }
    }

    /// Operations on barriers; whether it was one.
    pub(super) fn barrier(&mut self, operation: &Operation<'s>) -> bool {
        let span = operation.span;
        match operation.name {
            "xegpu.alloc_nbarrier" => self.alloc(operation),
            "xegpu.init_nbarrier" | "xegpu.create_nbarrier" => self.init(operation),
            "xegpu.nbarrier_arrive" | "xegpu.nbarrier_wait" => {
                let handle = operation.values(self.source).first().map(|name| self.value(name, span));
                match handle {
                    Some(Value::Handle(handle)) => self.meet(handle, operation.name, span),
                    _ => self.beyond(span, format!("`{}` of a handle that is not known", operation.name)),
                }
            }
            "xegpu.mfence" | "xegpu.fence" => self.fence(operation),
            "gpu.barrier" => self.whole(span),
            _ => return false,
        }
        true
    }

    fn alloc(&mut self, operation: &Operation<'s>) {
        let span = operation.span;
        let Some(count) = allocated(operation, self.source) else {
            return self.beyond(span, "`xegpu.alloc_nbarrier` of an unknown number");
        };
        if let Form::Handles { whole, .. } = self.agents.form {
            let count = count.saturating_add(i64::from(whole));
            self.synchronise(span, format!("xegpu.alloc_nbarrier {count}"), Vec::new(), Awaited::Nobody);
        }
    }

    /// `xegpu.init_nbarrier %id, %count`, or `xegpu.create_nbarrier %id, %role {num_producers = …}`.
    fn init(&mut self, operation: &Operation<'s>) {
        let (source, span) = (self.source, operation.span);
        let operands = self.leaves(operation);
        let [id, second] = *operands.as_slice() else {
            return self.beyond(span, format!("`{}`, as it is written here", operation.name));
        };
        // Numbers of 8 bits have no sign here.
        let types = operation.types(source);
        let is_byte = types.contains(&"i8");
        let bits = if is_byte { 8 } else { 32 };
        let unsigned = Type { bits, signed: false };
        let id = self.intermediate(span, copy(unsigned), &[id]);
        let second = self.intermediate(span, copy(unsigned), &[second]);
        let handle = if operation.name == "xegpu.init_nbarrier" {
            Handle { id, role: Argument::Number(0), producers: second, consumers: second }
        } else {
            let count = |name: &str| {
                operation.number(source, name).map(|count| Argument::Number(count as u64 & 0xff))
            };
            let (Some(producers), Some(consumers)) = (count("num_producers"), count("num_consumers")) else {
                return self.beyond(span, "`xegpu.create_nbarrier` without its counts");
            };
            Handle { id, role: second, producers, consumers }
        };
        let number = self.handles.len();
        self.handles.push(handle);
        for (name, _) in &operation.results {
            self.define(name, Value::Handle(number));
            self.define(&format!("{name}#0"), Value::Handle(number));
        }
        match self.agents.form {
            Form::Handles { own, whole } => {
                if whole > 0 {
                    // The numbers behind are those of this reader.
                    let statement = format!("assert {{}} < {own}");
                    self.synchronise(span, statement, vec![(id, NUMBER)], Awaited::Nobody);
                }
                let statement = format!("%h{number} = xegpu.init_nbarrier {{}}, {{}}");
                let operands = vec![(id, NUMBER), (handle.consumers, COUNT)];
                self.synchronise(span, statement, operands, Awaited::Nobody);
            }
            Form::Roles { allocated, .. } => {
                let statement = format!("assert {{}} < {allocated}");
                self.synchronise(span, statement, vec![(id, NUMBER)], Awaited::Nobody);
            }
        }
    }

    fn meet(&mut self, number: usize, name: &str, span: Span) {
        let handle = self.handles[number];
        let arrives = name.ends_with("arrive");
        match self.agents.form {
            Form::Handles { .. } => {
                self.synchronise(span, format!("{name} %h{number}"), Vec::new(), Awaited::Nobody);
            }
            Form::Roles { .. } if arrives => {
                let operands = vec![
                    (handle.id, NUMBER),
                    (handle.role, ROLE),
                    (handle.producers, COUNT),
                    (handle.consumers, COUNT),
                ];
                let statement = "nbarrier.signal {}, {}, {}, {}".to_owned();
                self.synchronise(span, statement, operands, Awaited::Nobody);
            }
            Form::Roles { .. } => {
                let operands = vec![(handle.id, NUMBER)];
                self.synchronise(span, "nbarrier.wait {}".to_owned(), operands, Awaited::Nobody);
            }
        }
    }

    /// Which memory a fence is about. What it does to caches is not looked at.
    fn fence(&mut self, operation: &Operation<'s>) {
        let (source, span) = (self.source, operation.span);
        let kind = match operation.word(source, "memory_kind") {
            Some("slm" | "shared" | "local") => Some("slm"),
            Some("ugm" | "global") => Some("ugm"),
            Some(other) => return self.beyond(span, format!("a fence of the memory `{other}`")),
            None => None,
        };
        let statement = match (self.agents.form, kind) {
            (Form::Handles { .. }, Some(kind)) => format!("xegpu.mfence {{memory_kind = \"{kind}\"}}"),
            (Form::Handles { .. }, None) => "xegpu.mfence".to_owned(),
            (Form::Roles { .. }, Some(kind)) => format!("fence.{kind}"),
            (Form::Roles { .. }, None) => "fence".to_owned(),
        };
        self.synchronise(span, statement, Vec::new(), Awaited::Nobody);
    }

    /// `gpu.barrier`: all subgroups meet at this very place, or none does. Each place is a named barrier of
    /// its own, at which all have to arrive.
    fn whole(&mut self, span: Span) {
        let number = self.whole;
        self.whole += 1;
        let all = self.agents.count();
        match self.agents.form {
            Form::Handles { own, whole } if number < u64::from(whole) => {
                let id = u64::try_from(own).unwrap_or(0) + number;
                let init = format!("%g{number} = xegpu.init_nbarrier {id}, {all}");
                for statement in [
                    init,
                    format!("xegpu.nbarrier_arrive %g{number}"),
                    format!("xegpu.nbarrier_wait %g{number}"),
                ] {
                    self.synchronise(span, statement, Vec::new(), Awaited::Nobody);
                }
            }
            Form::Roles { allocated, whole } if number < u64::from(whole) => {
                let id = u64::try_from(allocated).unwrap_or(0) + number;
                for statement in [format!("nbarrier.signal {id}, {all}"), format!("nbarrier.wait {id}")] {
                    self.synchronise(span, statement, Vec::new(), Awaited::Nobody);
                }
            }
            _ => self.beyond(span, "more barriers of the whole group than there are named ones"),
        }
    }
}
