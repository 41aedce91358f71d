//! Connections that cost their owner nothing: one byte and no more, and HTTP/2 that only answers pings.

use anyhow::Result;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{Running, many};
use crate::soak::client::{HOSTILE, dial};
use crate::soak::http2::Connection;
use crate::soak::stage::Target;

const ONE_BYTE: usize = 3_000;
const PINGED: usize = 900;

pub(super) async fn prepare(target: Target) -> Result<Running> {
    let pinged = target.clone();
    let one_byte = many(ONE_BYTE, move |_| begin_for_ever(target.clone()));
    let pinged = many(PINGED, move |_| answer_pings_for_ever(pinged.clone()));
    Ok(Box::pin(async move {
        tokio::join!(one_byte, pinged);
    }))
}

async fn begin_for_ever(target: Target) {
    loop {
        if let Ok(mut stream) = dial(&target.address, HOSTILE).await
            && stream.write_all(b"P").await.is_ok()
        {
            let _ = stream.read(&mut [0]).await;
        }
        tokio::task::yield_now().await;
    }
}

async fn answer_pings_for_ever(target: Target) {
    loop {
        if let Ok(mut connection) = Connection::open(&target.address, HOSTILE).await {
            let _ = connection.stay().await;
        }
        tokio::task::yield_now().await;
    }
}
