//! Cards stay what they are until they say something else.

use bytes::Bytes;
use jiff::Timestamp;

use super::*;

fn asked(agent: &str) -> CardRequest {
    CardRequest {
        viewer: None,
        agent: Some(agent.parse().unwrap()),
        document: DocumentKind::Card,
        form: CardForm::Superset,
        base: "http://127.0.0.1:50051".to_owned(),
        guarded: false,
    }
}

fn document(body: impl Into<Bytes>) -> CardDocument {
    CardDocument { body: body.into(), etag: "\"tag\"".to_owned(), last_modified: Timestamp::UNIX_EPOCH }
}

fn keep(kept: &CardCache, agent: &str, version: u64, content: &str, body: impl Into<Bytes>) -> Arc<CardDocument> {
    kept.keep(asked(agent), version, content.to_owned(), document(body))
}

#[test]
fn a_card_is_fresh_while_the_tools_are_the_same() {
    let kept = CardCache::default();
    let card = keep(&kept, "a", 3, "says this", "one");

    assert_eq!(kept.fresh(&asked("a"), 3), Some(card));
    assert_eq!(kept.fresh(&asked("a"), 4), None);
    assert_eq!(kept.fresh(&asked("b"), 3), None);
    let strict = CardRequest { form: CardForm::Strict, ..asked("a") };
    let guarded = CardRequest { guarded: true, ..asked("a") };
    let somebodys = CardRequest { viewer: Some(String::new()), ..asked("a") };
    let elsewhere = CardRequest { base: "https://example.org".to_owned(), ..asked("a") };
    for other in [strict, guarded, somebodys, elsewhere] {
        assert_eq!(kept.fresh(&other, 3), None, "{other:?}");
    }
}

#[test]
fn with_other_tools_a_card_that_says_the_same_stays() {
    let kept = CardCache::default();
    let card = keep(&kept, "a", 3, "says this", "one");

    assert_eq!(kept.same(&asked("a"), 4, "says that"), None);
    assert_eq!(kept.same(&asked("a"), 4, "says this"), Some(Arc::clone(&card)));
    assert_eq!(kept.fresh(&asked("a"), 4), Some(card));
}

#[test]
fn of_two_that_make_the_same_card_the_first_is_everybodys() {
    let kept = CardCache::default();

    let first = keep(&kept, "a", 3, "says this", "signed once");
    let second = keep(&kept, "a", 3, "says this", "signed twice");

    assert!(Arc::ptr_eq(&first, &second));
}

#[test]
fn a_card_that_says_something_else_takes_the_place_of_the_old_one() {
    let kept = CardCache::default();
    keep(&kept, "a", 3, "says this", "one");

    let new = keep(&kept, "a", 4, "says that", "four");

    assert_eq!(kept.fresh(&asked("a"), 4), Some(new));
    assert_eq!(kept.made().bytes, "four".len());
}

#[test]
fn what_is_kept_is_bounded() {
    let kept = CardCache::default();
    let half = vec![b'x'; CARDS_KEPT_BYTES / 2];

    keep(&kept, "a", 1, "a", half.clone());
    keep(&kept, "b", 1, "b", half.clone());
    assert_eq!(kept.made().cards.len(), 2);
    keep(&kept, "c", 1, "c", half.clone());
    assert_eq!(kept.made().cards.len(), 1);
    assert_eq!(kept.made().bytes, half.len());

    let huge = keep(&kept, "d", 1, "d", vec![b'x'; CARDS_KEPT_BYTES + 1]);

    assert_eq!(huge.body.len(), CARDS_KEPT_BYTES + 1);
    assert_eq!(kept.made().cards.len(), 0);
}
