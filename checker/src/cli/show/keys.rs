//! What keys do.

use super::menu::{self, Menu};
use super::state::{Asked, Overlay, Panel, Row, Viewer, ZOOMS};
use barcheck_counterexamples::trace::Step;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What is to be done after a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Draw what has changed.
    Draw,
    /// Draw everything anew.
    Redraw,
    /// Leave the terminal to the shell for a while.
    Suspend,
    /// End.
    Quit,
}

/// The keys and what they do, for the help.
pub(super) const KEYS: [(&str, &str); 26] = [
    ("Left Right, h l", "one step back, one on"),
    ("Home End", "the beginning, the end; so in another panel"),
    ("PageUp PageDown", "ten steps back, ten on; so in another panel"),
    ("v", "the violation"),
    ("c", "the beginning of the cycle, if the run has no end"),
    ("a A", "next, previous step of the agent"),
    ("b B", "next, previous event on the barrier"),
    ("Up Down, k j", "select the agent above, below; scroll another panel"),
    ("[ ]", "select the previous, the next barrier"),
    ("Esc", "back to panel 1; select nothing; drop filters"),
    ("Space", "play, pause"),
    ("g", "type a step's number"),
    ("/", "find: words of a step, agents, roles, instructions"),
    ("n N", "next, previous step that matches"),
    ("F", "filter by agent, barrier, kind"),
    ("f", "fold and unfold all roles"),
    ("Enter", "fold and unfold the role of the agent"),
    ("+ -", "wider and narrower steps"),
    ("1 to 6", "show a panel; keys that scroll are for it, but for 1"),
    ("Tab Shift-Tab", "the same with the next, the previous panel"),
    ("z", "this panel alone, and back"),
    ("< >", "move the source to the left, to the right"),
    ("Ctrl-L", "draw the screen anew"),
    ("Ctrl-Z", "back to the shell for a while"),
    ("?", "these keys"),
    ("q, Ctrl-C", "quit"),
];

/// Columns by which the source is moved.
const SHIFT: usize = 8;

