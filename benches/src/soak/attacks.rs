//! The table of attacks. An attack prepares what it needs, then continues until it is stopped. It ignores the server's
//! answers except for its tally, which proves that it took place. All attackers share one thread of the lowest priority:
//! real ones have machines of their own, so they use the CPU of this one only through the server.

mod bodies;
mod connections;
mod flood;
mod guesses;
mod lists;
mod questions;
mod sessions;
mod small_bodies;
mod tools;
mod unread;

use std::future::Future;
use std::pin::Pin;
use std::thread::JoinHandle;

use anyhow::{Context as _, Result, anyhow};
use openfang_types::background::lower_priority;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::stage::Target;

/// An attack after its preparation, which runs until it is dropped.
type Running = Pin<Box<dyn Future<Output = ()>>>;
/// The preparation of an attack.
type Preparing = Pin<Box<dyn Future<Output = Result<Running>>>>;

#[derive(Clone, Copy)]
pub(super) struct Attack {
    pub(super) name: &'static str,
    prepare: fn(Target) -> Preparing,
}

/// All attacks. A new one is a file and a line.
pub(super) const ATTACKS: &[Attack] = &[
    Attack { name: "schemas", prepare: |target| Box::pin(tools::schemas(target)) },
    Attack { name: "noise", prepare: |target| Box::pin(tools::noise(target)) },
    Attack { name: "files", prepare: |target| Box::pin(tools::files(target)) },
    Attack { name: "lists", prepare: |target| Box::pin(lists::prepare(target)) },
    Attack { name: "unread", prepare: |target| Box::pin(unread::prepare(target)) },
    Attack { name: "refusals", prepare: |target| Box::pin(flood::refusals(target)) },
    Attack { name: "unknown ids", prepare: |target| Box::pin(flood::unknown_ids(target)) },
    Attack { name: "sessions", prepare: |target| Box::pin(sessions::prepare(target)) },
    Attack { name: "questions", prepare: |target| Box::pin(questions::prepare(target)) },
    Attack { name: "guesses", prepare: |target| Box::pin(guesses::one_peer(target)) },
    Attack { name: "guesses of many", prepare: |target| Box::pin(guesses::many_peers(target)) },
    Attack { name: "connections", prepare: |target| Box::pin(connections::prepare(target)) },
    Attack { name: "bodies", prepare: |target| Box::pin(bodies::prepare(target)) },
    Attack { name: "small bodies", prepare: |target| Box::pin(small_bodies::prepare(target)) },
];

/// The `nice` value of the attackers.
const LOWEST_PRIORITY: i32 = 19;

/// The thread that attacks.
pub(super) struct Attackers(JoinHandle<()>);

impl Attackers {
    /// Waits until the attackers have stopped.
    pub(super) async fn join(self) -> Result<()> {
        tokio::task::spawn_blocking(move || self.0.join())
            .await?
            .map_err(|_| anyhow!("the attackers broke down"))
    }
}

/// Prepares the attacks and runs them until they are stopped.
pub(super) async fn start(
    attacks: &[&'static Attack],
    targets: Vec<Target>,
    stop: CancellationToken,
) -> Result<Attackers> {
    let attacks = attacks.iter().copied().zip(targets).collect();
    let (prepared, is_prepared) = oneshot::channel();
    let thread = std::thread::spawn(move || {
        lower_priority(LOWEST_PRIORITY);
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        let local = tokio::task::LocalSet::new();
        runtime.block_on(local.run_until(attack(attacks, stop, prepared)));
    });
    is_prepared.await.context("the attackers broke down")??;
    Ok(Attackers(thread))
}

async fn attack(
    attacks: Vec<(&'static Attack, Target)>,
    stop: CancellationToken,
    prepared: oneshot::Sender<Result<()>>,
) {
    let mut running = JoinSet::new();
    for (attack, target) in attacks {
        let (tallies, parts) = (target.tallies.clone(), target.tallies.parts());
        match (attack.prepare)(target).await {
            Ok(_) if tallies.parts() == parts => {
                let _ = prepared.send(Err(anyhow!("{} counts nothing of what it does", attack.name)));
                return;
            }
            Ok(attack) => {
                running.spawn_local(attack);
            }
            Err(error) => {
                let _ = prepared.send(Err(error.context(attack.name)));
                return;
            }
        }
    }
    let _ = prepared.send(Ok(()));
    stop.cancelled().await;
    running.shutdown().await;
}

/// Runs this many attackers concurrently.
async fn many<F: Future<Output = ()> + 'static>(count: usize, attacker: impl Fn(usize) -> F) {
    let mut attackers = JoinSet::new();
    for number in 0..count {
        attackers.spawn_local(attacker(number));
    }
    while attackers.join_next().await.is_some() {}
}
