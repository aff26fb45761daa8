//! Colours and signs. What a colour tells, a sign or a word tells too.

use barcheck_counterexamples::Act;
use ratatui::style::{Color, Modifier, Style};

/// What a terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Theme {
    /// Colours.
    pub(crate) colour: bool,
    /// Signs beyond ASCII.
    pub(crate) unicode: bool,
}

/// What a piece of text is, as far as its look is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    /// As it comes.
    Plain,
    /// A heading.
    Heading,
    /// Of less weight.
    Faint,
    /// Somebody blocks.
    Blocked,
    /// Somebody goes on.
    Goes,
    /// A violation.
    Bad,
    /// A barrier, by its position among all.
    Barrier(usize),
    /// What is selected, or asked for.
    Chosen,
    /// Executed by the step.
    Executed,
}

impl Theme {
    /// How an ink looks.
    pub(super) fn style(self, ink: Ink) -> Style {
        // Bright ones where the dark ones are hard to read on black.
        const HUES: [Color; 6] = [
            Color::Cyan,
            Color::Magenta,
            Color::LightBlue,
            Color::Green,
            Color::LightRed,
            Color::LightMagenta,
        ];
        let plain = Style::new();
        let (colour, modifier) = match ink {
            Ink::Plain => return plain,
            Ink::Heading => return plain.add_modifier(Modifier::BOLD),
            Ink::Faint => return plain.add_modifier(Modifier::DIM),
            Ink::Chosen => return plain.add_modifier(Modifier::REVERSED),
            Ink::Executed => return plain.add_modifier(Modifier::UNDERLINED),
            Ink::Blocked => (Color::Yellow, Modifier::empty()),
            Ink::Goes => (Color::Green, Modifier::empty()),
            Ink::Bad => (Color::Red, Modifier::BOLD),
            Ink::Barrier(number) => (HUES[number % HUES.len()], Modifier::empty()),
        };
        let style = plain.add_modifier(modifier);
        if self.colour { style.fg(colour) } else { style }
    }

    /// One of two signs.
    pub(super) fn glyph(self, unicode: &'static str, ascii: &'static str) -> &'static str {
        if self.unicode { unicode } else { ascii }
    }

    /// The sign of what an agent does.
    pub(super) fn sign(self, sign: Sign) -> (&'static str, Ink) {
        let (unicode, ascii, ink) = match sign {
            Sign::Act(Act::Fails) => ("✗", "!", Ink::Bad),
            Sign::Act(Act::Completes) => ("◆", "+", Ink::Goes),
            Sign::Act(Act::Exits) => ("×", "x", Ink::Plain),
            Sign::Act(Act::Blocks) => ("■", "#", Ink::Blocked),
            Sign::Act(Act::Arrives) => ("▲", "^", Ink::Goes),
            Sign::Act(Act::Passes) => ("»", ")", Ink::Goes),
            Sign::Act(Act::Accesses) => ("○", "o", Ink::Plain),
            Sign::Act(Act::Spins) => ("↻", "@", Ink::Bad),
            Sign::Act(Act::Acts) => ("●", "*", Ink::Plain),
            Sign::Released => ("▶", ">", Ink::Goes),
            Sign::Notified => ("△", "'", Ink::Goes),
        };
        (self.glyph(unicode, ascii), ink)
    }
}

/// What an agent does at a step, or what the step does to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// It makes the step.
    Act(Act),
    /// The step releases it.
    Released,
    /// The step lets it pass a wait.
    Notified,
}

impl Sign {
    /// All of them, and what they mean.
    pub(super) const MEANINGS: [(Self, &'static str); 11] = [
        (Self::Act(Act::Arrives), "arrives"),
        (Self::Act(Act::Blocks), "blocks"),
        (Self::Act(Act::Completes), "completes"),
        (Self::Released, "released"),
        (Self::Notified, "notified"),
        (Self::Act(Act::Passes), "passes its wait"),
        (Self::Act(Act::Accesses), "memory"),
        (Self::Act(Act::Acts), "other step"),
        (Self::Act(Act::Exits), "exits"),
        (Self::Act(Act::Spins), "runs for ever"),
        (Self::Act(Act::Fails), "violates"),
    ];
}
