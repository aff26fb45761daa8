//! Choices that are made when they show: nothing that they lead to is missed, and nothing is made up.

use super::{agree, decide, rules, stubborn, with};
use crate::decisions::{program, walk_all};
use barcheck::{Reduction, Settings, Verdict};
use std::collections::BTreeSet;

/// Thirty-two warps of which each decides before a barrier what it accesses after it; `decided` says where,
/// `between` what they do then.
fn decided_before(warps: u32, decided: &str, between: &str) -> String {
    let size = 32 * warps;
    let (before, again) =
        if decided == "once" { ("let c = any 0..2;", "") } else { ("let c = 0;", "c = any 0..2;") };
    format!(
        "target ptx; shared tile[{warps}]; cta {size}; warps 0..{warps} {{ {before} for i in 0..4 {{ {again}
            bar.sync 0; if c == 1 {{ write tile[warp]; }} {between} if c == 1 {{ write tile[warp]; }}
        }} }}"
    )
}

#[test]
fn a_choice_is_made_when_it_shows_and_not_carried_through_barriers() {
    for decided in ["once", "anew"] {
        let outcome = decide(&decided_before(32, decided, "bar.sync 1;"), &Settings::default());
        assert_eq!((outcome.verdict, outcome.method.reduction), (Verdict::Verified, Reduction::Stubborn));
        assert!(outcome.statistics.states < 10, "{decided}: {}", outcome.statistics.states);
        agree(&decided_before(2, decided, "bar.sync 1;"));
        // A neighbour reads what may have been written, with no barrier in between.
        let race = decided_before(32, decided, "read tile[(warp + 1) % 32];");
        assert_eq!(rules(&decide(&race, &Settings::default())), ["data-race"]);
        assert_eq!(rules(&agree(&decided_before(2, decided, "read tile[(warp + 1) % 2];"))), ["data-race"]);
    }
}

#[test]
fn what_an_early_choice_leads_to_later_is_found() {
    for (then, found) in [
        ("", None),
        ("if c == 2 { bar.sync 3; }", Some("deadlock")),
        ("if c == 2 { exit; }", None),
        ("if c == 2 { bar.sync 3, 96; }", Some("deadlock")),
        ("assert c < 2;", Some("assertion")),
        ("if c > 0 { write b[warp]; } if c == 2 { read b[(warp + 1) % 3]; }", Some("data-race")),
        ("if c > 0 { write b[warp]; } bar.sync 3; if c == 2 { read b[(warp + 1) % 3]; }", None),
        ("write b[(warp + c) % 3];", Some("data-race")),
        ("if c > 0 { write b[warp]; } if c == 2 { write b[warp]; }", None),
        ("if warp == 0 && c == 1 { write a; } bar.sync 3; if c != 1 { read a; }", None),
        ("if warp == 0 && c == 1 { write a; } if warp == 1 && c != 1 { read a; }", Some("data-race")),
        // The same agent's choice cannot have gone both ways.
        ("if c == 1 { write b[warp]; } if c == 1 { bar.sync 3; } else { bar.sync 3; read b[warp]; }", None),
        (
            "if c == 1 && warp == 0 { write a; } if warp == 0 && c == 0 { bar.arrive 4, 64; } if warp == 1 { read b[1]; }",
            None,
        ),
    ] {
        let text = format!(
            "target ptx; shared a, b[3]; cta 96;
            warps 0..3 {{ let c = any 0..3; bar.sync 0; bar.sync 1; {then} bar.sync 2; }}"
        );
        let outcome = stubborn(&text);
        assert_eq!(
            rules(&outcome).first().copied().filter(|rule| *rule != "dangling-arrival"),
            found,
            "{then}"
        );
        assert_eq!(
            outcome.verdict == Verdict::Violated,
            found.is_some(),
            "{then}: {:?}",
            outcome.inconclusive
        );
        walk_all(&text, &outcome);
        let every = |reduction| {
            let outcome = decide(&text, &Settings { all: true, ..with(reduction) });
            (outcome.verdict, rules(&outcome).join(" "))
        };
        assert_eq!(every(Reduction::Auto), every(Reduction::None), "{then}");
    }
}

