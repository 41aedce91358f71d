//! Taking over what the files say now: read, judged as a whole, compared, replaced in one step.
//!
//! Requests that began before keep what they began with. Whatever is wrong changes nothing, and is told in the log, by
//! `openfang status` and in `/metrics`.

use std::sync::Arc;

use openfang_runtime::answerer::remote::ExternalAgents;
use openfang_runtime::models::ModelSource;
use openfang_store::{AuditKind, AuditOutcome, AuditRow, AuditSubject};
use openfang_types::config::{Config, ConfigProblem};
use openfang_types::limits::{SETTINGS_LOOK, SETTINGS_SETTLE};
use openfang_types::principal::{AdminProof, Door, Principal, PrincipalKind};
use openfang_types::settings_status::{FailedAgent, ReloadReport, SettingsStatus};

use crate::settings::differences::{changed_keys, guarded, is_shown_differently, keep_until_restart, server_changes};
use crate::settings::reading::{self, ReadSettings, Rejection};
use crate::settings::{FileMarks, Settings, agents, config_file, no_default};
use crate::{Caller, Kernel, KernelError};

/// On whose word the files are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReloadTrigger {
    /// Somebody who is on this machine and looked.
    ByOperator,
    /// A look at the files, or somebody elsewhere: what lets more callers in waits.
    ByNobody,
}

impl Kernel {
    /// Takes over what the files say now. Says what changed, or why nothing did.
    pub async fn reload(&self, caller: &Caller) -> Result<ReloadReport, KernelError> {
        let asked = match caller.principal.standing() {
            PrincipalKind::Admin(AdminProof::DaemonToken | AdminProof::InProcess) => ReloadTrigger::ByOperator,
            PrincipalKind::Admin(AdminProof::ApiKey) => ReloadTrigger::ByNobody,
            PrincipalKind::Local | PrincipalKind::User(_) => {
                let error = KernelError::NotPermitted(
                    "only the admin can reload the settings; send the api_key, or reload them on the command line of the server's machine",
                );
                self.note_reload(caller, &[], AuditOutcome::Refused(error.reason().to_owned()));
                return Err(error);
            }
        };
        self.reload_as(caller.clone(), asked).await
    }

    /// Takes over what the files say now because the operator sent a signal. The log says what came of it.
    pub async fn reload_by_signal(&self) {
        match self.reload_as(self.on_its_own(), ReloadTrigger::ByOperator).await {
            Ok(report) if report.is_unchanged() => tracing::info!("the settings are unchanged"),
            // The log has it already.
            Ok(_) | Err(_) => {}
        }
    }

    /// How the files stand to what is in force.
    pub fn settings_status(&self, caller: &Caller) -> Result<SettingsStatus, KernelError> {
        match caller.principal.standing() {
            PrincipalKind::Admin(_) | PrincipalKind::Local => {
                let walls = self.settings().config().egress.children.missing_walls();
                let missing_walls = walls.iter().map(|wall| (*wall).to_owned()).collect();
                Ok(SettingsStatus { missing_walls, ..self.parts.settings.status() })
            }
            PrincipalKind::User(_) => Err(KernelError::NotPermitted("only the admin can read the settings")),
        }
    }

    /// The agents that cannot be used as they are written, for whoever may know of every agent.
    pub fn failed_agents(&self, principal: &Principal) -> Vec<FailedAgent> {
        match principal.standing() {
            PrincipalKind::Admin(_) | PrincipalKind::Local => self.settings().failed_agents().to_vec(),
            PrincipalKind::User(_) => Vec::new(),
        }
    }

    fn on_its_own(&self) -> Caller {
        let principal = Arc::new(Principal::admin(AdminProof::InProcess));
        Caller { principal, door: Door::Cli, trace: self.trace(), hops: 0, room: None }
    }

