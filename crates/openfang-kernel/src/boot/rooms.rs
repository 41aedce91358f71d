//! The rooms, each made of what it needs, and the kernel that holds them.

use std::sync::{Arc, Mutex};

use openfang_runtime::files::Files;
use openfang_runtime::mcp_server::Shared;
use openfang_runtime::pipeline::Pipeline;
use openfang_store::{Node, Stores};
use openfang_types::clock::{Clock, IdSource};
use openfang_types::ids::NodeId;
use openfang_types::limits::HOOKS_AT_A_TIME;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;
use tokio::sync::Semaphore;

use crate::access::keys::Keys;
use crate::access::vault::Vault;
use crate::access::{Access, AccessParts, Credentials};
use crate::approvals::Approvals;
use crate::change::ChangeRecorder;
use crate::doors::cards::Cards;
use crate::doors::{Doors, DoorsParts};
use crate::drain::Life;
use crate::events::{Events, EventsParts};
use crate::execute_tool::DirectCalls;
use crate::integrity::Integrity;
use crate::kernel::{Kernel, KernelParts};
use crate::outward::Outward;
use crate::peers::external::ExternalPeers;
use crate::peers::external_control::{ExternalControl, ExternalParts};
use crate::peers::lending::Lending;
use crate::peers::models::{ModelReach, Models};
use crate::peers::skill_control::SkillControl;
use crate::peers::skills::Skills;
use crate::peers::upstreams::{PeerParts, Upstreams};
use crate::schedules::{Schedules, SchedulesParts};
use crate::settings::LiveSettings;
use crate::settings::home::Home;
use crate::settings::home::record::HomeMemory;
use crate::tasks::push::HookPace;
use crate::tasks::{Tasks, TasksParts};

/// What the rooms stand on.
pub(super) struct Ground {
    pub(super) home: Home,
    pub(super) settings: Arc<LiveSettings>,
    pub(super) stores: Stores,
    pub(super) pipeline: Arc<Pipeline>,
    pub(super) outward: Arc<Outward>,
    pub(super) changes: ChangeRecorder,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) ids: Arc<dyn IdSource>,
    pub(super) life: Life,
}

/// What one room alone is given, or the kernel.
pub(super) struct Furnishings {
    pub(super) credentials: Credentials,
    pub(super) keys: Keys,
    /// The secrets that the home stores, sealed.
    pub(super) vault: Arc<Vault>,
    /// The name of this process, and what proves that it lives.
    pub(super) node: (NodeId, Option<Node>),
    /// Whether a process ended uncleanly before this one began.
    pub(super) is_check_due: bool,
    pub(super) memory: Option<Arc<HomeMemory>>,
    pub(super) files: Files,
    /// The A2A agents of other servers, which are opened here.
    pub(super) external: Arc<ExternalPeers>,
    /// The way to models, which is opened here.
    pub(super) models: Arc<Models>,
    pub(super) cards: Cards,
    pub(super) mcp_shared: Arc<Shared>,
    pub(super) unknown_tasks: Counter,
    pub(super) metrics: Registry,
}

