//! A ring that bulk copies fill, on barcheck's mbarrier objects: a loom test of one's own, without any `.bar`
//! file.

use barcheck::barriers::mbarrier::{Arrival, Cluster, Error, Object, Phase, Warp};
use barcheck::barriers::{Cell, Loom, Runtime, Shuttle, Std};
use std::sync::Arc;

const STAGES: usize = 2;
/// Bytes of a tile.
const TILE: i64 = 4096;

struct Ring<R: Runtime> {
    tiles: [R::Cell; STAGES],
    full: [Object; STAGES],
    empty: [Object; STAGES],
}

/// The parity of the lap of a round.
fn parity(round: usize) -> i64 {
    (round / STAGES % 2) as i64
}

/// The loading warp: of so many bytes it says that they will come.
fn load<R: Runtime>(warp: &Warp<R>, ring: &Arc<Ring<R>>, rounds: usize, announced: i64) -> Result<(), Error> {
    let mut copies = Vec::new();
    for round in 0..rounds {
        let stage = round % STAGES;
        // The lap before the first counts as complete.
        warp.wait(ring.empty[stage], Phase::Parity(parity(round) ^ 1))?;
        warp.arrive(ring.full[stage], Arrival::expecting(announced))?;
        let (copy, ring) = (warp.copy(ring.full[stage], TILE)?, Arc::clone(ring));
        // The copy lands when it likes: it is a thread of its own.
        copies.push(R::spawn(move || {
            ring.tiles[stage].write();
            copy.land()
        }));
    }
    copies.into_iter().try_for_each(|copy| R::join(copy).expect("no panic"))
}

/// The computing warp.
fn compute<R: Runtime>(warp: &Warp<R>, ring: &Ring<R>, rounds: usize) -> Result<(), Error> {
    for round in 0..rounds {
        let stage = round % STAGES;
        warp.wait(ring.full[stage], Phase::Parity(parity(round)))?;
        ring.tiles[stage].read();
        warp.arrive(ring.empty[stage], Arrival::of(1))?;
    }
    Ok(())
}

fn kernel<R: Runtime>(rounds: usize, announced: i64) -> Result<(), Error> {
    let cta = Cluster::<R>::new(2, 2 * STAGES);
    let object = |number| cta.object(0, number);
    let (full, empty) = ([object(0), object(1)], [object(2), object(3)]);
    full.into_iter().chain(empty).for_each(|object| cta.begin_with(object, 1));
    let ring = Arc::new(Ring::<R> { tiles: std::array::from_fn(|_| R::Cell::new()), full, empty });
    let (warp, filled) = (cta.warp(0), Arc::clone(&ring));
    let loader = R::spawn(move || load(&warp, &filled, rounds, announced));
    let computed = compute(&cta.warp(1), &ring, rounds);
    computed.and(R::join(loader).expect("no panic"))
}

#[test]
fn the_ring_runs_on_ordinary_threads_and_at_random() {
    kernel::<Std>(50, TILE).expect("no misuse");
    shuttle::check_random(|| kernel::<Shuttle>(6, TILE).expect("no misuse"), 200);
}

#[test]
fn no_schedule_of_the_ring_hangs_races_or_misuses_an_object() {
    let mut loom = loom::model::Builder::new();
    // Every schedule with at most two preemptions: this is bounded, not a proof.
    loom.preemption_bound = Some(2);
    loom.check(|| kernel::<Loom>(3, TILE).expect("no misuse"));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn without_announced_bytes_loom_sees_a_tile_read_before_it_has_come() {
    loom::model(|| {
        // The misuse that other schedules end in does not matter here.
        let _ = kernel::<Loom>(1, 0);
    });
}
