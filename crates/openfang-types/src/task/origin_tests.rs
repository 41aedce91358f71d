//! The words that stores hold.

use super::*;

#[test]
fn the_words_of_older_stores_are_still_read_and_written() {
    let words = ["openfang", "seed", "a2a-0.1", "a2a-0.3", "a2a-1.0"];
    for (origin, word) in Origin::ALL.into_iter().zip(words) {
        assert_eq!((origin.as_str(), Origin::from_word(word)), (word, Some(origin)));
    }
    assert_eq!(Origin::from_word("a2a-2.0"), None);
}
