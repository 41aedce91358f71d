//! The line editor, on a thread of its own: a signal must not wait for a line.
//!
//! Messages are edited with history and completion of commands. An answer to a question has an editor of its own, without
//! history, and nothing that was typed before the question counts as the answer.

use std::io::{self, BufRead, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use openfang_types::limits::CHAT_HISTORY_LINES;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::{History as _, MemHistory};
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Context, Editor, Helper};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::history::ChatHistory;
use super::slash;
use crate::error::CliError;
use crate::output::{Output, SavedTerminal};
use crate::talk::fill_in;

/// What a person typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TypedLine {
    Line(String),
    /// The person pressed Ctrl-C.
    Interrupted,
    /// Ctrl-D, or the terminal is gone.
    End,
}

enum EditorRequest {
    Line(String, oneshot::Sender<io::Result<TypedLine>>),
    Choice(String, oneshot::Sender<io::Result<TypedLine>>),
    Form(String, Value, oneshot::Sender<io::Result<Value>>),
}

/// The way to the thread that reads lines. The thread ends with the process.
pub(super) struct LineEditor {
    requests: SyncSender<EditorRequest>,
}

impl LineEditor {
    pub(super) fn start(output: &Output, history: Option<ChatHistory>) -> Result<Self, CliError> {
        // One request waits while a question that was given up is still being read.
        let (requests, received) = sync_channel(1);
        let output = output.clone();
        let edit = move || serve(&received, &output, history.as_ref());
        std::thread::Builder::new()
            .name("editor".to_owned())
            .spawn(edit)
            .map_err(CliError::Runtime)?;
        Ok(Self { requests })
    }

    /// Reads a message, with its history and its completions.
    pub(super) async fn line(&self, prompt: String) -> Result<TypedLine, CliError> {
        self.asked(|reply| EditorRequest::Line(prompt, reply)).await
    }

    /// Reads an answer to a question, which is in no history.
    pub(super) async fn choice(&self, prompt: String) -> Result<TypedLine, CliError> {
        self.asked(|reply| EditorRequest::Choice(prompt, reply)).await
    }

    /// Fills in the form of a tool. Ctrl-C cancels it.
    pub(super) async fn form(&self, intro: String, params: Value) -> Result<Value, CliError> {
        self.asked(|reply| EditorRequest::Form(intro, params, reply)).await
    }

    async fn asked<T>(
        &self,
        request: impl FnOnce(oneshot::Sender<io::Result<T>>) -> EditorRequest,
    ) -> Result<T, CliError> {
        let (reply, replied) = oneshot::channel();
        let gone = || CliError::Input(io::Error::other("the terminal cannot be read"));
        self.requests.try_send(request(reply)).map_err(|_| gone())?;
        replied.await.map_err(|_| gone())?.map_err(CliError::Input)
    }
}

fn serve(requests: &Receiver<EditorRequest>, output: &Output, history: Option<&ChatHistory>) {
    let mut messages = editor_of_messages(history);
    // Whoever asked may have left for a signal.
    while let Ok(request) = requests.recv() {
        match request {
            EditorRequest::Line(prompt, reply) => {
                let typed = match &mut messages {
                    Ok(editor) => message(editor, &prompt, history),
                    Err(error) => Err(io::Error::other(error.to_string())),
                };
                drop(reply.send(typed));
            }
            EditorRequest::Choice(prompt, reply) => drop(reply.send(fresh(&prompt))),
            EditorRequest::Form(intro, params, reply) => drop(reply.send(form(output, &intro, &params))),
        }
    }
}

fn editor_of_messages(history: Option<&ChatHistory>) -> rustyline::Result<Editor<CommandHelper, MemHistory>> {
    let config = config(CHAT_HISTORY_LINES)?;
    let mut lines = MemHistory::with_config(&config);
    for line in history.map(ChatHistory::load).unwrap_or_default() {
        lines.add(&line)?;
    }
    let mut editor = Editor::with_history(config, lines)?;
    editor.set_helper(Some(CommandHelper));
    Ok(editor)
}

