//! The blocks of a `.bar` protocol's text: what stands around a place, and behind a condition.

use crate::trace::Location;

/// A block in braces, and what stands before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Block<'s> {
    /// `if i != 3`, `for i in 0..n`, `else`.
    pub(super) head: &'s str,
    pub(super) text: &'s str,
    /// Lines and columns, from 1: of its head, its brace and the brace that closes it.
    places: [(u32, u32); 3],
    depth: usize,
}

impl Block<'_> {
    pub(super) fn contains(&self, location: Location) -> bool {
        let [_, from, to] = self.places;
        from <= key(location) && key(location) < to
    }

    pub(super) fn is_loop(&self) -> bool {
        let word = self.head.split(|letter: char| !letter.is_alphanumeric()).next();
        matches!(word, Some("for" | "while" | "loop"))
    }

    fn is_if(&self) -> bool {
        self.head.starts_with("if ") || self.head.starts_with("else if ")
    }
}

/// Places at which one loop is left that are looked at, at most.
const MOST: usize = 16;

/// How a loop is left in its midst.
const BREAK: &str = "break";

/// Line and column of a place.
pub(super) fn key(location: Location) -> (u32, u32) {
    (location.line, location.column)
}

/// All blocks of a text, in order.
pub(super) struct Blocks<'s> {
    all: Vec<Block<'s>>,
    /// Where loops are left in their midst.
    breaks: Vec<Location>,
}

impl<'s> Blocks<'s> {
    pub(super) fn of(source: &'s str) -> Self {
        let (mut blocks, mut breaks) = (Vec::new(), Vec::new());
        let mut open: Vec<usize> = Vec::new();
        let (mut line, mut column) = (1, 1);
        // Where the next head begins, if it has begun.
        let mut head: Option<(usize, (u32, u32))> = None;
        let mut is_comment = false;
        for (at, letter) in source.char_indices() {
            let place = (line, column);
            is_comment = is_comment && letter != '\n' || source[at..].starts_with("//");
            match letter {
                _ if is_comment => {}
                '{' => {
                    let (from, begins) = head.take().unwrap_or((at, place));
                    let head = source[from..at].trim_end();
                    let places = [begins, place, (u32::MAX, 0)];
                    blocks.push(Block { head, text: &source[at + 1..], places, depth: open.len() });
                    open.push(blocks.len() - 1);
                }
                '}' => {
                    head = None;
                    if let Some(block) = open.pop().and_then(|index| blocks.get_mut(index)) {
                        block.text = &block.text[..at - (source.len() - block.text.len())];
                        block.places[2] = place;
                    }
                }
                ';' => head = None,
                _ if !letter.is_whitespace() => {
                    let is_break = head.is_none() && source[at..].starts_with(BREAK);
                    breaks.extend(is_break.then_some(Location { line, column, length: 5 }));
                    head = head.or(Some((at, place)));
                }
                _ => {}
            }
            (line, column) = if letter == '\n' { (line + 1, 1) } else { (line, column + 1) };
        }
        Self { all: blocks, breaks }
    }

