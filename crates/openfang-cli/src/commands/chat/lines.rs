//! A chat without a terminal: each line of standard input is a message, and the answers are standard output. With `--json`
//! everything that happens is a line. Nobody can approve a call here, so calls that need it are denied.

use std::io::{self, BufRead as _, Read as _};

use openfang_types::api::DecisionKind;
use openfang_types::limits::{CHAT_QUESTIONS, Limits};
use openfang_types::task::{Part, TaskState};
use tokio::sync::mpsc::{Receiver, channel};

use super::conversation::Chat;
use super::display::Display;
use super::events::ChatEvent;
use super::turn::{TurnEnd, is_success};
use crate::args::ChatArgs;
use crate::error::{CliError, Exit};
use crate::signals::Signals;

const WHY_DENIED: &str = "nobody at a terminal can approve it; run `openfang chat` in a terminal to be asked";

pub(super) async fn run(chat: &mut Chat<'_>, args: &ChatArgs) -> Result<Exit, CliError> {
    let mut signals = Signals::listen().map_err(CliError::Runtime)?;
    let taken_up = chat.take_up(args, &mut signals).await?;
    let mut exit = match finish(chat, taken_up, &mut signals).await? {
        TurnExit::Left(exit) => return Ok(exit),
        TurnExit::To(_) => Exit::Ok,
    };
    let mut lines = read_lines()?;
    loop {
        let line = tokio::select! {
            line = lines.recv() => line,
            stop = signals.next() => return Ok(stop.exit()),
        };
        let Some(line) = line else { break };
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let end = chat.send(vec![Part::text(line)], &mut signals).await?;
        match finish(chat, end, &mut signals).await? {
            TurnExit::Left(left) => return Ok(left),
            TurnExit::To(Exit::Ok) => {}
            TurnExit::To(bad) => exit = bad,
        }
    }
    if chat.task.as_ref().is_some_and(|task| task.status.state.is_interrupted()) {
        let again = chat.session.command(&format!("chat {} --continue", chat.agent.agent.name));
        chat.session
            .output
            .complaint(&format!("the agent waits for an answer; `{again}` takes the conversation up again"));
        exit = Exit::Failed;
    }
    Ok(exit)
}

/// How a turn ended.
enum TurnExit {
    Left(Exit),
    To(Exit),
}

/// Denies calls that wait for a person, until the turn has ended.
async fn finish(chat: &mut Chat<'_>, mut end: TurnEnd, signals: &mut Signals) -> Result<TurnExit, CliError> {
    let mut exit = Exit::Ok;
    for _ in 0..CHAT_QUESTIONS {
        if let TurnEnd::Left(left) = end {
            return Ok(TurnExit::Left(left));
        }
        let Some(shown) = chat.pending().await?.into_iter().next() else { break };
        exit = Exit::Failed;
        let decision = ChatEvent::Decision {
            id: shown.id.to_string(),
            tool: shown.tool.to_string(),
            decision: "denied".to_owned(),
            why: WHY_DENIED.to_owned(),
        };
        let mut display = Display::new(&chat.session.output, None);
        display.show(&ChatEvent::Approval(Box::new(shown.clone())))?;
        display.show(&decision)?;
        end = chat.decide((&shown, DecisionKind::Deny), signals).await?;
    }
    let state = chat.task.as_ref().map(|task| task.status.state);
    // A question is answered by the next line.
    let is_good = state.is_none_or(|state| is_success(state) || state == TaskState::InputRequired);
    Ok(TurnExit::To(if is_good { exit } else { Exit::Failed }))
}

/// Reads lines on a thread of its own, which ends with the process. One line waits at a time.
fn read_lines() -> Result<Receiver<Result<String, CliError>>, CliError> {
    let (send, lines) = channel(1);
    let read = move || {
        let mut input = io::stdin().lock();
        loop {
            let line = next_line(&mut input);
            let is_last = !matches!(line, Ok(Some(_)));
            if let Some(line) = line.transpose()
                && send.blocking_send(line).is_err()
            {
                return;
            }
            if is_last {
                return;
            }
        }
    };
    std::thread::Builder::new()
        .name("lines".to_owned())
        .spawn(read)
        .map_err(CliError::Runtime)?;
    Ok(lines)
}

/// The next line, up to the size of a request. None at the end.
fn next_line(input: &mut impl io::BufRead) -> Result<Option<String>, CliError> {
    let limit = Limits::default().body_bytes;
    let mut bytes = Vec::new();
    input
        .by_ref()
        .take(limit as u64 + 1)
        .read_until(b'\n', &mut bytes)
        .map_err(CliError::Input)?;
    if bytes.len() > limit {
        return Err(CliError::Usage(format!("a line exceeds {limit} bytes; send less at a time")));
    }
    if bytes.is_empty() {
        return Ok(None);
    }
    let line = String::from_utf8(bytes).map_err(|_| CliError::Usage("standard input is not UTF-8".to_owned()))?;
    Ok(Some(line.trim_end_matches(['\n', '\r']).to_owned()))
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
