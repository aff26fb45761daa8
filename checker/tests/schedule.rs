//! One schedule: where it is enough, where it is not, and what it then says.

mod decisions;

use barcheck::{
    Budgets, Control, Engine, Inconclusive, Outcome, Progress, Quiet, Reduction, Settings, Verdict, check,
};
use barcheck_model::machine::{ExitedThreads, Options};
use decisions::{program, walk_all, why_undecided};
use std::cell::RefCell;
use std::time::Duration;

fn decide(text: &str, settings: &Settings, options: Options) -> Outcome {
    check(program(text), options, settings, &Quiet)
}

fn schedule(text: &str) -> Outcome {
    let settings = Settings { reduction: Reduction::Schedule, ..Settings::default() };
    decide(text, &settings, Options::default())
}

fn rules(outcome: &Outcome) -> Vec<&'static str> {
    outcome.findings.iter().map(|f| f.finding.rule.name()).collect()
}

/// What one schedule alone gives as the reason for not knowing.
fn undecided(text: &str) -> String {
    why_undecided(schedule(text))
}

const RING: &str = "
    target ptx; shared buf[4]; cta 256;
    warps 0..4 as producer { for i in 0..100 {
        if i >= 4 { bar.sync 2 * (i % 4) + 1, 256; }
        if i % 4 == warp { write buf[i % 4]; }
        bar.arrive 2 * (i % 4), 256;
    } }
    warps 4..8 as consumer { for i in 0..100 {
        bar.sync 2 * (i % 4), 256;
        read buf[i % 4];
        if i + 4 < 100 { bar.arrive 2 * (i % 4) + 1, 256; }
    } }";

#[test]
fn a_long_ring_without_choices_is_verified_by_one_schedule() {
    let outcome = decide(RING, &Settings::default(), Options::default());
    assert_eq!((outcome.verdict, outcome.method.engine), (Verdict::Verified, Engine::Schedule));
    assert!(outcome.statistics.complete);
    // Each of 4 producers arrives 100 times, waits 96 times, writes 25 times and exits; consumers read and
    // arrive.
    assert_eq!(outcome.statistics.transitions, 4 * (100 + 96 + 25 + 1) + 4 * (100 + 100 + 96 + 1));
}

#[test]
fn a_ring_whose_consumers_forget_to_say_when_they_are_done_is_violated() {
    let broken = RING.replace("if i >= 4 { bar.sync 2 * (i % 4) + 1, 256; }", "");
    let outcome = decide(&broken, &Settings::default(), Options::default());
    assert_eq!(outcome.verdict, Verdict::Violated);
}

#[test]
fn an_arrival_that_another_order_moves_to_an_earlier_generation_is_left_to_a_search() {
    // The consumer comes first in the schedule, so that an arrival by `arrive` completes; in another order it
    // does not.
    let text = "target ptx; cta 64;
        warp 0 { bar.sync 1, 64; bar.sync 1, 64; }
        warp 1 { bar.arrive 1, 64; bar.arrive 1, 64; }";
    assert!(
        undecided(text).contains("timing could put an arrival into an earlier generation (warp 1, line 3)")
    );
    let fixed = "target ptx; cta 64;
        warp 0 { bar.sync 1, 64; bar.sync 2, 64; bar.sync 1, 64; }
        warp 1 { bar.arrive 1, 64; bar.sync 2, 64; bar.arrive 1, 64; }";
    assert_eq!(schedule(fixed).verdict, Verdict::Verified);
}

#[test]
fn what_leaves_a_choice_open_is_left_to_a_search() {
    let text = "target ptx; cta 64; warps 0..2 { if ? { bar.sync 1, 64; } else { bar.sync 1, 64; } }";
    assert!(undecided(text).contains("leaves a choice open"));
    let found = decide(text, &Settings::default(), Options::default());
    assert_eq!((found.verdict, found.method.engine), (Verdict::Verified, Engine::Stubborn));
    assert!(found.method.why.contains("leaves a choice open"), "{}", found.method.why);
    // An `any` over a single value leaves nothing open.
    let one = "target ptx; cta 64; warps 0..2 { let i = any 3..4; bar.sync i, 64; }";
    assert_eq!(schedule(one).verdict, Verdict::Verified);
}

