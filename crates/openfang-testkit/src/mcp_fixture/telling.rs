//! Tools that send notifications before their result, or change something that others are notified of.

use std::time::Duration;

use openfang_mcp::host::{Call, HostFuture};
use openfang_mcp::meta::LogLevel;
use openfang_types::content::ToolOutput;

use super::Fixture;

/// The delay between two messages, as the suite expects it: some clients lose a message that arrives together with the
/// result.
const GAP: Duration = Duration::from_millis(50);
const LOGGER: &str = "fixture";

pub(super) fn logs<'a>(_: &'a Fixture, call: Call<'a, ()>) -> HostFuture<'a, ToolOutput> {
    Box::pin(async move {
        for line in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
            call.reporter.log(LogLevel::Info, Some(LOGGER), &line);
            tokio::time::sleep(GAP).await;
        }
        Ok(ToolOutput::text("Three lines were logged."))
    })
}

pub(super) fn logs_once<'a>(_: &'a Fixture, call: Call<'a, ()>) -> HostFuture<'a, ToolOutput> {
    Box::pin(async move {
        call.reporter.log(LogLevel::Info, Some(LOGGER), &"a line for who asked for it");
        Ok(ToolOutput::text("One line was logged."))
    })
}

pub(super) fn progresses<'a>(_: &'a Fixture, call: Call<'a, ()>) -> HostFuture<'a, ToolOutput> {
    Box::pin(async move {
        for progress in [0.0, 50.0, 100.0] {
            call.reporter.progress(progress, Some(100.0), Some("on its way"));
            tokio::time::sleep(GAP).await;
        }
        Ok(ToolOutput::text("It is done."))
    })
}

pub(super) fn reconnects<'a>(_: &'a Fixture, call: Call<'a, ()>) -> HostFuture<'a, ToolOutput> {
    Box::pin(async move {
        call.reporter.end_connection();
        tokio::time::sleep(GAP).await;
        Ok(ToolOutput::text("Whoever reads this came back for it."))
    })
}

pub(super) fn changes_tools<'a>(fixture: &'a Fixture, _: Call<'a, ()>) -> HostFuture<'a, ToolOutput> {
    fixture.change_tools();
    changed("The list of tools changed.")
}

pub(super) fn changes_prompts<'a>(fixture: &'a Fixture, _: Call<'a, ()>) -> HostFuture<'a, ToolOutput> {
    fixture.change_prompts();
    changed("The list of prompts changed.")
}

pub(super) fn changes_watched<'a>(fixture: &'a Fixture, _: Call<'a, ()>) -> HostFuture<'a, ToolOutput> {
    fixture.change_watched();
    changed("The watched resource changed.")
}

fn changed(text: &str) -> HostFuture<'_, ToolOutput> {
    Box::pin(std::future::ready(Ok(ToolOutput::text(text))))
}