impl Viewer<'_> {
    /// Takes in a key.
    pub(super) fn key(&mut self, key: KeyEvent) -> Next {
        self.said.clear();
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return match key.code {
                KeyCode::Char('c') => Next::Quit,
                KeyCode::Char('l') => Next::Redraw,
                KeyCode::Char('z') => Next::Suspend,
                _ => Next::Draw,
            };
        }
        if key.modifiers.contains(KeyModifiers::ALT) {
            return Next::Draw;
        }
        match std::mem::take(&mut self.overlay) {
            Overlay::None => return self.plain_key(key.code),
            Overlay::Help(top) => self.help_key(key.code, top),
            Overlay::Prompt(asked, typed) => self.prompt_key(key.code, asked, typed),
            Overlay::Menu(menu) => self.menu_key(key.code, menu),
        }
        Next::Draw
    }

    fn plain_key(&mut self, code: KeyCode) -> Next {
        let (scrolls, page) = (self.focus != Panel::Schedule, self.page());
        match code {
            KeyCode::Char('q') => return Next::Quit,
            KeyCode::Char('?') => self.overlay = Overlay::Help(0),
            KeyCode::Up | KeyCode::Char('k') if scrolls => self.scroll_by(-1),
            KeyCode::Down | KeyCode::Char('j') if scrolls => self.scroll_by(1),
            KeyCode::PageUp if scrolls => self.scroll_by(-page),
            KeyCode::PageDown if scrolls => self.scroll_by(page),
            KeyCode::Home if scrolls => self.scroll_by(isize::MIN),
            KeyCode::End if scrolls => self.scroll_by(isize::MAX),
            KeyCode::Up | KeyCode::Char('k') => self.neighbour(false),
            KeyCode::Down | KeyCode::Char('j') => self.neighbour(true),
            KeyCode::Tab => self.focus_next(true),
            KeyCode::BackTab => self.focus_next(false),
            KeyCode::Char('z') => self.alone = !self.alone,
            KeyCode::Char('<') => self.shift_source(false),
            KeyCode::Char('>') => self.shift_source(true),
            KeyCode::Char(digit @ '1'..='6') => self.focus_on(Panel::ALL[digit as usize - '1' as usize]),
            KeyCode::Char('+' | '=') => self.rezoom(1),
            KeyCode::Char('-') => self.rezoom(-1),
            KeyCode::Char('f') => self.fold_all(),
            KeyCode::Enter => self.fold_one(),
            KeyCode::Char('F') => self.overlay = Overlay::Menu(Menu::default()),
            KeyCode::Char('/') => self.overlay = Overlay::Prompt(Asked::Words, self.filter.text.clone()),
            KeyCode::Char('g') => self.overlay = Overlay::Prompt(Asked::Number, String::new()),
            KeyCode::Esc => self.drop_selection(),
            KeyCode::Char(' ') => self.play(),
            other => self.moving_key(other),
        }
        Next::Draw
    }

    /// Keys that lead to another time.
    fn moving_key(&mut self, code: KeyCode) {
        match code {
            KeyCode::Left | KeyCode::Char('h') => self.go(self.time.saturating_sub(1)),
            KeyCode::Right | KeyCode::Char('l') => self.forward(),
            KeyCode::Home => self.go(0),
            KeyCode::End => self.go(self.timeline.last()),
            KeyCode::PageUp => self.go(self.time.saturating_sub(10)),
            KeyCode::PageDown => self.go(self.time + 10),
            KeyCode::Char('v') => self.go(self.timeline.violation()),
            KeyCode::Char('c') => match self.timeline.cycle() {
                Some(cycle) => self.go(cycle),
                None => self.say("This run has an end, and no cycle"),
            },
            KeyCode::Char('a') => self.jump_agent(false),
            KeyCode::Char('A') => self.jump_agent(true),
            KeyCode::Char('b') => self.jump_barrier(false),
            KeyCode::Char('B') => self.jump_barrier(true),
            KeyCode::Char('[') => self.neighbour_barrier(false),
            KeyCode::Char(']') => self.neighbour_barrier(true),
            KeyCode::Char('n') => self.jump_match(false),
            KeyCode::Char('N') => self.jump_match(true),
            KeyCode::Char(other) => self.say(&format!("No key `{}`; ? lists the keys", other.escape_debug())),
            _ => {}
        }
    }

    fn say(&mut self, text: &str) {
        text.clone_into(&mut self.said);
    }

    fn jump(&mut self, back: bool, test: impl Fn(&Step) -> bool, what: &str) {
        match self.timeline.seek(self.time, back, |_, step| test(step)) {
            Some(time) => self.go(time),
            None => self.say(&format!("No {} {what}", if back { "earlier" } else { "later" })),
        }
    }

    fn jump_agent(&mut self, back: bool) {
        let Some(agent) = self.subject() else {
            return self.say("No agent is selected: Up and Down select one");
        };
        self.agent = Some(agent);
        let what = format!("step of {}", self.timeline.agent_name(agent));
        self.jump(back, |step| step.touches_agent(agent), &what);
    }

    fn jump_barrier(&mut self, back: bool) {
        let Some(barrier) = self.barrier.or_else(|| self.nearest_barrier()) else {
            return self.say("There is no barrier");
        };
        self.barrier = Some(barrier);
        let what = format!("event on {}", self.timeline.barrier_name(barrier));
        self.jump(back, |step| step.touches_barrier(barrier), &what);
    }

    fn jump_match(&mut self, back: bool) {
        if !self.filter.restricts() {
            return self.say("Nothing is searched for: / finds words, F filters");
        }
        let after = self.times.partition_point(|time| *time <= self.time);
        let before = self.times.partition_point(|time| *time < self.time);
        let found = if back { before.checked_sub(1) } else { Some(after) };
        match found.and_then(|position| self.times.get(position)) {
            Some(time) => self.go(*time),
            None => self.say(if back { "No earlier step matches" } else { "No later step matches" }),
        }
    }

    /// Selects the agent in the row above or below.
    fn neighbour(&mut self, down: bool) {
        let here = self.subject().and_then(|agent| self.row_of(agent));
        // Objects come last.
        let agents = self.rows.iter().filter(|row| !matches!(row, Row::Object { .. })).count();
        let there = match here {
            None => 0,
            Some(row) if down => (row + 1).min(agents.saturating_sub(1)),
            Some(row) => row.saturating_sub(1),
        };
        self.agent = match self.rows.get(there) {
            Some(Row::Agent { agent, .. }) => Some(*agent),
            Some(Row::Folded(group)) => self.timeline.groups()[*group].agents.first().copied(),
            Some(Row::Object { .. }) | None => None,
        };
        self.reveal();
    }

    fn neighbour_barrier(&mut self, on: bool) {
        let all: Vec<u32> = self.timeline.barriers().collect();
        if all.is_empty() {
            return self.say("There is no barrier");
        }
        let here = self.barrier.and_then(|barrier| all.iter().position(|known| *known == barrier));
        let there = match (here, on) {
            (None, true) => 0,
            (None, false) => all.len() - 1,
            (Some(here), true) => (here + 1) % all.len(),
            (Some(here), false) => (here + all.len() - 1) % all.len(),
        };
        self.barrier = Some(all[there]);
        self.scroll(Panel::Barriers).reveal = true;
    }

    fn drop_selection(&mut self) {
        if self.focus != Panel::Schedule || self.alone {
            (self.focus, self.alone) = (Panel::Schedule, false);
        } else if self.agent.is_some() || self.barrier.is_some() {
            (self.agent, self.barrier) = (None, None);
            self.reveal();
        } else {
            self.filter = super::filter::Filter::default();
            self.refilter();
        }
    }

    fn play(&mut self) {
        self.playing = !self.playing;
        if self.playing && self.time == self.timeline.last() && self.timeline.cycle().is_none() {
            self.go(0);
        }
    }

    /// Time has passed while it plays.
    pub(super) fn tick(&mut self) {
        if self.time == self.timeline.last() && self.timeline.cycle().is_none() {
            self.playing = false;
        } else {
            self.forward();
        }
    }

    fn rezoom(&mut self, by: isize) {
        // Drawing has chosen one by the time a key is pressed.
        let zoom = self.zoom.unwrap_or(0).saturating_add_signed(by);
        self.zoom = Some(zoom.min(ZOOMS.len() - 1));
    }

    fn fold_all(&mut self) {
        if !self.has_roles() {
            return self.say("No agent has a role");
        }
        let count = self.timeline.groups().len();
        self.folded = if self.folded.len() < count { (0..count).collect() } else { Default::default() };
        self.arrange();
    }

    fn fold_one(&mut self) {
        if !self.has_roles() {
            return self.say("No agent has a role");
        }
        let Some(row) = self.subject().and_then(|agent| self.row_of(agent)) else { return };
        let (Row::Agent { group, .. } | Row::Folded(group)) = self.rows[row] else { return };
        if !self.folded.remove(&group) {
            self.folded.insert(group);
        }
        self.arrange();
    }

    fn focus_on(&mut self, panel: Panel) {
        self.focus = panel;
        self.front.retain(|other| *other != panel);
        self.front.insert(0, panel);
    }

    fn focus_next(&mut self, on: bool) {
        let count = Panel::ALL.len();
        let here = self.focus as usize;
        self.focus_on(Panel::ALL[(here + if on { 1 } else { count - 1 }) % count]);
    }

    /// Lines that a page has, but for one that stays in sight.
    fn page(&self) -> isize {
        isize::try_from(self.scrolls[self.focus as usize].room.saturating_sub(1).max(1)).unwrap_or(1)
    }

    /// Scrolls the panel that has the focus. In the list of steps the steps themselves are gone through.
    fn scroll_by(&mut self, lines: isize) {
        if self.focus != Panel::Steps {
            let focus = self.focus;
            return self.scroll(focus).by(lines);
        }
        let Some(last) = self.times.len().checked_sub(1) else { return };
        let here = self.times.partition_point(|time| *time < self.time);
        let exact = self.times.get(here) == Some(&self.time);
        // Between two listed steps the next one below is as near as the one above.
        let here = if lines > 0 && !exact {
            here.saturating_add_signed(lines - 1)
        } else {
            here.saturating_add_signed(lines)
        };
        self.go(self.times[here.min(last)]);
    }

    fn shift_source(&mut self, right: bool) {
        let shifted = self.shifted.unwrap_or(0);
        self.shifted =
            Some(if right { shifted.saturating_add(SHIFT) } else { shifted.saturating_sub(SHIFT) });
    }

    fn help_key(&mut self, code: KeyCode, top: usize) {
        self.overlay = match code {
            KeyCode::Up | KeyCode::Char('k') => Overlay::Help(top.saturating_sub(1)),
            KeyCode::Down | KeyCode::Char('j') => Overlay::Help(top + 1),
            KeyCode::PageUp => Overlay::Help(top.saturating_sub(10)),
            KeyCode::PageDown => Overlay::Help(top + 10),
            _ => Overlay::None,
        };
    }

    fn prompt_key(&mut self, code: KeyCode, asked: Asked, mut typed: String) {
        match code {
            KeyCode::Esc => {
                if asked == Asked::Words {
                    self.search(String::new());
                }
                return;
            }
            KeyCode::Enter => {
                match asked {
                    Asked::Words if typed.is_empty() => {}
                    Asked::Words => self.jump_match(false),
                    Asked::Number => self.go_to_number(&typed),
                }
                return;
            }
            KeyCode::Backspace => {
                typed.pop();
            }
            KeyCode::Char(letter) if asked == Asked::Words || letter.is_ascii_digit() => typed.push(letter),
            _ => {}
        }
        if asked == Asked::Words {
            self.search(typed.clone());
        }
        self.overlay = Overlay::Prompt(asked, typed);
    }

    fn search(&mut self, words: String) {
        if self.filter.text != words {
            self.filter.text = words;
            self.refilter();
        }
    }

    fn go_to_number(&mut self, typed: &str) {
        match typed.parse::<usize>() {
            Ok(number) if number <= self.timeline.last() => self.go(number),
            _ if typed.is_empty() => {}
            _ => self.say(&format!("There is no step {typed}, the last is {}", self.timeline.last())),
        }
    }

    fn menu_key(&mut self, code: KeyCode, menu: Menu) {
        let columns = menu::COLUMNS.len();
        let mut menu = menu;
        match code {
            KeyCode::Esc | KeyCode::Enter | KeyCode::Char('q' | 'F') => return,
            KeyCode::Left | KeyCode::BackTab | KeyCode::Char('h') => {
                menu.column = (menu.column + columns - 1) % columns;
            }
            KeyCode::Right | KeyCode::Tab | KeyCode::Char('l') => menu.column = (menu.column + 1) % columns,
            KeyCode::Up | KeyCode::Char('k') => self.choose(menu, -1),
            KeyCode::Down | KeyCode::Char('j') => self.choose(menu, 1),
            KeyCode::Home => self.choose(menu, isize::MIN),
            KeyCode::End => self.choose(menu, isize::MAX),
            KeyCode::PageUp => self.choose(menu, -10),
            KeyCode::PageDown => self.choose(menu, 10),
            _ => {}
        }
        self.overlay = Overlay::Menu(menu);
    }

    /// Chooses the entry so many lines further down.
    fn choose(&mut self, menu: Menu, by: isize) {
        let choices = menu::choices(&self.timeline, menu.column);
        let here = choices.iter().position(|choice| choice.is_in(&self.filter)).unwrap_or(0);
        let there = here.saturating_add_signed(by).min(choices.len().saturating_sub(1));
        if let Some(choice) = choices.get(there) {
            choice.choose(&mut self.filter);
            self.refilter();
        }
    }
}
