//! The pool of registers.

use crate::journal::{both, failure};
use barcheck::barriers::registers::{Cta, Error, Misuse};
use barcheck::barriers::{Loom, Std};
use barcheck_model::rule::Rule;

fn rule<T: std::fmt::Debug>(result: Result<T, Error>) -> Rule {
    result.expect_err("misuse").rule().expect("a rule")
}

#[test]
fn counts_have_a_range_and_a_direction() {
    let cta = Cta::<Std>::new(1, 128);
    let warp = cta.warp(0);
    for count in [-8, 0, 16, 20, 25, 264, i64::MAX] {
        assert_eq!((rule(warp.dec(count)), rule(warp.inc(count))), (Rule::CountRange, Rule::CountRange));
    }
    assert_eq!(warp.dec(136), Err(Error::Misuse(Misuse::CountRange { given: 136, has: 128 })));
    assert_eq!(rule(warp.inc(120)), Rule::CountRange);
    assert_eq!((warp.dec(128), warp.inc(128)), (Ok(()), Ok(())));
    assert_eq!((warp.dec(24), rule(warp.dec(32)), warp.inc(128)), (Ok(()), Rule::CountRange, Ok(())));
    warp.set_apart(true);
    // A number that no warp can ask for is the graver mistake.
    assert_eq!((rule(warp.dec(24)), rule(warp.inc(1))), (Rule::PartialWarp, Rule::CountRange));
}

#[test]
fn who_takes_waits_until_there_are_enough() {
    loom::model(|| {
        let cta = Cta::<Loom>::new(2, 128);
        let (one, other) = (cta.warp(0), cta.warp(1));
        let gives = move || one.dec(96).and_then(|()| one.dec(64));
        assert_eq!(both::<Loom, _, _>(gives, move || other.inc(192)), (Ok(()), Ok(())));
    });
    let hangs = failure(|| {
        let cta = Cta::<Loom>::new(2, 128);
        let (one, other) = (cta.warp(0), cta.warp(1));
        both::<Loom, _, _>(move || one.dec(64), move || other.inc(200)).1.expect("never");
    });
    assert!(hangs.contains("deadlock"), "{hangs}");
}
