//! What concerns the other CTAs of a cluster: its barrier, and addresses in their memory.

use crate::kernel::code::{Action, Argument, Awaited, Function, Operation, Synchronisation};
use crate::ptx::syntax::Operand;

use super::functions::LONG;
use super::state::{Current, Lowerer};

/// What the barrier of the cluster is called while it is open.
const ARRIVE: &str = "barrier.cluster.arrive";

/// What gives the parts of the index of the CTA that was taken over; the fourth says nothing.
const FIRST: [&str; 4] = [
    "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128",
    "clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128",
    "clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128",
    "clusterlaunchcontrol.query_cancel.get_first_ctaid",
];

impl<'m> Lowerer<'m> {
    /// `barrier.cluster.arrive` and `.wait`.
    pub(super) fn cluster_barrier(&mut self, current: &Current<'m>) {
        self.is_about_clusters(current);
        let statement = current.opcode.to_owned();
        let arrives = current.parts.get(2) == Some(&"arrive");
        if !(arrives || current.parts.get(2) == Some(&"wait")) || !current.operands().is_empty() {
            return self.beyond(current, &format!("`{}`, as it is written here", current.opcode));
        }
        // What stands between an arrival and its wait is behind the one and before the other: where nothing
        // does, all have come.
        let before = self.code.instructions.last().map(|instruction| &instruction.action);
        let follows = matches!(before, Some(Action::Synchronise(last))
            if last.statement.starts_with(ARRIVE) && !last.statement.contains("relaxed"));
        let awaited = if !arrives && follows { Awaited::Group } else { Awaited::Nobody };
        self.emit(current, Action::Synchronise(Synchronisation { statement, operands: Vec::new(), awaited }));
    }

    /// `mapa d, a, rank`: the same address in the memory of another CTA.
    pub(super) fn elsewhere(&mut self, current: &Current<'m>) -> Option<()> {
        let ("mapa", [Operand::Register(to, false), address, rank]) = (current.parts[0], current.operands())
        else {
            return None;
        };
        self.is_about_clusters(current);
        let to = self.register(*to);
        let address = self.argument(current, address);
        let name = self.name("mapa");
        self.code.elsewhere = Some(name);
        let rank = self.argument(current, rank);
        let more = self.intermediate(current, Function::Pure(name), &[rank]);
        self.compute(current, to, Function::Integer(Operation::Add, LONG), &[address, more]);
        Some(())
    }

    /// `clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {x, y, z, _}, answer`, of which each
    /// part is what `get_first_ctaid::x` and its like give.
    pub(super) fn answer(&mut self, current: &Current<'m>) -> Option<()> {
        let ("clusterlaunchcontrol", [Operand::Group(parts), answer]) =
            (current.parts[0], current.operands())
        else {
            return None;
        };
        let answer = self.argument(current, answer);
        for (part, to) in FIRST.iter().zip(parts) {
            if let Operand::Register(to, false) = to {
                let to = self.register(*to);
                let name = self.name(part);
                self.compute(current, to, Function::Pure(name), &[answer]);
            }
        }
        Some(())
    }

    /// Notes that the memory of another CTA is read or written by instructions that no object counts: it is
    /// not looked at whether that one has exited. An address of no named space is used by whatever may be.
    // clause: ptx.remote-lifetime
    pub(super) fn reaches_across(&mut self, current: &Current<'m>) {
        let is_address = current.parts[0] == "mapa" && !current.has("shared::cluster");
        let accesses = ["ld", "st", "red", "atom"].contains(&current.parts[0]) && !current.has("async");
        if self.launch.groups() > 1 && (is_address || accesses && current.has("shared::cluster")) {
            let what = "no CTA has exited whose memory another one reads or writes here";
            self.code.assumed.push((what.to_owned(), current.instruction.span));
        }
    }

    /// An instruction is about other CTAs of the cluster.
    pub(super) fn is_about_clusters(&mut self, current: &Current<'m>) {
        self.launch.assume_no_cluster(&mut self.code.assumed, current.instruction.span);
    }

    /// The CTAs to which a copy or a commit goes: the operand behind the object.
    pub(super) fn mask(&mut self, current: &Current<'m>, behind: &'m [Operand]) -> Option<Option<Argument>> {
        if !current.has("multicast::cluster") {
            return Some(None);
        }
        self.is_about_clusters(current);
        let is_mask = |operand: &&Operand| matches!(operand, Operand::Register(..) | Operand::Number(_));
        let mask = behind.iter().find(is_mask)?;
        Some(Some(self.argument(current, mask)))
    }
}
