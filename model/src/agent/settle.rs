//! Local computation: everything invisible, up to the next thing that concerns other agents.
//!
//! Here warps diverge and join: a fragment whose lanes disagree about a condition separates, and the
//! parts wait for one another at the end of the branch or loop.

use super::Context;
use super::config::{Config, Fragment, Iterations, Join, SplitLanes, union};
use super::eval::{Eval, Fault, FaultKind, LaneValues, Numbers, Value, each_lane, fits};
use super::operands;
use super::systems;
use super::trail::{Trail, counted};
use crate::program::{Condition, ConstructId, Expr, LocalId, Op, Pc, Scope};

/// Local computation that is followed before looking for a cycle in it, in operations.
const BEFORE_CYCLE_SEARCH: u64 = 4096;
/// Local computation that is followed at most between two steps, in operations.
const MOST_OPERATIONS: u64 = 10_000_000;
/// What local computation costs between two questions whether to go on, in operations of the simplest kind.
const BETWEEN_QUESTIONS: usize = 4096;

/// Runs local computation until every fragment stands at something visible, waits, or spins.
pub(super) fn settle(context: Context<'_>, config: &mut Config) {
    let mut operations = 0..MOST_OPERATIONS;
    let mut remembered: Option<Config> = None;
    let mut cost = 0;
    while config.fault.is_none() {
        let Some(index) = config.fragments.iter().position(|f| runnable(context, f)) else {
            break;
        };
        let at = config.fragments[index].pc;
        cost += cost_of(context, &config.fragments[index]);
        let is_over = cost >= BETWEEN_QUESTIONS && context.patience.is_over();
        cost %= BETWEEN_QUESTIONS;
        let Some(done) = operations.next().filter(|_| !is_over) else {
            let changing = remembered.and_then(|then| changed_local(&then, config));
            config.fault = Some(Fault { at, kind: FaultKind::Endless(changing) });
            break;
        };
        if done >= BEFORE_CYCLE_SEARCH {
            // Brent's cycle search: local computation is deterministic, so what comes back comes back
            // for ever. Iteration counts do not steer it, and mean nothing to an agent that never arrives
            // again.
            let again = |then: &Config| then.fragments == config.fragments && then.splits == config.splits;
            if remembered.as_ref().is_some_and(again) {
                config.fragments[index].spins = true;
                config.iterations = Iterations::default();
                remembered = None;
                continue;
            }
            if done.is_power_of_two() {
                remembered = Some(config.clone());
            }
        }
        if let Some(trail) = context.trail {
            note(trail, context, &config.fragments[index]);
        }
        if let Err(kind) = execute(context, config, index) {
            config.fault = Some(Fault { at, kind });
        }
    }
    if let Some(trail) = context.trail {
        // Those that wait for others have not come to what follows yet.
        let standing = config.fragments.iter().filter(|fragment| fragment.join.is_none());
        standing.for_each(|fragment| trail.reach(fragment.pc));
    }
    forget(context, config);
    config.fragments.sort_by_key(|f| f.lanes.trailing_zeros());
    config.splits.sort_unstable();
}

/// Notes that a fragment executes its next operation, and how far it counts.
fn note(trail: &Trail, context: Context<'_>, fragment: &Fragment) {
    let counted = counted(&context.code.ops[fragment.pc.index()]);
    let greatest = counted.and_then(|(local, end)| {
        let values = each_lane(fragment.lanes).map(|lane| fragment.locals[local].get(lane));
        let below = values.filter_map(|value| match value {
            Value::Int(value) if *value < end => Some(*value),
            _ => None,
        });
        below.max()
    });
    trail.execute(fragment.pc, greatest);
}

/// What a fragment's next operation costs, about, against the simplest.
fn cost_of(context: Context<'_>, fragment: &Fragment) -> usize {
    match &context.code.ops[fragment.pc.index()] {
        // All locals are gone through, and those that nobody will read are forgotten.
        Op::Back(..) => 1 + fragment.locals.len(),
        Op::Jump(_) | Op::Enter(_) | Op::Break(_) | Op::Continue(..) | Op::End(_) => 1,
        // It may be that each lane evaluates by itself.
        _ => 8,
    }
}