#[test]
fn who_is_stuck_by_an_early_choice_is_found_with_its_cycle() {
    let text = |waits: &str| {
        format!(
            "target ptx; cta 96;
            warps 0..2 {{ let c = any 0..2; bar.sync 1, 64; loop {{
                bar.sync 2, 64;
                if warp == 0 && c == 1 {{ bar.arrive 3, 64; c = 2; }}
            }} }}
            warp 2 {{ {waits} }}"
        )
    };
    let stuck = text("bar.sync 3, 64;");
    let outcome = agree(&stuck);
    assert_eq!((outcome.verdict, rules(&outcome)), (Verdict::Violated, vec!["stuck-agent"]));
    assert_eq!(agree(&text("")).verdict, Verdict::Verified);
    // Whichever way the choice went, it is released in the end.
    let released = stuck.replace("warp == 0 && c == 1", "warp == 0 && c < 2");
    assert_eq!(agree(&released).verdict, Verdict::Verified);
}

#[test]
fn a_decision_that_only_some_ways_ask_for_is_kept_until_it_is_known_which_way_it_was() {
    let text = "target ptx; cta 64; warps 0..2 {
        let c = any 0..2;
        if uniform more ? { bar.sync 1; } else { bar.sync 2; }
        if c == 0 { bar.arrive 3 + warp, 64; } else { if uniform more ? { bar.arrive 3 + warp, 64; } else { bar.arrive 5 + warp, 64; } }
    }";
    agree(text);
}

/// What is left of the paths on which computation fails is no path, so nobody but a search says what else is
/// violated.
#[test]
fn what_cannot_be_evaluated_on_one_of_two_ways_is_an_error_whatever_the_others_do() {
    for others in
        ["loop { write b; }", "loop { bar.sync 3; }", "", "write a;", "bar.sync 4, 64;", "bar.sync 3;"]
    {
        for (does, fails) in [
            ("c = 1 / c; write a;", true),
            ("c = 1 / (1 - c); write a;", true),
            ("c = 1 / c; bar.arrive 5, 64; c = 2;", true),
            ("if c == 0 { c = 1 / c; } else { write a; }", true),
            ("if c == 0 { c = 1 / c; } else { exit; }", true),
            ("write tile[2 - 2 * c];", true),
            ("write a; c = 1 / c;", true),
            ("if ? { c = 1 / c; } write a; loop { }", true),
            ("c = 1 / (c + 1); write a;", false),
            ("if c == 1 { c = 1 / c; } else { write a; }", false),
            ("write tile[1 - c];", false),
        ] {
            let text = format!(
                "target ptx; shared a, b, tile[2]; cta 64;
                warp 0 {{ let c = any 0..2; bar.sync 1; {does} }}
                warp 1 {{ bar.sync 1; {others} }}"
            );
            for all in [false, true] {
                let of = |reduction| decide(&text, &Settings { all, ..with(reduction) });
                let (quick, plain) = (of(Reduction::Auto), of(Reduction::None));
                assert_eq!(quick.fault.is_some(), plain.fault.is_some(), "{text}");
                if !fails {
                    assert_eq!((quick.verdict, rules(&quick)), (plain.verdict, rules(&plain)), "{text}");
                }
                assert!(others != "loop { write b; }" || plain.fault.is_some() == fails, "{text}");
                walk_all(&text, &quick);
            }
        }
    }
}

