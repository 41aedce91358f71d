//! What the kernel of the system saw: the connect hook that no code of ours can talk round. The tests of `reach` run
//! once more under strace, and every address that any of their threads connected to is looked at.

use std::net::IpAddr;
use std::process::Command;

/// The addresses in `connect(3, {sa_family=AF_INET, ..., sin_addr=inet_addr("127.0.0.1")}, 16) = 0`.
fn dialled(trace: &str) -> Vec<IpAddr> {
    let address = |line: &str| {
        let rest = line.split_once("inet_addr(\"").or_else(|| line.split_once("inet_pton(AF_INET6, \""))?.1;
        rest.split_once('"')?.0.parse().ok()
    };
    trace.lines().filter_map(address).collect()
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the system calls of a process are seen from outside it")]
fn no_connect_leaves_this_machine() {
    let directory = tempfile::tempdir().unwrap();
    let trace = directory.path().join("trace");
    let (_, module) = module_path!().split_once("::").unwrap();
    let reach = module.replace("system_calls", "reach::");

    let traced = Command::new("strace")
        .args(["-f", "-qq", "-e", "trace=connect", "-o"])
        .arg(&trace)
        .arg(std::env::current_exe().unwrap())
        .arg(&reach)
        .output()
        .unwrap();

    let said = String::from_utf8_lossy(&traced.stdout);
    assert!(traced.status.success() && !said.contains(" 0 passed"), "{said}");
    let dialled = dialled(&std::fs::read_to_string(trace).unwrap());
    assert!(dialled.len() > 900, "the hook sees the peers that redirect: {}", dialled.len());
    // What the operator may reach of this machine is dialled; whether strangers may is what the listeners see.
    let is_here = |address: &IpAddr| address.to_canonical().is_loopback();
    let beyond: Vec<&IpAddr> = dialled.iter().filter(|address| !is_here(address)).collect();
    assert!(beyond.is_empty(), "{beyond:?}");
}
