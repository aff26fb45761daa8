//! Programs in which unknown numbers are counted.

use std::collections::{BTreeMap, BTreeSet};

use super::asked::{Asked, joined, with_word_replaced};
use super::families::{Families, MOST, Member};
use super::{Formula, Low, Threshold};
use crate::common::span::Span;
use crate::kernel::code::Comparison;
use crate::kernel::keys::slug;
use crate::kernel::tree::{
    Amount, Assumption, Condition, Counted, Counting, Decided, Decision, Statement, Statements,
};

/// Counts the unknown numbers that are compared in several ways, in all roles.
pub(in crate::kernel) fn count(roles: &mut [Statements]) {
    let mut decisions = Vec::new();
    for role in roles.iter() {
        collect(role, &mut |decision| decisions.push(decision));
    }
    let families = Families::of(&decisions);
    let names = names(&families);
    for role in roles {
        let plan = Plan::of(&families, &names, role);
        plan.list(role, None);
        plan.begin(role, None);
        forget(role);
    }
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

/// All decisions that may be asked for.
fn collect<'s>(statements: &'s [Statement], found: &mut impl FnMut(&'s Decision)) {
    for statement in statements {
        match statement {
            Statement::If { condition, then, otherwise, .. } => {
                match condition {
                    Condition::Uniform { decision, .. } => found(decision),
                    Condition::Value { decided, .. } => decided.decisions.iter().for_each(&mut *found),
                    Condition::OfWarp | Condition::OfLane => {}
                }
                collect(then, found);
                collect(otherwise, found);
            }
            Statement::Loop { body, .. } | Statement::For { body, .. } => collect(body, found),
            _ => {}
        }
    }
}

/// Forgets what is only needed here, so that programs that are alike are equal.
fn forget(statements: &mut Statements) {
    for statement in statements {
        match statement {
            Statement::If { condition, then, otherwise, .. } => {
                match condition {
                    Condition::Uniform { decision, .. } => decision.formula = None,
                    Condition::Value { decided, .. } => {
                        decided.decisions.iter_mut().for_each(|decision| decision.formula = None);
                    }
                    Condition::OfWarp | Condition::OfLane => {}
                }
                forget(then);
                forget(otherwise);
            }
            Statement::Loop { body, header, .. } => {
                *header = 0;
                forget(body);
            }
            Statement::For { body, .. } => forget(body),
            _ => {}
        }
    }
}

/// A number as one role counts it, in one scope.
#[derive(Clone, Debug, Default)]
struct Use {
    /// By the header of a loop, how many positions an iteration takes.
    rounds: BTreeMap<usize, i64>,
    /// Answers that are known ahead.
    ahead: i64,
    /// Positions that hold whatever the number is, for those that grow.
    given: i64,
    fixed: bool,
}

/// A family, and the header of its scope.
type Place = (usize, Option<usize>);

/// What one role counts.
struct Plan<'f> {
    families: &'f Families,
    names: &'f [String],
    uses: BTreeMap<Place, Use>,
    /// Loops whose iterations are counted, by their headers.
    passes: BTreeSet<usize>,
    /// Decisions that stay as they are.
    refused: BTreeSet<String>,
}

/// A decision as it stands in a role.
struct Site<'s> {
    decision: &'s Decision,
    /// It is all that is asked.
    is_branch: bool,
    /// The headers of loops around, and of loops that may have been gone through before.
    around: Vec<usize>,
    before: BTreeSet<usize>,
}

