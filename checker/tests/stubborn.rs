//! One schedule for each choice: where it is enough, where it is not, and what it then says.

mod decisions;
#[path = "stubborn/follow.rs"]
mod follow;
#[path = "stubborn/late.rs"]
mod late;
#[path = "stubborn/no_complete.rs"]
mod no_complete;
#[path = "stubborn/pools.rs"]
mod pools;
#[path = "stubborn/remote.rs"]
mod remote;

use barcheck::{
    Budgets, ByLocation, Control, Engine, Inconclusive, Levels, Outcome, Progress, Quiet, Reduction,
    Settings, Verdict, check,
};
use barcheck_model::machine::{ExitedThreads, Options};
use barcheck_model::rule::{Level, Rule};
use decisions::{program, walk_all, why_undecided};
use std::cell::Cell;

fn decide(text: &str, settings: &Settings) -> Outcome {
    check(program(text), Options::default(), settings, &Quiet)
}

fn with(reduction: Reduction) -> Settings {
    Settings { reduction, ..Settings::default() }
}

fn stubborn(text: &str) -> Outcome {
    decide(text, &with(Reduction::Stubborn))
}

fn rules(outcome: &Outcome) -> Vec<&'static str> {
    let mut rules: Vec<_> = outcome.findings.iter().map(|f| f.finding.rule.name()).collect();
    rules.dedup();
    rules
}

/// Why the engine does not know.
fn undecided(text: &str) -> String {
    why_undecided(stubborn(text))
}

/// The engine alone and the plain search say the same of everything that is violated.
#[track_caller]
fn agree(text: &str) -> Outcome {
    let settings = |reduction| Settings {
        all: true,
        levels: Levels { strict: true, ..Levels::default() },
        ..with(reduction)
    };
    let (few, every) =
        (decide(text, &settings(Reduction::Stubborn)), decide(text, &settings(Reduction::None)));
    assert!(few.statistics.complete, "{:?}", few.inconclusive);
    assert_eq!((few.verdict, rules(&few)), (every.verdict, rules(&every)));
    assert!(few.statistics.states <= every.statistics.states);
    walk_all(text, &few);
    few
}

/// RING(4,4,4), endless: all warps decide alike whether there is another round.
const RING: &str = "
    target ptx; shared buf[4]; cta 256;
    warps 0..8 {
        let i = 0; let s = 0;
        while uniform ? {
            if warp < 4 {
                if i >= 4 { bar.sync 2 * s + 1, 256; } else { i = i + 1; }
                if warp == s { write buf[s]; }
                bar.arrive 2 * s, 256;
            } else {
                bar.sync 2 * s, 256;
                read buf[s];
                bar.arrive 2 * s + 1, 256;
            }
            s = (s + 1) % 4;
        }
    }";

#[test]
fn an_endless_ring_takes_a_state_for_each_decision() {
    let outcome = decide(RING, &Settings::default());
    assert_eq!((outcome.verdict, outcome.method.engine), (Verdict::Verified, Engine::Stubborn));
    assert_eq!(outcome.method.reduction, Reduction::Stubborn);
    assert!(outcome.statistics.complete && outcome.statistics.states < 100, "{}", outcome.statistics.states);
    assert_eq!(rules(&outcome), ["dangling-arrival"]);
    walk_all(RING, &outcome);
}

#[test]
fn a_ring_whose_consumers_each_decide_what_to_read_is_verified() {
    let text = "
        target ptx; shared buf[4]; cta 256;
        warps 0..4 as producer { for i in 0..16 {
            if i >= 4 { bar.sync 2 * (i % 4) + 1, 256; }
            if i % 4 == warp { write buf[i % 4]; }
            bar.arrive 2 * (i % 4), 256;
        } }
        warps 4..8 as consumer { for i in 0..16 {
            bar.sync 2 * (i % 4), 256;
            if ? { read buf[i % 4]; }
            if i + 4 < 16 { bar.arrive 2 * (i % 4) + 1, 256; }
        } }";
    let outcome = decide(text, &Settings::default());
    assert_eq!((outcome.verdict, outcome.method.reduction), (Verdict::Verified, Reduction::Stubborn));
    assert!(outcome.statistics.states < 1_000, "{}", outcome.statistics.states);
    // The consumers say that they are done before they read.
    let early = text.replace(
        "if ? { read buf[i % 4]; }\n            if i + 4 < 16 { bar.arrive 2 * (i % 4) + 1, 256; }",
        "if i + 4 < 16 { bar.arrive 2 * (i % 4) + 1, 256; }\n            if ? { read buf[i % 4]; }",
    );
    assert_ne!(early, text);
    let outcome = stubborn(&early);
    assert_eq!((outcome.verdict, rules(&outcome)), (Verdict::Violated, vec!["data-race"]));
    walk_all(&early, &outcome);
}

