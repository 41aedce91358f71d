//! Whom the door reaches: every hostile form as a literal, as a DNS answer and as a redirect, for both kinds of URL.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::address::{self, Class};
use crate::http::{HttpError, Pacer, Request};
use crate::url::{Guard, Reach, UrlRefused};

use super::forms::{self, Form, NONSENSE};
use super::peer::{Names, Peer, World, answer, redirect};

/// Somewhere public, that is never dialled here because it is only written about.
const PUBLIC: &[&str] = &["93.184.215.14", "1.1.1.1", "8.8.8.8", "2606:4700::1111", "2a00:1450:4001::1"];

fn refused_class(refused: &UrlRefused) -> Option<Class> {
    match refused {
        UrlRefused::OutOfReach { special, .. } => Some(special.class),
        _ => None,
    }
}

#[test]
fn there_are_many_forms_and_each_means_what_the_table_says() {
    let forms = forms::all();
    assert!(forms.len() >= 150, "{}", forms.len());
    for Form { host, address, class } in &forms {
        let parsed = url::Url::parse(&format!("http://{host}/")).unwrap();
        match (parsed.host().unwrap(), address) {
            (url::Host::Ipv4(found), Some(meant)) => assert_eq!(IpAddr::from(found), *meant, "{host}"),
            (url::Host::Ipv6(found), Some(meant)) => assert_eq!(IpAddr::from(found), *meant, "{host}"),
            (url::Host::Domain(name), None) => assert_eq!(address::judge_name(name).unwrap().class, *class, "{host}"),
            other => panic!("{host} became {other:?}"),
        }
        if let Some(meant) = address {
            assert_eq!(address::judge(*meant).map(|special| special.class), Some(*class), "{host}");
        }
    }
}

#[test]
fn as_literals_all_forms_are_refused_to_strangers_and_all_but_local_ones_to_the_operator() {
    let guard = Guard::default();
    for Form { host, class, .. } in forms::all() {
        for url in [format!("http://{host}/"), format!("https://{host}:8443/x?y#z"), format!("HTTP:\\\\{host}\\x")] {
            let foreign = guard.foreign(&url).unwrap_err();
            assert_eq!(refused_class(&foreign), Some(class), "{url}");

            match guard.operator(&url) {
                Ok(_) => assert_eq!(class, Class::Local, "{url}"),
                Err(refused) => {
                    assert_ne!(class, Class::Local, "{url}");
                    assert_eq!(refused_class(&refused), Some(class), "{url}");
                }
            }
        }
    }
    for host in NONSENSE {
        assert!(guard.operator(&format!("http://{host}/")).is_err(), "{host}");
        assert!(guard.foreign(&format!("http://{host}/")).is_err(), "{host}");
    }
}

#[test]
fn public_addresses_are_within_everybodys_reach() {
    let guard = Guard::default();
    for address in PUBLIC {
        let host = if address.contains(':') { format!("[{address}]") } else { (*address).to_owned() };
        assert!(guard.foreign(&format!("https://{host}/")).is_ok(), "{host}");
        assert!(guard.operator(&format!("https://{host}/")).is_ok(), "{host}");
    }
    assert!(guard.foreign("http://[64:ff9b::8.8.8.8]/").is_ok(), "NAT64 follows the address it carries");
    assert!(guard.foreign("http://[::ffff:8.8.8.8]/").is_ok());
}

/// Listeners on one port of this machine: `trap` where forbidden forms would end up, `allowed` where the list leads.
struct Traps {
    traps: Vec<Peer>,
    allowed: Peer,
}

impl Traps {
    fn set() -> Self {
        let allowed = Peer::at("127.0.0.77:0", |_, stream| {
            drop(std::io::Write::write_all(stream, &answer(200, "", b"allowed")));
        })
        .unwrap();
        let port = allowed.address.port();
        let traps = ["127.0.0.1", "[::1]"]
            .iter()
            .filter_map(|host| Peer::at(&format!("{host}:{port}"), |_, _| ()).ok())
            .collect();
        Self { traps, allowed }
    }

    fn port(&self) -> u16 {
        self.allowed.address.port()
    }