impl Ground {
    /// Makes the rooms, and the kernel of them.
    pub(super) fn kernel(self, given: Furnishings) -> Kernel {
        let Furnishings { credentials, keys, vault, node, is_check_due, memory, files, external, models, .. } = given;
        let lending = Arc::new(Lending::new(&vault, &self.stores.audit, (&self.clock, &self.ids)));
        let kept = (Arc::clone(&lending), Arc::clone(&self.stores.usage), files.clone());
        models.open(ModelReach::new(&self.settings, &self.pipeline, kept));
        let external = self.external(external, Arc::clone(&lending));
        let upstreams = self.upstreams(&given.mcp_shared, keys.instance(), lending);
        let access = self.access(credentials, keys, vault);
        let database = node.1.is_some().then(|| self.home.database());
        let health = Arc::clone(&self.stores.health);
        let integrity = Integrity::new(database, is_check_due, health, self.life.clone());
        let tasks = self.tasks(node, access.clone());
        let schedules = self.schedules(tasks.clone());
        let events = self.events(access.clone(), tasks.clone());
        let rooms = (Arc::clone(&self.settings), access.clone(), tasks.clone());
        let results = Arc::clone(&self.stores.results);
        let calls = DirectCalls::new(rooms, Arc::clone(&self.pipeline), results, Arc::clone(&self.clock));
        let approvals = Approvals::new(
            (Arc::clone(&self.stores.approvals), Arc::clone(&self.stores.audit)),
            Arc::clone(&self.pipeline),
            Arc::clone(&self.clock),
        );
        let skills = Skills::new(&self.home, Arc::clone(&self.settings), Arc::clone(&self.pipeline));
        skills.follow_if_known();
        let skills = SkillControl::new(Arc::new(skills), self.changes.clone(), Arc::clone(&self.clock));
        let doors = Doors::new(DoorsParts {
            cards: given.cards,
            mcp_shared: given.mcp_shared,
            unknown_tasks: given.unknown_tasks,
            settings: Arc::clone(&self.settings),
            access: access.clone(),
            tasks: tasks.clone(),
            events: events.clone(),
            upstreams: Arc::clone(&upstreams),
            calls: calls.clone(),
            pipeline: Arc::clone(&self.pipeline),
            clock: Arc::clone(&self.clock),
            ids: Arc::clone(&self.ids),
            life: self.life.clone(),
        });
        let Self { home, settings, stores, pipeline, outward, changes, clock, ids, life } = self;
        Kernel::new(KernelParts {
            settings,
            access,
            tasks,
            schedules,
            events,
            upstreams,
            external,
            models,
            skills,
            doors,
            calls,
            approvals,
            changes,
            life,
            stores,
            files,
            clock,
            ids,
            memory,
            integrity,
            pipeline,
            outward,
            home,
            metrics: Mutex::new(given.metrics),
        })
    }

    fn access(&self, credentials: Credentials, keys: Keys, vault: Arc<Vault>) -> Access {
        Access::new(AccessParts {
            credentials,
            keys,
            vault,
            settings: Arc::clone(&self.settings),
            users: Arc::clone(&self.stores.users),
            audit: Arc::clone(&self.stores.audit),
            changes: self.changes.clone(),
            clock: Arc::clone(&self.clock),
            ids: Arc::clone(&self.ids),
            life: self.life.clone(),
        })
    }

    fn tasks(&self, node: (NodeId, Option<Node>), access: Access) -> Tasks {
        Tasks::new(TasksParts {
            node,
            settings: Arc::clone(&self.settings),
            access,
            pipeline: Arc::clone(&self.pipeline),
            stores: &self.stores,
            clock: Arc::clone(&self.clock),
            ids: Arc::clone(&self.ids),
            life: self.life.clone(),
        })
    }

    fn schedules(&self, tasks: Tasks) -> Schedules {
        Schedules::new(SchedulesParts {
            store: Arc::clone(&self.stores.schedules),
            tasks,
            settings: Arc::clone(&self.settings),
            pipeline: Arc::clone(&self.pipeline),
            clock: Arc::clone(&self.clock),
            ids: Arc::clone(&self.ids),
            life: self.life.clone(),
        })
    }

    fn events(&self, access: Access, tasks: Tasks) -> Events {
        Events::new(EventsParts {
            store: Arc::clone(&self.stores.events),
            tasks,
            access,
            settings: Arc::clone(&self.settings),
            ids: Arc::clone(&self.ids),
            life: self.life.clone(),
            hooks: Semaphore::new(HOOKS_AT_A_TIME),
            hook_pace: HookPace::default(),
        })
    }

    fn external(&self, peers: Arc<ExternalPeers>, lending: Arc<Lending>) -> ExternalControl {
        let parts = ExternalParts {
            settings: Arc::clone(&self.settings),
            pipeline: Arc::clone(&self.pipeline),
            changes: self.changes.clone(),
            home: self.home.clone(),
            lending,
        };
        ExternalControl::new(peers, parts)
    }

    fn upstreams(&self, shared: &Shared, instance: String, lending: Arc<Lending>) -> Arc<Upstreams> {
        Upstreams::new(PeerParts {
            settings: Arc::clone(&self.settings),
            pipeline: Arc::clone(&self.pipeline),
            outward: Arc::clone(&self.outward),
            home: self.home.clone(),
            audit: Arc::clone(&self.stores.audit),
            changes: self.changes.clone(),
            clock: Arc::clone(&self.clock),
            ids: Arc::clone(&self.ids),
            counts: Arc::clone(shared.counts()),
            instance,
            lending,
        })
    }
}
