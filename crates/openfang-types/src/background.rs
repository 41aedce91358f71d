//! Long computations on threads of low priority. Requests that take microseconds must not wait for a processor behind
//! one that takes a second, however many of those a client causes.

use std::panic::resume_unwind;

use crate::limits::BACKGROUND_NICENESS;

/// Lowers the priority of the current thread for good: without privileges it cannot be raised again.
#[cfg(target_os = "linux")]
pub fn lower_priority(niceness: i32) {
    // Without a process id it is this thread. The work is as good with the usual priority, so a failure changes nothing.
    let _ = rustix::process::setpriority_process(None, niceness);
}

/// Other systems have no priority for a single thread.
#[cfg(not(target_os = "linux"))]
pub fn lower_priority(_niceness: i32) {}

/// Runs the work on a thread of low priority and waits for it. If no thread can be started, the work runs here.
pub fn run<T: Send>(mut work: impl FnMut() -> T + Send) -> T {
    let done = std::thread::scope(|scope| {
        let body = || {
            lower_priority(BACKGROUND_NICENESS);
            work()
        };
        let thread = std::thread::Builder::new().name("background".to_owned());
        let thread = thread.spawn_scoped(scope, body).ok()?;
        Some(thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    });
    match done {
        Some(result) => result,
        None => work(),
    }
}

#[cfg(test)]
#[path = "background_tests.rs"]
mod tests;
