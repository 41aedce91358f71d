//! Asks an agent: `cargo run -p openfang-a2a --example ask -- URL TEXT [TASK]`. Prints how the agent was found and everything
//! that it does with the text.

use openfang_a2a::client::{Outgoing, RemoteAgent, RemoteSettings};
use openfang_egress::http::{HttpConfig, HttpDoor};
use openfang_types::task::{Message, Role};

#[tokio::main]
#[expect(clippy::print_stdout, reason = "a program for the terminal")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(url), Some(text)) = (arguments.next(), arguments.next()) else {
        return Err("usage: ask URL TEXT [TASK]".into());
    };
    let agent = RemoteAgent::new(HttpDoor::new(HttpConfig::default())?, RemoteSettings::operator(url))?;
    let found = agent.discover().await?;
    println!(
        "{} at {} ({}, A2A {})",
        found.card.as_ref().map_or("agent", |card| &card.name),
        found.interface.url,
        found.interface.binding,
        found.interface.dialect
    );
    let message = Message::text(uuid::Uuid::new_v4().to_string().parse()?, Role::User, text);
    let outgoing = match arguments.next() {
        Some(task) => Outgoing::continuing(message, task.parse()?),
        None => Outgoing::new(message),
    };
    let mut follower = agent.send(outgoing).await?;
    while let Some(event) = follower.next().await? {
        println!("{event:?}");
    }
    Ok(())
}
