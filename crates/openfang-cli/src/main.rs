//! The `openfang` binary: it calls [`openfang_cli::typed`], or runs as the helper that starts child processes.

use std::process::ExitCode;

use mimalloc::MiMalloc;
use openfang_egress::process::{helper_main, hidden_arguments, not_dumpable, private_files};

/// A request makes many small allocations, and the system's allocator is slow at those. Without huge pages, which would
/// cost an idle server 10 MB.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    not_dumpable();
    // Before anything else: a helper has one thread and knows nothing of the command line.
    helper_main(std::env::args_os().skip(1)).unwrap_or_else(|| {
        let words = hidden_arguments();
        private_files();
        openfang_cli::typed(words)
    })
}
