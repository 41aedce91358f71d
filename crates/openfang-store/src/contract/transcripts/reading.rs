//! Only what is wanted of a transcript is read: after or before an item, of a kind, from the newest summary on, in pages.

use openfang_types::limits::TRANSCRIPT_ITEM_MAX_BYTES;

use super::{add, all, item, new_with, said, words_of};
use crate::contract::{create, new_task, owner};
use crate::{
    ItemBody, ItemTooLarge, NewTask, Stores, TaskRecord, TranscriptItem, TranscriptKind, TranscriptPage,
    TranscriptQuery, TranscriptRange, TranscriptWrite,
};

pub(crate) async fn reading(fresh: &impl Fn() -> Stores) {
    a_range_is_read_in_its_order(&fresh()).await;
    a_page_ends_with_its_number_or_its_bytes(&fresh()).await;
    one_kind_is_read_alone(&fresh()).await;
    the_newest_summary_stands_for_what_it_covers(&fresh()).await;
    an_item_has_a_size_limit();
}

async fn read(stores: &Stores, record: &TaskRecord, range: TranscriptRange) -> TranscriptPage {
    let query = TranscriptQuery { range, ..all(record.conversation()) };
    stores.transcripts.read(&query).await.unwrap()
}

async fn a_range_is_read_in_its_order(stores: &Stores) {
    let record = create(&*stores.tasks, new_with("ada", "m", &["a", "b", "c", "d"])).await;
    let cases: [(TranscriptRange, &[&str]); 12] = [
        (TranscriptRange::After(0), &["a", "b", "c", "d"]),
        (TranscriptRange::After(2), &["c", "d"]),
        (TranscriptRange::After(4), &[]),
        (TranscriptRange::After(9), &[]),
        (TranscriptRange::After(u64::MAX), &[]),
        (TranscriptRange::Before(3), &["b", "a"]),
        (TranscriptRange::Before(1), &[]),
        (TranscriptRange::Before(0), &[]),
        (TranscriptRange::Before(5), &["d", "c", "b", "a"]),
        (TranscriptRange::Before(99), &["d", "c", "b", "a"]),
        (TranscriptRange::NEWEST, &["d", "c", "b", "a"]),
        (TranscriptRange::Uncovered, &["a", "b", "c", "d"]),
    ];
    for (range, expected) in cases {
        let page = read(stores, &record, range).await;

        assert_eq!(words_of(&page), expected, "{range:?}");
        assert_eq!((page.end, page.has_more), (4, false), "{range:?}");
    }
    let silent = NewTask { context_id: "silent".parse().unwrap(), ..new_task(&owner("ada"), "n") };
    let silent = create(&*stores.tasks, silent).await;
    for (range, _) in cases {
        assert_eq!(read(stores, &silent, range).await, TranscriptPage::default(), "{range:?}");
    }
}

async fn a_page_ends_with_its_number_or_its_bytes(stores: &Stores) {
    let long = "x".repeat(1_000);
    let record = create(&*stores.tasks, new_with("ada", "m", &["a", &long, "c", &long, "e"])).await;
    let cases: [(usize, usize, &[u64], &[u64]); 6] = [
        (2, usize::MAX, &[1, 2], &[5, 4]),
        (5, usize::MAX, &[1, 2, 3, 4, 5], &[5, 4, 3, 2, 1]),
        (9, 500, &[1], &[5]),
        (9, 1_100, &[1, 2, 3], &[5, 4, 3]),
        (9, 0, &[1], &[5]),
        (0, usize::MAX, &[], &[]),
    ];
    for (limit, max_bytes, first, newest) in cases {
        for (range, expected) in [(TranscriptRange::After(0), first), (TranscriptRange::NEWEST, newest)] {
            let query = TranscriptQuery { range, limit, max_bytes, ..all(record.conversation()) };

            let page = stores.transcripts.read(&query).await.unwrap();

            let numbers: Vec<u64> = page.rows.iter().map(|row| row.seq).collect();
            assert_eq!(numbers, expected, "{limit} items of {max_bytes} bytes, {range:?}");
            assert_eq!((page.has_more, page.end), (expected.len() < 5, 5), "{limit}, {max_bytes}, {range:?}");
        }
    }
    let too_small = TranscriptQuery { range: TranscriptRange::After(1), max_bytes: 10, ..all(record.conversation()) };
    let page = stores.transcripts.read(&too_small).await.unwrap();
    assert_eq!(words_of(&page), [long], "the first one is always read");
}

