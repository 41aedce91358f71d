//! A home that is deleted with its test.

use std::path::Path;

use openfang_kernel::home::Home;
use openfang_kernel::{Boot, Kernel};
use openfang_types::config::Config;

/// A temporary home in the state after the first start, with the starter agent.
pub struct TestHome {
    directory: tempfile::TempDir,
}

impl Default for TestHome {
    fn default() -> Self {
        Self::new()
    }
}

impl TestHome {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let home = Self { directory };
        home.home().prepare().expect("a fresh home can be written");
        home
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The home as the product sees it.
    pub fn home(&self) -> Home {
        Home::at(self.path().to_owned())
    }

    /// Writes a file of the home.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a file has a directory")).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Writes a direct agent that may use these tools.
    #[must_use]
    pub fn with_direct(self, name: &str, tools: &[&str]) -> Self {
        self.write(&format!("agents/{name}/agent.toml"), &manifest(name, "direct", tools));
        self
    }

    /// Writes a script agent that may use these tools.
    #[must_use]
    pub fn with_script(self, name: &str, tools: &[&str], script: &str) -> Self {
        self.write(&format!("agents/{name}/agent.toml"), &manifest(name, "script", tools));
        self.write(&format!("agents/{name}/script.toml"), script);
        self
    }

    /// The boot parts of a kernel on this home, with the default config.
    pub fn boot(&self) -> Boot {
        self.boot_with(Config::default())
    }

    /// The boot parts of a kernel on this home, with this config.
    pub fn boot_with(&self, config: Config) -> Boot {
        Boot::new(self.home(), config)
    }

    /// A kernel on this home, with the default config.
    pub fn kernel(&self) -> Kernel {
        self.boot().start().expect("a kernel starts on a test home")
    }
}

fn manifest(name: &str, provider: &str, tools: &[&str]) -> String {
    format!(
        "name = \"{name}\"\ndescription = \"a {provider} agent\"\n[model]\nprovider = \"{provider}\"\n\
         [capabilities]\ntools = {tools:?}\n"
    )
}
