//! The circuit, with the clock in hand.

use std::time::Duration;

use crate::url::Guard;

use super::*;

fn origin(host: &str) -> Origin {
    Guard::default().foreign(&format!("https://{host}/")).unwrap().origin()
}

fn fail(circuits: &Circuits, origin: &Origin, times: u32) {
    for _ in 0..times {
        circuits.enter(Reach::Foreign, origin).unwrap().report(OriginHealth::Bad);
    }
}

#[tokio::test(start_paused = true)]
async fn it_opens_after_failures_in_a_row_and_lets_one_probe_at_a_time_through() {
    let (circuits, origin) = (Circuits::default(), origin("example.com"));
    fail(&circuits, &origin, HTTP_CIRCUIT_FAILURES);

    let left_alone = circuits.enter(Reach::Foreign, &origin).unwrap_err();
    assert_eq!(left_alone.retry_after, HTTP_CIRCUIT_PAUSE);
    tokio::time::advance(HTTP_CIRCUIT_PAUSE - Duration::from_secs(1)).await;
    assert_eq!(circuits.enter(Reach::Foreign, &origin).unwrap_err().retry_after, Duration::from_secs(1));
    tokio::time::advance(Duration::from_secs(1)).await;

    let probe = circuits.enter(Reach::Foreign, &origin).unwrap();
    assert!(circuits.enter(Reach::Foreign, &origin).is_err(), "one probe at a time");
    probe.report(OriginHealth::Bad);
    assert!(circuits.enter(Reach::Foreign, &origin).is_err(), "a failed probe leaves it alone again");
    tokio::time::advance(HTTP_CIRCUIT_PAUSE).await;
    circuits.enter(Reach::Foreign, &origin).unwrap().report(OriginHealth::Good);

    let both = [circuits.enter(Reach::Foreign, &origin), circuits.enter(Reach::Foreign, &origin)];
    assert!(both.iter().all(Result::is_ok), "a good probe ends it");
}

#[tokio::test(start_paused = true)]
async fn a_success_in_between_starts_the_count_again() {
    let (circuits, origin) = (Circuits::default(), origin("example.com"));

    fail(&circuits, &origin, HTTP_CIRCUIT_FAILURES - 1);
    circuits.enter(Reach::Foreign, &origin).unwrap().report(OriginHealth::Good);
    fail(&circuits, &origin, HTTP_CIRCUIT_FAILURES - 1);

    assert!(circuits.enter(Reach::Foreign, &origin).is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_is_dropped_leaves_the_place_to_the_next() {
    let (circuits, origin) = (Circuits::default(), origin("example.com"));
    fail(&circuits, &origin, HTTP_CIRCUIT_FAILURES);
    tokio::time::advance(HTTP_CIRCUIT_PAUSE).await;

    drop(circuits.enter(Reach::Foreign, &origin).unwrap());

    assert!(circuits.enter(Reach::Foreign, &origin).is_ok());
}

#[tokio::test(start_paused = true)]
async fn late_failures_of_requests_sent_before_do_not_free_the_probes_place() {
    let (circuits, origin) = (Circuits::default(), origin("example.com"));
    let early = circuits.enter(Reach::Foreign, &origin).unwrap();
    fail(&circuits, &origin, HTTP_CIRCUIT_FAILURES);
    tokio::time::advance(HTTP_CIRCUIT_PAUSE).await;
    let _probe = circuits.enter(Reach::Foreign, &origin).unwrap();

    drop(early);

    assert!(circuits.enter(Reach::Foreign, &origin).is_err());
}

#[tokio::test(start_paused = true)]
async fn the_operators_circuit_is_not_the_strangers() {
    let (circuits, origin) = (Circuits::default(), origin("example.com"));

    fail(&circuits, &origin, HTTP_CIRCUIT_FAILURES);

    assert!(circuits.enter(Reach::Foreign, &origin).is_err());
    assert!(circuits.enter(Reach::Operator, &origin).is_ok());
}

#[tokio::test(start_paused = true)]
async fn the_map_is_bounded_and_forgets_those_that_still_work_first() {
    let circuits = Circuits::default();
    let broken = origin("broken.example.com");
    fail(&circuits, &broken, HTTP_CIRCUIT_FAILURES);

    for number in 0..2 * HTTP_CIRCUITS {
        fail(&circuits, &origin(&format!("n{number}.example.com")), 1);
    }

    assert_eq!(circuits.len(), HTTP_CIRCUITS);
    assert!(circuits.enter(Reach::Foreign, &broken).is_err());
}
