//! Signatures that count, and those that do not.

use serde_json::{Value, json};

use super::*;

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn signed(card: &Value, header: &Value) -> CardSignature {
    let pair = aws_lc_rs::signature::Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
    let protected = URL_SAFE_NO_PAD.encode(header.to_string());
    let input = format!("{protected}.{}", URL_SAFE_NO_PAD.encode(canonical(card)));
    CardSignature { signature: URL_SAFE_NO_PAD.encode(pair.sign(input.as_bytes())), protected }
}

fn keys() -> CardKeys {
    keys_with(&json!({}))
}

/// The same keys, with these members too.
fn keys_with(members: &Value) -> CardKeys {
    use aws_lc_rs::signature::KeyPair as _;
    let pair = aws_lc_rs::signature::Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
    let x = URL_SAFE_NO_PAD.encode(pair.public_key().as_ref());
    let mut key = json!({ "kty": "OKP", "crv": "Ed25519", "x": x, "kid": "one" });
    key.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    let set = json!({ "keys": [{ "kty": "oct", "k": "c2VjcmV0" }, key] });
    CardKeys::read(set.to_string().as_bytes()).unwrap()
}

fn card() -> Value {
    json!({ "name": "a", "description": "", "version": "1", "skills": [], "capabilities": { "streaming": false } })
}

#[test]
fn a_signature_over_any_canonical_form_of_the_served_card_is_valid() {
    let served = card().to_string();
    let header = json!({ "alg": "EdDSA", "kid": "one" });
    let without_empties = json!({ "name": "a", "version": "1", "capabilities": { "streaming": false } });
    for form in [card(), without_empties] {
        let signature = signed(&form, &header);
        assert!(verify(served.as_bytes(), &signature, &keys(), NOW).is_ok(), "{form}");
    }
}

#[test]
fn members_that_1_0_does_not_have_are_not_signed() {
    let mut served = card();
    served["url"] = "https://example.com".into();
    served["capabilities"]["stateTransitionHistory"] = true.into();
    served["signatures"] = json!([{ "protected": "x", "signature": "y" }]);
    let signature = signed(&card(), &json!({ "alg": "EdDSA" }));
    assert!(verify(served.to_string().as_bytes(), &signature, &keys(), NOW).is_ok());
}

#[test]
fn a_changed_card_is_a_mismatch() {
    let signature = signed(&card(), &json!({ "alg": "EdDSA", "kid": "one" }));
    for (at, value) in [("name", json!("b")), ("version", json!("2")), ("capabilities", json!({ "streaming": true }))] {
        let mut served = card();
        served[at] = value;
        let verdict = verify(served.to_string().as_bytes(), &signature, &keys(), NOW);
        assert_eq!(verdict, Err(VerifyError::Mismatch), "{at}");
    }
}

#[test]
fn algorithms_without_a_public_key_and_critical_members_are_refused() {
    let headers = [
        json!({ "alg": "none" }),
        json!({ "alg": "HS256", "kid": "one" }),
        json!({ "alg": "ES256K" }),
        json!({ "kid": "one" }),
        json!({ "alg": "EdDSA", "crit": ["exp"], "exp": 1 }),
        json!({ "alg": "EdDSA", "b64": false }),
    ];
    for header in headers {
        let signature = signed(&card(), &header);
        let verdict = verify(card().to_string().as_bytes(), &signature, &keys(), NOW);
        assert!(matches!(verdict, Err(VerifyError::Unacceptable(_))), "{header}: {verdict:?}");
    }
}

#[test]
fn a_key_of_another_name_or_kind_is_no_key() {
    for header in [json!({ "alg": "EdDSA", "kid": "two" }), json!({ "alg": "ES256" }), json!({ "alg": "RS256" })] {
        let signature = signed(&card(), &header);
        let verdict = verify(card().to_string().as_bytes(), &signature, &keys(), NOW);
        assert_eq!(verdict, Err(VerifyError::NoKey), "{header}");
    }
}

