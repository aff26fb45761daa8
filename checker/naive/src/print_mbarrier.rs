//! Instructions on mbarrier objects as `.bar` text.

use super::print::{Printer, shown};
use super::protocol::*;

impl Printer<'_> {
    pub fn mbarrier(&self, on: &Mbarrier) -> String {
        let object = self.place(&self.protocol.objects[on.objects].name, on.index.as_ref());
        let object = format!("{object}{}", self.at(on.cta.as_ref()));
        let located = |(array, index): &Place| self.place(&self.protocol.arrays[*array].name, index.as_ref());
        let place = |to: &Option<Place>| match to {
            Some(to) => located(to),
            None => "_".into(),
        };
        let gains = gains(on.gains);
        match &on.act {
            Act::Init(n) => format!("mbarrier.init {object}, {}", self.e(n)),
            Act::Inval => format!("mbarrier.inval {object}"),
            Act::Arrive { count, bytes, drops, no_complete, relaxed, scope } => {
                let drop = if *drops { "_drop" } else { "" };
                let expect = if bytes.is_some() { ".expect_tx" } else { "" };
                let stays = if *no_complete { ".noComplete" } else { "" };
                let order = match (relaxed, scope) {
                    (true, None) => ".relaxed",
                    (true, Some(Reach::Cta)) => ".relaxed.cta",
                    (true, Some(Reach::Cluster)) => ".relaxed.cluster",
                    (false, None) => "",
                    (false, Some(Reach::Cta)) => ".release.cta",
                    (false, Some(Reach::Cluster)) => ".release.cluster",
                };
                let number = count.as_ref().or(bytes.as_ref());
                let number = number.map(|n| format!(", {}", self.e(n))).unwrap_or_default();
                format!("mbarrier.arrive{drop}{expect}{stays}{order} {object}{number}")
            }
            Act::ExpectTx(n) => format!("mbarrier.expect_tx {object}, {}", self.e(n)),
            Act::CompleteTx(n) => format!("mbarrier.complete_tx {object}, {}", self.e(n)),
            Act::Wait(parity) => format!("mbarrier.wait.parity{gains} {object}, {}", self.e(parity)),
            Act::Copy(bytes, to) => {
                format!("cp.async.bulk {}, {}, {object}", place(to), self.e(bytes))
            }
            Act::Multicast(bytes, to, mask) => {
                let bytes = self.e(bytes);
                format!("cp.async.bulk.multicast::cluster {}, {bytes}, {object}, {mask}", place(to))
            }
            Act::Cancel { to, everywhere } => {
                let all = if *everywhere { ".multicast::cluster::all" } else { "" };
                format!("clusterlaunchcontrol.try_cancel{all} {}, {object}", located(to))
            }
            Act::CommitAll(mask) => format!("tcgen05.commit.multicast::cluster {object}, {mask}"),
            Act::WaitToken(token) => format!("mbarrier.wait{gains} {object}, {}", shown(token)),
            Act::AskUntil(_, of) => self.ask("try_wait", gains, &object, of),
            Act::Ask { may_miss, of } => {
                self.ask(if *may_miss { "try_wait" } else { "test_wait" }, gains, &object, of)
            }
            Act::Send(sent, bytes, to) => {
                let word = match sent {
                    Sent::Value => "st.async",
                    Sent::Reduction => "red.async",
                };
                format!("{word} {}, {}, {object}", located(to), self.e(bytes))
            }
            Act::Between { bytes, to, from, spelled } => {
                let how = if *spelled { ".mbarrier::complete_tx::bytes" } else { "" };
                let (to, from, bytes) = (located(to), located(from), self.e(bytes));
                format!("cp.async.bulk.shared::cluster.shared::cta{how} {to}, {from}, {bytes}, {object}")
            }
            Act::FillArrive { counted, spelled } => {
                let counted = if *counted { ".noinc" } else { "" };
                match spelled {
                    true => format!("cp.async.mbarrier.arrive{counted}.shared::cta.b64 [{object}]"),
                    false => format!("cp.async.mbarrier.arrive{counted} {object}"),
                }
            }
            Act::Commit => format!("tcgen05.commit {object}"),
        }
    }

    fn ask(&self, word: &str, gains: &str, object: &str, of: &Phase) -> String {
        match of {
            Phase::Parity(parity) => format!("mbarrier.{word}.parity{gains} {object}, {}", self.e(parity)),
            Phase::Token(token) => format!("mbarrier.{word}{gains} {object}, {}", shown(token)),
        }
    }

    /// A loop that asks until the answer is yes; its local has a name that nothing else has.
    pub fn ask_until(&mut self, id: StmtId, on: &Mbarrier, asking: Asking) {
        let ask = self.mbarrier(on);
        let lines: &[String] = &match asking {
            Asking::While => vec![format!("while !{ask} {{}}")],
            Asking::If => vec![format!("loop {{ if {ask} {{ break; }} }}")],
            Asking::Kept => vec![format!("loop {{ let over{id} = {ask}; if over{id} {{ break; }} }}")],
            Asking::Flag => {
                vec![format!("let over{id} = 0;"), format!("while !over{id} {{ over{id} = {ask}; }}")]
            }
        };
        lines.iter().for_each(|line| self.line(line));
    }
}

fn gains(gains: Gains) -> &'static str {
    match gains {
        Gains::All => "",
        Gains::AtFence(None) => ".relaxed",
        Gains::AtFence(Some(Reach::Cta)) => ".relaxed.cta",
        Gains::AtFence(Some(Reach::Cluster)) => ".relaxed.cluster",
    }
}
