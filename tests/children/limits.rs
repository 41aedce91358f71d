//! What a child may use of the machine.

use openfang_egress::process::{Ending, EnvironmentKind, Exit, Launch, ResourceLimits};

use super::fixture::{Driver, House, driven, output, program, shell};

fn limited(mut launch: Launch, limits: ResourceLimits) -> Launch {
    launch.limits = limits;
    launch
}

fn python(script: &str) -> Launch {
    let mut launch = program("python3", EnvironmentKind::Tool);
    launch.arguments = vec!["-c".into(), script.into()];
    launch
}

#[tokio::test]
async fn a_tool_gets_its_memory_and_not_more() {
    let house = House::new();
    let script = "import sys\nfor size in (100, 1000):\n  try:\n    bytearray(size << 20)\n    print('got', size)\n  except MemoryError:\n    print('no', size)";

    let mut child = house.start(limited(python(script), ResourceLimits::for_tools())).await;

    assert_eq!(output(&mut child).await, "got 100\nno 1000\n");
}

#[tokio::test]
async fn files_descriptors_and_processor_time_are_limited_and_cores_never_written() {
    let house = House::new();
    let limits = ResourceLimits {
        open_files: Some(16),
        file_size: Some(1024 * 1024),
        cpu_seconds: Some(1),
        ..ResourceLimits::none()
    };
    let mut shown = house
        .start(limited(shell(EnvironmentKind::Tool, "ulimit -c; ulimit -n; ulimit -t"), limits.clone()))
        .await;
    let write = "head -c 3000000 /dev/zero > $HOME/file; echo $?; wc -c < $HOME/file";
    let mut writing = house.start(limited(shell(EnvironmentKind::Tool, write), limits.clone())).await;
    let busy = house.start(limited(shell(EnvironmentKind::Tool, "while :; do :; done"), limits)).await;
    let mut unlimited = house.start(shell(EnvironmentKind::McpServer, "ulimit -c; ulimit -d; ulimit -f")).await;

    assert_eq!(output(&mut shown).await, "0\n16\n1\n");
    assert_eq!(output(&mut writing).await, "153\n1048576\n");
    assert_eq!(output(&mut unlimited).await, "0\nunlimited\nunlimited\n");
    assert_eq!(busy.wait().await, Exit { ending: Ending::Signal(9), asked: false });
}

#[tokio::test]
async fn drive_a_fork_bomb() {
    if driven().is_none() {
        return;
    }
    let house = House::new();
    let script = "import os, sys, time\ncount = 0\ntry:\n  while count < 1000:\n    if os.fork() == 0:\n      time.sleep(1000)\n    count += 1\nexcept BlockingIOError:\n  pass\nprint(count, flush=True)\ntime.sleep(1000)";

    let mut child = house.start(limited(python(script), ResourceLimits::for_tools())).await;
    let mut stdout = child.take_stdout().unwrap();
    let mut text = [0; 16];
    let read = tokio::io::AsyncReadExt::read(&mut stdout, &mut text).await.unwrap();
    child.shutdown().await;

    let count: u64 = String::from_utf8_lossy(&text[..read]).trim().parse().unwrap();
    assert!((1..=80).contains(&count), "{count} processes");
}

#[test]
fn a_fork_bomb_comes_to_an_end() {
    Driver::as_nobody("children::limits::drive_a_fork_bomb").run();
}