async fn one_kind_is_read_alone(stores: &Stores) {
    let kinds = [TranscriptKind::User, TranscriptKind::Answer, TranscriptKind::CallDone, TranscriptKind::User];
    let items = kinds.into_iter().zip(["a", "b", "c", "d"]).map(|(kind, word)| item(kind, word)).collect();
    let new = NewTask { transcript: TranscriptWrite::at_the_end(items), ..new_task(&owner("ada"), "m") };
    let record = create(&*stores.tasks, new).await;
    let of = |kind, range, limit| {
        let query = TranscriptQuery { kind: Some(kind), range, limit, ..all(record.conversation()) };
        async move { stores.transcripts.read(&query).await.unwrap() }
    };

    assert_eq!(words_of(&of(TranscriptKind::User, TranscriptRange::After(0), 9).await), ["a", "d"]);
    assert_eq!(words_of(&of(TranscriptKind::Answer, TranscriptRange::NEWEST, 9).await), ["b"]);
    let newest = of(TranscriptKind::User, TranscriptRange::NEWEST, 1).await;
    assert_eq!((words_of(&newest), newest.has_more, newest.end), (vec!["d".to_owned()], true, 4));
    assert_eq!(of(TranscriptKind::Asked, TranscriptRange::After(0), 9).await.rows, []);
}

fn summary(word: &str, covers: u64) -> TranscriptWrite {
    let item = TranscriptItem { covers: Some(covers), ..item(TranscriptKind::Compacted, word) };
    TranscriptWrite::at_the_end(vec![item])
}

async fn the_newest_summary_stands_for_what_it_covers(stores: &Stores) {
    let record = create(&*stores.tasks, new_with("ada", "m", &["a", "b", "c"])).await;
    let writes: [(TranscriptWrite, &[&str]); 6] = [
        (summary("s", 2), &["c", "s"]),
        (said(&["d", "e"]), &["c", "s", "d", "e"]),
        (summary("t", 5), &["e", "t"]),
        // It says less, and it is the newest.
        (summary("u", 3), &["s", "d", "e", "t", "u"]),
        // It cannot cover itself, nor what is not there yet.
        (summary("v", 99), &["v"]),
        (said(&["f"]), &["v", "f"]),
    ];
    let mut record = record;
    for (write, expected) in writes {
        record = add(stores, &record, write.clone()).await.unwrap();

        let page = read(stores, &record, TranscriptRange::Uncovered).await;

        assert_eq!(words_of(&page), expected, "{write:?}");
    }
    let everything = read(stores, &record, TranscriptRange::After(0)).await;
    assert_eq!(words_of(&everything), ["a", "b", "c", "s", "d", "e", "t", "u", "v", "f"], "what is covered stays");

    let both = [summary("s", 1), said(&["b"])].map(|write| write.items).concat();
    let new = NewTask {
        context_id: "at once".parse().unwrap(),
        transcript: TranscriptWrite::at_the_end([said(&["a"]).items, both].concat()),
        ..new_task(&owner("ada"), "n")
    };
    let record = create(&*stores.tasks, new).await;
    assert_eq!(words_of(&read(stores, &record, TranscriptRange::Uncovered).await), ["s", "b"]);
}

fn an_item_has_a_size_limit() {
    assert!(ItemBody::new(" ".repeat(TRANSCRIPT_ITEM_MAX_BYTES)).is_ok());
    let bytes = TRANSCRIPT_ITEM_MAX_BYTES + 1;
    let refused = ItemBody::new(" ".repeat(bytes));
    assert_eq!(refused, Err(ItemTooLarge { bytes }));
}
