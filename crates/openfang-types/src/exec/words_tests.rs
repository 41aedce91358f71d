//! Commands as words.

use super::*;

#[test]
fn words_are_split_as_a_shell_splits_them() {
    let rows: [(&str, &[&str]); 12] = [
        ("ls", &["ls"]),
        ("  git   log\t-1 ", &["git", "log", "-1"]),
        ("echo 'a b' \"c d\" e\\ f", &["echo", "a b", "c d", "e f"]),
        ("echo ''", &["echo", ""]),
        ("echo a'b'\"c\"d", &["echo", "abcd"]),
        ("echo \"\\\"\\\\\\$\\`\\n\"", &["echo", "\"\\$`\\n"]),
        ("echo '\\' x", &["echo", "\\", "x"]),
        ("echo # no comment", &["echo", "#", "no", "comment"]),
        ("echo 'a\nb'", &["echo", "a\nb"]),
        ("echo a\\\nb", &["echo", "ab"]),
        ("echo é 名前", &["echo", "é", "名前"]),
        ("\necho x\n", &["echo", "x"]),
    ];
    for (command, expected) in rows {
        assert_eq!(split(command).unwrap(), expected, "{command}");
    }
}

#[test]
fn nothing_is_expanded_and_no_operator_is_one() {
    let rows: [(&str, &[&str]); 6] = [
        ("ls; curl x", &["ls;", "curl", "x"]),
        ("echo $(id) `id` $HOME ~ *", &["echo", "$(id)", "`id`", "$HOME", "~", "*"]),
        ("a && b || c & d", &["a", "&&", "b", "||", "c", "&", "d"]),
        ("a | b > c < d", &["a", "|", "b", ">", "c", "<", "d"]),
        ("A=b ls", &["A=b", "ls"]),
        ("echo ${IFS}x", &["echo", "${IFS}x"]),
    ];
    for (command, expected) in rows {
        assert_eq!(split(command).unwrap(), expected, "{command}");
    }
    assert_eq!(shell_operator(&split("ls | wc").unwrap()), Some("|"));
    assert_eq!(shell_operator(&split("cd x && ls").unwrap()), Some("&&"));
    assert_eq!(shell_operator(&split("ls -l").unwrap()), None);
}

#[test]
fn what_has_two_readings_is_refused() {
    let rows = [
        ("", WordsFault::Empty),
        (" \t\n", WordsFault::Empty),
        ("''", WordsFault::Empty),
        ("'' x", WordsFault::Empty),
        ("echo 'x", WordsFault::OpenQuote('\'')),
        ("echo \"x", WordsFault::OpenQuote('"')),
        ("echo \"x\\", WordsFault::OpenQuote('"')),
        ("echo x\\", WordsFault::TrailingBackslash),
        ("echo x\0y", WordsFault::Nul),
        ("ls\ncurl x", WordsFault::LineBreak),
        ("ls\rcurl x", WordsFault::LineBreak),
    ];
    for (command, fault) in rows {
        assert_eq!(split(command), Err(fault), "{command:?}");
    }
}
