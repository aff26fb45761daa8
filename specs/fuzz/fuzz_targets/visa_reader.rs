//! The reader of vISA.
//!
//! `cargo +nightly fuzz run visa_reader fuzz/corpus/visa_reader ../checker/tests/kernels`, in `specs`.

#![no_main]

mod kernels;

use barcheck_specs::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| kernels::check(Format::Visa, bytes));
