//! The reader of MLIR with operations of XeGPU.
//!
//! `cargo +nightly fuzz run xegpu_reader fuzz/corpus/xegpu_reader ../checker/tests/kernels`, in `specs`.

#![no_main]

mod kernels;

use barcheck_specs::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| kernels::check(Format::Xegpu, bytes));
