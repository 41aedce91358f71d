//! Service files, word by word.

use super::*;

fn facts() -> Facts {
    Facts {
        program: "/opt/open fang/openfang".into(),
        home: "/srv/50%/home".into(),
        is_default_home: false,
        search_path: "/usr/bin:/opt/node/bin".to_owned(),
        drain_secs: 30,
    }
}

#[test]
fn a_unit_has_quoted_words_the_path_of_the_shell_and_time_to_drain() {
    let unit = systemd(&facts());

    assert!(unit.contains("ExecStart=\"/opt/open fang/openfang\" --home \"/srv/50%%/home\" start\n"), "{unit}");
    assert!(unit.contains("Environment=PATH=/usr/bin:/opt/node/bin\n"), "{unit}");
    assert!(unit.contains("TimeoutStopSec=55\n") && unit.contains("Type=notify\n"), "{unit}");
}

#[test]
fn the_default_home_is_not_named() {
    let unit = systemd(&Facts { is_default_home: true, program: "/bin/openfang".into(), ..facts() });

    assert!(unit.contains("ExecStart=/bin/openfang start\n"), "{unit}");
}

#[test]
fn a_property_list_escapes_what_xml_would_read() {
    let list = plist(&Facts { search_path: "/a&b".to_owned(), ..facts() });

    assert!(list.contains("<string>/opt/open fang/openfang</string>"), "{list}");
    assert!(list.contains("<string>/a&amp;b</string>"), "{list}");
    assert!(list.contains("<key>SuccessfulExit</key>\n        <false/>"), "{list}");
}