#[test]
fn barrier_states_as_values_and_releasing_exits_are_left_to_a_search() {
    let state = "target bcu; cta 64; warps 0..2 { B2R.BAR R1, 0x1; BAR.SYNC 0x1, 64; R2B.BAR 0x1, R1; }";
    assert!(undecided(state).contains("a barrier's state is read or written"));
    let settings = Settings { reduction: Reduction::Schedule, ..Settings::default() };
    let release = Options { exited_threads: ExitedThreads::Release };
    let released = "target ptx; cta 64; warp 0 { bar.sync 1, 64; } warp 1 { }";
    let outcome = decide(released, &settings, release);
    assert_eq!(outcome.verdict, Verdict::Inconclusive);
    let outcome = decide(released, &Settings::default(), release);
    assert_eq!((outcome.verdict, outcome.method.engine), (Verdict::Verified, Engine::Search));
    // What is verified if exits release nobody is verified.
    let outcome = decide("target ptx; cta 64; warps 0..2 { bar.sync 1, 64; }", &settings, release);
    assert_eq!((outcome.verdict, outcome.method.engine), (Verdict::Verified, Engine::Schedule));
    assert!(outcome.method.why.contains("no exit releases anybody"), "{}", outcome.method.why);
}

#[test]
fn a_value_read_from_a_barrier_that_nobody_uses_leaves_one_schedule_enough() {
    let outcome = schedule("target bcu; cta 64; warps 0..2 { B2R.BAR R1, 0x1; BAR.SYNC 0x1, 64; }");
    assert_eq!((outcome.verdict, outcome.method.engine), (Verdict::Verified, Engine::Schedule));
}

#[test]
fn once_a_generation_takes_in_an_exit_a_race_leaves_missing_fences_open_and_a_search_follows() {
    let all = Settings { all: true, reduction: Reduction::Schedule, ..Settings::default() };
    // A warp without a program has exited from the start; one that waits exits when the generation is
    // complete.
    for (first, engine) in
        [("exit;", Engine::Search), ("", Engine::Search), ("bar.sync 0;", Engine::Schedule)]
    {
        let text = format!(
            "target ptx; shared y; cta 96; warp 0 {{ {first} }} warps 1..3 {{ bar.sync 0; write y; }}"
        );
        let outcome = decide(&text, &all, Options::default());
        assert_eq!((outcome.method.engine, rules(&outcome)), (engine, vec!["data-race"]), "{first}");
    }
}

#[test]
fn a_deadlock_at_the_end_of_the_run_is_the_deadlock_of_every_run() {
    let text =
        "target ptx; cta 96; warps 0..2 { bar.sync 1, 64; bar.sync 1, 96; } warp 2 { bar.sync 2, 64; }";
    let outcome = schedule(text);
    assert_eq!((outcome.verdict, rules(&outcome)), (Verdict::Violated, vec!["deadlock"]));
    assert!(outcome.statistics.complete);
    walk_all(text, &outcome);
}

#[test]
fn an_endless_protocol_is_decided_once_it_has_come_to_a_cycle() {
    let text = "target ptx; shared x; cta 64; warps 0..2 { loop { bar.sync 0; if warp == 0 { write x; } bar.sync 0; read x; } }";
    let outcome = schedule(text);
    assert_eq!((outcome.verdict, outcome.statistics.complete), (Verdict::Verified, true));
    // Without the second barrier the read and the next write are not ordered, whoever comes first.
    let racy = text.replace("} bar.sync 0; read", "} read");
    assert_eq!(rules(&schedule(&racy)), ["data-race"]);
}

