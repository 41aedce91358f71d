//! PTH-01 and PTH-02: texts that mean a way out to somebody.

use super::fixture::Fixture;
use crate::workspace::PathFault;

/// Every way of writing `..`, at every position.
fn climbing() -> Vec<String> {
    let mut forms = Vec::new();
    for before in ["", "./", "dir/", "dir/./", "dir/../", "none/", "file.txt/", "dir//"] {
        for after in ["..", "../", "../x", "../../outside/canary.txt", "../a_evil/x", "../../../../../../etc/passwd"] {
            forms.push(format!("{before}{after}"));
        }
    }
    forms
}

fn absolute(fixture: &Fixture) -> Vec<String> {
    let root = fixture.root.display();
    let outside = fixture.outside("outside/canary.txt");
    vec![
        "/".to_owned(),
        "//".to_owned(),
        "/etc/passwd".to_owned(),
        "//etc/passwd".to_owned(),
        "/proc/self/root/etc/passwd".to_owned(),
        outside.display().to_string(),
        // PTH-02: the root's name is only a prefix of this directory's.
        format!("{root}_evil/x"),
        format!("{root}/../a_evil/x"),
        format!("{root}/file.txt"),
        format!("{root}"),
    ]
}

fn encoded() -> Vec<String> {
    let mut forms = Vec::new();
    for (dot, slash) in
        [("%2e", "/"), ("%2E", "%2f"), ("%252e", "%252F"), ("%25252E", "/"), ("%%32%65", "/"), (".", "%2F")]
    {
        forms.push(format!("{dot}{dot}{slash}x"));
        forms.push(format!("dir{slash}{dot}{dot}{slash}{dot}{dot}{slash}outside{slash}canary.txt"));
    }
    forms.retain(|form| form.contains('%'));
    forms.extend(["..%5cx", "%00", "file.txt%00.png", "%c0%ae%c0%ae/x", ".%2e/x"].map(str::to_owned));
    forms
}

fn rows(fixture: &Fixture) -> Vec<(PathFault, Vec<String>)> {
    let owned = |forms: &[&str]| forms.iter().map(|form| (*form).to_owned()).collect::<Vec<_>>();
    vec![
        (PathFault::Empty, owned(&[""])),
        (PathFault::ParentDirectory, climbing()),
        (PathFault::Absolute, absolute(fixture)),
        (PathFault::Home, owned(&["~", "~/", "~/.ssh/id_rsa", "~root/x", "~+/x", "~/../x"])),
        (PathFault::Variable, owned(&["$HOME", "$HOME/x", "${HOME}/x", "$PWD/../x", "$(pwd)/x", "$_", "${IFS}"])),
        (PathFault::Backslash, owned(&["..\\", "..\\x", "dir\\..\\..\\x", "\\\\host\\share", "C:\\x", "a\\"])),
        (PathFault::Encoded, encoded()),
        (PathFault::Nul, owned(&["\0", "file.txt\0", "file.txt\0.png", "../\0x", "/etc/passwd\0"])),
        (PathFault::ControlCharacter, owned(&["a\nb", "\u{1b}[2Jx", "a\rb", "a\tb", "\u{7f}", "a\u{85}b"])),
        (PathFault::TooLong, vec!["a/".repeat(2_500), "../".repeat(1_700), "n".repeat(5_000)]),
        (PathFault::NameTooLong, vec!["n".repeat(256), format!("dir/{}", "n".repeat(300))]),
        (PathFault::TooDeep, vec!["d/".repeat(65), vec!["d"; 1_000].join("/")]),
    ]
}

#[test]
fn texts_that_mean_a_way_out_are_refused_by_every_operation() {
    let fixture = Fixture::new();
    let rows = rows(&fixture);
    let inside = super::fixture::snapshot(&fixture.root, &fixture.root.join("none"));

    for (fault, forms) in &rows {
        for form in forms {
            fixture.assert_refused(form, &format!("InvalidPath {fault:?}"));
        }
    }

    assert!(rows.iter().map(|(_, forms)| forms.len()).sum::<usize>() >= 100);
    assert_eq!(super::fixture::snapshot(&fixture.root, &fixture.root.join("none")), inside, "nothing was created");
}

#[test]
fn a_root_is_no_prefix_of_its_neighbour() {
    let fixture = Fixture::new();
    fixture.link("neighbour", "../a_evil");
    fixture.link("neighbour-file", "../a_evil/x");
    fixture.link("neighbour-absolute", fixture.outside("ws/a_evil"));

    for path in ["neighbour", "neighbour/x", "neighbour/new", "neighbour-file", "neighbour-absolute/x"] {
        fixture.assert_refused(path, "Outside");
    }
}

#[test]
fn lookalikes_of_dots_and_slashes_are_only_odd_names() {
    let fixture = Fixture::new();

    for path in ["．．/x", "‥/x", "..．/x", "a∕..∕x", "․․/x", ".. /x", "..;/x", "...../x", "C:/x", "file:///x", "-rf"]
    {
        fixture.workspace.write(path, b"odd").unwrap();
        assert_eq!(fixture.read_text(path), "odd");
        fixture.assert_outside_unchanged();
    }
}

#[test]
fn messages_are_sentences_and_stay_short() {
    let fixture = Fixture::new();

    let long = fixture.workspace.read(&"x/".repeat(10_000), 1).unwrap_err().to_string();
    let control = fixture.workspace.read("a\u{1b}b", 1).unwrap_err().to_string();
    let missing = fixture.workspace.read("none.txt", 1).unwrap_err().to_string();

    assert!(long.len() < 250 && long.ends_with("it is longer than 4096 bytes"), "{long}");
    assert_eq!(control, "the path 'a\\u{1b}b' cannot be used: it contains a control character");
    assert_eq!(missing, "there is nothing at 'none.txt'");
}
