//! What a server reports and asks reaches whoever called, through every door: the reference server behind `/mcp` and behind an
//! agent.

use openfang_kernel::Reply;
use openfang_testkit::TestHome;
use openfang_types::config::{A2aConfig, Config};
use openfang_types::event::{EventBody, StreamItem, Until};
use openfang_types::task::{Message, Part, Task, TaskState};
use serde_json::{Value, json};

use super::fixture::{House, odd, real};
use crate::support::assert_state;
use crate::support::peers::{self, PeerServer};

const LONG: &str = "mcp_everything_trigger_long_running_operation";
const ASKS: &str = "mcp_everything_trigger_elicitation_request";

async fn everything() -> House {
    let mut entry = real("everything", PeerServer::Everything);
    entry.interactive = true;
    let house = House::with([entry]).await;
    house.ready("everything").await;
    house
}

/// Sends a message to the agent that may use every server, in a task or without one.
async fn tell(house: &House, task: Option<&Task>, part: Part) -> Task {
    let kernel = house.kernel();
    let message = kernel.message_of_parts(None, vec![part]);
    let message = Message { task_id: task.map(|task| task.id), ..message };
    match kernel.send_message(&house.operator(), &"hand".parse().unwrap(), message).await.unwrap() {
        Reply::Task(task) => *task,
        Reply::Message(message) => panic!("{message:?}"),
    }
}

#[tokio::test]
async fn progress_of_a_server_reaches_a_client_of_the_aggregate() {
    let house = everything().await;
    let params = json!({"name": LONG, "arguments": {"duration": 0.3, "steps": 3}, "_meta": {"progressToken": "p"}});

    let said = house.talk("/mcp", "tools/call", params, json!({})).await;

    let progress = said.iter().filter(|message| message["method"] == "notifications/progress");
    let progress: Vec<_> = progress.filter_map(|message| message["params"]["progress"].as_f64()).collect();
    assert_eq!(progress, [1.0, 2.0, 3.0], "{said:?}");
    assert!(said.last().unwrap()["result"].to_string().contains("completed"), "{said:?}");
    house.close().await;
}

