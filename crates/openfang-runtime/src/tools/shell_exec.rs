//! `shell_exec`: runs one program in the workspace, in a sandbox. There is no shell.
//!
//! The command is looked at twice: when the pipeline asks what the rules say, and when it runs. A person may have decided in
//! between, so the second look must find what the first one found.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use openfang_egress::process::{CollectedRun, Ending, Network, OutputEnds, OutputLimits, RunEnd};
use openfang_types::call::{Arguments, Outcome};
use openfang_types::content::ToolOutput;
use openfang_types::limits::EXEC_TIMEOUT_MAX_SECS;
use openfang_types::taint::{Label, Labels, SinkKind};
use openfang_types::tool::{ToolAnnotations, ToolDefinition};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Review, Tool, ToolFailure, ToolFuture, name, parse};
use crate::call_room::CallRoom;
use crate::context::CallContext;
use crate::exec::{ExecRequest, Plan, Rules};
use crate::files::Files;
use crate::pipeline::Permit;
use crate::programs::Programs;
use crate::sandboxed_run::{RunWalls, SandboxedRun};
use crate::workspaces::ProgramPlace;

pub(super) struct ShellExec {
    pub(super) programs: Arc<dyn Programs>,
    pub(super) calls: CallRoom,
    pub(super) files: Files,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The program and its arguments, quoted as for a shell. There is no shell: no pipes, redirects, variables or `&&`.
    command: String,
    /// Seconds that it may run.
    #[schemars(range(min = 1, max = 600))]
    timeout_seconds: Option<u64>,
    /// Further arguments, passed as they are.
    #[serde(default)]
    args: Vec<String>,
    /// The directory to run in, relative to the workspace.
    cwd: Option<String>,
}

/// How a program ended, and what it wrote.
#[derive(Serialize, JsonSchema)]
struct ExecReport {
    /// The file that ran.
    program: String,
    /// The exit code; absent if a signal ended the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// The signal that ended the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    /// Whether it was ended because its time was over.
    timed_out: bool,
    duration_ms: u64,
    stdout: String,
    stderr: String,
    /// The bytes that it wrote, also those that are left out.
    stdout_bytes: u64,
    stderr_bytes: u64,
}

impl Tool for ShellExec {
    fn definition(&self) -> ToolDefinition {
        let says = "Runs one program in the workspace, in a sandbox without network, and returns its exit code and output. \
                    There is no shell: one program with its arguments. Programs that the operator did not allow wait for an \
                    approval.";
        ToolDefinition::of::<Args>(name("shell_exec"), says, SinkKind::Executes, ToolAnnotations::ANYTHING)
            .returning::<ExecReport>()
            .running_a_program()
    }

    fn review<'a>(
        &'a self,
        cx: &'a CallContext,
        arguments: &'a Value,
    ) -> Option<BoxFuture<'a, Result<Review, ToolFailure>>> {
        Some(Box::pin(async move {
            let args: Args = serde_json::from_value(arguments.clone())?;
            let (plan, _) = self.plan(cx, args).await?;
            Ok(Review { ruling: plan.ruling, subject: plan.subject })
        }))
    }

    fn call<'a>(&'a self, cx: &'a CallContext, arguments: Arguments<'a>, permit: Permit) -> ToolFuture<'a> {
        Box::pin(async move {
            let args: Args = parse(arguments)?;
            let rules = rules(cx);
            let seconds = rules.seconds(args.timeout_seconds);
            if !(1..=EXEC_TIMEOUT_MAX_SECS).contains(&seconds) {
                let why = format!("timeout_seconds must be between 1 and {EXEC_TIMEOUT_MAX_SECS}");
                return Err(ToolFailure::new(why));
            }
            let (plan, place) = self.plan(cx, args).await?;
            if permit.subject() != Some(plan.subject.as_str()) {
                return Err(ToolFailure::new(
                    "the program changed while it was looked at, and did not run; call again",
                ));
            }
            let _running = self.calls.begin(cx.principal.owner())?;
            let door = self.programs.door().map_err(ToolFailure::new)?;
            let walls = match cx.config.exec.unsandboxed {
                true => RunWalls::Unsandboxed,
                false => RunWalls::Sandboxed {
                    read: place.read,
                    write: vec![place.root],
                    network: if rules.network() { Network::Allowed } else { Network::Denied },
                },
            };
            let Plan { program, arguments, environment, operator, .. } = plan;
            let shown = program.path().display().to_string();
            let before = self.files.begin_program(cx).await?;
            let run = SandboxedRun {
                program,
                arguments,
                environment,
                directory: place.directory,
                walls,
                limits: OutputLimits { bytes: rules.output_bytes() / 2, time: Duration::from_secs(seconds) },
            };
            let ran = run.run(&door).await?;
            let withheld = |error: ToolFailure| {
                ToolFailure::new(format!(
                    "the program ran, and its output is withheld, because its labels are unknown: {error}"
                ))
            };
            let read = self.files.end_program(cx, before).await.map_err(withheld)?;
            // A long output takes a few milliseconds.
            let report = move || output_of(shown, &ran, (operator, seconds));
            let output = tokio::task::spawn_blocking(report).await?;
            Ok(Outcome::Done(output.labelled(&labels(cx, &rules, read))))
        })
    }
}

