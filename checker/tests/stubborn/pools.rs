//! Pools of registers beside choices.

use super::{agree, decide, rules, undecided, with};
use barcheck::{Budgets, Engine, Levels, Reduction, Settings, Verdict};
use std::fmt::Write;

/// Twelve warps, of which four give and eight take, and rounds for as long as all want.
fn groups(before: &str, given: u32, taken: u32) -> String {
    format!(
        "target ptx; cta 384; maxnreg 168;
         warps 0..4 {{ {before} setmaxnreg.dec {given}; while uniform more ? {{ bar.sync 0; }} }}
         warps 4..12 {{ if ? {{ bar.arrive 1 + warp, 64; }} setmaxnreg.inc {taken}; while uniform more ? {{ bar.sync 0; }} }}"
    )
}

#[test]
fn who_takes_first_does_not_matter_where_there_is_enough_for_all() {
    let outcome = decide(&groups("", 24, 240), &Settings::default());
    assert_eq!((outcome.verdict, outcome.method.engine), (Verdict::Verified, Engine::Stubborn));
    assert!(outcome.statistics.states < 2000, "{}", outcome.statistics.states);
}

#[test]
fn a_path_at_whose_end_somebody_waits_for_registers_is_a_hang() {
    let text = "target ptx; cta 96; maxnreg 64;
                warp 0 { setmaxnreg.dec 56; }
                warps 1..3 { if uniform ? { setmaxnreg.inc 72; } }";
    let outcome = decide(text, &with(Reduction::Stubborn));
    assert_eq!((outcome.verdict, rules(&outcome)), (Verdict::Violated, vec!["deadlock"]));
}

/// What is enough for another does not wake it for good.
// clause: ptx.registers-inc
#[test]
fn a_warp_for_which_it_is_never_enough_is_stuck_while_others_take_and_give_for_ever() {
    let text = "target ptx; cta 96; maxnreg 64;
                warp 0 { loop { setmaxnreg.dec 56; setmaxnreg.inc 64; } }
                warp 1 { loop { setmaxnreg.inc 72; setmaxnreg.dec 64; } }
                warp 2 { setmaxnreg.inc 128; }";
    for reduction in [Reduction::Auto, Reduction::None, Reduction::Symmetry] {
        let outcome = decide(text, &Settings { all: true, ..with(reduction) });
        assert_eq!((outcome.verdict, rules(&outcome)), (Verdict::Violated, vec!["stuck-agent"]));
    }
    let enough = text.replace("setmaxnreg.inc 128;", "setmaxnreg.inc 72; setmaxnreg.dec 64;");
    assert_eq!(decide(&enough, &Settings::default()).verdict, Verdict::Verified);
}

#[test]
fn who_gives_after_others_have_taken_is_left_to_a_search() {
    let text = "target ptx; cta 96; maxnreg 64;
                warp 0 { if uniform ? {} setmaxnreg.dec 40; bar.sync 0, 64; }
                warp 1 { setmaxnreg.inc 72; bar.sync 0, 64; setmaxnreg.dec 64; }
                warp 2 { setmaxnreg.inc 80; }";
    assert!(undecided(text).contains("timing could"), "{}", undecided(text));
    assert_eq!(decide(text, &Settings::default()).verdict, Verdict::Verified);
}

#[test]
fn registers_that_come_before_a_meeting_are_enough_behind_it() {
    agree(
        "target ptx; cta 96; maxnreg 64;
         warp 0 { if uniform a ? { setmaxnreg.dec 40; } else { setmaxnreg.dec 48; } bar.sync 0; }
         warps 1..3 { if ? { setmaxnreg.inc 72; bar.sync 0; } else { bar.sync 0; setmaxnreg.inc 72; } }",
    );
}

/// Numbers by chance (xorshift).
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// Statements of a warp that has so many registers, and as many behind them as in front.
fn statements(chance: &mut Chance, has: u64, depth: u32) -> String {
    let mut text = String::new();
    for _ in 0..=chance.below(2) {
        let count = 8 * (3 + chance.below(7));
        let (word, back) = if count > has { ("inc", "dec") } else { ("dec", "inc") };
        let _ = match chance.below(8) {
            0..=2 => {
                let inner = if depth > 0 { statements(chance, count, depth - 1) } else { String::new() };
                let back = if chance.below(4) > 0 && depth > 0 {
                    format!("setmaxnreg.{back} {has};")
                } else if depth == 2 {
                    // Nothing follows that counts on what it had.
                    return text + &format!("setmaxnreg.{word} {count}; {inner}");
                } else {
                    format!("setmaxnreg.{back} {has};")
                };
                write!(text, "setmaxnreg.{word} {count}; {inner} {back}")
            }
            3 | 4 => write!(text, "bar.sync 0;"),
            5 if depth > 0 => {
                let inner = statements(chance, has, depth - 1);
                let whose = if chance.below(2) == 0 { "uniform a" } else { "" };
                write!(text, "if {whose} ? {{ {inner} }}")
            }
            6 if depth > 0 => {
                write!(text, "while uniform b ? {{ {} bar.sync 0; }}", statements(chance, has, 0))
            }
            _ => write!(text, "bar.arrive 1, 64;"),
        };
    }
    text
}

#[test]
fn random_pools_get_what_the_plain_search_says() {
    let many = std::env::var("BARCHECK_RANDOM").ok().and_then(|n| n.parse().ok()).unwrap_or(250);
    let mut verified = 0;
    for seed in 1..=many {
        let mut chance = Chance(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
        let mut text = "target ptx; cta 96; maxnreg 56;".to_owned();
        for warp in 0..3 {
            let _ = write!(text, "\nwarp {warp} {{ {} }}", statements(&mut chance, 56, 2));
        }
        let settings = |reduction| Settings {
            all: true,
            levels: Levels { strict: true, ..Levels::default() },
            budgets: Budgets { max_states: Some(100_000), ..Budgets::default() },
            ..with(reduction)
        };
        let (few, every) =
            (decide(&text, &settings(Reduction::Auto)), decide(&text, &settings(Reduction::None)));
        if [few.verdict, every.verdict].contains(&Verdict::Inconclusive) {
            continue;
        }
        assert_eq!((few.verdict, rules(&few)), (every.verdict, rules(&every)), "seed {seed}\n{text}");
        verified += u32::from(every.verdict == Verdict::Verified && few.method.engine == Engine::Stubborn);
    }
    assert!(verified > 0, "none shows the engine");
}
