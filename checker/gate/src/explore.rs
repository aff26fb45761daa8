//! Explorations, in the child: what loom, shuttle and the operating system make of a protocol's threads.

use super::agent;
use super::child::{self, Answer, Cause, End, Noted, Request};
use super::choices::{Chance, Choices, Script, scramble};
use super::effort::{Extent, MOST_UNDER_LOOM, With};
use super::plan::Plan;
use super::protocol::Protocol;
use super::record::{Ending, Record};
use crate::barriers::{Loom, Runtime, Shuttle, Std};
use barcheck_model::machine::{ExitedThreads, Options};
use std::panic;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Steps of an agent after which an execution is not followed further. Loom, which explores only what ends,
/// then gives up.
const MOST_STEPS: u32 = 2_000;
/// Steps of all agents together after which a random execution is not followed further: endless loops get
/// a fair look, and time for other schedules is left.
const MOST_STEPS_OF_ALL: usize = 20_000;
/// Branches that loom may meet in one execution.
const MOST_BRANCHES: usize = 100_000;
/// Preemption bounds, tried one after the other before everything is.
const BOUNDS: [usize; 3] = [1, 2, 3];
/// Bytes of stack for an agent under shuttle.
const STACK: usize = 0x4_0000;
/// Threads of the operating system that make no step for this long hang.
const STILL: Duration = Duration::from_millis(700);

/// What an exploration has done so far, for whoever ends it: the end of time, a panic, or its own end.
struct Exploration {
    record: Arc<Record>,
    combinations: AtomicU64,
    extent: Mutex<Option<Extent>>,
    /// Executions made to their end.
    finished: AtomicU64,
    /// They are chosen at random: how many there were is all that can be said.
    samples: bool,
}

impl Exploration {
    /// Answers the parent and ends this process. Made in a thread of its own: the explorers' stacks are
    /// small.
    fn end(self: &Arc<Self>, end: Option<End>) -> ! {
        let this = Arc::clone(self);
        let answering = thread::spawn(move || this.answer(end));
        match answering.join() {
            Ok(never) => never,
            Err(_) => std::process::exit(1),
        }
    }

    fn answer(&self, end: Option<End>) -> ! {
        let reached = *self.extent.lock().unwrap_or_else(PoisonError::into_inner);
        let sample = Extent::Sample(self.finished.load(Ordering::Relaxed));
        let extent = if self.samples { Some(sample) } else { reached };
        let noted = self.record.noted().into_iter();
        let noted = noted.map(|rule| Noted {
            rule: rule.name().to_owned(),
            steps: self.record.steps_to(rule).unwrap_or_default(),
        });
        child::answer(&Answer {
            executions: self.record.executions(),
            cut: self.record.executions_cut(),
            combinations: self.combinations.load(Ordering::Relaxed),
            extent,
            end,
            noted: noted.collect(),
            schedule: None,
        })
    }

    /// Ends with what the current execution came to.
    fn end_with(self: &Arc<Self>, cause: Cause) -> ! {
        let steps = self.record.steps();
        self.end(Some(End { cause, steps }))
    }

    fn reached(&self, extent: Extent) {
        *self.extent.lock().unwrap_or_else(PoisonError::into_inner) = Some(extent);
    }