    /// Once it has begun it is done to its end, whether or not its caller waits.
    async fn reload_as(&self, caller: Caller, asked: ReloadTrigger) -> Result<ReloadReport, KernelError> {
        let kernel = self.clone();
        let work = self.parts.life.tracker().spawn(async move {
            let settings = &kernel.parts.settings;
            let _alone = settings.alone().await;
            let working = kernel.clone();
            let done = tokio::task::spawn_blocking(move || working.take_over(&caller, asked)).await;
            done.unwrap_or_else(|_| Err(KernelError::SettingsRejected("the reload failed; see the log".to_owned())))
        });
        work.await
            .unwrap_or_else(|_| Err(KernelError::SettingsRejected("the reload failed; see the log".to_owned())))
    }

    fn take_over(&self, caller: &Caller, asked: ReloadTrigger) -> Result<ReloadReport, KernelError> {
        self.parts.settings.note_files(&self.parts.home);
        match self.compared(asked) {
            Ok((next, report)) => {
                self.put_into_force(next, &report);
                let names = [report.changed.as_slice(), &names_of(&report)].concat();
                if !report.is_unchanged() || asked == ReloadTrigger::ByOperator {
                    self.note_reload(caller, &names, AuditOutcome::Succeeded);
                }
                if !report.is_unchanged() {
                    tracing::info!(changed = names.join(", "), "the settings were reloaded");
                }
                Ok(report)
            }
            Err(rejection) => {
                let text = rejection.to_string();
                tracing::error!("the reload was rejected, and nothing changed: {text}");
                self.parts.settings.reject(text.clone());
                let error = KernelError::SettingsRejected(text);
                self.note_reload(caller, &[], AuditOutcome::Refused(error.reason().to_owned()));
                Err(error)
            }
        }
    }

    /// What the files say, as it would be in force, and what that changes.
    fn compared(&self, asked: ReloadTrigger) -> Result<(Settings, ReloadReport), Rejection> {
        let (parts, now) = (&self.parts, self.settings());
        let overlays = parts.settings.overlays();
        let models = Arc::clone(&parts.models) as Arc<dyn ModelSource>;
        let read = reading::read(&parts.home, overlays, (parts.pipeline.catalog(), &models), now.agents())?;
        let ReadSettings { mut config, mut agents, exposures } = read;
        parts.settings.tell_exposures(exposures);
        let has_users = parts.access.has_users();
        let faulty = |problem: ConfigProblem| config_file::placed(&parts.home.config(), overlays, problem);
        if let Some(problem) = config.exposure().filter(|_| !has_users) {
            return Err(faulty(problem).into());
        }
        let waiting = match asked {
            ReloadTrigger::ByOperator => Vec::new(),
            ReloadTrigger::ByNobody => {
                let mut known = Config::clone(now.config());
                // A person took this over already; it takes effect at the next start.
                if parts.settings.status().needs_restart.iter().any(|key| key == "api_listen") {
                    known.api_listen = config.api_listen;
                }
                guarded(&known, &config, has_users)
            }
        };
        let needs_restart = keep_until_restart(&mut config, now.config());
        if !waiting.is_empty() {
            config = Config::clone(now.config());
        }
        // Where this server listens stays; what it listens with may not.
        if let Some(problem) = config.exposure().filter(|_| !has_users) {
            return Err(faulty(problem).into());
        }
        let external = Arc::clone(parts.external.peers()) as Arc<dyn ExternalAgents>;
        agents::add_external(&mut agents, &config.a2a.external_agents, &external, now.agents());
        let report = ReloadReport {
            changed: changed_keys(now.config(), &config),
            agents: agents::changes(now.agents(), &agents.agents),
            mcp_servers: server_changes(&now.config().mcp_servers, &config.mcp_servers),
            status: SettingsStatus {
                waiting,
                needs_restart,
                failed_agents: agents.failed.clone(),
                ..SettingsStatus::default()
            },
        };
        let key = match now.admin_key().is(config.api_key.as_ref()) {
            true => Arc::clone(now.admin_key()),
            false => parts.access.credentials().admin_key(config.api_key.as_ref()),
        };
        let is_way_same = config.egress == now.config().egress && config.web == now.config().web;
        let http = match is_way_same {
            true => now.http_doors().clone(),
            false => parts.outward.doors(&config).map_err(faulty)?,
        };
        let next = Settings::new(config, agents, key, http);
        match no_default(&next, &parts.home) {
            Some(problem) => Err(faulty(problem).into()),
            None => Ok((next, report)),
        }
    }

