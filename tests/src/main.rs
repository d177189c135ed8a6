//! The program under test: `runner`, word for word.

use std::process::ExitCode;

fn main() -> ExitCode {
    runner::main()
}
