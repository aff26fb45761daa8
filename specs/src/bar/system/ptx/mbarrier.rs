//! Instructions on mbarrier objects: how they are spelled, and what they lower to.

use barcheck_model::program::{
    Awaited, BarrierInstruction, BinaryOp, Expr, Fence, LocalId, MbarrierKind, MbarrierOp, ObjectsId, Op,
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
        /// Its scope is said to be the CTA.
        within_cta: bool,
    },
    Copy,
    Commit,
    /// An arrival when the `cp.async` of the thread are done.
    FillsArrive,
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
    relaxed: bool,
    within_cta: bool,
    drops: bool,
    no_complete: bool,
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

/// Orders and scopes of arrivals.
const ORDERS: [&str; 7] =
    ["", ".release", ".release.cta", ".release.cluster", ".relaxed", ".relaxed.cta", ".relaxed.cluster"];

/// Calls `add` with all spellings of the instructions on mbarrier objects, and whether each is an alias.
// clause: ptx.mbarrier-syntax
pub(super) fn spellings(mut add: impl FnMut(Mbarrier, String, bool)) {
    let plain = [
        (Mbarrier::Init, "mbarrier.init"),
        (Mbarrier::Inval, "mbarrier.inval"),
        (Mbarrier::FillsArrive, "cp.async.mbarrier.arrive.noinc"),
    ];
    let waits = [(Form::Wait, "wait"), (Form::TryWait, "try_wait"), (Form::TestWait, "test_wait")];
    let ordered = [
        ("mbarrier.arrive", false, false),
        ("mbarrier.arrive.expect_tx", true, false),
        ("mbarrier.arrive_drop", false, true),
        ("mbarrier.arrive_drop.expect_tx", true, true),
    ];
    for space in ["", ".shared", ".shared::cta", ".shared::cluster"] {
        for width in ["", ".b64"] {
            let is_alias = !(space.is_empty() && width.is_empty());
            for (operation, name) in plain {
                add(operation, format!("{name}{space}{width}"), is_alias);
            }
            for (form, name) in waits {
                for (parity, of) in [(true, ".parity"), (false, "")] {
                    for acquire in ["", ".acquire", ".acquire.cta", ".acquire.cluster"] {
                        let is_alias = is_alias || !acquire.is_empty();
                        let text = format!("mbarrier.{name}{of}{acquire}{space}{width}");
                        let within_cta = acquire.ends_with(".cta");
                        add(Mbarrier::Wait { form, parity, within_cta }, text, is_alias);
                    }
                }
            }
            for order in ORDERS {
                let (relaxed, within_cta) = (order.starts_with(".relaxed"), order.ends_with(".cta"));
                for (name, expects, drops) in ordered {
                    let arrival = Arrival { relaxed, within_cta, drops, no_complete: false };
                    let operation = match expects {
                        true => Mbarrier::ArriveExpectTx(arrival),
                        false => Mbarrier::Arrive(arrival),
                    };
                    let is_alias = is_alias || !["", ".relaxed"].contains(&order);
                    add(operation, format!("{name}{order}{space}{width}"), is_alias);
                }
            }
            for order in ["", ".relaxed", ".relaxed.cta", ".relaxed.cluster"] {
                let is_alias = is_alias || !order.is_empty();
                let counts = [(Mbarrier::ExpectTx, "expect_tx"), (Mbarrier::CompleteTx, "complete_tx")];
                for (operation, name) in counts {
                    add(operation, format!("mbarrier.{name}{order}{space}{width}"), is_alias);
                }
            }
        }
    }
    not_completing(&mut add);
    asynchronous(&mut add);
    add(Mbarrier::InitFence, "fence.mbarrier_init.release.cluster".to_owned(), false);
    // There is no other order or scope, so that it need not be written.
    add(Mbarrier::InitFence, "fence.mbarrier_init".to_owned(), true);
}

/// The spellings of arrivals that must not complete the phase: by their own CTA alone, and never relaxed.
// clause: ptx.mbarrier-no-complete
fn not_completing(add: &mut impl FnMut(Mbarrier, String, bool)) {
    for (name, drops) in [("mbarrier.arrive.noComplete", false), ("mbarrier.arrive_drop.noComplete", true)] {
        for order in ["", ".release", ".release.cta"] {
            for place in ["", ".b64", ".shared", ".shared.b64", ".shared::cta", ".shared::cta.b64"] {
                let within_cta = order.ends_with(".cta");
                let arrival = Arrival { relaxed: false, within_cta, drops, no_complete: true };
                let is_alias = !(order.is_empty() && place.is_empty());
                add(Mbarrier::Arrive(arrival), format!("{name}{order}{place}"), is_alias);
            }
        }
    }
}

/// The spellings of copies and commits.
fn asynchronous(add: &mut impl FnMut(Mbarrier, String, bool)) {
    let copies = ["cp.async.bulk", "cp.async.bulk.tensor", "st.async", "red.async"];
    for name in copies {
        add(Mbarrier::Copy, name.to_owned(), name != copies[0]);
    }
    for space in ["shared::cluster", "shared::cta"] {
        let text = format!("cp.async.bulk.{space}.global.mbarrier::complete_tx::bytes");
        add(Mbarrier::Copy, text, true);
    }
    let name = "cp.async.bulk.multicast::cluster";
    add(Mbarrier::CopyToAll, name.to_owned(), false);
    for before in ["tensor", "shared::cluster.global.mbarrier::complete_tx::bytes"] {
        add(Mbarrier::CopyToAll, format!("cp.async.bulk.{before}.multicast::cluster"), true);
    }
    let cancel = "clusterlaunchcontrol.try_cancel";
    let whole = format!("{cancel}.async.shared::cta.mbarrier::complete_tx::bytes");
    for (operation, to) in [(Mbarrier::Cancel, ""), (Mbarrier::CancelToAll, ".multicast::cluster::all")] {
        add(operation, format!("{cancel}{to}"), false);
        add(operation, format!("{whole}{to}.b128"), true);
    }
    for (space, is_alias) in [("", false), (".shared::cluster", true)] {
        add(Mbarrier::Commit, format!("tcgen05.commit{space}"), is_alias);
        add(Mbarrier::CommitToAll, format!("tcgen05.commit{space}.multicast::cluster"), is_alias);
    }
}