#[test]
fn an_agent_blocked_while_others_go_round_for_ever_is_stuck() {
    let text = "target ptx; cta 96; warps 0..2 { loop { bar.sync 1, 64; } } warp 2 { bar.sync 2, 64; }";
    let outcome = schedule(text);
    assert_eq!(rules(&outcome), ["stuck-agent"]);
    assert!(outcome.findings[0].path.cycle_from.is_some());
    walk_all(text, &outcome);
    let spinning = "target ptx; cta 64; warp 0 { loop { } } warp 1 { bar.sync 2, 64; }";
    let outcome = schedule(spinning);
    assert_eq!(rules(&outcome), ["stuck-agent"]);
    walk_all(spinning, &outcome);
    // Nobody is stuck where the loop is the only thing that there is.
    assert_eq!(schedule("target ptx; cta 32; warp 0 { loop { } }").verdict, Verdict::Verified);
}

#[test]
fn a_race_is_found_whoever_comes_first_and_its_path_holds_no_more_than_it_needs() {
    let text = "target ptx; shared x; shared y; cta 96;
        warp 0 { bar.sync 1, 64; write x; }
        warp 1 { bar.sync 1, 64; read x; }
        warp 2 { write y; write y; write y; }";
    let outcome = schedule(text);
    assert_eq!(rules(&outcome), ["data-race"]);
    assert!(outcome.findings[0].path.steps.iter().all(|step| step.agent().0 < 2));
    walk_all(text, &outcome);
}

#[test]
fn memory_that_no_fence_published_is_found_without_a_search() {
    let text = "target nbarrier; shared x; thread_group 2;
        thread 0 { write x; nbarrier.signal 0, 2; nbarrier.wait 0; }
        thread 1 { nbarrier.signal 0, 2; nbarrier.wait 0; read x; }";
    let outcome = schedule(text);
    assert_eq!((rules(&outcome), outcome.statistics.complete), (vec!["missing-fence"], false));
    assert_eq!(schedule(&text.replace("write x;", "write x; fence;")).verdict, Verdict::Verified);
}

#[test]
fn all_violations_are_asked_of_a_search_once_one_hides_what_follows() {
    let text = "target ptx; shared x; cta 64; warps 0..2 { write x; bar.sync 1, 64; }";
    let settings = Settings { all: true, ..Settings::default() };
    let outcome = decide(text, &settings, Options::default());
    assert_eq!((outcome.method.engine, rules(&outcome)), (Engine::Search, vec!["data-race"]));
    assert!(outcome.statistics.complete);
}

#[test]
fn a_budget_ends_a_run_as_it_ends_a_search() {
    let text = "target ptx; cta 64; warps 0..2 { let i = 0; loop { i = i + 1; bar.sync i * i % 2, 64; } }";
    let budgets = Budgets { max_states: Some(100_000), ..Budgets::default() };
    let outcome = decide(text, &Settings { budgets, ..Settings::default() }, Options::default());
    assert_eq!(outcome.verdict, Verdict::Inconclusive);
    assert!(
        matches!(outcome.inconclusive, Some(Inconclusive::States(100_000, _))),
        "{:?}",
        outcome.inconclusive
    );
    assert!(!outcome.statistics.complete);
}

/// Keeps how far a run has come, in steps and in percent, at each look.
#[derive(Default)]
struct Looks(RefCell<Vec<(u64, Option<u8>)>>);

impl Control for Looks {
    fn goes_on(&self, progress: Progress) -> bool {
        self.0.borrow_mut().push((progress.transitions, progress.percent));
        true
    }
}

/// What is said of a run of a protocol until it has so many steps: steps and percent, and how many steps
/// there are.
fn looks(text: &str, most: u64) -> (Vec<(u64, Option<u8>)>, u64) {
    let looks = Looks::default();
    let budgets = Budgets { max_states: Some(most), ..Budgets::default() };
    let settings = Settings { reduction: Reduction::Schedule, budgets, ..Settings::default() };
    let outcome = check(program(text), Options::default(), &settings, &looks);
    (looks.0.into_inner(), outcome.statistics.transitions)
}

