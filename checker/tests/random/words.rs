//! Random protocols of what is in flight besides plain copies: arrivals of `cp.async`, atomics, copies from
//! CTA to CTA, waits that are relaxed, initialisations. The engines must say the same of each of them.
//!
//! `BARCHECK_RANDOM=N` sets the number of seeds, `BARCHECK_SEED=N` the first one.

use crate::engine::engine;
use crate::{number, two};
use barcheck_model::machine::ExitedThreads;
use barcheck_naive::explore::Verdict;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Numbers by chance.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }
}

/// What a protocol is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum About {
    Fills,
    Flight,
    Order,
}

/// A warp gives a phase of `full`, whole: what it does before, and how it arrives.
fn gives(chance: &mut Chance, about: About, there: &str, k: u64) -> String {
    let mut text = String::new();
    let at = |chance: &mut Chance| chance.of(&["x[0]", "x[1]"]).to_owned();
    match about {
        About::Fills => {
            for _ in 0..=chance.below(2) {
                let (begin, end) = [("", ""), ("", ""), ("if lane < 16 { ", "} "), ("if lane == 0 { ", "} ")]
                    [chance.below(4) as usize];
                let what = chance.of(&["cp.async", "cp.async", "cp.async", "write", "read"]);
                let _ = write!(text, "{begin}{what} {}; {end}", at(chance));
            }
            let how = chance.of(&[".noinc", ".noinc", ".noinc", ""]);
            text += match chance.below(5) {
                0 => {
                    "if lane < 16 { cp.async.mbarrier.arrive.noinc full; } else { \
                      cp.async.mbarrier.arrive.noinc full; } "
                }
                1 => "cp.async.commit_group; cp.async.wait_group 0; mbarrier.arrive full; ",
                _ if how.is_empty() => "cp.async.mbarrier.arrive full; mbarrier.arrive full; ",
                _ => "cp.async.mbarrier.arrive.noinc full; ",
            };
            if chance.below(4) == 0 {
                let _ = write!(text, "cp.async {}; ", at(chance));
            }
        }
        About::Flight => {
            if chance.below(2) == 0 {
                let what = chance.of(&["write", "atomic", "read"]);
                let _ = write!(text, "{what} {}; ", at(chance));
            }
            text += chance.of(&["", "", "fence.proxy.async; "]);
            let count = 1 + chance.below(2);
            let _ = write!(text, "if lane == 0 {{ mbarrier.arrive.expect_tx full{there}, {}; ", 8 * count);
            for _ in 0..count {
                let to = at(chance);
                match chance.of(&["red.async", "red.async", "st.async", "cp.async.bulk", "across", "across"])
                {
                    "across" => {
                        let _ = write!(
                            text,
                            "cp.async.bulk.shared::cluster.shared::cta {to}, {}, 8, full{there}; ",
                            at(chance)
                        );
                    }
                    what => {
                        let _ = write!(text, "{what} {to}, 8, full{there}; ");
                    }
                }
            }
            text += "} ";
        }
        About::Order => {
            let what = chance.of(&["write", "read", "atomic"]);
            let _ = write!(text, "{what} {}; ", at(chance));
            if k == 0 {
                text += chance.of(&[
                    "if lane == 0 { mbarrier.init late, 1; } ",
                    "if lane == 0 { mbarrier.init late, 1; fence.mbarrier_init; } ",
                    "if lane == 0 { mbarrier.init late, 1; } fence.release.cluster; ",
                ]);
            }
            text += chance.of(&["", "", "fence.acq_rel.cta; ", "fence.release.cluster; "]);
            let order = chance.of(&["", "", ".relaxed"]);
            let _ = write!(text, "if lane == 0 {{ mbarrier.arrive{order} full{there}; }} ");
        }
    }
    text
}

