//! Lays out the operations of a role.

use barcheck_model::program::{
    Code, Construct, ConstructId, ConstructKind, Local, LocalId, LocalKind, Op, Pc, Place,
};

/// Code under construction.
#[derive(Debug, Default)]
pub(super) struct Builder {
    pub(super) code: Code,
    /// The innermost branch or loop that is open.
    open: Option<ConstructId>,
}

/// A statement's place and text, for the operations that it becomes.
#[derive(Clone, Debug, Default)]
pub(super) struct Source {
    pub(super) place: Place,
    pub(super) text: String,
}

impl Builder {
    /// The position of the next operation.
    pub(super) fn here(&self) -> Pc {
        Pc::from_index(self.code.ops.len())
    }

    /// Adds an operation that stands in the text.
    pub(super) fn emit(&mut self, op: Op, source: &Source) -> Pc {
        self.push(op, source.place, source.text.clone())
    }

    /// Adds a jump or a join, which the text does not show.
    pub(super) fn emit_silent(&mut self, op: Op, source: &Source) -> Pc {
        self.push(op, source.place, String::new())
    }

    fn push(&mut self, op: Op, place: Place, text: String) -> Pc {
        let pc = self.here();
        self.code.ops.push(op);
        self.code.places.push(place);
        self.code.texts.push(text);
        pc
    }

    /// Opens a branch or loop; [`Self::close`] sets its end.
    pub(super) fn open(&mut self, kind: ConstructKind) -> ConstructId {
        let id = ConstructId::from_index(self.code.constructs.len());
        self.code.constructs.push(Construct { kind, parent: self.open, end: Pc(0) });
        self.open = Some(id);
        id
    }

    /// Adds the end of the innermost branch or loop, which is `construct`.
    pub(super) fn close(&mut self, construct: ConstructId, source: &Source) -> Pc {
        let end = self.emit_silent(Op::End(construct), source);
        let closed = &mut self.code.constructs[construct.index()];
        closed.end = end;
        self.open = closed.parent;
        end
    }

    /// Sets where a jump, a branch or a `continue` leads.
    pub(super) fn set_target(&mut self, pc: Pc, to: Pc) {
        match &mut self.code.ops[pc.index()] {
            Op::Jump(target) | Op::Continue(_, target) | Op::Branch { otherwise: target, .. } => *target = to,
            other => debug_assert!(false, "{other:?} leads nowhere"),
        }
    }

    pub(super) fn local(&mut self, name: &str, kind: LocalKind) -> LocalId {
        let id = LocalId::from_index(self.code.locals.len());
        self.code.locals.push(Local { name: name.to_owned(), kind });
        id
    }
}
