//! Which changes of a card are taken, and which wait for the operator.

use super::*;

fn pin(words: &str, endpoint: &str, origin: &str, key: Option<&str>) -> CardPin {
    CardPin {
        words: words.to_owned(),
        endpoint: endpoint.to_owned(),
        origin: origin.to_owned(),
        key: key.map(str::to_owned),
    }
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::First => "first",
        Verdict::Same => "same",
        Verdict::Changed(_) => "changed",
        Verdict::Quarantined(_) => "quarantined",
    }
}

#[test]
fn another_origin_or_key_always_waits_and_other_words_where_that_is_wanted() {
    let was = pin("w", "e", "https://a", Some("k"));
    let rows = [
        (pin("w", "e", "https://a", Some("k")), "same", "same"),
        (pin("v", "e", "https://a", Some("k")), "changed", "quarantined"),
        (pin("w", "f", "https://a", Some("k")), "changed", "quarantined"),
        (pin("w", "f", "https://b", Some("k")), "quarantined", "quarantined"),
        (pin("w", "e", "https://a", None), "quarantined", "quarantined"),
        (pin("w", "e", "https://a", Some("l")), "quarantined", "quarantined"),
    ];
    for (seen, warn, quarantine) in rows {
        assert_eq!(word(&compared(&was, &seen, OnChange::Warn)), warn, "{seen:?}");
        assert_eq!(word(&compared(&was, &seen, OnChange::Quarantine)), quarantine, "{seen:?}");
    }
    let unsigned = pin("w", "e", "https://a", None);
    let signed = pin("w", "e", "https://a", Some("k"));
    assert_eq!(word(&compared(&unsigned, &signed, OnChange::Quarantine)), "changed");
}

#[test]
fn what_waits_for_the_operator_waits_across_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let entry = ExternalAgent::new("research".parse().unwrap(), "http://x".to_owned());
    let memory = CardMemory {
        url: entry.url.clone(),
        accepted: Some(pin("w", "e", "http://x", None)),
        seen: Some(pin("w", "e", "http://y", None)),
        quarantined: Some("it moved".to_owned()),
        ..CardMemory::default()
    };
    memory.write(directory.path(), &entry.name).unwrap();

    let mut read = CardMemory::read(directory.path(), &entry);

    assert_eq!(read.quarantined(), Some("it moved"));
    assert!(read.accept());
    assert_eq!(read.quarantined(), None);
    assert_eq!(read.accepted.map(|pin| pin.origin), Some("http://y".to_owned()));
    let elsewhere = ExternalAgent { url: "http://z".to_owned(), ..entry };
    assert_eq!(CardMemory::read(directory.path(), &elsewhere).quarantined(), None);
}
