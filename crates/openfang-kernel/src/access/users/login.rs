//! Logging in with a password, and out again. Whoever is refused is not told whether the name or the password was wrong,
//! neither by words nor by time.

use openfang_store::{AuditKind, AuditOutcome, AuditRow, AuditSubject, Login, SecretDigest, StoreError, User};
use openfang_types::ids::{LoginId, Owner, TraceId};
use openfang_types::limits::LOGIN_LASTS;
use openfang_types::principal::{Credential, Door};
use openfang_types::secret::Secret;
use tokio::time::Instant;

use super::{LoginPeer, UserError, random_text};
use crate::access::Access;
use crate::{Caller, KernelError};

/// A user who is in.
#[derive(Debug, Clone)]
pub struct LoggedIn {
    pub user: Owner,
    /// What their cookie holds.
    pub cookie: Secret,
}

impl Access {
    /// Lets a user in who knows their password. `peer` says whose turn comes first when many try.
    pub(crate) async fn log_in(
        &self,
        trace: TraceId,
        name: &str,
        password: Secret,
        peer: LoginPeer,
    ) -> Result<LoggedIn, KernelError> {
        let begun = Instant::now();
        // Somebody is asked for even if the name cannot be one: no request is faster than another.
        let asked = name.parse().unwrap_or_else(|_| Owner::nobody());
        let user = match self.inner.users.user(&asked).await {
            Err(StoreError::NotFound) => None,
            user => Some(user?),
        };
        let hash = user.as_ref().and_then(|user| user.password_hash.clone());
        let is_right = self.inner.passwords.is_right(self.inner.life.tracker(), password, hash, peer).await;
        let outcome = match (&user, is_right) {
            (Some(user), Ok(true)) => self.new_login(user).await,
            (_, Ok(_)) => Err(UserError::WrongLogin.into()),
            (_, Err(busy)) => Err(busy.into()),
        };
        // A name that is nobody's is not written down: it may be a password that went into the wrong field.
        let who = user.map_or_else(Owner::nobody, |user| user.name);
        let mut row = self.login_row(AuditSubject::Login, trace, who, begun);
        let mut kind = AuditKind::Deed;
        if let Err(error) = &outcome {
            row.outcome = AuditOutcome::Refused(error.reason().to_owned());
            kind = AuditKind::Login;
        }
        self.inner.audit.record(kind, row);
        outcome
    }

    /// Ends the login that the caller came with; whoever came otherwise has none to end. Says whether there was one.
    pub(crate) async fn log_out(&self, caller: &Caller) -> Result<bool, KernelError> {
        let begun = Instant::now();
        let id = match caller.principal.credential() {
            Some(Credential::Login(id)) => *id,
            Some(Credential::Key(_)) | None => return Ok(false),
        };
        self.inner.users.end_login(id).await?;
        self.refresh_accounts().await?;
        let row = self.login_row(AuditSubject::Logout, caller.trace, caller.principal.owner().clone(), begun);
        self.inner.audit.record(AuditKind::Deed, row);
        Ok(true)
    }

    async fn new_login(&self, user: &User) -> Result<LoggedIn, KernelError> {
        let cookie = Secret::new(random_text()?);
        let now = self.inner.clock.now();
        let login = Login {
            id: LoginId::from_uuid(self.inner.ids.random()),
            owner: user.name.clone(),
            digest: SecretDigest::of(cookie.expose()),
            created_at: now,
            expires_at: now.saturating_add(LOGIN_LASTS).unwrap_or(now),
        };
        let (id, users) = (login.id, &self.inner.users);
        // The user may have been removed since the password was looked at, or may have got another one. Another password
        // ends all logins, so whichever of the two comes first, this one does not outlive it.
        let is_as_it_was = match users.add_login(login).await {
            Err(StoreError::NotFound) => return Err(UserError::WrongLogin.into()),
            added => added.and(users.user(&user.name).await),
        };
        if is_as_it_was?.password_hash != user.password_hash {
            users.end_login(id).await?;
            return Err(UserError::WrongLogin.into());
        }
        self.refresh_accounts().await?;
        Ok(LoggedIn { user: user.name.clone(), cookie })
    }

    /// The row of a login that went well.
    fn login_row(&self, subject: AuditSubject, trace: TraceId, owner: Owner, begun: Instant) -> AuditRow {
        AuditRow {
            trace,
            at: self.inner.clock.now(),
            owner,
            door: Door::Rest,
            agent: None,
            run: None,
            subject,
            outcome: AuditOutcome::Succeeded,
            micros: u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX),
        }
    }
}
