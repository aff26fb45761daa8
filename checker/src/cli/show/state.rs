//! What is looked at: a time, an agent, a barrier. Keys change it; everything that is drawn follows.

use super::filter::Filter;
use super::menu::Menu;
use super::theme::Theme;
use barcheck_counterexamples::trace::{Location, Step};
use barcheck_counterexamples::{Notes, Timeline};
use std::collections::BTreeSet;

/// The parts of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Panel {
    /// A lane for each agent.
    Schedule,
    /// The protocol.
    Source,
    /// The step and what it changes.
    Step,
    /// The steps that are asked for.
    Steps,
    /// The barriers.
    Barriers,
    /// What the trace shows, and why.
    Why,
}

impl Panel {
    /// All of them, in the order of their numbers.
    pub(super) const ALL: [Self; 6] =
        [Self::Schedule, Self::Source, Self::Step, Self::Steps, Self::Barriers, Self::Why];

    /// Its number, from 1: the key that leads to it.
    pub(super) fn number(self) -> usize {
        self as usize + 1
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Schedule => "Schedule",
            Self::Source => "Source",
            Self::Step => "Step",
            Self::Steps => "Steps",
            Self::Barriers => "Barriers",
            Self::Why => "Why",
        }
    }
}

/// How far a panel is scrolled, and how far it could be: drawing says so.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scroll {
    /// The first line shown.
    pub(super) top: usize,
    /// Lines that there are.
    pub(super) lines: usize,
    /// Lines that have room.
    pub(super) room: usize,
    /// The next drawing scrolls to what has changed.
    pub(super) reveal: bool,
}

impl Scroll {
    /// Moves by lines, and no further than there are any.
    pub(super) fn by(&mut self, lines: isize) {
        self.top = self.top.saturating_add_signed(lines).min(self.lines.saturating_sub(self.room));
    }

    /// Takes in what there is to show, and brings a line into sight where that is due.
    pub(super) fn settle(&mut self, lines: usize, room: usize, wanted: Option<usize>) {
        (self.lines, self.room) = (lines, room);
        if let Some(wanted) = wanted.filter(|_| self.reveal)
            && (wanted < self.top || wanted + 1 >= self.top + room)
        {
            self.top = wanted.saturating_sub(room / 2);
        }
        self.reveal = false;
        self.by(0);
    }
}

/// What is asked for in the last line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// Words to find.
    Words,
    /// A step's number.
    Number,
}

/// What lies over the screen.
#[derive(Clone, Debug, Default)]
pub(super) enum Overlay {
    /// Nothing.
    #[default]
    None,
    /// The keys; scrolled by so many lines.
    Help(usize),
    /// A question, and what has been typed so far.
    Prompt(Asked, String),
    /// The filters.
    Menu(Menu),
}

/// A row of the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// An agent; of its role it is the first or not.
    Agent { agent: u32, group: usize, first: bool },
    /// All agents of a role.
    Folded(usize),
    /// An mbarrier object; it is the first of them or not.
    Object { barrier: u32, first: bool },
}

/// Columns of a step, by zoom.
pub(super) const ZOOMS: [usize; 6] = [1, 2, 3, 4, 6, 10];

/// What is looked at, and how.
pub(super) struct Viewer<'t> {
    pub(super) timeline: Timeline<'t>,
    pub(super) notes: Notes,
    pub(super) theme: Theme,
    /// The protocol, line by line.
    pub(super) source: Vec<&'t str>,
    /// Steps made.
    pub(super) time: usize,
    /// The agent selected.
    pub(super) agent: Option<u32>,
    /// The barrier selected.
    pub(super) barrier: Option<u32>,
    pub(super) filter: Filter,
    /// The times of the steps that pass the filter.
    pub(super) times: Vec<usize>,
    /// Roles that are folded, by position.
    pub(super) folded: BTreeSet<usize>,
    pub(super) rows: Vec<Row>,
    /// By agent, the position among the rows.
    row_of: Vec<usize>,
    /// Position in [`ZOOMS`]; at first the widest with which the run has room.
    pub(super) zoom: Option<usize>,
    /// The first time that the schedule shows.
    pub(super) left: usize,
    /// Columns by which the source is moved to the left; `None` follows its marks.
    pub(super) shifted: Option<usize>,
    pub(super) focus: Panel,
    /// Where two panels share a place, the one that comes first here is shown.
    pub(super) front: Vec<Panel>,
    /// The panel with the focus takes the whole screen.
    pub(super) alone: bool,
    pub(super) scrolls: [Scroll; 6],
    pub(super) overlay: Overlay,
    /// Something to say, until the next key.
    pub(super) said: String,
    pub(super) playing: bool,
}

