//! All valid paths and some invalid ones.

use super::*;

fn place(tenant: Option<&str>, dialect: Dialect, resource: Resource) -> Option<RestPath> {
    Some(RestPath { tenant: tenant.map(str::to_owned), dialect, resource })
}

#[test]
fn paths_of_both_versions_are_read_with_and_without_an_agent() {
    let id = || "a b:c".to_owned();
    let rows = [
        ("message:send", Resource::Send),
        ("message:stream", Resource::Stream),
        ("tasks", Resource::Tasks),
        ("tasks/a%20b:c", Resource::Task(id())),
        ("tasks/a%20b:c:cancel", Resource::Cancel(id())),
        ("tasks/a%20b%3Ac%3Asubscribe", Resource::Subscribe(id())),
        ("tasks/a%20b:c/pushNotificationConfigs", Resource::Pushes(id())),
        ("tasks/a%20b:c/pushNotificationConfigs/x", Resource::Push(id(), "x".to_owned())),
        ("extendedAgentCard", Resource::ExtendedCard),
    ];
    for (path, resource) in rows {
        let again = || RestPath::of(path).unwrap().resource;
        assert_eq!(RestPath::of(path), place(None, Dialect::V10, resource), "{path}");
        assert_eq!(RestPath::of(&format!("v1/{path}")), place(None, Dialect::V03Proto, again()), "{path}");
        assert_eq!(RestPath::of(&format!("starter/{path}")), place(Some("starter"), Dialect::V10, again()), "{path}");
        let both = format!("starter/v1/{path}");
        assert_eq!(RestPath::of(&both), place(Some("starter"), Dialect::V03Proto, again()), "{path}");
    }
}

#[test]
fn other_paths_are_none() {
    for path in [
        "",
        "/",
        "tasks/",
        "tasks//",
        "tasks/:cancel",
        "tasks/x/y",
        "tasks/x/pushNotificationConfigs/",
        "tasks/x/pushNotificationConfigs/y/z",
        "message:sent",
        "a/b/tasks",
        "tasks/%ff",
        "v1",
        "v1/v1/tasks",
        "starter",
    ] {
        assert_eq!(RestPath::of(path), None, "{path:?}");
    }
}
