//! Instructions on mbarrier objects: how they are spelled, and what they lower to.

use barcheck_model::program::{
    ArrayId, Awaited, BarrierInstruction, BinaryOp, Expr, Fence, LocalId, MbarrierKind, MbarrierOp, Means,
    ObjectsId, Op, Space,
};

use crate::bar::ast::{Instruction, Operand};
use crate::bar::lower::{RoleLowerer, name_of};
use crate::bar::meaning_error::MeaningError;

/// What an instruction on an mbarrier object does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mbarrier {
    Init,
    Inval,
    Arrive(Arrival),
    ArriveExpectTx(Arrival),
    ExpectTx,
    CompleteTx,
    Wait {
        form: Form,
        /// For the phase of a parity, and not for that of a token.
        parity: bool,
        /// It acquires nothing by itself.
        relaxed: bool,
        /// Its scope is said to be the CTA.
        within_cta: bool,
    },
    Copy,
    /// From shared memory of the own CTA.
    CopyAcross,
    /// `st.async`.
    Send,
    /// `red.async`.
    Reduce,
    Commit,
    /// An arrival when the `cp.async` of the thread are done.
    FillsArrive {
        /// The phase expects it besides.
        counted: bool,
    },
    /// To every CTA of a mask.
    CopyToAll,
    CommitToAll,
    /// A copy of the scheduler's answer, to the own CTA or to all.
    Cancel,
    CancelToAll,
    /// The fence after initialisations.
    InitFence,
}

/// How an arrival is made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) relaxed: bool,
    pub(super) within_cta: bool,
    pub(super) drops: bool,
    pub(super) no_complete: bool,
}

impl Arrival {
    /// Whether it takes so many operands behind the object.
    fn takes(self, counts: usize) -> bool {
        counts == 1 || counts == 0 && !self.no_complete
    }
}

/// The forms of waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A loop around `try_wait`.
    Wait,
    /// The same if nobody keeps the answer.
    TryWait,
    TestWait,
}

/// Bytes of the scheduler's answer.
const ANSWER_BYTES: i64 = 16;

