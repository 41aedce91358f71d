//! Models and their usage: the names under which they are asked for.

use std::time::Duration;

use jiff::tz::TimeZone;
use openfang_model::Cost;
use openfang_store::{UsageKey, UsageQuery, UsageTotal};
use openfang_types::api::{ModelList, ModelTest, ModelView, UsageBy, UsageRow, UsageView};
use openfang_types::limits::USAGE_DAYS;
use openfang_types::principal::PrincipalKind;

use super::Kernel;
use crate::access::vault::Vault;
use crate::peers::models::Models;
use crate::{Caller, KernelError};

/// Which usage is wanted.
#[derive(Debug, Clone, Copy)]
pub struct UsageWanted {
    pub by: UsageBy,
    /// How many days back, today included.
    pub days: u32,
    /// Of all owners together; for the admin.
    pub is_of_all: bool,
}

impl Kernel {
    /// The providers of models, and whether their keys are there.
    pub async fn models(&self, caller: &Caller) -> Result<ModelList, KernelError> {
        may_look(caller)?;
        let stored = self.stored_secrets().await;
        Ok(self.parts.models.list(&self.settings(), &stored).await)
    }

    /// What is known about a model, given as PROVIDER/MODEL.
    pub async fn model(&self, caller: &Caller, reference: &str) -> Result<ModelView, KernelError> {
        may_look(caller)?;
        let stored = self.stored_secrets().await;
        Models::show(self.settings().config(), reference, &stored)
    }

    /// Asks a model for one short answer, which may cost money.
    pub async fn test_model(&self, caller: &Caller, reference: Option<&str>) -> Result<ModelTest, KernelError> {
        match caller.principal.standing() {
            PrincipalKind::Admin(_) => self.parts.models.test(reference).await,
            PrincipalKind::Local | PrincipalKind::User(_) => {
                Err(KernelError::NotPermitted("only the admin can test models, because that may cost money"))
            }
        }
    }

    /// What models were used for: by the caller, or by everybody for the admin.
    pub async fn usage(&self, caller: &Caller, wanted: UsageWanted) -> Result<UsageView, KernelError> {
        let is_admin = matches!(caller.principal.standing(), PrincipalKind::Admin(_));
        if wanted.is_of_all && !is_admin {
            return Err(KernelError::NotPermitted("only the admin can see the usage of everybody"));
        }
        let days = u64::from(wanted.days).clamp(1, USAGE_DAYS);
        let today = self.parts.clock.now().to_zoned(TimeZone::UTC);
        let today = today.start_of_day().map_or(self.parts.clock.now(), |start| start.timestamp());
        let query = UsageQuery {
            owner: (!wanted.is_of_all).then(|| caller.principal.owner().clone()),
            since: today - Duration::from_secs((days - 1) * 86_400),
            by: match wanted.by {
                UsageBy::Agent => UsageKey::Agent,
                UsageBy::Model => UsageKey::Model,
                UsageBy::Day => UsageKey::Day,
            },
        };
        let rows: Vec<UsageRow> = self.parts.stores.usage.totals(&query).await?.into_iter().map(row).collect();
        let mut total = UsageRow { key: "total".to_owned(), ..UsageRow::default() };
        for row in &rows {
            total.answers = total.answers.saturating_add(row.answers);
            total.questions = total.questions.saturating_add(row.questions);
            total.input_tokens = total.input_tokens.saturating_add(row.input_tokens);
            total.cached_tokens = total.cached_tokens.saturating_add(row.cached_tokens);
            total.output_tokens = total.output_tokens.saturating_add(row.output_tokens);
            total.cost_usd += row.cost_usd;
            total.reserved_usd += row.reserved_usd;
        }
        Ok(UsageView { rows, total })
    }

    /// The names of the stored secrets. If they cannot be read, none is known.
    async fn stored_secrets(&self) -> Vec<String> {
        let vault = self.parts.access.vault().clone();
        let read = tokio::task::spawn_blocking(move || Vault::list(&vault)).await;
        let views = read.ok().and_then(Result::ok).unwrap_or_default();
        views.into_iter().map(|view| view.name.to_string()).collect()
    }
}

fn row(total: UsageTotal) -> UsageRow {
    let dollars = |nano_dollars: u64| Cost { nano_dollars }.dollars();
    UsageRow {
        key: total.key,
        answers: total.taken.answers,
        questions: total.taken.questions,
        input_tokens: total.taken.input,
        cached_tokens: total.taken.cached,
        output_tokens: total.taken.output,
        cost_usd: dollars(total.taken.nano_dollars),
        reserved_usd: dollars(total.held.nano_dollars),
    }
}

fn may_look(caller: &Caller) -> Result<(), KernelError> {
    match caller.principal.standing() {
        PrincipalKind::Admin(_) | PrincipalKind::Local => Ok(()),
        PrincipalKind::User(_) => Err(KernelError::NotPermitted("only the admin can see how models are reached")),
    }
}
