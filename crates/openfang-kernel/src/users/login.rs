//! Logging in with a password, and out again. Whoever is refused is not told whether the name or the password was wrong,
//! neither by words nor by time.

use openfang_store::{AuditOutcome, AuditRow, Login, SecretDigest, StoreError};
use openfang_types::ids::{LoginId, Owner, ToolName, TraceId};
use openfang_types::limits::LOGIN_LASTS;
use openfang_types::principal::{Credential, Door};
use openfang_types::secret::Secret;
use tokio::time::Instant;

use super::{UserError, random_text};
use crate::{Caller, Kernel, KernelError};

/// A user who is in.
#[derive(Debug, Clone)]
pub struct LoggedIn {
    /// Who.
    pub user: Owner,
    /// What their cookie holds.
    pub cookie: Secret,
}

impl Kernel {
    /// Lets a user in who knows their password.
    pub async fn log_in(&self, trace: TraceId, name: &str, password: Secret) -> Result<LoggedIn, KernelError> {
        let begun = Instant::now();
        let name: Option<Owner> = name.parse().ok();
        // Somebody's name is asked for even if there is none: no request is faster than another.
        let asked = name.clone().unwrap_or_else(Owner::nobody);
        let user = match self.inner.stores.users.user(&asked).await {
            Err(StoreError::NotFound) => None,
            user => Some(user?),
        };
        let hash = user.as_ref().and_then(|user| user.password_hash.clone());
        let is_right = self.inner.passwords.is_right(&self.inner.tracker, password, hash).await;
        let outcome = match (&user, is_right) {
            (Some(user), Ok(true)) => self.new_login(&user.name).await,
            (_, Ok(_)) => Err(UserError::WrongLogin.into()),
            (_, Err(busy)) => Err(busy.into()),
        };
        // A name that is nobody's is not written down: it may be a password that went into the wrong field.
        let who = user.map_or_else(Owner::nobody, |user| user.name);
        self.audit_login("login", trace, who, begun, outcome.as_ref().err());
        outcome
    }

    /// Ends the login that the caller came with; whoever came otherwise has none to end. Says whether there was one.
    pub async fn log_out(&self, caller: &Caller) -> Result<bool, KernelError> {
        let begun = Instant::now();
        let id = match caller.principal.credential() {
            Some(Credential::Login(id)) => *id,
            Some(Credential::Key(_)) | None => return Ok(false),
        };
        self.inner.stores.users.end_login(id).await?;
        self.refresh_accounts().await?;
        self.audit_login("logout", caller.trace, caller.principal.owner().clone(), begun, None);
        Ok(true)
    }

    async fn new_login(&self, user: &Owner) -> Result<LoggedIn, KernelError> {
        let cookie = Secret::new(random_text()?);
        let now = self.inner.clock.now();
        let login = Login {
            id: LoginId::from_uuid(self.inner.ids.random()),
            owner: user.clone(),
            digest: SecretDigest::of(cookie.expose()),
            created_at: now,
            expires_at: now.saturating_add(LOGIN_LASTS).unwrap_or(now),
        };
        match self.inner.stores.users.add_login(login).await {
            // Removed since the password was looked at.
            Err(StoreError::NotFound) => return Err(UserError::WrongLogin.into()),
            added => added?,
        }
        self.refresh_accounts().await?;
        Ok(LoggedIn { user: user.clone(), cookie })
    }

    #[expect(clippy::expect_used, reason = "both words are names of tools")]
    fn audit_login(
        &self,
        what: &'static str,
        trace: TraceId,
        owner: Owner,
        begun: Instant,
        refused: Option<&KernelError>,
    ) {
        let tool: ToolName = what.parse().expect("a word is the name of a tool");
        let outcome = match refused {
            None => AuditOutcome::Succeeded,
            Some(error) => AuditOutcome::Refused(error.reason().to_owned()),
        };
        let micros = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        let at = self.inner.clock.now();
        let row = AuditRow { trace, at, owner, door: Door::Rest, agent: None, run: None, tool, outcome, micros };
        self.inner.stores.audit.record(row);
    }
}