#[track_caller]
fn check_estimates(text: &str) {
    let (looks, steps) = looks(text, 1_000_000);
    let said: Vec<_> =
        looks.iter().filter_map(|(made, percent)| Some((*made, u64::from((*percent)?)))).collect();
    assert!(said.len() > 30 && said.is_sorted_by_key(|(_, percent)| *percent), "{said:?}");
    assert!(said[0].1 < 20 && said[said.len() - 1].1 > 80, "{said:?}");
    // What is said at a look was estimated a few looks before.
    let is_near = |(made, percent): &(u64, u64)| (made * 100 / steps).abs_diff(*percent) < 12;
    assert!(said.iter().all(is_near), "{steps}: {said:?}");
}

#[test]
fn a_run_says_how_much_of_it_is_made_where_loops_are_counted() {
    check_estimates("target ptx; cta 64; warps 0..2 { for i in 0..20000 { bar.sync 0; } }");
    check_estimates(
        "target ptx; cta 64; \
         warp 0 { let n = 300; for i in 0..n { for j in 0..n { bar.sync 0; } } } \
         warp 1 { let n = 300; for i in 0..n { for j in 0..n { bar.sync 1, 32; bar.sync 0; } } }",
    );
    check_estimates(
        "target ptx; cta 64; warps 0..2 { let i = 0; while i < 40000 { bar.sync 0; i = i + 2; } }",
    );
    check_estimates(
        "target ptx; cta 64; warps 0..2 { for i in 0..9000 { bar.sync 0; } bar.sync 1; for i in 0..9000 { bar.sync 0; } }",
    );
}

#[test]
fn a_run_says_nothing_of_how_much_is_made_where_that_cannot_be_said() {
    let loops: String = (0..20).map(|n| format!("for i{n} in 0..{} {{ ", i64::MAX)).collect();
    let nested = format!("target ptx; cta 64; warps 0..2 {{ {loops} bar.sync 0; {} }}", "}".repeat(20));
    for text in [
        "target ptx; cta 64; warps 0..2 { loop { for i in 0..20000 { bar.sync 0; } bar.sync 1; } }",
        "target ptx; cta 64; warps 0..2 { let i = 20000; while i > 0 { bar.sync 0; i = i - 1; } }",
        "target ptx; cta 64; warps 0..2 { let i = 0; while i < 20000 { bar.sync 0; i = i + i + 1; i = i - i / 2; } }",
        // More iterations than can be counted.
        &nested,
    ] {
        let (looks, _) = looks(text, 100_000);
        assert!(looks.len() > 5 && looks.iter().all(|(_, percent)| percent.is_none()), "{looks:?}");
    }
}

#[test]
fn a_run_that_is_given_up_names_what_grew_however_many_agents_are_told_apart() {
    for warps in [2, 8, 32] {
        let body = format!("{{ let i = 0; loop {{ i = i + 1; bar.sync i * i % 2, {}; }} }}", 32 * warps);
        let warps: Vec<_> = (0..warps).map(|warp| format!("warp {warp} {body}")).collect();
        let text = format!("target ptx; cta {}; {}", 32 * warps.len(), warps.join("\n"));
        let budgets = Budgets { max_states: Some(200_000), ..Budgets::default() };
        let outcome = decide(&text, &Settings { budgets, ..Settings::default() }, Options::default());
        let Some(Inconclusive::States(200_000, Some(grew))) = &outcome.inconclusive else {
            panic!("{:?}", outcome.inconclusive);
        };
        assert!(grew.contains("the values of `i` in warp"), "{grew}");
    }
}

