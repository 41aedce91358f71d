//! `openfang skill`: list, show, install, trust and enable skills.

use std::path::{Path, PathBuf};

use openfang_kernel::home::create_private_file;
use openfang_kernel::skill_control::validate_skill;
use openfang_kernel::{KernelError, home};
use openfang_types::ids::SkillName;
use openfang_types::skills::{SkillAction, SkillDetails, SkillList, SkillState};
use serde_json::json;

use crate::args::{SkillCommand, SkillInstallArgs, SkillTrustArgs};
use crate::backend::Backend;
use crate::error::{CliError, Exit};
use crate::output::{Cell, Table, Tone, one_line};
use crate::prompt::{self, Otherwise};
use crate::session::Session;

mod show;

/// The longest description in the list.
const DESCRIPTION_CHARS: usize = 60;

pub(super) async fn run(session: &Session, command: SkillCommand) -> Result<Exit, CliError> {
    match command {
        SkillCommand::List => list(session).await,
        SkillCommand::Show { name } => {
            let skill = Backend::open(session).await?.skill(&name).await?;
            show::print(session, &skill).map(|()| Exit::Ok)
        }
        SkillCommand::Install(args) => install(session, args).await,
        SkillCommand::Trust(args) => trust(session, args).await,
        SkillCommand::Enable { name } => {
            let skill = Backend::open(session).await?.change_skill(&name, SkillAction::Enable {}).await?;
            report(session, &skill, &format!("enabled {name}"))
        }
        SkillCommand::Disable { name } => {
            let skill = Backend::open(session).await?.change_skill(&name, SkillAction::Disable {}).await?;
            report(session, &skill, &format!("disabled {name}"))
        }
        SkillCommand::Validate { path } => validate(session, &path),
        SkillCommand::New { name, description } => new(session, &name, description),
        SkillCommand::Remove { target } => remove(session, &target).await,
    }
}

async fn list(session: &Session) -> Result<Exit, CliError> {
    let found = Backend::open(session).await?.skills().await?;
    if session.output.is_json() {
        session.output.document(&found)?;
        return Ok(Exit::Ok);
    }
    let SkillList { skills, unusable, projects } = &found;
    let mut table = Table::new(&["SKILL", "STATE", "USED", "SOURCE", "DESCRIPTION"]);
    for skill in skills {
        let tone = match skill.state {
            SkillState::Trusted => Tone::Good,
            SkillState::Installed => Tone::Plain,
            SkillState::Changed => Tone::Waiting,
            SkillState::Missing => Tone::Bad,
        };
        let used = match (skill.active, skill.enabled) {
            (true, _) => "yes",
            (false, true) => "no (enabled)",
            (false, false) => "no",
        };
        let description: String = one_line(&skill.description).chars().take(DESCRIPTION_CHARS).collect();
        let source = one_line(&skill.source);
        let state = Cell::toned(skill.state.as_str(), tone);
        table.row([(&skill.name).into(), state, used.into(), source.into(), description.into()]);
    }
    session.output.table(&table)?;
    for project in projects {
        session
            .output
            .note(&format!("skills are looked for in the project {}", one_line(project)));
    }
    for skill in unusable {
        session
            .output
            .note(&format!("{} is not used: {}", one_line(&skill.source), one_line(&skill.reason)));
    }
    if skills.is_empty() {
        let new = session.command("skill new NAME");
        session
            .output
            .note(&format!("no skills; write one with `{new}`, or put one into skills/ of the home"));
    }
    Ok(Exit::Ok)
}

async fn install(session: &Session, args: SkillInstallArgs) -> Result<Exit, CliError> {
    let source = match args.source.starts_with("mcp:") {
        true => args.source,
        false => absolute(Path::new(&args.source))?.display().to_string(),
    };
    let backend = Backend::open(session).await?;
    let skill = backend.inspect_skill(&source).await?;
    let name = skill.skill.name.clone();
    if !args.yes {
        if !prompt::can_ask() {
            return Err(CliError::Usage("nobody can be asked here; look at the skill, then add --yes".to_owned()));
        }
        show::print(session, &skill)?;
        if !prompt::confirm(&session.output, &format!("Install {name}?"), Otherwise::No)? {
            session.output.note("nothing was installed");
            return Ok(Exit::Failed);
        }
    }
    let installed = backend.install_skill(&source, &skill.skill.digest).await?;
    report(session, &installed, &format!("installed {name}"))?;
    let trust = session.command(&format!("skill trust {name} --enable"));
    session
        .output
        .note(&format!("agents cannot use it yet; trust and enable it with `{trust}`"));
    Ok(Exit::Ok)
}

