//! `barrier{.cta}`.

use barcheck::barriers::ptx::{Cta, RedOp, RedResult};
use barcheck::barriers::{Loom, Runtime, Std};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn a_reduction_gives_the_same_to_all() {
    loom::model(|| {
        let cta = Cta::<Loom>::new(64);
        let other = cta.clone();
        let warp = Loom::spawn(move || other.warp(1).red(0, None, RedOp::Popc, &[true, false, true]));
        assert_eq!(cta.warp(0).red(0, None, RedOp::Popc, &[true]), Ok(RedResult::Count(3)));
        assert_eq!(Loom::join(warp).expect("no panic"), Ok(RedResult::Count(3)));
    });
}

#[test]
fn a_producer_and_a_consumer_meet() {
    let cta = Cta::<Std>::new(64);
    let other = cta.clone();
    let producer = Std::spawn(move || other.warp(0).arrive(1, Some(64)));
    assert_eq!(cta.warp(1).sync(1, Some(64)), Ok(()));
    assert_eq!(Std::join(producer).expect("no panic"), Ok(()));
}

/// One producer and one consumer, two stages, four rounds.
#[test]
fn a_ring_takes_few_executions() {
    let executions = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&executions);
    loom::model(move || {
        counter.fetch_add(1, Ordering::Relaxed);
        let cta = Cta::<Loom>::new(64);
        let (producer, consumer) = (cta.warp(0), cta.warp(1));
        let producer = Loom::spawn(move || {
            for round in 0..4_i64 {
                if round >= 2 {
                    producer.sync(2 * (round % 2) + 1, Some(64))?;
                }
                producer.arrive(2 * (round % 2), Some(64))?;
            }
            producer.exit()
        });
        for round in 0..4_i64 {
            assert_eq!(consumer.sync(2 * (round % 2), Some(64)), Ok(()));
            if round + 2 < 4 {
                assert_eq!(consumer.arrive(2 * (round % 2) + 1, Some(64)), Ok(()));
            }
        }
        assert_eq!(consumer.exit(), Ok(()));
        assert_eq!(Loom::join(producer).expect("no panic"), Ok(()));
    });
    println!("{} executions", executions.load(Ordering::Relaxed));
}
