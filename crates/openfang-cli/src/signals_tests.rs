//! What a signal to stop comes to.

use std::sync::mpsc;

use super::*;

/// Long enough for a loaded machine; nothing waits for it when things go well.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn a_stop_ends_in_time_though_every_worker_is_held_up_for_ever() {
    let workers = 2;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .enable_all()
        .build()
        .unwrap();
    let mut unheard = {
        let _inside = runtime.enter();
        Signals::listen().unwrap()
    };
    let (held, holds) = mpsc::sync_channel(0);
    for _ in 0..workers {
        let held = held.clone();
        runtime.spawn(async move {
            held.send(()).unwrap();
            loop {
                std::thread::park();
            }
        });
        holds.recv_timeout(PATIENCE).unwrap();
    }
    let (tell, told) = mpsc::sync_channel(1);
    watch_over_stop(Duration::from_millis(1), move |signal| tell.send(signal).unwrap()).unwrap();
    runtime.spawn(async move { unheard.next().await });

    terminate(std::process::id()).unwrap();

    assert_eq!(told.recv_timeout(PATIENCE), Ok(Stop::Terminate));
    runtime.shutdown_background();
}
