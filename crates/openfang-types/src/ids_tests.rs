//! Which texts are ids and which are not.

use super::*;

#[test]
fn agent_names_follow_the_rule_and_avoid_route_words() {
    for good in ["a", "0", "starter", "code-reviewer", "x9", &"a".repeat(33)] {
        assert!(good.parse::<AgentName>().is_ok(), "{good}");
    }
    let bad = ["", "-a", "A", "a_b", "a b", "ä", "a/b", "..", "v1", "tasks", "rest", "strict", "agents"];
    for bad in bad.into_iter().chain([&*"a".repeat(34)]) {
        assert!(bad.parse::<AgentName>().is_err(), "{bad}");
    }
}

#[test]
fn agent_names_that_differ_only_in_hyphens_fold_to_one() {
    let name: AgentName = "code-reviewer".parse().unwrap();

    assert_eq!(name.folded(), "code_reviewer");
}

#[test]
fn tool_names_hold_no_lookalikes_spaces_or_control_characters() {
    for good in ["add_numbers", "mcp_github_create-issue", "a.b", "X"] {
        assert!(good.parse::<ToolName>().is_ok(), "{good}");
    }
    for bad in ["", "she\u{406}l_exec", "a b", "a\nb", "a\u{200b}", "\u{1b}[31m", &"a".repeat(129)] {
        assert!(bad.parse::<ToolName>().is_err(), "{bad:?}");
    }
}

#[test]
fn an_id_that_a_peer_made_is_bounded_and_printable() {
    assert!("ctx-1 ü".parse::<ContextId>().is_ok());
    for bad in ["", "a\0", "a\r\nb", &"x".repeat(257)] {
        assert!(bad.parse::<ContextId>().is_err(), "{bad:?}");
    }
}

#[test]
fn a_task_id_reads_back_what_it_prints_and_refuses_the_rest() {
    let id = TaskId::from_uuid(Uuid::from_u128(7));

    assert_eq!(id.to_string().parse(), Ok(id));
    let error = "42".parse::<TaskId>().unwrap_err();
    assert_eq!(error.to_string(), "\"42\" is not a task id: it must be a UUID");
}

#[test]
fn a_key_id_that_is_none_is_not_repeated() {
    assert!("0123456789ab".parse::<KeyId>().is_ok());
    for bad in ["", "0123456789a", "0123456789AB", "0123456789abc", "ofk_0123456789ab_canary"] {
        let error = bad.parse::<KeyId>().unwrap_err().to_string();
        assert!(bad.is_empty() || !error.contains(bad), "{error}");
    }
}

#[test]
fn owners_cannot_climb_out_of_a_directory() {
    for bad in ["", "..", ".", "a/b", "a\\b", "a\0"] {
        assert!(bad.parse::<Owner>().is_err(), "{bad:?}");
    }
    assert!("ada@example.org".parse::<Owner>().is_ok());
}