#[test]
fn thirty_two_warps_of_one_automaton_with_private_choices_are_counted_not_told_apart() {
    let text = "target ptx; cta 1024; warps 0..32 { loop {
        let x = 0;
        if ? { x = 1; }
        bar.sync 0;
        if x == 1 { bar.sync 1; } else { bar.arrive 1, 1024; bar.sync 2, 1024; }
        if x == 1 { bar.arrive 2, 1024; }
        bar.sync 0;
    } }";
    let outcome = decide(text, &Settings::default());
    assert_eq!((outcome.verdict, outcome.method.reduction), (Verdict::Verified, Reduction::Stubborn));
    assert!(outcome.statistics.states < 5_000, "{}", outcome.statistics.states);
    // One way of choosing forgets the last barrier.
    let broken = text.replace("if x == 1 { bar.arrive 2, 1024; }", "");
    let outcome = stubborn(&broken);
    assert_eq!((outcome.verdict, rules(&outcome)[0]), (Verdict::Violated, "deadlock"));
    walk_all(&broken, &outcome);
}

#[test]
fn pairs_that_have_nothing_to_do_with_one_another_are_not_interleaved() {
    let text = "target ptx; cta 256; warps 0..8 { for i in 0..32 { if ? { bar.sync 1 + warp / 2, 64; } else { bar.sync 1 + warp / 2, 64; } } }";
    let outcome = decide(text, &Settings::default());
    assert_eq!((outcome.verdict, outcome.method.reduction), (Verdict::Verified, Reduction::Stubborn));
    assert!(outcome.statistics.states < 2_000, "{}", outcome.statistics.states);
}

#[test]
fn an_agent_that_one_choice_leaves_behind_while_another_goes_round_is_stuck() {
    let text = "target ptx; cta 96;
        warp 0 { while ? { bar.sync 1, 64; } loop { bar.sync 2, 64; } }
        warp 1 { bar.sync 1, 64; }
        warp 2 { loop { bar.sync 2, 64; } }";
    let outcome = agree(text);
    assert!(rules(&outcome).contains(&"stuck-agent"), "{:?}", rules(&outcome));
    // A way out remains: whoever waits is met in the end by some choice.
    let fixed = "target ptx; cta 96;
        warp 0 { while ? { bar.sync 2, 64; } bar.sync 1, 64; loop { bar.sync 2, 64; } }
        warp 1 { bar.sync 1, 64; }
        warp 2 { loop { bar.sync 2, 64; } }";
    assert!(!rules(&agree(fixed)).contains(&"stuck-agent"));
}

#[test]
fn who_is_met_on_the_way_between_two_states_kept_is_not_stuck() {
    let text = "target ptx; cta 96;
        warps 0..2 { loop { if uniform ? { bar.sync 1, 64; bar.sync 3, 96; } else { bar.sync 2, 64; bar.sync 3, 96; } } }
        warp 2 { loop { bar.sync 3, 96; } }";
    assert_eq!(rules(&agree(text)), Vec::<&str>::new());
}

#[test]
fn a_local_loop_without_end_hides_no_hang() {
    let text = "target ptx; cta 96;
        warp 0 { if ? { loop { } } else { bar.sync 1, 96; } }
        warps 1..3 { bar.sync 1, 96; }";
    assert_eq!(rules(&agree(text)), ["stuck-agent"]);
}

#[test]
fn lanes_that_go_by_themselves_are_followed_in_every_order() {
    let text = "target ptx; shared a[2]; cta 64;
        warps 0..2 {
            if lane < 16 { write a[warp]; barrier.sync 1, 64; } else { read a[warp]; barrier.sync 1, 64; }
            read a[1 - warp];
        }";
    assert_eq!(rules(&agree(text)), Vec::<&str>::new());
    let text = text.replace("read a[1 - warp];", "write a[1 - warp]; read a[warp];");
    assert_eq!(rules(&stubborn(&text)), ["data-race"]);
}