impl<'a> RoleLowerer<'_, 'a> {
    /// What an instruction on an mbarrier object lowers to; nothing where it stands for several operations.
    pub(super) fn mbarrier(
        &mut self,
        instruction: &'a Instruction,
        operation: Mbarrier,
    ) -> Option<Option<Op>> {
        let (token, operands) = self.kept(instruction, operation);
        let op = match (operation, operands) {
            (Mbarrier::Wait { form, parity, relaxed, within_cta }, _) => {
                let op = self.wait(instruction, operands, (form, parity, relaxed));
                if let Some(objects) = op.as_ref().and_then(objects_of).filter(|_| within_cta) {
                    self.context.scopes_of_waits.wait_within_cta(objects, instruction.span);
                }
                op
            }
            (Mbarrier::InitFence, []) => {
                self.context.fences.fence();
                Some(Op::Fence(Fence::ReleasesInitialised))
            }
            (Mbarrier::Inval, [object]) => self.on_own_object(MbarrierKind::Inval, object),
            (Mbarrier::Init, [object, count]) => self.initialise(instruction, object, count),
            // clause: ptx.commit-to-peer
            (Mbarrier::Commit, [object]) => self.on_object(MbarrierKind::Commit, object),
            (Mbarrier::FillsArrive { counted }, [object]) => {
                self.on_own_object(MbarrierKind::FillsArrive { counted }, object)
            }
            (Mbarrier::CommitToAll, [object, mask]) => {
                return self.multicast(MbarrierKind::Commit, object, mask).map(|()| None);
            }
            (Mbarrier::ExpectTx, [object, bytes]) => {
                let bytes = self.number(bytes)?;
                self.on_object(MbarrierKind::ExpectTx(bytes), object)
            }
            (Mbarrier::CompleteTx, [object, bytes]) => {
                let bytes = self.number(bytes)?;
                self.on_object(MbarrierKind::CompleteTx(bytes), object)
            }
            (Mbarrier::Arrive(arrival), [object, count @ ..]) if arrival.takes(count.len()) => {
                let count = match count {
                    [count] => Some(self.number(count)?),
                    _ => None,
                };
                self.arrival(arrival, (count, None), token, object)
            }
            (Mbarrier::ArriveExpectTx(arrival), [object, bytes]) => {
                let bytes = Some(self.number(bytes)?);
                self.arrival(arrival, (None, bytes), token, object)
            }
            (
                Mbarrier::Copy | Mbarrier::Send | Mbarrier::Reduce,
                [to, bytes, object] | [to, _, bytes, object],
            ) if has_no_source(operands, 3) => {
                let bytes = self.number(bytes);
                let kind = self.copy(to, bytes, means(operation))?;
                self.on_object(kind, object)
            }
            (Mbarrier::CopyAcross, [to, from, bytes, object]) => self.copy_across((to, from), bytes, object),
            (Mbarrier::Cancel | Mbarrier::CancelToAll, [to, object]) => {
                return self.cancel(matches!(operation, Mbarrier::CancelToAll), to, object);
            }
            (Mbarrier::CopyToAll, [to, bytes, object, mask] | [to, _, bytes, object, mask])
                if has_no_source(operands, 4) =>
            {
                let bytes = self.number(bytes);
                let kind = self.copy(to, bytes, Means::Bulk)?;
                return self.multicast(kind, object, mask).map(|()| None);
            }
            _ => self.wrong_count(instruction, takes(operation)),
        };
        op.map(Some)
    }

    fn initialise(
        &mut self,
        instruction: &'a Instruction,
        object: &'a Operand,
        count: &'a Operand,
    ) -> Option<Op> {
        let count = self.number(count)?;
        let op = self.on_own_object(MbarrierKind::Init(count), object);
        if let Some(objects) = op.as_ref().and_then(objects_of) {
            self.context.fences.initialise(objects, instruction.span);
        }
        op
    }

    /// A copy from shared memory of the own CTA.
    fn copy_across(
        &mut self,
        (to, from): (&'a Operand, &'a Operand),
        bytes: &'a Operand,
        object: &'a Operand,
    ) -> Option<Op> {
        let from = self.copied_from(from);
        let bytes = self.number(bytes);
        let (array, index) = from?;
        let kind = self.copy(to, bytes, Means::Across(array, index))?;
        self.on_object(kind, object)
    }

    /// A request to cancel a launch, which is answered to the own CTA or to all.
    // clause: ptx.try-cancel
    fn cancel(&mut self, to_all: bool, to: &'a Operand, object: &'a Operand) -> Option<Option<Op>> {
        let kind = self.copy(to, Some(Expr::Int(ANSWER_BYTES)), Means::Bulk)?;
        if to_all {
            let all = (1 << self.ctas()) - 1;
            return self.for_each_cta(kind, object, Expr::Int(all)).map(|()| None);
        }
        let (objects, index, cta) = self.own_object(object)?;
        self.context.fences.use_from_afar(objects);
        Some(Some(Op::from(MbarrierOp { kind, objects, index, cta })))
    }

    /// An arrival.
    fn arrival(
        &mut self,
        arrival: Arrival,
        (count, bytes): (Option<Expr>, Option<Expr>),
        token: Option<LocalId>,
        object: &'a Operand,
    ) -> Option<Op> {
        let Arrival { relaxed, within_cta, drops, no_complete } = arrival;
        let kind = MbarrierKind::Arrive { count, bytes, drops, no_complete, relaxed, within_cta, token };
        // clause: ptx.remote-arrive, ptx.mbarrier-no-complete
        if token.is_some() || no_complete {
            self.on_own_object(kind, object)
        } else {
            self.on_object(kind, object)
        }
    }

    /// The location that a copy to another CTA reads.
    // clause: ptx.bulk-copy-across
    fn copied_from(&mut self, from: &'a Operand) -> Option<(ArrayId, Option<Expr>)> {
        if let Some(cta) = &from.cta {
            let expected = "a location of the own CTA".to_owned();
            let help = Some("it is the object whose CTA is named, `full[0] @ cta 1`".to_owned());
            self.report(&MeaningError::Operand { expected, span: cta.span, help });
            return None;
        }
        let (array, index) = self.place(from)?;
        if self.space_of(array) != Space::Shared {
            let help = "a copy from global memory is `cp.async.bulk buf[0], 4096, full[0];`";
            return self.wrong_operand(from, "a location in shared memory", Some(help));
        }
        Some((array, index))
    }

    /// A copy of bytes to a location.
    fn copy(&mut self, to: &'a Operand, bytes: Option<Expr>, by: Means) -> Option<MbarrierKind> {
        if let Some(cta) = &to.cta {
            let expected = "a location alone: the CTA is that of the object".to_owned();
            self.report(&MeaningError::Operand { expected, span: cta.span, help: None });
            return None;
        }
        let to = if name_of(to) == Some("_") { None } else { Some(self.place(to)?) };
        Some(MbarrierKind::Copy { bytes: bytes?, to, by })
    }

    /// The same operation for each CTA of a mask.
    // clause: ptx.multicast
    fn multicast(&mut self, kind: MbarrierKind, object: &'a Operand, mask: &'a Operand) -> Option<()> {
        let mask_value = self.number(mask)?;
        let ctas = i64::from(self.ctas());
        if let Expr::Int(value) = mask_value
            && !(1..1 << ctas).contains(&value)
        {
            let expected = format!("a mask of the {ctas} CTAs");
            let help =
                Some("bit k stands for the CTA of rank k, and `cluster` says how many there are".to_owned());
            self.report(&MeaningError::Operand { expected, span: mask.span, help });
            return None;
        }
        self.for_each_cta(kind, object, mask_value)
    }

    /// The same for a mask that has been evaluated.
    fn for_each_cta(&mut self, kind: MbarrierKind, object: &'a Operand, mask_value: Expr) -> Option<()> {
        let (objects, index, _) = self.own_object(object)?;
        self.context.fences.use_from_afar(objects);
        for cta in 0..i64::from(self.ctas()) {
            let bit = |value: i64| value >> cta & 1;
            let condition = match &mask_value {
                Expr::Int(value) => Expr::Int(bit(*value)),
                value => {
                    let shifted =
                        Expr::Binary(BinaryOp::Shr, Box::new(value.clone()), Box::new(Expr::Int(cta)));
                    Expr::Binary(BinaryOp::And, Box::new(shifted), Box::new(Expr::Int(1)))
                }
            };
            let (kind, index, cta) = (kind.clone(), index.clone(), Some(Expr::Int(cta)));
            self.several.push((condition, Op::from(MbarrierOp { kind, objects, index, cta })));
        }
        Some(())
    }

    /// The local that keeps what an instruction yields, and its other operands. PTX has it for the first
    /// operand, `_` if nobody keeps it.
    fn kept(
        &mut self,
        instruction: &'a Instruction,
        operation: Mbarrier,
    ) -> (Option<LocalId>, &'a [Operand]) {
        let operands = instruction.operands.as_slice();
        if let Mbarrier::Arrive(_) | Mbarrier::ArriveExpectTx(_) = operation {
            if let Some(local) = self.result.take() {
                return (Some(local), operands);
            }
            if let [first, rest @ ..] = operands
                && let Some(name) = name_of(first)
            {
                if name == "_" {
                    return (None, rest);
                }
                if self.scopes.find(name).is_some() {
                    return (self.assigned(name, first.span), rest);
                }
            }
        }
        (None, operands)
    }

    /// A wait, or the question whether a phase is complete.
    fn wait(
        &mut self,
        instruction: &'a Instruction,
        operands: &'a [Operand],
        (form, parity, relaxed): (Form, bool, bool),
    ) -> Option<Op> {
        let asks = form != Form::Wait;
        // Behind the others it may be said how long a question takes at most, which nothing depends on.
        let is_object = |operand: &Operand| name_of(operand).is_none_or(|name| self.is_global(name));
        let operands = match operands {
            [object, _, limit] | [_, object, _, limit] if form == Form::TryWait && is_object(object) => {
                self.number(limit)?;
                &operands[..operands.len() - 1]
            }
            all => all,
        };
        let (dest, rest) = match operands {
            [dest, rest @ ..] if rest.len() == 2 && asks => (Some(self.destination(dest)?), rest),
            all => (if asks { self.result.take().map(Some) } else { None }, all),
        };
        let [object, of] = rest else {
            let takes: &'static [&'static str] = match (asks, parity) {
                (false, true) => &["object, parity"],
                (false, false) => &["object, token"],
                (true, true) => &["[answer,] object, parity"],
                (true, false) => &["[answer,] object, token"],
            };
            return self.wrong_count(instruction, takes);
        };
        let phase = if parity { Awaited::Parity(self.number(of)?) } else { Awaited::Token(self.token(of)?) };
        let kind = match (form, dest) {
            (Form::TestWait, dest) => {
                MbarrierKind::Test { phase, gives_up: false, relaxed, dest: dest.flatten() }
            }
            (Form::TryWait, Some(dest)) => MbarrierKind::Test { phase, gives_up: true, relaxed, dest },
            (Form::Wait | Form::TryWait, _) => MbarrierKind::Wait { phase, relaxed },
        };
        // clause: ptx.mbarrier-local
        self.on_own_object(kind, object)
    }

    /// The local that holds a token.
    fn token(&mut self, operand: &'a Operand) -> Option<LocalId> {
        let help = "with a parity it is `mbarrier.wait.parity`; a token comes from an arrival: `let t = \
                    mbarrier.arrive full[0];`";
        let expected = "a local that holds a token";
        let Some(name) = name_of(operand) else {
            return self.wrong_operand(operand, expected, Some(help));
        };
        match self.scopes.local(name) {
            Some(local) => {
                self.read.insert(local);
                Some(local)
            }
            None => self.wrong_operand(operand, expected, Some(help)),
        }
    }

    fn on_object(&mut self, kind: MbarrierKind, operand: &'a Operand) -> Option<Op> {
        let (objects, index): (ObjectsId, Option<Expr>) = self.object(operand)?;
        let cta = self.in_cta(operand.cta.as_ref())?;
        if cta.is_some() || matches!(kind, MbarrierKind::Copy { .. } | MbarrierKind::Commit) {
            self.context.fences.use_from_afar(objects);
        }
        if cta.is_some() && self.ctas() > 1 && matches!(kind, MbarrierKind::Arrive { .. }) {
            self.context.scopes_of_waits.arrive_from_afar(objects);
        }
        Some(Op::from(MbarrierOp { kind, objects, index, cta }))
    }

    /// The same for what can be done to an object of the agent's own CTA alone.
    // clause: ptx.mbarrier-local
    fn on_own_object(&mut self, kind: MbarrierKind, operand: &'a Operand) -> Option<Op> {
        let (objects, index, cta) = self.own_object(operand)?;
        Some(Op::from(MbarrierOp { kind, objects, index, cta }))
    }

    fn own_object(&mut self, operand: &'a Operand) -> Option<(ObjectsId, Option<Expr>, Option<Expr>)> {
        let (objects, index) = self.object(operand)?;
        if let Some(cta) = &operand.cta {
            let expected = "an object of the own CTA".to_owned();
            let help = Some("plain arrivals, bytes and copies alone can go to another CTA".to_owned());
            self.report(&MeaningError::Operand { expected, span: cta.span, help });
            return None;
        }
        Some((objects, index, None))
    }
}

