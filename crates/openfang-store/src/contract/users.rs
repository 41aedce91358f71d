//! The rules of every user store.

use std::time::Duration;

use jiff::Timestamp;
use openfang_types::ids::{KeyId, LoginId};
use openfang_types::limits::{KEYS_PER_USER, LOGINS_PER_USER, REVOKED_KEY_KEPT};
use openfang_types::secret::Secret;
use openfang_types::taint::Label;
use uuid::Uuid;

use super::owner;
use crate::{Login, NewKey, NewUser, SecretDigest, StoreError, UserKey, UserStore};

pub(crate) async fn users(fresh: impl Fn() -> Box<dyn UserStore>) {
    a_user_is_added_once_and_changed(&*fresh()).await;
    a_removed_user_opens_nothing_and_its_name_stays_taken(&*fresh()).await;
    keys_are_listed_used_and_revoked(&*fresh()).await;
    keys_and_logins_need_a_user(&*fresh()).await;
    keys_are_limited_per_user_and_revoked_ones_do_not_count(&*fresh()).await;
    the_oldest_login_makes_room(&*fresh()).await;
    another_password_ends_the_logins(&*fresh()).await;
    what_is_over_is_forgotten(&*fresh()).await;
    accounts_show_what_opens_and_nothing_when_nothing_changed(&*fresh()).await;
    whoever_watches_is_told(&*fresh()).await;
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).unwrap()
}

pub(crate) fn new_user(name: &str) -> NewUser {
    NewUser {
        name: owner(name),
        grants: vec!["get_*".into(), "agent:starter/*".into()],
        password_hash: None,
        created_at: at(0),
        follows: false,
    }
}

pub(crate) fn new_key(name: &str, id: &str, secret: &str) -> NewKey {
    NewKey {
        id: key_id(id),
        owner: owner(name),
        digest: SecretDigest::of(secret),
        label: "ci \u{1f980}".into(),
        entry_label: None,
        profile: None,
        created_at: at(1),
        expires_at: None,
    }
}

fn key_id(id: &str) -> KeyId {
    id.parse().unwrap()
}

fn login(name: &str, n: u8) -> Login {
    Login {
        id: LoginId::from_uuid(Uuid::from_u128(n.into())),
        owner: owner(name),
        digest: SecretDigest::of(&format!("cookie {n}")),
        created_at: at(n.into()),
        expires_at: at(1000 + i64::from(n)),
    }
}

async fn a_user_is_added_once_and_changed(store: &dyn UserStore) {
    store.add_user(new_user("bob")).await.unwrap();
    store.add_user(new_user("ada")).await.unwrap();
    assert_eq!(store.add_user(NewUser { follows: true, ..new_user("ada") }).await, Err(StoreError::Conflict));

    store.set_grants(&owner("ada"), vec!["it's \"x\"".into()]).await.unwrap();
    store.set_password(&owner("ada"), Some(Secret::new("$hash".into()))).await.unwrap();

    let ada = store.user(&owner("ada")).await.unwrap();
    assert_eq!((ada.grants.as_slice(), ada.created_at), (&["it's \"x\"".to_owned()][..], at(0)));
    assert_eq!(ada.password_hash.unwrap().expose(), "$hash");
    let names: Vec<String> = store.users().await.unwrap().iter().map(|user| user.name.to_string()).collect();
    assert_eq!(names, ["ada", "bob"]);
    assert_eq!(store.user(&owner("eve")).await, Err(StoreError::NotFound));
    assert_eq!(store.set_grants(&owner("eve"), Vec::new()).await, Err(StoreError::NotFound));
    assert_eq!(store.set_password(&owner("eve"), None).await, Err(StoreError::NotFound));
    assert_eq!(store.remove_user(&owner("eve"), at(1)).await, Err(StoreError::NotFound));
}