#[test]
fn lanes_that_block_their_whole_warp_are_left_to_a_search() {
    let text =
        "target bcu; cta 64; warps 0..2 { if lane < 16 { BAR.SYNC 0x1, 128; } else { BAR.SYNC 0x1, 128; } }";
    assert!(undecided(text).contains("lanes of one warp move by themselves"), "{}", undecided(text));
}

#[test]
fn an_arrival_in_another_generation_is_left_to_a_search_whoever_chose_it() {
    let text = "target ptx; cta 64;
        warp 0 { bar.sync 1, 64; if ? { bar.sync 2, 64; } bar.sync 1, 64; }
        warp 1 { bar.arrive 1, 64; if ? { bar.sync 2, 64; } bar.arrive 1, 64; }";
    assert!(undecided(text).contains("timing could put an arrival into an earlier generation"));
}

#[test]
fn arrivals_that_nobody_waits_for_are_known_one_by_one() {
    let known = "target ptx; cta 96; warps 0..3 { loop { if ? { bar.arrive 1, 96; } else { bar.arrive 1, 96; } bar.sync 2, 96; } }";
    assert_eq!(rules(&agree(known)), ["nobody-waits"]);
    let unknown = known.replace("bar.sync 2, 96;", "if warp < 2 { bar.sync 2, 64; }");
    assert!(undecided(&unknown).contains("timing could put an arrival into an earlier generation"));
}

#[test]
fn a_signal_before_the_wait_of_another_is_found_once_it_is_asked_for() {
    let text = "target nbarrier; thread_group 2; threads 0..2 { loop { if ? { nbarrier.signal 1, 2; } else { nbarrier.signal 1, 2; } nbarrier.wait 1; } }";
    let outcome = stubborn(text);
    assert_eq!((outcome.verdict, rules(&outcome).len()), (Verdict::Verified, 0));
    let strict = Settings { levels: Levels { strict: true, ..Levels::default() }, ..Settings::default() };
    assert_eq!(rules(&decide(text, &strict)), ["reuse-before-free"]);
}

#[test]
fn a_wait_that_passed_may_come_after_the_next_signal_all_the_same() {
    // Thread 0 passes its wait for the first generation late; thread 2 signals the next when thread 1 alone
    // has told it that it has waited.
    let text = "target nbarrier; thread_group 3;
        thread 0 { if ? { fence; } nbarrier.signal 1, 2, 1, 2; nbarrier.signal 3, 2, 1, 1; nbarrier.wait 3; nbarrier.wait 1;
                   nbarrier.signal 1, 2, 1, 2; nbarrier.wait 1; }
        thread 1 { nbarrier.signal 1, 2, 1, 2; nbarrier.wait 1; nbarrier.signal 3, 1, 1, 1; nbarrier.signal 2, 1, 1, 1;
                   nbarrier.signal 1, 2, 1, 2; nbarrier.wait 1; }
        thread 2 { nbarrier.signal 1, 1, 1, 2; nbarrier.signal 2, 2, 1, 1; nbarrier.wait 2; nbarrier.signal 1, 1, 1, 2; }";
    let strict = |reduction| Settings {
        all: true,
        levels: Levels { strict: true, ..Levels::default() },
        ..with(reduction)
    };
    assert_eq!(rules(&decide(text, &strict(Reduction::None))), ["reuse-before-free"]);
    let outcome = decide(text, &strict(Reduction::Stubborn));
    assert!(matches!(outcome.inconclusive, Some(Inconclusive::Undecided(_))), "{:?}", outcome.verdict);
    assert_eq!(rules(&decide(text, &strict(Reduction::Auto))), ["reuse-before-free"]);
}

#[test]
fn what_agents_that_change_places_have_accessed_goes_with_them() {
    let text = "target ptx; shared a[1]; cta 96;
        warps 0..3 { let x = 0; if ? { x = 1; write a[0]; } bar.sync 0; assert x < 2; }";
    let outcome = stubborn(text);
    assert_eq!((outcome.verdict, rules(&outcome)), (Verdict::Violated, vec!["data-race"]));
    walk_all(text, &outcome);
    agree(&text.replace("write a[0]", "atomic a[0]"));
}