async fn trust(session: &Session, args: SkillTrustArgs) -> Result<Exit, CliError> {
    let backend = Backend::open(session).await?;
    if is_directory(&args.target) {
        let path = absolute(Path::new(&args.target))?;
        backend.set_skill_project(&path, true).await?;
        return done(session, &json!({ "trusted": path }), &format!("skills are looked for in {}", path.display()));
    }
    let name = name_in(&args.target)?;
    let skill = backend.skill(&name).await?;
    if !args.yes && prompt::can_ask() {
        show::print(session, &skill)?;
        if !prompt::confirm(&session.output, &format!("Trust these files of {name}?"), Otherwise::No)? {
            session.output.note("nothing was changed");
            return Ok(Exit::Failed);
        }
    }
    let digest = Some(skill.skill.digest);
    let mut changed = backend.change_skill(&name, SkillAction::Trust { digest }).await?;
    if args.enable {
        changed = backend.change_skill(&name, SkillAction::Enable {}).await?;
    }
    let how = if args.enable { "trusted and enabled" } else { "trusted" };
    report(session, &changed, &format!("{how} {name}"))?;
    if changed.skill.enabled {
        session
            .output
            .note("an agent may activate it if `skills` under [capabilities] of its agent.toml covers the name");
    }
    Ok(Exit::Ok)
}

fn validate(session: &Session, path: &Path) -> Result<Exit, CliError> {
    let checked = validate_skill(&absolute(path)?).map_err(KernelError::from);
    let skill = checked.map_err(|error| CliError::unsent(&error))?;
    show::print(session, &skill)?;
    if !session.output.is_json() {
        let warnings = skill.warnings.len();
        session.output.text(&format!("{} can be used; {warnings} warnings", skill.skill.name))?;
    }
    Ok(Exit::Ok)
}

fn new(session: &Session, name: &SkillName, description: Option<String>) -> Result<Exit, CliError> {
    let (home, _) = session.home_to_work_on()?;
    let directory = home.skills().join(name.as_str());
    let path = directory.join("SKILL.md");
    let description = description.unwrap_or_else(|| format!("Describe what {name} does, and when to use it."));
    let quoted = serde_json::to_string(&description).unwrap_or_default();
    let text = format!(
        "---\nname: {name}\ndescription: {quoted}\n---\n\n# {name}\n\nWrite here what to do, step by step. Put longer texts into \
         files beside this one and name them here.\n"
    );
    let written = home::create_private_directory(&directory)
        .and_then(|()| create_private_file(&path))
        .and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()));
    written.map_err(|cause| CliError::Usage(format!("cannot write {}: {cause}", path.display())))?;
    done(session, &json!({ "created": path }), &format!("created {}", path.display()))?;
    let trust = session.command(&format!("skill trust {name} --enable"));
    session
        .output
        .note(&format!("write the instructions, then trust and enable it with `{trust}`"));
    Ok(Exit::Ok)
}

async fn remove(session: &Session, target: &str) -> Result<Exit, CliError> {
    let backend = Backend::open(session).await?;
    if target.contains('/') || target == "." {
        let path = absolute(Path::new(target)).unwrap_or_else(|_| PathBuf::from(target));
        backend.set_skill_project(&path, false).await?;
        return done(
            session,
            &json!({ "removed": path }),
            &format!("skills are no longer looked for in {}", path.display()),
        );
    }
    let name = name_in(target)?;
    backend.remove_skill(&name).await?;
    done(session, &json!({ "removed": name }), &format!("removed {name}"))
}

fn report(session: &Session, skill: &SkillDetails, text: &str) -> Result<Exit, CliError> {
    done(session, &serde_json::to_value(skill).unwrap_or_default(), text)
}

fn done(session: &Session, document: &serde_json::Value, text: &str) -> Result<Exit, CliError> {
    match session.output.is_json() {
        true => session.output.document(document)?,
        false => session.output.text(text)?,
    }
    Ok(Exit::Ok)
}

/// Whether a target is a directory and not the name of a skill.
fn is_directory(target: &str) -> bool {
    target.contains('/') || target == "."
}

fn name_in(target: &str) -> Result<SkillName, CliError> {
    target
        .parse()
        .map_err(|error| CliError::Usage(format!("{error}; name a project directory as a path, such as ./{target}")))
}

fn absolute(path: &Path) -> Result<PathBuf, CliError> {
    path.canonicalize()
        .map_err(|cause| CliError::Usage(format!("cannot use {}: {cause}", path.display())))
}
