//! What a task ended as when two ends came at once.

use openfang_runtime::answerer::Ending;
use openfang_types::task::TaskState;
use tokio_util::sync::CancellationToken;

use super::End;

fn canceled() -> CancellationToken {
    let cancel = CancellationToken::new();
    cancel.cancel();
    cancel
}

#[test]
fn work_that_fails_because_it_was_canceled_is_canceled() {
    let end = End::Ended(Ending::saying(TaskState::Failed, "file_read was canceled"));
    assert!(matches!(end.unless_canceled(&canceled()), End::Canceled));
}

#[test]
fn work_that_was_done_when_the_cancel_came_is_done() {
    let end = End::Ended(Ending::completed()).unless_canceled(&canceled());
    assert!(matches!(end, End::Ended(Ending { state: TaskState::Completed, .. })));
}

#[test]
fn work_that_fails_by_itself_has_failed() {
    let end = End::Ended(Ending::saying(TaskState::Failed, "no such file")).unless_canceled(&CancellationToken::new());
    assert!(matches!(end, End::Ended(Ending { state: TaskState::Failed, .. })));
}