#[test]
fn whoever_is_left_behind_is_followed_from_place_to_place() {
    // The two are interchangeable: whoever waits alone on barrier 1 is stuck while the other goes round.
    let text = "target nbarrier; thread_group 2;
        threads 0..2 {
            if ? { nbarrier.signal 1, 2; nbarrier.wait 1; }
            loop { if ? { fence; fence; } else { fence; } fence; }
        }";
    assert_eq!(rules(&agree(text)), ["stuck-agent"]);
    // Nobody waits alone: the choice is made by all alike.
    assert_eq!(rules(&agree(&text.replacen("if ?", "if uniform ?", 1))), Vec::<&str>::new());
    // Of three that go round, each may leave; those who wait for all three are stuck if one stays.
    let three = "target nbarrier; thread_group 3;
        threads 0..3 { while ? { fence; if ? { fence; } } nbarrier.signal 1, 3; nbarrier.wait 1; }";
    assert_eq!(rules(&agree(three)), Vec::<&str>::new());
    let never = three.replace("wait 1;", "wait 1; nbarrier.signal 2, 0, 2, 2; nbarrier.wait 2;");
    assert!(!rules(&decide(&never, &Settings { all: true, ..Settings::default() })).is_empty());
    let first =
        three.replace("threads 0..3 {", "threads 0..3 { if ? { nbarrier.signal 3, 3; nbarrier.wait 3; }");
    assert_eq!(rules(&agree(&first)), ["deadlock", "stuck-agent"]);
}

#[test]
fn lanes_that_exit_before_or_after_the_others_synchronise() {
    // If the first half is still there when the second synchronises, part of the warp does.
    let text = "target ptx; cta 64; warps 0..2 { if lane < 16 { exit; } else { bar.sync 0; } }";
    assert_eq!(rules(&stubborn(text)), ["partial-warp"]);
}

#[test]
fn choices_that_decide_about_accesses_alone_are_no_choices() {
    let text = "target ptx; shared a[33]; cta 1024;
        warps 0..32 { for i in 0..8 {
            if ? { write a[warp]; } else { if ? { read a[32]; read a[warp]; } }
            bar.sync 0;
            if ? { read a[(warp + 1) % 32]; }
            bar.sync 0;
        } }";
    let outcome = decide(text, &Settings::default());
    assert_eq!((outcome.verdict, outcome.method.reduction), (Verdict::Verified, Reduction::Stubborn));
    assert!(outcome.statistics.states < 20, "{}", outcome.statistics.states);
    // One of the ways of warp 3 writes what a way of warp 2 reads; the path shown is one of real choices.
    let broken = text.replace(
        "read a[(warp + 1) % 32]; }",
        "if warp == 3 { write a[3]; } else { read a[(warp + 1) % 32]; } }",
    );
    let outcome = stubborn(&broken);
    assert_eq!((outcome.verdict, rules(&outcome)), (Verdict::Violated, vec!["data-race"]));
    walk_all(&broken, &outcome);
    // What is found last on the path is what is reported.
    let found = outcome.findings.iter().find(|f| f.finding.rule.name() == "data-race").expect("a data race");
    let last = found.path.steps.last().expect("a step");
    assert_eq!(last.agent(), found.finding.agent);
}

#[test]
fn ways_with_fences_are_gone_one_by_one_and_those_with_loops_hide_nobody_who_is_stuck() {
    // Whether the write is published is a matter of choice.
    let fences = "target nbarrier; thread_group 2; global a[1];
        thread 0 { write a[0]; if ? { fence; } nbarrier.signal 1, 1, 1, 1; }
        thread 1 { nbarrier.signal 1, 2, 1, 1; nbarrier.wait 1; read a[0]; }";
    assert_eq!(rules(&agree(fences)), ["missing-fence"]);
    // Going round for ever is one of the ways: whoever waits for what never comes is stuck meanwhile.
    let loops =
        "target ptx; shared a[1]; cta 64; warp 0 { while ? { read a[0]; } } warp 1 { bar.sync 1, 64; }";
    assert_eq!(rules(&agree(loops)), ["deadlock", "stuck-agent"]);
}

#[test]
fn the_same_choice_of_all_decides_about_accesses_of_all() {
    // The two never access in the same round, since they decide alike.
    let alike = "target ptx; shared a[1]; cta 64;
        warps 0..2 { let x = 0; if uniform ? { if warp == 0 { write a[0]; } } else { if warp == 1 { write a[0]; } } bar.sync 0; }";
    assert_eq!(rules(&agree(alike)), Vec::<&str>::new());
    let each = alike.replace("uniform ?", "?");
    assert_eq!(rules(&stubborn(&each)), ["data-race"]);
}