/// Where a copy comes from is left out, or `_`.
fn has_no_source(operands: &[Operand], without: usize) -> bool {
    operands.len() == without || operands.get(1).and_then(name_of) == Some("_")
}

/// How a copy writes that does not come from shared memory.
fn means(operation: Mbarrier) -> Means {
    match operation {
        Mbarrier::Send => Means::Store,
        Mbarrier::Reduce => Means::Reduction,
        _ => Means::Bulk,
    }
}

/// The objects of an instruction on mbarrier objects.
fn objects_of(op: &Op) -> Option<ObjectsId> {
    match op {
        Op::Barrier(BarrierInstruction::Mbarrier(op)) => Some(op.objects),
        _ => None,
    }
}

/// What the operands of an instruction are.
fn takes(operation: Mbarrier) -> &'static [&'static str] {
    match operation {
        Mbarrier::InitFence => &[],
        Mbarrier::Cancel | Mbarrier::CancelToAll => &["location, object"],
        Mbarrier::Inval | Mbarrier::Commit | Mbarrier::FillsArrive { .. } => &["object"],
        Mbarrier::Init => &["object, arrivals"],
        Mbarrier::Wait { .. } => &["object, parity"],
        Mbarrier::ExpectTx | Mbarrier::CompleteTx | Mbarrier::ArriveExpectTx(_) => &["object, bytes"],
        Mbarrier::Arrive(Arrival { no_complete: true, .. }) => &["object, arrivals"],
        Mbarrier::Arrive(_) => &["object[, arrivals]"],
        Mbarrier::Copy | Mbarrier::Send | Mbarrier::Reduce => &["location[, _], bytes, object"],
        Mbarrier::CopyAcross => &["location, location, bytes, object"],
        Mbarrier::CopyToAll => &["location[, _], bytes, object, mask"],
        Mbarrier::CommitToAll => &["object, mask"],
    }
}
