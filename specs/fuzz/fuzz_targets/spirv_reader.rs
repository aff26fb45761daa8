//! The reader of SPIR-V.
//!
//! `cargo +nightly fuzz run spirv_reader fuzz/corpus/spirv_reader ../checker/tests/kernels`, in `specs`.

#![no_main]

mod kernels;

use barcheck_specs::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| kernels::check(Format::Spirv, bytes));
