//! Addresses in words: one word of memory is one unknown, however its address is computed.
//!
//! Compilers write `p[i + 1]` as `p + 4 * wide(i + 1)` in one place, as `(p + 4) + 4 * wide(i)` in another.
//! The two are the same unless `i + 1` overflows, which is taken not to happen: sums that are made wider are
//! sums of what is made wider.

use std::collections::BTreeMap;

use super::arithmetic::signed;
use super::code::{Action, Argument, Operation, Type};
use super::keys::{Keys, Words};
use super::lanes::Lanes;
use super::loads::{is_load, width};
use super::terms::{all, any};
use super::value::{Term, ValueId};
use crate::common::contents::VARIES;

/// Sums inside one another that are taken apart.
const DEPTH: u32 = 32;

/// What is added up: terms in words, with their factors, and a number.
#[derive(Default)]
struct Total {
    terms: BTreeMap<String, i64>,
    known: i64,
    /// Some term may change from one iteration of a loop to the next.
    varies: bool,
    /// A sum or a product was taken apart that is made wider: it is taken not to overflow.
    is_widened: bool,
}

impl Total {
    fn add(&mut self, term: String, factor: i64) {
        let so_far = self.terms.entry(term).or_insert(0);
        *so_far = so_far.wrapping_add(factor);
    }

    fn more(&mut self, known: i64) {
        self.known = self.known.wrapping_add(known);
    }

    fn text(&self) -> String {
        let factors = self.terms.iter().filter(|(_, factor)| **factor != 0);
        let mut parts: Vec<String> = factors
            .map(|(term, factor)| match factor {
                1 => term.clone(),
                -1 => format!("-{term}"),
                _ => format!("{term}*{factor}"),
            })
            .collect();
        if self.known != 0 || parts.is_empty() {
            parts.push(self.known.to_string());
        }
        parts.join("+").replace("+-", "-")
    }
}

/// A sum of addresses that is being added up.
struct Adding<'a> {
    total: &'a mut Total,
    words: &'a mut Words,
    /// How many sums may still be looked into.
    left: u32,
    /// What is added has been made wider, with its sign or without; `None` where it has 64 bits itself.
    widened: Option<bool>,
}

