//! Reads users, keys and logins, each time in one snapshot.

use openfang_types::ids::{LoginId, Owner};
use openfang_types::secret::Secret;
use openfang_types::taint::Label;
use rusqlite::{Connection, OptionalExtension as _, Row, ToSql};

use crate::sqlite::tasks::columns::{get, name, text, time, uuid};
use crate::sqlite::{damaged, unavailable};
use crate::{Accounts, Login, SecretDigest, StoreError, User, UserKey};

const USER: &str = "SELECT name, grants, password_hash, created_at FROM users";
const KEY: &str = "SELECT id, owner, digest, label, entry_label, created_at, last_used, revoked_at, profile, expires_at
                   FROM api_keys";
const LOGIN: &str = "SELECT id, owner, digest, created_at, expires_at FROM logins";

pub(super) fn user(connection: &Connection, name: &Owner) -> Result<User, StoreError> {
    let found = rows(connection, &format!("{USER} WHERE name = ?1"), &[&name.as_str()], user_of)?;
    found.into_iter().next().ok_or(StoreError::NotFound)
}

pub(super) fn users(connection: &Connection) -> Result<Vec<User>, StoreError> {
    rows(connection, &format!("{USER} ORDER BY name"), &[], user_of)
}

pub(super) fn was_user(connection: &Connection, name: &Owner) -> Result<bool, StoreError> {
    let sql = "SELECT EXISTS (SELECT 1 FROM former_users WHERE name = ?1)";
    let mut statement = connection.prepare_cached(sql).map_err(unavailable)?;
    statement.query_row([name.as_str()], |row| row.get(0)).map_err(unavailable)
}

pub(super) fn keys(connection: &Connection, owner: Option<&Owner>) -> Result<Vec<UserKey>, StoreError> {
    match owner {
        Some(owner) => {
            let sql = format!("{KEY} WHERE owner = ?1 ORDER BY created_at, id");
            rows(connection, &sql, &[&owner.as_str()], key_of)
        }
        None => rows(connection, &format!("{KEY} ORDER BY created_at, id"), &[], key_of),
    }
}

pub(super) fn key(connection: &Connection, id: &str) -> Result<UserKey, StoreError> {
    let found = rows(connection, &format!("{KEY} WHERE id = ?1"), &[&id], key_of)?;
    found.into_iter().next().ok_or(StoreError::NotFound)
}

pub(super) fn accounts(connection: &Connection, since: Option<u64>) -> Result<Option<Accounts>, StoreError> {
    let generation = generation(connection)?;
    if since == Some(generation) {
        return Ok(None);
    }
    Ok(Some(Accounts {
        generation,
        users: users(connection)?,
        keys: rows(connection, &format!("{KEY} WHERE revoked_at IS NULL ORDER BY created_at, id"), &[], key_of)?,
        logins: rows(connection, &format!("{LOGIN} ORDER BY created_at, id"), &[], login_of)?,
    }))
}

fn generation(connection: &Connection) -> Result<u64, StoreError> {
    let sql = "SELECT value FROM meta WHERE key = 'accounts'";
    let mut statement = connection.prepare_cached(sql).map_err(unavailable)?;
    let found = statement.query_row([], |row| row.get::<_, i64>(0)).optional().map_err(unavailable)?;
    u64::try_from(found.unwrap_or(0)).map_err(|_| damaged("a count below zero"))
}

fn rows<T>(
    connection: &Connection,
    sql: &str,
    values: &[&dyn ToSql],
    read: impl Fn(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(unavailable)?;
    let mut rows = statement.query(values).map_err(unavailable)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(unavailable)? {
        found.push(read(row)?);
    }
    Ok(found)
}

fn user_of(row: &Row<'_>) -> Result<User, StoreError> {
    Ok(User {
        name: name(row, 0)?,
        grants: serde_json::from_str(text(row, 1)?).map_err(|_| damaged("grants that are none"))?,
        password_hash: get::<Option<String>>(row, 2)?.map(Secret::new),
        created_at: time(row, 3)?,
    })
}

fn key_of(row: &Row<'_>) -> Result<UserKey, StoreError> {
    let moment = |column| get::<Option<i64>>(row, column)?.map(|_| time(row, column)).transpose();
    Ok(UserKey {
        id: name(row, 0)?,
        owner: name(row, 1)?,
        digest: digest(row, 2)?,
        label: get(row, 3)?,
        entry_label: get::<Option<String>>(row, 4)?.map(|word| label(&word)).transpose()?,
        created_at: time(row, 5)?,
        last_used: moment(6)?,
        revoked_at: moment(7)?,
        profile: get::<Option<String>>(row, 8)?
            .map(|text| text.parse().map_err(|_| damaged("a profile that is none")))
            .transpose()?,
        expires_at: moment(9)?,
    })
}

fn login_of(row: &Row<'_>) -> Result<Login, StoreError> {
    Ok(Login {
        id: LoginId::from_uuid(uuid(row, 0)?),
        owner: name(row, 1)?,
        digest: digest(row, 2)?,
        created_at: time(row, 3)?,
        expires_at: time(row, 4)?,
    })
}

fn digest(row: &Row<'_>, column: usize) -> Result<SecretDigest, StoreError> {
    let bytes = get::<Vec<u8>>(row, column)?;
    SecretDigest::from_slice(&bytes).ok_or_else(|| damaged("a digest that is none"))
}

fn label(word: &str) -> Result<Label, StoreError> {
    Label::ALL
        .into_iter()
        .find(|label| label.as_str() == word)
        .ok_or_else(|| damaged("a label that is none"))
}
