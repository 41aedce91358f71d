//! What messages are known by.

use uuid::Uuid;

use super::*;

#[test]
fn a_message_is_known_by_its_id_and_what_it_says() {
    let keys = [("m", "a"), ("m", "b"), ("n", "a"), ("", "ma"), ("ma", "")];

    for (n, (id, said)) in keys.iter().enumerate() {
        for (m, (other_id, other_said)) in keys.iter().enumerate() {
            let is_same = ResendKey::new(id, said.as_bytes()) == ResendKey::new(other_id, other_said.as_bytes());
            assert_eq!(is_same, n == m, "{id} {said} against {other_id} {other_said}");
        }
    }
}

#[test]
fn ids_that_grow_with_time_make_keys_that_do() {
    let key = |millis: u64| {
        let id = Uuid::new_v7(uuid::Timestamp::from_unix_time(millis / 1_000, 0, 0, 0));
        *ResendKey::new(&id.to_string(), b"said").as_bytes()
    };

    let keys: Vec<[u8; 16]> = (1..100).map(|seconds| key(seconds * 1_000)).collect();

    assert!(keys.is_sorted());
}

#[test]
fn a_key_is_the_same_as_one_from_the_text_of_before() {
    let digest: [u8; 32] = Sha256::digest(b"said").into();
    let said: String = digest[..8].iter().map(|byte| format!("{byte:02x}")).collect();

    for id in ["m", "a#b", "", "0190a000-0000-7000-8000-000000000001"] {
        assert_eq!(ResendKey::new(id, b"said"), ResendKey::of(&format!("{id}#{said}")), "{id}");
    }
}
