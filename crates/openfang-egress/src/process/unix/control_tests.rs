//! Orders and words over a real socket, and what is refused on it.

use std::os::unix::ffi::OsStringExt as _;

use super::*;

fn order() -> Order {
    Order {
        parent: 7,
        isolation: ChildIsolation::Isolated,
        program: "/bin/x".into(),
        arguments: vec![OsString::from_vec(vec![b'a', 0xff])],
        environment: vec![("KEY".into(), "x".repeat(300_000).into())],
        directory: "/".into(),
        limits: ResourceLimits::for_tools(),
        sandbox: Some(SandboxRules {
            read: vec!["/r".into()],
            write: Vec::new(),
            network: Network::Denied,
            stays_in_group: true,
            must_hold: true,
        }),
        umask: Some(0o022),
    }
}

#[tokio::test]
async fn an_order_arrives_with_its_descriptor_and_all_of_its_bytes() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    let mut ours = tokio::net::UnixStream::from_std(ours).unwrap();
    let (reader, mut writer) = io::pipe().unwrap();
    let receiving = tokio::task::spawn_blocking(move || receive_order(&theirs).unwrap());

    send_order(&mut ours, &order(), reader.into()).await.unwrap();
    let (received, stdin) = receiving.await.unwrap();

    assert_eq!(serde_json::to_value(&received).unwrap(), serde_json::to_value(order()).unwrap());
    writer.write_all(b"through").unwrap();
    drop(writer);
    assert_eq!(io::read_to_string(std::fs::File::from(stdin)).unwrap(), "through");
}

#[tokio::test]
async fn words_are_heard_until_the_other_end_is_gone() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    let mut ours = tokio::net::UnixStream::from_std(ours).unwrap();
    let cause = io::Error::from_raw_os_error(2).into();
    say(&theirs, &ChildReport::Ready(Containment::Full)).unwrap();
    say(&theirs, &ChildReport::Failed { step: Step::Program, cause }).unwrap();
    drop(theirs);

    assert!(matches!(hear(&mut ours).await, Ok(Some(ChildReport::Ready(Containment::Full)))));
    let Ok(Some(ChildReport::Failed { step: Step::Program, cause })) = hear(&mut ours).await else {
        panic!("no failure")
    };
    assert_eq!(io::Error::from(cause).kind(), io::ErrorKind::NotFound);
    assert!(matches!(hear(&mut ours).await, Ok(None)));
}

#[test]
fn what_is_no_order_is_refused() {
    let too_long = u32::try_from(CHILD_ORDER_MAX_BYTES + 1).unwrap().to_le_bytes().to_vec();
    let without_stdin = message(&order()).unwrap();
    let rows = [Vec::new(), vec![1], vec![9, 0, 0, 0, b'{'], vec![2, 0, 0, 0, b'{', b'}'], too_long, without_stdin];
    for bytes in rows {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        let sending = std::thread::spawn(move || ours.write_all(&bytes));

        assert!(receive_order(&theirs).is_err());
        drop(theirs);
        let _ = sending.join().unwrap();
    }
}

#[test]
fn an_error_about_a_message_does_not_quote_it() {
    let error = parsed::<Order>(b"{\"parent\":\"sk-secret\"}").err().unwrap();

    assert!(!error.to_string().contains("sk-secret"), "{error}");
}
