//! From digests to principals, and what fires when.

use std::sync::Mutex;

use openfang_store::{Login, NewKey, NewUser, Stores};
use openfang_types::ids::LoginId;

use openfang_types::taint::SinkKind;
use openfang_types::tool::{ToolAnnotations, ToolDefinition, ToolTraits};

use super::*;
use crate::settings::home::Home;
use crate::settings::home::record::HomeRecord;

struct SetClock(Mutex<Timestamp>);

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

struct House {
    store: Arc<dyn UserStore>,
    clock: Arc<SetClock>,
    accounts: Accounts,
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).unwrap()
}

fn ada() -> Owner {
    "ada".parse().unwrap()
}

fn key_id() -> KeyId {
    "0123456789ab".parse().unwrap()
}

impl House {
    /// Ada, with the key `k` and the cookie `c`.
    async fn with_ada() -> Self {
        let store = Stores::in_memory().users;
        let clock = Arc::new(SetClock(Mutex::new(at(0))));
        let as_clock: Arc<dyn Clock> = clock.clone();
        let accounts = Accounts::open(Arc::clone(&store), as_clock, None).unwrap();
        let new = NewUser {
            name: ada(),
            grants: vec!["get_*".into()],
            password_hash: None,
            created_at: at(0),
            follows: false,
        };
        store.add_user(new).await.unwrap();
        let key = NewKey {
            id: key_id(),
            owner: ada(),
            digest: SecretDigest::of("k"),
            label: String::new(),
            entry_label: None,
            profile: None,
            created_at: at(0),
            expires_at: Some(at(1_000)),
        };
        store.add_key(key).await.unwrap();
        let login = Login {
            id: LoginId::from_uuid(uuid::Uuid::from_u128(1)),
            owner: ada(),
            digest: SecretDigest::of("c"),
            created_at: at(0),
            expires_at: at(100),
        };
        store.add_login(login).await.unwrap();
        let house = Self { store, clock, accounts };
        house.accounts.refresh().unwrap();
        house
    }

    fn by_key(&self, key: &str) -> Option<Arc<Principal>> {
        self.accounts.by_key(&SecretDigest::of(key))
    }

    fn by_login(&self, cookie: &str) -> Option<Arc<Principal>> {
        self.accounts.by_login(&SecretDigest::of(cookie))
    }

    /// What fires for the key, and for the login.
    fn tokens(&self) -> [CancellationToken; 2] {
        let of = |principal: Option<Arc<Principal>>| self.accounts.revoked(principal.unwrap().credential().unwrap());
        [of(self.by_key("k")), of(self.by_login("c"))]
    }
}

#[tokio::test]
async fn a_key_is_no_cookie_and_a_cookie_is_no_key() {
    let house = House::with_ada().await;

    assert_eq!(house.by_key("k").unwrap().owner(), &ada());
    assert_eq!(house.by_login("c").unwrap().owner(), &ada());
    assert_eq!((house.by_key("c"), house.by_login("k"), house.by_key("")), (None, None, None));
}

#[tokio::test]
async fn what_did_not_change_keeps_its_token_and_what_did_fires() {
    let house = House::with_ada().await;
    let [key, login] = house.tokens();

    let other = NewUser {
        name: "bob".parse().unwrap(),
        grants: Vec::new(),
        password_hash: None,
        created_at: at(0),
        follows: false,
    };
    house.store.add_user(other).await.unwrap();
    house.accounts.refresh().unwrap();
    assert!(!key.is_cancelled() && !login.is_cancelled(), "somebody else's affairs");

    house.store.revoke_key(&key_id(), at(1)).await.unwrap();
    house.accounts.refresh().unwrap();
    assert!(key.is_cancelled() && !login.is_cancelled());
    assert_eq!(house.by_key("k"), None);
    assert!(house.accounts.revoked(&Credential::Key(key_id())).is_cancelled(), "also for who asks late");

    house.store.remove_user(&ada(), at(2)).await.unwrap();
    house.accounts.refresh().unwrap();
    assert!(login.is_cancelled());
    assert_eq!((house.by_login("c"), house.accounts.grants(&ada())), (None, None));
}

