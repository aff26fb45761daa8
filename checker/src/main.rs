//! The command line of the barrier protocol checker.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
