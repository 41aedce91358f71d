//! What `/proc` says, in its own formats and about this very process.

use super::*;

#[test]
fn the_formats_of_proc_are_read() {
    assert_eq!(schedstat("455327 17 2\n"), Some(Duration::from_nanos(455_327)));
    let line = "7 (a) b) S 1 7 7 0 -1 4194304 100 0 0 0 150 25 0 0 20 0 4 0 100 1000 50\n";
    assert_eq!(stat(line), Some(Duration::from_millis(1_750)));
    let status = "Name:\tx\nVmHWM:\t   31250 kB\nVmRSS:\t   15625 kB\nThreads:\t1\n";
    assert_eq!(megabytes(status, "VmRSS:"), Some(16.0));
    assert_eq!(megabytes(status, "VmHWM:"), Some(32.0));
    assert_eq!(megabytes("Name:\tx\n", "VmRSS:"), None);
}

#[test]
fn work_shows_as_cpu_time_of_this_process() {
    let pid = std::process::id();
    let before = CpuTime::of(pid).unwrap();

    let mut sum = 0_u64;
    while CpuTime::of(pid).unwrap().since(&before) < Duration::from_millis(20) {
        sum = (0..100_000).fold(sum, |sum, number| std::hint::black_box(sum ^ number));
    }

    assert!(resident_mb(pid).unwrap() > 0.1);
}

#[test]
fn a_thread_that_ended_does_not_count_backwards() {
    let reading = |threads: &[(u32, u64)]| CpuTime {
        by_thread: threads.iter().map(|(id, millis)| (*id, Duration::from_millis(*millis))).collect(),
    };

    let used = reading(&[(1, 30), (3, 5)]).since(&reading(&[(1, 10), (2, 500)]));

    assert_eq!(used, Duration::from_millis(25));
}