async fn a_removed_user_opens_nothing_and_its_name_stays_taken(store: &dyn UserStore) {
    let ada = owner("ada");
    for name in ["ada", "bob"] {
        store.add_user(new_user(name)).await.unwrap();
    }
    store.add_key(new_key("ada", "00000000000a", "a")).await.unwrap();
    store.add_key(new_key("bob", "00000000000b", "b")).await.unwrap();
    store.add_login(login("ada", 1)).await.unwrap();
    store.add_login(login("bob", 2)).await.unwrap();

    store.remove_user(&ada, at(5)).await.unwrap();

    let left = store.accounts(None).unwrap().unwrap();
    assert_eq!((left.users.len(), left.keys.len(), left.logins.len()), (1, 1, 1));
    assert_eq!(left.keys[0].owner, owner("bob"));
    assert_eq!(store.keys(Some(&ada)).await.unwrap()[0].revoked_at, Some(at(5)));
    assert!(store.was_user(&ada).await.unwrap());
    assert!(!store.was_user(&owner("bob")).await.unwrap());
    assert_eq!(store.add_user(new_user("ada")).await, Err(StoreError::Conflict));
    assert_eq!(store.user(&ada).await, Err(StoreError::NotFound));

    store.add_user(NewUser { follows: true, ..new_user("ada") }).await.unwrap();
    assert!(!store.was_user(&ada).await.unwrap());
    assert_eq!(store.keys(Some(&ada)).await.unwrap()[0].revoked_at, Some(at(5)), "an old key stays revoked");
}

