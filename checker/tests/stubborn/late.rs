//! Choices that are made when they show: nothing that they lead to is missed, and nothing is made up.

use super::{agree, decide, rules, stubborn, with};
use crate::decisions::walk_all;
use barcheck::{Reduction, Settings, Verdict};

/// Thirty-two warps of which each decides before a barrier what it accesses after it; `decided` says where, `between` what they do then.
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

/// What is left of the paths on which computation fails is no path, so nobody but a search says what else is violated.
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

/// As long as it is open which way warp 1 has chosen, warp 0 may still be released. Where it has chosen otherwise, warp 0 is stuck while the others
/// go round, though whoever leaves the loop comes to a deadlock before long.
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
