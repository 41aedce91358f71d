//! How many calls to the web an owner may have under way.

use openfang_types::limits::WEB_CALLS_PER_OWNER;
use openfang_types::principal::{AdminProof, Grants, Principal};

use super::WebCalls;

#[test]
fn an_owner_has_so_many_calls_and_takes_no_room_of_others() {
    let calls = WebCalls::default();
    let admin = Principal::admin(AdminProof::InProcess);
    let ada = Principal::user("ada".parse().unwrap(), Grants::parse(["web_*"]).unwrap());
    let mut live: Vec<_> = (0..WEB_CALLS_PER_OWNER).map(|_| calls.begin(admin.owner()).unwrap()).collect();

    assert!(calls.begin(admin.owner()).is_err());
    drop(calls.begin(ada.owner()).unwrap());
    live.pop();
    drop(calls.begin(admin.owner()).unwrap());
    drop(live);

    assert!(calls.lock().is_empty());
}
