//! How many bytes a copy of a tensor completes: PTX does not say so, since a map that the host has made
//! does.
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

use super::elsewhere::Elsewhere;
use super::landings::Together;
use super::leaders::{self, Gate};
use super::mentions::{all_assigned, words_of};
use super::shares::{Copies, Lengths, Open, Site, Source};
use super::steps::waits_at_object;
use super::structure::{Help, Stop};
use super::tree::{Assumption, Statement, ends};
use crate::common::span::Span;

/// Copies before what is announced for them.
#[derive(Clone, Debug)]
struct Ahead {
    object: String,
    copies: Copies,
}

/// Bytes of a copy, where nobody says how many.
const SHARE: i64 = 16;

#[derive(Default)]
pub(super) struct Measurer<'m> {
    /// The tensor map of each copy, by its place, as far as that is known to be the same always.
    maps: Option<&'m BTreeMap<Span, u32>>,
    /// Announcements with all of their copies.
    pub(super) closed: Vec<Open>,
    /// What comes together at an object while each group of the cluster executes a copy or an announcement.
    together: Together,
    /// How many copies of other warps come for each that comes of this one, likewise.
    beside: BTreeMap<Span, Option<i64>>,
    /// Copies whose announcement is in another program.
    pub(super) elsewhere: Vec<Elsewhere>,
    /// Copies since which nothing was announced on their objects, which may follow.
    ahead: Vec<Ahead>,
    /// Places of copies of which no other length would do.
    pub(super) certain: BTreeSet<Span>,
    /// The bytes of copies by their place.
    pub(super) by_place: BTreeMap<Span, i64>,
    /// Copies of unknown length so far.
    next: usize,
    pub(super) found: BTreeMap<usize, i64>,
    /// The same of announcements that do not say how many bytes.
    next_announced: usize,
    pub(super) announced: BTreeMap<usize, i64>,
    pub(super) assumes: BTreeSet<Assumption>,
    /// Variables that hold the answers to questions, and these.
    told: leaders::Told,
}

pub(super) fn not_known(span: Span) -> Stop {
    let what = "how many bytes this copy completes is not known".to_owned();
    Stop { what, span, help: None }
}

impl<'m> Measurer<'m> {
    /// For a program, given what comes together at objects, and besides, while it copies.
    pub(super) fn new(
        maps: &'m BTreeMap<Span, u32>,
        together: Together,
        beside: BTreeMap<Span, Option<i64>>,
    ) -> Self {
        Self { maps: Some(maps), together, beside, ..Self::default() }
    }
}