#[test]
fn among_very_many_ways_of_choosing_one_that_ends_in_a_deadlock_is_found_by_chance() {
    let text = "target ptx; shared tile[64]; cta 1024; warps 0..32 { let c = any 0..2; for i in 0..8 {
        bar.sync 0;
        if c == 1 { bar.sync 1 + i, 1024; } else { if i != 3 { bar.sync 1 + i, 1024; } }
        write tile[2 * warp + c];
    } }";
    let outcome = decide(text, &Settings::default());
    assert_eq!((outcome.verdict, rules(&outcome)[0]), (Verdict::Violated, "deadlock"));
    walk_all(text, &outcome);
}

/// As long as it is open which way warp 1 has chosen, warp 0 may still be released. Where it has chosen
/// otherwise, warp 0 is stuck while the others go round, though whoever leaves the loop comes to a deadlock
/// before long.
#[test]
fn who_is_stuck_on_one_of_two_ways_is_found_although_a_deadlock_ends_both() {
    let text = "target ptx; cta 96;
        warp 0 { bar.sync 3, 64; }
        warp 1 {
            let c = any 0..2;
            while uniform go ? { bar.sync 2, 64; }
            if c == 0 { bar.arrive 3, 64; } else { bar.sync 4, 64; }
        }
        warp 2 { while uniform go ? { bar.sync 2, 64; } }";
    assert_eq!(rules(&agree(text)), ["deadlock", "stuck-agent"]);
}

/// 32 warps are decided at once, and 2 or 3 as by the plain search.
#[track_caller]
fn few_states(text: impl Fn(u32) -> String) {
    let outcome = decide(&text(32), &Settings::default());
    let why = (outcome.verdict, outcome.method.reduction);
    assert_eq!(why, (Verdict::Verified, Reduction::Stubborn), "{}: {:?}", text(32), outcome.inconclusive);
    assert!(outcome.statistics.states < 10, "{}: {}", text(32), outcome.statistics.states);
    for warps in [2, 3] {
        assert_eq!(agree(&text(warps)).verdict, Verdict::Verified, "{}", text(warps));
    }
}

fn rounds(warps: u32, does: &str) -> String {
    format!(
        "target ptx; shared tile[{warps}]; cta {}; warps 0..{warps} {{ for i in 0..3 {{ {does} }} }}",
        32 * warps
    )
}

#[test]
fn the_same_barrier_in_two_places_is_one_barrier() {
    for does in [
        "if ? { write tile[warp]; bar.sync 0; } else { bar.sync 0; } read tile[warp];",
        "if ? { bar.sync 1; write tile[warp]; bar.sync 0; } else { bar.sync 1; bar.sync 0; }",
        "let c = any 0..3; bar.sync 1; if c == 1 { bar.sync 0; read tile[warp]; } else { bar.sync 0; }",
        "if uniform ? { if ? { bar.sync 0; } else { bar.sync 0; } } write tile[warp];",
        "if ? { bar.sync 0; if uniform more ? { bar.sync 1; } } else { bar.sync 0; if uniform more ? { bar.sync 1; } }",
    ] {
        few_states(|warps| rounds(warps, does));
    }
    for (does, found) in [
        ("if ? { write tile[warp]; bar.sync 0; } else { bar.sync 1; }", "deadlock"),
        ("if ? { write tile[warp]; bar.sync 0; } else { bar.sync 0; } read tile[0];", "data-race"),
        ("if ? { bar.sync 0; write tile[0]; } else { bar.sync 0; }", "data-race"),
        ("if ? { bar.sync 0; bar.sync 1; } else { bar.sync 0; }", "deadlock"),
    ] {
        let outcome = agree(&rounds(2, does));
        assert!(rules(&outcome).contains(&found), "{does}: {:?}", rules(&outcome));
        let outcome = decide(&rounds(32, does), &Settings::default());
        assert_eq!((outcome.verdict, rules(&outcome)[0]), (Verdict::Violated, found), "{does}");
        walk_all(&rounds(32, does), &outcome);
    }
}

