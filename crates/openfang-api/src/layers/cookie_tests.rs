//! Which cookies are ours.

use super::*;

fn read(cookie: LoginCookie, headers: &[&[u8]]) -> Option<String> {
    let mut map = HeaderMap::new();
    for header in headers {
        map.append(COOKIE, HeaderValue::from_bytes(header).unwrap());
    }
    cookie.read(&map).map(str::to_owned)
}

#[test]
fn the_one_cookie_of_our_name_is_read_wherever_it_stands() {
    let rows: [&[&[u8]]; 5] = [
        &[b"openfang_session=abc-_9"],
        &[b"a=b; openfang_session=abc-_9; c=d"],
        &[b"a=b", b"openfang_session=abc-_9"],
        &[b"  openfang_session = abc-_9 "],
        &[b"nonsense; openfang_session=abc-_9;"],
    ];
    for headers in rows {
        assert_eq!(read(LoginCookie::Plain, headers).as_deref(), Some("abc-_9"), "{headers:?}");
    }
}

#[test]
fn two_of_them_odd_ones_and_others_are_none() {
    let rows: [&[&[u8]]; 10] = [
        &[],
        &[b""],
        &[b"openfang_session"],
        &[b"openfang_session="],
        &[b"openfang_session=abc; openfang_session=abc"],
        &[b"openfang_session=abc", b"openfang_session=def"],
        &[b"openfang_session=\"abc\""],
        &[b"openfang_session=a b"],
        &[b"OPENFANG_SESSION=abc; xopenfang_session=abc; __Host-openfang_session=abc"],
        &[b"openfang_session=abc", b"x=\xff"],
    ];
    for headers in rows {
        assert_eq!(read(LoginCookie::Plain, headers), None, "{headers:?}");
    }
}

#[test]
fn over_https_it_is_for_https_and_this_host_only() {
    assert_eq!(read(LoginCookie::Secure, &[b"openfang_session=abc"]), None, "another page of the site may have set it");
    assert_eq!(read(LoginCookie::Secure, &[b"__Host-openfang_session=abc"]).as_deref(), Some("abc"));
    let set = LoginCookie::Secure.set(&Secret::new("abc".to_owned())).unwrap();
    assert_eq!(
        set.to_str().unwrap(),
        "__Host-openfang_session=abc; HttpOnly; SameSite=Lax; Path=/; Max-Age=604800; Secure"
    );
    assert!(!format!("{set:?}").contains("abc"), "{set:?}");
    let plain = LoginCookie::Plain.clear().unwrap();
    assert_eq!(plain, "openfang_session=; HttpOnly; SameSite=Lax; Path=/; Max-Age=0");
}
