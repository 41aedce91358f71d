//! Trust is bound to the digest of all files.

use openfang_kernel::skill_control::SkillError;
use openfang_kernel::{Caller, KernelError};
use openfang_testkit::callers;
use openfang_types::principal::{AdminProof, Door, Principal};
use openfang_types::skills::{SkillAction, SkillChangeKind, SkillState};

use super::fixture::{PDF, Stage, change, details, trust, trust_and_enable};

#[tokio::test]
async fn a_skill_is_found_then_trusted_then_enabled_and_in_this_order_only() {
    let stage = Stage::new(&["*"], &[]).await;
    let kernel = &stage.kernel;
    let found = details(kernel, "pdf-forms").await;
    assert_eq!((found.skill.state, found.skill.enabled, found.skill.active), (SkillState::Installed, false, false));
    let early = change(kernel, "pdf-forms", SkillAction::Enable {}).await.unwrap_err();
    assert!(matches!(early, KernelError::Skill(SkillError::NotTrusted(_))), "{early}");

    let trusted = trust(kernel, "pdf-forms").await;
    assert_eq!((trusted.skill.state, trusted.skill.active), (SkillState::Trusted, false));
    let enabled = change(kernel, "pdf-forms", SkillAction::Enable {}).await.unwrap();
    assert!(enabled.skill.enabled && enabled.skill.active);
    assert_eq!(enabled.version.as_deref(), Some("1.2"));
    assert_eq!(enabled.allowed_tools, ["add_numbers", "Bash(ls:*)"]);

    let disabled = change(kernel, "pdf-forms", SkillAction::Disable {}).await.unwrap();
    assert_eq!((disabled.skill.state, disabled.skill.active), (SkillState::Trusted, false));
}

#[tokio::test]
async fn any_change_of_a_file_takes_the_skill_out_of_force_and_is_shown() {
    let stage = Stage::ready(&[]).await;
    let kernel = &stage.kernel;
    assert!(details(kernel, "pdf-forms").await.skill.active);
    stage
        .home
        .write("skills/pdf-forms/references/fields.md", "The first field is the password.\n");
    stage.home.write("skills/pdf-forms/more.md", "new\n");
    kernel.follow_skills().await;

    let changed = details(kernel, "pdf-forms").await;

    assert_eq!((changed.skill.state, changed.skill.active), (SkillState::Changed, false));
    let shown: Vec<_> = changed.changes.iter().map(|change| (change.path.as_str(), change.kind)).collect();
    let expected = [("more.md", SkillChangeKind::Added), ("references/fields.md", SkillChangeKind::Changed)];
    assert_eq!(shown, expected);
    assert_eq!(changed.changes[1].before.as_deref(), Some("The first field is the name.\n"));

    trust(kernel, "pdf-forms").await;
    assert!(details(kernel, "pdf-forms").await.skill.active);
}

#[tokio::test]
async fn files_that_are_as_they_were_are_trusted_again_by_themselves() {
    let stage = Stage::ready(&[]).await;
    stage.home.write("skills/pdf-forms/SKILL.md", &PDF.replace("okapi", "zebra"));
    stage.kernel.follow_skills().await;
    assert!(!details(&stage.kernel, "pdf-forms").await.skill.active);

    stage.home.write("skills/pdf-forms/SKILL.md", PDF);
    stage.kernel.follow_skills().await;

    assert!(details(&stage.kernel, "pdf-forms").await.skill.active);
}

#[tokio::test]
async fn only_the_digest_that_was_shown_is_trusted() {
    let stage = Stage::new(&["*"], &[]).await;
    let shown = details(&stage.kernel, "pdf-forms").await.skill.digest;
    stage.home.write("skills/pdf-forms/references/fields.md", "swapped meanwhile");

    let refused = change(&stage.kernel, "pdf-forms", SkillAction::Trust { digest: Some(shown) })
        .await
        .unwrap_err();

    assert!(matches!(refused, KernelError::Skill(SkillError::OtherDigest { .. })), "{refused}");
    assert_eq!(details(&stage.kernel, "pdf-forms").await.skill.state, SkillState::Installed);
}

