//! Who must make room, and who may stay.

use super::*;

async fn taken(seats: &Arc<Seats>, stop: &CancellationToken) -> Seat {
    seats.take(seats.free().await.unwrap(), stop)
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_never_asked_makes_room_before_one_that_did() {
    let (seats, stop) = (Seats::new(3), CancellationToken::new());
    let asked = taken(&seats, &stop).await;
    drop(asked.occupant.begin());
    tokio::time::advance(SEAT_SETTLING).await;
    let silent = [taken(&seats, &stop).await, taken(&seats, &stop).await];
    tokio::time::advance(SEAT_SETTLING).await;

    let last = Arc::clone(&silent[1].occupant);
    tokio::select! {
        _ = seats.free() => unreachable!("all seats are taken"),
        () = last.leave().cancelled() => {}
    }

    assert!(silent.iter().all(|seat| seat.occupant.makes_room()));
    assert!(!asked.occupant.makes_room());
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_is_used_now_and_then_stays_even_if_nobody_else_can_make_room() {
    let (seats, stop) = (Seats::new(2), CancellationToken::new());
    let used = taken(&seats, &stop).await;
    drop(used.occupant.begin());
    tokio::time::advance(SEAT_PAUSE / 2).await;
    let new = taken(&seats, &stop).await;

    assert!(tokio::time::timeout(SEAT_SETTLING / 2, seats.free()).await.is_err());
    assert!(!used.occupant.makes_room() && !new.occupant.makes_room());

    let leaving = Arc::clone(&new.occupant);
    tokio::select! {
        _ = seats.free() => unreachable!("all seats are taken"),
        () = leaving.leave().cancelled() => {}
    }
    assert!(!used.occupant.makes_room(), "the other one is there long enough now");
}

#[tokio::test(start_paused = true)]
async fn a_connection_with_a_request_in_progress_stays() {
    let (seats, stop) = (Seats::new(1), CancellationToken::new());
    let busy = taken(&seats, &stop).await;
    let request = busy.occupant.begin();

    let long = SEAT_PAUSE * 10;
    assert!(tokio::time::timeout(long, seats.free()).await.is_err());
    assert!(!busy.occupant.makes_room());

    drop(request);
    let occupant = Arc::clone(&busy.occupant);
    let leaving = async move {
        occupant.leave().cancelled().await;
        drop(busy);
    };
    let (free, ()) = tokio::join!(seats.free(), leaving);
    assert!(free.is_some());
}

#[tokio::test(start_paused = true)]
async fn the_oldest_make_room_and_the_newest_are_left_alone() {
    let (seats, stop) = (Seats::new(SEATS_FREED_AT_ONCE + 1), CancellationToken::new());
    let mut all = Vec::new();
    for _ in 0..=SEATS_FREED_AT_ONCE {
        all.push(taken(&seats, &stop).await);
        tokio::time::advance(SEAT_SETTLING).await;
    }

    let newest = all.pop().unwrap();
    let first = Arc::clone(&all[0].occupant);
    tokio::select! {
        _ = seats.free() => unreachable!("all seats are taken"),
        () = first.leave().cancelled() => {}
    }

    assert!(all.iter().all(|seat| seat.occupant.makes_room()));
    assert!(!newest.occupant.makes_room());
}

#[tokio::test]
async fn a_connection_ends_with_the_server_without_making_room() {
    let (seats, stop) = (Seats::new(1), CancellationToken::new());
    let seat = taken(&seats, &stop).await;
    stop.cancel();
    seat.occupant.leave().cancelled().await;
    assert!(!seat.occupant.makes_room());
}