fn config(lines: usize) -> rustyline::Result<Config> {
    let config = Config::builder()
        .max_history_size(lines)?
        .history_ignore_space(true)
        .history_ignore_dups(true)?;
    Ok(config.bracketed_paste(true).build())
}

fn message(
    editor: &mut Editor<CommandHelper, MemHistory>,
    prompt: &str,
    history: Option<&ChatHistory>,
) -> io::Result<TypedLine> {
    let typed = typed(editor.readline(prompt))?;
    Ok(match typed {
        TypedLine::Line(line) => {
            let added = editor.add_history_entry(line.as_str()).unwrap_or_default();
            if let Some(history) = history.filter(|_| added && !line.trim().is_empty()) {
                history.add(&line);
            }
            TypedLine::Line(line.replace("\\\n", "\n"))
        }
        other => other,
    })
}

/// Reads a line with an editor that knows nothing of what was typed before.
fn fresh(prompt: &str) -> io::Result<TypedLine> {
    SavedTerminal::discard_typed();
    let config = config(1).map_err(io::Error::other)?;
    let mut editor: Editor<(), MemHistory> =
        Editor::with_history(config.clone(), MemHistory::with_config(&config)).map_err(io::Error::other)?;
    typed(editor.readline(prompt))
}

fn typed(read: rustyline::Result<String>) -> io::Result<TypedLine> {
    match read {
        Ok(line) => Ok(TypedLine::Line(line)),
        Err(ReadlineError::Interrupted) => Ok(TypedLine::Interrupted),
        Err(ReadlineError::Eof) => Ok(TypedLine::End),
        Err(ReadlineError::Io(error)) => Err(error),
        Err(error) => Err(io::Error::other(error.to_string())),
    }
}

fn form(output: &Output, intro: &str, params: &Value) -> io::Result<Value> {
    let prompt = std::cell::RefCell::new(String::new());
    let mut fields = FieldReader { prompt: &prompt, line: Vec::new(), at: 0, is_interrupted: false };
    let show = |text: &str| {
        // The last line is the prompt of the editor.
        let whole = format!("{}{text}", prompt.take());
        let (before, last) = whole.rsplit_once('\n').map_or(("", whole.as_str()), |(before, last)| (before, last));
        if !before.is_empty() {
            output.question(&format!("{before}\n"));
        }
        prompt.replace(crate::output::one_line(last));
    };
    let answer = fill_in(&mut fields, &show, intro, params)?;
    Ok(if fields.is_interrupted { json!({ "action": "cancel" }) } else { answer })
}

/// The lines of a form. Ctrl-C and Ctrl-D end them.
struct FieldReader<'a> {
    prompt: &'a std::cell::RefCell<String>,
    line: Vec<u8>,
    at: usize,
    is_interrupted: bool,
}

impl Read for FieldReader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut from = self.fill_buf()?;
        let read = from.read(into)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for FieldReader<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at >= self.line.len() && !self.is_interrupted {
            self.at = 0;
            let typed = fresh(&self.prompt.take())?;
            self.is_interrupted = !matches!(typed, TypedLine::Line(_));
            self.line = match typed {
                TypedLine::Line(line) => format!("{line}\n").into_bytes(),
                TypedLine::Interrupted | TypedLine::End => Vec::new(),
            };
        }
        Ok(&self.line[self.at..])
    }

    fn consume(&mut self, read: usize) {
        self.at += read;
    }
}

/// Completes commands, and goes on with a line that ends with a backslash.
struct CommandHelper;

impl Completer for CommandHelper {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let typed = line.get(..at).unwrap_or_default();
        Ok((0, slash::beginning_with(typed)))
    }
}

impl Validator for CommandHelper {
    fn validate(&self, typed: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let goes_on = typed.input().ends_with('\\');
        Ok(if goes_on { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Hinter for CommandHelper {
    type Hint = String;
}

impl Highlighter for CommandHelper {}
impl Helper for CommandHelper {}
