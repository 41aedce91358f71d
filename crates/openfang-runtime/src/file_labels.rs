//! What the content of a workspace file carries: a file that was written in a tainted context brings that taint into
//! whatever reads it. Only what could matter at a sink is kept; what was never written by a tool has no labels here.

use std::sync::Arc;

use openfang_store::{Kept, KeyValueStore, StoreError};
use openfang_types::ids::Owner;
use openfang_types::limits::FILE_LIST_MAX_ENTRIES;
use openfang_types::taint::{Label, Labels};

/// The labels of workspace files.
#[derive(Clone)]
pub struct FileLabels {
    store: Arc<dyn KeyValueStore>,
}

impl FileLabels {
    /// Kept in this store, under a name that no caller has.
    pub fn new(store: Arc<dyn KeyValueStore>) -> Self {
        Self { store }
    }

    /// To be called before a file is written: its old labels stay until the new content is there.
    pub(crate) async fn before_write(&self, place: &str, path: &str, context: &Labels) -> Result<(), StoreError> {
        let matters = worth_keeping(context);
        if matters.is_empty() {
            return Ok(());
        }
        let labels = matters.joined(&self.of(place, path).await?);
        self.put(place, path, labels).await
    }

    /// To be called when the new content is there: only its own labels count from now on.
    pub(crate) async fn after_write(&self, place: &str, path: &str, context: &Labels) -> Result<(), StoreError> {
        let (held, matters) = (self.of(place, path).await?, worth_keeping(context));
        if held == matters { Ok(()) } else { self.put(place, path, matters).await }
    }

    /// What a file carries.
    pub(crate) async fn of(&self, place: &str, path: &str) -> Result<Labels, StoreError> {
        let kept = self.store.get(&Owner::house(), &key(place, path)).await?;
        Ok(kept.map(|kept| kept.labels).unwrap_or_default())
    }

    /// What the names below a directory carry: whoever wrote a file chose its name.
    pub(crate) async fn below(&self, place: &str, directory: &str) -> Result<Labels, StoreError> {
        let listed = self.store.keys(&Owner::house(), &key(place, directory), FILE_LIST_MAX_ENTRIES).await?;
        Ok(listed.iter().fold(Labels::none(), |labels, entry| labels.joined(&entry.labels)))
    }

    async fn put(&self, place: &str, path: &str, labels: Labels) -> Result<(), StoreError> {
        let kept = Kept { value: String::new(), labels };
        self.store.put(&Owner::house(), &key(place, path), kept).await
    }
}

/// The path without what does not change it.
fn key(place: &str, path: &str) -> String {
    let names: Vec<&str> = path.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
    format!("file:{place}/{}", names.join("/"))
}

fn worth_keeping(context: &Labels) -> Labels {
    let mut kept = Labels::none();
    for label in context
        .iter()
        .filter(|label| label.is_foreign() || matches!(label, Label::Secret | Label::Pii))
    {
        kept.add(label, context.source(label).unwrap_or_default());
    }
    kept
}
