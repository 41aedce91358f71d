//! Skills: directories with a `SKILL.md`, read, checked and handed to agents.
//!
//! ```text
//! directory, archive or MCP server ──> SkillFiles ──> SkillPackage (name, frontmatter, digests)
//!                                                        │ trusted and enabled by the operator
//!                                                        v
//!                     SkillStore (private, by digest) ──> ReadySkill ──> SkillSet of the catalogue
//! ```
//!
//! Files are read into memory once and hashed there. What is served is read from the private store and hashed again, so that
//! nothing is sent whose digest nobody has seen. `frontmatter.rs` reads the YAML, `package.rs` checks a skill, `directory.rs`
//! reads one from a disk, `place.rs` finds them, `archive.rs` unpacks them, `findings.rs` says what a person should look at,
//! `store.rs` keeps them, `ready.rs` is what agents are offered, `activation.rs` the calls that read it.

pub mod activation;
pub mod archive;
pub mod directory;
pub mod findings;
pub mod frontmatter;
pub mod package;
pub mod place;
pub mod ready;
pub mod store;

pub use activation::{ACTIVATE_SKILL, SKILL_READ, SkillContent, SkillResource};
pub use package::{SkillFault, SkillFiles, SkillPackage, hex_digest};
pub use ready::{ReadySkill, SkillSet};
pub use store::SkillStore;

/// The file that makes a directory a skill.
pub const SKILL_FILE: &str = "SKILL.md";