impl Measurer<'_> {
    pub(super) fn list(&mut self, statements: &[Statement], open: &mut Vec<Open>) -> Result<(), Stop> {
        // What is ahead of an announcement is on the same way.
        let left = self.arm(statements, open)?;
        self.without_announcement(&left);
        Ok(())
    }

    /// The same; the copies since which nothing was announced.
    fn arm(&mut self, statements: &[Statement], open: &mut Vec<Open>) -> Result<Vec<Ahead>, Stop> {
        let before = std::mem::take(&mut self.ahead);
        self.each(statements, open)?;
        Ok(std::mem::replace(&mut self.ahead, before))
    }

    fn each(&mut self, statements: &[Statement], open: &mut Vec<Open>) -> Result<(), Stop> {
        // Announcements that stand behind their copies. What is copied after a wait is for the next.
        let mut behind = BTreeSet::new();
        for statement in statements {
            match statement {
                Statement::Barrier { text, .. } if waits_at_object(text) => {
                    self.close_some(open, |one| behind.contains(&one.span));
                }
                Statement::Announce { object, bytes, span, .. } => {
                    self.close_some(open, |one| one.object == *object);
                    let number = bytes.is_none().then_some(self.next_announced);
                    self.next_announced += usize::from(bytes.is_none());
                    let (own, others): (Vec<Ahead>, _) =
                        std::mem::take(&mut self.ahead).into_iter().partition(|one| one.object == *object);
                    self.ahead = others;
                    let announcements = self.together.announcements.get(span).copied();
                    let announcements = announcements.unwrap_or(Some(1));
                    let left = announcements.map(|all| bytes.unwrap_or_default().saturating_mul(all));
                    let mut copies = Copies::default();
                    behind.extend((!own.is_empty()).then_some(*span));
                    own.into_iter().for_each(|one| copies.extend(one.copies));
                    open.push(Open {
                        object: object.clone(),
                        span: *span,
                        number,
                        announcements: announcements.unwrap_or(1),
                        left,
                        copies,
                        aside: BTreeSet::new(),
                        gate: Gate::default(),
                        is_guarded: false,
                    });
                }
                Statement::Copy { object, bytes, span, .. } => self.copy(object, *bytes, *span, open)?,
                Statement::Set { local, .. } => {
                    self.close_some(open, |one| words_of(&one.object).contains(local));
                    self.give_up(|copy| words_of(&copy.object).contains(local));
                }
                Statement::If { condition, then, otherwise, span } => {
                    self.told.extend(leaders::answered(condition, [then, otherwise]));
                    self.branch(leaders::gate(condition, &self.told), (then, otherwise), *span, open)?;
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
        let own = self.together.landings.get(&span).copied().unwrap_or(Some(1));
        let beside = self.beside.get(&span).copied().unwrap_or(Some(0));
        let landings = own.zip(beside).map(|(own, beside)| own + beside);
        match (open.iter_mut().find(|one| one.object == object), bytes) {
            (Some(one), Some(bytes)) => {
                let completed = landings.map(|landings| bytes.saturating_mul(landings));
                one.left = one.left.zip(completed).map(|(left, completed)| left.saturating_sub(completed));
            }
            // What is announced need not have been.
            (Some(one), None) if !one.gate.is_empty() => {
                one.aside.insert(self.next);
                one.copies.sites.insert(self.next, self.site(span, landings.unwrap_or_default()));
            }
            (Some(one), None) => {
                let site = self.site(span, landings.ok_or_else(|| not_known(span))?);
                one.copies.add(self.next, site);
            }
            (None, Some(_)) => {}
            (None, None) => match landings {
                Some(landings) => {
                    let mut copies = Copies::default();
                    copies.add(self.next, self.site(span, landings));
                    self.ahead.push(Ahead { object: object.to_owned(), copies });
                }
                None => {
                    let (number, object) = (self.next, object.to_owned());
                    let source = self.site(span, 0).source;
                    self.elsewhere.push(Elsewhere { number, span, object, alike: 0, source });
                }
            },
        }
        self.next += usize::from(bytes.is_none());
        Ok(())
    }

    /// The next copy.
    fn site(&self, span: Span, landings: i64) -> Site {
        let map = self.maps.and_then(|maps| maps.get(&span));
        let source = map.map_or(Source::Itself(self.next), |map| Source::Map(*map));
        Site { span, landings, source }
    }

    /// Nothing follows that is announced for some copies.
    fn give_up(&mut self, which: impl Fn(&Ahead) -> bool) {
        let (given_up, others): (Vec<Ahead>, _) =
            std::mem::take(&mut self.ahead).into_iter().partition(|copy| which(copy));
        self.ahead = others;
        self.without_announcement(&given_up);
    }

    fn without_announcement(&mut self, copies: &[Ahead]) {
        for one in copies {
            let all = copies.iter().filter(|other| other.object == one.object);
            let alike = all.map(|other| other.copies.total()).sum();
            let of = |(number, site): (&usize, &Site)| Elsewhere {
                number: *number,
                span: site.span,
                object: one.object.clone(),
                alike,
                source: site.source,
            };
            self.elsewhere.extend(one.copies.sites.iter().map(of));
        }
    }

    /// What is ahead of an announcement on either of two ways: as many copies on the one as on the other.
    fn join(&mut self, one: Vec<Ahead>, other: Vec<Ahead>) {
        let objects: BTreeSet<String> = one.iter().chain(&other).map(|copy| copy.object.clone()).collect();
        for object in objects {
            let of = |all: &[Ahead]| {
                let mut copies = Copies::default();
                let own = all.iter().filter(|copy| copy.object == object);
                own.for_each(|copy| copies.extend(copy.copies.clone()));
                copies
            };
            let (mut one, other) = (of(&one), of(&other));
            if one.total() != other.total() {
                let both = [one, other].map(|copies| Ahead { object: object.clone(), copies });
                self.without_announcement(&both);
                continue;
            }
            one.is_mixed |= other.is_mixed || one.counts != other.counts;
            one.sites.extend(other.sites);
            one.apart = one.sites.keys().copied().collect();
            self.ahead.push(Ahead { object, copies: one });
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
                    asked.filter(|_| one.copies.sites.is_empty() && !ends(arm) && otherwise.is_empty())
                {
                    one.gate.extend(asked.iter().cloned());
                    one.is_guarded = true;
                    carried.push(one);
                } else {
                    self.closed.push(one);
                }
            }
            if !ends(arm) {
                arms.push(inside);
                ahead.push(left);
                continue;
            }
            self.without_announcement(&left);
            let is_changed = |one: &Open, o: &Open| o.copies.total() != one.copies.total();
            if inside.iter().any(|one| open.iter().any(|o| o.span == one.span && is_changed(one, o))) {
                return Err(not_known(span));
            }
        }
        match <[Vec<Ahead>; 2]>::try_from(ahead) {
            Ok([one, other]) => self.join(one, other),
            Err(ahead) => self.ahead.extend(ahead.into_iter().flatten()),
        }
        Self::meet(open, &arms, (gate.as_ref(), otherwise));
        // An arm may have changed what an object's index is.
        let changed: BTreeSet<String> = [then, otherwise].into_iter().flat_map(all_assigned).collect();
        for one in carried {
            self.close_some(open, |before| before.object == one.object);
            open.push(one);
        }
        self.give_up(|copy| !words_of(&copy.object).is_disjoint(&changed));
        self.close_some(open, |one| !words_of(&one.object).is_disjoint(&changed));
        Ok(())
    }

    /// What is open behind two ways, or the one that goes on, as it is at their ends.
    fn meet(open: &mut [Open], arms: &[Vec<Open>], (gate, otherwise): (Option<&Gate>, &[Statement])) {
        for one in open {
            let mut after = arms.iter().map(|arm| arm.iter().find(|other| other.span == one.span));
            let Some(Some(first)) = after.next() else { continue };
            let second = after.next().flatten().unwrap_or(first);
            let sites: BTreeMap<usize, Site> = first
                .copies
                .sites
                .iter()
                .chain(&second.copies.sites)
                .map(|(site, of)| (*site, *of))
                .collect();
            one.aside.extend(first.aside.iter().chain(&second.aside));
            // Where it was not announced none of them comes.
            let goes_along = otherwise.is_empty()
                && !one.gate.is_empty()
                && gate.is_some_and(|gate| gate.is_subset(&one.gate));
            let is_new = |number: &&usize| !one.copies.sites.contains_key(number);
            let new: Vec<usize> = sites.keys().filter(is_new).copied().collect();
            if first.copies.total() == second.copies.total() || goes_along {
                one.copies.is_mixed |= !goes_along && first.copies.counts != second.copies.counts;
                one.copies.counts = first.copies.counts.clone();
            } else {
                one.aside.extend(&new);
            }
            if !goes_along {
                one.copies.apart.extend(new);
            }
            one.copies.is_mixed |= first.copies.is_mixed || second.copies.is_mixed;
            one.left = first.left.filter(|_| first.left == second.left || goes_along);
            one.copies.sites.extend(sites);
        }
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
                    outer.left = one.left.zip(outer.left).map(|(one, outer)| {
                        let round = one.saturating_sub(outer);
                        outer.saturating_add(round.saturating_mul(times))
                    });
                    outer.copies.repeat(&one.copies, times);
                    outer.aside.extend(&one.aside);
                }
                None => self.closed.push(one.clone()),
            }
        }
        let is_assigned = |one: &Open| !words_of(&one.object).is_disjoint(changed);
        self.give_up(|copy| !words_of(&copy.object).is_disjoint(changed));
        self.close_some(open, is_assigned);
        Ok(())
    }

    fn close_some(&mut self, open: &mut Vec<Open>, which: impl Fn(&Open) -> bool) {
        self.closed.extend(open.extract_if(.., |one| which(one)));
    }

    /// What each copy of unknown length completes, and what is left of it, given the bytes that are shared,
    /// those that the other copies complete, and how many share.
    fn share(&mut self, open: &Open, (left, said, unsaid): (i64, i64, i64)) -> (i64, i64) {
        let (share, rest) = if unsaid == 0 { (0, left) } else { (left / unsaid, left % unsaid) };
        // Nothing is left for these, though they complete bytes.
        let is_too_little = unsaid != 0 && said > 0 && share < 1;
        let (share, rest) = if is_too_little { (SHARE, 0) } else { (share, rest) };
        self.assumes.insert(if is_too_little || unsaid == 0 && rest != 0 {
            let completed = said.saturating_add(share.saturating_mul(unsaid));
            let (span, each) = (open.span, open.announcements);
            let announced = open.left.unwrap_or_default() / each;
            Assumption::Otherwise { span, announced, completed: completed / each }
        } else {
            Assumption::Bytes(open.span)
        });
        (share, rest)
    }

    /// Announces what copies of unknown length complete, and those of known length, whose bytes are less
    /// than nothing of what is left.
    fn announce(&mut self, open: &Open, (number, left): (usize, i64), completed: i64) -> Result<(), Stop> {
        let all = completed.saturating_sub(left);
        let bytes = all / open.announcements;
        if bytes < 1 || all % open.announcements != 0 {
            let what = "the number of bytes of this barrier is not known".to_owned();
            let help = Some(Help::Words("give the parameters that it is computed from by --param"));
            return Err(Stop { what, span: open.span, help });
        }
        self.announced.insert(number, bytes);
        self.assumes.insert(Assumption::Announced(open.span));
        Ok(())
    }

    /// Shares out what is announced, but for what copies of their maps complete wherever they are.
    pub(super) fn close(&mut self, open: &Open, lengths: &Lengths) -> Result<(), Stop> {
        let copies = &open.copies;
        let Some(left) = open.left else {
            // Where all copies say how many bytes they complete, nothing is shared out.
            let is_said = open.number.is_none() && copies.total() == 0 && open.aside.is_empty();
            return if is_said { Ok(()) } else { Err(not_known(open.span)) };
        };
        let of = |source: &Source| lengths.of(*source);
        let said =
            copies.counts.iter().filter_map(|(source, count)| Some(of(source)?.saturating_mul(*count)));
        let said = said.fold(0, i64::saturating_add);
        let unsaid = copies.counts.iter().filter(|(source, _)| of(source).is_none());
        let unsaid = unsaid.fold(0_i64, |all, (_, count)| all.saturating_add(*count));
        let left = match open.number {
            Some(number) => {
                let shared = SHARE.saturating_mul(unsaid);
                self.announce(open, (number, left), shared.saturating_add(said))?;
                shared
            }
            None => left.saturating_sub(said),
        };
        if copies.total() == 0 {
            return if open.aside.is_empty() { Ok(()) } else { Err(not_known(open.span)) };
        }
        // Of two ways one goes wrong there, whatever each copy completes.
        if open.is_guarded && !open.aside.is_empty() {
            return Err(not_known(open.span));
        }
        for number in &open.aside {
            if *self.found.entry(*number).or_insert(0) != 0 {
                return Err(not_known(open.span));
            }
            self.assumes.extend(copies.sites.get(number).map(|site| Assumption::Aside(site.span)));
        }
        let (share, rest) = self.share(open, (left, said, unsaid));
        let plain = || copies.sites.iter().filter(|(number, _)| !open.aside.contains(number));
        let shared = || plain().filter(|(_, site)| of(&site.source).is_none());
        // What is left when it is shared out is one copy's, as often as that lands: of one that is on every
        // way, once.
        let is_last = |(number, site): &(&usize, &Site)| {
            !copies.apart.contains(number) && site.landings > 0 && rest % site.landings == 0
        };
        let last = shared().rfind(is_last);
        if unsaid != 0 && (share < 1 || rest != 0 && last.is_none()) {
            return Err(not_known(open.span));
        }
        for (number, site) in plain() {
            let is_last = last.is_some_and(|(last, _)| last == number);
            let shared = share + if is_last && rest != 0 { rest / site.landings } else { 0 };
            let bytes = of(&site.source).unwrap_or(shared);
            // A copy behind several announcements completes as much for each of them.
            if *self.found.entry(*number).or_insert(bytes) != bytes {
                return Err(not_known(open.span));
            }
            self.by_place.entry(site.span).or_insert(bytes);
            let is_only = copies.counts.len() == 1 && open.number.is_none();
            if is_only || lengths.is_certain(site.source) {
                self.certain.insert(site.span);
            }
        }
        Ok(())
    }
}
