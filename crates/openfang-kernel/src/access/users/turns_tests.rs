//! Who is next, and who has to come again.

use futures_util::poll;

use super::*;

/// A stranger in the network of this number, which tried so often lately.
fn stranger(network: u8, lately: u32) -> LoginPeer {
    LoginPeer { is_known: false, lately, network: IpAddr::from([192, 0, network, 0]) }
}

async fn all_taken(turns: &Turns) -> Vec<Turn> {
    let mut taken = Vec::new();
    for _ in 0..PASSWORD_HASHES {
        taken.push(turns.take(stranger(0, 0)).await.unwrap());
    }
    taken
}

/// The places of those who wait, in the order in which their turns come.
async fn order_of(turns: &Turns, peers: &[LoginPeer]) -> Vec<usize> {
    let mut taken = all_taken(turns).await;
    let mut waiting: Vec<_> = peers.iter().map(|peer| Box::pin(turns.take(*peer))).collect();
    for one in &mut waiting {
        assert!(poll!(one).is_pending());
    }
    let mut order = Vec::new();
    for _ in peers {
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
    order
}

#[tokio::test]
async fn who_tried_least_goes_first_and_among_equals_who_came_first() {
    let peers = [3, 0, 7, 0].map(|lately| stranger(1, lately));

    assert_eq!(order_of(&Turns::default(), &peers).await, [1, 3, 0, 2]);
}

#[tokio::test]
async fn a_known_peer_goes_before_strangers_and_networks_take_turns() {
    let known = LoginPeer { is_known: true, ..stranger(1, 3) };
    let peers = [stranger(1, 0), stranger(1, 0), stranger(1, 0), stranger(2, 0), known];

    assert_eq!(order_of(&Turns::default(), &peers).await, [4, 0, 3, 1, 2]);
}

#[tokio::test]
async fn when_all_places_are_taken_a_newcomer_takes_that_of_the_keenest_guesser() {
    let turns = Turns::default();
    let taken = all_taken(&turns).await;
    let mut guessers: Vec<_> = (0..PASSWORD_QUEUE)
        .map(|n| Box::pin(turns.take(stranger(1, u32::from(n == 7)))))
        .collect();
    for guesser in &mut guessers {
        assert!(poll!(guesser).is_pending());
    }

    assert_eq!(turns.take(stranger(1, 5)).await.err(), Some(UserError::Busy));
    let mut newcomer = Box::pin(turns.take(stranger(1, 0)));
    assert!(poll!(&mut newcomer).is_pending());
    let displaced = guessers.swap_remove(7);
    assert_eq!(displaced.await.err(), Some(UserError::Busy));

    drop(guessers);
    drop(taken);
    assert!(newcomer.await.is_ok());
}

#[tokio::test]
async fn however_many_fresh_peers_of_a_network_wait_another_network_and_a_known_peer_have_their_places() {
    let turns = Turns::default();
    let taken = all_taken(&turns).await;
    let mut guessers: Vec<_> = (0..PASSWORD_QUEUE).map(|_| Box::pin(turns.take(stranger(1, 0)))).collect();
    for guesser in &mut guessers {
        assert!(poll!(guesser).is_pending());
    }

    let mut elsewhere = Box::pin(turns.take(stranger(2, 0)));
    let mut known = Box::pin(turns.take(LoginPeer { is_known: true, ..stranger(1, 9) }));
    assert!(poll!(&mut elsewhere).is_pending() && poll!(&mut known).is_pending());
    let mut more: Vec<_> = (0..PASSWORD_QUEUE).map(|_| Box::pin(turns.take(stranger(1, 0)))).collect();
    for guesser in &mut more {
        drop(poll!(guesser));
    }

    assert_eq!(turns.lock().waiting.len(), PASSWORD_QUEUE);
    drop(taken);
    assert!(known.await.is_ok());
    assert!(elsewhere.await.is_ok());
}

#[tokio::test]
async fn a_known_peer_has_a_place_also_where_every_guesser_has_a_network_of_its_own() {
    let turns = Turns::default();
    let taken = all_taken(&turns).await;
    let alone = |n: usize| LoginPeer {
        network: IpAddr::from([10, 0, u8::try_from(n / 256).unwrap(), u8::try_from(n % 256).unwrap()]),
        ..stranger(0, 0)
    };
    let mut guessers: Vec<_> = (0..PASSWORD_QUEUE).map(|n| Box::pin(turns.take(alone(n)))).collect();
    let mut known = Box::pin(turns.take(LoginPeer { is_known: true, ..stranger(9, 9) }));
    for guesser in &mut guessers {
        assert!(poll!(guesser).is_pending());
    }
    assert!(poll!(&mut known).is_pending());
    let mut more: Vec<_> = (0..500).map(|n| Box::pin(turns.take(alone(1_000 + n)))).collect();
    for guesser in &mut more {
        drop(poll!(guesser));
    }

    drop(taken);
    assert!(known.await.is_ok());
}

#[tokio::test]
async fn a_turn_of_somebody_who_stopped_waiting_goes_to_the_next() {
    let turns = Turns::default();
    let taken = all_taken(&turns).await;
    let (mut gone, mut stays) = (Box::pin(turns.take(stranger(1, 0))), Box::pin(turns.take(stranger(1, 1))));
    assert!(poll!(&mut gone).is_pending() && poll!(&mut stays).is_pending());

    drop(gone);
    drop(taken);

    let turn = stays.await.unwrap();
    assert_eq!(turns.lock().free, PASSWORD_HASHES - 1);
    drop(turn);
    assert_eq!(turns.lock().free, PASSWORD_HASHES);
}
