//! Writes users, keys and logins inside the writer's transactions. Refusals happen before anything changes.

use jiff::Timestamp;
use openfang_types::ids::{KeyId, LoginId, Owner, ProfileName};
use openfang_types::limits::{KEYS_PER_USER, LOGINS_PER_USER, REVOKED_KEY_KEPT, USERS_MAX};
use openfang_types::secret::Secret;
use rusqlite::ToSql;

use super::{execute, read};
use crate::sqlite::batch::Batch;
use crate::sqlite::tasks::columns::{json, nanos, nanos_before, signed};
use crate::sqlite::unavailable;
use crate::{Login, NewKey, NewUser, StoreError, UserKey};

pub(super) fn add_user(batch: &Batch<'_>, new: &NewUser) -> Result<(), StoreError> {
    let name = new.name.as_str();
    let is_former = read::was_user(batch.connection, &new.name)?;
    if is_user(batch, &new.name)? || (is_former && !new.follows) {
        return Err(StoreError::Conflict);
    }
    if count(batch, "SELECT count(*) FROM users", &[])? >= signed(USERS_MAX) {
        return Err(StoreError::TooMany { what: "users", limit: USERS_MAX });
    }
    let (grants, hash) = (json(&new.grants)?, new.password_hash.as_ref().map(Secret::expose));
    execute(batch, "DELETE FROM former_users WHERE name = ?1", &[&name])?;
    let sql = "INSERT INTO users (name, grants, password_hash, created_at) VALUES (?1, ?2, ?3, ?4)";
    execute(batch, sql, &[&name, &grants, &hash, &nanos(new.created_at)])?;
    Ok(())
}

pub(super) fn remove_user(batch: &Batch<'_>, name: &Owner, at: Timestamp) -> Result<(), StoreError> {
    let (name, at) = (name.as_str(), nanos(at));
    found(execute(batch, "DELETE FROM users WHERE name = ?1", &[&name])?)?;
    execute(batch, "INSERT OR REPLACE INTO former_users (name, removed_at) VALUES (?1, ?2)", &[&name, &at])?;
    execute(batch, "DELETE FROM logins WHERE owner = ?1", &[&name])?;
    let revoke = "UPDATE api_keys SET revoked_at = ?2 WHERE owner = ?1 AND revoked_at IS NULL";
    execute(batch, revoke, &[&name, &at])?;
    Ok(())
}

pub(super) fn set_grants(batch: &Batch<'_>, name: &Owner, grants: &[String]) -> Result<(), StoreError> {
    let grants = json(&grants)?;
    found(execute(batch, "UPDATE users SET grants = ?2 WHERE name = ?1", &[&name.as_str(), &grants])?)
}

pub(super) fn set_password(batch: &Batch<'_>, name: &Owner, hash: Option<&Secret>) -> Result<(), StoreError> {
    let (name, hash) = (name.as_str(), hash.map(Secret::expose));
    found(execute(batch, "UPDATE users SET password_hash = ?2 WHERE name = ?1", &[&name, &hash])?)?;
    execute(batch, "DELETE FROM logins WHERE owner = ?1", &[&name])?;
    Ok(())
}

pub(super) fn add_key(batch: &Batch<'_>, new: &NewKey) -> Result<(), StoreError> {
    if !is_user(batch, &new.owner)? {
        return Err(StoreError::NotFound);
    }
    let (id, owner, digest) = (new.id.as_str(), new.owner.as_str(), new.digest.as_bytes().as_slice());
    let used = "SELECT count(*) FROM api_keys WHERE id = ?1 OR digest = ?2";
    if count(batch, used, &[&id, &digest])? > 0 {
        return Err(StoreError::Conflict);
    }
    let live = "SELECT count(*) FROM api_keys WHERE owner = ?1 AND revoked_at IS NULL";
    if count(batch, live, &[&owner])? >= signed(KEYS_PER_USER) {
        return Err(StoreError::TooMany { what: "keys of this user", limit: KEYS_PER_USER });
    }
    let entry_label = new.entry_label.map(openfang_types::taint::Label::as_str);
    let profile = new.profile.as_ref().map(ProfileName::as_str);
    let (created_at, expires_at) = (nanos(new.created_at), new.expires_at.map(nanos));
    let sql = "INSERT INTO api_keys (id, owner, digest, label, entry_label, created_at, profile, expires_at)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    execute(batch, sql, &[&id, &owner, &digest, &new.label, &entry_label, &created_at, &profile, &expires_at])?;
    Ok(())
}

pub(super) fn revoke_key(batch: &Batch<'_>, id: &KeyId, at: Timestamp) -> Result<UserKey, StoreError> {
    let sql = "UPDATE api_keys SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL";
    execute(batch, sql, &[&id.as_str(), &nanos(at)])?;
    read::key(batch.connection, id.as_str())
}

pub(super) fn keys_used(batch: &Batch<'_>, uses: &[(KeyId, Timestamp)]) -> Result<(), StoreError> {
    let sql = "UPDATE api_keys SET last_used = max(coalesce(last_used, ?2), ?2) WHERE id = ?1";
    for (id, at) in uses {
        execute(batch, sql, &[&id.as_str(), &nanos(*at)])?;
    }
    Ok(())
}

pub(super) fn add_login(batch: &Batch<'_>, new: &Login) -> Result<(), StoreError> {
    if !is_user(batch, &new.owner)? {
        return Err(StoreError::NotFound);
    }
    let (id, owner, digest) = (new.id.as_uuid().into_bytes(), new.owner.as_str(), new.digest.as_bytes().as_slice());
    let beyond = "DELETE FROM logins WHERE id IN
                  (SELECT id FROM logins WHERE owner = ?1 ORDER BY created_at DESC, id DESC LIMIT -1 OFFSET ?2)";
    execute(batch, beyond, &[&owner, &signed(LOGINS_PER_USER - 1)])?;
    let sql = "INSERT INTO logins (id, owner, digest, created_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5)";
    execute(batch, sql, &[&id.as_slice(), &owner, &digest, &nanos(new.created_at), &nanos(new.expires_at)])?;
    Ok(())
}

pub(super) fn end_login(batch: &Batch<'_>, id: LoginId) -> Result<(), StoreError> {
    execute(batch, "DELETE FROM logins WHERE id = ?1", &[&id.as_uuid().into_bytes().as_slice()])?;
    Ok(())
}

pub(super) fn purge(batch: &Batch<'_>, now: Timestamp) -> Result<usize, StoreError> {
    let logins = execute(batch, "DELETE FROM logins WHERE expires_at <= ?1", &[&nanos(now)])?;
    let long_ago = nanos_before(now, REVOKED_KEY_KEPT);
    let keys = execute(batch, "DELETE FROM api_keys WHERE revoked_at <= ?1", &[&long_ago])?;
    Ok(logins + keys)
}

fn is_user(batch: &Batch<'_>, name: &Owner) -> Result<bool, StoreError> {
    Ok(count(batch, "SELECT count(*) FROM users WHERE name = ?1", &[&name.as_str()])? > 0)
}

fn count(batch: &Batch<'_>, sql: &str, values: &[&dyn ToSql]) -> Result<i64, StoreError> {
    let mut statement = batch.connection.prepare_cached(sql).map_err(unavailable)?;
    statement.query_row(values, |row| row.get(0)).map_err(unavailable)
}

const fn found(rows: usize) -> Result<(), StoreError> {
    if rows == 0 { Err(StoreError::NotFound) } else { Ok(()) }
}
