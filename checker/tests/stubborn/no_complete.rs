//! Arrivals that must not complete their phase: every engine knows in which orders they do.

use super::{agree, rules, stubborn, undecided, with};
use crate::decide;
use barcheck::{Engine, Reduction, Settings, Verdict};

/// Two warps and an object of two arrivals; one lane of each warp does something.
fn two(first: &str, second: &str) -> String {
    format!(
        "target ptx; cta 64; shared buf; mbarrier done count 2;
         warp 0 {{ if lane == 0 {{ {first} }} bar.sync 1; mbarrier.wait.parity done, 0; }}
         warp 1 {{ if lane == 0 {{ {second} }} bar.sync 1; mbarrier.wait.parity done, 0; }}"
    )
}

const STAYS: &str = "mbarrier.arrive.noComplete done, 1;";

// clause: ptx.mbarrier-no-complete
#[test]
fn one_run_is_enough_where_something_of_the_phase_always_comes_after() {
    for (first, second) in [
        (format!("{STAYS} mbarrier.arrive done;"), String::new()),
        (
            "mbarrier.expect_tx done, 8; mbarrier.arrive.noComplete done, 2; cp.async.bulk buf, 8, done;"
                .into(),
            "".into(),
        ),
        (format!("{STAYS} tcgen05.commit done;"), String::new()),
        (
            "let t = mbarrier.arrive.noComplete.release.cta.shared::cta.b64 done, 1; mbarrier.arrive done;"
                .into(),
            "".into(),
        ),
        ("mbarrier.arrive_drop.noComplete done, 1; mbarrier.arrive done;".into(), "".into()),
    ] {
        let text = two(&first, &second);
        assert_eq!(agree(&text).verdict, Verdict::Verified, "{text}");
        let one = decide(&text, &with(Reduction::Schedule));
        assert_eq!((one.verdict, one.method.engine), (Verdict::Verified, Engine::Schedule), "{text}");
    }
}

#[test]
fn what_only_some_orders_violate_is_left_to_a_search_which_finds_it() {
    for (first, second) in [
        (STAYS, "mbarrier.arrive done;"),
        (STAYS, "tcgen05.commit done;"),
        ("mbarrier.expect_tx done, 8; mbarrier.arrive.noComplete done, 2;", "cp.async.bulk buf, 8, done;"),
        (STAYS, "mbarrier.expect_tx done, 8; mbarrier.arrive done; mbarrier.complete_tx done, 8;"),
    ] {
        let text = two(first, second);
        let outcome = decide(&text, &Settings { all: true, ..Settings::default() });
        assert_eq!(outcome.verdict, Verdict::Violated, "{text}");
        assert!(rules(&outcome).contains(&"no-complete"), "{text}: {:?}", rules(&outcome));
        for reduction in [Reduction::Schedule, Reduction::Stubborn] {
            let few = decide(&text, &with(reduction));
            let is_open = few.inconclusive.is_some() || few.verdict == Verdict::Violated;
            assert!(is_open, "{text}: {:?} {:?}", few.method.engine, few.verdict);
        }
    }
    assert!(undecided(&two(STAYS, "mbarrier.arrive done;")).contains("timing could"));
}

#[test]
fn a_phase_that_lacks_an_arrival_is_completed_by_none() {
    let outcome = stubborn(&two(STAYS, ""));
    assert_eq!((outcome.verdict, rules(&outcome)), (Verdict::Violated, vec!["deadlock"]));
}

#[test]
fn a_meeting_in_between_orders_the_last_arrival_behind_it() {
    let text = "target ptx; cta 64; mbarrier done count 2;
         warp 0 { while uniform more ? { if lane == 0 { mbarrier.arrive.noComplete done, 1; } bar.sync 1; bar.sync 2; } }
         warp 1 { let p = 0; while uniform more ? { bar.sync 1; if lane == 0 { mbarrier.arrive done; }
             mbarrier.wait.parity done, p; p = 1 - p; bar.sync 2; } }";
    let outcome = agree(text);
    assert_eq!((outcome.verdict, outcome.method.engine), (Verdict::Verified, Engine::Stubborn));
    let early = text.replacen("bar.sync 1; if lane", "if lane", 1).replacen(
        "mbarrier.wait",
        "bar.sync 1; mbarrier.wait",
        1,
    );
    assert_eq!(rules(&decide(&early, &Settings { all: true, ..Settings::default() })), ["no-complete"]);
}