#[test]
fn a_key_counts_from_its_beginning_until_it_expires_or_is_revoked() {
    let signature = signed(&card(), &json!({ "alg": "EdDSA", "kid": "one" }));
    let now: Timestamp = "2026-11-18T12:00:00Z".parse().unwrap();
    let second = now.as_second();
    let rows = [
        (json!({}), true),
        (json!({ "nbf": second, "exp": second + 1 }), true),
        (json!({ "exp": second }), false),
        (json!({ "exp": second - 86_400, "iat": 0 }), false),
        (json!({ "exp": 0 }), false),
        (json!({ "nbf": second + 1 }), false),
        (json!({ "revoked": { "revoked_at": second - 1, "reason": "compromised" } }), false),
    ];
    for (members, counts) in rows {
        let verdict = verify(card().to_string().as_bytes(), &signature, &keys_with(&members), now);
        assert_eq!(verdict.is_ok(), counts, "{members}: {verdict:?}");
        assert!(counts || verdict == Err(VerifyError::Expired), "{members}: {verdict:?}");
    }
    // A key that is not readable as one, because its times are no numbers, is no key.
    let odd = keys_with(&json!({ "exp": "tomorrow" }));
    assert_eq!(verify(card().to_string().as_bytes(), &signature, &odd, now), Err(VerifyError::NoKey));
}

#[test]
fn our_own_signed_cards_verify_in_both_forms() {
    use super::super::{CardDocument, CardForm, CardKey, Endpoint, build_agent_card};
    for algorithm in [&rcgen::PKCS_ECDSA_P256_SHA256, &rcgen::PKCS_ED25519] {
        let pair = rcgen::KeyPair::generate_for(algorithm).unwrap();
        let key = CardKey::from_pem(pair.serialize_pem().as_bytes()).unwrap();
        let manifest = json!({ "name": "reviewer", "description": "Reviews code", "model": { "provider": "direct" } });
        let endpoint = Endpoint::shared("https://agents.example.org", "/a2a");
        let mut card = build_agent_card(&serde_json::from_value(manifest).unwrap(), &[], endpoint);
        let signature = key.sign(&card, "https://agents.example.org/jwks.json").unwrap();
        card.signatures = vec![signature.clone()];
        let keys = CardKeys::read(&key.jwks(jiff::Timestamp::UNIX_EPOCH).body).unwrap();
        let kid = SignatureHeader::read(&signature).unwrap().kid.unwrap();
        for form in [CardForm::Superset, CardForm::Strict] {
            let document = CardDocument::new(&card, form, jiff::Timestamp::UNIX_EPOCH);
            assert_eq!(verify(&document.body, &signature, &keys, NOW), Ok(kid.clone()), "{form:?}");
        }
    }
}

#[test]
fn an_rsa_signature_verifies() {
    use aws_lc_rs::rsa::KeySize;
    use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair};
    let pair = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
    let encoded = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    // DER: the modulus of 256 bytes follows the two headers and a zero; the exponent is at the end.
    let public = pair.public_key().as_ref();
    let jwk = json!({ "kty": "RSA", "n": encoded(&public[9..265]), "e": encoded(&public[public.len() - 3..]) });
    let protected = encoded(json!({ "alg": "RS256" }).to_string().as_bytes());
    let input = format!("{protected}.{}", encoded(canonical(&card()).as_bytes()));
    let mut bytes = vec![0; pair.public_modulus_len()];
    pair.sign(&RSA_PKCS1_SHA256, &aws_lc_rs::rand::SystemRandom::new(), input.as_bytes(), &mut bytes)
        .unwrap();
    let signature = CardSignature { protected, signature: encoded(&bytes) };
    let keys = CardKeys::read(jwk.to_string().as_bytes()).unwrap();
    assert!(verify(card().to_string().as_bytes(), &signature, &keys, NOW).is_ok());
    assert_eq!(verify(b"{}", &signature, &keys, NOW), Err(VerifyError::Mismatch));
}
