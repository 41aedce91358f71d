//! What names a task.

use super::*;

#[test]
fn ids_beginnings_and_last_name_a_task() {
    let id = "0199c0de-0000-7000-8000-000000000001";

    assert_eq!(id.parse(), Ok(TaskRef::Id(id.parse().unwrap())));
    assert_eq!("0199C0".parse(), Ok(TaskRef::Prefix("0199c0".to_owned())));
    assert_eq!("last".parse(), Ok(TaskRef::Last));
    for text in ["", "abc", "latest", "0199/", "0199 c0de"] {
        assert!(text.parse::<TaskRef>().unwrap_err().contains("`last`"), "{text}");
    }
}
