//! The texts of a systemd unit and of a launchd property list.

use std::path::PathBuf;

/// The command that creates the user of the service of the machine.
pub(super) const CREATE_USER: &str = "useradd --system --home-dir /var/lib/openfang --shell /usr/sbin/nologin openfang";
/// The home of the service of the machine. systemd makes it for its user.
const SYSTEM_HOME: &str = "/var/lib/openfang";

/// What a service file is made of.
pub(super) struct Facts {
    pub(super) program: PathBuf,
    pub(super) home: PathBuf,
    pub(super) is_default_home: bool,
    /// The PATH of the shell, so that servers that are Node.js or Python programs are found.
    pub(super) search_path: String,
    pub(super) drain_secs: u64,
}

impl Facts {
    fn words(&self) -> Vec<String> {
        let mut words = vec![self.program.display().to_string()];
        if !self.is_default_home {
            words.extend(["--home".to_owned(), self.home.display().to_string()]);
        }
        words.push("start".to_owned());
        words
    }
}

/// The seconds that the daemon may take beyond `drain_secs`; it takes at most 20.
const STOP_GRACE_SECS: u64 = 25;

/// The unit of a user's systemd.
pub(super) fn systemd(facts: &Facts) -> String {
    let words: Vec<String> = facts.words().iter().map(|word| quoted(word)).collect();
    let home = facts.home.display().to_string().replace('%', "%%");
    format!(
        "# Written by `openfang service install`.
[Unit]
Description=OpenFang, a gateway for MCP and A2A
After=network.target

[Service]
Type=notify
ExecStart={}
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
TimeoutStopSec={}
NoNewPrivileges=true
Environment={}
Environment=OPENFANG_LOG__FILE=true
EnvironmentFile=-{home}/service.env

[Install]
WantedBy=default.target
",
        words.join(" "),
        facts.drain_secs + STOP_GRACE_SECS,
        quoted(&format!("PATH={}", facts.search_path)),
    )
}

/// The unit of the systemd of the machine. The service has a user of its own and can write to its own directory only.
pub(super) fn system(facts: &Facts) -> String {
    format!(
        "# Written by `openfang service install --system`.
[Unit]
Description=OpenFang, a gateway for MCP and A2A
After=network.target

[Service]
Type=notify
User=openfang
StateDirectory=openfang
StateDirectoryMode=0700
ExecStart={} --home {SYSTEM_HOME} start
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
TimeoutStopSec={}
NoNewPrivileges=true
ProtectSystem=strict
PrivateTmp=true
Environment=HOME={SYSTEM_HOME}
Environment={}
Environment=OPENFANG_LOG__FILE=true
EnvironmentFile=-/etc/openfang.env

[Install]
WantedBy=multi-user.target
",
        quoted(&facts.program.display().to_string()),
        facts.drain_secs + STOP_GRACE_SECS,
        quoted(&format!("PATH={}", facts.search_path)),
    )
}

/// Quotes a word for systemd: specifiers and variables stay as they are written.
fn quoted(word: &str) -> String {
    let escaped = word.replace('\\', r"\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    let is_plain = escaped.chars().all(|c| c.is_ascii_alphanumeric() || "_-./+,:@=".contains(c));
    if is_plain { escaped } else { format!("\"{escaped}\"") }
}

/// The property list of a user's launchd.
pub(super) fn plist(facts: &Facts) -> String {
    let words: String = facts
        .words()
        .iter()
        .map(|word| format!("\n        <string>{}</string>", xml(word)))
        .collect();
    let log = xml(&facts.home.join("data/log/launchd.log").display().to_string());
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">
<plist version=\"1.0\">
<dict>
    <key>Label</key>
    <string>dev.openfang</string>
    <key>ProgramArguments</key>
    <array>{words}
    </array>
    <key>EnvironmentVariables</key>
    <dict>
        <key>PATH</key>
        <string>{}</string>
        <key>OPENFANG_LOG__FILE</key>
        <string>true</string>
    </dict>
    <key>RunAtLoad</key>
    <true/>
    <key>KeepAlive</key>
    <dict>
        <key>SuccessfulExit</key>
        <false/>
    </dict>
    <key>StandardErrorPath</key>
    <string>{log}</string>
</dict>
</plist>
",
        xml(&facts.search_path),
    )
}

fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
#[path = "unit_tests.rs"]
mod tests;
