//! The queue to a pipe, without a child: time stands still and moves when nobody can go on.

use tokio::io::AsyncReadExt as _;

use super::*;

const LIMIT: Duration = Duration::from_secs(10);

fn frame(length: usize) -> Bytes {
    Bytes::from(vec![b'x'; length])
}

#[tokio::test(start_paused = true)]
async fn a_pipe_that_nobody_reads_is_stuck_for_everybody_in_the_queue() {
    let (sender, _receiver) = pipe::pipe().unwrap();
    let (stdin, pump) = queue(sender, LIMIT);
    let stop = CancellationToken::new();
    let sends = (0..3 * CHILD_STDIN_QUEUE).map(|_| stdin.send(frame(1024 * 1024)));
    let sends: Vec<_> = sends.map(Box::pin).collect();

    let sending = async {
        let mut outcomes = Vec::new();
        for send in sends {
            outcomes.push(send.await);
        }
        outcomes
    };
    let ((), outcomes) = tokio::join!(pump.run(&stop), sending);

    assert!(outcomes.iter().all(|outcome| *outcome == Err(SendError::Stuck { limit: LIMIT })), "{outcomes:?}");
}

#[tokio::test]
async fn closing_lets_waiting_frames_through_and_stopping_does_not() {
    let (sender, mut receiver) = pipe::pipe().unwrap();
    let (stdin, pump) = queue(sender, LIMIT);
    let stop = CancellationToken::new();
    let mut text = Vec::new();
    let closing = async {
        let first = stdin.send(frame(100_000));
        stdin.close();
        first.await
    };

    let ((), sent, read) = tokio::join!(pump.run(&stop), closing, receiver.read_to_end(&mut text));

    // A frame that was not in the queue when it was closed may be refused, and then none of it is there.
    match sent {
        Ok(()) => assert_eq!(read.unwrap(), 100_000),
        Err(refused) => assert_eq!((refused, read.unwrap()), (SendError::Closed, 0)),
    }

    let (sender, _receiver) = pipe::pipe().unwrap();
    let (stdin, pump) = queue(sender, LIMIT);
    stop.cancel();
    let ((), sent) = tokio::join!(pump.run(&stop), stdin.send(frame(1)));
    assert_eq!(sent, Err(SendError::Closed));
}

#[tokio::test]
async fn a_pump_that_is_dropped_leaves_nobody_waiting() {
    let (sender, _receiver) = pipe::pipe().unwrap();
    let (stdin, pump) = queue(sender, LIMIT);

    let (sent, ()) = tokio::join!(stdin.send(frame(1)), async { drop(pump) });

    assert_eq!(sent, Err(SendError::Gone));
}
