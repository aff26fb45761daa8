//! What a developer sees when a protocol breaks: all that is needed to fix it.

use barcheck::gate::{Gate, Here};
use std::panic::{UnwindSafe, catch_unwind};

fn here(name: &'static str) -> Here {
    Here { module: module_path!(), name, folder: env!("CARGO_MANIFEST_DIR") }
}

/// The message of a gate that fails.
fn message(gate: impl FnOnce() + UnwindSafe) -> String {
    let panic = catch_unwind(gate).expect_err("the protocol is broken");
    panic.downcast_ref::<String>().expect("a message").clone()
}

#[track_caller]
fn says_what_to_mend(message: &str) {
    for part in [
        "deadlock",
        // Who waits where for what, and why it does not come.
        "Warp 0 waits at ring.bar:13",
        "on barrier 3: 32 of 64 threads",
        "none is left that could: the count cannot be reached",
        // Where the counterexample can be picked up.
        "trace written to",
    ] {
        assert!(message.contains(part), "`{part}` is missing in:\n{message}");
    }
}

#[test]
fn the_exhaustive_gate_of_a_broken_ring_says_who_waits_for_whom() {
    says_what_to_mend(&message(|| Gate::new("protocols/broken/ring.bar").exhaustive(here("exhaustive"))));
}

#[test]
fn what_shuttle_has_not_run_once_does_not_pass() {
    let name = "what_shuttle_has_not_run_once_does_not_pass";
    if barcheck::gate::is_child() {
        barcheck::gate::explore_here();
    }
    let gate =
        Gate::new("protocols/ring.bar").define("TILES", 2_000_000_000).seconds(0.0).executions(1_000_000);
    let message = message(move || gate.under_shuttle(here(name)));
    assert!(message.contains("did not come to the end of one execution"), "{message}");
}

#[test]
fn loom_finds_the_same_in_the_broken_ring() {
    let name = "loom_finds_the_same_in_the_broken_ring";
    if barcheck::gate::is_child() {
        barcheck::gate::explore_here();
    }
    says_what_to_mend(&message(move || Gate::new("protocols/broken/ring.bar").under_loom(here(name))));
}

#[test]
fn shuttle_finds_the_same_in_the_broken_ring_and_says_how_to_see_it_again() {
    let name = "shuttle_finds_the_same_in_the_broken_ring_and_says_how_to_see_it_again";
    if barcheck::gate::is_child() {
        barcheck::gate::explore_here();
    }
    let message = message(move || Gate::new("protocols/broken/ring.bar").under_shuttle(here(name)));
    says_what_to_mend(&message);
    assert!(message.contains("--schedule"), "{message}");
}
