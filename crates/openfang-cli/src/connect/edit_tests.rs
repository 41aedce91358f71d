//! Edits that keep every other byte.

use serde_json::json;

use super::*;
use crate::clients::Client;

fn slot(client: Client) -> Slot<'static> {
    let form = client.row().unwrap().form;
    Slot { form, keys: form.keys(), name: "openfang" }
}

#[test]
fn an_entry_that_comes_and_goes_leaves_no_trace_in_a_file_of_several_lines() {
    let entry = json!({ "command": "/bin/openfang", "args": ["mcp", "--tools"] });
    let texts = [
        (Client::Cursor, "{\n  \"mcpServers\": {\n    \"a\": {}\n  }\n}\n"),
        (Client::Cursor, "{\n\t// kept\n\t\"mcpServers\": {\n\t\t\"a\": {}, // kept\n\t},\n}\n"),
        (Client::Zed, "// kept\n{\n  \"theme\": \"x\"\n}\n"),
        (Client::Codex, "# kept\n[mcp_servers.a]\ncommand = \"x\" # kept\n\n[other]\nx = 1\n"),
        (Client::Codex, ""),
    ];
    for (client, text) in texts {
        let slot = slot(client);

        let edited = slot.put(text, &entry).unwrap();

        assert_eq!(slot.get(&edited.text).unwrap().as_ref(), Some(&entry), "{}", edited.text);
        assert_eq!(slot.put(&edited.text, &entry).unwrap().text, edited.text, "twice is once");
        assert_eq!(slot.remove(&edited.text, edited.created).unwrap().trim_end(), text.trim_end(), "{}", edited.text);
    }
}

#[test]
fn members_come_in_the_order_that_people_write_them() {
    let entry = json!({ "args": ["mcp"], "command": "x", "type": "stdio" });

    let edited = slot(Client::VsCode).put("", &entry).unwrap();

    let expected = "{\n  \"servers\": {\n    \"openfang\": {\n      \"type\": \"stdio\",\n      \"command\": \"x\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n";
    assert_eq!(edited, Edited { text: expected.to_owned(), created: 1 });
}
