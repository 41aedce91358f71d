//! A home with agents of both kinds, and a terminal with a chat on it.

use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use openfang_model::WireKind;
use openfang_testkit::FakeProvider;
use openfang_testkit::fake_provider::Reply;
use openfang_testkit::fake_provider::answers::{Say, answer};
use serde_json::{Value, json};

use crate::support::binary::Openfang;

/// Long enough for a loaded machine; nothing waits for it when things go well.
const PATIENCE: Duration = Duration::from_secs(60);

/// A home with the agent `thinker`, whose model is at this URL, and an MCP server whose tool is not trusted.
pub(super) fn home(provider: &str) -> Openfang {
    home_with(provider, "m", "")
}

pub(super) fn home_with(provider: &str, model: &str, more: &str) -> Openfang {
    let openfang = Openfang::new();
    let script = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/gateway/servers/quick.sh");
    let script = script.canonicalize().unwrap();
    let config = format!(
        "default_agent = \"starter\"\n\n[providers.fake]\nwire = \"chat\"\nbase_url = \"{provider}/v1\"\n\n\
         [models.\"fake/{model}\"]\nwindow = 100000\nmax_output = 4096\nprice = {{ input = 1.0, output = 10.0 }}\n\n\
         [[mcp_servers]]\nname = \"quick\"\n[mcp_servers.transport]\ntype = \"stdio\"\ncommand = \"/bin/sh\"\n\
         args = [{:?}, \"quick\"]\n",
        script.to_str().unwrap()
    );
    openfang.write("config.toml", &config);
    let manifest = format!(
        "name = \"thinker\"\ndescription = \"thinks\"\n[model]\nprovider = \"fake\"\nmodel = \"{model}\"\n\
         system_prompt = \"Be brief.\"\n{more}\n[capabilities]\ntools = [\"add_numbers\", \"mcp_quick_*\"]\n"
    );
    openfang.write("agents/thinker/agent.toml", &manifest);
    let starter = "name = \"starter\"\ndescription = \"greets\"\ndefault_tool = \"get_greeting\"\n\
                   [model]\nprovider = \"direct\"\n[capabilities]\ntools = [\"get_greeting\", \"add_numbers\"]\n";
    openfang.write("agents/starter/agent.toml", starter);
    openfang
}

/// An answer with this text, said word by word.
pub(super) fn says(text: &str) -> Reply {
    let words: Vec<Say> = text.split_inclusive(' ').map(Say::text).collect();
    answer(WireKind::Chat, &words)
}

pub(super) fn calls(id: &str, tool: &str, arguments: Value) -> Reply {
    answer(WireKind::Chat, &[Say::call(id, tool, arguments)])
}

/// The beginning of an answer that does not go on.
pub(super) fn begins(text: &str) -> Reply {
    let delta = json!({ "choices": [{ "index": 0, "delta": { "content": text }, "finish_reason": null }] });
    Reply::Hold(format!("data: {delta}\n\n").into_bytes())
}

pub(super) async fn provider(replies: impl IntoIterator<Item = Reply>) -> FakeProvider {
    let provider = FakeProvider::start().await;
    provider.script(replies);
    provider
}

/// A chat on a pseudo-terminal. It is killed when its test ends.
pub(crate) struct Terminal {
    child: Child,
    keyboard: ChildStdin,
    screen: Receiver<Vec<u8>>,
    shown: String,
    /// How much of what was shown was looked at.
    seen: usize,
}

impl Terminal {
    pub(crate) fn open(openfang: &Openfang, arguments: &str) -> Self {
        let mut child = openfang.on_terminal(&format!("chat {arguments}"));
        let keyboard = child.stdin.take().unwrap();
        let mut output = child.stdout.take().unwrap();
        let (send, screen) = sync_channel(1024);
        std::thread::spawn(move || {
            let mut bytes = [0; 1024];
            while let Ok(read @ 1..) = output.read(&mut bytes) {
                if send.send(bytes[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { child, keyboard, screen, shown: String::new(), seen: 0 }
    }

    /// Waits until something new is shown that contains this.
    pub(crate) fn wait_for(&mut self, text: &str) {
        self.wait_for_one_of(&[text]);
    }

    /// Waits until something new is shown that contains one of these; says which comes first.
    pub(crate) fn wait_for_one_of(&mut self, texts: &[&str]) -> usize {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let new = &self.shown[self.seen..];
            let found = texts.iter().enumerate().filter_map(|(which, text)| Some((new.find(text)?, which)));
            if let Some((at, which)) = found.min() {
                self.seen += at + texts[which].len();
                return which;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.screen.recv_timeout(left) {
                Ok(bytes) => self.shown.push_str(&String::from_utf8_lossy(&bytes)),
                Err(_) => panic!("{texts:?} was not shown after:\n{}", self.shown),
            }
        }
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Types a line at the prompt of the agent.
    pub(super) fn say(&mut self, line: &str) {
        self.wait_for("thinker> ");
        self.press(&format!("{line}\r"));
    }

    /// Waits for the end; says how it ended and all that was shown.
    pub(crate) fn left(mut self) -> (i32, String) {
        let deadline = Instant::now() + PATIENCE;
        while let Ok(bytes) = self.screen.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            self.shown.push_str(&String::from_utf8_lossy(&bytes));
        }
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        (code, std::mem::take(&mut self.shown))
    }

    /// Kills the chat, as if its machine had lost power.
    #[expect(clippy::disallowed_methods, reason = "kill is the plainest way to send a signal")]
    pub(super) fn kill(mut self) {
        let script = self.child.id().to_string();
        let found = std::process::Command::new("ps").args(["-o", "pid=", "--ppid", &script]).output().unwrap();
        for pid in String::from_utf8(found.stdout).unwrap().split_whitespace() {
            let sent = std::process::Command::new("kill").args(["-KILL", pid]).status().unwrap();
            assert!(sent.success());
        }
        let _ = self.child.wait();
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
