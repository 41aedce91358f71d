//! With which rights schedules run: those that their creator has then.

use openfang_kernel::users::{KeyWanted, UserWanted};

use super::*;

struct Ada {
    works: Works,
    name: Owner,
    caller: Caller,
}

const GRANTS: [&str; 2] = ["schedule_*", "agent:worker"];

impl Ada {
    /// A user with a schedule that is due every hour.
    async fn with_schedule() -> Self {
        let works = Works::new(worker_home());
        let operator = callers::operator(&works.kernel);
        let name: Owner = "ada".parse().unwrap();
        let grants = GRANTS.iter().map(|grant| (*grant).to_owned()).collect();
        let wanted = UserWanted { name: name.clone(), grants, password: None, again: false };
        works.kernel.add_user(&operator, wanted).await.unwrap();
        let caller = callers::user(&works.kernel, "ada", &GRANTS);
        works
            .create(&caller, json!({ "description": "x", "schedule": "hourly", "agent": "worker" }))
            .await;
        Self { works, name, caller }
    }

    async fn reason(&self) -> String {
        self.works.after(HOUR).await;
        assert_eq!(self.works.tasks(&self.caller).await.len(), 1);
        self.works.only(&self.caller).await.reason.unwrap_or_default()
    }
}

#[tokio::test]
async fn a_schedule_of_a_user_who_was_removed_is_paused() {
    let ada = Ada::with_schedule().await;
    ada.works.after(HOUR).await;
    let operator = callers::operator(&ada.works.kernel);
    ada.works.kernel.remove_user(&operator, &ada.name).await.unwrap();
    assert_eq!(ada.reason().await, "there is no user ada any more");
}

#[tokio::test]
async fn a_schedule_of_a_user_who_lost_a_grant_is_paused() {
    for (left, says) in
        [("schedule_*", "there is no agent worker any more"), ("agent:worker", "may not use schedule_create")]
    {
        let ada = Ada::with_schedule().await;
        ada.works.after(HOUR).await;
        let operator = callers::operator(&ada.works.kernel);
        ada.works
            .kernel
            .set_user_grants(&operator, &ada.name, vec![left.to_owned()])
            .await
            .unwrap();
        let reason = ada.reason().await;
        assert!(reason.contains(says), "{reason}");
    }
}

#[tokio::test]
async fn a_schedule_is_paused_with_the_key_that_it_was_created_with() {
    let works = Works::new(worker_home());
    let operator = callers::operator(&works.kernel);
    let name: Owner = "ada".parse().unwrap();
    let grants = GRANTS.iter().map(|grant| (*grant).to_owned()).collect();
    works
        .kernel
        .add_user(&operator, UserWanted { name: name.clone(), grants, password: None, again: false })
        .await
        .unwrap();
    let wanted =
        KeyWanted { user: name, label: "laptop".to_owned(), entry_label: None, profile: None, expires_at: None };
    let made = works.kernel.create_user_key(&operator, wanted).await.unwrap();
    let principal = works
        .kernel
        .authenticate(Some(made.key.expose()), openfang_kernel::PeerKind::Remote)
        .unwrap();
    let caller = Caller { principal, ..callers::admin(&works.kernel) };
    works
        .create(&caller, json!({ "description": "x", "schedule": "hourly", "agent": "worker" }))
        .await;
    works.after(HOUR).await;
    works.kernel.revoke_user_key(&operator, &made.details.id).await.unwrap();
    works.after(HOUR).await;
    let schedule = works.only(&caller).await;
    assert!(schedule.reason.unwrap().contains("was revoked"));
    assert_eq!(works.tasks(&caller).await.len(), 1);
}

#[tokio::test]
async fn a_schedule_of_an_agent_that_was_deleted_is_paused() {
    let works = Works::new(worker_home());
    let operator = callers::operator(&works.kernel);
    works
        .create(&operator, json!({ "description": "x", "schedule": "hourly", "agent": "worker" }))
        .await;
    std::fs::remove_dir_all(works.home.path().join("agents/worker")).unwrap();
    works.kernel.reload(&operator).await.unwrap();
    works.after(HOUR).await;
    let reason = works.only(&operator).await.reason.unwrap();
    assert!(reason.starts_with("there is no agent worker any more"), "{reason}");
}

#[tokio::test]
async fn a_schedule_in_a_zone_that_is_gone_is_paused() {
    let works = Works::new(worker_home());
    let operator = callers::operator(&works.kernel);
    works
        .create(&operator, json!({ "description": "x", "schedule": "hourly", "agent": "worker" }))
        .await;
    let schedule = works.only(&operator).await;
    works
        .stores
        .schedules
        .update(Schedule { time_zone: "Gone/Zone".to_owned(), ..schedule })
        .await
        .unwrap();
    works.after(HOUR).await;
    let reason = works.only(&operator).await.reason.unwrap();
    assert!(reason.contains("no time zone Gone/Zone"), "{reason}");
    assert!(
        call(&works.kernel, &operator, "schedule_list", json!({}))
            .await
            .unwrap()
            .joined_text()
            .contains("Gone/Zone")
    );
}
