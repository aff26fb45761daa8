//! Unknown numbers and the thresholds that they are compared with, over all roles.

use std::collections::{BTreeMap, BTreeSet};

use super::sum::gcd;
use super::{InUnits, Readings, Side, Sign, Threshold};
use crate::common::contents::BOUNDED;
use crate::kernel::numbers::{Number, least_multiple};
use crate::kernel::tree::{Decision, Residue};

/// Thresholds ahead that are followed.
pub(in crate::kernel) const MOST: i64 = 40;
/// Thresholds in each step of a loop.
const IN_STEP: usize = 6;
/// Those that say more of a number before those that say less.
const SIGNS: [Sign; 4] = [Sign::Signed, Sign::Unsigned, Sign::Either, Sign::Negative];
/// Values that are told apart of a number of which something is computed.
const VALUES: i64 = 100;

/// An unknown number that is counted.
#[derive(Debug, Default)]
pub(super) struct Family {
    /// What it is called where answers are asked for.
    pub(super) key: String,
    /// By how much thresholds grow where loops count; 0 if they do not.
    step: i64,
    /// The thresholds in each step, by their remainders; if there are no steps, all of them.
    places: Vec<i64>,
    /// The position of the first.
    first: i64,
    /// How many answers are asked for where the number begins.
    pub(super) fixed: i64,
    /// What thresholds grow by, where that is no number.
    pub(super) unit: Option<String>,
    /// The number is at least this, as is said of the launch.
    floor: Option<i64>,
    /// Remainders of the number are asked for, so that each number is a threshold.
    whole: bool,
    /// Of a multiple of 2, whether it is at least 1 is whether it is at least 2: that is one threshold.
    is_rounded: bool,
    /// It changes with the iterations of a loop, or is counted anew in each …
    pub(super) repeats: bool,
    /// … although it never changes.
    pub(super) is_invariant: bool,
    pub(super) about: BTreeSet<String>,
    /// Not every outcome need come about.
    pub(super) is_bounded: bool,
    /// Several passes count it: see [`passes`](super::passes).
    pub(super) has_passes: bool,
    /// What is asked of it is asked along with what is asked of another one.
    pub(super) is_beside: bool,
    /// How its number is compared: with a sign and without one is the same of what is not negative.
    signs: BTreeSet<Sign>,
    readings: Readings,
    /// The decisions that it is made of.
    decisions: BTreeSet<String>,
    /// How much of the number has to be known, where something is computed of it.
    pub(super) residue: Option<Computing>,
}

/// What is computed of an unknown number: see [`Residue`](crate::kernel::tree::Residue).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Computing {
    pub(super) exact: i64,
    pub(super) period: i64,
    pub(super) first: i64,
    /// The number is at least this.
    pub(super) least: i64,
    /// The number is a multiple of this.
    pub(super) multiple: i64,
    /// It is needed before all that is asked of the number is known.
    pub(super) is_early: bool,
    /// It is chosen once, before all: the number is counted several times, and is the same each time.
    pub(super) is_once: bool,
}

impl Computing {
    /// The same, with variables that begin with a name.
    pub(super) fn named(self, name: &str) -> Residue {
        let Self { exact, period, first, least, multiple, is_early, is_once } = self;
        let number = format!("{name}_number");
        let asked = if is_early || is_once { format!("{name}_asked") } else { number.clone() };
        Residue { number, asked, from: None, exact, period, first, least, multiple, is_once }
    }
}

impl Family {
    /// Whether its number is compared with a sign here and without one there.
    pub(super) fn is_mixed(&self) -> bool {
        self.signs.contains(&Sign::Signed) && self.signs.contains(&Sign::Unsigned) || self.readings.differ()
    }

    /// The position of a threshold, from 0.
    pub(super) fn position(&self, threshold: i64) -> Option<i64> {
        let position = self.position_from(threshold)?.checked_sub(self.first)?;
        (0..MOST).contains(&position).then_some(position)
    }

    fn position_from(&self, threshold: i64) -> Option<i64> {
        if self.step == 0 {
            return self.places.binary_search(&threshold).ok().map(|place| place as i64);
        }
        let place = self.places.binary_search(&threshold.rem_euclid(self.step)).ok()?;
        threshold.div_euclid(self.step).checked_mul(self.places.len() as i64)?.checked_add(place as i64)
    }

