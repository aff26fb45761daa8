//! The reader of kernels.
//!
//! `cargo +nightly fuzz run ptx_reader fuzz/corpus/ptx_reader ../checker/tests/kernels`, in `specs`.

#![no_main]

mod kernels;

use barcheck_specs::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| kernels::check(Format::Ptx, bytes));
