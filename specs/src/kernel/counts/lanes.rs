//! Numbers that some lanes of a warp count while the others wait for them.
//!
//! An elected lane loads what a tile needs, `if elected { for i < n { … } }`, in the loop over tiles. The
//! answers that it asks for are those of its warp: the other lanes, which have come past, must not ask for
//! what is left of the number before the next one begins. So the lane asks for all that is left itself, and
//! where the lanes meet again the number is done with for all of them. That is right where nobody uses the
//! number behind that: in what follows of the same iteration of the loop with which it changes, where it
//! begins anew in the next.
//!
//! Where the other lanes use it, as a ring goes on by the number for all of them, they pass through the loop
//! together with the elected lane and do nothing in it: `for i < n { if elected { … } }`. They ask for no
//! answer by themselves then. Between two iterations the elected lane waits for them, as they do for it at
//! the end, and as they do nothing on barriers nobody can tell.
//!
//! In any other case lanes of a warp would take answers from one another that are about the same number, and
//! other warps would take them for those about the next: each warp decides for itself then.

use std::collections::BTreeSet;

use crate::common::span::Span;
use crate::kernel::mentions::{all_assigned, reads, words_of};
use crate::kernel::tree::{
    Amount, Condition, Counted, Counting, Statement, Statements, breaks, continues, ends, exits, synchronises,
};

/// Ends numbers where lanes meet again of which only some have counted them.
pub(super) fn end(statements: &mut Statements) {
    list(statements, &BTreeSet::new());
    let mut torn = BTreeSet::new();
    tear(statements, &BTreeSet::new(), &mut torn);
    for key in torn {
        each(statements, &mut |counted| counted.is_private |= counted.key == key);
    }
}

/// `after` are the variables that are used behind the statements.
fn list(statements: &mut Statements, after: &BTreeSet<String>) {
    let mut used = after.clone();
    let mut at = statements.len();
    while at > 0 {
        at -= 1;
        if let Some(together) = together(&statements[at], &used) {
            let number = together.len();
            statements.splice(at..=at, together);
            at += number;
            continue;
        }
        let more = uses(&statements[at]);
        match &mut statements[at] {
            Statement::If { condition, then, otherwise, .. } => {
                let ended = if condition.parts() { ended(then, otherwise, &used) } else { Vec::new() };
                list(then, &used);
                list(otherwise, &used);
                let resets: Statements = ended.iter().flat_map(done_with).collect();
                statements.splice(at + 1..at + 1, resets);
            }
            Statement::Loop { body, .. } | Statement::For { body, .. } => {
                let round = comes_round(body, &used);
                list(body, &round);
            }
            _ => {}
        }
        used.extend(more);
    }
}

/// The numbers that one of two ways asks about and the other does not, if they are not used behind them: all
/// that is left of them is asked for at its end.
fn ended(then: &mut Statements, otherwise: &mut Statements, used: &BTreeSet<String>) -> Vec<Counted> {
    let [one, other] = [asked(then), asked(otherwise)];
    let mut ended = Vec::new();
    for (own, others, arm) in [(&one, &other, then), (&other, &one, otherwise)] {
        for counted in own {
            let is_used = variables(counted).iter().any(|local| used.contains(local));
            let is_others = others.iter().any(|other| other.left == counted.left);
            if is_used || is_others || ends(arm) || leaves(arm) {
                continue;
            }
            let counting = Counting::Finish;
            arm.push(Statement::Count(Box::new(Counted { counting, ..counted.clone() })));
            ended.push(counted.clone());
        }
    }
    ended
}

/// A branch of some lanes in which they count a number that is used behind it, as all lanes pass through it
/// together; `None` if there is no need, or if it is not known that they would go the same way.
fn together(statement: &Statement, used: &BTreeSet<String>) -> Option<Statements> {
    let Statement::If { condition, then, otherwise, span } = statement else { return None };
    let is_used = |arm: &Statements| {
        asked(arm).iter().any(|counted| variables(counted).iter().any(|local| used.contains(local)))
    };
    let (condition, counting, others) = match (condition.parts(), is_used(then), is_used(otherwise)) {
        (true, true, false) => (condition.clone(), then, otherwise),
        (true, false, true) => (condition.clone().negated()?, otherwise, then),
        _ => return None,
    };
    let Condition::Value { text, .. } = &condition else { return None };
    let words = words_of(text);
    let is_kept = all_assigned(counting).iter().all(|local| !words.contains(local));
    let is_idle = !synchronises(others) && !exits(others) && !counts(others);
    if !is_kept || !is_idle || turns(counting) || turns(others) {
        return None;
    }
    let same: BTreeSet<String> = asked(counting).iter().flat_map(known).collect();
    let lanes = Lanes { condition: &condition, same: &same, span: *span };
    let mut passed = lanes.pass(counting)?;
    if !others.is_empty() {
        let (condition, otherwise) = (condition.clone(), others.clone());
        passed.push(Statement::If { condition, then: Vec::new(), otherwise, span: *span });
    }
    Some(passed)
}