    /// How many positions an iteration takes that lets thresholds grow so.
    pub(super) fn positions(&self, growth: i64) -> Option<i64> {
        let taken = growth.checked_div(self.step)?.checked_mul(self.places.len() as i64)?;
        (growth % self.step == 0 && taken <= MOST).then_some(taken)
    }

    /// What is to be added to what is left to have the number itself, if each number is a threshold.
    pub(super) fn offset(&self) -> Option<i64> {
        (self.whole && self.step == 1).then_some(self.first - 1)
    }

    /// How many positions are known to hold: of a number of which something is computed none.
    pub(super) fn known(&self) -> i64 {
        if self.residue.is_some() { 0 } else { self.given(self.floor) }
    }

    /// How many positions hold whatever the number is, if thresholds up to this do.
    pub(super) fn given(&self, up_to: Option<i64>) -> i64 {
        let Some(up_to) = up_to else { return 0 };
        let threshold = |position: i64| {
            let position = position + self.first;
            if self.step == 0 {
                return self.places.get(usize::try_from(position).ok()?).copied();
            }
            let count = self.places.len() as i64;
            let place = self.places.get(position.rem_euclid(count) as usize)?;
            position.div_euclid(count).checked_mul(self.step)?.checked_add(*place)
        };
        (0..=MOST).find(|position| threshold(*position).is_none_or(|t| t > up_to)).unwrap_or(MOST + 1)
    }
}

/// What is compared, how, and the depth of the loop with whose iterations it changes.
pub(super) type Name = (String, Option<String>, Sign, usize);

/// All families, and the one of each threshold.
#[derive(Debug, Default)]
pub(super) struct Families {
    pub(super) all: Vec<Family>,
    pub(super) names: BTreeMap<Name, usize>,
    /// By what numbers are made of, and the depth: thresholds of the numbers that say the same.
    pub(super) outer: BTreeMap<(String, i64, usize), (String, i64, Sign)>,
    /// By numbers that loops count up to without a sign, and the depth: how much more they count up to.
    pub(super) more: BTreeMap<(String, usize), i64>,
    /// Numbers whose low bits are asked for: what they are computed from has others.
    whole: BTreeSet<String>,
}

/// Where a threshold belongs: its family, and whether it is seen from its other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) family: usize,
    pub(super) turned: bool,
    /// The family is that of what its number was made of, so many from outside.
    above: Option<usize>,
}

impl Families {
    /// The families of decisions, and of the numbers of which something is computed.
    pub(super) fn of(decisions: &[&Decision], numbers: &[&Number]) -> Self {
        let mut families = Self::that_grow(decisions);
        let thresholds = || {
            let all = decisions.iter().filter_map(|d| Some((*d, d.formula.as_ref()?)));
            all.flat_map(|(decision, formula)| formula.thresholds().into_iter().map(move |t| (decision, t)))
        };
        // Those that grow say from which side a number is seen, and signs come before their absence.
        for sign in SIGNS {
            for (_, threshold) in thresholds().filter(|(_, t)| t.sign == sign && !t.grows()) {
                families.join(threshold);
            }
        }
        numbers.iter().for_each(|number| families.join(&number.one));
        let members: Vec<(&Decision, &Threshold, Member)> =
            thresholds().filter_map(|(d, t)| Some((d, t, families.member(t)?))).collect();
        for decision in decisions {
            for low in decision.formula.iter().flat_map(super::Formula::remainders) {
                if let Some(member) = families.member(&low.first).filter(|member| !member.turned) {
                    families.all[member.family].whole = true;
                }
            }
        }
        for number in 0..families.all.len() {
            let own: Vec<_> = members.iter().filter(|(.., member)| member.family == number).collect();
            let computed = numbers.iter().filter_map(|computed| {
                let member = families.member(&computed.one).filter(|member| member.family == number)?;
                let family = &families.all[number];
                Some([least(&computed.one, member, family), least(&computed.two, member, family)])
            });
            let computed: Vec<[i64; 2]> = computed.collect();
            let family = &mut families.all[number];
            family.is_invariant = own.iter().all(|(_, threshold, _)| threshold.is_invariant);
            measure(family, own.iter().map(|(_, threshold, member)| (*threshold, *member)), &computed);
            for (decision, threshold, member) in own {
                if family.position(least(threshold, *member, family)).is_none() {
                    continue;
                }
                family.decisions.insert(decision.key.clone());
                family.signs.insert(threshold.sign);
                family.readings.extend(&threshold.readings);
                family.about.extend(threshold.about.iter().cloned());
                let side_of = side(threshold, *member);
                family.is_bounded |= side_of.is_bounded;
                // What loops count up to may stay below something: they have no more rounds than that.
                let stays_below = side_of.is_capped && threshold.grows();
                if side_of.is_tied || stays_below || !decision.counts {
                    family.about.insert(format!("{BOUNDED}{}", family.key));
                }
                family.is_bounded |= side_of.rounded != side_of.least && !family.is_rounded;
                family.floor = family.floor.max(side(threshold, *member).floor);
                family.repeats |= threshold.scope.is_some();
                family.has_passes |= threshold.pass > 0;
                if !threshold.grows() {
                    let position = family.position(least(threshold, *member, family)).unwrap_or(0);
                    family.fixed = family.fixed.max(position + 1);
                }
            }
        }
        numbers.iter().for_each(|number| families.note(number));
        families.note_beside(&members);
        families.settle_passes();
        families.choose_once();
        families
    }

