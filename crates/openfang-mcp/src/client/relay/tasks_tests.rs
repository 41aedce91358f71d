//! Which results are tasks, and which tools are nothing else.

use super::*;

fn task_in(result: &str, methods: TaskMethods) -> Option<String> {
    begun(&RawValue::from_string(result.to_owned()).unwrap(), methods)
}

#[test]
fn a_result_is_a_task_only_as_its_revision_writes_one() {
    let (core, extension) = (TaskMethods::Core, TaskMethods::Extension);
    let flat = r#"{"resultType":"task","taskId":"t","status":"working"}"#;
    let nested = r#"{"task":{"taskId":"t","status":"working"}}"#;
    assert_eq!(task_in(flat, extension).as_deref(), Some("t"));
    assert_eq!(task_in(nested, core).as_deref(), Some("t"));
    assert_eq!((task_in(flat, core), task_in(nested, extension)), (None, None));
    for plain in [
        r#"{"content":[{"type":"text","text":"taskId"}]}"#,
        r#"{"resultType":"complete","taskId":"t"}"#,
        r#"{"resultType":"task","taskId":""}"#,
        r#"{"resultType":"task","taskId":7}"#,
        r#"{"resultType":"task","task":"taskId"}"#,
    ] {
        assert_eq!((task_in(plain, extension), task_in(plain, core)), (None, None), "{plain}");
    }
}

#[test]
fn a_tool_says_whether_its_calls_can_be_tasks() {
    assert_eq!(TaskSupport::of(r#"{"name":"a","execution":{"taskSupport":"required"}}"#), TaskSupport::Required);
    assert_eq!(TaskSupport::of(r#"{"name":"a","execution":{"taskSupport":"optional"}}"#), TaskSupport::Optional);
    for other in [
        r#"{"name":"a"}"#,
        r#"{"name":"a","description":"taskSupport required"}"#,
        r#"{"name":"a","execution":{"taskSupport":"forbidden"}}"#,
        r#"{"name":"a","execution":"taskSupport"}"#,
    ] {
        assert_eq!(TaskSupport::of(other), TaskSupport::Forbidden, "{other}");
    }
}
