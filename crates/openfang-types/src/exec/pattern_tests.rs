//! What rules cover.

use proptest::prelude::*;

use super::*;

fn words(command: &str) -> (String, Vec<String>) {
    let mut words = split(command).unwrap().into_iter();
    (words.next().unwrap(), words.collect())
}

fn allows(rule: &str, command: &str) -> bool {
    let (program, arguments) = words(command);
    let pattern = CommandPattern::allowing(rule, false).unwrap();
    *pattern.program() == ProgramPattern::Named(program.clone()) && pattern.allows(&[&program], &arguments)
}

#[test]
fn arguments_are_covered_by_position() {
    let rows = [
        ("git status", "git status", true),
        ("git status", "git status -s", false),
        ("git status *", "git status", true),
        ("git status *", "git status -s --short", true),
        ("git status*", "git status", true),
        ("git status*", "git status-x", true),
        ("git status*", "git status -s", false),
        ("git status *", "git -c a=b status", false),
        ("git log -*", "git log -1", true),
        ("git log -*", "git log x", false),
        ("cargo test *", "cargo test --release -p x", true),
        ("cargo test *", "cargo testx", false),
        ("cp * *.txt", "cp a b.txt", true),
        ("cp * *.txt", "cp a b.txt c", false),
        ("cp * *.txt", "cp -r b.txt", false),
        ("cp * *.txt", "cp a --b.txt", false),
        ("ls", "ls", true),
        ("ls", "ls -l", false),
        ("ls *", "ls -l /etc", true),
        ("echo 'a b' *", "echo 'a b' c", true),
        ("echo 'a b' *", "echo a b c", false),
        ("wc * -l", "wc a -l", true),
        ("wc * -l", "wc -c -l", false),
    ];
    for (rule, command, expected) in rows {
        assert_eq!(allows(rule, command), expected, "{rule} / {command}");
    }
}

#[test]
fn a_star_covers_no_option_that_names_a_program() {
    for (rule, command) in [
        ("git fetch *", "git fetch --upload-pack=sh origin"),
        ("git grep *", "git grep -Osh x"),
        ("git * *", "git fetch -usomething"),
        ("find *", "find . -exec sh ';'"),
        ("tar *", "tar xf a --to-command sh"),
    ] {
        assert!(!allows(rule, command), "{rule} / {command}");
        let (program, arguments) = words(command);
        let named = CommandPattern::allowing(&format!("{program} *"), true).unwrap();
        assert!(named.allows(&[&program], &arguments), "unsafe covers it: {command}");
    }
    assert!(allows("git grep -Oless *", "git grep -Oless x"), "what the rule says itself is meant");
}

#[test]
fn interpreters_are_covered_word_for_word_only() {
    for rule in ["sh *", "python3 *", "env *", "xargs *", "/usr/bin/perl -e *", "node a*", "sudo *"] {
        assert!(matches!(CommandPattern::allowing(rule, false), Err(PatternFault::RunsPrograms(_))), "{rule}");
        assert!(CommandPattern::allowing(rule, true).is_ok(), "{rule}");
    }
    assert!(allows("python3 build.py", "python3 build.py"));
    assert!(!allows("python3 build.py", "python3 build.py x"));
    let linked = CommandPattern::allowing("tool *", false).unwrap();
    assert!(linked.allows(&["tool"], &["x".to_owned()]));
    assert!(!linked.allows(&["tool", "python3.11"], &["x".to_owned()]), "the file is an interpreter");
}

#[test]
fn what_is_too_wide_is_not_a_rule() {
    let fault = |rule: &str| CommandPattern::allowing(rule, false).unwrap_err();
    assert_eq!(fault("*"), PatternFault::AnyProgram);
    assert_eq!(fault("g*t status"), PatternFault::StarInProgram);
    assert_eq!(fault("./build.sh"), PatternFault::InWorkspace);
    assert_eq!(fault("bin/x"), PatternFault::InWorkspace);
    assert!(matches!(fault("git 'x"), PatternFault::Words(_)));
    assert_eq!(fault(&"a".repeat(5_000)), PatternFault::TooLong);
    assert!(CommandPattern::allowing("*", true).unwrap().allows(&["sh"], &[]));
    assert!(CommandPattern::allowing("./build.sh", true).is_ok());
}

#[test]
fn a_denial_covers_options_and_a_name_alone_all_of_a_program() {
    let denies = |rule: &str, command: &str| CommandPattern::denying(rule).unwrap().denies(&words(command).1);
    assert!(denies("curl", "curl -s x"));
    assert!(denies("git push *", "git push --force"));
    assert!(denies("git * --force", "git push --force"));
    assert!(denies("rm * *", "rm -rf /"));
    assert!(!denies("git push *", "git status"));
    assert!(denies("sh *", "sh -c x"));
}

proptest! {
    #[test]
    fn a_rule_without_a_star_covers_one_command(arguments in proptest::collection::vec("[ -~]{0,12}", 0..6)) {
        let quoted: Vec<String> = arguments.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
        let rule = format!("tool {}", quoted.join(" "));
        let pattern = CommandPattern::allowing(&rule, false).unwrap();
        prop_assert!(split(&rule).unwrap()[1..] == arguments[..]);
        if !rule.contains('*') {
            prop_assert!(pattern.allows(&["tool"], &arguments));
            let mut more = arguments.clone();
            more.push("x".to_owned());
            prop_assert!(!pattern.allows(&["tool"], &more));
        }
    }

    #[test]
    fn splitting_and_matching_never_panic(rule in ".{0,40}", command in ".{0,40}") {
        let words = split(&command).unwrap_or_default();
        if let Ok(pattern) = CommandPattern::allowing(&rule, false) {
            pattern.allows(&["x"], &words);
            pattern.denies(&words);
        }
    }
}