    /// Notes of what a number is that something is computed of, and how much of it has to be known.
    fn note(&mut self, number: &Number) {
        for threshold in [&number.one, &number.two] {
            let Some(member) = self.member(threshold) else { continue };
            let family = &mut self.all[member.family];
            let side = side(threshold, member);
            family.about.extend(threshold.about.iter().cloned());
            family.floor = family.floor.max(side.floor);
            family.is_bounded |= side.is_bounded;
            if side.is_capped {
                family.about.insert(format!("{BOUNDED}{}", family.key));
            }
        }
        self.compute(number);
    }

    /// Notes how much of a number has to be known.
    fn compute(&mut self, number: &Number) {
        let Some((family, own)) = self.first(number) else { return };
        let Number { exact, period, multiple, .. } = *number;
        let common = |a, b| least_multiple(a, b).unwrap_or(i64::MAX);
        let so_far = self.all[family].residue;
        // Of numbers that count from different ones, `(n + 31) / 32` and `(n - 1) / 32`, the greatest is
        // kept: of it more has to be known by so much as another one is less.
        let first = so_far.map_or(own, |so_far| so_far.first.max(own));
        let all_of = |exact: i64, own: i64| exact.saturating_add(first - own);
        let exact = all_of(exact, own).max(so_far.map_or(0, |so_far| all_of(so_far.exact, so_far.first)));
        // What numbers are multiples of that count from another one than 0 is not followed.
        let is_one = first == 0 && own == 0 && so_far.is_none_or(|so_far| so_far.first == 0);
        let multiple = if is_one { multiple } else { 1 };
        let period = so_far.map_or(period, |so_far| common(so_far.period, period));
        let multiple = so_far.map_or(multiple, |so_far| so_far.multiple.min(multiple));
        let up = |n: i64| n.checked_add(multiple - 1).map_or(i64::MAX, |n| n / multiple * multiple);
        // What is asked elsewhere is known as far as the number is at least what is said of the launch.
        let known = self.all[family].given(self.all[family].floor);
        let least = up(first.saturating_add(known));
        self.all[family].residue = Some(Computing {
            exact: up(exact.max(least)),
            period: common(period, multiple),
            first,
            least,
            multiple,
            is_early: false,
            is_once: self.all[family].repeats && self.all[family].is_invariant,
        });
    }

    /// Something is computed of a number before all that is asked of it is known.
    pub(super) fn early(&mut self, family: usize) {
        if let Some(residue) = &mut self.all[family].residue {
            residue.is_early = true;
        }
    }

    /// The family of a number, and what the number is if not even the first threshold is reached; `None`
    /// unless each step of the number is a threshold.
    fn first(&self, number: &Number) -> Option<(usize, i64)> {
        let member = self.member(&number.one).filter(|member| !member.turned)?;
        if self.member(&number.two) != Some(member) {
            return None;
        }
        let position = |threshold| self.position(threshold, member);
        let (one, two) = (position(&number.one)?, position(&number.two)?);
        (two == one + 1).then_some((member.family, -one))
    }

    /// The family of a number, if something can be computed of it.
    pub(super) fn computed(&self, number: &Number) -> Option<usize> {
        let (family, _) = self.first(number)?;
        let residue = self.all[family].residue?;
        let values = residue.exact.checked_add(residue.period)?;
        (values <= VALUES).then_some(family)
    }

