//! A held lock means alive, a free one dead, and both are said by the system, not by the files.

use std::fs;

use super::*;

fn node_id(number: u8) -> NodeId {
    format!("00000000-0000-0000-0000-0000000000{number:02x}").parse().unwrap()
}

fn sorted(mut nodes: Vec<NodeId>) -> Vec<NodeId> {
    nodes.sort_unstable();
    nodes
}

#[test]
fn a_node_that_holds_its_lock_is_alive() {
    let home = tempfile::tempdir().unwrap();
    let one = Node::register(home.path(), node_id(1)).unwrap();
    let two = Node::register(home.path(), node_id(2)).unwrap();

    assert_eq!(sorted(one.living().unwrap()), [node_id(1), node_id(2)]);
    assert_eq!(sorted(two.living().unwrap()), [node_id(1), node_id(2)]);
}

#[test]
fn a_node_whose_lock_is_free_is_dead_whatever_its_file_says() {
    let home = tempfile::tempdir().unwrap();
    let one = Node::register(home.path(), node_id(1)).unwrap();
    fs::write(home.path().join(format!("{}.lock", node_id(2))), "").unwrap();

    assert_eq!(one.living().unwrap(), [node_id(1)]);
}

#[test]
fn a_node_that_ends_in_order_leaves_nothing_behind() {
    let home = tempfile::tempdir().unwrap();
    let one = Node::register(home.path(), node_id(1)).unwrap();
    let two = Node::register(home.path(), node_id(2)).unwrap();

    drop(two);

    assert_eq!(one.living().unwrap(), [node_id(1)]);
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
}

#[test]
fn the_dead_are_forgotten_and_the_living_are_not() {
    let home = tempfile::tempdir().unwrap();
    let one = Node::register(home.path(), node_id(1)).unwrap();
    let _two = Node::register(home.path(), node_id(2)).unwrap();
    fs::write(home.path().join(format!("{}.lock", node_id(3))), "").unwrap();

    one.forget_dead().unwrap();

    let mut left: Vec<_> = fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort_unstable();
    assert_eq!(left, [format!("{}.lock", node_id(1)).as_str(), format!("{}.lock", node_id(2)).as_str()]);
    assert_eq!(sorted(one.living().unwrap()), [node_id(1), node_id(2)]);
}

#[test]
fn other_files_are_not_nodes() {
    let home = tempfile::tempdir().unwrap();
    let one = Node::register(home.path(), node_id(1)).unwrap();
    fs::write(home.path().join("readme.lock"), "").unwrap();
    fs::write(home.path().join(format!("{}.new", node_id(2))), "").unwrap();

    one.forget_dead().unwrap();

    assert_eq!(one.living().unwrap(), [node_id(1)]);
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 3);
}
