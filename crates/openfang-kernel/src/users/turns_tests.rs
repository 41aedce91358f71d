//! Who is next, and who has to come again.

use futures_util::poll;

use super::*;

async fn all_taken(turns: &Turns) -> Vec<Turn> {
    let mut taken = Vec::new();
    for _ in 0..PASSWORD_HASHES {
        taken.push(turns.take(0).await.unwrap());
    }
    taken
}

#[tokio::test]
async fn who_tried_least_goes_first_and_among_equals_who_came_first() {
    let turns = Turns::default();
    let mut taken = all_taken(&turns).await;
    let mut waiting: Vec<_> = [3, 0, 7, 0].map(|lately| Box::pin(turns.take(lately))).into();
    for one in &mut waiting {
        assert!(poll!(one).is_pending());
    }

    let mut order = Vec::new();
    for _ in 0..4 {
        drop(taken.pop());
        for (at, one) in waiting.iter_mut().enumerate() {
            if !order.contains(&at)
                && let std::task::Poll::Ready(turn) = poll!(one)
            {
                order.push(at);
                taken.push(turn.unwrap());
            }
        }
    }

    assert_eq!(order, [1, 3, 0, 2]);
}

#[tokio::test]
async fn when_all_places_are_taken_a_newcomer_takes_that_of_the_keenest_guesser() {
    let turns = Turns::default();
    let taken = all_taken(&turns).await;
    let mut guessers: Vec<_> = (0..PASSWORD_QUEUE).map(|_| Box::pin(turns.take(5))).collect();
    for guesser in &mut guessers {
        assert!(poll!(guesser).is_pending());
    }

    assert_eq!(turns.take(5).await.err(), Some(UserError::Busy));
    let mut newcomer = Box::pin(turns.take(0));
    assert!(poll!(&mut newcomer).is_pending());
    let displaced = guessers.pop().unwrap();
    assert_eq!(displaced.await.err(), Some(UserError::Busy));

    drop(taken);
    assert!(newcomer.await.is_ok());
}

#[tokio::test]
async fn a_turn_of_somebody_who_stopped_waiting_goes_to_the_next() {
    let turns = Turns::default();
    let taken = all_taken(&turns).await;
    let (mut gone, mut stays) = (Box::pin(turns.take(0)), Box::pin(turns.take(1)));
    assert!(poll!(&mut gone).is_pending() && poll!(&mut stays).is_pending());

    drop(gone);
    drop(taken);

    let turn = stays.await.unwrap();
    assert_eq!(turns.lock().free, PASSWORD_HASHES - 1);
    drop(turn);
    assert_eq!(turns.lock().free, PASSWORD_HASHES);
}