#[test]
fn what_is_wrong_long_after_configurations_were_forgotten_is_found_and_can_be_replayed() {
    let text = |first: &str, second: &str| {
        format!(
            "target ptx; shared x; cta 64;
             warp 0 {{ for i in 0..20000 {{ if i == 19999 {{ {first} }} bar.sync i % 16, 64; }} read x; }}
             warp 1 {{ for i in 0..20000 {{ if i == 19999 {{ {second} }} bar.sync i % 16, 64; }} }}"
        )
    };
    let right = schedule(&text("", "write x;"));
    assert_eq!((right.verdict, right.statistics.complete), (Verdict::Verified, true));
    for (first, second, rule) in
        [("", "bar.sync i % 16, 64;", "deadlock"), ("write x;", "write x;", "data-race")]
    {
        let wrong = text(first, second);
        let outcome = schedule(&wrong);
        assert_eq!((outcome.verdict, rules(&outcome)), (Verdict::Violated, vec![rule]));
        walk_all(&wrong, &outcome);
    }
}

#[test]
fn configurations_that_lie_behind_are_forgotten_and_the_cycle_is_still_found() {
    // A round has more configurations than are kept at a time.
    let text = "target ptx; cta 64; warps 0..2 { loop { for i in 0..20000 { bar.sync i % 16, 64; } } }";
    let outcome = schedule(text);
    assert_eq!((outcome.verdict, outcome.statistics.complete), (Verdict::Verified, true));
    assert!(outcome.statistics.transitions < 400_000, "{}", outcome.statistics.transitions);
}

#[test]
fn a_notification_that_timing_may_lose_is_left_to_a_search() {
    // Thread 1 signals again before it has waited; whether the generation completes before it does is open.
    let never = "target nbarrier; thread_group 2;
        thread 0 { nbarrier.signal 0, 2; nbarrier.wait 0; nbarrier.signal 1, 2; nbarrier.wait 1; nbarrier.signal 0, 2; nbarrier.wait 0; }
        thread 1 { nbarrier.signal 0, 2; nbarrier.signal 1, 2; nbarrier.wait 1; nbarrier.signal 0, 2; nbarrier.wait 0; }";
    let maybe = "target nbarrier; thread_group 2;
        thread 0 { nbarrier.signal 1, 2; nbarrier.signal 2, 1, 1, 1; nbarrier.wait 1; nbarrier.signal 1, 2; nbarrier.wait 1; }
        thread 1 { nbarrier.signal 2, 2, 1, 1; nbarrier.wait 2;
                   nbarrier.signal 1, 2; nbarrier.signal 1, 2; nbarrier.wait 1; nbarrier.wait 1; }";
    for text in [never, maybe] {
        assert!(undecided(text).contains("timing could put an arrival into an earlier generation (thread 1"));
        let outcome = decide(text, &Settings::default(), Options::default());
        assert_eq!(rules(&outcome), ["lost-notification"]);
        walk_all(text, &outcome);
    }
}

#[test]
fn an_error_found_before_the_run_had_to_be_given_up_is_an_error() {
    let race = "target ptx; shared x; cta 64; warps 0..2 { write x; GOES_ON }";
    let all =
        |budgets| Settings { all: true, reduction: Reduction::Schedule, budgets, ..Settings::default() };
    let text = race.replace("GOES_ON", "bar.sync 0; if ? { } bar.sync 0;");
    let one = Settings { all: false, ..all(Budgets::default()) };
    let outcome = decide(&text, &one, Options::default());
    assert_eq!((outcome.verdict, rules(&outcome)), (Verdict::Violated, vec!["data-race"]));
    assert!(!outcome.statistics.complete);
    // All is for a search to say.
    let outcome = decide(&text, &all(Budgets::default()), Options::default());
    assert_eq!((outcome.verdict, rules(&outcome)), (Verdict::Violated, vec!["data-race"]));
    assert!(outcome.statistics.complete && outcome.method.engine == Engine::Search);
    let text = race.replace("GOES_ON", "let i = 0; loop { i = i + 1; bar.sync i * i % 2, 64; }");
    let budgets = Budgets { max_states: Some(20_000), ..Budgets::default() };
    let outcome = decide(&text, &all(budgets), Options::default());
    assert_eq!((outcome.verdict, rules(&outcome)), (Verdict::Violated, vec!["data-race"]));
    assert!(!outcome.statistics.complete);
}

