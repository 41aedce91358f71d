//! The remote side of tasks in SQLite keeps the contract.

use std::cell::RefCell;

use crate::contract;
use crate::sqlite::tests::Home;

#[tokio::test]
async fn remotes_keep_the_contract() {
    let homes = RefCell::new(Vec::new());
    let fresh = || {
        let home = Home::new();
        let stores = home.open().stores();
        homes.borrow_mut().push(home);
        stores
    };
    contract::remotes(fresh).await;
}
