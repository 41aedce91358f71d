//! The rooms of the kernel: each wall stops what it should, and nothing else.

use super::super::source;
use super::*;

fn found(path: &str, text: &str) -> Vec<String> {
    let path = format!("{KERNEL}{path}");
    let lines = source::lines(text);
    let all = named(&path, &lines).into_iter().chain(fields(&path, &lines));
    let all = all.chain(state(&path, &lines)).chain(handle(&path, &lines));
    all.filter(|violation| !violation.reason.contains("not here any more"))
        .map(|violation| format!("{}: {}", violation.line, violation.reason))
        .collect()
}

#[test]
fn every_room_of_the_plan_names_rooms_of_the_plan() {
    for room in ROOMS {
        for other in room.may_name {
            assert!(ROOMS.iter().any(|known| known.name == *other), "{other}");
            assert_ne!(room.name, *other);
        }
    }
}

#[test]
fn a_path_into_a_room_behind_a_wall_is_caught_however_it_is_written() {
    let rows = [
        "use crate::tasks::Taken;",
        "use crate::{Caller, tasks::Taken};",
        "use crate::{\n    Caller,\n    tasks::{Taken, Work},\n};",
        "fn f() -> crate::tasks::Taken { g() }",
        "pub(in crate::tasks) fn f() {}",
    ];
    for text in rows {
        let found = found("peers/upstreams.rs", text);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert!(found[0].ends_with("peers may not name tasks: only settings, access"), "{found:?}");
    }
}

#[test]
fn what_a_room_may_name_and_what_only_looks_like_a_path_passes() {
    let rows = [
        ("doors/mcp.rs", "use crate::tasks::Taken;\nuse crate::peers::upstreams::ConnectedServer;"),
        ("tasks/run.rs", "use crate::access::Caller;\nuse crate::tasks::log::TaskLog;\nuse crate::KernelError;"),
        ("peers/upstreams.rs", "use crate::{Caller, KernelError};\nlet tasks = crate::system::tasks();"),
        ("peers/upstreams.rs", "use crate::{drain::{tasks, doors}, access::Caller};"),
        ("doors/gateway.rs", "use crate::{Caller, Kernel};"),
        ("kernel/tasks.rs", "use super::Kernel;\nimpl Kernel {\n}"),
        ("peers/upstreams.rs", "// crate::tasks::Taken\nlet text = \"crate::tasks::Taken\";"),
        ("peers/upstreams_tests.rs", "use crate::tasks::Taken;"),
        ("boot.rs", "use crate::tasks::Tasks;\nuse crate::doors::Doors;"),
        ("tasks/run.rs", "use openfang_crate::doors::x;\nuse mycrate::doors::x;"),
    ];
    for (path, text) in rows {
        assert_eq!(found(path, text), [""; 0], "{path}: {text}");
    }
}

#[test]
fn a_visible_field_of_a_holder_is_caught_and_those_of_others_are_not() {
    let text = "pub(crate) struct Tasks {\n    live: LiveRuns,\n    pub(crate) streams: OpenStreams,\n    pub node: u8,\n}\n\
                pub(crate) struct Plan {\n    pub(crate) caller: Caller,\n}";
    let reason = "a field of Tasks is visible to other rooms: give it a method";
    assert_eq!(found("tasks.rs", text), [format!("3: {reason}"), format!("4: {reason}")]);
    assert_eq!(found("tasks/run.rs", text), [""; 0]);
}

#[test]
fn a_holder_that_was_renamed_is_noticed() {
    let path = format!("{KERNEL}tasks.rs");
    let found = fields(&path, &source::lines("pub(crate) struct Jobs {\n}"));
    assert_eq!(found.len(), 1);
    assert!(found[0].reason.starts_with("Tasks is not here any more"));
}

#[test]
fn state_that_other_rooms_see_is_caught_wherever_it_is_held() {
    let text = "pub(crate) struct Seat {\n    pub(crate) name: String,\n    pub(crate) taken: Mutex<u8>,\n    \
                pub(super) left: Mutex<u8>,\n    free: watch::Sender<u8>,\n    pub store: Arc<dyn TaskStore>,\n}\n\
                pub(crate) struct SeatParts {\n    pub(crate) store: Arc<dyn TaskStore>,\n}\n\
                pub(crate) fn lock(seats: &Mutex<u8>) {}";
    let reason = "state of Seat is visible to other rooms: give it a method";
    for path in ["tasks/run.rs", "drain.rs"] {
        assert_eq!(found(path, text), [format!("3: {reason}"), format!("6: {reason}")], "{path}");
    }
    assert_eq!(found("tasks/run_tests.rs", text), [""; 0]);
}

#[test]
fn a_room_that_holds_the_kernel_or_adds_methods_to_it_is_caught() {
    let rows = [
        ("tasks/run.rs", "use crate::{Caller, Kernel};", "1: tasks may not name Kernel: a room is given what it needs"),
        (
            "peers/x.rs",
            "use crate::kernel::KernelParts;",
            "1: peers may not name kernel: a room is given what it needs",
        ),
        ("doors/x.rs", "impl Kernel {\n}", "1: methods of Kernel are in kernel/: give these to the room's own type"),
        ("drain.rs", "impl Kernel {\n}", "1: methods of Kernel are in kernel/: give these to the room's own type"),
    ];
    for (path, text, expected) in rows {
        assert_eq!(found(path, text), [expected], "{path}");
    }
}
