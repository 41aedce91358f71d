//! Writing entries: preview, confirmation, backup, file, record, and a try.

use std::time::SystemTime;

use openfang_kernel::SystemClock;
use openfang_kernel::config_file;
use openfang_kernel::users::KeyWanted;
use openfang_types::clock::Clock as _;
use openfang_types::ids::{Owner, ProfileName};
use openfang_types::limits::CLIENT_KEY_AGE;
use openfang_types::secret::Secret;
use openfang_types::taint::Label;

use super::{Outcome, State, entry, undo};
use crate::args::ConnectArgs;
use crate::backend::Backend;
use crate::clients::{Client, Entry, Form, Target};
use crate::connect::{Ledger, Plan, Record, SettingsFile, Step, digest, verify};
use crate::diff::diff;
use crate::error::CliError;
use crate::programs;
use crate::prompt::{self, Otherwise};
use crate::session::Session;

/// What is to be written, and how.
pub(in crate::commands) struct Request {
    pub(in crate::commands) name: String,
    pub(in crate::commands) agent: Option<String>,
    /// The profile of the entry, and of its key.
    pub(in crate::commands) profile: Option<ProfileName>,
    /// The URL instead of a program, with a key of this user.
    pub(in crate::commands) http: Option<Option<Owner>>,
    pub(in crate::commands) is_dry_run: bool,
    pub(in crate::commands) replaces: bool,
    pub(in crate::commands) asks: bool,
}

impl Request {
    pub(super) fn from_args(session: &Session, args: &ConnectArgs) -> Result<Self, CliError> {
        if args.key.is_some() && session.output.is_json() && !args.yes && !args.dry_run {
            return Err(CliError::Usage("--key with --json needs --yes or --dry-run".to_owned()));
        }
        Ok(Self {
            name: args.name.clone(),
            agent: args.agent.as_ref().map(ToString::to_string),
            profile: args.profile.clone(),
            http: args.http.then(|| args.key.clone()),
            is_dry_run: args.dry_run,
            replaces: args.replace,
            asks: !args.yes && !session.output.is_json() && prompt::can_ask(),
        })
    }
}

