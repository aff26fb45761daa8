//! How many bytes a copy of a tensor completes: PTX does not say so, since a map that the host has made does.
//!
//! Copies behind an announcement on the same object are taken to complete what is announced, in equal parts.
//! Where some of them are on one of two ways alone, the others are taken to complete it: the phase may then
//! come to its end before those have landed, and whatever happens with them happens without them too. Where
//! an announcement does not say how many bytes, it is as many as its copies complete. A copy to several
//! groups of a cluster completes bytes in each of them: what is announced in one is completed by the copies
//! of all. Where none of this can be said the kernel is not followed.
//!
//! Compilers guard each instruction for itself: `if leader && k < n { announce }`, a barrier, `if k < n &&
//! leader { copy }`. A copy goes with what was announced in an `if` before it where the same conditions are
//! asked, in whatever order. Several warps may copy for what one of them announces: see [`leaders`]. Which
//! bytes are whose is an assumption in either case. It hides nothing: the conditions are asked anew in the
//! protocol, and where the announcement is made and a copy is not, or the other way around, the phase does
//! not come to its end there.

use std::collections::{BTreeMap, BTreeSet};

use super::document::Role;
use super::landings::landings;
use super::leaders::{self, Gate};
use super::mentions::{all_assigned, words_of};
use super::structure::Stop;
use super::tree::{Assumption, Statement, Statements, ends};
use crate::common::span::Span;

/// An announcement, and the copies since.
#[derive(Clone, Debug)]
struct Open {
    object: String,
    span: Span,
    /// Its number, if it does not say how many bytes.
    number: Option<usize>,
    /// Bytes that no copy of known length has completed.
    left: i64,
    /// Copies of unknown length on one path, and all of them by their numbers.
    count: i64,
    /// Each with its place, and how many land for it.
    sites: BTreeMap<usize, (Span, i64)>,
    /// Those of them that are on one of two ways alone.
    aside: BTreeSet<usize>,
    /// Those of which there are others on the other of two ways, or which are repeated.
    apart: BTreeSet<usize>,
    /// What was asked before it, that has not been asked again.
    gate: Gate,
    /// It was announced in an `if` that its copies are behind.
    is_guarded: bool,
}

/// Copies before what is announced for them.
#[derive(Clone, Debug)]
struct Ahead {
    object: String,
    /// How many land on one path.
    count: i64,
    /// All of them, as of an announcement.
    sites: BTreeMap<usize, (Span, i64)>,
    /// Those of which there are others on the other of two ways.
    apart: BTreeSet<usize>,
}

/// Bytes of a copy, where nobody says how many.
const SHARE: i64 = 16;

#[derive(Default)]
struct Measurer {
    /// How many copies come to a group of the cluster while each of them executes one: by the place of the
    /// copy; `None` if that is not the same for all.
    landings: BTreeMap<Span, Option<i64>>,
    /// How many copies of other warps come for each that comes of this one, likewise.
    beside: BTreeMap<Span, Option<i64>>,
    /// Copies whose announcement is in the program of another group: number and place.
    elsewhere: Vec<(usize, Span)>,
    /// Copies since which nothing was announced on their objects, which may follow.
    ahead: Vec<Ahead>,
    /// The bytes of copies by their place.
    by_place: BTreeMap<Span, i64>,
    /// Copies of unknown length so far.
    next: usize,
    found: BTreeMap<usize, i64>,
    /// The same of announcements that do not say how many bytes.
    next_announced: usize,
    announced: BTreeMap<usize, i64>,
    assumes: BTreeSet<Assumption>,
}

/// Gives every copy its bytes; what is assumed with that is added to `assumes`.
pub(super) fn measure(
    programs: &mut [Statements],
    roles: &[Role],
    assumes: &mut BTreeSet<Assumption>,
) -> Result<(), Stop> {
    let mut measurers = Vec::new();
    let landings = landings(programs, roles);
    let beside = leaders::beside(programs, roles);
    for (statements, (landings, beside)) in programs.iter().zip(landings.into_iter().zip(beside)) {
        let mut measurer = Measurer { landings, beside, ..Measurer::default() };
        let mut open = Vec::new();
        measurer.list(statements, &mut open)?;
        for one in open {
            measurer.close(&one)?;
        }
        assumes.extend(&measurer.assumes);
        measurers.push(measurer);
    }
    for (program, statements) in programs.iter_mut().enumerate() {
        // What the same warps do in other groups: their copies have been counted together.
        let with = |role: &&Role| role.parts.iter().any(|part| part.program == program);
        let siblings: BTreeSet<usize> =
            roles.iter().filter(with).flat_map(|role| &role.parts).map(|part| part.program).collect();
        for (site, span) in std::mem::take(&mut measurers[program].elsewhere) {
            let mut bytes = siblings.iter().filter_map(|other| measurers[*other].by_place.get(&span));
            let mut of_others = measurers.iter().filter_map(|other| other.by_place.get(&span));
            let bytes = bytes.next().or_else(|| of_others.next()).copied().ok_or_else(|| not_known(span))?;
            measurers[program].found.insert(site, bytes);
        }
        fill(statements, &mut (0, 0), &measurers[program]);
    }
    Ok(())
}

