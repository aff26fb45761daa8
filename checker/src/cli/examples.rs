//! `barcheck examples`: the library of protocols, which is part of the program.

use super::args::ExamplesArgs;
use super::expect;
use super::output::{Colours, Palette, Status, complain, counted, error_line, print};
use super::table::table;
use barcheck_counterexamples::harmless;
use barcheck_specs::head::{Expect, Head, head};
use barcheck_specs::library::{Protocol, protocols};
use std::io;

/// Runs the command.
pub(crate) fn run(args: &ExamplesArgs, colours: Colours) -> io::Result<Status> {
    let Some(name) = &args.name else {
        print(&list(args, colours.out))?;
        return Ok(Status::Success);
    };
    match named(name) {
        Ok(protocol) => {
            print(protocol.text)?;
            Ok(Status::Success)
        }
        Err(message) => {
            complain(&error_line(colours.err, harmless(&message)));
            Ok(Status::Trouble)
        }
    }
}

/// The text of a protocol of the library, by its path from the folder of the library.
pub(crate) fn source(path: &str) -> Option<&'static str> {
    named(path).ok().map(|protocol| protocol.text)
}

/// The protocol with this name: `ptx/ring`, `ring` if that is the name of one only, or its path. The error
/// is a message.
fn named(name: &str) -> Result<Protocol, String> {
    let plain = name.strip_suffix(".bar").unwrap_or(name);
    let plain = plain.rsplit_once("protocols/").map_or(plain, |(_, name)| name);
    if let Some(found) = protocols().find(|protocol| protocol.name == plain) {
        return Ok(found);
    }
    let found: Vec<_> = protocols().filter(|protocol| protocol.parts().1 == plain).collect();
    match found.as_slice() {
        [one] => Ok(*one),
        [] => {
            let words: Vec<&str> = plain.split(['/', '_']).filter(|word| word.len() > 2).collect();
            let alike = protocols().filter(|protocol| words.iter().any(|word| protocol.name.contains(word)));
            Err(format!("there is no example `{name}`; {}", hint(&names(alike.take(MOST_HINTED)))))
        }
        several => Err(format!("`{name}` is the name of several: {}", names(several.iter().copied()))),
    }
}

/// Names that a message offers, at most.
const MOST_HINTED: usize = 5;

fn hint(alike: &str) -> String {
    match alike {
        "" => "`barcheck examples` lists them".to_owned(),
        alike => format!("there are {alike}; `barcheck examples` lists all"),
    }
}

fn names(all: impl Iterator<Item = Protocol>) -> String {
    all.map(|protocol| format!("`{}`", protocol.name)).collect::<Vec<_>>().join(", ")
}

fn list(args: &ExamplesArgs, palette: Palette) -> String {
    let mut rows = vec![["example", "comes to", "what"].map(str::to_owned)];
    for protocol in protocols() {
        let Ok(Some(head)) = head(protocol.text) else { continue };
        let target = args.target.is_none_or(|target| protocol.parts().0 == target.name());
        let rule = args.rule.is_none_or(|rule| head.rules.contains(&rule));
        if target && rule {
            rows.push([protocol.name.to_owned(), comes_to(&head), protocol.title().to_owned()]);
        }
    }
    let verdict = |cell: &str| {
        if cell.starts_with(Expect::Verified.name()) { palette.good(cell) } else { palette.bad(cell) }
    };
    let paint = |column: usize, cell: &str| match column {
        0 => palette.strong(cell),
        1 => verdict(cell),
        _ => cell.to_owned(),
    };
    let text = table(&rows, palette, paint);
    let many = counted(rows.len() as u64 - 1, "example");
    format!("{text}\n{many}; `barcheck examples NAME` prints one\n")
}

fn comes_to(head: &Head) -> String {
    expect::words(head.expect.name(), &head.rules)
}