fn add_numbers() -> ToolTraits {
    let (name, annotations) = ("add_numbers".parse().unwrap(), ToolAnnotations::READ_ONLY);
    ToolTraits::from(&ToolDefinition::of::<()>(name, "adds", SinkKind::Reads, annotations))
}

#[tokio::test]
async fn other_grants_fire_and_are_in_force_at_once() {
    let house = House::with_ada().await;
    let [key, login] = house.tokens();

    house.store.set_grants(&ada(), vec!["*".into()]).await.unwrap();
    house.accounts.refresh().unwrap();

    assert!(key.is_cancelled() && login.is_cancelled());
    assert!(house.by_key("k").unwrap().may_use(&add_numbers(), None));
    let [key, login] = house.tokens();
    assert!(!key.is_cancelled() && !login.is_cancelled(), "whoever comes again has a token of their own");
}

#[tokio::test]
async fn grants_that_cannot_be_read_grant_nothing() {
    let house = House::with_ada().await;

    house.store.set_grants(&ada(), vec!["*".into(), "not a grant".into()]).await.unwrap();
    house.accounts.refresh().unwrap();

    assert!(!house.by_key("k").unwrap().may_use(&add_numbers(), None));
}

#[tokio::test]
async fn a_login_and_a_key_are_over_at_their_time_and_what_is_open_on_them_ends() {
    let house = House::with_ada().await;
    let [key, login] = house.tokens();
    *house.clock.0.lock().unwrap() = at(99);
    house.accounts.end_old_credentials();
    assert!(house.by_login("c").is_some() && !login.is_cancelled());

    *house.clock.0.lock().unwrap() = at(100);

    assert_eq!(house.by_login("c"), None);
    house.accounts.end_old_credentials();
    assert!(login.is_cancelled() && !key.is_cancelled());

    *house.clock.0.lock().unwrap() = at(1_000);

    assert_eq!(house.by_key("k"), None);
    house.accounts.end_old_credentials();
    assert!(key.is_cancelled());
}

#[tokio::test]
async fn a_use_is_noted_once() {
    let house = House::with_ada().await;
    assert_eq!(house.accounts.take_uses(), []);
    house.by_key("k").unwrap();
    house.by_key("unknown");
    *house.clock.0.lock().unwrap() = at(5);
    house.by_key("k").unwrap();

    assert_eq!(house.accounts.take_uses(), [(key_id(), at(5))]);
    assert_eq!(house.accounts.take_uses(), []);
}

#[tokio::test]
async fn strangers_stay_out_after_the_last_user_is_gone() {
    let empty = Accounts::open(Stores::in_memory().users, Arc::new(SetClock(Mutex::new(at(0)))), None).unwrap();
    assert!(!empty.has_seen_users() && !empty.closing_for_strangers().is_cancelled());
    let house = House::with_ada().await;
    assert!(house.accounts.has_seen_users() && house.accounts.closing_for_strangers().is_cancelled());

    house.store.remove_user(&ada(), at(1)).await.unwrap();
    house.accounts.refresh().unwrap();

    assert!(house.accounts.has_seen_users() && !house.accounts.has_users());
}

#[tokio::test]
async fn a_refresh_ends_when_the_home_remembers_even_if_another_one_was_faster() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::at(directory.path().join("home"));
    home.prepare().unwrap();
    let memory = Arc::new(HomeMemory::open(&home, HomeRecord::default()).unwrap());
    let mut house = House::with_ada().await;
    house.accounts.memory = Some(Arc::clone(&memory));
    assert!(!memory.record().has_users, "the refresh that knows of Ada has not written it down");

    house.accounts.refresh().unwrap();

    assert!(memory.record().has_users);
}
