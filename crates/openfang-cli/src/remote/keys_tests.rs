//! Keys of servers come back for their own origin, from a file that nobody else reads.

use super::*;

fn origin(text: &str) -> ServerOrigin {
    ServerOrigin::parse(text).unwrap()
}

#[test]
fn a_key_is_given_to_its_own_origin_only() {
    let directory = tempfile::tempdir().unwrap();
    let keys = StoredKeys::of(&Home::at(directory.path().join("home")));
    let (one, other) = (origin("https://a.example.com"), origin("https://a.example.com:8443"));

    assert_eq!(keys.get(&one).unwrap(), None);
    keys.set(&one, &Secret::new("ofk_one".to_owned())).unwrap();
    keys.set(&one, &Secret::new("ofk_two".to_owned())).unwrap();

    assert_eq!(keys.get(&one).unwrap(), Some(Secret::new("ofk_two".to_owned())));
    assert_eq!(keys.get(&other).unwrap(), None);
    assert!(keys.remove(&one).unwrap());
    assert!(!keys.remove(&one).unwrap());
    assert_eq!(keys.get(&one).unwrap(), None);
}

#[cfg(unix)]
#[test]
fn a_file_that_others_can_read_or_that_is_broken_is_refused_without_quoting_it() {
    use std::os::unix::fs::PermissionsExt as _;

    let directory = tempfile::tempdir().unwrap();
    let keys = StoredKeys::of(&Home::at(directory.path().to_owned()));
    keys.set(&origin("https://a.example.com"), &Secret::new("ofk_secret".to_owned())).unwrap();
    assert_eq!(std::fs::metadata(&keys.path).unwrap().permissions().mode() & 0o777, 0o600);

    std::fs::set_permissions(&keys.path, std::fs::Permissions::from_mode(0o640)).unwrap();
    assert!(keys.get(&origin("https://a.example.com")).unwrap_err().to_string().contains("chmod 600"));
    std::fs::set_permissions(&keys.path, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::write(&keys.path, "{\"a\": ofk_secret").unwrap();
    let error = keys.get(&origin("https://a.example.com")).unwrap_err().to_string();
    assert!(error.contains("servers.json") && !error.contains("ofk_secret"), "{error}");
}