impl<'a> RoleLowerer<'_, 'a> {
    /// What an instruction on an mbarrier object lowers to; nothing where it stands for several operations.
    pub(super) fn mbarrier(
        &mut self,
        instruction: &'a Instruction,
        operation: Mbarrier,
    ) -> Option<Option<Op>> {
        let (token, operands) = self.kept(instruction, operation);
        let op = match (operation, operands) {
            (Mbarrier::Wait { form, parity, within_cta }, _) => {
                let op = self.wait(instruction, operands, (form, parity));
                if let (true, Some(Op::Barrier(BarrierInstruction::Mbarrier(op)))) = (within_cta, &op) {
                    self.context.scopes_of_waits.wait_within_cta(op.objects, instruction.span);
                }
                op
            }
            (Mbarrier::InitFence, []) => {
                self.context.fences.fence();
                Some(Op::Fence(Fence::Nothing))
            }
            (Mbarrier::Inval, [object]) => self.on_own_object(MbarrierKind::Inval, object),
            (Mbarrier::Init, [object, count]) => {
                let count = self.number(count)?;
                let op = self.on_own_object(MbarrierKind::Init(count), object);
                if let Some(Op::Barrier(BarrierInstruction::Mbarrier(op))) = &op {
                    self.context.fences.initialise(op.objects, instruction.span);
                }
                op
            }
            (Mbarrier::Commit, [object]) => self.on_object(MbarrierKind::Commit, object),
            (Mbarrier::FillsArrive, [object]) => self.fills_arrive(instruction, object),
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
            (Mbarrier::Copy, [to, bytes, object] | [to, _, bytes, object]) if has_no_source(operands, 3) => {
                let bytes = self.number(bytes);
                let kind = self.copy(to, bytes)?;
                self.on_object(kind, object)
            }
            (Mbarrier::Cancel | Mbarrier::CancelToAll, [to, object]) => {
                return self.cancel(matches!(operation, Mbarrier::CancelToAll), to, object);
            }
            (Mbarrier::CopyToAll, [to, bytes, object, mask] | [to, _, bytes, object, mask])
                if has_no_source(operands, 4) =>
            {
                let bytes = self.number(bytes);
                let kind = self.copy(to, bytes)?;
                return self.multicast(kind, object, mask).map(|()| None);
            }
            _ => self.wrong_count(instruction, takes(operation)),
        };
        op.map(Some)
    }

    /// A request to cancel a launch, which is answered to the own CTA or to all.
    // clause: ptx.try-cancel
    fn cancel(&mut self, to_all: bool, to: &'a Operand, object: &'a Operand) -> Option<Option<Op>> {
        let kind = self.copy(to, Some(Expr::Int(ANSWER_BYTES)))?;
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

    /// An arrival when the `cp.async` of the thread are done.
    fn fills_arrive(&mut self, instruction: &'a Instruction, object: &'a Operand) -> Option<Op> {
        self.context.fills.arrive(instruction.span);
        self.on_object(MbarrierKind::Commit, object)
    }

    /// A copy of bytes to a location.
    fn copy(&mut self, to: &'a Operand, bytes: Option<Expr>) -> Option<MbarrierKind> {
        if let Some(cta) = &to.cta {
            let expected = "a location alone: the CTA is that of the object".to_owned();
            self.report(&MeaningError::Operand { expected, span: cta.span, help: None });
            return None;
        }
        let to = if name_of(to) == Some("_") { None } else { Some(self.place(to)?) };
        Some(MbarrierKind::Copy { bytes: bytes?, to })
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
        (form, parity): (Form, bool),
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
            (Form::TestWait, dest) => MbarrierKind::Test { phase, gives_up: false, dest: dest.flatten() },
            (Form::TryWait, Some(dest)) => MbarrierKind::Test { phase, gives_up: true, dest },
            (Form::Wait | Form::TryWait, _) => MbarrierKind::Wait(phase),
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

/// What the operands of an instruction are.
fn takes(operation: Mbarrier) -> &'static [&'static str] {
    match operation {
        Mbarrier::InitFence => &[],
        Mbarrier::Cancel | Mbarrier::CancelToAll => &["location, object"],
        Mbarrier::Inval | Mbarrier::Commit | Mbarrier::FillsArrive => &["object"],
        Mbarrier::Init => &["object, arrivals"],
        Mbarrier::Wait { .. } => &["object, parity"],
        Mbarrier::ExpectTx | Mbarrier::CompleteTx | Mbarrier::ArriveExpectTx(_) => &["object, bytes"],
        Mbarrier::Arrive(Arrival { no_complete: true, .. }) => &["object, arrivals"],
        Mbarrier::Arrive(_) => &["object[, arrivals]"],
        Mbarrier::Copy => &["location[, _], bytes, object"],
        Mbarrier::CopyToAll => &["location[, _], bytes, object, mask"],
        Mbarrier::CommitToAll => &["object, mask"],
    }
}
