//! The plain search: breadth first over every reachable state.
//!
//! States are explored in the order of their discovery, so that the first violation found has a path of
//! minimal length. Most successors come from the tables ([`Tables::swift_successors`]); where these do not
//! suffice, the model is asked, state by state. Successors are collected and handed to the visited set
//! together, see [`Store::insert_all`].

mod checkpoint;
pub(crate) mod drive;
mod explore;
mod pipeline;
mod report;
mod resume;
mod stuck;
mod trace_back;

use crate::packed::batch::Batch;
use crate::packed::layout::{Layout, Packed, Sizes};
use crate::settings::{Budgets, Control, Note, Progress, Settings};
use crate::successors::canonical::Symmetry;
use crate::successors::expand::{Opened, Successor};
use crate::successors::swift::{Scratch, Swift};
use crate::successors::tables::Tables;
use crate::verdict::Inconclusive;
use crate::visited::{Room, StateId, Store};
use barcheck_model::machine::{Choice, End, Finding, Path};
use barcheck_model::program::{AgentId, Place};
use barcheck_model::rule::{Level, Rule};
use checkpoint::Checkpoint;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Successors made before they are inserted.
pub(crate) const BATCH: usize = 1024;
/// States explored between two looks at the budgets.
pub(crate) const BETWEEN_LOOKS: StateId = 1024;
/// So many states are added meanwhile, at most; more would be a surprise, and be noticed at the second look.
pub(crate) const BETWEEN_LOOKS_AT_MOST: usize = 512 * BETWEEN_LOOKS as usize;

/// Steps that the model is asked for may take long: the clock is looked at between them, this often.
const BETWEEN_CLOCKS: Duration = Duration::from_millis(100);

/// Indices have 31 bits at most: so many fill a table of 2^31 entries to three quarters, less what two looks
/// may add.
pub(crate) const MOST_STATES: u64 = (3 << 29) - 1024 * BETWEEN_LOOKS_AT_MOST as u64;

/// Where a violation was found: in a state, or at a step from it.
#[derive(Clone, Debug)]
pub(crate) struct Violation {
    pub(crate) finding: Finding,
    pub(crate) state: StateId,
    pub(crate) step: Option<Choice>,
}

/// One finding is kept for each rule and place; barriers that hold arrivals in the end have no place.
type Key = (Rule, Place, u32);

/// The state of a search, its visited set aside.
pub(crate) struct Search<'a> {
    pub(crate) tables: Tables,
    pub(crate) layout: Layout,
    /// For that layout.
    pub(crate) swift: Swift,
    pub(crate) symmetry: Symmetry,
    pub(crate) settings: &'a Settings,
    pub(crate) control: &'a dyn Control,
    pub(crate) started: Instant,
    /// How far the search had come at the last look.
    progress: Progress,
    /// When the clock was last looked at.
    last_look: Instant,
    /// The next state to explore.
    pub(crate) next: StateId,
    /// The first state of the next depth.
    pub(crate) level_end: StateId,
    pub(crate) transitions: u64,
    pub(crate) depth: u64,
    pub(crate) peak_bytes: u64,
    pub(crate) violations: BTreeMap<Key, Violation>,
    /// Where the first evaluation error was reached.
    pub(crate) fault: Option<(StateId, Option<Choice>)>,
    /// Where the model first could not follow a path, if that is why the search is inconclusive.
    pub(crate) cut: Option<(StateId, Option<Choice>)>,
    /// Why not everything was covered.
    pub(crate) inconclusive: Option<Inconclusive>,
    /// The first finding at level error, unless all are wanted.
    pub(crate) stopped_at: Option<Key>,
    pub(crate) has_rehearsed: bool,
    /// So many are enough, those included that were made of a state before the layout had to be widened.
    pub(crate) most_transitions: Option<u64>,
    transitions_undone: u64,
    /// What several threads take for themselves.
    pub(crate) thread_bytes: u64,
    /// How often something may have been learnt of steps.
    pub(crate) times_learnt: u64,
    /// Where to write down from time to time how far the search has come.
    pub(crate) checkpoint: Option<Checkpoint>,
    /// If there is a checkpoint, the states at which the model was asked something that left a trace, in
    /// order.
    pub(crate) asked: Vec<StateId>,
    /// The numbers that there were when states were laid out.
    pub(crate) laid_out: Sizes,
    /// What a search has found is found once more, up to this state, and budgets are not looked at.
    pub(crate) retraces: Option<StateId>,
}