/// A local that differs between two configurations of the same agent.
fn changed_local(then: &Config, now: &Config) -> Option<LocalId> {
    let (a, b) = (then.fragments.first()?, now.fragments.first()?);
    a.locals.iter().zip(&b.locals).position(|(a, b)| a != b).map(LocalId::from_index)
}

/// The fragment stands at an invisible operation, or has to separate before a visible one.
fn runnable(context: Context<'_>, fragment: &Fragment) -> bool {
    if fragment.join.is_some() || fragment.parked.is_some() || fragment.spins {
        return false;
    }
    match &context.code.ops[fragment.pc.index()] {
        Op::Set(..)
        | Op::Branch { condition: Condition::Value(_), .. }
        | Op::Test { condition: Condition::Value(_), .. }
        | Op::Jump(_)
        | Op::Enter(_)
        | Op::Back(..)
        | Op::Break(_)
        | Op::Continue(..)
        | Op::End(_) => true,
        Op::Access(..) => is_unwatched(context, fragment),
        Op::Branch { condition: Condition::Private | Condition::Uniform(_), .. }
        | Op::Test { condition: Condition::Private | Condition::Uniform(_), .. }
        | Op::Exit
        | Op::Assert(_)
        | Op::Fence(_)
        | Op::Proxy(_) => false,
        // A decision, or an instruction on barriers.
        _ => systems::groups(context, fragment).len() > 1,
    }
}

/// The fragment stands at an access to locations that nobody follows. One that cannot be evaluated is seen.
fn is_unwatched(context: Context<'_>, fragment: &Fragment) -> bool {
    let Some(watched) = context.watched else { return false };
    let Op::Access(_, array, index, cta) = &context.code.ops[fragment.pc.index()] else { return false };
    let eval = Eval { context, locals: &fragment.locals, lanes: fragment.lanes };
    let locations = operands::locations(&eval, *array, index.as_ref(), cta.as_ref());
    locations.is_ok_and(|locations| locations.iter().all(|at| watched.binary_search(at).is_err()))
}

fn execute(context: Context<'_>, config: &mut Config, index: usize) -> Result<(), FaultKind> {
    let fragment = &mut config.fragments[index];
    let next = Pc(fragment.pc.0 + 1);
    match &context.code.ops[fragment.pc.index()] {
        Op::Set(local, value) => {
            let assigned = assigned(context, fragment, *local, value)?;
            fragment.locals[local.index()] = assigned;
            fragment.pc = next;
        }
        Op::Branch { construct, condition: Condition::Value(condition), otherwise } => {
            let end = Join::End(*construct);
            separate(context, config, index, condition, end, next, *otherwise)?;
        }
        Op::Test { construct, condition: Condition::Value(condition) } => {
            let end = context.code.constructs[construct.index()].end;
            separate(context, config, index, condition, Join::End(*construct), next, end)?;
        }
        Op::Jump(to) => fragment.pc = *to,
        Op::Enter(construct) => {
            fragment.pc = next;
            count(context, config, *construct, |n| *n = 0);
        }
        Op::Back(construct, head) => {
            fragment.pc = *head;
            count(context, config, *construct, |n| *n += 1);
            forget(context, config);
        }
        Op::Break(construct) => {
            let index = leave(context, config, index, *construct);
            config.fragments[index].pc = context.code.constructs[construct.index()].end;
        }
        Op::Continue(construct, to) => {
            let index = leave(context, config, index, *construct);
            config.fragments[index].pc = *to;
        }
        Op::End(construct) => {
            count(context, config, *construct, |n| *n = 0);
            arrive_at_join(config, index, Join::End(*construct), next);
        }
        Op::Access(..) => fragment.pc = next,
        // Lanes that differ in their operands execute the instruction apart, and join right after it.
        _ => {
            let pc = fragment.pc;
            let lanes = fragment.lanes;
            let groups = systems::groups(context, fragment);
            let whole = config.fragments.remove(index);
            config.fragments.extend(groups.into_iter().map(|lanes| part(&whole, lanes, pc)));
            config.splits.push(SplitLanes { at: Join::After(pc), lanes });
        }
    }
    Ok(())
}

