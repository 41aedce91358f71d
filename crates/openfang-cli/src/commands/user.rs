//! `openfang user`: users, their grants and their passwords.

use openfang_kernel::users::{UserView, UserWanted};
use openfang_types::ids::Owner;
use openfang_types::secret::Secret;
use serde_json::json;

use super::argument_or_stdin;
use crate::args::{UserAddArgs, UserCommand, UserPasswordArgs};
use crate::backend::Backend;
use crate::error::{CliError, Exit};
use crate::output::Table;
use crate::session::Session;

pub(super) async fn run(session: &Session, command: UserCommand) -> Result<Exit, CliError> {
    match command {
        UserCommand::Add(args) => add(session, args).await,
        UserCommand::List => list(session).await,
        UserCommand::Remove { name } => remove(session, &name).await,
        UserCommand::SetPermissions { name, grants, none: _ } => set_permissions(session, &name, grants).await,
        UserCommand::SetPassword(args) => set_password(session, args).await,
    }
}

async fn add(session: &Session, args: UserAddArgs) -> Result<Exit, CliError> {
    let UserAddArgs { name, grant, password_stdin, again } = args;
    let password = if password_stdin { Some(password()?) } else { None };
    let wanted = UserWanted { name, grants: grant, password, again };
    let user = Backend::open(session).await?.add_user(wanted).await?;
    if session.output.is_json() {
        session.output.document(&user)?;
        return Ok(Exit::Ok);
    }
    session.output.text(&format!("added {}: {}", user.name, grants_text(&user)))?;
    let key = session.command(&format!("key create {}", user.name));
    session.output.note(&match (user.grants.is_empty(), user.has_password) {
        (true, _) => {
            let grant = session.command(&format!("user set-permissions {} 'agent:NAME/*'", user.name));
            format!("add a grant with `{grant}`, then create a key with `{key}`")
        }
        (false, true) => format!("the user can log in at POST /api/login; create a key for programs with `{key}`"),
        (false, false) => format!("next, create a key with `{key}`"),
    });
    Ok(Exit::Ok)
}

async fn list(session: &Session) -> Result<Exit, CliError> {
    let users = Backend::open(session).await?.users().await?;
    if session.output.is_json() {
        session.output.document(&json!({ "users": users }))?;
        return Ok(Exit::Ok);
    }
    let mut table = Table::new(&["USER", "KEYS", "LOGIN", "CREATED", "GRANTS"]);
    for user in &users {
        let created = format!("{:.0}", user.created_at);
        let login = if user.has_password { "yes" } else { "no" };
        table.row([(&user.name).into(), user.keys.into(), login.into(), created.into(), grants_text(user).into()]);
    }
    session.output.table(&table)?;
    if users.is_empty() {
        let add = session.command("user add NAME --grant 'agent:starter/*'");
        session.output.note(&format!("no users; add one with `{add}`"));
    }
    Ok(Exit::Ok)
}

async fn remove(session: &Session, name: &Owner) -> Result<Exit, CliError> {
    Backend::open(session).await?.remove_user(name).await?;
    if session.output.is_json() {
        session.output.document(&json!({ "removed": name }))?;
    } else {
        session.output.text(&format!("removed {name}; all keys and logins are revoked"))?;
    }
    Ok(Exit::Ok)
}

async fn set_permissions(session: &Session, name: &Owner, grants: Vec<String>) -> Result<Exit, CliError> {
    let user = Backend::open(session).await?.set_grants(name, grants).await?;
    if session.output.is_json() {
        session.output.document(&user)?;
    } else {
        session.output.text(&format!("{name}: {}", grants_text(&user)))?;
    }
    Ok(Exit::Ok)
}

async fn set_password(session: &Session, args: UserPasswordArgs) -> Result<Exit, CliError> {
    let password = if args.none { None } else { Some(password()?) };
    let user = Backend::open(session).await?.set_password(&args.name, password).await?;
    if session.output.is_json() {
        session.output.document(&user)?;
    } else {
        let result = if user.has_password { "has a new password" } else { "has no password and cannot log in" };
        session.output.text(&format!("{} {result}; existing logins have ended", user.name))?;
    }
    Ok(Exit::Ok)
}

fn password() -> Result<Secret, CliError> {
    argument_or_stdin("-".to_owned()).map(Secret::new)
}

fn grants_text(user: &UserView) -> String {
    if user.grants.is_empty() { "no grants".to_owned() } else { user.grants.join(" ") }
}
