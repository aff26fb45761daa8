//! How the instructions on mbarrier objects are spelled.

use super::mbarrier::{Arrival, Form, Mbarrier};

/// Orders and scopes of arrivals.
const ORDERS: [&str; 7] =
    ["", ".release", ".release.cta", ".release.cluster", ".relaxed", ".relaxed.cta", ".relaxed.cluster"];

/// Orders and scopes of waits.
// clause: ptx.mbarrier-relaxed-wait
const WAITS: [&str; 7] =
    ["", ".acquire", ".acquire.cta", ".acquire.cluster", ".relaxed", ".relaxed.cta", ".relaxed.cluster"];

/// Calls `add` with all spellings of the instructions on mbarrier objects, and whether each is an alias.
// clause: ptx.mbarrier-syntax
pub(super) fn of_objects(mut add: impl FnMut(Mbarrier, String, bool)) {
    let plain = [(Mbarrier::Init, "mbarrier.init"), (Mbarrier::Inval, "mbarrier.inval")];
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
                    for order in WAITS {
                        let is_alias = is_alias || !["", ".relaxed"].contains(&order);
                        let text = format!("mbarrier.{name}{of}{order}{space}{width}");
                        let (relaxed, within_cta) = (order.starts_with(".relaxed"), order.ends_with(".cta"));
                        add(Mbarrier::Wait { form, parity, relaxed, within_cta }, text, is_alias);
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
    of_fills(&mut add);
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

/// The spellings of arrivals for copies by `cp.async`: on objects of the own CTA.
// clause: ptx.cp-async-arrive
fn of_fills(add: &mut impl FnMut(Mbarrier, String, bool)) {
    for (counted, inc) in [(true, ""), (false, ".noinc")] {
        for place in ["", ".b64", ".shared", ".shared.b64", ".shared::cta", ".shared::cta.b64"] {
            let text = format!("cp.async.mbarrier.arrive{inc}{place}");
            add(Mbarrier::FillsArrive { counted }, text, !place.is_empty());
        }
    }
}

/// The spellings of copies and commits.
fn asynchronous(add: &mut impl FnMut(Mbarrier, String, bool)) {
    let copies = [
        (Mbarrier::Copy, "cp.async.bulk"),
        (Mbarrier::Copy, "cp.async.bulk.tensor"),
        (Mbarrier::Send, "st.async"),
        (Mbarrier::Reduce, "red.async"),
    ];
    for (operation, name) in copies {
        add(operation, name.to_owned(), name == "cp.async.bulk.tensor");
    }
    // clause: ptx.bulk-copy-across
    for (counts, is_alias) in [("", false), (".mbarrier::complete_tx::bytes", true)] {
        let text = format!("cp.async.bulk.shared::cluster.shared::cta{counts}");
        add(Mbarrier::CopyAcross, text, is_alias);
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
