//! The tree: what is listed, what is skipped, where a line is.

use super::*;

#[test]
fn a_walk_finds_what_git_finds_here() {
    let root = process::root();

    let walked = walk(&root, "").unwrap();

    assert!(walked.contains(&"xtask/src/tree.rs".to_owned()));
    assert!(walked.contains(&".cargo/config.toml".to_owned()));
    assert!(walked.iter().all(|path| !path.starts_with("target/") && !path.starts_with(".git/")));
}

#[test]
fn the_real_tree_holds_this_very_file() {
    let tree = Tree::read(&process::root()).unwrap();

    assert!(
        tree.text("xtask/src/tree_tests.rs")
            .unwrap()
            .contains("the_real_tree_holds_this_very_file")
    );
    assert!(tree.rust().all(|file| file.path.ends_with(".rs")));
}

#[test]
fn a_line_is_counted_from_one_and_defaults_to_the_first() {
    let tree = Tree::of(&[("Cargo.toml", "[dependencies]\n\n  axum.workspace = true\n")]);

    assert_eq!(tree.line_of("Cargo.toml", "axum"), 3);
    assert_eq!(tree.line_of("Cargo.toml", "clap"), 1);
    assert_eq!(tree.line_of("absent", "clap"), 1);
}
