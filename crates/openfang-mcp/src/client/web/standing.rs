//! The stream on which a legacy server says what belongs to no request. Many servers have none, and nothing waits for
//! it. It holds the wire only while something is brought in, and ends with it.

use std::sync::Weak;

use http::{HeaderValue, StatusCode};
use openfang_egress::http::Events;
use openfang_egress::pace::SharedPace;
use openfang_types::limits::{MCP_RECONNECT, MCP_RECONNECT_MAX};
use tokio::task::yield_now;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::IN_A_ROW;
use super::answer::{self, Kind};
use super::streamable::Streamable;

/// Listens for as long as the wire lives and the server has such a stream.
pub(super) async fn listen(wire: Weak<Streamable>, listening: CancellationToken) {
    // Whoever waits is let go whatever comes of it.
    let mut listening = Some(listening.drop_guard());
    let mut seen = None;
    let mut pause = MCP_RECONNECT;
    loop {
        let parts = wire
            .upgrade()
            .map(|wire| (wire.site.clone(), wire.stream_request(seen.as_ref()), wire.pace.clone()));
        let Some((site, request, pace)) = parts else { return };
        let answer = site.send(request).await;
        drop(listening.take());
        match answer {
            Ok(response) if response.status.is_success() => {
                if Kind::of(&response.headers) != Kind::Events {
                    return;
                }
                let heard = hear(&wire, answer::events(response.body, &pace), (&mut seen, &pace)).await;
                pause = match heard {
                    Heard { retry: Some(retry), .. } => retry.clamp(MCP_RECONNECT, MCP_RECONNECT_MAX),
                    Heard { anything: true, .. } => MCP_RECONNECT,
                    Heard { anything: false, retry: None } => pause,
                };
            }
            Ok(response) if is_no_stream(response.status) => return,
            Ok(_) | Err(_) => {}
        }
        sleep(pause).await;
        pause = (pause * 2).min(MCP_RECONNECT_MAX);
    }
}

struct Heard {
    anything: bool,
    retry: Option<std::time::Duration>,
}

async fn hear(
    wire: &Weak<Streamable>,
    mut events: Events,
    (seen, pace): (&mut Option<HeaderValue>, &SharedPace),
) -> Heard {
    let mut count = 0_usize;
    while let Ok(Some(event)) = events.next().await {
        count = count.wrapping_add(1);
        if let Some(id) = answer::resumable(&event) {
            *seen = Some(id);
        }
        if event.name == "message" && !event.data.is_empty() {
            match wire.upgrade() {
                Some(wire) => wire.take(event.data.as_bytes(), None),
                None => break,
            }
        }
        answer::unasked(pace).await;
        if count.is_multiple_of(IN_A_ROW) {
            yield_now().await;
        }
    }
    Heard { anything: count > 0, retry: events.retry() }
}

/// It has no such stream, or not for us; asking again would not help.
fn is_no_stream(status: StatusCode) -> bool {
    status.is_client_error() && status != StatusCode::TOO_MANY_REQUESTS && status != StatusCode::REQUEST_TIMEOUT
}
