//! Users: who they are, what they may do, how they come in, and how they are let go.

mod command_line;
mod guessing;
mod keys;
mod letting_go;
mod login;
mod nowhere;
mod processes;
mod profiles;

use openfang_kernel::users::{KeyWanted, UserWanted};
use openfang_kernel::{Boot, Kernel};
use openfang_testkit::http::Client;
use openfang_testkit::{TestHome, TestServer, callers};
use openfang_types::ids::KeyId;
use openfang_types::secret::Secret;

const PASSWORD: &str = "correct horse";

/// A server and its home.
struct Site {
    server: TestServer,
    _home: TestHome,
}

impl Site {
    async fn start() -> Self {
        Self::with(TestHome::new(), |boot| boot).await
    }

    async fn with(home: TestHome, change: impl FnOnce(Boot) -> Boot) -> Self {
        let kernel = change(home.boot_with(crate::http::any_port())).start().unwrap();
        Self { server: TestServer::start(kernel).await, _home: home }
    }

    fn kernel(&self) -> &Kernel {
        &self.server.kernel
    }

    /// Somebody with a key.
    fn with_key(&self, key: &str) -> Client {
        self.server.client().bearer(key)
    }

    /// A page of ours, with a cookie.
    fn with_cookie(&self, cookie: &str) -> Client {
        let origin = format!("http://{}", self.server.address);
        self.server.client().with("cookie", cookie).with("origin", &origin)
    }
}

/// Adds a user who can log in.
async fn add(kernel: &Kernel, name: &str, grants: &[&str]) {
    let wanted = UserWanted {
        name: name.parse().unwrap(),
        grants: grants.iter().map(|grant| (*grant).to_owned()).collect(),
        password: Some(Secret::new(PASSWORD.to_owned())),
        again: false,
    };
    kernel.add_user(&callers::operator(kernel), wanted).await.unwrap();
}

/// Makes a key.
async fn key_of(kernel: &Kernel, name: &str) -> (String, KeyId) {
    let wanted = KeyWanted {
        user: name.parse().unwrap(),
        label: "test".to_owned(),
        entry_label: None,
        profile: None,
        expires_at: None,
    };
    let made = kernel.create_user_key(&callers::operator(kernel), wanted).await.unwrap();
    (made.key.expose().to_owned(), made.details.id)
}

/// Logs in over HTTP; the cookie as a browser would send it.
async fn log_in(client: &Client, name: &str) -> String {
    let body = serde_json::json!({ "user": name, "password": PASSWORD });
    let answer = client.post("/api/login", &body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned()
}
