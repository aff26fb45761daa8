//! The page that lists all files of a run.

use super::sheet::{GENERATOR, badge, sheet};
use crate::cli::decided::Decided;
use crate::cli::human;
use crate::cli::location::encoded;
use crate::cli::output::counted;
use barcheck::Verdict;
use barcheck_counterexamples::html_text;
use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A file of a run.
#[derive(Debug)]
pub(crate) struct Row {
    /// Its name, and the values of params that take several.
    name: String,
    /// The verdict, or whether it is as expected.
    verdict: String,
    /// The class of its badge.
    kind: &'static str,
    /// It is not as it should be.
    fails: bool,
    /// What there is to say in a line.
    what: String,
    seconds: f64,
    /// Pages in the same folder: what each shows, and its name.
    pages: Vec<(String, String)>,
}

impl Row {
    /// The row of a file, of which there are these pages in the folder of the index.
    pub(crate) fn new(decided: &Decided, pages: Vec<(String, String)>) -> Self {
        let verdict = decided.verdict.name();
        let what = human::in_short(decided);
        let (verdict, kind, fails) = match &decided.expectation {
            Some(expectation) if expectation.is_met() => (format!("as expected: {verdict}"), "good", false),
            Some(_) => (format!("differs: {verdict}"), "bad", true),
            None => (verdict.to_owned(), verdict, decided.verdict != Verdict::Verified),
        };
        Self {
            name: decided.title(),
            verdict,
            kind,
            fails,
            what: if what.is_empty() { counted(decided.statistics.states, "state") } else { what },
            seconds: decided.statistics.seconds,
            pages,
        }
    }

    fn html(&self) -> String {
        let link = |page: &str, text: &str| {
            format!("<a href=\"{}\">{}</a>", encoded(page.as_bytes()), html_text(text))
        };
        let (name, more) = match self.pages.as_slice() {
            [] => (html_text(&self.name), String::new()),
            [(_, first), others @ ..] => {
                let others: Vec<_> = others.iter().map(|(what, page)| link(page, what)).collect();
                let gap = if others.is_empty() { "" } else { "<br>" };
                (link(first, &self.name), format!("{gap}{}", others.join("<br>")))
            }
        };
        format!(
            "<tr><td class=\"badges\">{}</td><td class=\"file\">{name}{more}</td><td>{}</td><td class=\"number\">{:.2} s</td></tr>\n",
            badge(self.kind, &self.verdict),
            html_text(&self.what),
            self.seconds
        )
    }
}

/// The page of all files; `tally` sums them up in a line. What fails comes first.
pub(crate) fn index(rows: &[Row], tally: &str) -> String {
    let mut body = format!("<header class=\"top\"><h1>{}</h1></header>\n", html_text(tally.trim()));
    body.push_str("<section><table>\n<tr><th>verdict</th><th>file</th><th>what</th><th>time</th></tr>\n");
    let fails = rows.iter().filter(|row| row.fails);
    for row in fails.chain(rows.iter().filter(|row| !row.fails)) {
        body.push_str(&row.html());
    }
    let _ = write!(body, "</table></section>\n<p class=\"faint\">{VERSION}</p>\n");
    sheet("barcheck", &body)
}

const VERSION: &str = concat!("barcheck ", env!("CARGO_PKG_VERSION"));

/// Whether a page may be written to a path: there is nothing yet, or what this program has written.
pub(crate) fn is_ours(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return true };
    let mut head = Vec::new();
    let read = file.take(1024).read_to_end(&mut head);
    read.is_err() || String::from_utf8_lossy(&head).contains(GENERATOR)
}
