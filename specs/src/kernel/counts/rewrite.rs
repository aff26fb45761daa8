//! Programs in which unknown numbers are counted.

use std::collections::{BTreeMap, BTreeSet};

use super::asked::{Asked, joined, with_word_replaced};
use super::families::{Families, Family, MOST, Member, side};
use super::numbered::{Numbers, positions};
use super::sites::{Site, change, collect, forget, walk};
use super::{Formula, Threshold};
use crate::common::span::Span;
use crate::kernel::code::Comparison;
use crate::kernel::numbers::Number;
use crate::kernel::slugs::slug;
use crate::kernel::tree::{
    Amount, Assumption, Condition, Counted, Counting, Decided, Decision, Statement, Statements,
};
use crate::kernel::value::ValueId;

/// Counts the unknown numbers that are compared in several ways, in all roles, or of which something is
/// computed. What has to be taken for true of the latter.
///
/// # Errors
///
/// Numbers of which what is computed cannot be had.
pub(in crate::kernel) fn count(
    roles: &mut [Statements],
    numbers: &[Number],
) -> Result<BTreeSet<Assumption>, BTreeSet<ValueId>> {
    let mut decisions = Vec::new();
    roles.iter().for_each(|role| collect(role, &mut |decision| decisions.push(decision)));
    let growing = Families::that_grow(&decisions);
    for role in roles.iter_mut() {
        change(role, &mut |decision| {
            let is_counted = |formula: Option<&Formula>| formula.is_some_and(|it| it.is_counted(&growing));
            if !is_counted(decision.formula.as_ref()) && is_counted(decision.apart.as_deref()) {
                decision.formula = decision.apart.take().map(|apart| *apart);
            }
            decision.formula.iter_mut().for_each(|formula| {
                formula.each(&mut |it| {
                    let inside = it.inside.clone();
                    growing.settle(it);
                    growing.outside(it, &inside);
                    growing.read(it);
                });
            });
        });
    }
    growing.note_passes(roles);
    let mut decisions = Vec::new();
    roles.iter().for_each(|role| collect(role, &mut |decision| decisions.push(decision)));
    let numbers = Numbers::of(&decisions, numbers, &growing);
    // What is computed of numbers asks for no thresholds of its own.
    decisions.retain(|decision| numbers.computes(decision).is_none() && known(decision).is_none());
    let mut families = Families::of(&decisions, &numbers.needed());
    let lacking = numbers.needed().into_iter().filter(|number| families.computed(number).is_none());
    let lacking: BTreeSet<ValueId> = lacking.map(|number| number.value).collect();
    if !lacking.is_empty() {
        return Err(lacking);
    }
    let names = names(&families);
    let assumed = numbers.needed().into_iter().flat_map(|number| number.assumes.clone()).collect();
    for role in roles.iter() {
        for family in Plan::of((&families, &names), &numbers, role).early(role) {
            families.early(family);
        }
    }
    for role in roles {
        let plan = Plan::of((&families, &names), &numbers, role);
        plan.list(role, None);
        plan.finish(role);
        plan.begin(role, None);
        plan.choose(role);
        super::lanes::end(role);
        change(role, &mut Decision::forget);
        forget(role);
        super::numbered::name(role, &|position| families.shown(numbers.all.get(position)?, &names));
    }
    Ok(assumed)
}

/// Short names for the variables of each family.
fn names(families: &Families) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let name = |(number, family): (usize, &super::families::Family)| {
        let short = slug(&family.key);
        if short.len() <= 20 && taken.insert(short.clone()) { short } else { format!("n{number}") }
    };
    families.all.iter().enumerate().map(name).collect()
}

/// A number as one role counts it, in one scope.
#[derive(Clone, Debug, Default)]
pub(super) struct Use {
    /// By the header of a loop, how many positions an iteration takes.
    pub(super) rounds: BTreeMap<usize, i64>,
    /// Answers that are known ahead.
    pub(super) ahead: i64,
    /// Positions that hold whatever the number is, for those that grow.
    pub(super) given: i64,
    /// Something is computed of it, or a loop looks at it that takes nothing off.
    is_read: bool,
    /// Where it is asked about first.
    span: Span,
}