/// A warp waits for a phase, uses what it was given, and gives the place back.
fn takes(chance: &mut Chance, about: About, k: u64) -> String {
    let mut text = String::new();
    // Nobody says that the object is initialised by then.
    if about == About::Order && k == 0 && chance.below(16) == 0 {
        text += "if lane == 0 { mbarrier.arrive late; } ";
    }
    let order = match about {
        About::Order => chance.of(&["", ".relaxed"]),
        _ => chance.of(&["", "", "", "", ".relaxed"]),
    };
    let _ = write!(text, "mbarrier.wait.parity{order} full, {}; ", k % 2);
    text += match (order, about) {
        ("", _) => "",
        _ => chance.of(&["", "fence.acquire.cta; ", "fence.acq_rel.cluster; ", "fence.release.cta; "]),
    };
    for _ in 0..=chance.below(2) {
        let what = chance.of(&["read", "read", "atomic", "write"]);
        let _ = write!(text, "{what} x[{}]; ", chance.below(2));
    }
    if about == About::Order && k == 0 {
        text += chance.of(&["", "if lane == 0 { mbarrier.arrive late; } "]);
    }
    text += chance.of(&["", "", "", "fence.proxy.async; "]);
    text + "if lane == 0 { mbarrier.arrive empty; } "
}

fn generate(seed: u64) -> String {
    let mut chance = Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d);
    let about = [About::Fills, About::Flight, About::Order][(seed % 3) as usize];
    let clustered = about == About::Flight && chance.below(3) == 0;
    let rounds = 1 + chance.below(3);
    let takers = 1 + chance.below(2);
    let count = if about == About::Fills { 32 } else { 1 };
    let cta = 32 * (1 + takers);
    let mut text = format!("target ptx;\ncta {cta};\nshared x[2];\n");
    if clustered {
        text = text.replacen("cta", "cluster 2;\ncta", 1);
    }
    let _ = writeln!(text, "mbarrier full count {count}, empty count {takers}, late;");
    let there = if clustered { " @ cta 1 - cluster_ctarank" } else { "" };
    let meet = if clustered { "barrier.cluster.arrive; barrier.cluster.wait; " } else { "" };
    let _ = writeln!(text, "warp 0 {{");
    for k in 0..rounds {
        let waits = chance.below(8) > 0;
        if waits && k > 0 {
            let _ = writeln!(text, "    mbarrier.wait.parity empty, {};", (k + 1) % 2);
        }
        let _ = writeln!(text, "    {}", gives(&mut chance, about, there, k));
    }
    let _ =
        writeln!(text, "    {}{meet}\n}}", chance.of(&["", "read x[0]; ", "elect.sync _|p, 0xffffffff; "]));
    for warp in 1..=takers {
        let _ = writeln!(text, "warp {warp} {{");
        for k in 0..rounds {
            let _ = writeln!(text, "    {}", takes(&mut chance, about, k));
        }
        let _ = writeln!(text, "    {meet}\n}}");
    }
    text
}

/// What the protocols are made of that are verified, and what the others violate.
const SEEN: &[&str] = &[
    "cp.async.mbarrier.arrive.noinc full",
    "cp.async.mbarrier.arrive full",
    "red.async",
    "st.async",
    "shared::cluster.shared::cta",
    "wait.parity.relaxed",
    "fence.acquire.cta",
    "mbarrier.init",
    "fence.mbarrier_init",
];
const RULES: &[&str] = &["data-race", "missing-fence", "over-arrival", "mbarrier-not-live"];

#[test]
fn engines_agree_on_what_is_in_flight_and_on_who_acquires_it() {
    let (count, first) = (number("BARCHECK_RANDOM", 400), number("BARCHECK_SEED", 0));
    let (mut seen, mut rules) = (BTreeMap::<&str, u64>::new(), BTreeMap::<String, u64>::new());
    let judged = |seed| (seed, generate(seed), engine(&generate(seed), ExitedThreads::Hold));
    let mut decided = 0;
    for (seed, text, answer) in two::of_seeds(first..first + count, judged) {
        let Some((verdict, found)) = answer else { continue };
        let disagreement = found.iter().find(|rule| rule.starts_with('('));
        assert!(disagreement.is_none(), "seed {seed}: {verdict:?} {found:?}\n{text}");
        decided += 1;
        if verdict == Verdict::Verified {
            for word in SEEN.iter().filter(|word| text.contains(**word)) {
                *seen.entry(word).or_default() += 1;
            }
        }
        found.into_iter().for_each(|rule| *rules.entry(rule).or_default() += 1);
    }
    println!("{decided} of {count} decided; in verified ones {seen:?}; {rules:?}");
    if count >= 400 {
        assert!(SEEN.iter().all(|word| seen.contains_key(word)), "{seen:?}");
        assert!(RULES.iter().all(|rule| rules.contains_key(*rule)), "{rules:?}");
    }
}
