//! Query strings: what fits, and what is said of what does not.

use openfang_types::ids::AgentName;
use openfang_types::task::TaskState;
use serde::Deserialize;

use super::*;

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Asked {
    session_id: String,
    agent: Option<AgentName>,
    state: Option<TaskState>,
    #[serde(default)]
    is_long: bool,
}

fn asked(pairs: &[(&str, &str)]) -> Result<Asked, String> {
    let owned = |(key, text): &(&str, &str)| ((*key).to_owned(), (*text).to_owned());
    read(pairs.iter().map(owned).collect()).map_err(|error| error.to_string())
}

#[test]
fn what_fits_is_taken() {
    let all = [("state", "input-required"), ("isLong", "true"), ("sessionId", "7"), ("agent", "starter")];
    let expected = Asked {
        session_id: "7".to_owned(),
        agent: Some("starter".parse().unwrap()),
        state: Some(TaskState::InputRequired),
        is_long: true,
    };
    assert_eq!(asked(&all), Ok(expected));
    let bare = Asked { session_id: String::new(), agent: None, state: None, is_long: false };
    assert_eq!(asked(&[("sessionId", "")]), Ok(bare));
}

#[test]
fn what_does_not_fit_is_said_with_its_key_and_what_it_takes() {
    let long = "x".repeat(10_000);
    let rows: [(&[(&str, &str)], &str); 6] = [
        (&[], "the query parameter sessionId is missing"),
        (&[("sessionId", "1"), ("sessionId", "2")], "the query parameter sessionId is repeated"),
        (&[("isLong", "yes")], "isLong: must be true or false"),
        (&[("state", "happy")], "state: must be one of submitted, working, input-required"),
        (&[("agent", "UPPER")], "agent: "),
        (&[(&long, "1")], "; known are sessionId, agent, state, isLong"),
    ];
    for (pairs, expected) in rows {
        let said = asked(pairs).unwrap_err();
        assert!(said.contains(expected) && said.len() < 250, "{said}");
    }
}
