//! Where our control group is, by the texts that the system gives.

use super::*;

const HYBRID: &str = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
    39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n\
    41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
const UNIFIED: &str = "30 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
const CONTAINER: &str = "30 23 0:26 /system.slice/box /sys/fs/cgroup rw - cgroup2 cgroup rw\n";

#[test]
fn the_own_group_is_found_below_its_mount() {
    let rows = [
        ("8:pids:/\n0::/\n", HYBRID, Some("/sys/fs/cgroup/unified/")),
        ("0::/user.slice/a b\n", UNIFIED, Some("/sys/fs/cgroup/user.slice/a b")),
        ("0::/system.slice/box/inner\n", CONTAINER, Some("/sys/fs/cgroup/inner")),
        ("0::/elsewhere\n", CONTAINER, None),
        ("8:pids:/\n", HYBRID, None),
        ("0::/\n", "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n", None),
        ("0::/\n", "rubbish\n", None),
    ];
    for (own, mounts, expected) in rows {
        assert_eq!(own_directory(own, mounts).as_deref(), expected.map(Path::new), "{own} {mounts}");
    }
}

#[test]
fn what_cannot_be_limited_stays_a_limit_of_the_process() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("memory.max"), "max").unwrap();

    let memory = rest(&directory.path().join("memory.max"), Some(7));
    let processes = rest(&directory.path().join("pids.max"), Some(8));

    assert_eq!((memory, processes), (None, Some(8)));
    assert_eq!(std::fs::read_to_string(directory.path().join("memory.max")).unwrap(), "7");
}

#[test]
fn a_group_that_is_gone_is_removed_and_empty() {
    let directory = tempfile::tempdir().unwrap();

    kill(&directory.path().join("gone"));

    assert!(remove(&directory.path().join("gone")));
    std::fs::create_dir_all(directory.path().join("group/inner")).unwrap();
    assert!(remove(&directory.path().join("group")));
    assert!(!directory.path().join("group").exists());
}