    /// Runs all agents once.
    fn execute<R: Runtime>(&self, plan: &Arc<Plan>) {
        agent::execute::<R>(plan);
        self.finished.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends the exploration when its time is up, wherever it is then; at once if there is none, and not when
    /// a thread has come to run.
    fn limit(self: &Arc<Self>, time: Duration) {
        if time.is_zero() {
            self.end(None);
        }
        let this = Arc::clone(self);
        thread::spawn(move || {
            thread::sleep(time);
            this.end(None)
        });
    }
}

/// The most steps that each of so many agents makes in a random execution.
fn most_steps(agents: usize) -> u32 {
    u32::try_from(MOST_STEPS_OF_ALL / agents.max(1)).map_or(MOST_STEPS, |share| share.clamp(100, MOST_STEPS))
}

/// Explores what the parent process asks for, answers it and ends this process.
pub fn explore_here() -> ! {
    let request = match child::request() {
        Ok(request) => request,
        Err(error) => {
            eprintln!("cannot read what is to be explored: {error}");
            std::process::exit(1);
        }
    };
    let exploration = Arc::new(Exploration {
        record: Arc::new(Record::new(request.effort.all)),
        combinations: AtomicU64::new(0),
        extent: Mutex::new(None),
        finished: AtomicU64::new(0),
        samples: request.with != With::Loom,
    });
    let exited_threads = if request.release_on_exit { ExitedThreads::Release } else { ExitedThreads::Hold };
    let options = Options { exited_threads };
    let protocol = match Protocol::parse(&request.file, request.text.as_bytes(), &request.defines, options) {
        Ok(protocol) => protocol,
        Err(error) => exploration.end_with(Cause::Unfit(error)),
    };
    hook(&exploration);
    exploration.limit(request.effort.time());
    match request.with {
        With::Loom => under_loom(&exploration, &protocol, &request),
        With::Shuttle => under_shuttle(&exploration, &protocol, &request),
        With::Std => on_threads(&exploration, &protocol, &request),
    }
    exploration.end(None)
}

/// A panic is how explorers and agents end an exploration: it is answered before anything unwinds, because
/// what would unwind holds the explorer's locks.
fn hook(exploration: &Arc<Exploration>) {
    let exploration = Arc::clone(exploration);
    panic::set_hook(Box::new(move |info| {
        let message = info.payload_as_str().unwrap_or("panic without words").to_owned();
        // Of a deadlock, shuttle says in the panic alone how to see it again.
        if message.contains(child::SCHEDULE) {
            eprintln!("{message}");
        }
        let cause = match exploration.record.ending() {
            Some(ending) => cause_of(ending),
            None if message.contains("deadlock") => Cause::Deadlock,
            None if message.contains("Causality violation") => Cause::Race,
            None => Cause::Explorer(match info.location() {
                Some(place) => format!("{message} ({}:{})", file_name(place.file()), place.line()),
                None => message,
            }),
        };
        exploration.end_with(cause)
    }));
}

/// The last part of a path: where a file lies on the machine that built this says nothing.
fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

fn cause_of(ending: Ending) -> Cause {
    match ending {
        Ending::Violation(rule) => Cause::Violation(rule.name().to_owned()),
        Ending::Unfit(why) => Cause::Unfit(why),
        Ending::Contradiction(what) => Cause::Contradiction(what),
    }
}

/// Every combination of choices under every schedule, with ever more preemptions.
fn under_loom(exploration: &Arc<Exploration>, protocol: &Protocol, request: &Request) {
    let agents = protocol.program.agents.len();
    if agents > MOST_UNDER_LOOM {
        let why = format!(
            "{agents} agents are more than the {MOST_UNDER_LOOM} that loom runs beside its main thread"
        );
        exploration.end_with(Cause::Unfit(why));
    }
    let bounds: Vec<Option<usize>> = match request.effort.preemptions {
        Some(bound) => vec![Some(bound)],
        None => BOUNDS.into_iter().map(Some).chain([None]).collect(),
    };
    exploration.reached(Extent::Unfinished);
    for bound in bounds {
        let script = Arc::new(Script::default());
        exploration.combinations.store(0, Ordering::Relaxed);
        loop {
            exploration.combinations.fetch_add(1, Ordering::Relaxed);
            let choices = Arc::clone(&script) as Arc<dyn Choices>;
            let plan = Plan::new(protocol, Arc::clone(&exploration.record), choices, MOST_STEPS);
            let plan = Arc::new(plan.all_must_end());
            let watch = Arc::clone(exploration);
            let mut builder = loom::model::Builder::new();
            builder.max_branches = MOST_BRANCHES;
            builder.preemption_bound = bound;
            builder.check(move || {
                watch.execute::<Loom>(&plan);
            });
            if !script.advance() {
                break;
            }
        }
        exploration.reached(bound.map_or(Extent::Everything, Extent::Preemptions));
    }
}

/// Random schedules: uniformly, and with few changes of priority (PCT), in turn.
fn under_shuttle(exploration: &Arc<Exploration>, protocol: &Protocol, request: &Request) {
    use shuttle::scheduler::{PctScheduler, RandomScheduler, ReplayScheduler};
    let mut config = shuttle::Config::new();
    config.stack_size = STACK;
    config.max_steps = shuttle::MaxSteps::ContinueAfter(MOST_STEPS as usize * 20 * protocol.agents().max(1));
    config.silence_warnings = true;
    let (watch, protocol) = (Arc::clone(exploration), protocol.clone());
    let run = Arc::new(move || {
        // Drawn from the schedule, so that the schedule alone replays the protocol's choices too.
        let seed = shuttle::rand::RngCore::next_u64(&mut shuttle::rand::thread_rng());
        let choices = Arc::new(Chance(seed)) as Arc<dyn Choices>;
        let most_steps = most_steps(protocol.agents());
        watch.execute::<Shuttle>(&Arc::new(Plan::new(
            &protocol,
            Arc::clone(&watch.record),
            choices,
            most_steps,
        )));
    });
    let body = |run: &Arc<dyn Fn() + Send + Sync>| {
        let run = Arc::clone(run);
        move || run()
    };
    let run: Arc<dyn Fn() + Send + Sync> = run;
    if let Some(schedule) = &request.effort.schedule {
        let mut scheduler = ReplayScheduler::new_from_encoded(schedule);
        scheduler.set_allow_incomplete();
        shuttle::Runner::new(scheduler, config).run(body(&run));
        return;
    }
    // Four schedulers in turn, in rounds that grow: a violation that one of them finds at once is not to wait
    // for another's last execution.
    let (mut left, mut round, mut seed) = (request.effort.executions, 25, request.effort.seed);
    while left > 0 {
        for depth in 0..=3_usize {
            let n = usize::try_from(left.min(round)).unwrap_or(usize::MAX);
            if n == 0 {
                break;
            }
            if depth == 0 {
                let scheduler = RandomScheduler::new_from_seed(seed, n);
                shuttle::Runner::new(scheduler, config.clone()).run(body(&run));
            } else {
                let scheduler = PctScheduler::new_from_seed(seed, depth, n);
                shuttle::Runner::new(scheduler, config.clone()).run(body(&run));
            }
            left -= n as u64;
            seed = scramble(seed);
        }
        round *= 2;
    }
}

/// Threads of the operating system.
fn on_threads(exploration: &Arc<Exploration>, protocol: &Protocol, request: &Request) {
    let watch = Arc::clone(exploration);
    thread::spawn(move || {
        let mut last = (0, 0);
        loop {
            thread::sleep(STILL);
            let now = (watch.record.executions(), watch.record.steps().len());
            if now == last && now.0 > 0 {
                watch.end_with(Cause::Deadlock);
            }
            last = now;
        }
    });
    for n in 0..request.effort.executions {
        let choices = Arc::new(Chance(scramble(request.effort.seed.wrapping_add(n)))) as Arc<dyn Choices>;
        let plan =
            Plan::new(protocol, Arc::clone(&exploration.record), choices, most_steps(protocol.agents()));
        exploration.execute::<Std>(&Arc::new(plan));
    }
}
