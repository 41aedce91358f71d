//! Nobody is flooded (PSH-04), and nobody waits for somebody else's receiver.

use openfang_store::{DeliveryProgress, PushConfig};
use openfang_types::task::Origin;
use uuid::Uuid;

use super::*;

fn row(number: usize, host: &str, owner: &str) -> PushRow {
    PushRow {
        owner: owner.parse().unwrap(),
        task: TaskId::from_uuid(Uuid::from_u128(number as u128)),
        config: PushConfig {
            id: "p".to_owned(),
            url: format!("https://{host}/"),
            host: host.to_owned(),
            token: None,
            authorization: None,
            origin: Origin::V10,
            maker: None,
        },
        created_at: jiff::Timestamp::UNIX_EPOCH,
        reached: DeliveryProgress::default(),
        due_at: None,
        version: 1,
    }
}

/// How many of ten thousand deliveries that end at once are let through at a moment.
fn let_through(pace: &Arc<Pace>, now: Instant) -> usize {
    (0..10_000)
        .filter(|n| pace.enter(&row(*n, "victim.example", "ada"), now).is_some())
        .count()
}

#[tokio::test]
async fn ten_thousand_tasks_do_not_make_a_flood() {
    let pace = Arc::<Pace>::default();
    let begun = Instant::now();

    assert_eq!(let_through(&pace, begun), PUSH_BURST_PER_HOST as usize);
    let mut later = 0;
    for second in 1..=10 {
        later += let_through(&pace, begun + Duration::from_secs(second));
    }

    assert_eq!(later, 10 * PUSH_RATE_PER_HOST as usize);
}

#[tokio::test]
async fn a_host_that_was_told_enough_is_passed_over_until_it_has_rested() {
    let pace = Arc::<Pace>::default();
    let now = Instant::now();
    let_through(&pace, now);

    let busy = pace.busy(now);
    assert_eq!(busy.hosts, ["victim.example"]);
    let until = busy.until.unwrap();
    assert!(until > now && until <= now + Duration::from_secs(1));
    assert!(pace.enter(&row(1, "other.example", "ada"), now).is_some());

    assert!(pace.busy(until).hosts.is_empty());
    assert!(pace.enter(&row(1, "victim.example", "ada"), until).is_some());
    pace.busy(now + Duration::from_secs(3_600));
    assert!(pace.lock().hosts.is_empty(), "who has rested is forgotten");
    assert!(pace.lock().owners.is_empty());
}

#[tokio::test]
async fn one_host_one_owner_and_all_together_have_so_many_places() {
    let pace = Arc::<Pace>::default();
    let now = Instant::now();
    let take = |range: std::ops::Range<usize>, host: &dyn Fn(usize) -> String, owner: &str| {
        range.filter_map(|n| pace.enter(&row(n, &host(n), owner), now)).collect::<Vec<Turn>>()
    };

    let slow = take(0..100, &|_| "slow.example".to_owned(), "ada");
    assert_eq!(slow.len(), PUSH_PARALLEL_PER_HOST);
    assert_eq!(pace.busy(now).hosts, ["slow.example"]);
    let hers = take(100..200, &|n| format!("h{n}.example"), "ada");
    assert_eq!(slow.len() + hers.len(), PUSH_PARALLEL_PER_OWNER);
    assert_eq!(pace.busy(now).owners, ["ada".parse().unwrap()]);
    let others: Vec<Turn> = (0..100)
        .flat_map(|n| take(n..n + 1, &|n| format!("h{n}.example"), &format!("u{n}")))
        .collect();
    assert_eq!(slow.len() + hers.len() + others.len(), PUSH_PARALLEL);
    assert_eq!(pace.room(), 0);

    drop((slow, hers, others));
    assert_eq!(pace.room(), PUSH_PARALLEL);
    pace.freed().await;
}

#[tokio::test]
async fn what_is_under_way_is_not_begun_again() {
    let pace = Arc::<Pace>::default();
    let now = Instant::now();
    let turn = pace.enter(&row(1, "a.example", "ada"), now);
    assert!(turn.is_some());

    assert!(pace.enter(&row(1, "a.example", "ada"), now).is_none());
    drop(turn);
    assert!(pace.enter(&row(1, "a.example", "ada"), now).is_some());
}

#[tokio::test]
async fn one_after_another_keeps_the_same_pace() {
    let pace = Arc::<Pace>::default();
    let now = Instant::now();
    let turn = pace.enter(&row(1, "a.example", "ada"), now).unwrap();

    let sent = 1 + (0..1_000).take_while(|_| turn.again(now).is_ok()).count();

    assert_eq!(sent, PUSH_BURST_PER_HOST as usize);
    let wait = turn.again(now).unwrap_err();
    assert_eq!(turn.again(now + wait), Ok(()));
}

#[tokio::test]
async fn hosts_are_remembered_up_to_a_bound() {
    let pace = Arc::<Pace>::default();
    let now = Instant::now();
    for n in 0..PUSH_HOSTS {
        assert!(pace.enter(&row(n, &format!("h{n}.example"), "ada"), now).is_some());
    }

    assert!(pace.enter(&row(0, "one.more.example", "ada"), now).is_none());
    assert!(pace.enter(&row(0, "h0.example", "ada"), now).is_some());
}

#[tokio::test]
async fn a_thousand_names_of_one_address_are_one_receiver() {
    let pace = Arc::<Pace>::default();
    let begun = Instant::now();
    let victim: IpAddr = "198.51.100.7".parse().unwrap();
    let decoy = |n: u8| IpAddr::from([203, 0, 113, n]);

    // Each comes under another name, and with another address beside the one that is meant.
    let taken = (0..=255).filter(|n| pace.take(&[decoy(*n), victim], begun).is_ok()).count();
    assert_eq!(taken, PUSH_BURST_PER_HOST as usize);
    assert_eq!(pace.take(&[decoy(255)], begun), Ok(()), "others go on");
    let mapped: IpAddr = "::ffff:198.51.100.7".parse().unwrap();
    assert!(pace.take(&[mapped], begun).is_err());

    let waits: Vec<Duration> = (0..100).map(|_| pace.take(&[victim], begun).unwrap_err()).collect();
    assert!(waits.is_sorted_by(|one, next| one < next), "each is told another moment");
    let six = |n: u16| IpAddr::from([0x2001, 0xdb8, 0, 0, n, n, n, n]);
    let taken = (0..1_000).filter(|n| pace.take(&[six(*n)], begun).is_ok()).count();
    assert_eq!(taken, PUSH_BURST_PER_HOST as usize, "one IPv6 network is one receiver");

    pace.busy(begun + Duration::from_secs(3_600));
    assert!(pace.lock().addresses.is_empty(), "who has rested is forgotten");
}
