//! What must not travel: the values of configured secrets, text of a known secret's shape, and what config calls
//! personal. Finding is here; what follows from it is decided in `taint`.

use std::borrow::Cow;
use std::fmt::Display;

use openfang_types::capability::Glob;
use openfang_types::config::PiiConfig;
use openfang_types::redact::Redactor;
use openfang_types::secret::Secret;
use openfang_types::taint::{Label, Labels};
use regex::RegexSet;
use serde_json::Value;
use serde_json::value::RawValue;

/// Shapes of credentials that people paste. A shape is listed when a random text cannot have it.
const SECRET_SHAPES: [&str; 13] = [
    r"AKIA[0-9A-Z]{16}",
    r"gh[pousr]_[A-Za-z0-9]{36}",
    r"github_pat_[A-Za-z0-9_]{40}",
    r"glpat-[A-Za-z0-9_\-]{20}",
    r"xox[abprs]-[A-Za-z0-9\-]{20}",
    r"sk-ant-[A-Za-z0-9_\-]{20}",
    r"sk-(proj-)?[A-Za-z0-9]{32}",
    r"AIza[0-9A-Za-z_\-]{35}",
    r"[rs]k_live_[A-Za-z0-9]{20}",
    r"npm_[A-Za-z0-9]{36}",
    r"ofk_[0-9a-f]{12}_[A-Za-z0-9_\-]{43}",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
    r"eyJ[A-Za-z0-9_\-]{10,}\.eyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{20}",
];

/// What to look for.
pub struct Sensitive {
    configured: Redactor,
    shapes: RegexSet,
    pii: Option<RegexSet>,
    pii_tools: Vec<Glob>,
}

/// A pattern that cannot be compiled.
#[derive(Debug, thiserror::Error)]
#[error("the patterns of sensitive text cannot be compiled")]
pub struct SensitiveError(#[source] Box<dyn std::error::Error + Send + Sync>);

impl Sensitive {
    pub fn new<'a>(configured: impl IntoIterator<Item = &'a Secret>, pii: &PiiConfig) -> Result<Self, SensitiveError> {
        let configured = Redactor::new(configured.into_iter().map(Secret::expose)).map_err(wrong)?;
        let patterns = if pii.patterns.is_empty() { None } else { Some(RegexSet::new(&pii.patterns).map_err(wrong)?) };
        Ok(Self {
            configured,
            shapes: RegexSet::new(SECRET_SHAPES).map_err(wrong)?,
            pii: patterns,
            pii_tools: pii.tools.clone(),
        })
    }

    /// The same, and one more secret.
    pub fn with(&self, secret: &Secret) -> Result<Self, SensitiveError> {
        Ok(Self {
            configured: self.configured.with([secret.expose()]).map_err(wrong)?,
            shapes: self.shapes.clone(),
            pii: self.pii.clone(),
            pii_tools: self.pii_tools.clone(),
        })
    }

    /// Patterns of tools whose results are personal.
    pub(super) fn pii_tools(&self) -> &[Glob] {
        &self.pii_tools
    }

    /// Whether a look at a JSON text as it is written shows that nothing in it can be sensitive. Only without escapes
    /// are its texts what stands there; and what matches nowhere in the whole matches in none of them, since no shape
    /// says where a text begins or ends. The operator's own patterns may.
    pub(super) fn is_harmless_json(&self, json: &str) -> bool {
        self.pii.is_none() && !json.contains('\\') && !self.looks_secret(json)
    }

    /// Whether the value of a configured secret is somewhere in there.
    pub(super) fn holds_configured(&self, value: &Value) -> bool {
        any_text(value, &mut |text| self.configured.finds(text))
    }

    /// What the texts in there say about themselves.
    pub(super) fn labels_of(&self, value: &Value, source: impl Display + Copy) -> Labels {
        let mut labels = Labels::none();
        any_text(value, &mut |text| {
            labels.join(&self.labels_of_text(text, source));
            false
        });
        labels
    }

    /// What the texts of a JSON document say about themselves.
    pub(super) fn labels_of_json(&self, json: &RawValue, source: impl Display + Copy) -> Labels {
        if self.is_harmless_json(json.get()) {
            return Labels::none();
        }
        match serde_json::from_str::<Value>(json.get()) {
            Ok(value) => self.labels_of(&value, source),
            Err(_) => self.labels_of_text(json.get(), source),
        }
    }

    /// What a text says about itself.
    pub(super) fn labels_of_text(&self, text: &str, source: impl Display) -> Labels {
        let mut labels = Labels::none();
        if self.looks_secret(text) {
            labels.add(Label::Secret, format!("secret-looking text in {source}"));
        }
        if self.pii.as_ref().is_some_and(|patterns| patterns.is_match(text)) {
            labels.add(Label::Pii, format!("personal text in {source}"));
        }
        labels
    }

    /// Whether a text has the shape of a secret, or holds a configured one.
    pub fn looks_secret(&self, text: &str) -> bool {
        self.shapes.is_match(text) || self.configured.finds(text)
    }

    /// What takes the configured secrets out.
    pub const fn redactor(&self) -> &Redactor {
        &self.configured
    }

    /// The text with every configured secret taken out.
    pub fn redacted<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.configured.text(text)
    }
}

fn wrong(error: impl std::error::Error + Send + Sync + 'static) -> SensitiveError {
    SensitiveError(Box::new(error))
}

/// Whether any text in the value, member names included, passes the test.
fn any_text(value: &Value, test: &mut impl FnMut(&str) -> bool) -> bool {
    match value {
        Value::String(text) => test(text),
        Value::Array(items) => items.iter().any(|item| any_text(item, test)),
        Value::Object(members) => members.iter().any(|(key, member)| test(key) || any_text(member, test)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
