//! The A2A wire under the path that others know it by.
//!
//! ```
//! # use std::io::{Read as _, Write as _};
//! # use openfang_runtime::a2a::A2aClient;
//! # // An agent for this example.
//! # let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
//! # let url = format!("http://{}/a2a", listener.local_addr()?);
//! # let agent = std::thread::spawn(move || {
//! #     let (mut stream, _) = listener.accept().unwrap();
//! #     let (mut request, mut chunk) = (String::new(), [0; 4096]);
//! #     while !request.contains("session-123") {
//! #         let length = stream.read(&mut chunk).unwrap();
//! #         request.push_str(&String::from_utf8_lossy(&chunk[..length]));
//! #     }
//! #     let body = r#"{"jsonrpc":"2.0","id":1,"result":{"id":"t1","status":{"state":"completed"}}}"#;
//! #     let head = format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
//! #     stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
//! #     request
//! # });
//! # let other_agent = url.as_str();
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let client = A2aClient::new();
//! let task = client.send_task(
//!     other_agent, // such as "https://other-agent.example.com/a2a"
//!     "Analyze this dataset for anomalies",
//!     Some("session-123"),
//! ).await?;
//! println!("Task {}: {:?}", task.id, task.status);
//! # assert_eq!(format!("{} {:?}", task.id, task.status), "t1 Completed");
//! # Ok::<(), openfang_runtime::a2a::client::ClientError>(()) })?;
//! # let request = agent.join().unwrap();
//! # assert!(request.contains("OpenFang/0.1 A2A"), "{request}");
//! # let body = request.split("\r\n\r\n").nth(1).unwrap();
//! # let wanted = r#"{"jsonrpc":"2.0","id":1,"method":"tasks/send","params":{"sessionId":"session-123","message":{"role":"user","parts":[{"type":"text","text":"Analyze this dataset for anomalies"}]}}}"#;
//! # assert_eq!(body, wanted);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use openfang_a2a::*;
