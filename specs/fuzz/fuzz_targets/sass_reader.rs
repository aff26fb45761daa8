//! The reader of disassembled kernels.
//!
//! `cargo +nightly fuzz run sass_reader fuzz/corpus/sass_reader ../checker/tests/kernels`, in `specs`.

#![no_main]

mod kernels;

use barcheck_specs::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| kernels::check(Format::Sass, bytes));
