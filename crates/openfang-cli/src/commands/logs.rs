//! `openfang logs`: the log of the daemon, from its files.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use openfang_types::limits::AUDIT_FOLLOW;
use serde_json::Value;

use crate::args::LogsArgs;
use crate::error::{CliError, Exit};
use crate::log_file::numbered;
use crate::output::one_line;
use crate::session::Session;

/// The levels, worst first.
const LEVELS: [&str; 5] = ["ERROR", "WARN", "INFO", "DEBUG", "TRACE"];

pub(super) async fn run(session: &Session, args: &LogsArgs) -> Result<Exit, CliError> {
    let path = session.home.log();
    if !path.exists() {
        let why = format!(
            "there is no log file {}; a daemon writes one with `file = true` under [log] in config.toml, or when it runs as a service (`{}`)",
            path.display(),
            session.command("service install")
        );
        return Err(CliError::Usage(why));
    }
    let current = std::fs::read_to_string(&path)?;
    let mut lines: Vec<String> = Vec::new();
    if current.lines().count() < args.lines {
        let earlier = std::fs::read_to_string(numbered(&path, 1)).unwrap_or_default();
        lines.extend(earlier.lines().map(str::to_owned));
    }
    lines.extend(current.lines().map(str::to_owned));
    lines.retain(|line| is_wanted(line, args));
    lines.drain(..lines.len().saturating_sub(args.lines));
    print(session, &lines)?;
    if args.follow { follow(session, args, &path, current.len() as u64).await } else { Ok(Exit::Ok) }
}

/// Prints new lines until Ctrl-C. A file that is shorter than before is a new one.
async fn follow(session: &Session, args: &LogsArgs, path: &Path, mut read: u64) -> Result<Exit, CliError> {
    let mut rest = String::new();
    loop {
        tokio::time::sleep(AUDIT_FOLLOW).await;
        let Ok(mut file) = std::fs::File::open(path) else { continue };
        let length = file.metadata()?.len();
        if length < read {
            read = 0;
            rest.clear();
        }
        file.seek(SeekFrom::Start(read))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        read += bytes.len() as u64;
        rest.push_str(&String::from_utf8_lossy(&bytes));
        let Some(end) = rest.rfind('\n') else { continue };
        let complete: String = rest.drain(..=end).collect();
        let lines: Vec<String> = complete.lines().filter(|line| is_wanted(line, args)).map(str::to_owned).collect();
        print(session, &lines)?;
    }
}

fn print(session: &Session, lines: &[String]) -> Result<(), CliError> {
    for line in lines {
        match serde_json::from_str::<Value>(line) {
            Ok(value) if session.output.is_json() => session.output.json_line(&value)?,
            Ok(value) => session.output.text(&text_of(&value))?,
            Err(_) => session.output.text(&one_line(line))?,
        }
    }
    Ok(())
}

fn is_wanted(line: &str, args: &LogsArgs) -> bool {
    let Ok(value) = serde_json::from_str::<Value>(line) else { return args.level.is_none() };
    let rank = |word: &str| LEVELS.iter().position(|level| level.eq_ignore_ascii_case(word));
    let is_bad_enough = args
        .level
        .as_deref()
        .is_none_or(|level| value["level"].as_str().and_then(rank).unwrap_or(0) <= rank(level).unwrap_or(LEVELS.len()));
    let names = |wanted: &Option<String>, key: &str| {
        let places = [value["fields"].get(key), value["span"].get(key)];
        wanted
            .as_deref()
            .is_none_or(|wanted| places.iter().any(|held| held.and_then(Value::as_str) == Some(wanted)))
    };
    is_bad_enough && names(&args.trace, "trace") && names(&args.server, "server")
}

/// A line for people: time, level, message and the other fields.
fn text_of(value: &Value) -> String {
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let time: String = value["timestamp"].as_str().unwrap_or_default().chars().take(19).collect();
    let fields = value["fields"].as_object().into_iter().flatten().filter(|(name, _)| *name != "message");
    let fields: String = fields.map(|(name, value)| format!(" {name}={}", plain(value))).collect();
    let message = plain(&value["fields"]["message"]);
    one_line(&format!("{time}  {:<5}  {message}{fields}", value["level"].as_str().unwrap_or_default()))
}

#[cfg(test)]
#[path = "logs_tests.rs"]
mod tests;
