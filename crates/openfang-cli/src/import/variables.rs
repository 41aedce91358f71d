//! Translates `${...}` of other programs. Here `${NAME}` is always an environment variable.

use std::path::Path;

/// Rewrites the texts of one server and collects remarks about the changes.
pub(super) struct Variables<'a> {
    home: Option<&'a Path>,
    project: Option<&'a Path>,
    remarks: Vec<String>,
}

impl<'a> Variables<'a> {
    pub(super) const fn new(home: Option<&'a Path>, project: Option<&'a Path>) -> Self {
        Self { home, project, remarks: Vec::new() }
    }

    pub(super) fn into_remarks(self) -> Vec<String> {
        self.remarks
    }

    pub(super) fn remark(&mut self, remark: String) {
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }

    /// The text with environment variables only, or the reason why it has no equivalent.
    pub(super) fn rewrite(&mut self, text: &str) -> Result<String, String> {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            let Some(end) = rest[at..].find('}') else { break };
            out.push_str(&rest[..at]);
            out.push_str(&self.meaning(&rest[at + 2..at + end])?);
            rest = &rest[at + end + 1..];
        }
        out.push_str(rest);
        Ok(out)
    }

    fn meaning(&mut self, name: &str) -> Result<String, String> {
        if let Some(variable) = name.strip_prefix("env:") {
            self.remark(format!("${{env:{variable}}} became ${{{variable}}}"));
            return Ok(format!("${{{variable}}}"));
        }
        if let Some(id) = name.strip_prefix("input:") {
            let variable = variable_of(id);
            self.remark(format!("${{input:{id}}} became ${{{variable}}}: set that variable where openfang runs"));
            return Ok(format!("${{{variable}}}"));
        }
        if let Some((variable, _default)) = name.split_once(":-") {
            self.remark(format!(
                "the default of ${{{variable}}} is not imported: set that variable where openfang runs"
            ));
            return Ok(format!("${{{variable}}}"));
        }
        let nowhere = || Err(format!("${{{name}}} has no meaning outside of a project"));
        match name {
            "userHome" => self.home.map_or_else(nowhere, shown),
            "workspaceFolder" | "workspaceRoot" => self.project.map_or_else(nowhere, shown),
            "workspaceFolderBasename" => {
                self.project.and_then(Path::file_name).map_or_else(nowhere, |name| shown(Path::new(name)))
            }
            "pathSeparator" | "/" => Ok(std::path::MAIN_SEPARATOR.to_string()),
            name if name.contains(':') => Err(format!("${{{name}}} has no meaning here")),
            name => Ok(format!("${{{name}}}")),
        }
    }
}

fn shown(path: &Path) -> Result<String, String> {
    path.to_str().map(str::to_owned).ok_or_else(|| "its path is not text".to_owned())
}

/// The variable name for an input: `github-token` becomes `GITHUB_TOKEN`.
fn variable_of(id: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let name: String = id.chars().map(plain).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name }
}