    fn put_into_force(&self, next: Settings, report: &ReloadReport) {
        let (parts, before) = (&self.parts, self.settings());
        if parts.settings.status() != report.status {
            tell(&report.status);
        }
        parts.settings.set_status(report.status.clone());
        if report.is_unchanged() && next.failed_agents() == before.failed_agents() {
            return;
        }
        let (was, is) = (before.config(), Arc::clone(next.config()));
        parts.settings.replace(next);
        let has_new_keys = was.providers != is.providers || !report.agents.is_empty();
        if was.api_key != is.api_key || was.pii != is.pii || has_new_keys {
            parts.look_for_secrets(&is, was.api_key.as_ref());
        }
        parts.stores.quota.set(is.storage.owner_bytes);
        if was.api_key != is.api_key {
            before.admin_key().revoke();
            self.remember_protection(is.api_key.is_some());
        }
        parts.upstreams.follow(&was.mcp_servers, &is.mcp_servers);
        let is_way_new = was.egress != is.egress;
        if is_way_new || was.a2a.external_agents != is.a2a.external_agents {
            parts.external.peers().follow(&is.a2a.external_agents, is_way_new);
        }
        if !report.agents.is_empty() || is_shown_differently(was, &is) {
            // Lists, cards and views are made anew, and whoever listens is told.
            parts.upstreams.list_tools();
            parts.pipeline.catalog().announce();
        }
    }

    fn remember_protection(&self, has_api_key: bool) {
        let Some(memory) = &self.parts.memory else { return };
        if let Err(error) = memory.update(|record| record.has_api_key = has_api_key) {
            tracing::warn!(%error, "the home does not remember whether there is an api_key");
        }
    }

    /// One row of the audit log: who reloaded, and the names of what changed.
    fn note_reload(&self, caller: &Caller, names: &[String], outcome: AuditOutcome) {
        let is_refused = matches!(outcome, AuditOutcome::Refused(_));
        let kind = if is_refused { AuditKind::Refusal } else { AuditKind::Deed };
        let row = AuditRow {
            trace: caller.trace,
            at: self.parts.clock.now(),
            owner: caller.principal.owner().clone(),
            door: caller.door,
            agent: None,
            run: None,
            subject: AuditSubject::reload(names.iter().map(String::as_str)),
            outcome,
            micros: 0,
        };
        self.parts.stores.audit.record(kind, row);
    }
}

impl Kernel {
    /// Takes over what was written, once it has settled.
    pub(super) async fn watch_settings(self) {
        let mut due = tokio::time::interval(SETTINGS_LOOK);
        due.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            due.tick().await;
            if !self.config().reload.watch {
                continue;
            }
            let Some(marks) = self.look_at_files().await else { continue };
            if self.parts.settings.has_seen(&marks) {
                continue;
            }
            tokio::time::sleep(SETTINGS_SETTLE).await;
            // Still being written: the next look finds it.
            if self.look_at_files().await.as_ref() == Some(&marks) {
                // The log has what came of it.
                let _ = self.reload_as(self.on_its_own(), ReloadTrigger::ByNobody).await;
            }
        }
    }

    async fn look_at_files(&self) -> Option<FileMarks> {
        let home = self.parts.home.clone();
        tokio::task::spawn_blocking(move || FileMarks::of(&home)).await.ok()
    }
}

/// The agents that changed, as keys.
fn names_of(report: &ReloadReport) -> Vec<String> {
    let agents = &report.agents;
    let all = agents.added.iter().chain(&agents.changed).chain(&agents.removed);
    all.map(|name| format!("agents.{name}")).collect()
}

/// What is not in force although it is written.
fn tell(status: &SettingsStatus) {
    for reason in &status.waiting {
        tracing::warn!("config.toml is waiting for `openfang reload`: {reason}");
    }
    for key in &status.needs_restart {
        tracing::warn!("{key} takes effect at the next start");
    }
    for failed in &status.failed_agents {
        tracing::warn!(agent = failed.name, "an agent is invalid: {}", failed.reason);
    }
}
