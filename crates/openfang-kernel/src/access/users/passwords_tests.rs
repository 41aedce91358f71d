//! Which passwords are taken, and that none of them is kept.

use openfang_types::limits::{PASSWORD_HASHES, PASSWORD_QUEUE};

use super::*;

fn secret(text: &str) -> Secret {
    Secret::new(text.to_owned())
}

#[tokio::test]
async fn the_right_password_is_right_and_everything_else_is_wrong() {
    let (passwords, tracker) = (Passwords::default(), TaskTracker::new());
    let hash = passwords.hash(&tracker, secret("correct horse")).await.unwrap();

    assert!(hash.expose().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{}", hash.expose());
    assert!(!hash.expose().contains("horse"));
    let is_right = async |password: &str, hash: Option<Secret>| {
        passwords.is_right(&tracker, secret(password), hash, LoginPeer::OPERATOR).await.unwrap()
    };
    assert!(is_right("correct horse", Some(hash.clone())).await);
    for wrong in ["", "correct hors", "Correct horse", "correct horse ", "correct horse\0", &"x".repeat(2000)] {
        assert!(!is_right(wrong, Some(hash.clone())).await, "{wrong:?}");
    }
    assert!(!is_right("correct horse", None).await, "who has no password cannot log in");
    assert!(!is_right("", None).await);
    assert!(!is_right("correct horse", Some(secret("nonsense"))).await);
}

#[tokio::test]
async fn two_hashes_of_one_password_differ() {
    let (passwords, tracker) = (Passwords::default(), TaskTracker::new());

    let (one, two) = tokio::join!(
        passwords.hash(&tracker, secret("correct horse")),
        passwords.hash(&tracker, secret("correct horse"))
    );

    assert_ne!(one.unwrap(), two.unwrap());
}

#[tokio::test]
async fn a_password_that_is_too_short_or_too_long_is_refused() {
    let (passwords, tracker) = (Passwords::default(), TaskTracker::new());

    for bad in ["", "123456789", &"x".repeat(1025)] {
        assert_eq!(passwords.hash(&tracker, secret(bad)).await, Err(UserError::Password), "{bad:?}");
    }
}

#[tokio::test]
async fn who_comes_when_too_many_wait_is_refused_and_the_others_are_served() {
    let (passwords, tracker) = (Passwords::default(), TaskTracker::new());
    let busy =
        futures_util::future::join_all((0..PASSWORD_HASHES).map(|_| passwords.turns.take(LoginPeer::OPERATOR))).await;
    let logins: Vec<_> = (0..=PASSWORD_QUEUE)
        .map(|_| passwords.is_right(&tracker, secret("x"), None, LoginPeer::OPERATOR))
        .collect();
    let mut logins = Box::pin(futures_util::future::join_all(logins));
    // Once polled, all of them stand in the queue or were refused.
    assert!(futures_util::poll!(&mut logins).is_pending());

    drop(busy);

    let outcomes = logins.await;
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == Err(UserError::Busy)).count(), 1);
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == Ok(false)).count(), PASSWORD_QUEUE);
}
