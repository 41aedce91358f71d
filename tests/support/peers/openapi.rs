//! A validator of OpenAPI documents that is not ours.

use std::fs::File;
use std::io::Write as _;

use serde_json::Value;

use super::process;

/// What the validator finds wrong with a document, a problem a line.
pub(crate) fn problems(document: &Value) -> String {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    write!(file, "{document}").unwrap();
    let mut command = process::python("python-openapi", "validate_openapi.py");
    command.stdin(File::open(file.path()).unwrap());
    let ran = process::run(command);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    ran.stdout
}
