//! What is left out of a server's result is kept, on both ways to the server.

use openfang_types::limits::Limits;
use serde_json::{Value, json};

use super::fixture::{House, odd};
use crate::results::id_in;

#[tokio::test]
async fn a_block_that_is_left_out_is_kept_byte_for_byte_on_both_ways() {
    let limits = Limits { tool_result_block_bytes: 1_000, ..Limits::default() };
    let house = House::limited(limits, [odd("big", &[])]).await;
    house.ready("big").await;
    let image = json!({"type": "image", "data": "QUJD".repeat(500), "mimeType": "image/png", "x-more": [1.50]});
    let result = json!({"result": {"content": [image, {"type": "text", "text": "b"}], "resultType": "complete"}});

    for (path, tool) in [("/mcp", "mcp_big_raw"), ("/mcp/servers/big", "raw")] {
        let shown = house.call_at(path, tool, result.clone()).await;
        let marker = shown["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{shown}"));
        assert!(marker.starts_with("[image of ") && shown["isError"] == true, "{shown}");
        assert_eq!(shown["content"][1]["text"], "b");

        let uri = format!("openfang://results/{}", id_in(marker));
        let read = house.ask("/mcp", "resources/read", json!({ "uri": uri })).await;
        let content = &read["result"]["contents"][0];

        assert_eq!(content["mimeType"], "application/json", "{read}");
        let kept: Value = serde_json::from_str(content["text"].as_str().unwrap()).unwrap();
        assert_eq!(kept, image);
    }
}
