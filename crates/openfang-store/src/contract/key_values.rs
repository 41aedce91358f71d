//! What every memory must keep.

use openfang_types::limits::MEMORY_KEYS_PER_OWNER;
use openfang_types::taint::{Label, Labels};

use super::owner;
use crate::{KeyValueStore, StoreError, StoredValue};

pub(crate) async fn key_values(fresh: impl Fn() -> Box<dyn KeyValueStore>) {
    values_are_kept_with_their_labels(&*fresh()).await;
    a_key_is_overwritten_with_its_labels(&*fresh()).await;
    another_owner_sees_nothing(&*fresh()).await;
    keys_are_listed_by_prefix_in_order(&*fresh()).await;
}

fn kept(value: &str) -> StoredValue {
    StoredValue { value: value.into(), labels: Labels::one(Label::ExternalNetwork, "web_fetch") }
}

async fn values_are_kept_with_their_labels(store: &dyn KeyValueStore) {
    let ada = owner("ada");
    for value in ["", "v", "it's \"quoted\"\0 and \u{1f980}"] {
        store.put(&ada, "k", kept(value)).await.unwrap();

        assert_eq!(store.get(&ada, "k").await.unwrap(), Some(kept(value)));
    }
    for sources in [2, 16, 99] {
        let mut labels = Labels::none();
        (0..sources).for_each(|number| labels.add(Label::McpServer, format!("server {number}")));
        let many = StoredValue { value: "v".to_owned(), labels };
        store.put(&ada, "k", many.clone()).await.unwrap();
        assert_eq!(store.get(&ada, "k").await.unwrap(), Some(many), "with all of {sources} sources");
    }
    assert_eq!(store.get(&ada, "other").await.unwrap(), None);
}

async fn a_key_is_overwritten_with_its_labels(store: &dyn KeyValueStore) {
    let ada = owner("ada");
    store.put(&ada, "k", kept("old")).await.unwrap();
    let new = StoredValue { value: "new".into(), labels: Labels::one(Label::User, "rest") };

    store.put(&ada, "k", new.clone()).await.unwrap();

    assert_eq!(store.get(&ada, "k").await.unwrap(), Some(new));
    assert_eq!(store.keys(&ada, "", 10).await.unwrap().len(), 1);
}

async fn another_owner_sees_nothing(store: &dyn KeyValueStore) {
    let (ada, bob) = (owner("ada"), owner("bob"));
    store.put(&ada, "k", kept("v")).await.unwrap();

    assert_eq!(store.get(&bob, "k").await.unwrap(), None);
    assert_eq!(store.keys(&bob, "", 10).await.unwrap(), []);
}

async fn keys_are_listed_by_prefix_in_order(store: &dyn KeyValueStore) {
    let ada = owner("ada");
    for key in ["b", "a2", "a1", "A", "a%", "a_", "\u{e4}1", "\u{e4}"] {
        store.put(&ada, key, kept("v")).await.unwrap();
    }

    let rows: [(&str, usize, &[&str]); 7] = [
        ("a", 10, &["a%", "a1", "a2", "a_"]),
        ("a", 2, &["a%", "a1"]),
        ("a%", 10, &["a%"]),
        ("\u{e4}", 10, &["\u{e4}", "\u{e4}1"]),
        ("", 3, &["A", "a%", "a1"]),
        ("c", 10, &[]),
        ("", 0, &[]),
    ];
    for (prefix, limit, expected) in rows {
        let listed = store.keys(&ada, prefix, limit).await.unwrap();
        assert_eq!(listed.iter().map(|entry| entry.key.as_str()).collect::<Vec<_>>(), expected, "{prefix:?}");
        assert!(listed.iter().all(|entry| entry.labels.contains(Label::ExternalNetwork)), "keys carry labels too");
    }
}

/// Takes as many writes as there may be keys.
pub(crate) async fn keys_are_limited_per_owner(store: &dyn KeyValueStore) {
    let (ada, bob) = (owner("ada"), owner("bob"));
    let names: Vec<String> = (0..MEMORY_KEYS_PER_OWNER).map(|n| format!("k{n}")).collect();
    let puts = names.iter().map(|name| store.put(&ada, name, kept("v")));
    for put in futures_util::future::join_all(puts).await {
        put.unwrap();
    }

    let refused = store.put(&ada, "one more", kept("v")).await;

    assert_eq!(refused, Err(StoreError::TooManyKeys { limit: MEMORY_KEYS_PER_OWNER }));
    assert_eq!(store.get(&ada, "one more").await.unwrap(), None);
    store.put(&ada, "k0", kept("overwritten")).await.unwrap();
    store.put(&bob, "one more", kept("v")).await.unwrap();
    assert_eq!(store.get(&ada, "k0").await.unwrap(), Some(kept("overwritten")));
}
