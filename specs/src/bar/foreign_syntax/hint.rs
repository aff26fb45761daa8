//! What is known of other languages, as each system gives it.

/// What somebody who writes a foreign statement or instruction should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hint {
    /// It has a counterpart: what to write.
    Write(&'static str),
    /// It has none: why.
    NotModelled(&'static str),
}

use Hint::{NotModelled, Write};

/// A language of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kernel {
    /// What a text of it has in it.
    pub(crate) sign: &'static str,
    pub(crate) language: &'static str,
    /// How a kernel in it is handed over.
    pub(crate) how: &'static str,
}

/// What those who know a system from elsewhere may write.
pub(crate) struct Foreign {
    /// What every file of a language has that kernels are compiled to.
    pub(crate) compiled: &'static [Kernel],
    /// The same of languages in which people write kernels.
    pub(crate) written: &'static [Kernel],
    /// What a statement or instruction, in lower case, is here.
    pub(crate) statement: fn(&str) -> Option<Hint>,
}

pub(crate) const ACCESS: Hint =
    Write("an access is `read x;`, `write x;` or `atomic x;`, with `shared x;` before the blocks");
pub(crate) const CALL: Hint = Write(
    "write what it does to barriers, `if`s and loops included, where it is called; what several roles do stands \
     once, as `block name(parameters) { … }` before them",
);
pub(crate) const LANES: Hint = NotModelled(
    "it joins the lanes of one warp; a warp is one agent here, whose lanes join at the end of each branch \
     and loop",
);
pub(crate) const CLUSTER: Hint = NotModelled("a protocol is that of one CTA, and a cluster has several");
pub(crate) const MBARRIER: Hint =
    NotModelled("an mbarrier is an object in memory; the barriers here are the sixteen of a CTA");
pub(crate) const COPIES: Hint = NotModelled(
    "asynchronous copies complete at no barrier of the CTA; the access may be written where its effect is \
     awaited",
);

/// Whether `text` is one of `names`, or begins with one of them and a dot.
pub(crate) fn is(text: &str, names: &[&str]) -> bool {
    names.iter().any(|name| {
        let rest = text.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}
