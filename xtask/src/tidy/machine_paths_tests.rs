//! Paths of a machine. The samples are put together at run time, since this file is checked too.

use super::*;

fn sample(text: &str) -> String {
    text.replace('|', "/")
}

#[test]
fn a_path_of_a_machine_is_caught() {
    let rows = [
        "see |root|.cargo",
        "\"|work|main|x\"",
        "cd |home|alice|src",
        "PATH=|home|some-user|bin",
        "file:|||home|alice|x",
        "(|root|x)",
    ];
    for row in rows {
        assert_eq!(check("README.md", &sample(row)).len(), 1, "not caught: {row}");
    }
}

#[test]
fn relative_paths_placeholders_and_addresses_pass() {
    let rows = [
        "..|..|root|.ssh",
        "~|work|x",
        "${HOME}|work|x",
        "https:||example.org|home|alice|x",
        "|home|<you>|x",
        "|home|$USER|x",
        "|home|",
        "the |rooted|tree",
        "target|work|x",
    ];
    for row in rows {
        assert_eq!(check("README.md", &sample(row)), [], "wrongly caught: {row}");
    }
}

#[test]
fn a_registry_address_in_an_npm_lock_file_is_caught_and_only_there() {
    let lock = "{\n  \"resolved\": \"https://registry.example/x.tgz\",\n}";

    assert_eq!(check("tests/peers/package-lock.json", lock)[0].line, 2);
    assert_eq!(check("notes.json", lock), []);
}