/// What is counted: a family, in the iterations of the loop with this header, and in which pass, if there are
/// several; else, and for what all of them have, it is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) family: usize,
    pub(super) scope: Option<usize>,
    pub(super) pass: usize,
}

/// What one role counts.
pub(super) struct Plan<'f> {
    pub(super) families: &'f Families,
    pub(super) names: &'f [String],
    pub(super) numbers: &'f Numbers,
    pub(super) uses: BTreeMap<Place, Use>,
    /// Loops whose iterations are counted, by their headers.
    passes: BTreeSet<usize>,
    /// Those of them that take nothing off numbers.
    pub(super) looked: BTreeSet<usize>,
    /// Decisions that stay as they are.
    refused: BTreeSet<String>,
}

impl<'f> Plan<'f> {
    fn of((families, names): (&'f Families, &'f [String]), numbers: &'f Numbers, role: &[Statement]) -> Self {
        let mut sites = Vec::new();
        walk(role, &mut Vec::new(), &mut BTreeSet::new(), &mut sites);
        let mut computed: BTreeSet<usize> = super::numbered::named(role);
        for site in &sites {
            computed.extend(numbers.computes(site.decision).into_iter().flat_map(positions));
        }
        let (uses, passes, refused) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        let looked = Self::looked(families, &sites);
        let mut plan = Self { families, names, numbers, uses, passes, looked, refused };
        loop {
            plan.uses.clear();
            for number in computed.iter().filter_map(|position| numbers.all.get(*position)) {
                if let Some(family) = families.computed(number) {
                    let place = plan.uses.entry(families.place(&number.one, family)).or_default();
                    place.span = number.span;
                    place.ahead = families.all[family].fixed.max(1);
                    place.is_read = true;
                }
            }
            let accepted: Vec<&Site<'_>> =
                sites.iter().filter(|site| plan.is_accepted(site.decision)).collect();
            let wrong = accepted.iter().find(|site| plan.add(site).is_none());
            let wrong = wrong.or_else(|| accepted.iter().find(|site| !plan.fits(site)));
            match wrong {
                Some(site) => plan.refused.insert(site.decision.key.clone()),
                None => break,
            };
        }
        let accepted = sites.iter().filter(|site| plan.is_accepted(site.decision));
        let formulas: Vec<&Formula> = accepted.flat_map(|site| &site.decision.formula).collect();
        let remainders = formulas.iter().flat_map(|formula| formula.remainders());
        let thresholds = formulas.iter().flat_map(|formula| formula.thresholds());
        let looks = thresholds.filter_map(|it| plan.look(it, families.member(it)?)).map(|look| look.header);
        plan.passes = remainders.filter_map(|low| Some(low.round?.0)).chain(looks).collect();
        plan
    }

    fn is_accepted(&self, decision: &Decision) -> bool {
        let Some(formula) = &decision.formula else { return false };
        if self.numbers.computes(decision).is_some() {
            return false;
        }
        !self.refused.contains(&decision.key)
            && formula.thresholds().iter().all(|threshold| {
                self.families.member(threshold).is_some_and(|member| self.families.is_worth_it(member.family))
            })
    }

