//! Homes with skills, and what is asked of them.

use std::path::Path;

use openfang_kernel::skill_control::SkillSource;
use openfang_kernel::{Kernel, KernelError};
use openfang_testkit::{FakeProvider, TestHome, callers};
use openfang_types::config::{Config, SkillsConfig};
use openfang_types::skills::{SkillAction, SkillDetails};

use crate::model_agents::fixture::config;

/// A skill in the layout of a public repository of skills.
pub(super) const PDF: &str = "---\nname: pdf-forms\ndescription: Fills PDF forms. Use it when somebody sends a form.\nlicense: MIT\n\
    allowed-tools: add_numbers Bash(ls:*)\nmetadata:\n  version: \"1.2\"\n  tags: pdf forms\n  released: 2026-01-01\n---\n\n\
    # Forms\n\nRead references/fields.md first. The magic word is okapi.\n";

/// Writes the skill into the home.
pub(super) fn write_pdf(home: &TestHome) {
    home.write("skills/pdf-forms/SKILL.md", PDF);
    home.write("skills/pdf-forms/references/fields.md", "The first field is the name.\n");
    home.write("skills/pdf-forms/assets/logo.png", "not a picture");
}

/// The settings of a kernel that looks at no home but its own.
pub(super) fn settings(url: &str) -> Config {
    Config { skills: SkillsConfig { user: false, ..SkillsConfig::default() }, ..config(url) }
}

/// The manifest of an agent with a model that may use these skills and tools.
pub(super) fn manifest(skills: &[&str], tools: &[&str]) -> String {
    format!(
        "name = \"thinker\"\ndescription = \"thinks\"\n[model]\nprovider = \"fake\"\nmodel = \"m\"\n\
         system_prompt = \"Be brief.\"\n[capabilities]\ntools = {tools:?}\nskills = {skills:?}\n"
    )
}

/// A home with the skill and the agent, and the provider that answers for it.
pub(super) struct Stage {
    pub(super) provider: FakeProvider,
    pub(super) home: TestHome,
    pub(super) kernel: Kernel,
}

impl Stage {
    pub(super) async fn new(skills: &[&str], tools: &[&str]) -> Self {
        Self::furnished(skills, tools, Vec::new()).await
    }

    /// The same with more tools.
    pub(super) async fn furnished(
        skills: &[&str],
        tools: &[&str],
        probes: Vec<Box<dyn openfang_kernel::Tool>>,
    ) -> Self {
        let (provider, home) = (FakeProvider::start().await, TestHome::new());
        write_pdf(&home);
        home.write("agents/thinker/agent.toml", &manifest(skills, tools));
        let boot = home.boot_with(settings(&provider.url()));
        let kernel = probes.into_iter().fold(boot, openfang_kernel::Boot::tool).start().unwrap();
        Self { provider, home, kernel }
    }

    /// The same with the skill in force.
    pub(super) async fn ready(tools: &[&str]) -> Self {
        let stage = Self::new(&["*"], tools).await;
        trust_and_enable(&stage.kernel, "pdf-forms").await;
        stage
    }
}

pub(super) async fn change(kernel: &Kernel, name: &str, action: SkillAction) -> Result<SkillDetails, KernelError> {
    kernel.change_skill(&callers::operator(kernel), &name.parse().unwrap(), action).await
}

pub(super) async fn trust(kernel: &Kernel, name: &str) -> SkillDetails {
    change(kernel, name, SkillAction::Trust { digest: None }).await.unwrap()
}

pub(super) async fn trust_and_enable(kernel: &Kernel, name: &str) {
    trust(kernel, name).await;
    change(kernel, name, SkillAction::Enable {}).await.unwrap();
}

pub(super) async fn details(kernel: &Kernel, name: &str) -> SkillDetails {
    kernel.skill(&callers::operator(kernel), &name.parse().unwrap()).await.unwrap()
}

pub(super) async fn install(kernel: &Kernel, source: &Path) -> Result<SkillDetails, KernelError> {
    let source = SkillSource::Path(source.to_owned());
    kernel.install_skill(&callers::operator(kernel), source, None).await
}
