//! Where roles wait for each other the first line says who passed by which arrival, and where a race comes of
//! an arrival that came too early, that it did.

use barcheck::{Decision, Options, Source, decide};

fn decided(text: &str) -> Decision {
    decide(&Source::new("k.bar", text.as_bytes()), &Options::default())
}

/// The message of the first finding, and what is said of the places beside it.
fn told(text: &str) -> (String, Vec<String>) {
    let decision = decided(text);
    assert!(decision.defects.is_empty(), "{:?}", decision.defects);
    let found = decision.findings.first().unwrap_or_else(|| panic!("{decision:?}"));
    let outcome = &found.trace.outcome;
    let places = outcome.related.iter().map(|place| format!("{}: {}", place.line, place.role));
    (outcome.headline.clone(), places.collect())
}

/// One producer and consumers that hand stages over by named barriers; `{give}` is how a consumer gives one
/// back.
fn ring(consumers: u32, give: &str) -> String {
    let (all, last) = (32 * (1 + consumers), 1 + consumers);
    format!(
        "target ptx; cta {all}; shared tile[2];
warp 0 as producer {{ for i in 0..6 {{
    if i >= 2 {{ bar.sync 3 + i % 2, {all}; }}
    write tile[i % 2];
    bar.arrive 1 + i % 2, {all};
}} }}
warps 1..{last} as consumer {{ for i in 0..6 {{
    bar.sync 1 + i % 2, {all};
    read tile[i % 2];
    {give}
}} }}
"
    )
}

#[test]
fn the_only_consumer_that_passes_by_one_arrival_is_named_with_the_round() {
    let (headline, places) = told(&ring(1, "if i < 4 { if i != 3 { bar.arrive 3 + i % 2, 64; } }"));
    assert_eq!(
        headline,
        "deadlock: warp 1 passed by `bar.arrive 3 + i % 2, 64` (i = 3), after 1 arrival on barrier 4; warp 0 waits \
         on barrier 4 (32 of 64 threads arrived)"
    );
    assert_eq!(places[0], "10: warp 1 passed by here (i = 3)");
}

#[test]
fn the_last_round_in_which_nobody_waits_for_an_arrival_is_nobodys_fault() {
    assert!(decided(&ring(1, "if i < 4 { bar.arrive 3 + i % 2, 64; }")).findings.is_empty());
}

#[test]
fn all_consumers_that_pass_by_the_same_arrival_are_named_together() {
    let (headline, _) = told(&ring(2, "if i < 3 { bar.arrive 3 + i % 2, 96; }"));
    assert_eq!(
        headline,
        "deadlock: warps 1 and 2 passed by `bar.arrive 3 + i % 2, 96` (i = 3), after 1 arrival on barrier 4 each; \
         warp 0 waits on barrier 4 (32 of 96 threads arrived)"
    );
}

#[test]
fn a_consumer_that_never_came_to_a_barrier_its_sibling_came_to_is_named() {
    let (headline, _) = told(&ring(2, "if i < 4 && i != warp { bar.arrive 3 + i % 2, 96; }"));
    assert_eq!(
        headline,
        "deadlock: warp 1 passed by `bar.arrive 3 + i % 2, 96` (i = 1), before any arrival on barrier 4; warp 0 \
         waits on barrier 4 (64 of 96 threads arrived)"
    );
}

#[test]
fn a_decision_by_which_an_arrival_was_passed_by_is_told_instead_of_the_round() {
    let (headline, _) = told(&ring(1, "if i < 4 { if ? { bar.arrive 3 + i % 2, 64; } }"));
    assert_eq!(
        headline,
        "deadlock: warp 1 found `?` false, passing by `bar.arrive 3 + i % 2, 64`, before any arrival on barrier 3; \
         warp 0 waits on barrier 3 (32 of 64 threads arrived)"
    );
}

#[test]
fn a_signal_of_an_nbarrier_that_is_passed_by_is_named() {
    let text = "target nbarrier; thread_group 2; shared tile[2];
thread 0 as producer { for i in 0..5 {
    if i >= 2 { nbarrier.signal 3 + i % 2, 2, 1, 1; nbarrier.wait 3 + i % 2; }
    write tile[i % 2]; fence;
    nbarrier.signal 1 + i % 2, 1, 1, 1;
} }
thread 1 as consumer { for i in 0..5 {
    nbarrier.signal 1 + i % 2, 2, 1, 1; nbarrier.wait 1 + i % 2;
    read tile[i % 2];
    if i + 2 < 4 { nbarrier.signal 3 + i % 2, 1, 1, 1; }
} }
";
    let (headline, places) = told(text);
    assert!(
        headline.starts_with(
            "deadlock: thread 1 passed by `nbarrier.signal 3 + i % 2, 1, 1, 1` (i = 2), after 1"
        ),
        "{headline}"
    );
    assert!(places[0].starts_with("10: thread 1 passed by here"), "{places:?}");
}

