//! Tools that tell something on their way to the result, or change something others hear of.

use std::time::Duration;

use openfang_mcp::content::CallResult;
use openfang_mcp::host::{Call, HostFuture};
use openfang_mcp::meta::LogLevel;

use super::Fixture;

/// Between two messages, as the suite wants it: some clients lose one that arrives together with the result.
const GAP: Duration = Duration::from_millis(50);
const LOGGER: &str = "fixture";

pub(super) fn logs<'a>(_: &'a Fixture, call: Call<'a, ()>) -> HostFuture<'a, CallResult> {
    Box::pin(async move {
        for line in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
            call.reporter.log(LogLevel::Info, Some(LOGGER), &line);
            tokio::time::sleep(GAP).await;
        }
        Ok(CallResult::text("Three lines were logged."))
    })
}

pub(super) fn logs_once<'a>(_: &'a Fixture, call: Call<'a, ()>) -> HostFuture<'a, CallResult> {
    Box::pin(async move {
        call.reporter.log(LogLevel::Info, Some(LOGGER), &"a line for who asked for it");
        Ok(CallResult::text("One line was logged."))
    })
}

pub(super) fn progresses<'a>(_: &'a Fixture, call: Call<'a, ()>) -> HostFuture<'a, CallResult> {
    Box::pin(async move {
        for progress in [0.0, 50.0, 100.0] {
            call.reporter.progress(progress, Some(100.0), Some("on its way"));
            tokio::time::sleep(GAP).await;
        }
        Ok(CallResult::text("It is done."))
    })
}

pub(super) fn reconnects<'a>(_: &'a Fixture, call: Call<'a, ()>) -> HostFuture<'a, CallResult> {
    Box::pin(async move {
        call.reporter.end_connection();
        tokio::time::sleep(GAP).await;
        Ok(CallResult::text("Whoever reads this came back for it."))
    })
}

pub(super) fn changes_tools<'a>(fixture: &'a Fixture, _: Call<'a, ()>) -> HostFuture<'a, CallResult> {
    fixture.change_tools();
    changed("The list of tools changed.")
}

pub(super) fn changes_prompts<'a>(fixture: &'a Fixture, _: Call<'a, ()>) -> HostFuture<'a, CallResult> {
    fixture.change_prompts();
    changed("The list of prompts changed.")
}

pub(super) fn changes_watched<'a>(fixture: &'a Fixture, _: Call<'a, ()>) -> HostFuture<'a, CallResult> {
    fixture.change_watched();
    changed("The watched resource changed.")
}

fn changed(text: &str) -> HostFuture<'_, CallResult> {
    Box::pin(std::future::ready(Ok(CallResult::text(text))))
}