    /// Notes what a decision takes; `None` if that cannot be had.
    fn add(&mut self, site: &Site<'_>) -> Option<()> {
        for low in site.decision.formula.iter().flat_map(Formula::remainders) {
            let member = self.families.member(&low.first).filter(|member| !member.turned)?;
            let family = &self.families.all[member.family];
            // The last answer is known where less is left than is looked ahead.
            let first = || Use { span: site.span, ..Use::default() };
            let place = self.families.place(&low.first, member.family);
            let place = self.uses.entry(place).or_insert_with(first);
            place.ahead = place.ahead.max(2 * (low.mask + 1)).max(family.fixed);
            family.offset().filter(|_| place.ahead <= MOST && site.is_branch)?;
        }
        for threshold in site.decision.formula.as_ref()?.thresholds() {
            let member = self.families.member(threshold)?;
            let family = &self.families.all[member.family];
            let position = self.families.position(threshold, member)?;
            let first = || Use { span: site.span, ..Use::default() };
            let look = self.look(threshold, member);
            let place = self.families.place(threshold, member.family);
            // Those that come first are asked for where the number begins.
            self.uses.entry(Place { pass: 0, ..place }).or_insert_with(first);
            let place = self.uses.entry(place).or_insert_with(first);
            if let Some(look) = &look {
                place.ahead = place.ahead.max(look.last + 1);
                place.is_read = true;
            }
            let rounds = side(threshold, member).rounds.iter().filter(|_| look.is_none());
            for (header, growth) in rounds {
                let taken = family.positions(*growth)?;
                if *place.rounds.entry(*header).or_insert(taken) != taken {
                    return None;
                }
                place.ahead = place.ahead.max(taken);
            }
            let known = (family.known() + 1).min(MOST);
            place.ahead = place.ahead.max(position + 1).max(family.fixed).max(known);
            let given = family.given(side(threshold, member).given);
            if given > position {
                place.ahead = place.ahead.max(given + 1);
                place.given = given;
            }
        }
        Some(())
    }

    /// Whether a decision looks where its role has counted to.
    fn fits(&self, site: &Site<'_>) -> bool {
        let mut remainders = site.decision.formula.iter().flat_map(Formula::remainders);
        if !remainders.all(|low| self.has_rest(low)) {
            return false;
        }
        let thresholds = site.decision.formula.iter().flat_map(Formula::thresholds);
        thresholds.filter(|threshold| threshold.grows()).all(|threshold| {
            let Some(member) = self.families.member(threshold) else { return false };
            let place = self.families.place(threshold, member.family);
            let Some(place) = self.uses.get(&place) else { return false };
            let Some(position) = self.families.position(threshold, member) else { return false };
            let gone = |header: &&usize| site.around.contains(header) || site.before.contains(header);
            let counted: BTreeSet<usize> = place.rounds.keys().filter(gone).copied().collect();
            let looks = self.look(threshold, member).is_some();
            let taken = threshold.side.rounds.iter().filter(|_| !looks);
            let own: BTreeSet<usize> = taken.map(|(header, _)| *header).collect();
            let given = self.families.all[member.family].given(side(threshold, member).given);
            let is_given = if position < place.given { given == place.given } else { given <= position };
            counted == own && is_given && place.ahead <= MOST
        })
    }