#[test]
fn where_a_loop_is_left_in_its_midst_the_break_is_the_place() {
    let (headline, places) = told(&ring(1, "if i == 2 { break; } if i < 4 { bar.arrive 3 + i % 2, 64; }"));
    assert_eq!(
        headline,
        "deadlock: warp 1 left its loop and exited after 1 arrival on barrier 3; warp 0 waits on barrier 3 (32 of 64 \
         threads arrived)"
    );
    assert_eq!(places[0], "10: warp 1 left its loop here");
}

#[test]
fn where_a_loop_is_left_before_the_first_step_of_a_round_the_break_is_the_place() {
    let text = "target ptx;\ncta 256;\nwarps 0..8 {\n    for i in 0..8 {\n        if warp == 5 && i == 7 {\n            break;\n        }\n        bar.sync 1 + i % 2, 256;\n    }\n}\n";
    let (headline, places) = told(text);
    assert_eq!(
        headline,
        "deadlock: warp 5 left its loop and exited after 3 arrivals on barrier 2; warps 0-4, 6 and 7 wait on barrier 2 \
         (224 of 256 threads arrived)"
    );
    assert_eq!(places[0], "6: warp 5 left its loop here");
    // So it is where something else is done behind the loop.
    let busy = text.replace("cta 256;", "cta 256; shared own[8];").replace("}\n}", "}\n write own[warp];\n}");
    let (_, places) = told(&busy);
    assert_eq!(places[0], "6: warp 5 left its loop here");
    // The loop itself is shorter for it.
    let shorter = text.replace(
        "0..8 {\n        if warp == 5 && i == 7 {\n            break;\n        }",
        "0..8 - warp / 7 {",
    );
    let (headline, _) = told(&shorter);
    assert!(headline.starts_with("deadlock: warp 7 exited after 3 arrivals on barrier 2"), "{headline}");
}

#[test]
fn a_loop_that_all_of_a_role_leave_before_any_arrival_is_left_at_its_break() {
    let ring = |condition: &str| {
        format!(
            "target ptx;\ncta 96;\nshared own[3];\nmbarrier full[2] count 1;\nmbarrier empty[2] count 2;\n\
             warp 0 {{ let s = 0; let p = 1; for k in 0..6 {{\nmbarrier.wait.parity empty[s], p;\n\
             if lane == 0 {{ mbarrier.arrive full[s]; }} advance s, p, 2; }} }}\n\
             warps 1..3 {{ let s = 0; let p = 0;\nfor k in 0..6 {{\nmbarrier.wait.parity full[s], p;\n\
             if {condition} {{ break; }}\nif lane == 0 {{ mbarrier.arrive empty[s]; }} advance s, p, 2; }}\n\
             for w in 0..2 {{ write own[warp]; }}\n}}\n"
        )
    };
    for (condition, on) in [("k == 1", "empty[1]"), ("uniform ?", "empty[0]")] {
        let (headline, places) = told(&ring(condition));
        let says = format!("deadlock: warps 1 and 2 left their loop and exited without arriving on {on}; ");
        assert!(headline.starts_with(&says), "{headline}");
        assert!(places[0].starts_with("12: warps 1 and 2 left their loop here"), "{places:?}");
    }
    // The loop has an end of its own.
    let (headline, _) =
        told(&ring("k == 9").replace(
            "for k in 0..6 {\nmbarrier.wait.parity full",
            "for k in 0..1 {\nmbarrier.wait.parity full",
        ));
    assert!(headline.starts_with("deadlock: warps 1 and 2 exited "), "{headline}");
}

#[test]
fn a_parity_that_does_not_change_is_the_cause_and_not_what_waits_for_it() {
    let tiles = |parity: &str| {
        format!(
            "target ptx;\ncta 64;\nmbarrier full count 1;\nmbarrier done count 1;\n\
             warp 0 {{ for t in 0..4 {{\nif t >= 1 {{ mbarrier.wait.parity done, (t - 1) & 1; }}\n\
             if lane == 0 {{ mbarrier.arrive full; }}\nbar.sync 1, 64; }} }}\n\
             warp 1 {{ for t in 0..4 {{\nbar.sync 1, 64;\nmbarrier.wait.parity full, {parity};\n\
             if lane == 0 {{ mbarrier.arrive done; }} }} }}\n"
        )
    };
    let (headline, places) = told(&tiles("0"));
    assert!(
        headline.starts_with("deadlock: warp 1 waited for full with parity 0 again, that of phase 0, which it had seen complete"),
        "{headline}"
    );
    assert!(places[0].starts_with("11: warp 1 waits here on full"), "{places:?}");
    assert!(decided(&tiles("t & 1")).findings.is_empty());
}

