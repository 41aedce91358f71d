//! Questions to the person at the terminal. Without a terminal nothing is asked, and the answer is no.

use std::io::{self, BufRead as _, IsTerminal as _};

use crate::error::CliError;
use crate::output::{Output, SavedTerminal};

/// Whether somebody can be asked.
pub(crate) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// The answer to a question without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Otherwise {
    Yes,
    No,
}

/// Asks a question that is answered by yes or no.
pub(crate) fn confirm(output: &Output, question: &str, otherwise: Otherwise) -> Result<bool, CliError> {
    if !can_ask() {
        return Ok(false);
    }
    let choices = match otherwise {
        Otherwise::Yes => "[Y/n]",
        Otherwise::No => "[y/N]",
    };
    output.question(&format!("{question} {choices} "));
    Ok(match line()?.to_ascii_lowercase().as_str() {
        "" => otherwise == Otherwise::Yes,
        answer => matches!(answer, "y" | "yes"),
    })
}

/// Asks which of the items are meant. An empty answer means the preselected ones.
pub(crate) fn choose(
    output: &Output,
    question: &str,
    items: &[String],
    preselected: &[usize],
) -> Result<Vec<usize>, CliError> {
    for (index, item) in items.iter().enumerate() {
        let mark = if preselected.contains(&index) { "*" } else { " " };
        output.question(&format!("{mark}{:>3}  {item}\n", index + 1));
    }
    loop {
        output.question(&format!("{question} (numbers, `all` or `none`; Enter for those with *): "));
        let answer = line()?;
        match chosen(&answer, items.len(), preselected) {
            Some(chosen) => return Ok(chosen),
            None => output.question(&format!("type numbers from 1 to {}, such as `1`; `all` or `none`\n", items.len())),
        }
    }
}

fn chosen(answer: &str, count: usize, preselected: &[usize]) -> Option<Vec<usize>> {
    match answer {
        "" | "y" | "yes" => return Some(preselected.to_vec()),
        "all" => return Some((0..count).collect()),
        "none" | "n" | "no" => return Some(Vec::new()),
        _ => {}
    }
    let words = answer.split([' ', ',']).filter(|word| !word.is_empty());
    let index = |word: &str| word.parse::<usize>().ok().filter(|number| (1..=count).contains(number));
    let mut chosen = words.map(|word| index(word).map(|number| number - 1)).collect::<Option<Vec<usize>>>()?;
    chosen.sort_unstable();
    chosen.dedup();
    Some(chosen)
}

/// Asks for a text.
pub(crate) fn text(output: &Output, question: &str) -> Result<String, CliError> {
    output.question(question);
    line()
}

/// Asks for a text that is not shown while it is typed.
pub(crate) fn secret(output: &Output, question: &str) -> Result<String, CliError> {
    // Before the question: whoever answers at once is not shown either.
    let hidden = SavedTerminal::without_echo();
    output.question(question);
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer).map_err(CliError::Input);
    drop(hidden);
    output.question("\n");
    read?;
    Ok(answer.trim_end_matches(['\n', '\r']).to_owned())
}

/// The next line of standard input. Its end counts as "none of it".
fn line() -> Result<String, CliError> {
    let mut answer = String::new();
    if io::stdin().lock().read_line(&mut answer).map_err(CliError::Input)? == 0 {
        return Ok("none".to_owned());
    }
    Ok(answer.trim().to_owned())
}

#[cfg(test)]
#[path = "prompt_tests.rs"]
mod tests;
