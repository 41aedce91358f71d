//! The gate against the ways out that others have fallen for; the ids are those of the threat list (PTH).
//!
//! Every test works beside canaries that lie outside the root: [`fixture::Fixture`] compares them before and after.

#[path = "workspace_tests/fixture.rs"]
mod fixture;
#[path = "workspace_tests/forms.rs"]
mod forms;
#[path = "workspace_tests/kinds.rs"]
mod kinds;
#[path = "workspace_tests/limits.rs"]
mod limits;
#[path = "workspace_tests/links.rs"]
mod links;
#[path = "workspace_tests/ordinary.rs"]
mod ordinary;
#[path = "workspace_tests/property.rs"]
mod property;
#[path = "workspace_tests/protected.rs"]
mod protected;
#[path = "workspace_tests/race.rs"]
mod race;