async fn keys_are_listed_used_and_revoked(store: &dyn UserStore) {
    for name in ["ada", "bob"] {
        store.add_user(new_user(name)).await.unwrap();
    }
    let labelled = NewKey {
        entry_label: Some(Label::UntrustedAgent),
        profile: Some("work".parse().unwrap()),
        expires_at: Some(at(9)),
        ..new_key("ada", "00000000000b", "x")
    };
    store.add_key(labelled.clone()).await.unwrap();
    let later = NewKey { created_at: at(2), ..new_key("ada", "00000000000a", "y") };
    store.add_key(later).await.unwrap();
    store.add_key(new_key("bob", "00000000000c", "z")).await.unwrap();
    assert_eq!(store.add_key(new_key("bob", "00000000000d", "z")).await, Err(StoreError::Conflict));
    assert_eq!(store.add_key(new_key("bob", "00000000000c", "w")).await, Err(StoreError::Conflict));

    let ids = async |name: Option<&str>| {
        let keys = store.keys(name.map(owner).as_ref()).await.unwrap();
        keys.into_iter().map(|key| key.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(ids(Some("ada")).await, ["00000000000b", "00000000000a"], "those made first first");
    assert_eq!(ids(None).await.len(), 3);
    assert_eq!(ids(Some("eve")).await, [""; 0]);

    let id = key_id("00000000000b");
    store.keys_used(vec![(id.clone(), at(9)), (key_id("ffffffffffff"), at(9))]).await.unwrap();
    store.keys_used(vec![(id.clone(), at(7))]).await.unwrap();
    let revoked = store.revoke_key(&id, at(10)).await.unwrap();
    let expected = UserKey { last_used: Some(at(9)), revoked_at: Some(at(10)), ..labelled.into() };
    assert_eq!(revoked, expected);
    assert_eq!(store.revoke_key(&id, at(11)).await.unwrap(), expected, "the first time counts");
    assert_eq!(store.revoke_key(&key_id("ffffffffffff"), at(11)).await, Err(StoreError::NotFound));
}

async fn keys_and_logins_need_a_user(store: &dyn UserStore) {
    assert_eq!(store.add_key(new_key("eve", "00000000000a", "x")).await, Err(StoreError::NotFound));
    assert_eq!(store.add_login(login("eve", 1)).await, Err(StoreError::NotFound));
    store.end_login(login("eve", 1).id).await.unwrap();
}

async fn keys_are_limited_per_user_and_revoked_ones_do_not_count(store: &dyn UserStore) {
    store.add_user(new_user("ada")).await.unwrap();
    let key = |n: usize| new_key("ada", &format!("{n:012x}"), &format!("secret {n}"));
    for n in 0..KEYS_PER_USER {
        store.add_key(key(n)).await.unwrap();
    }

    let refused = store.add_key(key(KEYS_PER_USER)).await;
    assert_eq!(refused, Err(StoreError::TooMany { what: "keys of this user", limit: KEYS_PER_USER }));
    store.revoke_key(&key(0).id, at(2)).await.unwrap();
    store.add_key(key(KEYS_PER_USER)).await.unwrap();
}

async fn the_oldest_login_makes_room(store: &dyn UserStore) {
    store.add_user(new_user("ada")).await.unwrap();
    let count = u8::try_from(LOGINS_PER_USER).unwrap();
    for n in 1..=count + 2 {
        store.add_login(login("ada", n)).await.unwrap();
    }

    let logins = store.accounts(None).unwrap().unwrap().logins;

    assert_eq!(logins.len(), LOGINS_PER_USER);
    assert!(logins.iter().all(|held| held.created_at > at(2)), "{logins:?}");
}

async fn another_password_ends_the_logins(store: &dyn UserStore) {
    for name in ["ada", "bob"] {
        store.add_user(new_user(name)).await.unwrap();
    }
    store.add_login(login("ada", 1)).await.unwrap();
    store.add_login(login("ada", 2)).await.unwrap();
    store.add_login(login("bob", 3)).await.unwrap();

    store.end_login(login("ada", 1).id).await.unwrap();
    assert_eq!(store.accounts(None).unwrap().unwrap().logins, [login("ada", 2), login("bob", 3)]);
    store.set_password(&owner("ada"), Some(Secret::new("new".into()))).await.unwrap();

    assert_eq!(store.accounts(None).unwrap().unwrap().logins, [login("bob", 3)]);
}

async fn what_is_over_is_forgotten(store: &dyn UserStore) {
    store.add_user(new_user("ada")).await.unwrap();
    store.add_login(login("ada", 1)).await.unwrap();
    store.add_login(login("ada", 2)).await.unwrap();
    store.add_key(new_key("ada", "00000000000a", "x")).await.unwrap();
    store.add_key(new_key("ada", "00000000000b", "y")).await.unwrap();
    store.revoke_key(&key_id("00000000000a"), at(2)).await.unwrap();

    assert_eq!(store.purge(at(1001)).await, Ok(1));
    assert_eq!(store.accounts(None).unwrap().unwrap().logins, [login("ada", 2)]);
    assert_eq!(store.keys(None).await.unwrap().len(), 2, "a revoked key is listed for a while");
    assert_eq!(store.purge(at(3) + REVOKED_KEY_KEPT + Duration::from_secs(1)).await, Ok(2));
    assert_eq!(store.keys(None).await.unwrap().len(), 1);
}

async fn accounts_show_what_opens_and_nothing_when_nothing_changed(store: &dyn UserStore) {
    let empty = store.accounts(None).unwrap().unwrap();
    assert_eq!((empty.users.len(), empty.keys.len(), empty.logins.len()), (0, 0, 0));
    assert_eq!(store.accounts(Some(empty.generation)).unwrap(), None);
    store.add_user(new_user("ada")).await.unwrap();
    store.add_key(new_key("ada", "00000000000a", "x")).await.unwrap();

    let held = store.accounts(Some(empty.generation)).unwrap().unwrap();
    assert!(held.generation > empty.generation);
    assert_eq!(held.keys, [UserKey::from(new_key("ada", "00000000000a", "x"))]);
    store.keys_used(vec![(key_id("00000000000a"), at(9))]).await.unwrap();
    assert_eq!(store.accounts(Some(held.generation)).unwrap(), None, "using a key changes no credential");
    assert!(store.add_user(new_user("ada")).await.is_err());
    assert_eq!(store.accounts(Some(held.generation)).unwrap(), None, "what is refused changes nothing");

    store.revoke_key(&key_id("00000000000a"), at(9)).await.unwrap();
    assert_eq!(store.accounts(Some(held.generation)).unwrap().unwrap().keys, []);
}

async fn whoever_watches_is_told(store: &dyn UserStore) {
    let mut changes = store.changes();
    changes.mark_unchanged();

    store.add_user(new_user("ada")).await.unwrap();

    changes.changed().await.unwrap();
    assert_eq!(store.accounts(None).unwrap().unwrap().users.len(), 1);
}
