//! Stored secrets: sealed, bound to their first user, and never shown.

use super::*;
use crate::settings::home::Home;
use crate::system::SystemClock;

const VALUE: &str = "tok-0123456789-canary";

struct Place {
    _directory: tempfile::TempDir,
    home: Home,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path().to_owned());
        home.prepare().unwrap();
        Self { _directory: directory, home }
    }

    fn vault(&self) -> Vault {
        let keys = Keys::of(&self.home, None).unwrap();
        Vault::of(&self.home, &keys, Arc::new(SystemClock))
    }
}

fn name(text: &str) -> SecretName {
    text.parse().unwrap()
}

fn value(text: &str) -> Secret {
    Secret::new(text.to_owned())
}

fn github(place: &str) -> SecretUse {
    SecretUse { user: "server:github".parse().unwrap(), place: place.to_owned() }
}

#[test]
fn a_secret_comes_back_after_a_restart_and_is_not_in_the_file() {
    let place = Place::new();
    place.vault().set(&name("TOKEN"), &value(VALUE)).unwrap();

    let lent = place.vault().lend(&BTreeSet::from(["TOKEN"]), &github("https://api.example")).unwrap();

    assert_eq!(lent.secrets["TOKEN"].expose(), VALUE);
    let file = std::fs::read_to_string(place.home.secrets()).unwrap();
    assert!(!file.contains(VALUE) && file.contains("TOKEN"), "{file}");
}

#[test]
fn a_secret_belongs_to_its_first_user_and_place_until_another_is_allowed() {
    let place = Place::new();
    let vault = place.vault();
    vault.set(&name("TOKEN"), &value(VALUE)).unwrap();
    let wanted = BTreeSet::from(["TOKEN"]);

    assert_eq!(vault.lend(&wanted, &github("https://api.example")).unwrap().bound, [name("TOKEN")]);
    assert!(vault.lend(&wanted, &github("https://api.example")).unwrap().bound.is_empty());
    let elsewhere = vault.lend(&wanted, &github("https://evil.example")).map(drop).unwrap_err().to_string();

    assert_eq!(
        elsewhere,
        "the secret TOKEN belongs to server:github (https://api.example) and is not given to server:github \
         (https://evil.example); allow it with `openfang secret allow TOKEN server:github`"
    );
    vault.allow(&name("TOKEN"), github("https://evil.example")).unwrap();
    assert!(vault.lend(&wanted, &github("https://evil.example")).is_ok());
    assert!(vault.lend(&wanted, &github("https://api.example")).is_err(), "the place of a user is replaced");
}

#[test]
fn a_new_value_keeps_the_users_and_the_old_value_stays_unshown() {
    let place = Place::new();
    let vault = place.vault();
    vault.set(&name("TOKEN"), &value(VALUE)).unwrap();
    vault.lend(&BTreeSet::from(["TOKEN"]), &github("npx")).unwrap();

    let view = vault.set(&name("TOKEN"), &value("another-value")).unwrap();
    vault.remove(&name("TOKEN")).unwrap();

    assert_eq!(view.uses, [github("npx")]);
    let known: Vec<String> = vault.values().iter().map(|value| value.expose().to_owned()).collect();
    assert_eq!(known, ["another-value", VALUE]);
}

#[test]
fn sealed_values_cannot_be_exchanged_or_opened_with_another_key() {
    let place = Place::new();
    place.vault().set(&name("ONE"), &value("value-of-one")).unwrap();
    place.vault().set(&name("TWO"), &value("value-of-two")).unwrap();
    let file = std::fs::read_to_string(place.home.secrets()).unwrap();
    let swapped = file.replace("\"ONE\"", "\"X\"").replace("\"TWO\"", "\"ONE\"").replace("\"X\"", "\"TWO\"");
    std::fs::write(place.home.secrets(), swapped).unwrap();
    let unopened = |vault: &Vault| vault.lend(&BTreeSet::from(["ONE"]), &github("npx")).map(drop).unwrap_err();

    assert!(matches!(unopened(&place.vault()), VaultError::Unopened { .. }));
    std::fs::write(place.home.secrets(), file).unwrap();
    std::fs::write(place.home.secret_key(), [7; 32]).unwrap();
    assert!(matches!(unopened(&place.vault()), VaultError::Unopened { .. }));
    assert!(place.vault().values().is_empty());
}

#[test]
fn what_cannot_be_a_secret_is_refused_and_changes_nothing() {
    let place = Place::new();
    let vault = place.vault();
    for bad in ["", "short", "with\0a-nul-in-it", &"x".repeat(SECRET_MAX_BYTES + 1)] {
        assert_eq!(vault.set(&name("TOKEN"), &value(bad)).unwrap_err(), VaultError::Value);
    }
    let unknown = vault.remove(&name("TOKEN")).unwrap_err();
    assert_eq!(unknown.to_string(), "there is no secret TOKEN");
    assert!(!place.home.secrets().exists());

    std::fs::write(place.home.secrets(), "{ not json").unwrap();
    assert!(matches!(vault.set(&name("TOKEN"), &value(VALUE)).unwrap_err(), VaultError::File { .. }));
    assert_eq!(std::fs::read_to_string(place.home.secrets()).unwrap(), "{ not json");
}

#[test]
fn a_key_elsewhere_is_used_and_never_created() {
    let place = Place::new();
    let key = place.home.root().join("elsewhere.key");
    let home = place.home.clone().with_key_file(key.clone());
    assert!(Keys::of(&home, None).is_err());
    assert!(!key.exists());

    std::fs::write(&key, [3; 32]).unwrap();
    let vault = Vault::of(&home, &Keys::of(&home, None).unwrap(), Arc::new(SystemClock));
    vault.set(&name("TOKEN"), &value(VALUE)).unwrap();

    assert!(!place.home.secret_key().exists());
}
