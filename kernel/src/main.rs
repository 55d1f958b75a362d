//! The `notegrad` binary: signals first, then the command line.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// Programs of the language make and drop small objects all the time.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    // Before anything else: an interrupt that arrives during start-up must not end the process.
    kernel::signals::install();
    kernel::cli::main(std::env::args_os().skip(1).collect())
}