    fn assert_untouched(&self) {
        for trap in &self.traps {
            assert_eq!(trap.accepted(), 0, "{}", trap.address);
        }
    }
}

/// Every address of the forms, once.
fn addresses() -> BTreeSet<IpAddr> {
    forms::all().into_iter().filter_map(|form| form.address).collect()
}

/// Whether an address may not be dialled for a reach.
fn is_forbidden(address: IpAddr, reach: Reach) -> bool {
    match address::judge(address).unwrap().class {
        Class::Metadata | Class::Reserved => true,
        Class::Local => reach == Reach::Foreign,
    }
}

fn named(world: &World, reach: Reach, port: u16) -> Request {
    let url = format!("http://www.example.com:{port}/");
    match reach {
        Reach::Operator => world.operator(&url),
        Reach::Foreign => world.foreign(&url),
    }
}

#[tokio::test]
async fn as_the_only_dns_answer_no_forbidden_address_is_dialled() {
    let traps = Traps::set();
    for reach in [Reach::Operator, Reach::Foreign] {
        let forbidden: Vec<IpAddr> = addresses().into_iter().filter(|address| is_forbidden(*address, reach)).collect();
        let world = World::resolving(&[], Names::one_by_one(&forbidden));
        for address in forbidden {
            let error = world.send(named(&world, reach, traps.port())).await.unwrap_err();

            let HttpError::Refused(refused) = &error else { panic!("{address}: {error:?}") };
            assert_eq!(refused_class(refused), address::judge(address).map(|special| special.class), "{address}");
            assert_eq!(world.dials(), 0, "{address}");
        }
    }
    traps.assert_untouched();
}

#[tokio::test]
async fn among_dns_answers_forbidden_ones_are_dropped_and_the_allowed_one_is_dialled() {
    let traps = Traps::set();
    for reach in [Reach::Operator, Reach::Foreign] {
        let forbidden: Vec<String> = addresses()
            .into_iter()
            .filter(|address| is_forbidden(*address, reach))
            .map(|address| address.to_string())
            .collect();
        for some in forbidden.chunks(20) {
            let mut answers: Vec<&str> = some.iter().map(String::as_str).collect();
            answers.push("127.0.0.77");
            let world = World::resolving(&["127.0.0.77"], Names::answering(&[&answers]));

            let body = world.whole(named(&world, reach, traps.port())).await.unwrap();

            assert_eq!(body, "allowed");
            assert_eq!(world.dials(), 1);
        }
    }
    traps.assert_untouched();
}

#[tokio::test]
async fn as_redirects_of_an_operators_url_all_forms_are_refused_and_none_is_dialled() {
    let traps = Traps::set();
    let forms = forms::all();
    let locations: Vec<String> = forms.iter().map(|form| format!("http://{}:{}/", form.host, traps.port())).collect();
    let answers: Vec<Vec<u8>> = locations.iter().map(|location| redirect(302, location)).collect();
    let peer = Peer::saying_in_turn(&answers);
    let world = World::new(&[]);

    for form in &forms {
        let error = world.send(world.operator(&peer.url("/"))).await.unwrap_err();

        let is_ascii = form.host.is_ascii();
        match &error {
            HttpError::RedirectRefused { cause, .. } => assert_eq!(refused_class(cause), Some(form.class), "{form:?}"),
            // A header of other than ASCII characters is no valid location.
            HttpError::BadResponse { .. } => assert!(!is_ascii, "{form:?}"),
            other => panic!("{form:?}: {other:?}"),
        }
    }
    assert_eq!(world.dials(), forms.len() as u64, "one each, to the peer that redirects");
    assert_eq!(peer.accepted(), forms.len());
    traps.assert_untouched();
}

/// Lets so many through.
struct Counted {
    left: Mutex<usize>,
    seen: Mutex<Vec<IpAddr>>,
}

impl Pacer for Counted {
    fn take(&self, addresses: &[IpAddr]) -> Result<(), Duration> {
        self.seen.lock().unwrap().extend(addresses);
        let mut left = self.left.lock().unwrap();
        *left = left.checked_sub(1).ok_or(Duration::from_secs(7))?;
        Ok(())
    }
}

