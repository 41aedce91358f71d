//! What goes to the daemon is the whole entry.

use super::*;

#[test]
fn the_daemon_gets_the_entry_with_its_secrets() {
    let headers = [("A".to_owned(), Secret::new("Bearer x".to_owned()))].into();
    let far = McpTransportEntry::Http { url: "https://u:p@h/?k=v".to_owned(), headers };
    let near = McpTransportEntry::Stdio { command: "c".to_owned(), args: vec!["--token".to_owned(), "x".to_owned()] };
    for transport in [far, near] {
        let mut entry = McpServerConfigEntry::new("s".parse().unwrap(), transport);
        entry.env = vec![EnvEntry::new("A=hunter2".to_owned()), EnvEntry::new("B".to_owned())];

        let read: McpServerConfigEntry = serde_json::from_value(with_secrets(&entry)).unwrap();

        assert_eq!(read, entry);
    }
}
