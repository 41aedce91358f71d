//! Many clients that guess the password of an honest user.

use anyhow::Result;
use serde_json::json;

use super::{Running, many};
use crate::soak::client::{Client, HOSTILE, Request};
use crate::soak::stage::{HONEST_USERS, Target};

const CLIENTS: usize = 48;

pub(super) async fn prepare(target: Target) -> Result<Running> {
    Ok(Box::pin(many(CLIENTS, move |number| guess_for_ever(target.clone(), number))))
}

async fn guess_for_ever(target: Target, guesser: usize) {
    let mut client = Client::new(&target.address, HOSTILE);
    for number in 0_u64.. {
        let guess = json!({"user": HONEST_USERS[0], "password": format!("a guess {guesser} {number}")}).to_string();
        let request = Request { what: "POST /api/login", key: "", headers: "", body: guess.as_bytes() };
        let _ = client.exchange(&request).await;
    }
}
