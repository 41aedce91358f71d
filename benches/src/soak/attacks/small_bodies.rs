//! Bodies that are too small to be counted individually, sent to a tool that answers late: each is held as long as its
//! call.

use std::rc::Rc;
use std::time::Duration;

use anyhow::Result;

use super::{Running, many};
use crate::soak::client::{Client, HOSTILE, Request};
use crate::soak::stage::Target;
use crate::soak::tally::Tally;

const CALLS: usize = 800;
/// Below the 64 KiB from which a body counts towards `inflight_bytes`.
const BODY_BYTES: usize = 63 * 1024;
/// A call without an answer after this time counts as held.
const HELD: Duration = Duration::from_millis(500);

pub(super) async fn prepare(target: Target) -> Result<Running> {
    let arrays = "[],".repeat(BODY_BYTES / 3 - 20);
    let body = Rc::new(format!(r#"{{"arguments":{{"a":[{arrays}[]]}}}}"#));
    let tally = target.tallies.part("small bodies that are held");
    Ok(Box::pin(many(CALLS, move |_| call_for_ever(target.clone(), Rc::clone(&body), tally.clone()))))
}

async fn call_for_ever(target: Target, body: Rc<String>, tally: Tally) {
    let request =
        Request { what: "POST /api/tools/mcp_late_wait", key: &target.key, headers: "", body: body.as_bytes() };
    loop {
        let mut client = Client::new(&target.address, HOSTILE);
        let call = client.exchange(&request);
        tokio::pin!(call);
        if tokio::time::timeout(HELD, &mut call).await.is_err() {
            tally.add();
            let _ = call.await;
        }
    }
}
