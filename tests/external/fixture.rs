//! Two servers: one whose agents are called, and one that calls them.

use openfang_testkit::{TestHome, TestServer};
use openfang_types::config::{A2aConfig, Config, ExternalAgent};
use openfang_types::limits::Limits;

/// What the far agents do.
const FAR: &str = r#"
    [[rules]]
    when = { text = "image" }
    steps = [{ artifact = { name = "picture", file = { base64 = "iVBORw0K", media_type = "image/png" } } }]
    [[rules]]
    when = { text = "steps" }
    steps = [{ status = { state = "working", message = "reading" } }, { artifact = { id = "a", name = "report", text = "one " } }, { artifact = { id = "a", text = "two", append = true, last = true } }, { status = { state = "completed", message = "done" } }]
    [[rules]]
    when = { text = "data" }
    steps = [{ artifact = { name = "numbers", data = { n = 7 } } }]
    [[rules]]
    when = { text = "wait" }
    steps = [{ status = { state = "working", message = "waiting" } }, { wait_for_cancel = true }]
    [[rules]]
    when = { text = "fail" }
    steps = [{ fail = "out of paper" }]
    [[rules]]
    when = { text = "login" }
    steps = [{ status = { state = "auth-required", message = "log in at https://login.example" } }]
    [[rules]]
    when = { text = "ask", turn = 1 }
    steps = [{ status = { state = "input-required", message = "which city?" } }]
    [[rules]]
    when = { turn = 2 }
    steps = [{ echo = "answer" }]
    [[rules]]
    when = { text = "reply" }
    steps = [{ reply = "just a message" }]
    [[rules]]
    steps = [{ chunk = "hello from far" }]
"#;

/// Both servers, and their homes.
pub(super) struct Pair {
    pub(super) near: TestServer,
    pub(super) far: TestServer,
    pub(super) near_home: TestHome,
    pub(super) far_home: TestHome,
}

/// A config that offers A2A on a free port.
pub(super) fn config() -> Config {
    let a2a = A2aConfig { enabled: true, ..A2aConfig::default() };
    let limits = Limits { drain_secs: 0, ..Limits::default() };
    Config { a2a, limits, ..crate::http::any_port() }
}

/// A home whose agent `worker` does what the tests want.
pub(super) fn far_home() -> TestHome {
    TestHome::new().with_script("worker", &[], FAR)
}

pub(super) async fn start(home: &TestHome, config: Config) -> TestServer {
    let kernel = home.boot_with(config).start().unwrap();
    kernel.start_background_agents();
    TestServer::start(kernel).await
}

/// The entry of the far agent `worker`, called `far` here.
pub(super) fn entry(far: &TestServer) -> ExternalAgent {
    ExternalAgent::new("far".parse().unwrap(), format!("http://{}/a2a/agents/worker", far.address))
}

impl Pair {
    pub(super) async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    /// The same, with another entry of the far agent.
    pub(super) async fn start_with(change: impl FnOnce(&mut ExternalAgent)) -> Self {
        let far_home = far_home();
        let far = start(&far_home, config()).await;
        let near_home = TestHome::new();
        let mut near = config();
        let mut entry = entry(&far);
        change(&mut entry);
        near.a2a.external_agents = vec![entry];
        let near = start(&near_home, near).await;
        Self { near, far, near_home, far_home }
    }

    pub(super) async fn stop(self) {
        self.near.stop().await;
        self.far.stop().await;
    }
}
