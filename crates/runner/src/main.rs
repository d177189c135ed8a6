//! `runner`: see the library of the same name.

use std::process::ExitCode;

fn main() -> ExitCode {
    runner::main()
}