    /// The innermost loop around all these places.
    pub(super) fn innermost_loop(&self, places: &[Location]) -> Option<&Block<'s>> {
        self.all
            .iter()
            .rev()
            .find(|block| block.is_loop() && places.iter().all(|place| block.contains(*place)))
    }

    /// Where an agent left a loop in its midst after its last step in it, if there is but one such place: it
    /// did not make a step behind it that it had made in an earlier round, or the loop has no other end, or
    /// it has come less often than others.
    pub(super) fn left_at(&self, last: Location, earlier: &[Location], is_less: bool) -> Option<Location> {
        let around = self.innermost_loop(&[last])?;
        let of_loop = |place: &&Location| self.innermost_loop(&[**place]) == Some(around);
        let is_skipped = |place: &Location| {
            let between = |step: &&Location| {
                around.contains(**step) && key(last) < key(*place) && key(*place) < key(**step)
            };
            earlier.iter().any(|step| between(&step))
        };
        let breaks: Vec<Location> = self.breaks.iter().filter(of_loop).copied().take(MOST).collect();
        let skipped: Vec<Location> = breaks.iter().copied().filter(is_skipped).collect();
        // The last step was to decide for it.
        let decided = breaks.iter().find(|place| self.is_decided_at(last, **place));
        match (skipped.as_slice(), breaks.as_slice()) {
            _ if decided.is_some() => decided.copied(),
            ([only], _) => Some(*only),
            ([], [only]) if around.head == "loop" || is_less => Some(*only),
            _ => None,
        }
    }

    /// Whether a place stands behind a condition that is at another.
    fn is_decided_at(&self, condition: Location, place: Location) -> bool {
        let is_head =
            |block: &Block<'_>| block.places[0] <= key(condition) && key(condition) < block.places[1];
        self.all.iter().any(|block| block.is_if() && is_head(block) && block.contains(place))
    }

    /// The blocks around a place, from outside.
    pub(super) fn around(&self, place: Location) -> impl Iterator<Item = &Block<'s>> {
        self.all.iter().filter(move |block| block.contains(place))
    }

    /// The block that is passed by where the condition at a place holds, or does not; `None` if there is none
    /// or it is not the condition of an `if`.
    pub(super) fn passed_by(&self, condition: Location, holds: bool) -> Option<&Block<'s>> {
        let is_it = |block: &Block<'_>| block.places[0] <= key(condition) && key(condition) < block.places[1];
        let then = self.all.iter().position(|block| block.is_if() && is_it(block))?;
        let block = self.all.get(then)?;
        if !holds {
            return Some(block);
        }
        let behind = |other: &&Block<'_>| other.places[0] > block.places[2];
        let next = self.all[then + 1..].iter().find(behind)?;
        (next.head == "else" && next.depth == block.depth).then_some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, column: u32) -> Location {
        Location { line, column, length: 1 }
    }

    #[test]
    fn the_block_passed_by_is_the_one_whose_condition_does_not_hold() {
        let source = "if ? { a; } else { b; }\nwhile ? { c; }\nif ? { // }\n  if x { d; }\n}\nif ? { e;";
        let blocks = Blocks::of(source);
        let text = |line, column, holds| Some(blocks.passed_by(at(line, column), holds)?.text.trim());
        assert_eq!(text(1, 4, false), Some("a;"));
        assert_eq!(text(1, 4, true), Some("b;"));
        assert_eq!(text(3, 4, false), Some("// }\n  if x { d; }"));
        assert_eq!((text(3, 4, true), text(2, 7, false), text(9, 1, false)), (None, None, None));
        assert_eq!(text(6, 4, false), Some("e;"), "a block that is never closed goes to the end");
    }

    #[test]
    fn the_else_of_an_outer_condition_is_not_that_of_an_inner_one() {
        let blocks = Blocks::of("if a { if b { x; } } else { y; }");
        assert_eq!(blocks.passed_by(at(1, 11), true), None);
        assert_eq!(blocks.passed_by(at(1, 4), true).map(|block| block.text.trim()), Some("y;"));
    }

    #[test]
    fn a_loop_is_left_where_steps_that_an_earlier_round_made_are_not_made() {
        let blocks =
            Blocks::of("for i in 0..9 {\n a;\n if x { break; }\n b;\n}\nloop {\n c;\n if y { break; }\n}");
        let line = |line| at(line, 2);
        assert_eq!(
            blocks.left_at(line(2), &[line(2), line(4)], false),
            Some(Location { line: 3, column: 9, length: 5 })
        );
        assert_eq!(blocks.left_at(line(4), &[line(2), line(4)], false), None, "it may have ended by itself");
        assert_eq!(
            blocks.left_at(line(4), &[line(2), line(4)], true).map(|at| at.line),
            Some(3),
            "others went on"
        );
        assert_eq!(
            blocks.left_at(line(7), &[line(7)], false).map(|at| at.line),
            Some(8),
            "there is no other end"
        );
    }

    #[test]
    fn a_loop_is_around_what_stands_between_its_braces() {
        let blocks = Blocks::of("x; for i in 0..3 { a; loop { b; } }\nformer { c; }");
        let head = |places: &[Location]| blocks.innermost_loop(places).map(|block| block.head);
        assert_eq!(head(&[at(1, 20)]), Some("for i in 0..3"));
        assert_eq!(head(&[at(1, 30)]), Some("loop"));
        assert_eq!(head(&[at(1, 20), at(1, 30)]), Some("for i in 0..3"));
        assert_eq!((head(&[at(1, 1)]), head(&[at(2, 10)])), (None, None));
    }
}