#[test]
fn lanes_that_move_by_themselves_are_left_to_a_search() {
    let text = "target ptx; shared x; shared y; cta 64;
        warps 0..2 { if lane < 16 { read x; } else { read y; } bar.sync 0; }";
    assert!(undecided(text).contains("lanes of one warp move by themselves"));
    let one_at_a_time = "target ptx; shared x; cta 64; warps 0..2 { if lane < 16 { read x; } bar.sync 0; }";
    assert_eq!(schedule(one_at_a_time).verdict, Verdict::Verified);
}

#[test]
fn a_generation_that_waits_for_every_live_warp_is_completed_by_the_exit_of_another() {
    // Exits count: without them nobody would be released; and what the warp that exits did before is ordered.
    let text = "target ptx; shared x; cta 96;
        warps 0..2 { bar.sync 0; read x; } warp 2 { write x; }";
    let outcome = schedule(text);
    assert_eq!((outcome.verdict, outcome.statistics.complete), (Verdict::Violated, false));
    assert_eq!(rules(&outcome), ["missing-fence"]);
    let counted = text.replace("bar.sync 0", "bar.sync 0, 96");
    assert_eq!(rules(&schedule(&counted)), ["deadlock"]);
}

#[test]
fn a_signal_that_may_come_before_the_wait_for_the_last_generation_is_found_once_it_is_asked_for() {
    let text = "target nbarrier; thread_group 3;
        thread 0 { nbarrier.signal 0, 1, 1, 1; nbarrier.signal 1, 2, 1, 1; nbarrier.wait 1; nbarrier.signal 0, 1, 1, 1; }
        thread 1 { nbarrier.signal 0, 2, 1, 1; nbarrier.signal 1, 1, 1, 1; nbarrier.wait 0; }
        thread 2 { nbarrier.signal 0, 2, 1, 1; nbarrier.wait 0; }";
    let mut settings = Settings { all: true, ..Settings::default() };
    settings.levels.strict = true;
    let plain = Settings { reduction: Reduction::None, ..settings.clone() };
    let (found, expected) =
        (decide(text, &settings, Options::default()), decide(text, &plain, Options::default()));
    assert_eq!(rules(&found), rules(&expected));
}

/// Three of many leave before the barrier.
const EARLY_RETURN: &str = "target split_barrier; workgroup 512; invocations 0..512 {
    if invocation >= 509 { exit; }
    OpControlBarrier Workgroup, Workgroup, AcquireRelease|WorkgroupMemory;
}";

#[test]
fn among_very_many_agents_the_search_for_a_shorter_path_is_short() {
    let outcome = decide(EARLY_RETURN, &Settings::default(), Options::default());
    assert_eq!((outcome.verdict, rules(&outcome)), (Verdict::Violated, vec!["deadlock"]));
    assert_eq!(outcome.method.engine, Engine::Schedule);
    walk_all(EARLY_RETURN, &outcome);
    let few = EARLY_RETURN.replace("512", "32").replace("509", "29");
    let outcome = decide(&few, &Settings::default(), Options::default());
    assert_eq!((outcome.verdict, outcome.method.engine), (Verdict::Violated, Engine::Search));
    walk_all(&few, &outcome);
}

#[test]
fn a_search_that_sorts_many_agents_ends_when_its_time_is_up() {
    let text = EARLY_RETURN.replace("workgroup 512", "workgroup 1024").replace("0..512", "0..1024");
    let budgets = Budgets { timeout: Some(Duration::from_millis(1)), ..Budgets::default() };
    let settings = Settings { reduction: Reduction::Symmetry, budgets, ..Settings::default() };
    let outcome = decide(&text, &settings, Options::default());
    assert!(matches!(outcome.inconclusive, Some(Inconclusive::Time(..))), "{:?}", outcome.verdict);
    assert!(outcome.statistics.states < 1024, "{}", outcome.statistics.states);
}