/// What an assignment makes of a local, in all lanes.
fn assigned(
    context: Context<'_>,
    fragment: &Fragment,
    to: LocalId,
    value: &Expr,
) -> Result<LaneValues, FaultKind> {
    let eval = Eval { context, locals: &fragment.locals, lanes: fragment.lanes };
    let kind = context.code.locals[to.index()].kind;
    let kept = |n: i64| Value::Int(context.facts.kept(to, n));
    Ok(match eval.numbers(value)? {
        Numbers::Same(n) => LaneValues::Same(kept(fits(kind, n)?)),
        numbers => {
            for lane in each_lane(fragment.lanes) {
                fits(kind, numbers.get(lane))?;
            }
            LaneValues::collect(fragment.lanes, |lane| kept(numbers.get(lane)))
        }
    })
}

/// A part of a fragment: some of its lanes, elsewhere.
fn part(whole: &Fragment, lanes: u32, pc: Pc) -> Fragment {
    let locals = whole.locals.iter().map(|values| restrict(values, lanes)).collect();
    Fragment { lanes, pc, locals, join: None, parked: None, spins: false }
}

fn restrict(values: &LaneValues, lanes: u32) -> LaneValues {
    match values {
        LaneValues::Same(_) => values.clone(),
        LaneValues::Each(each) => LaneValues::collect(lanes, |lane| each[lane as usize].clone()),
    }
}

/// Evaluates a condition: lanes for which it holds go to `yes`, the others to `no`. If they disagree,
/// they separate until the construct's end.
// clause: barcheck.fragments
fn separate(
    context: Context<'_>,
    config: &mut Config,
    index: usize,
    condition: &Expr,
    end: Join,
    yes: Pc,
    no: Pc,
) -> Result<(), FaultKind> {
    let fragment = &mut config.fragments[index];
    let eval = Eval { context, locals: &fragment.locals, lanes: fragment.lanes };
    let numbers = eval.numbers(condition)?;
    let holds = match numbers {
        Numbers::Same(n) => u32::from(n != 0) * fragment.lanes,
        _ => each_lane(fragment.lanes).filter(|l| numbers.get(*l) != 0).map(|l| 1_u32 << l).sum(),
    };
    if holds == fragment.lanes {
        fragment.pc = yes;
    } else if holds == 0 {
        fragment.pc = no;
    } else {
        let whole = config.fragments.remove(index);
        if find_split(config, end, whole.lanes).is_none() {
            config.splits.push(SplitLanes { at: end, lanes: whole.lanes });
        }
        config.fragments.push(part(&whole, holds, yes));
        config.fragments.push(part(&whole, whole.lanes & !holds, no));
    }
    Ok(())
}

/// The split at `at` to which `lanes` belong.
fn find_split(config: &Config, at: Join, lanes: u32) -> Option<usize> {
    config.splits.iter().position(|s| s.at == at && s.lanes & lanes == lanes)
}

/// A fragment comes to a join: it waits for the lanes from which it has separated, or goes on at once.
pub(super) fn arrive_at_join(config: &mut Config, index: usize, at: Join, next: Pc) {
    let fragment = &mut config.fragments[index];
    fragment.pc = next;
    let lanes = fragment.lanes;
    if config.splits.iter().any(|s| s.at == at && s.lanes & lanes == lanes) {
        fragment.join = Some(at);
        join_complete(config);
    }
}

