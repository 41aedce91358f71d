//! What is looked at, and who may write it.

use super::*;

fn home() -> (tempfile::TempDir, Home) {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::at(directory.path().join("home"));
    home.prepare().unwrap();
    std::fs::write(home.agents().join("starter").join("script.toml"), "").unwrap();
    (directory, home)
}

#[test]
fn what_is_written_is_noticed_and_what_is_read_is_not() {
    let (_directory, home) = home();
    let marks = FileMarks::of(&home);
    std::fs::read(home.config()).unwrap();
    std::fs::write(home.root().join("daemon.json"), "{}").unwrap();
    assert_eq!(FileMarks::of(&home), marks);

    for path in ["config.toml", "agents/starter/agent.toml", "agents/starter/script.toml", "agents/starter/other.toml"]
    {
        let before = FileMarks::of(&home);
        std::fs::write(home.root().join(path), "# another length of text").unwrap();
        assert_ne!(FileMarks::of(&home), before, "{path}");
    }
    std::fs::remove_dir_all(home.agents().join("starter")).unwrap();
    assert_ne!(FileMarks::of(&home), marks);
}

#[test]
fn everything_that_is_read_here_is_kept_from_tools() {
    let (_directory, home) = home();
    let protected = home.protected();

    let read = FileMarks::of(&home)
        .0
        .into_iter()
        .map(|(path, _)| path)
        .filter(|path| path != home.root());
    for path in read {
        assert!(protected.iter().any(|kept| path.starts_with(kept)), "{}", path.display());
    }
}