/// Collects the numbers that only some lanes of a warp count, or some further than others, although others
/// ask about them as well.
fn tear(statements: &[Statement], after: &BTreeSet<String>, torn: &mut BTreeSet<String>) {
    let mut used = after.clone();
    for statement in statements.iter().rev() {
        match statement {
            Statement::If { condition, then, otherwise, .. } => {
                if condition.parts() {
                    let [one, other] = [asked(then), asked(otherwise)];
                    let is_shared = |counted: &&Counted| {
                        let is_others = |list: &[Counted]| list.iter().any(|own| own.left == counted.left);
                        let is_used = variables(counted).iter().any(|local| used.contains(local));
                        is_used || is_others(&one) && is_others(&other)
                    };
                    let shared = one.iter().chain(&other).filter(is_shared);
                    torn.extend(shared.map(|counted| counted.key.clone()));
                }
                tear(then, &used, torn);
                tear(otherwise, &used, torn);
            }
            Statement::Loop { body, .. } | Statement::For { body, .. } => {
                if parts_ways(body) {
                    torn.extend(asked(body).into_iter().filter(|it| it.varies).map(|it| it.key));
                }
                tear(body, &comes_round(body, &used), torn);
            }
            _ => {}
        }
        used.extend(uses(statement));
    }
}

/// Whether lanes of a warp may go on in an iteration, or leave the loop, apart from others.
fn parts_ways(body: &[Statement]) -> bool {
    body.iter().any(|statement| match statement {
        Statement::If { condition, then, otherwise, .. } => {
            condition.parts() && (turns(then) || turns(otherwise))
                || parts_ways(then)
                || parts_ways(otherwise)
        }
        _ => false,
    })
}

/// The variables that are used behind an iteration of a loop: what comes round uses what the body uses, but
/// for numbers that begin there.
fn comes_round(body: &[Statement], after: &BTreeSet<String>) -> BTreeSet<String> {
    let mut round: BTreeSet<String> = body.iter().flat_map(uses).chain(after.clone()).collect();
    for statement in body {
        if let Statement::Count(counted) = statement
            && matches!(counted.counting, Counting::Begin { again: true })
        {
            variables(counted).iter().for_each(|local| {
                round.remove(local);
            });
        }
    }
    round
}

/// Changes how numbers are counted.
fn each(statements: &mut Statements, with: &mut impl FnMut(&mut Counted)) {
    for statement in statements {
        match statement {
            Statement::Count(counted) => with(counted),
            Statement::If { then, otherwise, .. } => {
                each(then, with);
                each(otherwise, with);
            }
            Statement::Loop { body, .. } | Statement::For { body, .. } => each(body, with),
            _ => {}
        }
    }
}

/// Some lanes of a warp, and what all of them know.
struct Lanes<'l> {
    condition: &'l Condition,
    same: &'l BTreeSet<String>,
    span: Span,
}

