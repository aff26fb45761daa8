//! Copies that their lane waits for and their groups, as the lanes of a warp execute them.
//!
//! Groups belong to the lane that began their copies. Nobody else sees them: they are part of the agent's
//! configuration. How old a group is matters only up to the largest number for which the code waits, and of
//! copies out of, or into, one location only the youngest of each lane.

use super::Context;
use super::config::Config;
use super::eval::{Eval, FaultKind, each_lane};
use super::operands;
use super::stores::{OpenStore, ProxyAction, Transferred};
use crate::program::{ArrayId, Code, Expr, Locations, Op, Pc, ProxyOp, Transfer};

/// What a fragment that stands at such an instruction could do.
pub(super) fn action(
    op: &ProxyOp,
    eval: &Eval<'_>,
    config: &Config,
    lanes: u32,
) -> Result<ProxyAction, FaultKind> {
    Ok(match op {
        ProxyOp::Begin(transfer, array, index) => {
            ProxyAction::Begin(*transfer, transferred(eval, *array, index.as_ref())?)
        }
        ProxyOp::Commit(transfer) => ProxyAction::Commit(*transfer),
        ProxyOp::Wait(transfer, newest) => {
            let (transfer, newest) = (*transfer, *newest);
            let mut closed = Locations::new();
            for store in config.stores.iter().filter(|store| store.is_covered(transfer, newest)) {
                let is_open = |other: &OpenStore| {
                    let is_covered = other.is_covered(transfer, newest);
                    let left = if is_covered { other.lanes & !lanes } else { other.lanes };
                    (other.transfer, other.location) == (transfer, store.location) && left != 0
                };
                if !closed.contains(&store.location) && !config.stores.iter().any(is_open) {
                    closed.push(store.location);
                }
            }
            ProxyAction::Wait(transfer, newest, closed)
        }
        ProxyOp::Fence(window) => ProxyAction::Fence(*window),
    })
}

fn transferred(eval: &Eval<'_>, array: ArrayId, index: Option<&Expr>) -> Result<Transferred, FaultKind> {
    let mut from = Transferred::new();
    for lane in each_lane(eval.lanes) {
        let index = index.map(|index| eval.number(index, lane)).transpose()?;
        let location = operands::location(eval.context.program, (array, eval.context.cta()), index)?;
        match from.iter_mut().find(|(known, _)| *known == location) {
            Some((_, lanes)) => *lanes |= 1 << lane,
            None => from.push((location, 1 << lane)),
        }
    }
    from.sort_unstable();
    Ok(from)
}

/// What becomes of the copies of an agent some of whose lanes execute such an instruction.
// clause: ptx.bulk-groups, ptx.cp-async-groups
pub(super) fn perform(context: Context<'_>, config: &mut Config, (pc, lanes): (Pc, u32), of: &ProxyAction) {
    let stores = &mut config.stores;
    match of {
        ProxyAction::Begin(transfer, all) => {
            let transfer = *transfer;
            for (location, lanes) in all.iter().copied() {
                // Whoever waits for this copy waits for the older ones of its lane too.
                let of_it = stores.iter_mut().filter(|s| (s.transfer, s.location) == (transfer, location));
                of_it.for_each(|store| store.lanes &= !lanes);
                stores.push(OpenStore { transfer, location, age: 0, pc, toward: None, lanes });
            }
            stores.retain(|store| store.lanes != 0);
        }
        ProxyAction::Commit(transfer) => {
            let oldest = oldest(context.code, *transfer);
            let older = |store: OpenStore| match store.transfer == *transfer {
                true => (store.age + 1).min(oldest),
                false => store.age,
            };
            split(stores, lanes, &|store| OpenStore { age: older(store), ..store });
        }
        ProxyAction::Wait(transfer, newest, _) => {
            let is_closed = |store: OpenStore| store.is_covered(*transfer, *newest);
            let closed = |store: OpenStore| if is_closed(store) { 0 } else { store.lanes };
            split(stores, lanes, &|store| OpenStore { lanes: closed(store), ..store });
        }
        ProxyAction::Fence(_) => return,
    }
    united(stores);
}

/// The locations whose `cp.async` are complete once an arrival for them that these lanes make on an object
/// has landed: all lanes that have copies there have arrived on it since.
// clause: ptx.cp-async-arrive
pub(crate) fn entrusted(config: &Config, lanes: u32, object: u32) -> Locations {
    let fills = || config.stores.iter().filter(|store| store.transfer == Transfer::Fill);
    let mut found = Locations::new();
    for fill in fills().filter(|fill| fill.lanes & lanes != 0) {
        let at = |other: &&OpenStore| other.location == fill.location;
        let is_left = |other: &OpenStore| other.lanes & !lanes != 0 && other.toward != Some(object);
        if !found.contains(&fill.location) && !fills().filter(at).any(is_left) {
            found.push(fill.location);
        }
    }
    found
}

/// An arrival of some lanes on an object stands for their `cp.async`.
pub(super) fn entrust(config: &mut Config, lanes: u32, object: u32) {
    let toward =
        |store: OpenStore| if store.transfer == Transfer::Fill { Some(object) } else { store.toward };
    split(&mut config.stores, lanes, &|store| OpenStore { toward: toward(store), ..store });
    united(&mut config.stores);
}

/// The age from which on a group is covered by every wait of the code.
fn oldest(code: &Code, transfer: Transfer) -> u32 {
    let waits = code.ops.iter().filter_map(|op| match op {
        Op::Proxy(ProxyOp::Wait(of, newest)) if *of == transfer => {
            Some(newest.unwrap_or(0).saturating_add(1))
        }
        _ => None,
    });
    waits.max().unwrap_or(1)
}

/// Changes what belongs to some lanes.
fn split(stores: &mut Vec<OpenStore>, lanes: u32, change: &dyn Fn(OpenStore) -> OpenStore) {
    let others = stores.iter().map(|store| OpenStore { lanes: store.lanes & !lanes, ..*store });
    let changed = stores.iter().map(|store| change(OpenStore { lanes: store.lanes & lanes, ..*store }));
    *stores = others.chain(changed).filter(|store| store.lanes != 0).collect();
}

/// Lanes that did the same are named together, so that equal configurations are equal in form.
fn united(stores: &mut Vec<OpenStore>) {
    stores.sort_unstable();
    stores.dedup_by(|later, earlier| {
        let alike = OpenStore { lanes: earlier.lanes, ..*later } == *earlier;
        if alike {
            earlier.lanes |= later.lanes;
        }
        alike
    });
}
