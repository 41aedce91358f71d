//! Redirects over real sockets (A2C-06). Hops are foreign, so the peers are allow-listed.

use http::{HeaderName, HeaderValue, Method, header};

use crate::http::{HttpError, Request};

use super::peer::{Peer, World, answer, redirect};

/// A door whose strangers may reach this machine.
fn world() -> World {
    World::new(&["127.0.0.0/8"])
}

#[tokio::test]
async fn a_relative_redirect_is_followed_and_the_final_origin_is_known() {
    let peer = Peer::saying_in_turn(&[redirect(302, "../b?x=1"), answer(200, "", b"there")]);
    let world = world();

    let response = world.send(world.operator(&peer.url("/a/c"))).await.unwrap();

    assert_eq!(response.origin.to_string(), peer.url(""));
    assert_eq!(response.body.bytes().await.unwrap(), "there");
    assert!(peer.heard()[1].starts_with("get /b?x=1 "), "{:?}", peer.heard());
}

#[tokio::test]
async fn an_operators_url_may_redirect_within_its_origin_and_to_no_other_of_this_machine() {
    let home = Peer::saying_in_turn(&[redirect(307, "/mcp/"), answer(200, "", b"there")]);
    let neighbour = Peer::saying(answer(200, "", b"not for us"));
    let leaving = Peer::redirecting(307, &neighbour.url("/"));
    let world = World::new(&[]);

    assert_eq!(world.whole(world.operator(&home.url("/mcp"))).await.unwrap(), "there");
    let error = world.send(world.operator(&leaving.url("/"))).await.unwrap_err();

    assert!(matches!(error, HttpError::RedirectRefused { .. }), "{error:?}");
    assert_eq!(neighbour.accepted(), 0);
}

#[tokio::test]
async fn three_redirects_are_followed_and_the_fourth_is_an_error() {
    let hop = redirect(302, "/next");
    let three = Peer::saying_in_turn(&[hop.clone(), hop.clone(), hop.clone(), answer(200, "", b"there")]);
    let endless = Peer::redirecting(302, "/next");
    let world = world();

    assert_eq!(world.whole(world.operator(&three.url("/"))).await.unwrap(), "there");
    let error = world.send(world.operator(&endless.url("/"))).await.unwrap_err();

    assert!(matches!(error, HttpError::TooManyRedirects { limit: 3, .. }), "{error:?}");
    assert_eq!(endless.accepted(), 4);
}

#[tokio::test]
async fn secrets_stay_with_their_origin_whichever_way_they_were_given() {
    let third = Peer::saying(answer(200, "", b"there"));
    let other = Peer::redirecting(302, &third.url("/y"));
    let first = Peer::saying_in_turn(&[redirect(302, "/same"), redirect(302, &other.url("/x"))]);
    let world = world();
    let request = world
        .operator(&first.url("/"))
        .secret_header(header::AUTHORIZATION, HeaderValue::from_static("s3cret"))
        .header(header::COOKIE, HeaderValue::from_static("s3cret"))
        .header(header::PROXY_AUTHORIZATION, HeaderValue::from_static("s3cret"))
        .secret_header(HeaderName::from_static("x-api-key"), HeaderValue::from_static("s3cret"))
        .header(HeaderName::from_static("x-plain"), HeaderValue::from_static("plain"));

    assert_eq!(world.whole(request).await.unwrap(), "there");

    let [to_first, to_same] = &first.heard()[..] else { panic!("{:?}", first.heard()) };
    assert_eq!(to_first.matches("s3cret").count(), 4, "{to_first}");
    assert_eq!(to_same.matches("s3cret").count(), 4, "{to_same}");
    let strangers = [other.heard(), third.heard()].concat();
    assert_eq!(strangers.len(), 2);
    for stranger in strangers {
        assert!(!stranger.contains("s3cret"), "{stranger}");
        assert!(stranger.contains("x-plain: plain"), "{stranger}");
    }
}

fn post(world: &World, url: &str) -> Request {
    let url = world.door.guard().operator(url).unwrap();
    Request::new(Method::POST, url).body(HeaderValue::from_static("text/plain"), "the body")
}

#[tokio::test]
async fn after_301_302_and_303_a_post_becomes_a_get_without_its_body() {
    for status in [301, 302, 303] {
        let other = Peer::saying(answer(200, "", b"there"));
        let peer = Peer::redirecting(status, &other.url("/x"));
        let world = world();

        assert_eq!(world.whole(post(&world, &peer.url("/"))).await.unwrap(), "there");

        let heard = &other.heard()[0];
        assert!(heard.starts_with("get /x "), "{heard}");
        assert!(!heard.contains("the body") && !heard.contains("content-"), "{heard}");
    }
}

#[tokio::test]
async fn after_307_and_308_a_post_goes_on_within_its_origin_and_nowhere_else() {
    for status in [307, 308] {
        let other = Peer::saying(answer(200, "", b""));
        let same = Peer::saying_in_turn(&[redirect(status, "/x"), answer(200, "", b"there")]);
        let away = Peer::redirecting(status, &other.url("/x"));
        let world = world();

        assert_eq!(world.whole(post(&world, &same.url("/"))).await.unwrap(), "there");
        let error = world.send(post(&world, &away.url("/"))).await.unwrap_err();

        let heard = &same.heard()[1];
        assert!(heard.starts_with("post /x ") && heard.ends_with("the body"), "{heard}");
        assert!(matches!(error, HttpError::BodyAcrossOrigins { .. }), "{error:?}");
        assert_eq!(other.accepted(), 0);
    }
}

#[tokio::test]
async fn a_post_that_307_sends_inside_is_refused_at_the_hop() {
    let peer = Peer::redirecting(307, "http://169.254.169.254/latest/meta-data");
    let world = World::new(&["0.0.0.0/0"]);

    let error = world.send(post(&world, &peer.url("/"))).await.unwrap_err();

    assert!(matches!(error, HttpError::RedirectRefused { .. }), "{error:?}");
    assert_eq!(world.dials(), 1);
}

#[tokio::test]
async fn other_schemes_credentials_and_nonsense_are_no_places_to_go() {
    for location in
        ["file:///etc/passwd", "ftp://127.0.0.1/", "http://a:b@127.0.0.1/", "http://[", "http://127.0.0.1:22/"]
    {
        let peer = Peer::redirecting(302, location);
        let world = world();

        let error = world.send(world.operator(&peer.url("/"))).await.unwrap_err();

        assert!(matches!(error, HttpError::RedirectRefused { .. }), "{location}: {error:?}");
        assert_eq!(world.dials(), 1, "{location}");
    }
}

#[tokio::test]
async fn a_redirect_without_a_place_to_go_is_an_answer() {
    for (status, headers) in [(302, ""), (304, "location: /x\r\n"), (300, "location: /x\r\n")] {
        let peer = Peer::saying(answer(status, headers, b""));
        let world = world();

        let response = world.send(world.operator(&peer.url("/"))).await.unwrap();

        assert_eq!(response.status.as_u16(), status);
    }
}
