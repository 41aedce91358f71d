//! Whoever sits at the terminal while a tool is called: hears progress and log lines on standard error, and is asked what the
//! tool asks. Where nobody sits, the call is refused with what was asked.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::sync::{Mutex, PoisonError};

use openfang_types::call::{CallListener, LogLevel, Question};
use openfang_types::ids::ToolName;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::oneshot;

use crate::error::CliError;
use crate::output::{Output, one_line};

pub(crate) use form::fill_in;

mod form;

/// The one who called.
pub(crate) struct Talk {
    output: Output,
    /// Whether a line of progress stands on the terminal, to be written anew.
    has_line: Mutex<bool>,
}

impl Talk {
    pub(crate) fn new(output: &Output) -> Self {
        Self { output: output.clone(), has_line: Mutex::new(false) }
    }

    /// Whether a line of progress stands on the terminal.
    pub(crate) fn has_progress(&self) -> bool {
        *self.has_line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the line of progress away.
    pub(crate) fn end(&self) {
        let mut has_line = self.has_line.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::take(&mut *has_line) {
            self.output.rewrite("");
        }
    }

    /// Asks the person at the terminal; without one, says what was asked and what to do.
    pub(crate) async fn ask(
        &self,
        name: &ToolName,
        questions: &BTreeMap<String, Question>,
    ) -> Result<BTreeMap<String, Box<RawValue>>, CliError> {
        self.end();
        let forms: Vec<(String, Value)> = questions
            .iter()
            .map(|(key, question)| (key.clone(), serde_json::from_str(question.params.get()).unwrap_or_default()))
            .collect();
        if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
            let asked: Vec<String> = forms.iter().map(|(_, params)| form::in_a_line(params)).collect();
            return Err(CliError::NobodyAtTheTerminal { tool: name.clone(), asked: asked.join("; ") });
        }
        let mut answers = BTreeMap::new();
        for (key, params) in forms {
            let answer = self.asked(format!("{name} asks: "), params).await?;
            answers.insert(key, to_raw_value(&answer).map_err(std::io::Error::from)?);
        }
        Ok(answers)
    }

    /// Reads on a thread of its own: a signal must not wait for a line.
    async fn asked(&self, intro: String, params: Value) -> Result<Value, CliError> {
        let (tell, told) = oneshot::channel();
        let output = self.output.clone();
        std::thread::Builder::new()
            .name("question".to_owned())
            .spawn(move || {
                let mut input = std::io::stdin().lock();
                // Nobody waits for it after a signal.
                let _ = tell.send(form::fill_in(&mut input, &|text| output.question(text), &intro, &params));
            })
            .map_err(CliError::Runtime)?;
        match told.await {
            Ok(answer) => answer.map_err(CliError::Input),
            Err(_) => Err(CliError::Answer { why: "the question was not answered".to_owned() }),
        }
    }
}

impl CallListener for Talk {
    fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        let far = match total {
            Some(total) => format!("{progress} of {total}"),
            None => progress.to_string(),
        };
        let text = message.map_or_else(|| far.clone(), |message| format!("{far}: {}", one_line(message)));
        if self.output.can_rewrite() {
            *self.has_line.lock().unwrap_or_else(PoisonError::into_inner) = true;
            self.output.rewrite(&text);
        } else {
            self.output.note(&text);
        }
    }

    fn log(&self, level: LogLevel, logger: Option<&str>, data: &RawValue) {
        self.end();
        let said = serde_json::from_str::<String>(data.get()).unwrap_or_else(|_| data.get().to_owned());
        let logger = logger.map(|logger| format!(" {}", one_line(logger))).unwrap_or_default();
        let level = to_raw_value(&level)
            .map(|word| word.get().trim_matches('"').to_owned())
            .unwrap_or_default();
        self.output.note(&format!("{level}{logger}: {}", one_line(&said)));
    }

    fn level(&self) -> Option<LogLevel> {
        self.output.remarks().then_some(LogLevel::Info)
    }
}
