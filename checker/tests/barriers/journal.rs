//! What the tests share: a record of what an observer is told, and runs under loom.

use barcheck::barriers::{Effect, Event, Loom, Observer, Runtime, Stop, Violation};
use barcheck_model::rule::Rule;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Everything told, in one sequence. Clones are the same journal.
#[derive(Clone, Default)]
pub(crate) struct Journal(Arc<Mutex<Vec<String>>>);

impl Journal {
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().expect("no panic").clone()
    }

    /// The findings after which paths went on.
    pub(crate) fn notes(&self) -> Vec<String> {
        let lines = self.lines().into_iter();
        lines.filter_map(|line| line.strip_prefix("note ").map(str::to_owned)).collect()
    }

    fn write(&self, line: String) {
        self.0.lock().expect("no panic").push(line);
    }
}

fn place(barrier: Option<u32>) -> String {
    barrier.map(|barrier| format!(" {barrier}")).unwrap_or_default()
}

impl Observer for Journal {
    fn step(&self, agent: usize, event: &Event) {
        let effect = match event.effect {
            Effect::Done => String::new(),
            Effect::Blocked => " blocks".to_owned(),
            Effect::Refused(rule) => format!(": {}", rule.map_or("nothing is claimed", Rule::name)),
        };
        self.write(format!("{agent} {}{}{effect}", event.instruction, place(event.barrier)));
    }

    fn landed(&self, agent: usize, number: u32, event: &Event) {
        let effect = match event.effect {
            Effect::Done | Effect::Blocked => String::new(),
            Effect::Refused(rule) => format!(": {}", rule.map_or("nothing is claimed", Rule::name)),
        };
        self.write(format!("{agent} {}{} (its {number}){effect}", event.instruction, place(event.barrier)));
    }

    fn note(&self, agent: usize, rule: Rule, barrier: Option<u32>) {
        self.write(format!("note {agent} {rule}{}", place(barrier)));
    }

    fn completed(&self, barrier: u32, released: &[usize]) {
        self.write(format!("complete {barrier} {released:?}"));
    }
}

/// Runs two threads to their ends.
pub(crate) fn both<R: Runtime, A: Send + 'static, B>(
    one: impl FnOnce() -> A + Send + 'static,
    other: impl FnOnce() -> B,
) -> (A, B) {
    let one = R::spawn(one);
    let other = other();
    (R::join(one).expect("no panic"), other)
}

/// Two instructions that cannot meet, at once: whichever is second is refused, gives the group up, and lets
/// the first return. Gives the rules of both, sorted.
pub(crate) fn clash<M: Violation>(
    one: impl FnOnce() -> Stop<M> + Send + 'static,
    other: impl FnOnce() -> Stop<M>,
) -> [Option<Rule>; 2] {
    let (one, other) = both::<Loom, _, _>(one, other);
    let mut rules = [one.rule(), other.rule()];
    rules.sort_unstable();
    rules
}

/// Every execution, up to so many preemptions, and how many those are.
pub(crate) fn executions(bound: Option<usize>, run: impl Fn() + Send + Sync + 'static) -> usize {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = bound;
    builder.check(move || {
        counter.fetch_add(1, Ordering::Relaxed);
        run();
    });
    count.load(Ordering::Relaxed)
}

/// What loom panics with. Nothing holds a lock where a barrier blocks, so that its panic can be caught.
pub(crate) fn failure(run: impl Fn() + Send + Sync + 'static) -> String {
    let failed =
        std::panic::catch_unwind(AssertUnwindSafe(|| loom::model(run))).expect_err("an execution that fails");
    let text = failed.downcast_ref::<String>().cloned();
    text.or_else(|| failed.downcast_ref::<&str>().map(|text| (*text).to_owned())).expect("a text")
}