    /// Puts comparisons of variables in the places of decisions, and counts where loops come round.
    fn list(&self, statements: &mut Statements, around: Option<usize>) {
        let mut at = 0;
        while at < statements.len() {
            match &mut statements[at] {
                Statement::If { condition, then, otherwise, span } => {
                    let before = self.condition(condition, *span);
                    self.list(then, around);
                    self.list(otherwise, around);
                    let count = before.len();
                    statements.splice(at..at, before);
                    at += count;
                }
                Statement::Loop { body, header, span } => {
                    let (header, span) = (*header, *span);
                    self.list(body, Some(header));
                    if !crate::kernel::tree::ends(body) {
                        body.extend(self.come_round(header, span));
                    }
                    self.begin(body, Some(header));
                    if self.passes.contains(&header) {
                        statements.insert(at, set(&pass(header), "0", Some(0), span));
                        at += 1;
                    }
                }
                Statement::For { body, .. } => self.list(body, None),
                Statement::Continue => {
                    let steps = around.map(|header| self.come_round(header, Span::default()));
                    let steps = steps.unwrap_or_default();
                    let count = steps.len();
                    statements.splice(at..at, steps);
                    at += count;
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// What is counted where a loop comes round.
    fn come_round(&self, header: usize, span: Span) -> Statements {
        let uses = self.uses.iter().filter_map(|(place, of)| Some((place, of, *of.rounds.get(&header)?)));
        let step = |(place, of, taken): (&Place, &Use, i64)| {
            Statement::Count(Box::new(self.counted(*place, of, Counting::Pass(taken))))
        };
        let mut steps: Statements = uses.map(|(place, of, taken)| step((place, of, taken))).collect();
        if self.passes.contains(&header) {
            let local = pass(header);
            let value = Amount { text: format!("{local} + 1"), number: None, step: Some(1) };
            steps.push(Statement::Set { local, value, span });
        }
        steps
    }

    /// Where numbers of a scope begin.
    fn begin(&self, statements: &mut Statements, scope: Option<usize>) {
        let uses = self.uses.iter().filter(|(place, _)| place.scope == scope);
        let begins = uses.map(|(place, of)| {
            let counting = Counting::Begin { again: scope.is_some() };
            Statement::Count(Box::new(self.counted(*place, of, counting)))
        });
        let begins: Statements = begins.collect();
        statements.splice(0..0, begins);
    }

    pub(super) fn counted(&self, place: Place, of: &Use, counting: Counting) -> Counted {
        let (name, family) = (&self.names[place.family], &self.families.all[place.family]);
        let mut residue = family.residue.map(|computing| computing.named(name));
        let mut key = family.key.clone();
        if place.pass > 0 {
            residue.iter_mut().for_each(|residue| residue.go_on(place.pass));
            key.push_str(&format!(", pass {}", place.pass));
        }
        Counted {
            key,
            counting,
            varies: family.repeats,
            is_private: false,
            fixed: family.fixed,
            count: format!("{name}_count"),
            goes_on: place.pass > 0,
            left: self.left(place),
            ahead: if of.rounds.is_empty() && !of.is_read { 0 } else { of.ahead },
            given: of.given,
            known: family.known(),
            has_rest: family.offset().is_some(),
            residue,
            about: family.about.clone(),
            is_bounded: family.is_bounded,
            span: of.span,
        }
    }

    /// The variable that holds how many of the answers that are known ahead are yes.
    pub(super) fn left(&self, Place { family, pass, .. }: Place) -> String {
        let name = &self.names[family];
        if pass == 0 { format!("{name}_left") } else { format!("{name}_left_{pass}") }
    }

    /// Puts comparisons in the place of decisions; what has to be done before.
    fn condition(&self, condition: &mut Condition, span: Span) -> Statements {
        match condition {
            Condition::Uniform { decision, negated } if let Some(holds) = known(decision) => {
                let text = if holds == *negated { "0" } else { "1" }.to_owned();
                let stands_for = Some((decision.key.clone(), *negated));
                let decided =
                    Decided { stands_for, assumes: self.rests_on(decision, span), ..Decided::default() };
                *condition = Condition::Value { text, compares: None, decided };
            }
            Condition::Uniform { decision, negated } if self.numbers.computes(decision).is_some() => {
                let text = self.numbers.computes(decision).unwrap_or_default();
                let text = if *negated { format!("!({text})") } else { text.to_owned() };
                let decided = Decided {
                    stands_for: Some((decision.key.clone(), *negated)),
                    assumes: decision.assumes.clone(),
                    ..Decided::default()
                };
                *condition = Condition::Value { text, compares: None, decided };
            }
            Condition::Uniform { decision, negated } if self.is_accepted(decision) => {
                let Some(formula) = &decision.formula else { return Vec::new() };
                let (mut asked, mut before) = (self.asked(formula), Vec::new());
                if let Some(low) = formula.remainders().first() {
                    (asked, before) = self.with_rest(low, asked, decision, span);
                }
                let asked = if *negated { asked.not() } else { asked };
                let decided = Decided {
                    decisions: Vec::new(),
                    is_private: false,
                    stands_for: Some((decision.key.clone(), *negated)),
                    assumes: self.rests_on(decision, span),
                };
                *condition = Condition::Value { text: asked.text(), compares: asked.compares(), decided };
                return before;
            }
            Condition::Value { text, compares, decided } => {
                let decisions = std::mem::take(&mut decided.decisions);
                for decision in decisions {
                    if let Some((holds, name)) = known(&decision).zip(decision.name.as_ref()) {
                        *text = with_word_replaced(text, name, if holds { "1" } else { "0" });
                        *compares = None;
                        decided.assumes.extend(self.rests_on(&decision, span));
                        continue;
                    }
                    if let Some((computed, name)) =
                        self.numbers.computes(&decision).zip(decision.name.as_ref())
                    {
                        *text = with_word_replaced(text, name, &format!("({computed})"));
                        *compares = None;
                        decided.assumes.extend(decision.assumes.iter().copied());
                        continue;
                    }
                    let formula = decision.formula.as_ref().filter(|_| self.is_accepted(&decision));
                    match formula.zip(decision.name.as_ref()) {
                        Some((formula, name)) => {
                            let with = format!("({})", self.asked(formula).text());
                            *text = with_word_replaced(text, name, &with);
                            *compares = None;
                            decided.assumes.extend(self.rests_on(&decision, span));
                        }
                        None => decided.decisions.push(decision),
                    }
                }
            }
            _ => {}
        }
        Vec::new()
    }

    /// What has to be taken for true of a decision that is counted.
    fn rests_on(&self, decision: &Decision, span: Span) -> BTreeSet<Assumption> {
        let mut assumes = decision.assumes.clone();
        for threshold in decision.formula.iter().flat_map(Formula::thresholds) {
            let family = self.families.member(threshold).map(|member| &self.families.all[member.family]);
            let is_mixed =
                threshold.is_mixed || threshold.readings.differ() || family.is_some_and(Family::is_mixed);
            assumes.extend(threshold.is_turned.then_some(Assumption::Unwrapped(span)));
            assumes.extend(is_mixed.then_some(Assumption::Natural(span)));
        }
        assumes
    }

    fn asked(&self, formula: &Formula) -> Asked {
        match formula {
            Formula::Reaches(threshold) => self.reaches(threshold),
            Formula::Low(low) => self.low(low),
            Formula::Not(inside) => self.asked(inside).not(),
            Formula::All(parts) => {
                let parts: Vec<Asked> = parts.iter().map(|part| self.asked(part)).collect();
                // It is at least this and at most this.
                if let [
                    Asked::Compares(a, Comparison::Greater, from),
                    Asked::Compares(b, Comparison::LessOrEqual, to),
                ] = parts.as_slice()
                    && a == b
                    && from + 1 == *to
                {
                    return Asked::Compares(a.clone(), Comparison::Equal, *to);
                }
                joined(&parts, "&&")
            }
            Formula::Any(parts) => {
                joined(&parts.iter().map(|part| self.asked(part)).collect::<Vec<_>>(), "||")
            }
        }
    }

    fn reaches(&self, threshold: &Threshold) -> Asked {
        let known = || {
            let member = self.families.member(threshold)?;
            Some((member, self.families.position(threshold, member)?))
        };
        // Whoever is accepted has a place.
        let Some((member, position)) = known() else { return Asked::Text("1".to_owned()) };
        let Member { family, turned, .. } = member;
        let name = &self.names[family];
        let left = self.left(self.families.place(threshold, family));
        let asked = if let Some(look) = self.look(threshold, member) {
            look.asked(&left)
        } else if !threshold.grows() {
            let side = side(threshold, member);
            if side.given.is_some_and(|given| given >= side.least) {
                Asked::Text("1".to_owned())
            } else {
                Asked::Compares(format!("{name}_count"), Comparison::Greater, position)
            }
        } else {
            Asked::Compares(left, Comparison::Greater, position)
        };
        if turned { asked.not() } else { asked }
    }
}

/// Whether a decision is none: what it asks holds, or does not, whatever the numbers are.
fn known(decision: &Decision) -> Option<bool> {
    decision.formula.as_ref().and_then(Formula::known)
}

/// The variable for the iterations of a loop, which is known by its header.
pub(super) fn pass(header: usize) -> String {
    format!("pass_{header}")
}

pub(super) fn set(local: &str, text: &str, number: Option<i64>, span: Span) -> Statement {
    let value = Amount { text: text.to_owned(), number, step: None };
    Statement::Set { local: local.to_owned(), value, span }
}
