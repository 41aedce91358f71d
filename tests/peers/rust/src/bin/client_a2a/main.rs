//! The official Rust client as an A2A client. The command line, the environment, the job and the lines are those of
//! `tests/peers/python/a2a_driver.py`. It checks no signatures and finds no credentials in cards.

mod job;
mod normal;
mod wire;

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use job::{Job, ORDER};
use serde_json::{Value, json};

/// Long enough for a loaded machine; nothing waits for it when things go well.
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (base, binding, wanted) = match arguments.as_slice() {
        [base, binding] => (base, binding, None),
        [base, binding, wanted] => (base, binding, Some(wanted.split(',').collect::<Vec<_>>())),
        _ => return Err("client_a2a BASE_URL (JSONRPC | HTTP+JSON) [OPERATION,...]".into()),
    };
    let key = std::env::var("A2A_KEY").ok();
    let able: Vec<&str> = ORDER.iter().copied().filter(|name| key.is_some() || *name != "no_key").collect();
    let mut job = Job::connect(base, binding, key).await?;
    say("client", Ok(json!({"sdk": "a2a-client-lf 0.2", "binding": binding, "ops": able})));
    for name in wanted.unwrap_or(able) {
        let done = tokio::time::timeout(PATIENCE, job.operation(name)).await;
        say(name, done.unwrap_or_else(|_| Err(json!({"name": "timeout", "message": "no answer"}))));
    }
    Ok(())
}

fn say(name: &str, done: Result<Value, Value>) {
    let mut line = json!({"op": name, "ok": done.is_ok()});
    match done {
        Ok(Value::Object(facts)) => line.as_object_mut().into_iter().for_each(|line| line.extend(facts.clone())),
        Ok(other) => line["answer"] = other,
        Err(error) => line["error"] = error,
    }
    println!("{line}");
}
