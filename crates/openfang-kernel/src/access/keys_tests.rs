//! Tokens cannot be made, changed, or used by somebody else.

use super::*;

fn owner(name: &str) -> Owner {
    name.parse().unwrap()
}

#[test]
fn a_token_opens_for_its_owner_and_nobody_else() {
    let keys = Keys::from_key(&[7; KEY_BYTES]);
    let token = keys.seal(Purpose::PageToken, &owner("ada"), b"position");

    assert_eq!(keys.open_token(Purpose::PageToken, &owner("ada"), &token).as_deref(), Some(&b"position"[..]));
    assert_eq!(keys.open_token(Purpose::PageToken, &owner("bob"), &token), None);
    assert_eq!(Keys::from_key(&[8; KEY_BYTES]).open_token(Purpose::PageToken, &owner("ada"), &token), None);
}

#[test]
fn a_token_with_any_bit_changed_or_any_byte_missing_is_refused() {
    let keys = Keys::from_key(&[7; KEY_BYTES]);
    let ada = owner("ada");
    let token = URL_SAFE_NO_PAD.decode(keys.seal(Purpose::PageToken, &ada, b"position")).unwrap();
    let opens = |bytes: &[u8]| keys.open_token(Purpose::PageToken, &ada, &URL_SAFE_NO_PAD.encode(bytes)).is_some();

    for bit in 0..token.len() * 8 {
        let mut changed = token.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(!opens(&changed), "bit {bit}");
    }
    for length in 0..token.len() {
        assert!(!opens(&token[..length]), "length {length}");
    }
    assert!(keys.open_token(Purpose::PageToken, &ada, "not base64 !").is_none());
}

#[test]
fn the_key_file_is_private_made_once_and_refused_when_damaged() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("secret.key");

    let first = Keys::open(&path).unwrap();
    assert_eq!(Keys::open(&path).unwrap().id, first.id);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "nothing is left beside it");

    std::fs::write(&path, b"short").unwrap();
    assert!(Keys::open(&path).is_err());
}
