//! Who is held back follows what others have decided, and leaves nobody out.

use super::{Verdict, agree, rules, stubborn};

/// Three warps decide alike in every round; those with locals of their own come round later.
fn in_step(last: &str) -> String {
    let round = |turns: u32, sync: &str| {
        format!(
            "let turn = 0;
             loop {{
                 if uniform more ? {{}} else {{ break; }}
                 turn = (turn + 1) % {turns};
                 if uniform work ? {{ {sync} }}
                 if turn == 7 {{ exit; }}
             }}"
        )
    };
    let sync = "bar.sync 1, 96;";
    format!(
        "target ptx; cta 96;
         warp 0 {{ {} }}
         warp 1 {{ {} }}
         warp 2 {{ {} }}",
        round(1, sync),
        round(2, sync),
        round(3, last)
    )
}

#[test]
fn agents_whose_cycles_differ_in_length_do_not_run_away_from_one_another() {
    let outcome = stubborn(&in_step("bar.sync 1, 96;"));
    assert_eq!(outcome.verdict, Verdict::Verified);
    assert!(outcome.statistics.states < 40, "{}", outcome.statistics.states);
    let outcome = stubborn(&in_step("if turn == 2 { exit; } bar.sync 1, 96;"));
    assert_eq!(rules(&outcome), ["deadlock"]);
}

#[test]
fn rounds_that_end_come_to_what_a_search_finds() {
    let few = |last: &str| in_step(last).replace("loop {", "for i in 0..3 {");
    assert_eq!(agree(&few("bar.sync 1, 96;")).verdict, Verdict::Verified);
    assert_eq!(rules(&agree(&few("if turn == 1 { bar.sync 1, 96; }"))), ["deadlock"]);
}

/// Each of two agents decides what the other follows, for ever; a third decides nothing.
#[test]
fn two_who_follow_each_other_leave_out_nobody_else() {
    let protocol = |third: &str| {
        format!(
            "target ptx; cta 96;
             warp 0 {{ loop {{ if uniform a ? {{}} if uniform b ? {{}} }} }}
             warp 1 {{ loop {{ if uniform b ? {{}} if uniform a ? {{}} }} }}
             warp 2 {{ let n = 0; loop {{ n = (n + 1) % 5; bar.sync 1, 32; {third} }} }}"
        )
    };
    assert_eq!(stubborn(&protocol("")).verdict, Verdict::Verified);
    assert_eq!(rules(&stubborn(&protocol("assert n != 4;"))), ["assertion"]);
}

#[test]
fn whoever_goes_round_a_loop_waits_for_the_others() {
    // Warp 0 could go round for ever; what warp 1 does must be seen all the same.
    let race = "target ptx; shared a[1]; cta 64;
        warp 0 { loop { if ? { read a[0]; } } }
        warp 1 { if ? { write a[0]; } }";
    assert_eq!(rules(&stubborn(race)), ["data-race"]);
    let wrong = "target ptx; cta 64; warp 0 { while ? { } } warp 1 { assert 1 == 2; }";
    assert_eq!(rules(&stubborn(wrong)), ["assertion"]);
    // Here it is a release that closes the loop.
    let released = "target ptx; cta 96; warps 0..2 { loop { bar.sync 1, 64; } } warp 2 { let x = any 0..2; assert x == 0; }";
    assert_eq!(rules(&stubborn(released)), ["assertion"]);
    // Agents of one kind that change places take their turns along.
    let alike = "target nbarrier; thread_group 3; global a[1];
        threads 0..2 { while ? { fence; if ? { fence; fence; } } write a[0]; }
        thread 2 { loop { fence; } }";
    assert_eq!(rules(&stubborn(alike)), ["data-race"]);
}
