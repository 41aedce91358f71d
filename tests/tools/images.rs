//! `image_analyze` of files in a workspace.

use openfang_types::content::BlockKind;
use serde_json::json;

use super::doors::{Site, config};
use crate::support::call;
use openfang_testkit::{TestHome, callers};

/// A PNG of one pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";

fn png() -> Vec<u8> {
    base64::Engine::decode(&base64::engine::general_purpose::STANDARD, PNG).unwrap()
}

fn put(home: &TestHome, path: &str, bytes: &[u8]) {
    let path = home.path().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

#[tokio::test]
async fn every_interface_shows_an_image_to_those_who_may_see_it() {
    let site = Site::start(config()).await;
    for workspace in ["owners/admin", "agents/allowed", "agents/other"] {
        put(&site.home, &format!("workspaces/{workspace}/dot.png"), &png());
    }
    let arguments = json!({ "path": "dot.png", "prompt": "what is it?" });

    for (interface, said) in site.call("image_analyze", &arguments).await {
        assert!(said.contains("1 x 1 pixels") && said.contains(PNG), "{interface}: {said}");
    }
    for (interface, said) in site.call_refused("image_analyze", &arguments).await {
        assert!(!said.contains("pixels"), "{interface}: {said}");
    }
    site.stop().await;
}

#[tokio::test]
async fn files_that_are_no_images_or_lie_elsewhere_are_refused() {
    let home = TestHome::new();
    let kernel = home.kernel();
    let admin = callers::admin(&kernel);
    let place = |name: &str| format!("workspaces/owners/admin/{name}");
    put(&home, &place("large.png"), &[png(), vec![0; 6 * 1024 * 1024]].concat());
    put(&home, &place("fits.png"), &[png(), vec![0; 1024 * 1024]].concat());
    put(&home, &place("drawing.svg"), b"<svg xmlns='http://www.w3.org/2000/svg'/>");
    put(&home, &place("cut.png"), &png()[..12]);
    put(&home, &place("named.txt"), &png());
    std::os::unix::fs::symlink("/etc/passwd", home.path().join(place("link.png"))).unwrap();
    let analyze = async |path: &str| call(&kernel, &admin, "image_analyze", json!({ "path": path })).await.unwrap();

    for path in ["large.png", "drawing.svg", "cut.png", "link.png", "missing.png", "../x.png", "/etc/passwd", "."] {
        let output = analyze(path).await;
        assert!(output.is_error, "{path}: {}", output.joined_text());
    }
    let named = analyze("named.txt").await;
    assert_eq!(named.content.last().unwrap().kind(), BlockKind::Image);
    let fits = analyze("fits.png").await;
    assert!(!fits.is_error && fits.joined_text().contains("make the image smaller"), "{}", fits.joined_text());
    assert_eq!(fits.structured_value().unwrap()["included"], false);
}
