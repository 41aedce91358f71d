//! `shell_exec` with real programs: what runs, what is refused, and that nothing is left.

mod doors;
mod endings;
mod rules;
mod taint;
mod walls;

use std::path::PathBuf;

use openfang_kernel::{Kernel, KernelError};
use openfang_testkit::{TestHome, callers};
use openfang_types::config::{Config, ExecConfig};
use openfang_types::content::ToolOutput;
use serde_json::{Value, json};

use crate::support::call;

/// A home with a kernel that starts programs.
pub(super) struct Shell {
    pub(super) kernel: Kernel,
    pub(super) home: TestHome,
}

/// The binary that children go through.
pub(super) fn helper() -> PathBuf {
    crate::children::fixture::helper()
}

/// `[exec]` as it is written.
pub(super) fn exec(text: &str) -> ExecConfig {
    toml::from_str(text).unwrap()
}

impl Shell {
    pub(super) fn new() -> Self {
        Self::with(TestHome::new(), "")
    }

    pub(super) fn with(home: TestHome, rules: &str) -> Self {
        let config = Config { exec: exec(rules), ..Config::default() };
        let kernel = home.boot_with(config).helper(helper()).start().unwrap();
        Self { kernel, home }
    }

    /// The workspace of the operator's own calls.
    pub(super) fn workspace(&self) -> PathBuf {
        let path = self.home.path().join("workspaces/owners/admin");
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    /// What a call of the operator gives, who is at this machine.
    pub(super) async fn call(&self, arguments: Value) -> ToolOutput {
        self.try_call(arguments).await.unwrap()
    }

    pub(super) async fn try_call(&self, arguments: Value) -> Result<ToolOutput, KernelError> {
        call(&self.kernel, &callers::operator(&self.kernel), "shell_exec", arguments).await
    }

    /// The structured result of a command.
    pub(super) async fn run(&self, command: &str) -> Value {
        let output = self.call(json!({ "command": command })).await;
        structured(&output)
    }

    /// The structured result of Python code.
    pub(super) async fn python(&self, code: &str) -> Value {
        structured(&self.call(json!({ "command": "/usr/bin/python3 -B -c", "args": [code] })).await)
    }
}

/// The structured result.
pub(super) fn structured(output: &ToolOutput) -> Value {
    output.structured_value().unwrap_or_else(|| panic!("{}", output.joined_text()))
}
