//! Many clients that guess the password of an honest user: all from one address, or each guess from another one.

use std::net::IpAddr;

use anyhow::Result;
use serde_json::json;

use super::{Running, many};
use crate::soak::client::{Client, HOSTILE, Request, hostile_peer};
use crate::soak::stage::{HONEST_USERS, Target};
use crate::soak::tally::Tally;

const CLIENTS: usize = 48;

/// All guesses come from one peer.
pub(super) async fn one_peer(target: Target) -> Result<Running> {
    let tally = target.tallies.part("guesses");
    Ok(Box::pin(many(CLIENTS, move |guesser| guess_from_one(target.clone(), tally.clone(), guesser))))
}

/// Each guess comes from a different peer.
pub(super) async fn many_peers(target: Target) -> Result<Running> {
    let tally = target.tallies.part("guesses of many peers");
    Ok(Box::pin(many(CLIENTS, move |guesser| guess_from_many(target.clone(), tally.clone(), guesser))))
}

async fn guess_from_one(target: Target, tally: Tally, guesser: usize) {
    let mut client = Client::new(&target.address, HOSTILE);
    for number in 0_usize.. {
        tally.add_if(guess(&mut client, guesser, number).await);
    }
}

async fn guess_from_many(target: Target, tally: Tally, guesser: usize) {
    for number in 0_usize.. {
        let from: IpAddr = hostile_peer(number * CLIENTS + guesser);
        tally.add_if(guess(&mut Client::new(&target.address, from), guesser, number).await);
    }
}

/// Whether the server checked the guess, or refused it for the rate limit.
async fn guess(client: &mut Client, guesser: usize, number: usize) -> bool {
    let guess = json!({"user": HONEST_USERS[0], "password": format!("a guess {guesser} {number}")}).to_string();
    let request = Request { what: "POST /api/login", key: "", headers: "", body: guess.as_bytes() };
    matches!(client.exchange(&request).await, Ok((401 | 429, _)))
}
