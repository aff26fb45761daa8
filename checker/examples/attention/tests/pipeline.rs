//! The emulated pipeline under loom: code on the executable barriers, without any `.bar` file.

use attention::{Backpressure, pipeline};
use barcheck::barriers::{Loom, Std};

#[test]
fn the_pipeline_runs_on_ordinary_threads() {
    pipeline::<Std>(100, Backpressure::Kept).expect("no misuse");
}

#[test]
fn no_schedule_of_the_pipeline_hangs_races_or_misuses_a_barrier() {
    let mut loom = loom::model::Builder::new();
    // Every schedule with at most three preemptions: this is bounded, not a proof.
    loom.preemption_bound = Some(3);
    loom.check(|| pipeline::<Loom>(4, Backpressure::Kept).expect("no misuse"));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn without_back_pressure_loom_sees_a_tile_overwritten_while_it_is_read() {
    loom::model(|| {
        // The misuse that other schedules end in does not matter here.
        let _ = pipeline::<Loom>(3, Backpressure::Forgotten);
    });
}
