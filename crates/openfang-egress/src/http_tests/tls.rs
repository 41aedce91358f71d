//! Certificates: whose word is taken, and that https stays https.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use crate::http::{BadRoots, HttpConfig, HttpDoor, HttpError, TlsFault};
use crate::url::Guard;

use super::peer::{Names, Peer, World, redirect};

/// A certificate authority, as PEM, and a server's end with a certificate of it for a name, speaking these protocols.
pub(super) fn authority(name: &str, protocols: &[&[u8]]) -> (Vec<u8>, TlsAcceptor) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let pem = params.self_signed(&key).unwrap().pem();
    let issuer = Issuer::new(params, key);
    let server_key = KeyPair::generate().unwrap();
    let server = CertificateParams::new(vec![name.to_owned()])
        .unwrap()
        .signed_by(&server_key, &issuer)
        .unwrap();
    let private = PrivateKeyDer::try_from(server_key.serialize_der()).unwrap();
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![server.der().clone()], private);
    let mut config = config.unwrap();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    (pem.into_bytes(), TlsAcceptor::from(Arc::new(config)))
}

/// What a client with these roots gets from a server with this certificate, which answers with `answer`.
async fn exchange(
    acceptor: TlsAcceptor,
    extra_roots: Vec<Vec<u8>>,
    answer: Vec<u8>,
) -> Result<bytes::Bytes, HttpError> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = async {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            drop(stream.read(&mut [0; 4096]).await);
            drop(stream.write_all(&answer).await);
            drop(stream.shutdown().await);
        }
    };
    let guard = Guard::allowing(["127.0.0.0/8"]).unwrap();
    let resolver = Names::answering(&[&["127.0.0.1"]]);
    let world = World::with(HttpConfig { guard, extra_roots, resolver, ..HttpConfig::default() });
    let request = world.foreign(&format!("https://www.example.com:{port}/"));
    tokio::select! {
        outcome = world.whole(request) => outcome,
        () = serving => unreachable!(),
    }
}

fn hello() -> Vec<u8> {
    super::peer::answer(200, "", b"hello")
}

#[tokio::test]
async fn an_extra_root_is_trusted_and_an_unknown_one_is_not() {
    let (pem, acceptor) = authority("www.example.com", &[]);

    let trusted = exchange(acceptor.clone(), vec![pem], hello()).await.unwrap();
    let unknown = exchange(acceptor, Vec::new(), hello()).await.unwrap_err();

    assert_eq!(trusted, "hello");
    assert!(matches!(unknown, HttpError::Tls { fault: TlsFault::UntrustedIssuer, .. }), "{unknown:?}");
}

#[tokio::test]
async fn a_certificate_for_another_name_is_refused() {
    let (pem, acceptor) = authority("www.example.org", &[]);

    let error = exchange(acceptor, vec![pem], hello()).await.unwrap_err();

    assert!(matches!(error, HttpError::Tls { fault: TlsFault::WrongName, .. }), "{error:?}");
}

#[tokio::test]
async fn https_does_not_become_http() {
    let (pem, acceptor) = authority("www.example.com", &[]);
    let plain = Peer::saying(hello());

    let error = exchange(acceptor, vec![pem], redirect(302, &plain.url("/"))).await.unwrap_err();

    assert!(matches!(error, HttpError::Downgrade { .. }), "{error:?}");
    assert_eq!(plain.accepted(), 0);
}

#[tokio::test]
async fn a_port_without_tls_is_a_failed_handshake() {
    // A request of TLS has no line ends to read up to, so this peer speaks first.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        drop(std::io::Write::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n"));
        drop(std::io::copy(&mut stream, &mut std::io::sink()));
    });
    let world = World::new(&[]);

    let error = world.send(world.operator(&format!("https://{address}/"))).await.unwrap_err();

    assert!(matches!(error, HttpError::Tls { fault: TlsFault::Handshake, .. }), "{error:?}");
}

#[test]
fn roots_that_are_none_are_refused_when_the_door_is_made() {
    for pem in ["", "no pem", "-----BEGIN CERTIFICATE-----\nAAAA\n"] {
        let config = HttpConfig { extra_roots: vec![pem.into()], ..HttpConfig::default() };

        let refused = HttpDoor::new(config).err();

        assert!(matches!(refused, Some(BadRoots)), "{pem:?}");
    }
}