    /// A number of which something is computed, by the names of the families.
    pub(super) fn shown(&self, number: &Number, names: &[String]) -> Option<String> {
        let family = self.computed(number)?;
        let less = self.all[family].residue?.first - self.first(number)?.1;
        let name = format!("{}_number", names[family]);
        Some(if less == 0 { name } else { format!("({name} - {less})") })
    }

    /// Takes a threshold that does not grow to be about a number that is counted in a loop around it, if it
    /// is.
    pub(super) fn settle(&self, threshold: &mut Threshold) {
        let inside = std::mem::take(&mut threshold.inside);
        for (header, depth) in inside {
            let mut inner = threshold.clone();
            (inner.scope, inner.depth) = (Some(header), depth);
            if self.member(&inner).is_some() {
                *threshold = inner;
                return;
            }
        }
    }

    /// The families of thresholds that grow.
    pub(super) fn that_grow(decisions: &[&Decision]) -> Self {
        let mut families = Self::default();
        let formulas = decisions.iter().filter_map(|decision| decision.formula.as_ref());
        families.whole = whole(formulas.clone());
        let thresholds: Vec<&Threshold> = formulas.flat_map(super::Formula::thresholds).collect();
        // What grows by units says of what is divided by them where it belongs.
        for has_unit in [true, false] {
            for sign in SIGNS {
                let of = |t: &&&Threshold| t.sign == sign && t.grows() && t.unit.is_some() == has_unit;
                thresholds.iter().filter(of).for_each(|threshold| families.join(threshold));
            }
        }
        families.note_outer(&thresholds);
        families
    }

    pub(super) fn names(threshold: &Threshold) -> Vec<(Name, bool, Option<usize>)> {
        let signs = match threshold.sign {
            Sign::Either => vec![Sign::Signed, Sign::Unsigned, Sign::Either],
            Sign::Negative => vec![Sign::Signed, Sign::Either, Sign::Negative],
            sign => vec![sign, Sign::Either],
        };
        let sides = [Some((&threshold.side, false)), threshold.other.as_ref().map(|other| (other, true))];
        let mut names = Vec::new();
        for sign in signs {
            for (side, turned) in sides.into_iter().flatten() {
                let above = side.above.iter().enumerate().map(|(at, above)| (above, Some(at)));
                for (side, above) in above.chain([(side, None)]) {
                    let name = (side.what.clone(), threshold.unit.clone(), sign, threshold.depth);
                    names.push((name, turned, above));
                }
            }
        }
        names
    }

    /// The family of a threshold, which is a new one if there is none.
    fn join(&mut self, threshold: &Threshold) {
        if self.member(threshold).is_some() {
            return;
        }
        let number = self.all.len();
        let is_whole = |side: &&Side| self.whole.contains(&side.what);
        let side = threshold.side.above.iter().find(is_whole).unwrap_or(&threshold.side);
        let name = (side.what.clone(), threshold.unit.clone(), threshold.sign, threshold.depth);
        let unsigned = if threshold.sign == Sign::Unsigned { " unsigned" } else { "" };
        let by = threshold.unit.as_ref().map(|unit| format!(" by {unit}")).unwrap_or_default();
        let key = format!("{}{by}{unsigned}", side.what);
        self.all.push(Family { key, unit: threshold.unit.clone(), ..Family::default() });
        self.names.insert(name, number);
    }

    /// The family of a threshold.
    pub(super) fn member(&self, threshold: &Threshold) -> Option<Member> {
        let names = Self::names(threshold);
        let found = names.iter().find_map(|(name, turned, above)| {
            self.names.get(name).map(|family| Member { family: *family, turned: *turned, above: *above })
        });
        found.or_else(|| self.in_units(threshold))
    }

    /// A threshold in a family whose thresholds grow by something that is no number, as it does not itself.
    fn in_units(&self, threshold: &Threshold) -> Option<Member> {
        let family = |what: &str, unit: Option<&str>| {
            let is_it = |((name, of, sign, depth), _): &(&Name, &usize)| {
                let of = of.as_deref();
                *name == what
                    && of.is_some_and(|of| unit.is_none_or(|unit| unit == of))
                    && (threshold.sign == Sign::Either || *sign == threshold.sign)
                    && *depth == threshold.depth
            };
            self.names.iter().find(is_it).map(|(_, family)| *family)
        };
        let some_units = threshold.in_units.iter().find_map(|InUnits { unit, side, turned }| {
            Some(Member { family: family(&side.what, Some(unit))?, turned: *turned, above: None })
        });
        let sides = [Some((&threshold.side, false)), threshold.other.as_ref().map(|other| (other, true))];
        let mut sides = sides.into_iter().flatten().filter(|_| !threshold.grows());
        some_units.or_else(|| {
            sides.find_map(|(side, turned)| {
                let of = |least: i64| family(&format!("{}{:+}", side.what, least.checked_neg()?), None);
                let family = of(side.least).or_else(|| of(side.rounded))?;
                Some(Member { family, turned, above: None })
            })
        })
    }

