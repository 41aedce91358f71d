//! mcp-proxy, another gateway, to measure ours against. `gateway_mcp_proxy CONFIG` reads the config file it would read
//! by itself, listens on a free port and prints the address; the endpoint is `/`.

use std::error::Error;
use std::path::Path;

use axum::serve::ListenerExt;
use mcp_proxy::{Proxy, ProxyConfig};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let config = std::env::args().nth(1).ok_or("usage: gateway_mcp_proxy CONFIG")?;
    let proxy = Proxy::from_config(ProxyConfig::load(Path::new(&config))?).await?;
    let (router, _sessions) = proxy.into_router();
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
    println!("{}", listener.local_addr()?);
    // Without this an answer in two writes waits for the peer's delayed acknowledgement.
    let listener = listener.tap_io(|socket| {
        let _ = socket.set_nodelay(true);
    });
    Ok(axum::serve(listener, router).await?)
}
