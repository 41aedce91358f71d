//! What a driver is asked to do: the command line that all drivers share, see `driver.py` beside the Python ones.
//! `--stdio CMD ARGS...` comes last. `--sse` is refused, since rmcp does not have the old transport.

use std::error::Error;

use serde_json::Value;

/// The job that the command line describes.
#[derive(Default)]
pub struct Job {
    pub http: Option<String>,
    pub server: Vec<String>,
    pub headers: Vec<(String, String)>,
    pub env: Vec<(String, String)>,
    pub era: Era,
    pub calls: Vec<(String, Value)>,
    pub prompts: Vec<(String, Value)>,
    pub reads: Vec<String>,
    pub elicit: Option<Value>,
    pub progress: bool,
    pub cancel_after_ms: Option<u64>,
}

/// How the protocol version is found.
#[derive(Default, Clone, Copy)]
pub enum Era {
    #[default]
    Auto,
    Legacy,
    Modern,
}

impl Job {
    /// Reads the command line.
    pub fn parse(words: impl IntoIterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let mut job = Self::default();
        let mut words = words.into_iter();
        while let Some(option) = words.next() {
            if option == "--stdio" {
                job.server = words.by_ref().collect();
                break;
            }
            if option == "--progress" {
                job.progress = true;
                continue;
            }
            let mut next = || words.next().ok_or_else(|| format!("{option} lacks a value"));
            match option.as_str() {
                "--http" => job.http = Some(next()?),
                "--header" => job.headers.push(pair(&next()?, ": ")?),
                "--env" => job.env.push(pair(&next()?, "=")?),
                "--era" => job.era = era(&next()?)?,
                "--call" => job.calls.push((next()?, serde_json::from_str(&next()?)?)),
                "--prompt" => job.prompts.push((next()?, serde_json::from_str(&next()?)?)),
                "--read" => job.reads.push(next()?),
                "--elicit" => job.elicit = Some(serde_json::from_str(&next()?)?),
                "--cancel-after" => job.cancel_after_ms = Some(next()?.parse()?),
                _ => return Err(format!("unknown option {option}").into()),
            }
        }
        if job.http.is_some() != job.server.is_empty() {
            return Err("exactly one of --http URL, --stdio CMD ARGS...".into());
        }
        Ok(job)
    }
}

fn pair(text: &str, separator: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once(separator).ok_or_else(|| format!("no `{separator}` in {text}"))?;
    Ok((key.to_owned(), value.to_owned()))
}

fn era(text: &str) -> Result<Era, String> {
    match text {
        "auto" => Ok(Era::Auto),
        "legacy" => Ok(Era::Legacy),
        "modern" => Ok(Era::Modern),
        _ => Err(format!("no era `{text}`: auto, legacy or modern")),
    }
}