fn fill(statements: &mut Statements, next: &mut (usize, usize), found: &Measurer) {
    statements.retain_mut(|statement| {
        match statement {
            Statement::Copy { bytes: bytes @ None, .. } => {
                *bytes = found.found.get(&next.0).copied();
                next.0 += 1;
                return *bytes != Some(0);
            }
            Statement::Announce { bytes: bytes @ None, .. } => {
                *bytes = found.announced.get(&next.1).copied();
                next.1 += 1;
            }
            Statement::If { then, otherwise, .. } => {
                fill(then, next, found);
                fill(otherwise, next, found);
            }
            Statement::Loop { body, .. } | Statement::For { body, .. } => fill(body, next, found),
            _ => {}
        }
        true
    });
}

fn not_known(span: Span) -> Stop {
    let what = "how many bytes this copy completes is not known".to_owned();
    Stop { what, span, help: None }
}

impl Measurer {
    fn list(&mut self, statements: &[Statement], open: &mut Vec<Open>) -> Result<(), Stop> {
        // What is ahead of an announcement is on the same way.
        let left = self.arm(statements, open)?;
        self.without_announcement(left);
        Ok(())
    }

    /// The same; the copies since which nothing was announced.
    fn arm(&mut self, statements: &[Statement], open: &mut Vec<Open>) -> Result<Vec<Ahead>, Stop> {
        let before = std::mem::take(&mut self.ahead);
        self.each(statements, open)?;
        Ok(std::mem::replace(&mut self.ahead, before))
    }