    /// Whether a family makes one of several decisions.
    pub(super) fn is_worth_it(&self, family: usize) -> bool {
        let family = &self.all[family];
        family.decisions.len() > 1 || family.residue.is_some() || family.is_beside
    }

    /// The position of a threshold in its family.
    pub(super) fn position(&self, threshold: &Threshold, member: Member) -> Option<i64> {
        let family = &self.all[member.family];
        family.position(least(threshold, member, family))
    }
}

/// Numbers whose low bits are asked for, unless it is also asked for what they are computed from.
fn whole<'f>(formulas: impl Iterator<Item = &'f super::Formula> + Clone) -> BTreeSet<String> {
    let remainders = formulas.clone().flat_map(super::Formula::remainders);
    let mut whole: BTreeSet<String> = remainders.map(|low| low.first.side.what.clone()).collect();
    let sides: Vec<&Side> = formulas
        .flat_map(super::Formula::thresholds)
        .flat_map(|threshold| [Some(&threshold.side), threshold.other.as_ref()])
        .flatten()
        .collect();
    let has = |side: &Side, what: &String| side.above.iter().any(|above| above.what == *what);
    whole.retain(|what| {
        let inside: BTreeSet<&String> =
            sides.iter().filter(|side| has(side, what)).map(|side| &side.what).collect();
        sides.iter().all(|side| !inside.contains(&side.what) || has(side, what))
    });
    whole
}

/// A threshold as its family sees it.
pub(super) fn side(threshold: &Threshold, member: Member) -> &Side {
    let side = match &threshold.other {
        Some(other) if member.turned => other,
        _ => &threshold.side,
    };
    member.above.and_then(|above| side.above.get(above)).unwrap_or(side)
}

/// What a threshold is in its family: 0 where the family has units and none is among what is compared.
pub(super) fn least(threshold: &Threshold, member: Member, family: &Family) -> i64 {
    let Some(unit) = family.unit.as_ref().filter(|_| threshold.unit.is_none()) else {
        let side = side(threshold, member);
        return if family.is_rounded { side.rounded } else { side.least };
    };
    let mut in_units = threshold.in_units.iter();
    in_units.find(|it| it.unit == *unit && it.turned == member.turned).map_or(0, |it| it.side.least)
}

/// Lays out the positions of a family.
fn measure<'t>(
    family: &mut Family,
    members: impl Iterator<Item = (&'t Threshold, Member)> + Clone,
    computed: &[[i64; 2]],
) {
    family.is_rounded = computed.is_empty() && !family.whole;
    let growth = members
        .clone()
        .flat_map(|(threshold, member)| side(threshold, member).rounds.iter().map(|(_, by)| *by));
    let growth = growth.chain(computed.iter().map(|[one, two]| two - one));
    family.step = growth.fold(i64::from(family.whole), gcd);
    let leasts = |grow: bool| {
        let grows = members.clone().filter(move |(t, _)| t.grows() == grow);
        grows.map(|(threshold, member)| least(threshold, member, family)).collect::<BTreeSet<i64>>()
    };
    let (growing, mut fixed) = (leasts(true), leasts(false));
    let steps: BTreeSet<i64> = computed.iter().flatten().copied().collect();
    fixed.extend(&steps);
    if family.step == 0 {
        family.places = fixed.into_iter().collect();
        return;
    }
    let step = family.step;
    let places = |leasts: &BTreeSet<i64>| leasts.iter().map(|t| t.rem_euclid(step)).collect::<BTreeSet<_>>();
    let mut all = places(&growing);
    // Of a number of which something is computed each step is one threshold.
    let more = places(if computed.is_empty() { &fixed } else { &steps });
    if all.union(&more).count() <= IN_STEP {
        all.extend(more);
    }
    family.places = all.into_iter().collect();
    let first = growing.iter().chain(&fixed).filter_map(|t| family.position_from(*t)).min();
    family.first = first.unwrap_or(0);
}
