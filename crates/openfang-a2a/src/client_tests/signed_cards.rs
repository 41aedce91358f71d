//! Signed cards: keys that expire, and extended cards beside a signed public one.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderValue, header};
use serde_json::{Value, json};

use super::peer::{Peer, answer, card, door, error, ok, result};
use crate::card::canonical::canonical;
use crate::client::{
    ClientError, DiscoveryError, ExtendedCard, RemoteAgent, RemoteSettings, SignatureState, Verification,
};

fn pair(seed: u8) -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap()
}

/// The card with a signature of the key of this seed.
fn signed(mut card: Value, seed: u8) -> Value {
    let protected = URL_SAFE_NO_PAD.encode(json!({ "alg": "EdDSA", "kid": format!("key-{seed}") }).to_string());
    let input = format!("{protected}.{}", URL_SAFE_NO_PAD.encode(canonical(&card)));
    let signature = URL_SAFE_NO_PAD.encode(pair(seed).sign(input.as_bytes()));
    card["signatures"] = json!([{ "protected": protected, "signature": signature }]);
    card
}

/// The key set with the key of each seed; a key may have an end.
fn keys(listed: &[(u8, Option<i64>)]) -> String {
    let key = |(seed, exp): &(u8, Option<i64>)| {
        let x = URL_SAFE_NO_PAD.encode(pair(*seed).public_key().as_ref());
        let mut key = json!({ "kty": "OKP", "crv": "Ed25519", "x": x, "kid": format!("key-{seed}") });
        if let Some(exp) = exp {
            key["exp"] = (*exp).into();
        }
        key
    };
    json!({ "keys": listed.iter().map(key).collect::<Vec<_>>() }).to_string()
}

fn agent(peer: &Peer, verification: Verification, keys: String) -> RemoteAgent {
    let token = HeaderValue::from_static("Bearer a-credential-of-some-length");
    let headers = vec![(header::AUTHORIZATION, token)];
    RemoteAgent::new(door(), RemoteSettings { verification, keys: Some(keys), headers, ..peer.settings() }).unwrap()
}

#[tokio::test]
async fn a_card_signed_with_a_key_that_expired_or_is_not_published_any_more_is_not_trusted() {
    let peer = Peer::agent(|own| signed(card(own, false), 1), |_| error(-32_601, "none"));
    for (published, why) in
        [(keys(&[(1, Some(1_000_000_000)), (2, None)]), "has expired"), (keys(&[(2, None)]), "no key is known")]
    {
        let lenient = agent(&peer, Verification::IfSigned, published.clone()).discover().await.unwrap();
        let SignatureState::Unverified { reason } = &lenient.signature else { panic!("{:?}", lenient.signature) };
        assert!(reason.contains(why), "{reason}");
        let refused = agent(&peer, Verification::Required, published).discover().await.unwrap_err();
        assert!(refused.to_string().contains(why), "{refused}");
    }
    let trusted = agent(&peer, Verification::Required, keys(&[(1, Some(99_000_000_000))]));
    assert!(matches!(trusted.discover().await.unwrap().signature, SignatureState::Valid { .. }));
}

#[tokio::test]
async fn a_valid_signature_is_checked_again_and_not_taken_over_from_an_unchanged_card() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let peer = Peer::new(move |heard, stream| {
        let own = format!("http://{}", stream.local_addr().unwrap());
        if heard.header("if-none-match").is_some() {
            count.fetch_add(1, Ordering::SeqCst);
        }
        let body = signed(card(&own, false), 1).to_string();
        drop(stream.write_all(&answer(200, "content-type: application/json\r\netag: \"1\"\r\n", body.as_bytes())));
    });
    let agent = agent(&peer, Verification::Required, keys(&[(1, None)]));
    agent.discover().await.unwrap();
    agent.refresh().await.unwrap();

    assert_eq!(asked.load(Ordering::SeqCst), 0, "the whole card is fetched, because only it can be checked");
    assert_eq!(peer.heard().len(), 2);
}

/// An agent whose public card is as given and offers this extended one.
fn extending(public: impl Fn(Value) -> Value + Send + Sync + 'static, extended: Option<Value>) -> Peer {
    Peer::new(move |heard, stream| {
        let own = format!("http://{}", stream.local_addr().unwrap());
        let said = match (heard.path.as_str(), heard.method().as_str()) {
            ("/.well-known/agent-card.json", _) => {
                let mut card = card(&own, false);
                card["capabilities"]["extendedAgentCard"] = true.into();
                ok(&public(card))
            }
            (_, "GetExtendedAgentCard") => match (&extended, heard.header("authorization")) {
                (Some(card), Some(_)) => result(card),
                _ => error(-32_007, "no extended card"),
            },
            _ => answer(404, "", b""),
        };
        drop(stream.write_all(&said));
    })
}

fn extended() -> Value {
    let mut card = card("http://127.0.0.1:1", false);
    card["description"] = "for those with a credential".into();
    card["skills"] = json!([{ "id": "secret", "name": "secret", "description": "x", "tags": [] }]);
    card
}

#[tokio::test]
async fn the_extended_card_is_listed_for_those_with_a_credential_and_its_failure_changes_nothing() {
    let peer = extending(|card| card, Some(extended()));
    let found = agent(&peer, Verification::IfSigned, keys(&[(1, None)])).discover().await.unwrap();
    assert_eq!(found.extended, ExtendedCard::Used);
    assert_eq!(found.card.as_ref().unwrap().skills[0].id, "secret");
    // The address stays that of the public card, which was judged.
    assert!(found.interface.url.starts_with(&peer.url("")), "{}", found.interface.url);

    let anonymous = peer.remote().discover().await.unwrap();
    assert_eq!(anonymous.extended, ExtendedCard::NoCredential);
    assert_eq!(anonymous.card.as_ref().unwrap().description, "Says it again");

    let peer = extending(|card| card, None);
    let found = agent(&peer, Verification::IfSigned, keys(&[(1, None)])).discover().await.unwrap();
    let ExtendedCard::Failed { reason } = &found.extended else { panic!("{:?}", found.extended) };
    assert!(reason.contains("no extended card"), "{reason}");
    assert_eq!(found.card.as_ref().unwrap().description, "Says it again");
}

#[tokio::test]
async fn beside_a_signed_card_an_extended_one_counts_only_with_the_same_key() {
    let rows = [
        (signed(extended(), 1), None),
        (extended(), Some("not signed")),
        (signed(extended(), 2), Some("another key")),
        (signed(json!({ "name": "x", "url": "http://x", "changed": 1 }), 3), Some("no key is known")),
    ];
    for (extended, refused) in rows {
        let peer = extending(|card| signed(card, 1), Some(extended));
        let found = agent(&peer, Verification::IfSigned, keys(&[(1, None), (2, None)]))
            .discover()
            .await
            .unwrap();
        match (&found.extended, refused) {
            (ExtendedCard::Used, None) => assert_eq!(found.card.as_ref().unwrap().skills[0].id, "secret"),
            (ExtendedCard::Failed { reason }, Some(why)) => {
                assert!(reason.contains(why), "{reason}");
                assert_eq!(found.card.as_ref().unwrap().description, "Says it again");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_required_signature_is_required_of_the_public_card_first() {
    let peer = extending(|card| card, Some(signed(extended(), 1)));

    let refused = agent(&peer, Verification::Required, keys(&[(1, None)])).discover().await.unwrap_err();

    assert!(matches!(refused, ClientError::Discovery(error) if matches!(*error, DiscoveryError::Signature(_))));
}