/// Merges the fragments of every split whose lanes have all come to its join.
pub(super) fn join_complete(config: &mut Config) {
    loop {
        config.splits.retain(|s| s.lanes != 0);
        let complete = config.splits.iter().position(|split| {
            let there =
                config.fragments.iter().filter(|f| f.join == Some(split.at) && f.lanes & split.lanes != 0);
            union(there) == split.lanes
        });
        let Some(position) = complete else { return };
        let split = config.splits.swap_remove(position);
        let (parts, others) = std::mem::take(&mut config.fragments)
            .into_iter()
            .partition(|f| f.join == Some(split.at) && f.lanes & split.lanes != 0);
        config.fragments = others;
        config.fragments.extend(merge(parts));
    }
}

fn merge(parts: Vec<Fragment>) -> Option<Fragment> {
    let pc = parts.first()?.pc;
    let lanes = union(&parts);
    let locals = (0..parts[0].locals.len())
        .map(|local| {
            LaneValues::collect(lanes, |lane| {
                let holder = parts.iter().find(|f| f.lanes >> lane & 1 == 1);
                holder.map_or(Value::Unset, |f| f.locals[local].get(lane).clone())
            })
        })
        .collect();
    Some(Fragment { lanes, pc, locals, join: None, parked: None, spins: false })
}

/// A fragment leaves everything inside `construct` by `break` or `continue`: it is not awaited there
/// any more, but at the end of `construct` it and those that it leaves behind wait for one another. Returns
/// its position, which joining may have changed.
fn leave(context: Context<'_>, config: &mut Config, index: usize, construct: ConstructId) -> usize {
    let lanes = config.fragments[index].lanes;
    let is_inside = |at: Join| match at {
        Join::End(c) => c != construct && context.code.around(Some(c)).any(|around| around == construct),
        Join::After(_) => false,
    };
    let left_behind = config
        .splits
        .iter()
        .filter(|s| is_inside(s.at) && s.lanes & lanes == lanes)
        .map(|s| s.lanes)
        .max_by_key(|lanes| lanes.count_ones());
    let end = Join::End(construct);
    if let Some(together) = left_behind
        && find_split(config, end, lanes).is_none()
    {
        config.splits.push(SplitLanes { at: end, lanes: together });
    }
    for split in config.splits.iter_mut().filter(|s| is_inside(s.at)) {
        split.lanes &= !lanes;
    }
    join_complete(config);
    // The one that leaves has no join, so it has not been merged into another.
    config.fragments.iter().position(|f| f.lanes == lanes).unwrap_or(index)
}

/// Removes a fragment whose lanes exit: nobody waits for them any more.
// clause: ptx.warp-arrival
pub(super) fn exit_lanes(config: &mut Config, index: usize) {
    let fragment = config.fragments.remove(index);
    for split in &mut config.splits {
        split.lanes &= !fragment.lanes;
    }
    join_complete(config);
}

/// Changes the iteration count of a loop that split barriers count.
// clause: barcheck.same-instance
fn count(context: Context<'_>, config: &mut Config, construct: ConstructId, change: impl Fn(&mut u32)) {
    let loops = context.code.constructs.len();
    for scope in [Scope::Workgroup, Scope::Subgroup] {
        if context.facts.is_counted(construct, scope) {
            config.iterations.change(scope, |counts| {
                counts.resize(loops, 0);
                change(&mut counts[construct.index()]);
            });
        }
    }
}

/// Forgets what does not matter any more, so that equal futures have equal configurations.
fn forget(context: Context<'_>, config: &mut Config) {
    for fragment in &mut config.fragments {
        for (local, values) in fragment.locals.iter_mut().enumerate() {
            if !context.facts.is_live(fragment.pc, LocalId::from_index(local)) {
                *values = LaneValues::Same(Value::Unset);
            }
        }
    }
    if config.fragments.is_empty() {
        config.iterations = Iterations::default();
        config.registers = None;
    }
    // A loop in its first iteration is as one that was never entered.
    for counts in [&mut config.iterations.workgroup, &mut config.iterations.subgroup] {
        counts.truncate(counts.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1));
    }
    // A split that one fragment fills has nobody else to wait for.
    let fragments = &config.fragments;
    config.splits.retain(|s| !fragments.iter().any(|f| f.lanes & s.lanes == s.lanes && f.join != Some(s.at)));
}