impl ShellExec {
    async fn plan(&self, cx: &CallContext, args: Args) -> Result<(Plan, ProgramPlace), ToolFailure> {
        let place = self.files.program_place(cx, args.cwd.as_deref()).await?;
        let (config, agent) = (Arc::clone(&cx.config), cx.agent.clone());
        let planned = tokio::task::spawn_blocking(move || {
            let rules = Rules { config: &config.exec, agent: agent.as_ref().map(|agent| &agent.exec) };
            let request = ExecRequest { command: &args.command, arguments: &args.args };
            Plan::of(&request, &place, &rules).map(|plan| (plan, place))
        });
        planned.await?
    }
}

fn rules(cx: &CallContext) -> Rules<'_> {
    Rules { config: &cx.config.exec, agent: cx.agent.as_ref().map(|agent| &agent.exec) }
}

/// What the output of a program carries: whatever it could read.
fn labels(cx: &CallContext, rules: &Rules<'_>, read: Labels) -> Labels {
    let mut labels = Labels::one(Label::Workspace, "a program in the workspace").joined(&read);
    if rules.network() || cx.config.exec.unsandboxed {
        labels.add(Label::ExternalNetwork, "a program that can reach the network");
    }
    if !cx.config.pii.paths.is_empty() {
        labels.add(Label::Pii, "a program that can read what config calls personal");
    }
    labels
}

fn output_of(program: String, run: &CollectedRun, (operator, seconds): (Option<String>, u64)) -> ToolOutput {
    let CollectedRun { end, output, took, .. } = run;
    let (exit_code, signal) = match end {
        RunEnd::Exited(exit) => match exit.ending {
            Ending::Code(code) => (Some(code), None),
            Ending::Signal(signal) => (None, Some(signal)),
            Ending::Unknown => (None, None),
        },
        RunEnd::TimedOut => (None, None),
    };
    let report = ExecReport {
        program,
        exit_code,
        signal,
        timed_out: *end == RunEnd::TimedOut,
        duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        stdout: output.stdout.text(),
        stderr: output.stderr.text(),
        stdout_bytes: output.stdout.written(),
        stderr_bytes: output.stderr.written(),
    };
    let mut text = report.stdout.clone();
    for (heading, ends, said) in [("stderr", &output.stderr, &report.stderr)] {
        if ends.written() > 0 {
            begin_line(&mut text);
            let _ = writeln!(text, "[{heading}]");
            text.push_str(said);
        }
    }
    begin_line(&mut text);
    text.push_str(&ending_line(&report, seconds));
    if let Some(operator) = operator {
        let _ = write!(text, "\n[there is no shell: {operator:?} was passed to the program as an argument]");
    }
    if is_cut(&output.stdout) || is_cut(&output.stderr) {
        text.push_str("\n[of a long output only the beginning and the end are kept; let the program write a file to read it in parts]");
    }
    let mut result = ToolOutput::text(text).with_structured(&report);
    result.is_error = report.exit_code != Some(0);
    result
}

fn is_cut(ends: &OutputEnds) -> bool {
    ends.left_out() > 0
}

fn begin_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

fn ending_line(report: &ExecReport, seconds: u64) -> String {
    let took = Duration::from_millis(report.duration_ms).as_secs_f32();
    match (report.timed_out, report.exit_code, report.signal) {
        (true, _, _) => {
            format!(
                "[ended after {seconds} s, with everything that it started: its time was over; timeout_seconds gives it more]"
            )
        }
        (false, Some(code), _) => format!("[exit code {code} after {took:.2} s]"),
        (false, None, Some(signal)) => format!("[ended by signal {signal} after {took:.2} s]"),
        (false, None, None) => format!("[ended after {took:.2} s; nobody knows how]"),
    }
}

#[cfg(test)]
#[path = "shell_exec_tests.rs"]
mod tests;
