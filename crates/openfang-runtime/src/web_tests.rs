//! How many calls to the web an owner may have under way.

use openfang_types::limits::WEB_CALLS_PER_OWNER;
use openfang_types::principal::Principal;

use super::WebCalls;

#[test]
fn an_owner_has_so_many_calls_and_takes_no_room_of_others() {
    let calls = WebCalls::default();
    let (admin, local) = (Principal::admin(openfang_types::principal::AdminProof::InProcess), Principal::local());
    let mut live: Vec<_> = (0..WEB_CALLS_PER_OWNER).map(|_| calls.begin(admin.owner()).unwrap()).collect();

    assert!(calls.begin(admin.owner()).is_err());
    drop(calls.begin(local.owner()).unwrap());
    live.pop();
    drop(calls.begin(admin.owner()).unwrap());
    drop(live);

    assert!(calls.lock().is_empty());
}