/// Writes the entry to every file. What goes wrong with one does not keep the others from it.
pub(in crate::commands) async fn connect_all(
    session: &Session,
    targets: &[Target],
    request: &Request,
) -> Result<Vec<Outcome>, CliError> {
    let mut outcomes = Vec::new();
    for target in targets {
        let outcome = connect_one(session, target, request).await?;
        print(session, target, &outcome)?;
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

async fn connect_one(session: &Session, target: &Target, request: &Request) -> Result<Outcome, CliError> {
    let mut entry = match &request.http {
        // Shown as it will be, apart from the key.
        Some(user) => {
            let key = user.as_ref().map(|user| Secret::new(format!("<a key of {user}>")));
            let profile = request.profile.as_ref().map(|name| format!("?profile={name}")).unwrap_or_default();
            Entry::Http { url: format!("{}{profile}", entry::url(session).await?), key }
        }
        None => Entry::Stdio {
            command: entry::program()?.display().to_string(),
            args: entry::arguments(session, request.agent.as_deref(), request.profile.as_ref()),
        },
    };
    if let Form::Print(snippet) = target.row.form {
        let snippet = Some(snippet.text(&request.name, &entry));
        return Ok(Outcome { snippet, ..Outcome::new(target, State::Printed) });
    }
    let mut file = match SettingsFile::read(&target.path) {
        Ok(file) => file,
        Err(why) => return Ok(Outcome::failed(target, why)),
    };
    let plan = match Plan::new(target, &request.name, &entry, file.text()) {
        Ok(plan) => plan,
        Err(why) => return Ok(Outcome::failed(target, why)),
    };
    let (is_foreign, edited) = match plan.step(&file) {
        Err(fault) => return Ok(Outcome::failed(target, fault)),
        Ok(Step::Nothing) => return tried(Outcome::new(target, State::Unchanged), &entry).await,
        Ok(Step::Write { edited, is_foreign }) => (is_foreign, edited),
    };
    if is_foreign && !request.replaces {
        let name = &request.name;
        let problem = format!("its entry {name} is not OpenFang's; use --replace, or another --name");
        return Ok(Outcome::failed(target, problem));
    }
    if !session.output.is_json() {
        session.output.diff(&target.path, &diff(file.text(), &edited.text))?;
    }
    if request.is_dry_run {
        return Ok(Outcome::new(target, State::WouldWrite));
    }
    let question = format!("Write this to {}?", target.path.display());
    if request.asks && !prompt::confirm(&session.output, &question, Otherwise::Yes)? {
        return Ok(Outcome::new(target, State::Declined));
    }
    let key = created_key(session, target, request, &mut entry).await?;
    let plan = match Plan::new(target, &request.name, &entry, file.text()) {
        Ok(plan) => plan,
        Err(why) => return Ok(Outcome::failed(target, why)),
    };
    let replaced = Ledger::open(&session.home)?
        .find(&file.path, &request.name)
        .and_then(|record| record.key.clone());
    let is_new = key.is_some();
    let (unused, outcome) = match written(session, &plan, &mut file, key.clone()).await {
        Ok(outcome) => (replaced.filter(|_| is_new), tried(outcome, &entry).await?),
        Err(why) => (key, Outcome::failed(target, why)),
    };
    undo::revoke_key(session, unused.as_deref()).await;
    Ok(outcome)
}

/// Creates the key of the client, if one is wanted, and puts it into the entry.
async fn created_key(
    session: &Session,
    target: &Target,
    request: &Request,
    entry: &mut Entry,
) -> Result<Option<String>, CliError> {
    let (Some(Some(user)), Entry::Http { key, .. }) = (&request.http, entry) else { return Ok(None) };
    let label = format!("connect {}", target.row.word);
    let expires_at = SystemClock.now().checked_add(CLIENT_KEY_AGE).ok();
    let entry_label = Some(Label::User);
    let wanted = KeyWanted { user: user.clone(), label, entry_label, profile: request.profile.clone(), expires_at };
    let made = Backend::open(session).await?.create_key(wanted).await?;
    *key = Some(made.key);
    Ok(Some(made.details.id.to_string()))
}

async fn written(
    session: &Session,
    plan: &Plan<'_>,
    file: &mut SettingsFile,
    key: Option<String>,
) -> Result<Outcome, String> {
    session.prepare_home().map_err(|error| error.to_string())?;
    let unrecorded =
        |error: std::io::Error| format!("cannot record the change in the home: {error}; nothing was written");
    let mut ledger = Ledger::open(&session.home).map_err(unrecorded)?;
    ledger.prune(SystemTime::from(SystemClock.now())).map_err(unrecorded)?;
    let word = plan.target.row.word;
    let at = SystemClock.now().to_string();
    let mut edited = plan.slot().put(file.text(), &plan.value).map_err(|fault| fault.to_string())?;
    // The backup of an earlier entry is what undo goes back to, as long as nobody else wrote the file since.
    let earlier = ledger.find(&file.path, plan.name).cloned();
    let continued = earlier.clone().filter(|earlier| file.digest().as_ref() == Some(&earlier.after));
    let backup = match (&continued, &file.text) {
        (Some(earlier), _) => earlier.backup.clone(),
        (None, Some(text)) => Some(ledger.back_up(word, &at, text).map_err(unrecorded)?),
        (None, None) => None,
    };
    let made = if claude_writes(plan).await {
        *file = SettingsFile::read(&file.path)?;
        edited.text = file.text().to_owned();
        Vec::new()
    } else {
        plan.write(file, &mut edited)?
    };
    let record = Record {
        client: word.to_owned(),
        path: file.path.clone(),
        name: plan.name.to_owned(),
        keys: plan.keys(),
        created: earlier.as_ref().map_or(0, |earlier| earlier.created).max(edited.created),
        entry: digest(&plan.value.to_string()),
        after: digest(&edited.text),
        backup: backup.clone(),
        is_restorable: continued.as_ref().map_or(earlier.is_none(), |earlier| earlier.is_restorable),
        made: continued.map_or(made, |earlier| earlier.made),
        key,
        at,
    };
    ledger
        .add(record)
        .map_err(|error| format!("it was written, but cannot be recorded for --undo: {error}"))?;
    Ok(Outcome { backup, ..Outcome::new(plan.target, State::Written) })
}

/// Lets Claude Code write its own file, if its command is there: running sessions rewrite that file all the time, and would
/// lose what somebody else wrote.
async fn claude_writes(plan: &Plan<'_>) -> bool {
    let target = plan.target;
    let is_own = target.row.client == Client::ClaudeCode && target.path.ends_with(".claude.json");
    if !is_own {
        return false;
    }
    let entry = plan.value.to_string();
    let ran = programs::run("claude", &["mcp", "add-json", "-s", "user", plan.name, &entry]).await;
    // What it says is not enough: the entry has to be there.
    ran.is_ok_and(|finished| finished.is_success)
        && SettingsFile::read(&target.path)
            .is_ok_and(|file| plan.slot().get(file.text()).is_ok_and(|held| held.as_ref() == Some(&plan.value)))
}

/// Starts the entry as it is written. A daemon at a URL is not started for this.
async fn tried(mut outcome: Outcome, entry: &Entry) -> Result<Outcome, CliError> {
    let Entry::Stdio { command, args } = entry else { return Ok(outcome) };
    match verify(command, args, config_file::directories().home.as_deref()).await {
        Ok(verified) => outcome.tools = Some(verified.tools),
        Err(why) => {
            outcome.state = State::Failed;
            outcome.problem = Some(format!("the entry does not start: {why}"));
        }
    }
    Ok(outcome)
}

fn print(session: &Session, target: &Target, outcome: &Outcome) -> Result<(), CliError> {
    let output = &session.output;
    if output.is_json() {
        return Ok(());
    }
    let (title, path) = (target.row.title, target.path.display());
    let works = outcome
        .tools
        .map(|tools| format!("; started as written, it lists {tools} tools"))
        .unwrap_or_default();
    match outcome.state {
        State::Written => {
            output.text(&format!("{title}: wrote {path}{works}"))?;
            output.note(&format!("{title}: {}", target.row.notices));
            let undo = session.command(&format!("connect --undo {}", target.row.word));
            output.note(&format!("undo: {undo}"));
        }
        State::Unchanged => output.text(&format!("{title}: already connected in {path}{works}"))?,
        State::WouldWrite => output.text(&format!("{title}: would write {path}"))?,
        State::Declined => output.text(&format!("{title}: nothing was written"))?,
        State::Printed => {
            output.text(&format!("{title}: add this to {path} by hand, because YAML is not edited:\n"))?;
            output.text(outcome.snippet.as_deref().unwrap_or_default())?;
        }
        State::Restored | State::Removed => {}
        State::Failed => {
            let problem = outcome.problem.as_deref().unwrap_or_default();
            output.complaint(&format!("{title}: {path}: {problem}"));
        }
    }
    Ok(())
}
