//! Numbers that some lanes of a warp count while the others wait for them.
//!
//! An elected lane loads what a tile needs, `if elected { for i < n { … } }`, in the loop over tiles. The
//! answers that it asks for are those of its warp: the other lanes, which have come past, must not ask for
//! what is left of the number before the next one begins. So the lane asks for all that is left itself, and
//! where the lanes meet again the number is done with for all of them. That is right where nobody uses the
//! number behind that: in what follows of the same iteration of the loop with which it changes, where it
//! begins anew in the next.

use std::collections::BTreeSet;

use crate::kernel::mentions::{reads, words_of};
use crate::kernel::tree::{Amount, Counted, Counting, Statement, Statements, ends};

/// Ends numbers where lanes meet again of which only some have counted them.
pub(super) fn end(statements: &mut Statements) {
    list(statements, &BTreeSet::new());
}

/// `after` are the variables that are used behind the statements.
fn list(statements: &mut Statements, after: &BTreeSet<String>) {
    let mut used = after.clone();
    let mut at = statements.len();
    while at > 0 {
        at -= 1;
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
                // What comes round uses what the body uses, but for numbers that begin there.
                let mut round: BTreeSet<String> = body.iter().flat_map(uses).chain(used.clone()).collect();
                for statement in body.iter() {
                    if let Statement::Count(counted) = statement
                        && matches!(counted.counting, Counting::Begin { again: true })
                    {
                        variables(counted).iter().for_each(|local| {
                            round.remove(local);
                        });
                    }
                }
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

/// The numbers that are asked about ahead in statements and do not begin there.
fn asked(statements: &[Statement]) -> Vec<Counted> {
    let (mut found, mut begun) = (Vec::<Counted>::new(), BTreeSet::new());
    let mut work: Vec<&Statement> = statements.iter().collect();
    while let Some(statement) = work.pop() {
        match statement {
            Statement::Count(counted) if matches!(counted.counting, Counting::Begin { .. }) => {
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

fn exits(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::Exit { .. } => true,
        Statement::If { then, otherwise, .. } => exits(then) || exits(otherwise),
        Statement::Loop { body, .. } | Statement::For { body, .. } => exits(body),
        _ => false,
    })
}
