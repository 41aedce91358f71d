//! What is said about kernels of any age.

use super::*;

#[test]
fn an_older_kernel_is_said_to_hold_less() {
    let Containment::Partial { missing, holds_files } = held_by(ABI::V1) else { panic!("all of it") };
    assert_eq!((missing.len(), holds_files), (4, false));
    let Containment::Partial { missing, holds_files: true } = held_by(ABI::V5) else { panic!("all of it") };
    assert_eq!(missing, ["signals and abstract sockets to other processes (Linux 6.12)"]);
    for abi in [ABI::V6, ABI::V7, NEWEST] {
        assert_eq!(held_by(abi), Containment::Full);
    }
}

#[test]
fn nothing_private_is_given_to_everybody() {
    for path in SYSTEM.iter().chain(NAMES).chain(DEVICES).chain(READ_DEVICES) {
        assert!(!["/", "/etc", "/proc", "/dev", "/run", "/var", "/tmp", "/opt"].contains(path), "{path}");
        assert!(!path.starts_with("/home") && !path.contains("private") && !path.contains("shadow"), "{path}");
    }
}
