//! The `notegrad` binary: signals first, then the command line.

use std::process::ExitCode;

use kernel::allocator::Allocator;

/// Programs of the language make and drop small objects all the time.
#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// Called before `main`, the constructors of libraries and the runtime: until `main` an interrupt is dropped.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "nothing safe runs so early")]
#[used]
// SAFETY: the linker keeps pointers to functions of this form in the section.
#[unsafe(link_section = ".preinit_array")]
static FIRST: extern "C" fn() = {
    // `sighandler_t signal(int signum, sighandler_t handler)`, signal(2).
    unsafe extern "C" {
        fn signal(signum: i32, handler: usize) -> usize;
    }
    const SIGINT: i32 = 2;
    const SIG_IGN: usize = 1;
    extern "C" fn drop_interrupts() {
        // SAFETY: a system call that touches no memory of ours.
        unsafe { signal(SIGINT, SIG_IGN) };
    }
    drop_interrupts
};

fn main() -> ExitCode {
    // Before anything else: an interrupt that arrives during start-up must not end the process.
    kernel::signals::install();
    kernel::cli::main(std::env::args_os().skip(1).collect())
}