impl<'t> Viewer<'t> {
    /// Begins where the outcome shows.
    pub(super) fn new(timeline: Timeline<'t>, notes: Notes, theme: Theme) -> Self {
        let trace = timeline.trace();
        let mut source: Vec<&str> = trace.protocol.source.lines().collect();
        if source.is_empty() {
            source.push("");
        }
        let about_barriers = trace.outcome.detail.is_none() && timeline.barriers().next().is_some();
        let (right, behind) =
            if about_barriers { (Panel::Barriers, Panel::Why) } else { (Panel::Why, Panel::Barriers) };
        let time = timeline.violation();
        let mut viewer = Self {
            timeline,
            notes,
            theme,
            source,
            time,
            agent: None,
            barrier: None,
            filter: Filter::default(),
            times: Vec::new(),
            folded: BTreeSet::new(),
            rows: Vec::new(),
            row_of: Vec::new(),
            zoom: None,
            left: 0,
            shifted: None,
            focus: Panel::Schedule,
            front: vec![Panel::Schedule, Panel::Source, right, Panel::Step, behind, Panel::Steps],
            alone: false,
            scrolls: [Scroll::default(); 6],
            overlay: Overlay::None,
            said: String::new(),
            playing: false,
        };
        viewer.arrange();
        viewer.refilter();
        viewer.reveal();
        viewer
    }

    /// The step that leads to the present.
    pub(super) fn step(&self) -> Option<&'t Step> {
        self.timeline.step(self.time)
    }

    /// The agent that is looked at: the one selected, or the one that makes the step.
    pub(super) fn subject(&self) -> Option<u32> {
        self.agent.or_else(|| self.step().map(|step| step.agent))
    }

    /// The barrier that the step is about, or else that the outcome is about.
    pub(super) fn nearest_barrier(&self) -> Option<u32> {
        let about = self.step().and_then(|step| step.barriers().next());
        about.or(self.timeline.trace().outcome.barrier).or_else(|| self.timeline.barriers().next())
    }

    /// The place of the outcome, where it is to be seen.
    pub(super) fn wrong_place(&self) -> Option<Location> {
        let shown = self.time == self.timeline.violation() || self.time == self.timeline.last();
        shown.then(|| self.timeline.trace().outcome.location)
    }

    pub(super) fn scroll(&mut self, panel: Panel) -> &mut Scroll {
        &mut self.scrolls[panel as usize]
    }

    /// The present has changed: what has changed with it shall be seen.
    pub(super) fn reveal(&mut self) {
        for panel in Panel::ALL {
            self.scroll(panel).reveal = true;
        }
        self.scroll(Panel::Step).top = 0;
        self.shifted = None;
    }

    /// Goes to a time, or as near as there is one.
    pub(super) fn go(&mut self, time: usize) {
        self.time = time.min(self.timeline.last());
        self.reveal();
    }

    /// One step on; a run without end goes back to the beginning of its cycle.
    pub(super) fn forward(&mut self) {
        match self.timeline.cycle() {
            Some(cycle) if self.time == self.timeline.last() => self.go(cycle + 1),
            _ => self.go(self.time + 1),
        }
    }

    /// The filter has changed.
    pub(super) fn refilter(&mut self) {
        self.times = self.filter.times(&self.timeline);
        self.scroll(Panel::Steps).reveal = true;
    }

    /// Folds have changed.
    pub(super) fn arrange(&mut self) {
        let mut rows = Vec::new();
        let mut row_of = vec![0; self.timeline.trace().agents.len()];
        for (group, members) in self.timeline.groups().iter().enumerate() {
            let folded = self.folded.contains(&group);
            if folded {
                rows.push(Row::Folded(group));
            }
            for (position, agent) in members.agents.iter().enumerate() {
                if !folded {
                    rows.push(Row::Agent { agent: *agent, group, first: position == 0 });
                }
                row_of[*agent as usize] = rows.len() - 1;
            }
        }
        let objects = self.timeline.objects().enumerate();
        rows.extend(objects.map(|(position, (barrier, _))| Row::Object { barrier, first: position == 0 }));
        (self.rows, self.row_of) = (rows, row_of);
        self.scroll(Panel::Schedule).reveal = true;
    }

    /// Whether there are roles to fold.
    pub(super) fn has_roles(&self) -> bool {
        self.timeline.groups().iter().any(|group| group.role.is_some())
    }

    /// The row in which an agent is shown.
    pub(super) fn row_of(&self, agent: u32) -> Option<usize> {
        self.row_of.get(agent as usize).copied()
    }

    /// The position of a barrier among all: its hue.
    pub(super) fn hue(&self, barrier: u32) -> usize {
        self.timeline.barriers().position(|known| known == barrier).unwrap_or(0)
    }
}