#[test]
fn a_hang_that_is_no_error_leaves_the_rest_unknown() {
    let text = "target ptx; cta 64; warp 0 { if ? { bar.sync 1, 64; } } warp 1 { bar.sync 1, 64; }";
    let levels =
        Levels { changes: vec![(Rule::Deadlock, Level::Warning)], strict: false, ..Levels::default() };
    let outcome = decide(text, &Settings { levels, ..with(Reduction::Stubborn) });
    assert_eq!((outcome.verdict, rules(&outcome)), (Verdict::Inconclusive, vec!["deadlock"]));
    assert_eq!(outcome.inconclusive, Some(Inconclusive::Lowered(Rule::Deadlock)));
}

#[test]
fn a_race_too_deep_for_a_search_is_found_by_a_run_in_which_one_hurries() {
    // After 150 rounds the producers do not wait any more.
    let text = "target ptx; cta 1024;
        warps 0..16 { for i in 0..200 {
            if i >= 4 && i < 150 { bar.sync 2 * (i % 4) + 1, 1024; }
            bar.arrive 2 * (i % 4), 1024;
        } }
        warps 16..32 { for i in 0..200 {
            bar.sync 2 * (i % 4), 1024;
            if i + 4 < 150 { bar.arrive 2 * (i % 4) + 1, 1024; }
        } }";
    let outcome = decide(text, &Settings::default());
    assert_eq!((outcome.verdict, rules(&outcome)), (Verdict::Violated, vec!["arrival-race"]));
    assert_eq!(outcome.method.engine, Engine::Schedule);
    assert!(!outcome.statistics.complete);
    walk_all(text, &outcome);
    assert_eq!(decide(text, &Settings::default()).findings, outcome.findings, "the same every time");
}

/// It never comes to an end, and has nothing to do with the others: runs go on without it, whoever falls
/// behind.
#[test]
fn a_local_loop_without_end_does_not_keep_runs_by_chance_from_going_on() {
    let text = "target bcu; shared a[1]; cta 128;
        warp 0 { B2R.BAR R1, 0x3; for i in 0..1000 { BAR.ARV 0x1, 64; BAR.SYNC 0x2, 64; } let x = any 0..50; assert x != 7; R2B.BAR 0x3, R1; }
        warp 1 { for i in 0..1000 { BAR.SYNC 0x1, 64; BAR.ARV 0x2, 64; } }
        warp 2 { for i in 0..100 { read a[0]; } }
        warp 3 { let n = 0; loop { n = 1 - n; } }";
    let outcome = decide(text, &Settings { by_location: ByLocation::Never, ..Settings::default() });
    assert_eq!((outcome.verdict, rules(&outcome)), (Verdict::Violated, vec!["assertion"]));
    assert_eq!(outcome.method.engine, Engine::Schedule);
    walk_all(text, &outcome);
}

#[test]
fn the_report_says_what_was_used_and_why() {
    let text = "target ptx; cta 64; warps 0..2 { if ? { bar.sync 1, 64; } else { bar.sync 1, 64; } }";
    let outcome = decide(text, &Settings::default());
    assert_eq!(
        outcome.method.why,
        "one schedule is not enough: the protocol leaves a choice open (warp 0, line 1); one run for each choice is enough, whatever the timing"
    );
}

/// An agent whose locals grow without end never comes back to where it was. The others have their turns all
/// the same.
/// A ring without end: `END` is what its consumers take for the number of stages.
const INDEXED: &str = "target ptx; cta 288; shared x[2], y[8];
    mbarrier full[2] count 1; mbarrier empty[2] count 8;
    warp 0 {
        let s = 0; let p = 0;
        while uniform more ? {
            mbarrier.wait.parity empty[s], p ^ 1;
            if lane == 0 { mbarrier.arrive.expect_tx full[s], 512; cp.async.bulk x[s], 512, full[s]; }
            advance s, p, 2;
        }
    }
    warps 1..9 {
        let s = 0; let p = 0;
        while uniform more ? {
            mbarrier.wait.parity full[s], p;
            read x[s];
            if ? { write y[warp - 1]; }
            if lane == 0 { mbarrier.arrive empty[s]; }
            advance s, p, END;
        }
    }";

