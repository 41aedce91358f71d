//! HTTP as raw bytes: a test controls exactly what is sent.

use std::net::{IpAddr, SocketAddr};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpSocket, TcpStream};

/// A client for one address with a connection per request.
#[derive(Clone)]
pub struct Client {
    address: SocketAddr,
    /// The source address; none lets the system choose.
    from: Option<IpAddr>,
    headers: Vec<(String, String)>,
}

#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Answer {
    /// The first header of that name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON. Of a stream of events it is the last one: a server that needs a while answers with a stream.
    pub fn json(&self) -> Value {
        let is_stream = self.header("content-type").is_some_and(|media| media.starts_with("text/event-stream"));
        let last = self.body.lines().rev().find_map(|line| line.strip_prefix("data: ")).filter(|_| is_stream);
        serde_json::from_str(last.unwrap_or(&self.body)).unwrap_or_else(|error| panic!("{error} in {:?}", self.body))
    }
}

impl Client {
    /// A client of this address.
    pub const fn new(address: SocketAddr) -> Self {
        Self { address, from: None, headers: Vec::new() }
    }

    /// Connects from this address, such as `127.0.0.2`.
    #[must_use]
    pub fn from(self, address: &str) -> Self {
        Self { from: Some(address.parse().expect("an IP address")), ..self }
    }

    /// Sends this header with every request.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sends this key with every request.
    #[must_use]
    pub fn bearer(self, key: &str) -> Self {
        self.with("authorization", &format!("Bearer {key}"))
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, None).await
    }

    /// A POST of JSON.
    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, Some(&body.to_string())).await
    }

    /// Sends any request. `Host` and, with a body, the JSON type are added unless they are set.
    pub async fn send(&self, method: &str, path: &str, body: Option<&str>) -> Answer {
        self.try_send(method, path, body).await.expect("the server accepts connections")
    }

    /// Like [`Client::send`]; none if the server does not accept the connection.
    pub async fn try_send(&self, method: &str, path: &str, body: Option<&str>) -> Option<Answer> {
        let mut stream = self.connect().await?;
        let _ = stream.write_all(self.request(method, path, body).as_bytes()).await;
        let mut bytes = Vec::new();
        // A server that refuses a large body may reset the connection after its response.
        let _ = stream.read_to_end(&mut bytes).await;
        Some(parse(&String::from_utf8_lossy(&bytes)))
    }

    /// Sends a request and returns the connection, for reading the response incrementally.
    pub async fn stream(&self, method: &str, path: &str, body: Option<&str>) -> Lines {
        self.try_stream(method, path, body).await.expect("the server accepts connections")
    }

    /// Like [`Client::stream`]; none if the server does not accept the connection.
    pub async fn try_stream(&self, method: &str, path: &str, body: Option<&str>) -> Option<Lines> {
        let client = self.clone().with("accept", "text/event-stream");
        let mut stream = self.connect().await?;
        let _ = stream.write_all(client.request(method, path, body).as_bytes()).await;
        Some(Lines { reader: BufReader::new(stream) })
    }

    #[expect(clippy::disallowed_methods, reason = "a test's client dials the server under test")]
    async fn connect(&self) -> Option<TcpStream> {
        let Some(from) = self.from else { return TcpStream::connect(self.address).await.ok() };
        let socket = if from.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }.ok()?;
        socket.bind(SocketAddr::new(from, 0)).ok()?;
        socket.connect(self.address).await.ok()
    }

    fn request(&self, method: &str, path: &str, body: Option<&str>) -> String {
        let mut head = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
        let has = |name: &str| self.headers.iter().any(|(key, _)| key.eq_ignore_ascii_case(name));
        if !has("host") {
            head.push_str(&format!("host: {}\r\n", self.address));
        }
        if body.is_some() && !has("content-type") {
            head.push_str("content-type: application/json\r\n");
        }
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if let Some(body) = body {
            head.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        format!("{head}\r\n{}", body.unwrap_or_default())
    }
}

/// Opens a connection and writes these bytes, as far as the server accepts them.
#[expect(clippy::disallowed_methods, reason = "a test's client dials the server under test")]
pub async fn raw(address: SocketAddr, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.expect("the server accepts connections");
    let _ = stream.write_all(bytes).await;
    stream
}

/// Reads a complete response.
pub async fn read_answer(mut stream: TcpStream) -> Answer {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await;
    parse(&String::from_utf8_lossy(&bytes))
}

/// The lines of a response as they arrive.
pub struct Lines {
    reader: BufReader<TcpStream>,
}

impl Lines {
    /// The next line; none at the end.
    pub async fn next(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.reader.read_line(&mut line).await {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(line.trim_end().to_owned()),
        }
    }

    /// The next server-sent event as (name, id, data); none at the end.
    pub async fn event(&mut self) -> Option<(String, String, Value)> {
        let (mut name, mut id) = (String::new(), String::new());
        loop {
            let line = self.next().await?;
            if let Some(value) = line.strip_prefix("event: ") {
                name = value.to_owned();
            } else if let Some(value) = line.strip_prefix("id: ") {
                id = value.to_owned();
            } else if let Some(value) = line.strip_prefix("data: ") {
                let data = serde_json::from_str(value).unwrap();
                // The id may follow the data; an empty line ends the event.
                while let Some(rest) = self.next().await.filter(|rest| !rest.is_empty()) {
                    if let Some(value) = rest.strip_prefix("id: ") {
                        id = value.to_owned();
                    }
                }
                return Some((name, id, data));
            }
        }
    }

    pub async fn events(&mut self) -> Vec<(String, String, Value)> {
        let mut events = Vec::new();
        while let Some(event) = self.event().await {
            events.push(event);
        }
        events
    }
}

fn parse(text: &str) -> Answer {
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
    let mut lines = head.lines();
    let status = lines
        .next()
        .and_then(|line| line.split(' ').nth(1))
        .and_then(|code| code.parse().ok())
        .unwrap_or(0);
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers: Vec<(String, String)> = headers
        .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    Answer { status, headers, body: body.to_owned() }
}
