//! The signed form, the supported keys, and verification.

use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, ED25519, UnparsedPublicKey};
use base64::engine::general_purpose::STANDARD;
use openfang_types::agent::AgentManifest;

use super::super::{Endpoint, SecurityScheme, build_agent_card};
use super::*;

const KEYS_URL: &str = "https://agents.example.org/.well-known/jwks.json";

/// The key of RFC 8037, appendix A.
fn rfc_8037() -> CardKey {
    let secret = URL_SAFE_NO_PAD.decode("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A").unwrap();
    let mut pkcs8 = b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20".to_vec();
    pkcs8.extend(secret);
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", STANDARD.encode(pkcs8));
    CardKey::from_pem(pem.as_bytes()).unwrap()
}

fn p256() -> CardKey {
    let pair = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
    CardKey::from_pem(pair.serialize_pem().as_bytes()).unwrap()
}

fn card() -> AgentCard {
    let manifest: AgentManifest = serde_json::from_value(json!({
        "name": "reviewer", "description": "Prüft Code auf Fehler – gründlich 🦊", "model": { "provider": "direct" },
    }))
    .unwrap();
    let tools = [
        ("add_numbers".parse().unwrap(), Some("Adds a \"few\"\nnumbers.".to_owned())),
        ("file_read".parse().unwrap(), None),
    ];
    let security = vec![SecurityScheme::Bearer, SecurityScheme::Cookie { name: "openfang_session".to_owned() }];
    build_agent_card(&manifest, &tools, Endpoint { security, ..Endpoint::shared("https://agents.example.org", "/a2a") })
}

fn holds(key: &CardKey, card: &AgentCard, signed: &CardSignature) -> bool {
    let input = format!("{}.{}", signed.protected, URL_SAFE_NO_PAD.encode(signed_form(card)));
    let signature = URL_SAFE_NO_PAD.decode(&signed.signature).unwrap();
    match &key.pair {
        Pair::P256(pair) => UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, pair.public_key().as_ref())
            .verify(input.as_bytes(), &signature)
            .is_ok(),
        Pair::Ed25519(pair) => UnparsedPublicKey::new(&ED25519, pair.public_key().as_ref())
            .verify(input.as_bytes(), &signature)
            .is_ok(),
    }
}

fn header(signed: &CardSignature) -> Value {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(&signed.protected).unwrap()).unwrap()
}

#[test]
fn a_key_is_called_by_its_thumbprint() {
    let key = rfc_8037();

    let jwks: Value = serde_json::from_slice(&key.jwks(Timestamp::UNIX_EPOCH).body).unwrap();

    let expected = json!({ "keys": [{
        "kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
        "kid": "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k", "alg": "EdDSA", "use": "sig",
    }]});
    assert_eq!(jwks, expected);
}

#[test]
fn the_signed_form_is_canonical_and_holds_nothing_that_is_empty() {
    let signed = signed_form(&card());

    let expected = concat!(
        r#"{"capabilities":{"extendedAgentCard":true,"pushNotifications":true,"streaming":true},"#,
        r#""defaultInputModes":["text/plain","application/json"],"defaultOutputModes":["text/plain","application/json"],"#,
        r#""description":"Prüft Code auf Fehler – gründlich 🦊","name":"reviewer","#,
        r#""securitySchemes":{"bearer":{"httpAuthSecurityScheme":{"scheme":"Bearer"}},"#,
        r#""cookie":{"apiKeySecurityScheme":{"location":"cookie","name":"openfang_session"}}},"#,
        r#""skills":[{"description":"Adds a \"few\"\nnumbers.","id":"add_numbers","name":"add numbers","tags":["tool"]},"#,
        r#"{"description":"Can use the file_read tool","id":"file_read","name":"file read","tags":["tool"]}],"#,
        r#""supportedInterfaces":[{"protocolBinding":"JSONRPC","protocolVersion":"1.0","url":"https://agents.example.org/a2a"},"#,
        r#"{"protocolBinding":"HTTP+JSON","protocolVersion":"1.0","url":"https://agents.example.org/a2a/rest"},"#,
        r#"{"protocolBinding":"JSONRPC","protocolVersion":"0.3","url":"https://agents.example.org/a2a"},"#,
        r#"{"protocolBinding":"HTTP+JSON","protocolVersion":"0.3","url":"https://agents.example.org/a2a/rest"}],"#,
        r#""version":""#,
        env!("CARGO_PKG_VERSION"),
        r#""}"#
    );
    assert_eq!(signed, expected);
}

#[test]
fn both_kinds_of_key_sign_and_say_how() {
    for (key, algorithm) in [(rfc_8037(), "EdDSA"), (p256(), "ES256")] {
        let signed = key.sign(&card(), KEYS_URL).unwrap();

        assert_eq!(header(&signed), json!({ "alg": algorithm, "kid": key.id, "typ": "JOSE", "jku": KEYS_URL }));
        assert_eq!(URL_SAFE_NO_PAD.decode(&signed.signature).unwrap().len(), 64);
        assert!(holds(&key, &card(), &signed), "{algorithm}");
    }
}

#[test]
fn a_signature_holds_for_no_other_card_and_no_other_key() {
    let key = p256();
    let signed = key.sign(&card(), KEYS_URL).unwrap();

    let mut other = card();
    other.skills.pop();

    assert!(!holds(&key, &other, &signed));
    assert!(!holds(&p256(), &card(), &signed));
}

#[test]
fn a_card_that_is_signed_already_is_signed_as_if_it_were_not() {
    let key = rfc_8037();
    let first = key.sign(&card(), KEYS_URL).unwrap();

    let again = AgentCard { signatures: vec![first.clone()], ..card() };

    assert_eq!(key.sign(&again, KEYS_URL).unwrap(), first);
}

#[test]
fn other_keys_are_refused_with_a_way_out() {
    let p384 = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P384_SHA384).unwrap().serialize_pem();
    let public = rcgen::KeyPair::generate().unwrap().public_key_pem();
    let sec1 = "-----BEGIN EC PRIVATE KEY-----\nMA==\n-----END EC PRIVATE KEY-----\n".to_owned();
    let rubbish = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n".to_owned();
    let rows = [
        (String::new(), CardKeyError::NotPem),
        ("not a key".to_owned(), CardKeyError::NotPem),
        (public, CardKeyError::NotPem),
        (sec1, CardKeyError::NotPkcs8),
        (p384, CardKeyError::OtherKind),
        (rubbish, CardKeyError::OtherKind),
    ];
    for (pem, expected) in rows {
        assert_eq!(CardKey::from_pem(pem.as_bytes()).unwrap_err(), expected, "{pem}");
    }
}

#[test]
fn a_key_does_not_print_its_secret() {
    assert_eq!(format!("{:?}", rfc_8037()), r#"CardKey { id: "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k", .. }"#);
}