impl Lanes<'_> {
    /// Statements of these lanes as all lanes pass through them.
    fn pass(&self, statements: &[Statement]) -> Option<Statements> {
        let (mut passed, mut own) = (Vec::new(), Vec::new());
        for statement in statements {
            let is_own = !counts(std::slice::from_ref(statement)) && !turns(std::slice::from_ref(statement));
            if is_own {
                if exits(std::slice::from_ref(statement)) {
                    return None;
                }
                own.push(statement.clone());
                continue;
            }
            passed.extend(self.alone(&mut own));
            passed.push(match statement {
                Statement::If { condition, then, otherwise, span } if self.is_same(condition) => {
                    let (then, otherwise) = (self.pass(then)?, self.pass(otherwise)?);
                    Statement::If { condition: condition.clone(), then, otherwise, span: *span }
                }
                Statement::Loop { body, header, span } => {
                    Statement::Loop { body: self.pass(body)?, header: *header, span: *span }
                }
                Statement::Count(_) | Statement::Break | Statement::Continue => statement.clone(),
                _ => return None,
            });
        }
        passed.extend(self.alone(&mut own));
        Some(passed)
    }

    /// What these lanes do by themselves.
    fn alone(&self, own: &mut Statements) -> Option<Statement> {
        let then = std::mem::take(own);
        let condition = self.condition.clone();
        (!then.is_empty()).then(|| Statement::If { condition, then, otherwise: Vec::new(), span: self.span })
    }

    /// Whether a condition has one outcome for all lanes.
    fn is_same(&self, condition: &Condition) -> bool {
        match condition {
            Condition::Uniform { .. } | Condition::OfWarp => true,
            Condition::OfLane => false,
            Condition::Value { text, decided, .. } => {
                !decided.is_private && words_of(text).iter().all(|word| self.same.contains(word))
            }
        }
    }
}

/// Whether numbers are counted among statements.
fn counts(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::Count(_) => true,
        Statement::If { then, otherwise, .. } => counts(then) || counts(otherwise),
        Statement::Loop { body, .. } | Statement::For { body, .. } => counts(body),
        _ => false,
    })
}

/// Whether statements decide about further iterations of the loop around them.
fn turns(statements: &[Statement]) -> bool {
    breaks(statements) || continues(statements)
}

/// A number as it is where nobody uses it any more.
fn done_with(counted: &Counted) -> Statements {
    let reset = |local: String| {
        let value = Amount { text: "0".to_owned(), number: Some(0), step: None };
        Statement::Set { local, value, span: counted.span }
    };
    variables(counted).into_iter().map(reset).collect()
}

/// The variables for a number that change while it is counted. What it is altogether may be known from its
/// beginning on, and how many of its first thresholds it reaches always is.
fn variables(counted: &Counted) -> BTreeSet<String> {
    let asked = counted.residue.iter().map(|residue| &residue.asked);
    [&counted.left].into_iter().chain(asked).cloned().collect()
}

/// All variables that hold what is known of a number.
fn known(counted: &Counted) -> BTreeSet<String> {
    let number = counted.residue.iter().map(|residue| residue.number.clone());
    variables(counted).into_iter().chain([counted.count.clone()]).chain(number).collect()
}

/// The numbers that are asked about ahead in statements and do not begin there.
fn asked(statements: &[Statement]) -> Vec<Counted> {
    let (mut found, mut begun) = (Vec::<Counted>::new(), BTreeSet::new());
    let mut work: Vec<&Statement> = statements.iter().collect();
    while let Some(statement) = work.pop() {
        match statement {
            Statement::Count(counted)
                if matches!(counted.counting, Counting::Begin { .. } | Counting::Choose) =>
            {
                begun.insert(counted.left.clone());
            }
            Statement::Count(counted) if found.iter().all(|known| known.left != counted.left) => {
                found.push((**counted).clone());
            }
            Statement::If { then, otherwise, .. } => work.extend(then.iter().chain(otherwise)),
            Statement::Loop { body, .. } | Statement::For { body, .. } => work.extend(body),
            _ => {}
        }
    }
    found.retain(|counted| counted.ahead > 0 && !begun.contains(&counted.left));
    found
}

/// The variables that a statement uses, those of numbers that are counted in it among them.
fn uses(statement: &Statement) -> BTreeSet<String> {
    let mut found = reads(std::slice::from_ref(statement));
    if let Statement::Set { value, .. } = statement {
        found.extend(words_of(&value.text));
    }
    let mut work = vec![statement];
    while let Some(statement) = work.pop() {
        match statement {
            Statement::Count(counted) => found.extend(variables(counted)),
            Statement::If { then, otherwise, .. } => work.extend(then.iter().chain(otherwise)),
            Statement::Loop { body, .. } | Statement::For { body, .. } => work.extend(body),
            _ => {}
        }
    }
    found
}

/// Whether statements leave the loop around them, or the kernel.
fn leaves(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::Break | Statement::Continue | Statement::Exit { .. } => true,
        Statement::If { then, otherwise, .. } => leaves(then) || leaves(otherwise),
        Statement::Loop { body, .. } | Statement::For { body, .. } => exits(body),
        _ => false,
    })
}