impl Keys<'_> {
    /// An address in words.
    pub(super) fn address(&self, value: ValueId, words: &mut Words) -> Option<String> {
        Some(self.total(value, words)?.text())
    }

    /// An address by what tells whether it may be another one: the pointers in it, all terms, and whether
    /// these are the same in all iterations of loops.
    pub(super) fn apart(&self, value: ValueId, words: &mut Words) -> Option<String> {
        let Total { mut terms, known, varies, .. } = self.total(value, words)?;
        terms.retain(|_, factor| *factor != 0);
        let pointers: Vec<&str> =
            terms.keys().filter(|term| term.ends_with(":64")).map(String::as_str).collect();
        let pointers = pointers.join("+");
        let varies = if varies { VARIES } else { "" };
        Some(format!("{pointers}|{}|{varies}{known}", Total { terms, ..Total::default() }.text()))
    }

    /// Whether something is loaded in a term from an address for which sums are taken not to overflow.
    pub(super) fn widens_sums(&self, value: ValueId) -> bool {
        let addresses = all(self.agent.values, value).into_iter().filter_map(|inside| {
            match self.agent.values.term(inside) {
                Term::Loaded { address, varies: false, .. } => Some(*address),
                Term::Pure { name, terms } if is_load(&self.name(*name)) => terms.first().copied(),
                _ => None,
            }
        });
        addresses
            .into_iter()
            .any(|address| self.total(address, &mut Words::new()).is_none_or(|total| total.is_widened))
    }

    fn total(&self, value: ValueId, words: &mut Words) -> Option<Total> {
        let mut total = Total::default();
        self.add(value, 1, &mut Adding { total: &mut total, words, left: DEPTH, widened: None })?;
        Some(total)
    }

    /// Adds so many times a value.
    fn add(&self, value: ValueId, factor: i64, adding: &mut Adding<'_>) -> Option<()> {
        let (values, left) = (self.agent.values, adding.left);
        let around = adding.widened;
        // What has 32 bits among what has 64 has been made wider without its sign: nothing is done for that.
        if around.is_none() && self.is_word(value) {
            adding.widened = Some(false);
        }
        if left == 0 {
            self.add_term(value, factor, adding)?;
        } else {
            adding.left = left - 1;
            adding.total.is_widened |= adding.widened.is_some() && is_sum(values.term(value));
            self.add_parts(value, factor, adding)?;
        }
        (adding.left, adding.widened) = (left, around);
        Some(())
    }

    /// Whether a value has no more than 32 bits.
    fn is_word(&self, value: ValueId) -> bool {
        match self.agent.values.term(value) {
            Term::Known(_) => false,
            Term::Sum { bits, .. } => *bits <= 32,
            Term::Apply { operation: Operation::MultiplyWide, .. } => false,
            Term::Apply { ty, .. } => ty.bits <= 32,
            _ => self.agent.values.width(value) <= 32,
        }
    }

    fn add_parts(&self, value: ValueId, factor: i64, adding: &mut Adding<'_>) -> Option<()> {
        let values = self.agent.values;
        let number = |value: ValueId| values.as_known(value).and_then(Lanes::all);
        match values.term(value) {
            Term::Known(lanes) if let Some(known) = lanes.all() => {
                adding.total.more(factor.wrapping_mul(known as i64));
            }
            Term::Sum { bits, terms, known }
                if let Some(known) = known.all()
                    && terms.iter().all(|(_, factor)| factor.all().is_some()) =>
            {
                for (term, times) in terms {
                    let times = times.all().map_or(0, |times| signed(times, *bits));
                    self.add(*term, factor.wrapping_mul(times), adding)?;
                }
                adding.total.more(factor.wrapping_mul(signed(known, *bits)));
            }
            Term::Apply { operation: Operation::Convert(from), ty, terms } if is_wider(*from, *ty) => {
                if from.bits == 32 {
                    adding.widened = Some(from.signed);
                }
                self.add(terms[0], factor, adding)?;
            }
            Term::Apply { operation: Operation::Multiply, ty, terms }
                if let Some(times) = number(terms[1]) =>
            {
                self.add(terms[0], factor.wrapping_mul(signed(times, ty.bits)), adding)?;
            }
            Term::Apply { operation: Operation::ShiftLeft, terms, .. }
                if let Some(by) = number(terms[1]).filter(|by| *by < 32) =>
            {
                self.add(terms[0], factor.wrapping_mul(1 << by), adding)?;
            }
            // All bits turned round: -1 less the number, which has a sign.
            Term::Apply { operation: Operation::Not, terms, .. } if adding.widened != Some(false) => {
                adding.total.more(factor.wrapping_neg());
                self.add(terms[0], factor.wrapping_neg(), adding)?;
            }
            Term::Apply { operation: Operation::MultiplyWide, ty, terms } => {
                adding.widened = Some(ty.signed);
                match number(terms[1]) {
                    Some(times) => {
                        let times = if ty.signed { signed(times, 32) } else { times as i64 };
                        self.add(terms[0], factor.wrapping_mul(times), adding)?;
                    }
                    None => self.add_product(terms, factor, adding)?,
                }
            }
            Term::Apply { operation: Operation::Multiply, terms, .. } => {
                self.add_product(terms, factor, adding)?;
            }
            Term::Gained { header, step } if let Some(step) = number(*step) => {
                // What goes down in 32 bits does so in 64.
                let by = if u32::try_from(step).is_ok() { signed(step, 32) } else { step as i64 };
                adding.total.varies = true;
                let iteration = self.iteration(*header, adding.words)?;
                adding.total.add(iteration, factor.wrapping_mul(by));
            }
            _ => self.add_term(value, factor, adding)?,
        }
        Some(())
    }

    /// Adds so many times what is not looked into.
    fn add_term(&self, value: ValueId, factor: i64, adding: &mut Adding<'_>) -> Option<()> {
        let is_same = |term: &Term| match term {
            Term::Same(_) | Term::Known(_) | Term::Sum { .. } | Term::Apply { .. } => true,
            Term::Loaded { varies, .. } => !varies,
            _ => false,
        };
        adding.total.varies |= any(self.agent.values, value, |term| !is_same(term));
        let text = self.widened(value, adding)?;
        adding.total.add(text, factor);
        Some(())
    }

    /// Adds so many times a product: in which order, and whether it is made wider before or behind, does not
    /// matter.
    fn add_product(&self, terms: &[ValueId], factor: i64, adding: &mut Adding<'_>) -> Option<()> {
        let mut parts = Vec::new();
        for term in terms {
            let (inside, signed) = match self.agent.values.term(*term) {
                Term::Apply { operation: Operation::Convert(from), ty, terms } if is_wider(*from, *ty) => {
                    (terms[0], Some(from.signed))
                }
                _ if self.is_word(*term) => (*term, adding.widened.or(Some(false))),
                _ => (*term, adding.widened),
            };
            let around = std::mem::replace(&mut adding.widened, signed);
            let is_fixed = !any(self.agent.values, inside, |term| {
                matches!(
                    term,
                    Term::Gained { .. } | Term::Meet { .. } | Term::Given { .. } | Term::Unknown { .. }
                )
            });
            adding.total.varies |= !is_fixed;
            parts.push(self.widened(inside, adding)?);
            adding.widened = around;
        }
        parts.sort();
        adding.total.add(format!("({})", parts.join("*")), factor);
        Some(())
    }

    /// A term in words, with a word where it is made wider without its sign and may have one.
    fn widened(&self, value: ValueId, adding: &mut Adding<'_>) -> Option<String> {
        let text = self.text(value, adding.words)?;
        let has_none = match self.agent.values.term(value) {
            Term::Same(name) => is_index(&self.name(*name)),
            Term::Gained { .. } => true,
            _ => self.agent.values.width(value) < 32,
        };
        Some(if adding.widened == Some(false) && !has_none { format!("{text}:u") } else { text })
    }

    /// A function that is not followed further, or a load, in words.
    pub(super) fn pure(&self, name: &str, terms: &[ValueId], words: &mut Words) -> Option<String> {
        let is_load = is_load(name);
        let mut parts = Vec::new();
        for (at, term) in terms.iter().enumerate() {
            let is_address = is_load && at == 0;
            parts.push(if is_address { self.address(*term, words) } else { self.text(*term, words) }?);
        }
        let parts = parts.join(",");
        Some(if is_load { format!("mem[{parts}]{}", width(name)) } else { format!("{name}({parts})") })
    }

    /// Whether a load finds more than 32 bits.
    pub(super) fn is_wide(&self, at: usize) -> bool {
        [":64", ":128"].contains(&self.loaded(at).as_str())
    }

    /// What is loaded from an address, if not 32 bits: parts of a word are not the word.
    pub(super) fn loaded(&self, at: usize) -> String {
        match &self.code.instructions[at].action {
            Action::Compute { arguments, .. } => match arguments.as_slice() {
                [_, Argument::Same(ty)] => width(&self.name(*ty)),
                _ => String::new(),
            },
            _ => String::new(),
        }
    }
}

/// Whether a register says where in the grid or in its group somebody is, or how large these are.
fn is_index(name: &str) -> bool {
    ["%tid", "%ntid", "%ctaid", "%nctaid", "%clusterid", "%nclusterid"]
        .iter()
        .any(|known| name.starts_with(known))
}

fn is_wider(from: Type, to: Type) -> bool {
    from.bits >= 32 && to.bits == 64
}

fn is_sum(term: &Term) -> bool {
    match term {
        Term::Sum { .. } | Term::Gained { .. } => true,
        Term::Apply { operation, .. } => {
            matches!(operation, Operation::Multiply | Operation::ShiftLeft | Operation::Not)
        }
        _ => false,
    }
}
