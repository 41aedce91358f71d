//! `openfang user`: users, their grants and their passwords.

use openfang_kernel::GrantMeaning;
use openfang_kernel::users::{UserView, UserWanted};
use openfang_types::ids::{Owner, ToolName};
use openfang_types::secret::Secret;
use serde_json::json;

use super::argument_or_stdin;
use crate::args::{UserAddArgs, UserCommand, UserPasswordArgs};
use crate::backend::Backend;
use crate::error::{CliError, Exit};
use crate::output::Table;
use crate::prompt;
use crate::session::Session;

pub(super) async fn run(session: &Session, command: UserCommand) -> Result<Exit, CliError> {
    match command {
        UserCommand::Add(args) => add(session, args).await,
        UserCommand::List => list(session).await,
        UserCommand::Remove { name } => remove(session, &name).await,
        UserCommand::SetPermissions { name, grants, none: _ } => set_permissions(session, &name, grants).await,
        UserCommand::Grant { name, grants } => adjust(session, &name, grants, Vec::new()).await,
        UserCommand::Revoke { name, grants } => adjust(session, &name, Vec::new(), grants).await,
        UserCommand::SetPassword(args) => set_password(session, args).await,
    }
}

async fn add(session: &Session, args: UserAddArgs) -> Result<Exit, CliError> {
    let UserAddArgs { name, grant, password_stdin, again } = args;
    let password = if password_stdin { Some(password()?) } else { None };
    let wanted = UserWanted { name, grants: grant, password, again };
    let backend = Backend::open(session).await?;
    let is_first = backend.users().await?.is_empty();
    let user = backend.add_user(wanted).await?;
    if session.output.is_json() {
        session.output.document(&user)?;
        return Ok(Exit::Ok);
    }
    session.output.text(&format!("added {}: {}", user.name, grants_text(&user)))?;
    explain(session, &backend, &user.grants).await?;
    if is_first {
        session.output.note(
            "this is the first user: from now on every request over HTTP needs a credential, on this machine too",
        );
    }
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
    let backend = Backend::open(session).await?;
    backend.remove_user(name).await?;
    if session.output.is_json() {
        session.output.document(&json!({ "removed": name }))?;
    } else {
        session
            .output
            .text(&format!("removed {name}; all keys and logins are revoked, and their running work ends"))?;
        if backend.users().await?.is_empty() {
            let accept = session.command("home accept");
            session.output.note(&format!(
                "this was the last user; without an api_key nobody else can use the server now. Add a user, or stop the server \
                 and run `{accept}` to use it without credentials on this machine"
            ));
        }
    }
    Ok(Exit::Ok)
}

async fn set_permissions(session: &Session, name: &Owner, grants: Vec<String>) -> Result<Exit, CliError> {
    let backend = Backend::open(session).await?;
    let user = backend.set_grants(name, grants).await?;
    if session.output.is_json() {
        session.output.document(&user)?;
    } else {
        session.output.text(&format!("{name}: {}", grants_text(&user)))?;
        explain(session, &backend, &user.grants).await?;
    }
    Ok(Exit::Ok)
}

async fn adjust(session: &Session, name: &Owner, add: Vec<String>, remove: Vec<String>) -> Result<Exit, CliError> {
    let backend = Backend::open(session).await?;
    let user = backend.adjust_grants(name, add.clone(), remove).await?;
    if session.output.is_json() {
        session.output.document(&user)?;
        return Ok(Exit::Ok);
    }
    session.output.text(&format!("{name}: {}", grants_text(&user)))?;
    explain(session, &backend, &add).await?;
    Ok(Exit::Ok)
}

/// Says what each grant names today. A grant that names nothing is probably a typing error.
async fn explain(session: &Session, backend: &Backend, grants: &[String]) -> Result<(), CliError> {
    for grant in grants.iter().filter(|_| session.output.remarks()) {
        let meaning = backend.grant_meaning(grant).await?;
        if meaning.is_empty() {
            session.output.complaint(&format!("{grant} names no tool and no agent of today"));
        } else {
            session.output.note(&meaning_text(&meaning));
        }
    }
    Ok(())
}

fn meaning_text(meaning: &GrantMeaning) -> String {
    let mut parts = Vec::new();
    if meaning.tool_count > 0 {
        let names: Vec<&str> = meaning.tools.iter().map(ToolName::as_str).collect();
        let more = if names.len() < meaning.tool_count { ", ..." } else { "" };
        let count = meaning.tool_count;
        let what = if count == 1 { "tool" } else { "tools" };
        parts.push(format!("{count} {what} today ({}{more})", names.join(", ")));
    }
    parts.extend(meaning.agents.iter().map(|agent| match meaning.grant.ends_with("/*") {
        true => format!("messages to the agent {agent}, and all its tools through it"),
        false => format!("messages to the agent {agent}"),
    }));
    format!("{}: {}", meaning.grant, parts.join("; "))
}

async fn set_password(session: &Session, args: UserPasswordArgs) -> Result<Exit, CliError> {
    let password = match args.none {
        true => None,
        false if args.password_stdin => Some(password()?),
        false if !prompt::can_ask() => {
            let why =
                "nobody is at a terminal to type the password; pass it with --password-stdin, or remove it with --none";
            return Err(CliError::Usage(why.to_owned()));
        }
        false => Some(asked_twice(session, &args.name)?),
    };
    let user = Backend::open(session).await?.set_password(&args.name, password).await?;
    if session.output.is_json() {
        session.output.document(&user)?;
    } else {
        let result = if user.has_password { "has a new password" } else { "has no password and cannot log in" };
        session.output.text(&format!("{} {result}; existing logins have ended", user.name))?;
    }
    Ok(Exit::Ok)
}

/// Asks for a new password, twice, because it is not shown.
fn asked_twice(session: &Session, name: &Owner) -> Result<Secret, CliError> {
    let first = prompt::secret(&session.output, &format!("the new password of {name}: "))?;
    let second = prompt::secret(&session.output, "the same again: ")?;
    if first == second {
        Ok(Secret::new(first))
    } else {
        Err(CliError::Usage("the passwords differ; nothing was changed".to_owned()))
    }
}

fn password() -> Result<Secret, CliError> {
    argument_or_stdin("-".to_owned()).map(Secret::new)
}

fn grants_text(user: &UserView) -> String {
    if user.grants.is_empty() { "no grants".to_owned() } else { user.grants.join(" ") }
}