    fn each(&mut self, statements: &[Statement], open: &mut Vec<Open>) -> Result<(), Stop> {
        for statement in statements {
            match statement {
                Statement::Announce { object, bytes, span, .. } => {
                    self.close_some(open, |one| one.object == *object)?;
                    let number = bytes.is_none().then_some(self.next_announced);
                    self.next_announced += usize::from(bytes.is_none());
                    let (object, left) = (object.clone(), bytes.unwrap_or_default());
                    let aside = BTreeSet::new();
                    let (own, others): (Vec<Ahead>, _) =
                        std::mem::take(&mut self.ahead).into_iter().partition(|copy| copy.object == object);
                    self.ahead = others;
                    let count = own.iter().map(|copy| copy.count).sum();
                    let apart = own.iter().flat_map(|copy| &copy.apart).copied().collect();
                    let sites = own.into_iter().flat_map(|copy| copy.sites).collect();
                    let (gate, is_guarded) = (Gate::default(), false);
                    let span = *span;
                    open.push(Open {
                        object,
                        span,
                        number,
                        left,
                        count,
                        sites,
                        aside,
                        apart,
                        gate,
                        is_guarded,
                    });
                }
                Statement::Copy { object, bytes, span, .. } => self.copy(object, *bytes, *span, open)?,
                Statement::Set { local, .. } => {
                    self.close_some(open, |one| words_of(&one.object).contains(local))?;
                    self.give_up(|copy| words_of(&copy.object).contains(local));
                }
                Statement::If { condition, then, otherwise, span } => {
                    self.branch(leaders::gate(condition), (then, otherwise), *span, open)?;
                }
                Statement::For { from, to, variable, body, .. } => {
                    let mut changed = all_assigned(body);
                    changed.insert(variable.clone());
                    self.repeated(body, &changed, Some(to - from), open)?;
                }
                Statement::Loop { body, .. } => self.repeated(body, &all_assigned(body), None, open)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn copy(&mut self, object: &str, bytes: Option<i64>, span: Span, open: &mut [Open]) -> Result<(), Stop> {
        let own = self.landings.get(&span).copied().unwrap_or(Some(1));
        let beside = self.beside.get(&span).copied().unwrap_or(Some(0));
        let landings = own.zip(beside).map(|(own, beside)| own + beside);
        match (open.iter_mut().find(|one| one.object == object), bytes) {
            (Some(one), Some(bytes)) => one.left -= bytes * landings.ok_or_else(|| not_known(span))?,
            // What is announced need not have been.
            (Some(one), None) if !one.gate.is_empty() => {
                one.aside.insert(self.next);
                one.sites.insert(self.next, (span, landings.unwrap_or_default()));
            }
            (Some(one), None) => {
                one.count += landings.ok_or_else(|| not_known(span))?;
                one.sites.insert(self.next, (span, landings.unwrap_or_default()));
            }
            (None, Some(_)) => {}
            (None, None) => {
                let (object, site) = (object.to_owned(), self.next);
                match landings {
                    Some(count) => {
                        let (sites, apart) = (BTreeMap::from([(site, (span, count))]), BTreeSet::new());
                        self.ahead.push(Ahead { object, count, sites, apart });
                    }
                    None => self.elsewhere.push((site, span)),
                }
            }
        }
        self.next += usize::from(bytes.is_none());
        Ok(())
    }

    /// Nothing follows that is announced for some copies.
    fn give_up(&mut self, which: impl Fn(&Ahead) -> bool) {
        let (given_up, others): (Vec<Ahead>, _) =
            std::mem::take(&mut self.ahead).into_iter().partition(|copy| which(copy));
        self.ahead = others;
        self.without_announcement(given_up);
    }

    fn without_announcement(&mut self, copies: Vec<Ahead>) {
        let sites = copies.into_iter().flat_map(|copy| copy.sites);
        self.elsewhere.extend(sites.map(|(site, (span, _))| (site, span)));
    }

    /// What is ahead of an announcement on either of two ways: as many copies on the one as on the other.
    fn join(&mut self, one: Vec<Ahead>, other: Vec<Ahead>) {
        let objects: BTreeSet<String> = one.iter().chain(&other).map(|copy| copy.object.clone()).collect();
        for object in objects {
            let of = |all: &[Ahead]| -> Vec<Ahead> {
                all.iter().filter(|copy| copy.object == object).cloned().collect()
            };
            let (one, other) = (of(&one), of(&other));
            let count = |all: &[Ahead]| all.iter().map(|copy| copy.count).sum::<i64>();
            let (count, is_same) = (count(&one), count(&one) == count(&other));
            let all = || one.iter().chain(&other).cloned();
            if !is_same {
                self.without_announcement(all().collect());
                continue;
            }
            let sites: BTreeMap<usize, (Span, i64)> = all().flat_map(|copy| copy.sites).collect();
            let apart = sites.keys().copied().collect();
            self.ahead.push(Ahead { object, count, sites, apart });
        }
    }

    fn branch(
        &mut self,
        gate: Option<Gate>,
        (then, otherwise): (&[Statement], &[Statement]),
        span: Span,
        open: &mut Vec<Open>,
    ) -> Result<(), Stop> {
        let (mut arms, mut ahead, mut carried) = (Vec::new(), Vec::new(), Vec::new());
        for (is_then, arm) in [(true, then), (false, otherwise)] {
            let asked = gate.as_ref().filter(|_| is_then);
            let mut inside = open.clone();
            inside.iter_mut().for_each(|one| one.gate = leaders::left(&one.gate, asked));
            let left = self.arm(arm, &mut inside)?;
            // What is announced in an arm is completed in it, unless nothing there is a copy for it.
            let own: Vec<Open> =
                inside.iter().filter(|one| !open.iter().any(|o| o.span == one.span)).cloned().collect();
            for mut one in own {
                if let Some(asked) =
                    asked.filter(|_| one.sites.is_empty() && !ends(arm) && otherwise.is_empty())
                {
                    one.gate.extend(asked.iter().cloned());
                    one.is_guarded = true;
                    carried.push(one);
                } else {
                    self.close(&one)?;
                }
            }
            if !ends(arm) {
                arms.push(inside);
                ahead.push(left);
                continue;
            }
            self.without_announcement(left);
            if inside.iter().any(|one| open.iter().any(|o| o.span == one.span && o.count != one.count)) {
                return Err(not_known(span));
            }
        }
        match <[Vec<Ahead>; 2]>::try_from(ahead) {
            Ok([one, other]) => self.join(one, other),
            Err(ahead) => self.ahead.extend(ahead.into_iter().flatten()),
        }
        Self::meet(open, &arms, (gate.as_ref(), otherwise), span)?;
        // An arm may have changed what an object's index is.
        let changed: BTreeSet<String> = [then, otherwise].into_iter().flat_map(all_assigned).collect();
        for one in carried {
            self.close_some(open, |before| before.object == one.object)?;
            open.push(one);
        }
        self.give_up(|copy| !words_of(&copy.object).is_disjoint(&changed));
        self.close_some(open, |one| !words_of(&one.object).is_disjoint(&changed))
    }

    /// What is open behind two ways, or the one that goes on, as it is at their ends.
    fn meet(
        open: &mut [Open],
        arms: &[Vec<Open>],
        (gate, otherwise): (Option<&Gate>, &[Statement]),
        span: Span,
    ) -> Result<(), Stop> {
        for one in open {
            let mut after = arms.iter().map(|arm| arm.iter().find(|other| other.span == one.span));
            let Some(Some(first)) = after.next() else { continue };
            let second = after.next().flatten().unwrap_or(first);
            let sites: BTreeMap<usize, (Span, i64)> =
                first.sites.iter().chain(&second.sites).map(|(site, of)| (*site, *of)).collect();
            one.aside.extend(first.aside.iter().chain(&second.aside));
            // Where it was not announced none of them comes.
            let goes_along = otherwise.is_empty()
                && !one.gate.is_empty()
                && gate.is_some_and(|gate| gate.is_subset(&one.gate));
            if !goes_along {
                one.apart.extend(sites.keys().filter(|site| !one.sites.contains_key(site)));
            }
            if first.left != second.left && !goes_along {
                return Err(not_known(span));
            }
            if first.count == second.count || goes_along {
                one.count = first.count;
            } else {
                one.aside.extend(sites.keys().filter(|site| !one.sites.contains_key(site)));
            }
            one.left = first.left;
            one.sites.extend(sites);
        }
        Ok(())
    }

    fn repeated(
        &mut self,
        body: &[Statement],
        changed: &BTreeSet<String>,
        times: Option<i64>,
        open: &mut Vec<Open>,
    ) -> Result<(), Stop> {
        let is_fixed = |one: &Open| {
            times.is_some() && !changed.iter().any(|local| words_of(&one.object).contains(local))
        };
        let mut inside: Vec<Open> = open.iter().filter(|one| is_fixed(one)).cloned().collect();
        self.list(body, &mut inside)?;
        for one in &inside {
            match open.iter_mut().find(|other| other.span == one.span) {
                Some(outer) => {
                    let times = times.unwrap_or(0);
                    outer.count += (one.count - outer.count) * times;
                    outer.left += (one.left - outer.left) * times;
                    outer.apart.extend(one.sites.keys().filter(|site| !outer.sites.contains_key(site)));
                    outer.sites.extend(one.sites.clone());
                    outer.aside.extend(&one.aside);
                }
                None => self.close(one)?,
            }
        }
        let is_assigned = |one: &Open| !words_of(&one.object).is_disjoint(changed);
        self.give_up(|copy| !words_of(&copy.object).is_disjoint(changed));
        self.close_some(open, is_assigned)
    }

    fn close_some(&mut self, open: &mut Vec<Open>, which: impl Fn(&Open) -> bool) -> Result<(), Stop> {
        for one in open.iter().filter(|one| which(one)) {
            self.close(one)?;
        }
        open.retain(|one| !which(one));
        Ok(())
    }

    /// Shares out what is announced.
    fn close(&mut self, open: &Open) -> Result<(), Stop> {
        let left = match open.number {
            // Copies of known length complete what is less than nothing.
            Some(number) => {
                let bytes = SHARE * open.count - open.left;
                if bytes < 1 {
                    let what = "the number of bytes of this barrier is not known".to_owned();
                    let help = Some("give the parameters that it is computed from by --param");
                    return Err(Stop { what, span: open.span, help });
                }
                self.announced.insert(number, bytes);
                SHARE * open.count
            }
            None => open.left,
        };
        if open.count == 0 {
            return if open.aside.is_empty() { Ok(()) } else { Err(not_known(open.span)) };
        }
        // Of two ways one goes wrong there, whatever each copy completes.
        if open.is_guarded && !open.aside.is_empty() {
            return Err(not_known(open.span));
        }
        let (share, rest) = (left / open.count, left % open.count);
        let plain = || open.sites.iter().filter(|(site, _)| !open.aside.contains(site));
        // What is left when it is shared out is one copy's, as often as that lands: of one that is on every
        // way, once.
        let is_last = |(site, (_, landings)): &(&usize, &(Span, i64))| {
            !open.apart.contains(site) && *landings > 0 && rest % landings == 0
        };
        let last = plain().rfind(is_last);
        if share < 1 || rest != 0 && last.is_none() {
            return Err(not_known(open.span));
        }
        self.assumes.insert(Assumption::Bytes(open.span));
        for site in &open.aside {
            if *self.found.entry(*site).or_insert(0) != 0 {
                return Err(not_known(open.span));
            }
        }
        for (site, (span, landings)) in plain() {
            let is_last = last.is_some_and(|(last, _)| last == site);
            let bytes = share + if is_last && rest != 0 { rest / landings } else { 0 };
            // A copy behind several announcements completes as much for each of them.
            if *self.found.entry(*site).or_insert(bytes) != bytes {
                return Err(not_known(open.span));
            }
            self.by_place.entry(*span).or_insert(bytes);
        }
        Ok(())
    }
}
