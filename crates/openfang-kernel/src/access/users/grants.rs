//! What users are granted, changed as a whole or one by one, and the operator in the place of a user.

use std::sync::Arc;

use openfang_store::{ChangeAction, StoreError};
use openfang_types::ids::Owner;
use openfang_types::principal::{Grants, Principal};

use super::{UserError, UserView, check_grants, may_administer, of_user};
use crate::access::Access;
use crate::{Caller, KernelError};

/// How the grants of a user change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GrantsChange {
    /// These, and no others.
    Set(Vec<String>),
    /// Some more, and some less.
    Adjust { add: Vec<String>, remove: Vec<String> },
}

impl GrantsChange {
    fn check(&self) -> Result<(), KernelError> {
        match self {
            Self::Set(grants) => check_grants(grants),
            Self::Adjust { add, remove: _ } => check_grants(add),
        }
    }

    /// The grants after the change.
    fn applied_to(self, mut grants: Vec<String>) -> Result<Vec<String>, KernelError> {
        match self {
            Self::Set(grants) => Ok(grants),
            Self::Adjust { add, remove } => {
                for grant in remove {
                    let held = grants.iter().position(|held| *held == grant);
                    grants.remove(held.ok_or(UserError::NotGranted { grant })?);
                }
                for grant in add {
                    if !grants.contains(&grant) {
                        grants.push(grant);
                    }
                }
                check_grants(&grants).map(|()| grants)
            }
        }
    }
}

impl Access {
    /// Changes what a user is granted. What is open on the old grants ends.
    pub(crate) async fn change_user_grants(
        &self,
        caller: &Caller,
        name: &Owner,
        grants: GrantsChange,
    ) -> Result<UserView, KernelError> {
        let allowed = may_administer(caller).and_then(|()| grants.check());
        let change = of_user(caller, ChangeAction::SetGrants, name);
        let (access, name) = (self.clone(), name.clone());
        self.inner
            .changes
            .make(change, allowed, async move {
                let user = access.known(&name, access.inner.users.user(&name).await).await?;
                let grants = grants.applied_to(user.grants)?;
                access.known(&name, access.inner.users.set_grants(&name, grants).await).await?;
                access.refresh_accounts().await?;
                access.user_view(&name).await
            })
            .await
    }

    /// The caller in the place of a user: it sees and stops what belongs to the user, and may do what the user may. Only the
    /// admin can be in the place of somebody else. What belongs to a removed user is there, with no grants.
    pub(crate) async fn in_place_of(&self, caller: Caller, user: Option<&Owner>) -> Result<Caller, KernelError> {
        let Some(user) = user.filter(|user| *user != caller.principal.owner()) else { return Ok(caller) };
        may_administer(&caller)?;
        let grants = match self.inner.users.user(user).await {
            Err(StoreError::NotFound) if self.inner.users.was_user(user).await? => Vec::new(),
            found => self.known(user, found).await?.grants,
        };
        let grants = Grants::parse(grants.iter().map(String::as_str)).map_err(UserError::Grant)?;
        tracing::info!(trace = %caller.trace, door = caller.door.as_str(), %user, "the operator acts in the place of a user");
        Ok(Caller { principal: Arc::new(Principal::user(user.clone(), grants)), ..caller })
    }
}
