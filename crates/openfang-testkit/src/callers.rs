//! Test callers with every kind of credential.

use std::sync::Arc;

use openfang_kernel::{Caller, Kernel};
use openfang_types::principal::{AdminProof, Door, Grants, Principal};

fn caller(kernel: &Kernel, principal: Principal, door: Door) -> Caller {
    Caller { principal: Arc::new(principal), door, trace: kernel.trace(), hops: 0, room: None }
}

/// The operator at the command line.
pub fn operator(kernel: &Kernel) -> Caller {
    caller(kernel, Principal::admin(AdminProof::InProcess), Door::Cli)
}

/// The admin with the key, over HTTP.
pub fn admin(kernel: &Kernel) -> Caller {
    caller(kernel, Principal::admin(AdminProof::ApiKey), Door::Rest)
}

/// A caller on this machine without a credential.
pub fn local(kernel: &Kernel) -> Caller {
    caller(kernel, Principal::local(), Door::Rest)
}

/// A user with these grants.
pub fn user(kernel: &Kernel, name: &str, grants: &[&str]) -> Caller {
    let grants = Grants::parse(grants.iter().copied()).expect("the grants of a test are valid");
    caller(kernel, Principal::user(name.parse().expect("the name of a test user is valid"), grants), Door::Rest)
}