#[tokio::test]
async fn a_pacer_is_asked_about_the_addresses_that_are_dialled() {
    let traps = Traps::set();
    // A second answer would lead into the trap.
    let names = Names::answering(&[&["127.0.0.77"], &["127.0.0.1"]]);
    let world = World::resolving(&["127.0.0.0/8"], Arc::clone(&names) as _);
    let pacer = Arc::new(Counted { left: Mutex::new(1), seen: Mutex::default() });
    let request = || named(&world, Reach::Foreign, traps.port()).paced_by(Arc::clone(&pacer) as _);

    assert_eq!(world.whole(request()).await.unwrap(), "allowed");
    assert_eq!((names.asked(), world.dials()), (1, 1));
    let refused = world.send(request()).await.unwrap_err();
    let HttpError::TooFast { retry_after, .. } = refused else { panic!("{refused:?}") };
    assert_eq!((retry_after, world.dials()), (Duration::from_secs(7), 1));
    let seen: Vec<String> = pacer.seen.lock().unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(seen, ["127.0.0.77", "127.0.0.1"]);
    traps.assert_untouched();
}

#[tokio::test]
async fn a_name_is_resolved_once_and_the_checked_address_is_the_dialled_one() {
    let traps = Traps::set();
    let names = Names::answering(&[&["127.0.0.77"], &["127.0.0.1"]]);
    let world = World::resolving(&["127.0.0.77"], std::sync::Arc::clone(&names) as _);

    let first = world.whole(named(&world, Reach::Foreign, traps.port())).await.unwrap();
    let asked_by_the_first = names.asked();
    let second = world.whole(named(&world, Reach::Foreign, traps.port())).await.unwrap_err();

    assert_eq!((first.as_ref(), asked_by_the_first), (b"allowed".as_slice(), 1));
    assert!(matches!(second, HttpError::Refused(_)), "{second:?}");
    assert_eq!(traps.allowed.accepted(), 1);
    traps.assert_untouched();
}

#[tokio::test]
async fn the_operator_reaches_this_machine_by_address_and_by_name() {
    let world = World::resolving(&[], Names::answering(&[&["127.0.0.1"]]));
    let peer = Peer::saying(answer(200, "", b"hello"));
    let port = peer.address.port();
    for host in ["127.0.0.1", "2130706433", "localhost", "LOCALHOST.", "printer.local", "www.example.com", "box"] {
        let body = world.whole(world.operator(&format!("http://{host}:{port}/"))).await.unwrap();

        assert_eq!(body, "hello", "{host}");
    }
    if let Ok(peer) = Peer::at("[::1]:0", |_, stream| drop(std::io::Write::write_all(stream, &answer(200, "", b"six"))))
    {
        assert_eq!(world.whole(world.operator(&peer.url("/"))).await.unwrap(), "six");
    }
}

#[tokio::test]
async fn strangers_reach_what_is_allow_listed_and_nothing_beside_it() {
    let peer = Peer::saying(answer(200, "", b"hello"));
    let port = peer.address.port();
    let names = || Names::answering(&[&["127.0.0.1"]]);
    for (entry, host) in [
        ("127.0.0.0/8", "127.0.0.1"),
        ("127.0.0.1", "[::ffff:127.0.0.1]"),
        ("127.0.0.1", "www.example.com"),
        ("db.internal", "DB.internal."),
        ("*.internal", "a.b.internal"),
        ("box", "box"),
    ] {
        let world = World::resolving(&[entry], names());

        let body = world.whole(world.foreign(&format!("http://{host}:{port}/"))).await.unwrap();

        assert_eq!(body, "hello", "{entry} {host}");
    }
    for (entry, host) in [
        ("127.0.0.2", "127.0.0.1"),
        ("db.internal", "a.db.internal"),
        ("*.db.internal", "db.internal"),
        ("*.db.internal", "xdb.internal"),
    ] {
        let guard = Guard::allowing([entry]).unwrap();

        assert!(guard.foreign(&format!("http://{host}:{port}/")).is_err(), "{entry} {host}");
    }
}
