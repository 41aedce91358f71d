//! What attempts to log in cost, and whom.

use openfang_types::config::Config;

use super::*;

fn peer(n: u32) -> ClientAddress {
    let address = std::net::Ipv4Addr::from(0x7f00_0000 + n);
    ClientAddress::of(address.into(), &http::HeaderMap::new(), &Config::default())
}

fn logins(per_peer: u32, per_account: u32) -> Logins {
    let limits =
        Limits { login_attempts_per_peer: per_peer, login_attempts_per_account: per_account, ..Limits::default() };
    Logins::new(&limits)
}

/// How many attempts in a row are let through.
fn let_through(logins: &Logins, peer: ClientAddress, name: &str) -> usize {
    (0..1_000).take_while(|_| logins.charge(peer, name, false).is_ok()).count()
}

#[tokio::test(start_paused = true)]
async fn a_peer_has_so_many_attempts_and_they_come_back_one_by_one() {
    let logins = logins(10, 1_000);

    assert_eq!(let_through(&logins, peer(1), "ada"), 10);
    assert_eq!(let_through(&logins, peer(1), "bob"), 0, "whatever name is tried");
    assert_eq!(let_through(&logins, peer(2), "ada"), 10);
    let wait = logins.charge(peer(1), "ada", false).err().unwrap();
    assert_eq!(wait, LOGIN_WINDOW / 10);
    tokio::time::advance(wait).await;
    assert_eq!(let_through(&logins, peer(1), "ada"), 1);
    tokio::time::advance(2 * LOGIN_WINDOW).await;
    logins.forget_idle();
    assert!(logins.lock().peers.whole.is_empty() && logins.lock().accounts.whole.is_empty());
    assert_eq!(let_through(&logins, peer(1), "ada"), 10);
}

#[tokio::test(start_paused = true)]
async fn who_tried_before_comes_after_those_who_did_not() {
    let logins = logins(10, 1_000);
    let lately: Vec<u32> = (0..3).map(|_| logins.charge(peer(1), "ada", false).unwrap().turn.lately).collect();

    assert_eq!(lately, [0, 1, 2]);
    assert_eq!(logins.charge(peer(2), "ada", false).unwrap().turn.lately, 0);
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_logged_in_before_is_known_for_that_account_only() {
    let logins = logins(10, 1_000);
    let turn = |n, name| logins.charge(peer(n), name, false).unwrap().turn;
    assert!(!turn(1, "ada").is_known);
    logins.was_right(&logins.charge(peer(1), "ada", false).unwrap());

    assert!(turn(1, "ada").is_known);
    assert!(!turn(1, "bob").is_known && !turn(2, "ada").is_known);
    assert!(logins.charge(peer(2), "ada", true).unwrap().turn.is_known, "a browser that is logged in");
    assert_eq!(turn(3, "ada").network, turn(200, "ada").network);
    assert_ne!(turn(3, "ada").network, turn(256, "ada").network);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_was_not_hashed_costs_nothing_whatever_it_was_charged_to() {
    let logins = logins(2, 1);
    logins.was_right(&logins.charge(peer(1), "ada", false).unwrap());
    for (from, has_session) in [(1, false), (1, true), (2, false), (3, false)] {
        for _ in 0..5 {
            let attempt = logins.charge(peer(from), "ada", has_session);
            logins.was_not_tried(&attempt.unwrap_or_else(|_| panic!("peer {from} was charged")));
        }
        if from == 2 {
            logins.charge(peer(4), "ada", false).unwrap();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_account_that_is_guessed_at_stays_open_for_those_who_know_it_and_for_newcomers() {
    let logins = logins(10, 5);
    let at_home = logins.charge(peer(1), "ada", false).unwrap();
    logins.was_right(&at_home);

    assert_eq!(let_through(&logins, peer(2), "ada"), 6, "five, and one of the reserve");
    assert_eq!(let_through(&logins, peer(3), "ada"), 1, "a newcomer has one");
    assert_eq!(let_through(&logins, peer(2), "ada"), 0);
    assert_eq!(let_through(&logins, peer(1), "ada"), 10, "a peer that logged in before");
    assert!(logins.charge(peer(2), "ada", true).is_ok(), "a browser that is logged in");
    assert_eq!(let_through(&logins, peer(2), "bob"), 4, "another account, with what is left of the peer's");
}

#[tokio::test(start_paused = true)]
async fn guesses_at_one_account_are_bounded_however_many_peers_there_are() {
    let logins = logins(10, 5);
    let admitted: usize = (1..2_000).map(|n| let_through(&logins, peer(n), "ada")).sum();

    assert_eq!(admitted, 5 + LOGIN_RESERVE as usize);
}

#[tokio::test(start_paused = true)]
async fn what_is_remembered_is_bounded() {
    let logins = logins(10, 5);
    for n in 0..u32::try_from(LOGIN_KEYS).unwrap() + 10 {
        let _ = logins.charge(peer(n), &format!("user-{n}"), false);
    }

    assert_eq!(logins.lock().peers.whole.len(), LOGIN_KEYS);
    assert_eq!(logins.lock().accounts.whole.len(), LOGIN_KEYS);
}