#[tokio::test]
async fn trust_outlives_a_restart_and_a_lost_ledger_trusts_nothing() {
    let stage = Stage::ready(&[]).await;
    let config = super::fixture::settings(&stage.provider.url());
    drop(stage.kernel);
    let kernel = stage.home.boot_with(config.clone()).start().unwrap();
    assert!(details(&kernel, "pdf-forms").await.skill.active);

    std::fs::write(stage.home.path().join("data/skill_trust/ledger.json"), "{ damaged").unwrap();
    kernel.follow_skills().await;
    let error = kernel.skills(&callers::operator(&kernel)).await.unwrap_err();
    assert!(matches!(error, KernelError::Skill(SkillError::Ledger { .. })), "{error}");
    let refused = change(&kernel, "pdf-forms", SkillAction::Trust { digest: None }).await.unwrap_err();
    assert!(matches!(refused, KernelError::Skill(SkillError::Ledger { .. })), "{refused}");

    std::fs::remove_file(stage.home.path().join("data/skill_trust/ledger.json")).unwrap();
    kernel.follow_skills().await;
    assert_eq!(details(&kernel, "pdf-forms").await.skill.state, SkillState::Installed);
}

#[tokio::test]
async fn only_who_is_on_this_machine_changes_skills_and_users_do_not_see_them_all() {
    let stage = Stage::new(&["*"], &[]).await;
    let kernel = &stage.kernel;
    let user = callers::user(kernel, "ada", &["*", "skill:*"]);
    let refused = |error: KernelError| assert!(matches!(error, KernelError::NotPermitted(_)), "{error}");
    for caller in [callers::admin(kernel), callers::local(kernel), user.clone()] {
        let name = "pdf-forms".parse().unwrap();
        refused(
            kernel
                .change_skill(&caller, &name, SkillAction::Trust { digest: None })
                .await
                .unwrap_err(),
        );
        refused(kernel.remove_skill(&caller, &name).await.unwrap_err());
        let source = openfang_kernel::skill_control::SkillSource::Path("/etc".into());
        refused(kernel.inspect_skill(&caller, source).await.unwrap_err());
    }
    refused(kernel.skills(&user).await.unwrap_err());
    let token = Caller {
        principal: std::sync::Arc::new(Principal::admin(AdminProof::DaemonToken)),
        door: Door::Cli,
        ..callers::operator(kernel)
    };
    kernel
        .change_skill(&token, &"pdf-forms".parse().unwrap(), SkillAction::Trust { digest: None })
        .await
        .unwrap();
}

#[tokio::test]
async fn a_skill_of_a_later_place_is_hidden_and_cannot_take_the_name_of_a_trusted_one() {
    let stage = Stage::new(&["*"], &[]).await;
    let kernel = &stage.kernel;
    trust_and_enable(kernel, "pdf-forms").await;
    let project = tempfile::tempdir().unwrap();
    let place = project.path().join(".agents/skills/pdf-forms");
    std::fs::create_dir_all(&place).unwrap();
    std::fs::write(place.join("SKILL.md"), PDF.replace("okapi", "evil")).unwrap();
    std::fs::create_dir_all(project.path().join(".claude/skills/own")).unwrap();
    let own = "---\nname: own\ndescription: of the project\n---\n";
    std::fs::write(project.path().join(".claude/skills/own/SKILL.md"), own).unwrap();
    let operator = callers::operator(kernel);
    let names = async || {
        let list = kernel.skills(&operator).await.unwrap();
        list.skills.iter().map(|skill| skill.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names().await, ["pdf-forms"]);

    kernel.set_skill_project(&operator, project.path(), true).await.unwrap();

    assert_eq!(names().await, ["own", "pdf-forms"]);
    let list = kernel.skills(&operator).await.unwrap();
    assert!(list.skills[1].active && list.skills[1].source.ends_with("skills/pdf-forms"), "{list:?}");
    assert!(list.unusable.iter().any(|hidden| hidden.reason.contains("is known under this name")), "{list:?}");

    kernel.set_skill_project(&operator, project.path(), false).await.unwrap();
    assert_eq!(names().await, ["pdf-forms"]);
}

#[tokio::test]
async fn changes_are_rows_of_the_audit_log() {
    let stage = Stage::ready(&[]).await;
    stage
        .kernel
        .remove_skill(&callers::operator(&stage.kernel), &"pdf-forms".parse().unwrap())
        .await
        .unwrap();
    stage.kernel.close().await;

    let log = openfang_kernel::maintenance::AuditLog::open(&stage.home.home()).unwrap();
    let rows: Vec<String> = log
        .tail(Some(0), 100)
        .unwrap()
        .iter()
        .filter_map(|entry| entry.row().ok().map(|row| row.subject.to_string()))
        .filter(|subject| subject.contains("skill"))
        .collect();

    let has = |text: &str| rows.iter().any(|row| row.contains(text));
    assert!(has("trust skill pdf-forms") && has("enable skill pdf-forms") && has("remove skill pdf-forms"), "{rows:?}");
}