#[test]
fn whoever_exits_in_one_of_two_places_exits() {
    let text = |then: &str, warps: u32| {
        let size = 32 * warps;
        format!(
            "target ptx; shared tile[{warps}]; cta {size}; warps 0..{warps} {{ if ? {{ exit; }} {then} }}"
        )
    };
    few_states(|warps| text("write tile[warp];", warps));
    few_states(|warps| text("if ? { write tile[warp]; exit; } read tile[warp];", warps));
    for (then, found) in [("bar.sync 1 + warp, 64;", "deadlock"), ("write tile[0];", "data-race")] {
        assert_eq!(rules(&agree(&text(then, 2))), [found]);
        assert_eq!(rules(&decide(&text(then, 12), &Settings::default())), [found]);
    }
}

/// A split barrier's instances have places: what is done in another one is not the same.
#[test]
fn instances_in_two_places_are_two() {
    let barrier = "OpControlBarrier Workgroup, Workgroup, AcquireRelease|WorkgroupMemory;";
    let text = |other: &str| {
        format!(
            "target split_barrier; workgroup 2;
            invocations 0..2 {{ if ? {{ {barrier} }} else {{ {other} }} }}"
        )
    };
    for (other, found) in [(barrier, "nonuniform-barrier"), ("", "deadlock")] {
        for reduction in [Reduction::Auto, Reduction::None] {
            let outcome = decide(&text(other), &Settings { all: true, ..with(reduction) });
            assert!(rules(&outcome).contains(&found), "{reduction:?} {:?}", rules(&outcome));
        }
    }
}

#[test]
fn local_loops_that_can_be_left_are_ways_like_others() {
    for does in [
        "while ? { write tile[warp]; } bar.sync 0;",
        "while ? { while ? { read tile[warp]; } write tile[warp]; } bar.sync 0;",
        "loop { read tile[warp]; if ? { break; } write tile[warp]; } bar.sync 0; read tile[0]; bar.sync 1;",
        "while uniform ? { while ? { atomic tile[0]; } let n = any 0..3; for k in 0..n { atomic tile[1]; } bar.sync 0; }",
        "let c = any 0..2; bar.sync 0; while ? { if c == 1 { write tile[warp]; } }",
    ] {
        few_states(|warps| rounds(warps, does));
    }
    // What shows only in the second round, or on the way out.
    for does in [
        "loop { if ? { break; } read tile[warp]; if ? { break; } write tile[0]; }",
        "while ? { if ? { write tile[0]; } }",
        "loop { read tile[0]; if ? { write tile[warp]; break; } }",
    ] {
        assert_eq!(rules(&agree(&rounds(2, does))), ["data-race"], "{does}");
        let outcome = decide(&rounds(32, does), &Settings::default());
        assert_eq!(rules(&outcome), ["data-race"], "{does}");
        walk_all(&rounds(32, does), &outcome);
    }
}

/// Each of seven lengths has two ways to go on at each step: 254 ways that all end at one barrier.
#[test]
fn ways_are_not_counted_one_by_one() {
    let text = |warps: u32, then: &str| {
        let size = 32 * warps;
        format!(
            "target ptx; shared tile[{warps}]; cta {size}; warps 0..{warps} {{
                let n = any 1..8; for k in 0..n {{ if ? {{ write tile[warp]; }} else {{ read tile[warp]; }} }}
                bar.sync 0; {then}
            }}"
        )
    };
    for (then, found) in [("read tile[0];", vec![]), ("if n == 7 { write tile[0]; }", vec!["data-race"])] {
        assert_eq!(rules(&agree(&text(2, then))), found);
        let outcome = decide(&text(32, then), &Settings::default());
        assert_eq!(rules(&outcome), found);
        assert!(outcome.inconclusive.is_none());
        walk_all(&text(32, then), &outcome);
    }
}

