//! The table of models that the binary carries: windows and prices, taken from the table in the PyPI package `litellm`
//! (MIT licence). Run by hand; the result is committed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::process::{capture, program, root, succeed};
use crate::wants_help;

const HELP: &str = "\
Usage: cargo xtask models [WHEEL]

Writes crates/openfang-model/models.toml from the table of the Python package litellm.

Arguments:
  [WHEEL]  a downloaded wheel; without it, the newest one is downloaded
";

const TARGET: &str = "crates/openfang-model/models.toml";
const DOWNLOADS: &str = "target/litellm";
/// The providers that OpenFang knows by name. The names of their models begin with the provider's, or stand alone.
const PROVIDERS: [&str; 8] = ["anthropic", "openai", "gemini", "groq", "mistral", "deepseek", "xai", "openrouter"];
/// Prints the date of today, and the table in a wheel.
const UNPACK: &str = "\
import datetime, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
name = 'litellm/model_prices_and_context_window_backup.json'
print(datetime.date.today().isoformat())
print(wheel.read(name).decode())
";

/// A row of the table, as far as it is used.
#[derive(Deserialize)]
struct Row {
    #[serde(default)]
    litellm_provider: String,
    #[serde(default)]
    mode: String,
    max_input_tokens: Option<serde_json::Value>,
    max_output_tokens: Option<serde_json::Value>,
    input_cost_per_token: Option<f64>,
    output_cost_per_token: Option<f64>,
    cache_read_input_token_cost: Option<f64>,
    cache_creation_input_token_cost: Option<f64>,
}

pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    if wants_help(args) {
        print!("{HELP}");
        return Ok(ExitCode::SUCCESS);
    }
    let wheel = match args {
        [] => download()?,
        [wheel] => wheel.into(),
        _ => bail!("too many arguments: try `cargo xtask models --help`"),
    };
    let unpacked = capture(program("python3").args(["-c", UNPACK]).arg(&wheel))?;
    let (date, json) = unpacked.split_once('\n').context("the wheel has no table")?;
    let version = wheel.file_name().and_then(|name| name.to_str()).and_then(|name| name.split('-').nth(1));
    let version = version.context("the name of the wheel has no version")?;
    let rows: BTreeMap<String, serde_json::Value> = serde_json::from_str(json).context("the table is not JSON")?;
    let text = table(&rows, version, date.trim())?;
    fs::write(root().join(TARGET), &text)?;
    println!("{TARGET}: {} models of litellm {version}", text.lines().filter(|line| line.contains(" = {")).count());
    Ok(ExitCode::SUCCESS)
}

fn download() -> Result<std::path::PathBuf> {
    let place = root().join(DOWNLOADS);
    if place.exists() {
        fs::remove_dir_all(&place)?;
    }
    let mut pip = program("python3");
    succeed(
        pip.args(["-m", "pip", "download", "--no-deps", "--quiet", "--dest"])
            .arg(&place)
            .arg("litellm"),
    )?;
    let wheels = fs::read_dir(&place)?.flatten().map(|entry| entry.path());
    wheels
        .into_iter()
        .find(|path: &std::path::PathBuf| Path::new(path).extension().is_some_and(|kind| kind == "whl"))
        .context("pip downloaded no wheel")
}

/// The rows of chat models, as TOML.
fn table(rows: &BTreeMap<String, serde_json::Value>, version: &str, date: &str) -> Result<String> {
    let mut kept: BTreeMap<String, String> = BTreeMap::new();
    for (name, row) in rows {
        let Ok(row) = Row::deserialize(row) else { continue };
        if let Some((name, facts)) = line_of(name, &row) {
            kept.insert(name, facts);
        }
    }
    if kept.is_empty() {
        bail!("the table has no chat model of a known provider");
    }
    // A name with a date is found by the name without it.
    let is_needed = |name: &String, facts: &String| undated(name).is_none_or(|plain| kept.get(plain) != Some(facts));
    let lines = kept.iter().filter(|(name, facts)| is_needed(name, facts));
    let lines: Vec<String> = lines.map(|(name, facts)| format!("{name:?} = {facts}\n")).collect();
    Ok(format!(
        "# Windows in tokens, and prices in dollars for a million tokens, taken on {date}. The facts are those of litellm {version};\n\
         # `cargo xtask models` writes this file. Prices of very long requests, which some providers raise, are not in it.\n\n{}",
        lines.concat()
    ))
}

/// The name under which a model is looked up, and its facts.
fn line_of(name: &str, row: &Row) -> Option<(String, String)> {
    let provider = PROVIDERS.into_iter().find(|known| *known == row.litellm_provider)?;
    if !["chat", "responses"].contains(&row.mode.as_str()) || name.contains(':') && provider != "openrouter" {
        return None;
    }
    // Only a model of these is known by its name alone, whoever serves it.
    let name = match provider {
        "gemini" | "anthropic" | "openai" => name.strip_prefix(&format!("{provider}/")).unwrap_or(name).to_owned(),
        _ if name.starts_with(&format!("{provider}/")) => name.to_owned(),
        _ => format!("{provider}/{name}"),
    };
    let tokens = |value: &Option<serde_json::Value>| value.as_ref()?.as_f64().filter(|tokens| *tokens >= 1.0);
    let window = tokens(&row.max_input_tokens)?;
    let output = tokens(&row.max_output_tokens)?.min(window);
    let mut facts = format!("{{ window = {window}, max_output = {output}");
    if let Some(price) = price(row) {
        facts.push_str(&format!(", price = {{ {price} }}"));
    }
    facts.push_str(" }");
    Some((name, facts))
}

fn price(row: &Row) -> Option<String> {
    let (input, output) = (row.input_cost_per_token?, row.output_cost_per_token?);
    // Free is what nobody has looked up.
    if input <= 0.0 && output <= 0.0 {
        return None;
    }
    let members = [
        ("input", Some(input)),
        ("output", Some(output)),
        ("cached", row.cache_read_input_token_cost),
        ("cache_written", row.cache_creation_input_token_cost),
    ];
    let shown = members.into_iter().filter_map(|(name, each)| {
        let each = each.filter(|each| each.is_finite() && *each >= 0.0)?;
        // To the millionth of a dollar, without the noise of a product of floats.
        let million = (each * 1e12).round() / 1e6;
        Some(format!("{name} = {million}"))
    });
    Some(shown.collect::<Vec<_>>().join(", "))
}

/// A name without its date, if it ends with one as the lookup understands it.
fn undated(name: &str) -> Option<&str> {
    let (plain, date) = name.rsplit_once('-')?;
    (date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit())).then_some(plain)
}

#[cfg(test)]
#[path = "models_tests.rs"]
mod tests;
