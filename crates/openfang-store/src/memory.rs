//! The home in this process's memory: bounded, and gone when the process ends.

mod approvals;
mod audit;
mod events;
mod files;
mod health;
mod kept_bytes;
mod key_value;
mod queue;
mod results;
mod schedules;
mod tasks;
mod usage;
mod users;

pub use approvals::MemoryApprovals;
pub use audit::MemoryAudit;
pub use events::MemoryEvents;
pub use files::MemoryFiles;
pub use health::MemoryHealth;
pub(crate) use kept_bytes::KeptBytes;
pub use key_value::MemoryKeyValues;
pub use queue::MemoryQueue;
pub use results::MemoryResults;
pub use schedules::MemorySchedules;
pub use tasks::MemoryTasks;
pub use usage::MemoryUsage;
pub use users::MemoryUsers;

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