#[tokio::test]
async fn a_server_asks_a_client_of_the_aggregate_and_goes_on_with_the_answer() {
    let house = everything().await;
    let forms = json!({"elicitation": {"form": {}}});
    let call = json!({"name": ASKS, "arguments": {}});

    let said = house.talk("/mcp", "tools/call", call.clone(), forms.clone()).await;
    let asked = &said.last().unwrap()["result"];
    assert_eq!(asked["resultType"], "input_required", "{said:?}");
    let (key, question) = asked["inputRequests"].as_object().unwrap().iter().next().unwrap();
    assert_eq!(question["method"], "elicitation/create");

    let mut answered = call;
    answered["requestState"] = asked["requestState"].clone();
    answered["inputResponses"] = json!({key: {"action": "accept", "content": {"name": "Ada"}}});
    let said = house.talk("/mcp", "tools/call", answered, forms).await;
    assert!(said.last().unwrap()["result"].to_string().contains("Ada"), "{said:?}");
    house.close().await;
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_is_told_so_and_the_call_ends() {
    let house = everything().await;

    let said = house.talk("/mcp", "tools/call", json!({"name": ASKS, "arguments": {}}), json!({})).await;

    let answer = said.last().unwrap().to_string();
    assert!(answer.contains("error") || answer.contains("isError"), "{answer}");
    house.close().await;
}

#[tokio::test]
async fn progress_of_a_server_is_status_of_the_task_of_an_agent() {
    let house = everything().await;
    let text = format!("/{LONG} {{\"duration\": 0.6, \"steps\": 3}}");

    let task = tell(&house, None, Part::text(text)).await;

    assert_state(&task, TaskState::Completed);
    let follow = openfang_kernel::Follow { begin: openfang_kernel::Begin::After(0), until: Until::Ended };
    let mut stream = house.kernel().follow(&house.operator(), task.id, follow).await.unwrap();
    let mut reported = Vec::new();
    while let Ok(Some(StreamItem::Event(event))) = stream.next().await {
        if let EventBody::Status(status) = &event.body {
            reported.extend(
                status
                    .message
                    .iter()
                    .flat_map(|message| &message.parts)
                    .filter_map(Part::as_text)
                    .map(str::to_owned),
            );
        }
    }
    assert!(reported.contains(&"3 of 3".to_owned()) || reported.contains(&"2 of 3".to_owned()), "{reported:?}");
    house.close().await;
}

#[tokio::test]
async fn a_server_asks_through_the_task_of_an_agent_and_goes_on_with_the_answer() {
    let house = everything().await;

    let task = tell(&house, None, Part::text(format!("/{ASKS} {{}}"))).await;
    assert_state(&task, TaskState::InputRequired);
    let question = task.status.message.as_ref().unwrap();
    let form = question
        .parts
        .iter()
        .find(|part| part.media_type.as_deref() == Some("application/vnd.mcp.elicitation+json"));
    assert!(form.unwrap().as_data().unwrap()["requestedSchema"]["properties"]["name"].is_object(), "{question:?}");
    assert!(question.joined_text().contains("Please provide inputs"), "{question:?}");

    let wrong = tell(&house, Some(&task), Part::data(json!({"name": 7}))).await;
    assert_state(&wrong, TaskState::InputRequired);
    assert!(wrong.status.message.unwrap().joined_text().starts_with("name is not what is asked for"));

    let done = tell(&house, Some(&task), Part::data(json!({"name": "Ada"}))).await;
    assert_state(&done, TaskState::Completed);
    assert!(serde_json::to_string(&done.artifacts).unwrap().contains("Ada"), "{done:?}");
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_a2a_client_has_progress_questions_images_and_cancel_of_the_reference_server() {
    let mut entry = real("everything", PeerServer::Everything);
    entry.interactive = true;
    let a2a = A2aConfig { enabled: true, ..A2aConfig::default() };
    let config = Config { a2a, mcp_servers: vec![entry], ..crate::http::any_port() };
    let home = TestHome::new().with_direct("hand", &["mcp_*"]);
    let house = House::configured(home, config, |boot| boot).await;
    house.ready("everything").await;
    let url = format!("http://{}/a2a/agents/hand", house.server.address);

    let did = tokio::task::spawn_blocking(move || peers::with_skills(&url)).await.unwrap();

    let [progress, asks, answers, image, cancel] = did.try_into().unwrap();
    assert_eq!(progress["end"], "TASK_STATE_COMPLETED", "{progress}");
    let told: Vec<&str> = progress["texts"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(told.iter().any(|text| text.ends_with("of 4")), "{progress}");
    assert_eq!(asks["state"], "TASK_STATE_INPUT_REQUIRED", "{asks}");
    assert!(asks["fields"].as_array().unwrap().contains(&json!("name")), "{asks}");
    assert_eq!((&answers["same"], &answers["state"]), (&json!(true), &json!("TASK_STATE_COMPLETED")), "{answers}");
    assert!(answers["said"].as_str().unwrap().contains("Ada"), "{answers}");
    assert_eq!(image["mediaType"], "image/png", "{image}");
    assert!(image["size"].as_u64().unwrap() > 100, "{image}");
    assert_eq!(cancel["state"], "TASK_STATE_CANCELED", "{cancel}");
    house.close().await;
}

#[tokio::test]
async fn a_question_of_a_tool_of_an_agent_is_its_own_form_for_an_mcp_client() {
    let house = everything().await;
    let forms = json!({"elicitation": {"form": {}}});
    let call = json!({"name": "openfang_agent_hand", "arguments": {"message": format!("/{ASKS} {{}}")}});

    let said = house.talk("/mcp", "tools/call", call.clone(), forms.clone()).await;
    let asked = &said.last().unwrap()["result"];
    let (key, question) = asked["inputRequests"]
        .as_object()
        .unwrap_or_else(|| panic!("{said:?}"))
        .iter()
        .next()
        .unwrap();
    assert!(question["params"]["requestedSchema"]["properties"]["name"].is_object(), "{question}");

    let mut answered = call;
    answered["requestState"] = asked["requestState"].clone();
    answered["inputResponses"] = json!({key: {"action": "accept", "content": {"name": "Ada"}}});
    let said = house.talk("/mcp", "tools/call", answered, forms).await;
    assert!(said.last().unwrap()["result"].to_string().contains("Ada"), "{said:?}");
    house.close().await;
}

#[tokio::test]
async fn a_block_that_we_do_not_know_is_the_same_to_the_byte_on_the_aggregate_and_at_the_servers_own_endpoint() {
    let house = House::with([odd("strange", &[])]).await;
    house.ready("strange").await;
    let content = |answer: &Value| answer["result"]["content"].to_string();

    let ours = house.ask("/mcp", "tools/call", json!({"name": "mcp_strange_strange_blocks"})).await;
    let own = house.ask("/mcp/servers/strange", "tools/call", json!({"name": "strange_blocks"})).await;

    assert_eq!(content(&ours), content(&own));
    assert!(content(&ours).contains("hologram") && content(&ours).contains("annotations"), "{ours}");
    assert_eq!(ours["result"]["vendor"], json!({"kept": 1.5}), "{ours}");
    house.close().await;
}