#[test]
fn an_index_outside_its_array_is_told_at_once_where_a_search_would_find_no_end() {
    let broken = INDEXED.replace("END", "3");
    // By itself it is no verdict: a violation may come before.
    assert!(undecided(&broken).contains("cannot be followed"), "{}", undecided(&broken));
    let outcome = decide(&broken, &with(Reduction::Auto));
    assert_eq!(outcome.verdict, Verdict::Error, "{outcome:?}");
    let reached = outcome.fault.expect("a path to it");
    assert_eq!((reached.agent.0, reached.fault.at.index() > 0), (1, true));
    assert!(outcome.statistics.states < 50_000, "{:?}", outcome.statistics);
    assert_eq!(decide(&INDEXED.replace("END", "2"), &with(Reduction::Auto)).verdict, Verdict::Verified);
    // What was found as if exits held is told where it is the same if they release.
    let release = Options { exited_threads: ExitedThreads::Release };
    let released = check(program(&broken), release, &with(Reduction::Auto), &Quiet);
    assert_eq!(released.verdict, Verdict::Error, "{released:?}");
}

#[test]
fn an_agent_that_grows_without_end_does_not_hide_what_another_violates() {
    for growth in ["i = i + 1;", "if ? { i = i + 1; } else { i = i + 2; }"] {
        let text = format!(
            "target ptx; cta 64; shared x;
            warps 0..1 {{ let i = 0; loop {{ {growth} read x; }} }}
            warps 1..2 {{ if ? {{ bar.sync 1, 32; }} else {{ bar.arrive 1, 48; }} }}"
        );
        let outcome = stubborn(&text);
        assert_eq!((outcome.verdict, rules(&outcome)), (Verdict::Violated, vec!["count-range"]));
        walk_all(&text, &outcome);
    }
}

/// Few states, and many ways from one to the next.
const MANY_WAYS: &str = "target ptx; shared a[1]; cta 64;
    warps 0..2 { loop { let x = any 0..20000; x = 0; bar.sync 0; } }";

#[test]
fn the_graph_on_which_stuck_agents_are_looked_for_counts_as_memory() {
    let outcome = stubborn(MANY_WAYS);
    assert_eq!(outcome.verdict, Verdict::Verified);
    assert!(outcome.statistics.peak_memory_bytes > 2_000_000, "{:?}", outcome.statistics);
    let budgets = Budgets { max_memory: Some(1_000_000), ..Budgets::default() };
    let settings = Settings { all: true, budgets, ..with(Reduction::Stubborn) };
    let outcome = decide(MANY_WAYS, &settings);
    assert_eq!(outcome.verdict, Verdict::Inconclusive);
    assert!(matches!(outcome.inconclusive, Some(Inconclusive::Memory(1_000_000, _))));
    // What has been found before is an error all the same.
    let race = MANY_WAYS.replace("{ loop", "{ write a[0]; loop");
    let outcome = decide(&race, &settings);
    assert_eq!((outcome.verdict, rules(&outcome)), (Verdict::Violated, vec!["data-race"]));
}

/// Ends a search at the second look after its states have all been gone through.
#[derive(Default)]
struct LooksAfterwards(Cell<u32>);

impl Control for LooksAfterwards {
    fn goes_on(&self, progress: Progress) -> bool {
        let is_afterwards = progress.states > 0 && progress.frontier == 0;
        self.0.set(self.0.get() + u32::from(is_afterwards));
        self.0.get() < 2
    }
}

#[test]
fn whoever_looks_for_stuck_agents_can_be_interrupted() {
    // What is known of a state's continuations reaches the states before it pass by pass, and there is a
    // look at each.
    let text = "target ptx; cta 96;
        warps 0..2 { loop { if uniform ? { bar.sync 1, 64; bar.sync 3, 96; } else { bar.sync 2, 64; bar.sync 3, 96; } } }
        warp 2 { loop { bar.sync 3, 96; } }";
    assert_eq!(stubborn(text).verdict, Verdict::Verified);
    let settings = with(Reduction::Stubborn);
    let outcome = check(program(text), Options::default(), &settings, &LooksAfterwards::default());
    assert_eq!(outcome.inconclusive, Some(Inconclusive::Interrupted));
}
