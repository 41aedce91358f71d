//! Limits of skills.

/// The longest name of a skill.
pub const SKILL_NAME_MAX_BYTES: usize = 64;
/// The longest description of a skill, in characters.
pub const SKILL_DESCRIPTION_CHARS: usize = 1_024;
/// The longest `compatibility` of a skill, in characters.
pub const SKILL_COMPATIBILITY_CHARS: usize = 500;
/// The largest `SKILL.md` of a skill.
pub const SKILL_TEXT_MAX_BYTES: usize = 256 * 1024;
/// The largest frontmatter of a `SKILL.md`.
pub const SKILL_FRONTMATTER_MAX_BYTES: usize = 32 * 1024;
/// Files of a skill.
pub const SKILL_FILES_MAX: usize = 512;
/// Bytes of all files of a skill.
pub const SKILL_MAX_BYTES: usize = 16 * 1024 * 1024;
/// Directories below each other in a skill.
pub const SKILL_DEPTH: usize = 8;
/// Entries of one directory that are looked at.
pub const SKILL_ENTRIES_MAX: usize = 2_000;
/// Directories below each other in which skills are looked for.
pub const SKILL_PLACE_DEPTH: usize = 4;
/// Directories of one place that are looked at.
pub const SKILL_PLACE_DIRECTORIES: usize = 2_000;
/// Skills that one look finds.
pub const SKILLS_FOUND_MAX: usize = 500;
/// Bytes of all skills that one look reads.
pub const SKILLS_FOUND_MAX_BYTES: usize = 256 * 1024 * 1024;
/// Skills that are known: trusted, enabled or installed.
pub const SKILLS_KNOWN_MAX: usize = 200;
/// Project directories that are trusted.
pub const SKILL_PROJECTS_MAX: usize = 50;
/// Skills that a model is offered.
pub const SKILLS_OFFERED_MAX: usize = 64;
/// Characters of the list of skills that a model is offered.
pub const SKILLS_OFFERED_CHARS: usize = 16_000;
/// The largest archive of a skill.
pub const SKILL_ARCHIVE_MAX_BYTES: usize = 32 * 1024 * 1024;
/// Findings that are shown of a skill.
pub const SKILL_FINDINGS_MAX: usize = 50;
/// Text files of a skill whose changes are shown line by line, by size.
pub const SKILL_SHOWN_BYTES: usize = 64 * 1024;
/// The largest `AGENTS.md` that is read whole.
pub const AGENTS_FILE_MAX_BYTES: usize = 32 * 1024;
/// Skills on one page of a list.
pub const SKILLS_PAGE: usize = 100;
/// Skills of one MCP server that are listed.
pub const SERVER_SKILLS_MAX: usize = 500;