/// What a search has found so far.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    violations: BTreeMap<Key, Violation>,
    fault: Option<(StateId, Option<Choice>)>,
    cut: Option<(StateId, Option<Choice>)>,
    inconclusive: Option<Inconclusive>,
    stopped_at: Option<Key>,
    transitions: u64,
    depth: u64,
}

/// Why [`Search::run`] returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// Every state has been explored.
    Complete,
    /// An error was found and no more are wanted, or a budget is used up.
    Stopped,
    /// Numbers have outgrown the layout: repack and go on.
    Widen,
}

impl<'a> Search<'a> {
    pub(crate) fn new(
        tables: Tables,
        symmetry: Symmetry,
        settings: &'a Settings,
        control: &'a dyn Control,
        started: Instant,
    ) -> Self {
        Self {
            layout: Layout::default(),
            swift: Swift::default(),
            tables,
            symmetry,
            settings,
            control,
            started,
            progress: Progress::default(),
            last_look: started,
            next: 0,
            level_end: 0,
            transitions: 0,
            depth: 0,
            peak_bytes: 0,
            violations: BTreeMap::new(),
            fault: None,
            cut: None,
            inconclusive: None,
            stopped_at: None,
            has_rehearsed: false,
            most_transitions: None,
            transitions_undone: 0,
            thread_bytes: 0,
            times_learnt: 0,
            checkpoint: None,
            asked: Vec::new(),
            laid_out: Sizes::default(),
            retraces: None,
        }
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Explores the next state.
    #[inline]
    pub(crate) fn explore<const W: usize>(
        &mut self,
        store: &Store<W>,
        (opened, scratch): (&mut Opened, &mut Scratch),
        batch: &mut Batch<W>,
    ) -> Option<Pause> {
        if self.most_transitions.is_some_and(|most| self.transitions + self.transitions_undone >= most) {
            self.inconclusive = Some(Inconclusive::States(store.len() as u64, None));
            return Some(Pause::Stopped);
        }
        let words = store.get(self.next);
        let before = batch.len();
        // Local computation may fail before the first step: states in which it did are not entered later.
        if self.next > 0 {
            let mut made = self.swift.successors(&words, scratch, batch);
            while made.is_none()
                && let Some(transformer) = scratch.missing()
                && let Some(fits) = self.tables.learn_transformer(&self.layout, &words, transformer)
            {
                if !fits {
                    return Some(Pause::Widen);
                }
                if !self.swift.learn_transformer(&self.tables, &words, transformer) {
                    break;
                }
                self.times_learnt += 1;
                made = self.swift.successors(&words, scratch, batch);
            }
            if made.is_some() && self.canonicalise(batch, before) {
                self.transitions += (batch.len() - before) as u64;
                // The states of many agents, sorted, take long until the next look.
                let is_late = |search: &mut Self| {
                    search.last_look.elapsed() > BETWEEN_CLOCKS && search.is_out_of_time()
                };
                return (!self.symmetry.is_trivial() && is_late(self)).then_some(Pause::Stopped);
            }
        }
        batch.truncate(before);
        let traces = self.checkpoint.is_some().then(|| self.traces());
        let pause = self.explore_by_tables(&words, opened, batch);
        if traces.is_some_and(|traces| traces != self.traces()) {
            self.asked.push(self.next);
        }
        if pause.is_none() {
            self.times_learnt += 1;
            self.swift.learn(&self.tables, &self.layout, &words);
        }
        pause
    }

    /// What only ever grows when the model is asked something new.
    fn traces(&self) -> (usize, usize, [bool; 3]) {
        let ends = [self.fault.is_some(), self.cut.is_some(), self.inconclusive.is_some()];
        (self.tables.numbers(), self.violations.len(), ends)
    }

    /// Explores a state with what the tables say, or the model.
    pub(crate) fn explore_by_tables<const W: usize>(
        &mut self,
        words: &Packed<W>,
        opened: &mut Opened,
        batch: &mut Batch<W>,
    ) -> Option<Pause> {
        self.tables.open(&self.layout, words, opened);
        let before = batch.len();
        let failed = self.next == 0 && self.fails_at_once(words, opened);
        let is_done = failed
            || !opened.is_last
                && self.tables.swift_successors(&self.layout, words, opened, batch)
                && self.canonicalise(batch, before);
        if is_done {
            self.transitions += (batch.len() - before) as u64;
            return None;
        }
        batch.truncate(before);
        self.explore_slowly(words, opened, batch)
    }

    /// Judges a state, and makes its successors one by one.
    fn explore_slowly<const W: usize>(
        &mut self,
        words: &Packed<W>,
        opened: &mut Opened,
        batch: &mut Batch<W>,
    ) -> Option<Pause> {
        let mut pause = None;
        if opened.is_last || self.tables.exceeds(&self.layout, words, opened) {
            let state = opened.state(&self.tables, &self.layout, words).clone();
            for finding in self.tables.machine.judge(&state) {
                pause = pause.or(self.record(finding, self.next, None));
            }
        }
        if pause.is_none() {
            let before = (self.transitions, batch.len());
            pause = self.expand(words, opened, batch);
            if pause == Some(Pause::Widen) {
                // The state is explored anew with the wider layout.
                self.transitions_undone += self.transitions - before.0;
                self.transitions = before.0;
                batch.truncate(before.1);
            }
        }
        pause
    }

    /// Brings the states in a batch, from some place on, into canonical form; `false` if the layout has no
    /// room for one.
    #[inline]
    fn canonicalise<const W: usize>(&mut self, batch: &mut Batch<W>, from: usize) -> bool {
        if self.symmetry.is_trivial() {
            return true;
        }
        for words in &mut batch.states_mut()[from..] {
            let Some(sorted) = self.symmetry.canonical(&mut self.tables, &self.layout, *words, None) else {
                return false;
            };
            *words = sorted;
        }
        true
    }

    /// Whether local computation has failed in the initial state; its path ends there.
    fn fails_at_once<const W: usize>(&mut self, words: &Packed<W>, opened: &mut Opened) -> bool {
        let state = opened.state(&self.tables, &self.layout, words);
        let machine = &self.tables.machine;
        let Some((agent, fault)) = machine.fault(state).map(|(agent, fault)| (agent, fault.clone())) else {
            return false;
        };
        let end = machine.end_of_fault(agent, &fault, Vec::new());
        self.end(end, 0, None);
        true
    }

    fn expand<const W: usize>(
        &mut self,
        words: &Packed<W>,
        opened: &mut Opened,
        batch: &mut Batch<W>,
    ) -> Option<Pause> {
        let id = self.next;
        for agent in 0..opened.slots.len() {
            let count = self.tables.slot(agent, opened.slots[agent]).moves.len();
            for index in 0..count {
                let picks = self.tables.picks(&self.layout, words, opened, agent, index);
                for pick in picks {
                    // A decision among billions is a search of its own: look at the budgets within it.
                    if pick % (1 << 16) == (1 << 16) - 1 && self.is_out_of_time() {
                        return Some(Pause::Stopped);
                    }
                    let Ok(pick) = u32::try_from(pick) else {
                        self.inconclusive.get_or_insert(Inconclusive::States(
                            u64::from(u32::MAX),
                            Some("the values of an `any`".to_owned()),
                        ));
                        return Some(Pause::Stopped);
                    };
                    let choice = Choice {
                        agent: AgentId::from_index(agent),
                        index: crate::packed::numbering::to_u32(index),
                        pick,
                    };
                    if let Some(pause) = self.make_step(words, opened, choice, id, batch) {
                        return Some(pause);
                    }
                }
            }
        }
        None
    }

    fn make_step<const W: usize>(
        &mut self,
        words: &Packed<W>,
        opened: &mut Opened,
        choice: Choice,
        id: StateId,
        batch: &mut Batch<W>,
    ) -> Option<Pause> {
        if self.last_look.elapsed() > BETWEEN_CLOCKS && self.is_out_of_time() {
            return Some(Pause::Stopped);
        }
        let mut noted = Vec::new();
        let successor = self.tables.successor(&self.layout, words, opened, choice, &mut |f| noted.push(f));
        let mut pause = None;
        for finding in noted {
            pause = pause.or(self.record(finding, id, Some(choice)));
        }
        self.transitions += 1;
        match successor {
            Successor::State(next) => {
                if !self.push(next, batch) {
                    return Some(Pause::Widen);
                }
            }
            Successor::TooWide => return Some(Pause::Widen),
            Successor::Same => {}
            Successor::None => self.transitions -= 1,
            Successor::End(end) => pause = pause.or(self.end(end, id, Some(choice))),
        }
        pause
    }

    /// Adds a successor to the batch; `false` if the layout has no room for it.
    fn push<const W: usize>(&mut self, next: Packed<W>, batch: &mut Batch<W>) -> bool {
        batch.push(next);
        let last = batch.len() - 1;
        self.canonicalise(batch, last)
    }

    /// Keeps a finding, if it is the first of its rule and place.
    fn record(&mut self, finding: Finding, state: StateId, step: Option<Choice>) -> Option<Pause> {
        let program = self.tables.machine.program();
        let rule = finding.rule;
        let level = self.settings.levels.of(rule, program.target);
        if level < Level::Error && rule.ends_path(program.target) {
            self.inconclusive.get_or_insert(Inconclusive::Lowered(rule));
        }
        let barrier = if rule == Rule::DanglingArrival { finding.barrier.map_or(0, |b| b.0) } else { 0 };
        let key = (rule, self.tables.machine.place(finding.agent, finding.pc), barrier);
        self.violations.entry(key).or_insert(Violation { finding, state, step });
        if level == Level::Error && !self.settings.all {
            self.stopped_at.get_or_insert(key);
            return Some(Pause::Stopped);
        }
        None
    }

    /// A path ends.
    fn end(&mut self, end: End, state: StateId, step: Option<Choice>) -> Option<Pause> {
        let mut pause = None;
        match end {
            End::Violation(finding) => pause = self.record(finding, state, step),
            End::Fault { noted, .. } => {
                for finding in noted {
                    pause = pause.or(self.record(finding, state, step));
                }
                self.fault.get_or_insert((state, step));
            }
            End::Cut { agent, at, reason, noted } => {
                for finding in noted {
                    pause = pause.or(self.record(finding, state, step));
                }
                if self.inconclusive.is_none() {
                    // Its path is made out in the end.
                    let path = Path::default();
                    self.inconclusive = Some(Inconclusive::Cut { agent, at, reason, path });
                    self.cut = Some((state, step));
                }
            }
        }
        pause
    }

    pub(crate) fn is_out_of_time(&mut self) -> bool {
        self.last_look = Instant::now();
        let late = self.budgets().timeout.filter(|limit| self.started.elapsed() >= *limit);
        if let Some(limit) = late {
            self.inconclusive = Some(Inconclusive::Time(limit, self.blow_up(self.progress.states)));
            return true;
        }
        self.progress = Progress { transitions: self.transitions, depth: self.depth, ..self.progress };
        let goes_on = self.control.goes_on(self.progress);
        if !goes_on {
            self.inconclusive = Some(Inconclusive::Interrupted);
        }
        !goes_on
    }

    pub(crate) fn note_progress<const W: usize>(&mut self, store: &Store<W>) {
        let states = store.len() as u64;
        let memory_bytes = store.bytes() + self.table_bytes() + self.thread_bytes;
        self.peak_bytes = self.peak_bytes.max(memory_bytes);
        self.progress = Progress {
            states,
            transitions: self.transitions,
            depth: self.depth,
            frontier: states - u64::from(self.next),
            memory_bytes,
            percent: None,
        };
    }

    pub(crate) fn is_over_budget<const W: usize>(&mut self, store: &mut Store<W>) -> bool {
        self.make_room(store);
        self.note_progress(store);
        let (states, budgets, progress) = (store.len() as u64, self.budgets(), self.progress);
        let over = if let Some(error) = store.failed() {
            Inconclusive::Disk(error)
        } else if budgets.max_states.is_some_and(|most| states > most) {
            Inconclusive::States(budgets.max_states.unwrap_or(0), self.blow_up(states))
        } else if budgets.max_memory.is_some_and(|most| self.bytes_soon(store) > most) {
            Inconclusive::Memory(budgets.max_memory.unwrap_or(0), self.blow_up(states))
        } else if states >= MOST_STATES {
            Inconclusive::States(states, self.blow_up(states))
        } else if let Some(limit) = budgets.timeout.filter(|limit| self.started.elapsed() >= *limit) {
            Inconclusive::Time(limit, self.blow_up(states))
        } else if !self.control.goes_on(progress) {
            Inconclusive::Interrupted
        } else {
            return false;
        };
        self.inconclusive = Some(over);
        true
    }

    /// Bytes of memory in use once the next looks are due, a table that moves included.
    fn bytes_soon<const W: usize>(&self, store: &Store<W>) -> u64 {
        store.bytes_with(BETWEEN_LOOKS_AT_MOST) + self.table_bytes()
    }

    /// Moves old states to disk if memory is short and there is a folder for them.
    fn make_room<const W: usize>(&mut self, store: &mut Store<W>) {
        let Some(room) = self.room() else { return };
        if self.bytes_soon(store) <= room.most_bytes + self.table_bytes() {
            return;
        }
        let before = store.states_spilled();
        store.keep_within(&room, BETWEEN_LOOKS_AT_MOST);
        if before == 0 && store.states_spilled() > 0 {
            self.control.notes(Note::MovesToDisk(&room.folder));
        }
    }

    /// What states may take of memory, and a folder for those that have no room, if there is one.
    pub(crate) fn room(&self) -> Option<Room> {
        let most_bytes = self.settings.budgets.max_memory?.saturating_sub(self.table_bytes());
        self.settings.spill.clone().map(|folder| Room { folder, most_bytes })
    }

    /// The local whose values are most numerous among an automaton's configurations, if the automata are
    /// large against the search as a whole.
    fn blow_up(&self, states: u64) -> Option<String> {
        crate::verdict::blow_up::blow_up(&self.tables.machine, states)
    }

    pub(crate) fn table_bytes(&self) -> u64 {
        self.tables.bytes() + self.swift.bytes() as u64
    }

    /// From now on states are packed so that the numbers that there were have room.
    pub(crate) fn lay_out(&mut self, numbers: Sizes) {
        self.layout = numbers.layout();
        self.swift = Swift::new(&self.layout);
        self.laid_out = numbers;
    }

    pub(crate) fn budgets(&self) -> Budgets {
        if self.retraces.is_some() { Budgets::default() } else { self.settings.budgets }
    }

    /// Begins anew with the numbers that have been given out. Everything is shown again: what is remembered
    /// of steps does not say what they showed.
    pub(crate) fn restart<const W: usize>(&mut self, store: &mut Store<W>) {
        (self.next, self.level_end) = (0, 0);
        self.show(Shown::default());
        self.swift = Swift::new(&self.layout);
        self.tables.steps.forget_effects();
        let initial = self.tables.machine.initial();
        let words = self.tables.number(&initial).pack(&self.layout);
        let words = words.and_then(|w| self.symmetry.canonical(&mut self.tables, &self.layout, w, None));
        words.into_iter().for_each(|words| {
            store.insert(words, 0);
        });
    }

    /// What has been found.
    pub(crate) fn shown(&mut self) -> Shown {
        Shown {
            violations: std::mem::take(&mut self.violations),
            fault: self.fault.take(),
            cut: self.cut.take(),
            inconclusive: self.inconclusive.take(),
            stopped_at: self.stopped_at.take(),
            transitions: self.transitions,
            depth: self.depth,
        }
    }

    /// This has been found, and nothing else.
    pub(crate) fn show(&mut self, shown: Shown) {
        let Shown { violations, fault, cut, inconclusive, stopped_at, transitions, depth } = shown;
        (self.violations, self.fault, self.cut) = (violations, fault, cut);
        (self.inconclusive, self.stopped_at) = (inconclusive, stopped_at);
        (self.transitions, self.depth) = (transitions, depth);
    }

    /// Leaves out what nobody wants to see.
    pub(crate) fn leave_out_silent(&mut self) {
        let (levels, target) = (&self.settings.levels, self.tables.machine.program().target);
        self.violations.retain(|(rule, ..), _| levels.of(*rule, target) >= Level::Warning);
    }

    /// The states at which something was found.
    pub(crate) fn ends_of_paths(&self) -> Vec<StateId> {
        let ends = [&self.fault, &self.cut].into_iter().flatten().map(|(state, _)| *state);
        self.violations.values().map(|violation| violation.state).chain(ends).collect()
    }

    /// Packs the initial state.
    pub(crate) fn start<const W: usize>(&mut self) -> Option<Packed<W>> {
        let initial = self.tables.machine.initial();
        let numbers = self.tables.number(&initial);
        self.lay_out(self.tables.sizes());
        if self.layout.words > W {
            return None;
        }
        let words = numbers.pack(&self.layout)?;
        self.symmetry.canonical(&mut self.tables, &self.layout, words, None)
    }
}