impl<'f> Plan<'f> {
    fn of(families: &'f Families, names: &'f [String], role: &[Statement]) -> Self {
        let mut sites = Vec::new();
        walk(role, &mut Vec::new(), &mut BTreeSet::new(), &mut sites);
        let (uses, passes, refused) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        let mut plan = Self { families, names, uses, passes, refused };
        loop {
            plan.uses.clear();
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
        let remainders = accepted.flat_map(|site| &site.decision.formula).flat_map(Formula::remainders);
        plan.passes = remainders.filter_map(|low| Some(low.round?.0)).collect();
        plan
    }

    fn is_accepted(&self, decision: &Decision) -> bool {
        let Some(formula) = &decision.formula else { return false };
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
            let place = self.uses.entry((member.family, low.first.scope)).or_default();
            place.ahead = place.ahead.max(2 * (low.mask + 1)).max(family.fixed);
            family.offset().filter(|_| place.ahead <= MOST && site.is_branch)?;
        }
        for threshold in site.decision.formula.as_ref()?.thresholds() {
            let member = self.families.member(threshold)?;
            let family = &self.families.all[member.family];
            let position = self.families.position(threshold, member)?;
            let place = self.uses.entry((member.family, threshold.scope)).or_default();
            if threshold.rounds.is_empty() {
                place.fixed = true;
                continue;
            }
            for (header, growth) in &threshold.rounds {
                let taken = family.positions(*growth)?;
                if *place.rounds.entry(*header).or_insert(taken) != taken {
                    return None;
                }
                place.ahead = place.ahead.max(taken);
            }
            place.ahead = place.ahead.max(position + 1).max(family.fixed);
            let given = family.given(threshold.side.given);
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
        thresholds.filter(|threshold| !threshold.rounds.is_empty()).all(|threshold| {
            let Some(member) = self.families.member(threshold) else { return false };
            let Some(place) = self.uses.get(&(member.family, threshold.scope)) else { return false };
            let Some(position) = self.families.position(threshold, member) else { return false };
            let gone = |header: &&usize| site.around.contains(header) || site.before.contains(header);
            let counted: BTreeSet<usize> = place.rounds.keys().filter(gone).copied().collect();
            let own: BTreeSet<usize> = threshold.rounds.iter().map(|(header, _)| *header).collect();
            let given = self.families.all[member.family].given(threshold.side.given);
            let is_given = if position < place.given { given == place.given } else { given <= position };
            counted == own && is_given && place.ahead <= MOST
        })
    }

    /// Whether what is left of a number has its low bits: all that is taken is a multiple.
    fn has_rest(&self, low: &Low) -> bool {
        let member = self.families.member(&low.first);
        let place = member.and_then(|member| self.uses.get(&(member.family, low.first.scope)));
        place.is_some_and(|place| {
            let mut taken = place.rounds.values();
            !place.rounds.is_empty() && place.given == 0 && taken.all(|taken| taken & low.mask == 0)
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
        let step = |((family, scope), of, taken): (&Place, &Use, i64)| {
            Statement::Count(Box::new(self.counted((*family, *scope), of, Counting::Pass(taken), span)))
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
        let uses = self.uses.iter().filter(|((_, of), _)| *of == scope);
        let begins = uses.map(|((family, scope), of)| {
            let counting = Counting::Begin { again: scope.is_some() };
            Statement::Count(Box::new(self.counted((*family, *scope), of, counting, Span::default())))
        });
        let begins: Statements = begins.collect();
        statements.splice(0..0, begins);
    }

    fn counted(&self, (family, _): Place, of: &Use, counting: Counting, span: Span) -> Counted {
        let (number, family) = (family, &self.families.all[family]);
        let name = &self.names[number];
        Counted {
            key: family.key.clone(),
            counting,
            varies: family.repeats,
            is_private: false,
            fixed: family.fixed,
            count: format!("{name}_count"),
            left: format!("{name}_left"),
            ahead: if of.rounds.is_empty() { 0 } else { of.ahead },
            given: of.given,
            has_rest: family.offset().is_some(),
            about: family.about.clone(),
            is_bounded: family.is_bounded,
            span,
        }
    }

    /// Puts comparisons in the place of decisions; what has to be done before.
    fn condition(&self, condition: &mut Condition, span: Span) -> Statements {
        match condition {
            Condition::Uniform { decision, negated } if self.is_accepted(decision) => {
                let Some(formula) = &decision.formula else { return Vec::new() };
                let mut asked = self.asked(formula);
                let mut before = Vec::new();
                if let Some(low) = formula.remainders().first() {
                    (asked, before) = self.with_rest(low, asked, decision, span);
                }
                let asked = if *negated { asked.not() } else { asked };
                let decided = Decided {
                    decisions: Vec::new(),
                    is_private: false,
                    stands_for: Some((decision.key.clone(), *negated)),
                    assumes: rests_on(decision, span),
                };
                *condition = Condition::Value { text: asked.text(), compares: asked.compares(), decided };
                return before;
            }
            Condition::Value { text, compares, decided } => {
                let decisions = std::mem::take(&mut decided.decisions);
                for decision in decisions {
                    let formula = decision.formula.as_ref().filter(|_| self.is_accepted(&decision));
                    match formula.zip(decision.name.as_ref()) {
                        Some((formula, name)) => {
                            let with = format!("({})", self.asked(formula).text());
                            *text = with_word_replaced(text, name, &with);
                            *compares = None;
                            decided.assumes.extend(rests_on(&decision, span));
                        }
                        None => decided.decisions.push(decision),
                    }
                }
            }
            _ => {}
        }
        Vec::new()
    }

    /// Whether a condition about a remainder holds, in a variable: where what is left does not say so, as it
    /// was decided.
    fn with_rest(&self, low: &Low, asked: Asked, decision: &Decision, span: Span) -> (Asked, Statements) {
        let known = || {
            let member = self.families.member(&low.first)?;
            Some((member.family, self.uses.get(&(member.family, low.first.scope))?.ahead))
        };
        let Some((family, ahead)) = known() else { return (asked, Vec::new()) };
        let name = &self.names[family];
        let flag = format!("{name}_rest");
        let when = |asked: &Asked, then: Statements, otherwise: Statements| {
            let decided = Decided::default();
            let condition = Condition::Value { text: asked.text(), compares: asked.compares(), decided };
            Statement::If { condition, then, otherwise, span }
        };
        let yes = || vec![set(&flag, "1", Some(1), span)];
        let no = || vec![set(&flag, "0", Some(0), span)];
        let decision = Decision { formula: None, ..decision.clone() };
        let condition = Condition::Uniform { decision, negated: false };
        let decided = vec![Statement::If { condition, then: yes(), otherwise: no(), span }];
        let open =
            Asked::Text(format!("({name}_left == {ahead}) || ({name}_count == 0) || ({name}_left < 0)"));
        let known = vec![when(&asked, yes(), no())];
        (Asked::Compares(flag.clone(), Comparison::Equal, 1), vec![when(&open, decided, known)])
    }

    fn low(&self, low: &Low) -> Asked {
        let known = || {
            let family = self.families.member(&low.first)?.family;
            Some((&self.names[family], self.families.all[family].offset()?))
        };
        let Some((name, offset)) = known() else { return Asked::Text("1".to_owned()) };
        let rest = match (offset + low.more) & low.mask {
            0 => format!("{name}_left & {}", low.mask),
            more => format!("({name}_left + {more}) & {}", low.mask),
        };
        let least = match low.round {
            None => low.least.to_string(),
            Some((header, by)) => format!("{} + {} * {by}", low.least, pass(header)),
        };
        Asked::Text(format!("({rest}) >= {least}"))
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
        let Member { family, turned } = member;
        let name = &self.names[family];
        let asked = if threshold.rounds.is_empty() {
            let side = if turned { threshold.other.as_ref() } else { Some(&threshold.side) };
            let given = side.and_then(|side| side.given.map(|given| given >= side.least));
            if given == Some(true) {
                Asked::Text("1".to_owned())
            } else {
                Asked::Compares(format!("{name}_count"), Comparison::Greater, position)
            }
        } else {
            Asked::Compares(format!("{name}_left"), Comparison::Greater, position)
        };
        if turned { asked.not() } else { asked }
    }
}

/// What has to be taken for true of a decision that is counted.
fn rests_on(decision: &Decision, span: Span) -> BTreeSet<Assumption> {
    let mut assumes = decision.assumes.clone();
    let mut thresholds = decision.formula.iter().flat_map(Formula::thresholds);
    if thresholds.any(|threshold| threshold.is_turned) {
        assumes.insert(Assumption::Unwrapped(span));
    }
    assumes
}

/// The variable for the iterations of a loop, which is known by its header.
fn pass(header: usize) -> String {
    format!("pass_{header}")
}

fn set(local: &str, text: &str, number: Option<i64>, span: Span) -> Statement {
    let value = Amount { text: text.to_owned(), number, step: None };
    Statement::Set { local: local.to_owned(), value, span }
}

/// Collects the decisions of a role with the loops around them and before them.
fn walk<'s>(
    statements: &'s [Statement],
    around: &mut Vec<usize>,
    before: &mut BTreeSet<usize>,
    sites: &mut Vec<Site<'s>>,
) {
    for statement in statements {
        match statement {
            Statement::If { condition, then, otherwise, .. } => {
                let (around_here, before_here) = (around.clone(), before.clone());
                let mut site = |decision, is_branch| {
                    let (around, before) = (around_here.clone(), before_here.clone());
                    sites.push(Site { decision, is_branch, around, before });
                };
                match condition {
                    Condition::Uniform { decision, .. } => site(decision, true),
                    Condition::Value { decided, .. } => decided.decisions.iter().for_each(|d| site(d, false)),
                    Condition::OfWarp | Condition::OfLane => {}
                }
                let mut other = before.clone();
                walk(then, around, before, sites);
                walk(otherwise, around, &mut other, sites);
                before.extend(other);
            }
            Statement::Loop { body, header, .. } => {
                around.push(*header);
                walk(body, around, before, sites);
                around.pop();
                before.insert(*header);
            }
            Statement::For { body, .. } => walk(body, around, before, sites),
            _ => {}
        }
    }
}
