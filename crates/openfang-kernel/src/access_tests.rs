//! Who is let in, and which label they bring.

use openfang_store::Stores;
use openfang_types::principal::Grants;

use super::*;
use crate::SystemClock;

fn no_accounts() -> Arc<Accounts> {
    Arc::new(Accounts::open(Stores::in_memory().users, Arc::new(SystemClock), None).unwrap())
}

fn with_key() -> (Credentials, Arc<AdminKey>) {
    let credentials = Credentials::new(no_accounts()).unwrap();
    let key = credentials.admin_key(Some(&Secret::new("right-key".into())));
    (credentials, key)
}

#[test]
fn the_right_key_is_the_admin_and_everything_else_is_nobody() {
    let (credentials, key) = with_key();
    let check = |presented: Option<&str>| credentials.authenticate(&key, presented, PeerKind::Loopback);

    assert_eq!(check(Some("right-key")), Ok(Arc::new(Principal::admin(AdminProof::ApiKey))));
    let token = credentials.daemon_token().expose().to_owned();
    assert_eq!(check(Some(&token)), Ok(Arc::new(Principal::admin(AdminProof::DaemonToken))));
    for wrong in ["", "right-ke", "right-key ", "RIGHT-KEY", "right-key\0"] {
        assert_eq!(check(Some(wrong)), Err(AuthError::Invalid), "{wrong:?}");
    }
    assert_eq!(check(None), Err(AuthError::Missing));
}

#[test]
fn without_a_configured_key_loopback_is_local_and_nobody_else_is_anything() {
    let credentials = Credentials::new(no_accounts()).unwrap();
    let key = credentials.admin_key(None);

    assert_eq!(credentials.authenticate(&key, None, PeerKind::Loopback), Ok(Arc::new(Principal::local())));
    assert_eq!(credentials.authenticate(&key, None, PeerKind::Remote), Err(AuthError::Missing));
    for wrong in ["", "x", &"\0".repeat(32)] {
        assert_eq!(credentials.authenticate(&key, Some(wrong), PeerKind::Loopback), Err(AuthError::Invalid));
    }
}

#[test]
fn each_door_and_credential_brings_its_label() {
    let trace = "00000000-0000-0000-0000-000000000001".parse().unwrap();
    let label = |door, principal| {
        let caller = Caller { principal: Arc::new(principal), door, trace, hops: 0, room: None };
        caller.entry_labels().iter().collect::<Vec<_>>()
    };
    let user = Principal::user("ada".parse().unwrap(), Grants::default());

    assert_eq!(label(Door::Cli, Principal::admin(AdminProof::InProcess)), [Label::Operator]);
    assert_eq!(label(Door::Rest, Principal::admin(AdminProof::ApiKey)), [Label::User]);
    assert_eq!(label(Door::Rest, user), [Label::User]);
    assert_eq!(label(Door::Rest, Principal::local()), [Label::UntrustedAgent]);
    assert_eq!(label(Door::Agent, Principal::local()), []);
}

#[test]
fn a_key_may_say_how_far_it_is_trusted_through_every_door() {
    let trace = "00000000-0000-0000-0000-000000000001".parse().unwrap();
    for label in [Label::UntrustedAgent, Label::User] {
        let user = Principal::user("ada".parse().unwrap(), Grants::default()).bringing(Some(label));
        for door in [Door::Rest, Door::Mcp, Door::A2a] {
            let caller = Caller { principal: Arc::new(user.clone()), door, trace, hops: 0, room: None };
            assert_eq!(caller.entry_labels().iter().collect::<Vec<_>>(), [label]);
        }
        let through_agent = Caller { principal: Arc::new(user), door: Door::Agent, trace, hops: 0, room: None };
        assert!(through_agent.entry_labels().is_empty(), "the labels of the run travel");
    }
}
