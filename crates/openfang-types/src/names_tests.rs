//! Names are found where they were put.

use super::*;

#[test]
fn every_name_is_where_it_was_put_also_an_empty_one() {
    let names: Names = ["b", "", "anna", "ä"].into_iter().collect();

    assert_eq!(names.iter().collect::<Vec<_>>(), ["b", "", "anna", "ä"]);
    assert_eq!((names.get(0), names.get(3), names.get(4)), (Some("b"), Some("ä"), None));
    assert_eq!((names.len(), names.is_empty(), Names::default().is_empty()), (4, false, true));
}

#[test]
fn a_name_is_found_in_order_and_one_that_is_not_there_is_not() {
    let all: Vec<String> = (0..100).map(|number| format!("name{number:03}")).collect();
    let names: Names = all.iter().collect();

    for (place, name) in all.iter().enumerate() {
        assert_eq!(names.place_of(name), Some(place));
    }
    for other in ["", "name", "name0005", "zebra"] {
        assert_eq!(names.place_of(other), None, "{other}");
    }
}
