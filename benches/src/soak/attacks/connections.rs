//! Connections that cost their client nothing: one byte and no more, and HTTP/2 that only answers pings. Together they
//! exceed the server's limit.

use std::cell::Cell;
use std::rc::Rc;

use anyhow::Result;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{Running, many};
use crate::soak::client::{HOSTILE, dial};
use crate::soak::http2::Connection;
use crate::soak::stage::Target;
use crate::soak::tally::Tally;

const ONE_BYTE: usize = 3_600;
const PINGED: usize = 900;
/// The server's default limit.
const MOST_CONNECTIONS: usize = 4_096;
const BEYOND: &str = "connections beyond the cap";

pub(super) async fn prepare(target: Target) -> Result<Running> {
    target
        .tallies
        .expect(&["connections of one byte", "connections that answer pings", BEYOND]);
    let open = Rc::new(Cell::new(0));
    let (pinged, also_open) = (target.clone(), Rc::clone(&open));
    let one_byte = many(ONE_BYTE, move |_| begin_for_ever(target.clone(), Rc::clone(&open)));
    let pinged = many(PINGED, move |_| answer_pings_for_ever(pinged.clone(), Rc::clone(&also_open)));
    Ok(Box::pin(async move {
        tokio::join!(one_byte, pinged);
    }))
}

/// Counts a connection as open until it is dropped.
struct Open<'a>(&'a Cell<usize>);

impl<'a> Open<'a> {
    fn count(open: &'a Cell<usize>, beyond: &Tally) -> Self {
        open.set(open.get() + 1);
        beyond.add_if(open.get() > MOST_CONNECTIONS);
        Self(open)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

async fn begin_for_ever(target: Target, open: Rc<Cell<usize>>) {
    let (tally, beyond) = (target.tallies.part("connections of one byte"), target.tallies.part(BEYOND));
    loop {
        if let Ok(mut stream) = dial(&target.address, HOSTILE).await
            && stream.write_all(b"P").await.is_ok()
        {
            tally.add();
            let _counted = Open::count(&open, &beyond);
            let _ = stream.read(&mut [0]).await;
        }
        tokio::task::yield_now().await;
    }
}

async fn answer_pings_for_ever(target: Target, open: Rc<Cell<usize>>) {
    let (tally, beyond) = (target.tallies.part("connections that answer pings"), target.tallies.part(BEYOND));
    loop {
        if let Ok(mut connection) = Connection::open(&target.address, HOSTILE).await {
            tally.add();
            let _counted = Open::count(&open, &beyond);
            let _ = connection.stay().await;
        }
        tokio::task::yield_now().await;
    }
}
