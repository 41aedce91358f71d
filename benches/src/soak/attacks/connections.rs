//! Connections that cost their client nothing: one byte and no more, and HTTP/2 that only answers pings. Together they
//! exceed the server's limit.

use std::time::Duration;

use anyhow::Result;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::Instant;

use super::{Running, many};
use crate::soak::client::{HOSTILE, dial};
use crate::soak::http2::Connection;
use crate::soak::stage::Target;

const ONE_BYTE: usize = 3_600;
const PINGED: usize = 900;
/// A connection that ends sooner was closed for the sake of others: the server waits longer for what it could still send.
const EARLY: Duration = Duration::from_secs(5);
const MADE_ROOM: &str = "connections that had to make room";

pub(super) async fn prepare(target: Target) -> Result<Running> {
    target
        .tallies
        .expect(&["connections of one byte", "connections that answer pings", MADE_ROOM]);
    let pinged = target.clone();
    let one_byte = many(ONE_BYTE, move |_| begin_for_ever(target.clone()));
    let pinged = many(PINGED, move |_| answer_pings_for_ever(pinged.clone()));
    Ok(Box::pin(async move {
        tokio::join!(one_byte, pinged);
    }))
}

async fn begin_for_ever(target: Target) {
    let (tally, made_room) = (target.tallies.part("connections of one byte"), target.tallies.part(MADE_ROOM));
    loop {
        if let Ok(mut stream) = dial(&target.address, HOSTILE).await
            && stream.write_all(b"P").await.is_ok()
        {
            tally.add();
            let begun = Instant::now();
            let _ = stream.read(&mut [0]).await;
            made_room.add_if(begun.elapsed() < EARLY);
        }
        tokio::task::yield_now().await;
    }
}

async fn answer_pings_for_ever(target: Target) {
    let (tally, made_room) = (target.tallies.part("connections that answer pings"), target.tallies.part(MADE_ROOM));
    loop {
        if let Ok(mut connection) = Connection::open(&target.address, HOSTILE).await {
            tally.add();
            let begun = Instant::now();
            let _ = connection.stay().await;
            made_room.add_if(begun.elapsed() < EARLY);
        }
        tokio::task::yield_now().await;
    }
}