/// Ways meet after each round, long before everything is known that comes then: even a failure at the end of
/// it.
#[test]
fn ways_that_meet_soon_are_one_however_much_comes_after() {
    let text = |warps: u32, rounds: u32, then: &str| {
        let size = 32 * warps;
        format!(
            "target ptx; shared tile[{warps}]; cta {size}; warps 0..{warps} {{
                for k in 0..{rounds} {{ if ? {{ read tile[warp]; }} }} {then} bar.sync 0; write tile[warp];
            }}"
        )
    };
    assert_eq!(agree(&text(2, 100, "")).verdict, Verdict::Verified);
    let outcome = decide(&text(32, 1_000, ""), &Settings::default());
    assert_eq!((outcome.verdict, outcome.method.reduction), (Verdict::Verified, Reduction::Stubborn));
    assert!(outcome.statistics.states < 50, "{}", outcome.statistics.states);
    let race = text(32, 1_000, "if warp > 0 { if ? { read tile[warp - 1]; } }").replace("bar.sync 0;", "");
    assert_eq!(rules(&decide(&race, &Settings::default())), ["data-race"]);
    let fails = text(2, 3, "let c = any 0..2; if c == 1 { c = 1 / (c - 1); }");
    for reduction in [Reduction::Auto, Reduction::None] {
        assert!(decide(&fails, &with(reduction)).fault.is_some());
    }
}

#[test]
fn whoever_may_stay_in_a_local_loop_for_ever_hides_nobody_who_is_stuck() {
    for (one, other) in [
        ("while ? { read a; }", "bar.sync 1, 64;"),
        ("if ? { loop { if ? { read a; } } }", "bar.sync 1, 64;"),
        ("loop { if ? { read a; } } ", "bar.sync 1, 64;"),
        ("while ? { read a; } bar.sync 1, 64;", "bar.sync 1, 64;"),
        ("while ? { read a; } loop { bar.sync 2, 32; }", "bar.sync 1, 64;"),
        ("if ? { while ? { read a; } bar.sync 1, 64; }", "bar.sync 1, 64;"),
        ("while ? { read a; } if ? { exit; } loop { if ? { read a; } }", "bar.sync 1, 64;"),
        ("while ? { read a; } assert 1 == 2;", "bar.sync 1, 64;"),
        ("while ? { read a; } while uniform ? { bar.sync 2, 32; }", "bar.sync 1, 64;"),
    ] {
        let text = format!("target ptx; shared a; cta 64; warp 0 {{ {one} }} warp 1 {{ {other} }}");
        let every = |reduction| {
            let outcome = decide(&text, &Settings { all: true, ..with(reduction) });
            walk_all(&text, &outcome);
            (outcome.verdict, rules(&outcome).join(" "))
        };
        assert_eq!(every(Reduction::Auto), every(Reduction::None), "{text}");
    }
}

/// Of places that are alike one is looked at, as long as nothing is found.
#[test]
fn what_is_violated_in_two_places_is_told_of_both() {
    for (agents, count) in [
        ("warps 0..2 { if ? { bar.arrive 1, 64; } else { bar.arrive 1, 64; } }", 2),
        ("warps 0..2 { if ? { bar.sync 1, 96; } else { bar.sync 1, 96; } }", 2),
        ("warps 0..2 { if ? { bar.sync 0; } else { bar.sync 0; } }", 0),
    ] {
        let text = format!("target ptx; cta 64; {agents}");
        let places = |all, reduction| {
            let outcome = decide(&text, &Settings { all, ..with(reduction) });
            let place = |f: &barcheck::Found| {
                (f.finding.rule.name(), program(&text).code(f.finding.agent).places[f.finding.pc.index()])
            };
            outcome.findings.iter().map(place).collect::<BTreeSet<_>>()
        };
        let (quick, plain) = (places(true, Reduction::Auto), places(true, Reduction::None));
        assert_eq!(quick, plain, "{text}");
        assert_eq!(plain.len(), count, "{text}: {plain:?}");
    }
}
