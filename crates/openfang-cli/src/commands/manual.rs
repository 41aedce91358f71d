//! `openfang manual`: the manual pages, made from the same definitions as `--help`.

use std::fmt::Write as _;
use std::path::Path;

use clap::{Arg, Command, CommandFactory as _};
use openfang_kernel::SystemClock;
use openfang_types::clock::Clock as _;
use serde_json::json;

use crate::args::Args;
use crate::error::{CliError, Exit};
use crate::session::Session;

pub(super) fn run(session: &Session, directory: &Path) -> Result<Exit, CliError> {
    std::fs::create_dir_all(directory)?;
    let mut pages = Vec::new();
    let mut command = Args::command();
    command.build();
    let today = SystemClock.now().strftime("%Y-%m-%d").to_string();
    gather(&command, "openfang", &today, &mut pages);
    for (name, page) in &pages {
        std::fs::write(directory.join(format!("{name}.1")), page)?;
    }
    if session.output.is_json() {
        session.output.document(&json!({ "directory": directory, "pages": pages.len() }))?;
    } else {
        session.output.text(&format!("wrote {} pages to {}", pages.len(), directory.display()))?;
    }
    Ok(Exit::Ok)
}

/// The pages of a command and of those below it, by name: `openfang-mcp-add`.
fn gather(command: &Command, name: &str, date: &str, pages: &mut Vec<(String, String)>) {
    pages.push((name.to_owned(), page(command, name, date)));
    for below in visible(command) {
        gather(below, &format!("{name}-{}", below.get_name()), date, pages);
    }
}

fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command
        .get_subcommands()
        .filter(|below| below.get_name() != "help" && !below.is_hide_set())
}

fn page(command: &Command, name: &str, date: &str) -> String {
    let words = name.replace('-', " ");
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let long = command.get_long_about().map(ToString::to_string).unwrap_or_else(|| about.clone());
    let version = env!("CARGO_PKG_VERSION");
    let mut page = format!(
        ".TH \"{}\" \"1\" \"{date}\" \"openfang {version}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n\\fB{}\\fR",
        name.to_uppercase(),
        text(name),
        text(&about),
        text(&words)
    );
    let arguments: Vec<&Arg> = command.get_arguments().filter(|arg| !arg.is_hide_set()).collect();
    let (positional, options): (Vec<&Arg>, Vec<&Arg>) = arguments.into_iter().partition(|arg| arg.is_positional());
    page.push_str(" [\\fIoptions\\fR]");
    for arg in &positional {
        let _ = write!(page, " \\fI{}\\fR", text(&value_name(arg)));
    }
    if visible(command).next().is_some() {
        page.push_str(" \\fIcommand\\fR");
    }
    let _ = write!(page, "\n.SH DESCRIPTION\n{}\n", paragraphs(&long));
    section(
        &mut page,
        "COMMANDS",
        visible(command).map(|below| {
            let about = below.get_about().map(ToString::to_string).unwrap_or_default();
            (format!("\\fB{}\\fR", text(below.get_name())), about)
        }),
    );
    section(
        &mut page,
        "ARGUMENTS",
        positional.iter().map(|arg| (format!("\\fI{}\\fR", text(&value_name(arg))), help(arg))),
    );
    section(&mut page, "OPTIONS", options.iter().map(|arg| (names(arg), help(arg))));
    if let Some(after) = command.get_after_help() {
        let _ = write!(page, ".SH EXAMPLES\n.nf\n{}\n.fi\n", lines(&after.to_string()));
    }
    page
}

/// A section with a tagged paragraph for each row, or nothing.
fn section(page: &mut String, heading: &str, rows: impl Iterator<Item = (String, String)>) {
    for (index, (tag, body)) in rows.enumerate() {
        if index == 0 {
            let _ = writeln!(page, ".SH {heading}");
        }
        let _ = writeln!(page, ".TP\n{tag}\n{}", paragraphs(&body));
    }
}

fn names(arg: &Arg) -> String {
    let short = arg.get_short().map(|short| format!("\\fB\\-{short}\\fR"));
    let long = arg.get_long().map(|long| format!("\\fB\\-\\-{}\\fR", text(long)));
    let mut names = short.into_iter().chain(long).collect::<Vec<_>>().join(", ");
    if arg.get_action().takes_values() {
        let _ = write!(names, " \\fI{}\\fR", text(&value_name(arg)));
    }
    names
}

fn value_name(arg: &Arg) -> String {
    let named = arg.get_value_names().map(|names| names.join(" "));
    named.unwrap_or_else(|| arg.get_id().as_str().to_uppercase())
}

fn help(arg: &Arg) -> String {
    arg.get_help().map(ToString::to_string).unwrap_or_default()
}

/// Paragraphs for the formatter; an empty line begins a new one.
fn paragraphs(body: &str) -> String {
    lines(body).split("\n\n").collect::<Vec<_>>().join("\n.PP\n")
}

/// Lines that the formatter does not take for requests.
fn lines(body: &str) -> String {
    let line = |line: &str| if line.starts_with(['.', '\'']) { format!("\\&{}", text(line)) } else { text(line) };
    body.trim_end().lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Escapes what the formatter would read as something else.
fn text(plain: &str) -> String {
    plain.replace('\\', "\\e").replace('-', "\\-")
}

#[cfg(test)]
#[path = "manual_tests.rs"]
mod tests;