#[test]
fn a_stage_that_is_given_back_before_it_is_read_is_told_as_such() {
    let text = ring(1, "if i < 4 { bar.arrive 3 + i % 2, 64; }")
        .replace("    read tile[i % 2];\n", "")
        .replace("64; }\n} }", "64; }\n    read tile[i % 2];\n} }");
    let (headline, places) = told(&text);
    assert_eq!(
        headline,
        "data-race: warp 1's read of tile[0] conflicts with warp 0's write: warp 1 had arrived on barrier 3 before \
         its read, and warp 0 went on by that"
    );
    assert!(places.contains(&"9: warp 1 arrived on barrier 3 here".to_owned()), "{places:?}");
}

#[test]
fn a_read_whose_wait_is_missing_is_not_blamed_on_the_arrival_of_the_round_before() {
    let text = ring(1, "if i < 4 { bar.arrive 3 + i % 2, 64; }").replace("bar.sync 1 + i % 2, 64;", "");
    let (headline, _) = told(&text);
    assert!(headline.ends_with("no barrier orders the two"), "{headline}");
}

/// A loader, two consumers, a copy for each round: `{count}` is what `empty` is given, `{loads}` how the
/// loader announces its copy, `{rounds}` how many the consumers make.
fn copies(count: u32, loads: &str, rounds: u32) -> String {
    format!(
        "target ptx; cta 96; shared buf[2];
mbarrier full[2] count 1;
mbarrier empty[2] count {count};
warp 0 as loader {{ let s = 0; let p = 1; for i in 0..4 {{
    mbarrier.wait.parity empty[s], p;
    if elect {{ {loads} cp.async.bulk.tensor buf[s], 64, full[s]; }}
    advance s, p, 2;
}} }}
warps 1..3 as consumer {{ let s = 0; let p = 0; for i in 0..{rounds} {{
    mbarrier.wait.parity full[s], p;
    read buf[s];
    if lane == 0 {{ mbarrier.arrive empty[s]; }}
    advance s, p, 2;
}} }}
"
    )
}

const ANNOUNCED: &str = "mbarrier.arrive.expect_tx full[s], 64;";

#[test]
fn copies_that_are_announced_and_waited_for_are_verified() {
    assert!(decided(&copies(2, ANNOUNCED, 4)).findings.is_empty());
}

#[test]
fn an_arrival_without_the_bytes_of_the_copy_behind_it_is_told_as_such() {
    let (headline, _) = told(&copies(2, "mbarrier.arrive full[s];", 4));
    assert_eq!(
        headline,
        "data-race: warp 1's read of buf[0] conflicts with warp 0's copy: warp 0 had arrived on full[0] without its \
         bytes, and warp 1 went on by that"
    );
}

#[test]
fn a_count_that_is_too_small_is_told_in_the_first_line_and_marked() {
    let (headline, places) = told(&copies(1, ANNOUNCED, 4));
    assert!(headline.ends_with("; phase 0 was complete with 1 of the arrivals of a round"), "{headline}");
    assert!(places.contains(&"3: empty[0] is given the count 1 here".to_owned()), "{places:?}");
}

#[test]
fn whoever_waits_for_copies_and_leaves_before_the_last_is_named() {
    let (headline, places) = told(&copies(2, ANNOUNCED, 3));
    assert!(headline.ends_with("; warps 1 and 2 waited for full[1] once each and exited"), "{headline}");
    assert!(places.contains(&"10: warps 1 and 2 waited here for full[1]".to_owned()), "{places:?}");
}

#[test]
fn a_deadlock_at_an_mbarrier_cites_a_clause_of_mbarriers() {
    let decision = decided(&copies(3, ANNOUNCED, 4));
    let clause = decision.findings[0].clause.as_ref().map(|clause| clause.id.as_str());
    assert_eq!(clause, Some("ptx.mbarrier-phase-complete"));
    let named = decided(&ring(1, ""));
    let clause = named.findings[0].clause.as_ref().map(|clause| clause.id.as_str());
    assert_eq!(clause, Some("ptx.sync-waits"));
}
