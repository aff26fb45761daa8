//! The pipeline of an attention kernel, emulated in Rust on barcheck's executable barriers: the same code
//! runs on the threads of the standard library, under loom and under shuttle.

use barcheck::barriers::ptx::{Cta, Error, Warp};
use barcheck::barriers::{Cell, Runtime};
use std::sync::Arc;

/// Tiles in the ring between the loader and the consumer.
pub const STAGES: usize = 2;

/// Threads at each barrier: the loader's warp and the consumer's.
const BOTH: Option<i64> = Some(64);

/// The shared memory of the kernel.
struct Tiles<R: Runtime>([R::Cell; STAGES]);

fn full(stage: usize) -> i64 {
    1 + stage as i64
}

fn empty(stage: usize) -> i64 {
    1 + (STAGES + stage) as i64
}

/// Whether the loader waits for a tile's place to be empty, as it must.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backpressure {
    /// It does.
    Kept,
    /// It does not: what is being read is overwritten.
    Forgotten,
}

fn load<R: Runtime>(
    warp: Warp<R>,
    tiles: &Tiles<R>,
    rounds: usize,
    backpressure: Backpressure,
) -> Result<(), Error> {
    for round in 0..rounds {
        let stage = round % STAGES;
        if round >= STAGES && backpressure == Backpressure::Kept {
            warp.sync(empty(stage), BOTH)?;
        }
        tiles.0[stage].write();
        warp.arrive(full(stage), BOTH)?;
    }
    warp.exit()
}

fn consume<R: Runtime>(
    warp: Warp<R>,
    tiles: &Tiles<R>,
    rounds: usize,
    backpressure: Backpressure,
) -> Result<(), Error> {
    for round in 0..rounds {
        let stage = round % STAGES;
        warp.sync(full(stage), BOTH)?;
        tiles.0[stage].read();
        if round + STAGES < rounds && backpressure == Backpressure::Kept {
            warp.arrive(empty(stage), BOTH)?;
        }
    }
    warp.exit()
}

/// Runs the kernel once: a loader and a consumer, for so many tiles.
///
/// # Errors
/// A barrier was misused.
pub fn pipeline<R: Runtime>(rounds: usize, backpressure: Backpressure) -> Result<(), Error> {
    let cta = Cta::<R>::new(64);
    let tiles = Arc::new(Tiles::<R>(std::array::from_fn(|_| R::Cell::new())));
    let loader = {
        let (warp, tiles) = (cta.warp(0), Arc::clone(&tiles));
        R::spawn(move || load(warp, &tiles, rounds, backpressure))
    };
    let consumed = consume(cta.warp(1), &tiles, rounds, backpressure);
    let loaded = R::join(loader).unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    consumed.and(loaded)
}
