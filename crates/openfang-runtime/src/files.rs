//! The files of workspaces, with what their content carries: a file that was written in a tainted context brings that
//! taint into whatever reads it.
//!
//! The record of a file belongs to its owner, is found by the path with its links resolved, and changes in the same turn
//! as the content: nobody reads one without the other. While a write is under way, or if it breaks off, the record has
//! the labels of the old content and of the new one. What was never written by a tool has no labels here.
//!
//! A program that works in a workspace can write anything into any of its files. What it may have mixed is on record for the
//! workspace as a whole, and everything there carries it.
//!
//! Nothing is made before it is on record, directories neither: their names may say as much as a file does. The record
//! of a directory stays until the directory is gone, whatever becomes of the files in it.

use std::sync::Arc;

use openfang_store::{FilePath, FileRecord, FileStore, StoreError};
use openfang_types::ids::Owner;
use openfang_types::limits::{AGENTS_FILE_MAX_BYTES, FILE_LIST_MAX_ENTRIES, FILE_READ_MAX_BYTES, FILES_SWEPT};
use openfang_types::taint::{Label, Labels};

use crate::context::CallContext;
use crate::tools::ToolFailure;
use crate::workspace::{FileBytes, Listing, LockKind, WorkspaceError, Written};
use crate::workspaces::{ProgramPlace, Workspaces};

/// The file of a workspace with instructions for its agent.
const AGENTS_FILE: &str = "AGENTS.md";

/// The files of all workspaces.
#[derive(Clone)]
pub struct Files {
    workspaces: Workspaces,
    records: Arc<dyn FileStore>,
}

impl Files {
    /// Files of these workspaces, on record here.
    pub const fn new(workspaces: Workspaces, records: Arc<dyn FileStore>) -> Self {
        Self { workspaces, records }
    }

    /// The start of a file, and what it carries.
    pub(crate) async fn read(&self, cx: &CallContext, path: &str) -> Result<(FileBytes, Labels), ToolFailure> {
        self.read_at_most(cx, path, FILE_READ_MAX_BYTES).await
    }

    /// The same, up to so many bytes.
    pub(crate) async fn read_at_most(
        &self,
        cx: &CallContext,
        path: &str,
        most: usize,
    ) -> Result<(FileBytes, Labels), ToolFailure> {
        let (place, path) = (Workspaces::place(cx), path.to_owned());
        let turn = self.workspaces.turn(&place, LockKind::Read).await?;
        let (_turn, read) = turn
            .run(move |files| {
                let file = files.file(&path)?;
                Ok((files.read_at(&file, most)?, file.path().to_owned()))
            })
            .await?;
        let (bytes, path) = read?;
        let record = self.records.get(cx.principal.owner(), &below(&place, &path)).await?;
        let labels = record
            .unwrap_or_default()
            .labels
            .joined(&self.of_programs(cx.principal.owner(), &place).await?);
        Ok((bytes, labels))
    }

    /// What programs may have mixed into the files of a workspace.
    async fn of_programs(&self, owner: &Owner, place: &str) -> Result<Labels, StoreError> {
        Ok(self.records.get(owner, place).await?.unwrap_or_default().labels)
    }

    /// Where a program of the call works; the workspace is made if it is missing.
    pub(crate) async fn program_place(&self, cx: &CallContext, cwd: Option<&str>) -> Result<ProgramPlace, ToolFailure> {
        let (place, cwd) = (Workspaces::place(cx), cwd.unwrap_or(".").to_owned());
        let turn = self.workspaces.turn(&place, LockKind::Read).await?;
        let (_turn, directory) = turn.run(move |files| Ok(files.directory(&cwd)?.path().to_owned())).await?;
        let (workspaces, directory) = (self.workspaces.clone(), directory?);
        let config = Arc::clone(&cx.config);
        let find = move || workspaces.program_place((&place, &directory), &config.exec.read);
        tokio::task::spawn_blocking(find).await?
    }

    /// Puts on record that a program is going to work in the workspace. It may write what is in the context into any file,
    /// and the content of any file into any other: from now on every file there carries all of that. Returns what the
    /// program can read.
    pub(crate) async fn begin_program(&self, cx: &CallContext) -> Result<Labels, ToolFailure> {
        self.mix(cx, Labels::none()).await
    }

    /// The same when the program has ended: files may have come while it ran.
    pub(crate) async fn end_program(&self, cx: &CallContext, before: Labels) -> Result<Labels, ToolFailure> {
        self.mix(cx, before).await
    }

    async fn mix(&self, cx: &CallContext, known: Labels) -> Result<Labels, ToolFailure> {
        let (owner, place) = (cx.principal.owner(), Workspaces::place(cx));
        let _turn = self.workspaces.turn(&place, LockKind::Write).await?;
        let kept = self.of_programs(owner, &place).await?;
        let readable = self.records.labels_below(owner, &place).await?.joined(&kept).joined(&known);
        let labels = worth_keeping(&cx.context_labels().joined(&readable)).joined(&kept);
        if labels != kept {
            let record = FileRecord { bytes: 0, labels };
            self.records.announce(owner, &place, record.clone()).await?;
            self.records.settle(owner, &place, Some(record)).await?;
        }
        Ok(readable)
    }

    /// The instructions that the workspace of a call has for its agent, in `AGENTS.md`, and what they carry. Nothing is made for
    /// the answer.
    pub async fn instructions(&self, cx: &CallContext) -> Option<(String, Labels)> {
        let place = Workspaces::place(cx);
        let workspaces = self.workspaces.clone();
        let exists = tokio::task::spawn_blocking(move || workspaces.exists(&place)).await.ok()?;
        if !exists {
            return None;
        }
        let (file, mut labels) = self.read_at_most(cx, AGENTS_FILE, AGENTS_FILE_MAX_BYTES).await.ok()?;
        let text = String::from_utf8_lossy(&file.bytes).into_owned();
        if text.trim().is_empty() {
            return None;
        }
        labels.add(Label::Workspace, AGENTS_FILE);
        let note = "\n[the rest of the file was left out]";
        Some((if file.truncated { text + note } else { text }, labels))
    }

    /// Writes a whole file, with the labels of the context it is written in.
    pub(crate) async fn write(&self, cx: &CallContext, path: &str, content: String) -> Result<Written, ToolFailure> {
        let (place, owner, asked) = (Workspaces::place(cx), cx.principal.owner(), path.to_owned());
        let next = FileRecord { bytes: content.len() as u64, labels: worth_keeping(&cx.context_labels()) };
        let turn = self.workspaces.turn(&place, LockKind::Write).await?;
        let (turn, foreseen) = turn.run(move |files| files.foresee(&asked)).await?;
        let foreseen = foreseen?;
        let path = below(&place, foreseen.path());

        let mut named = Vec::new();
        if !next.labels.is_empty() {
            named.extend(foreseen.new_directories().iter().map(|directory| below(&place, directory)));
        }
        let before = self.announce(owner, &named, &path, &next).await?;
        let (_turn, written) = turn.run(move |files| files.write_foreseen(&foreseen, content.as_bytes())).await?;
        let after = if written.is_ok() { Some(next) } else { before };
        if let Err(error) = self.records.settle(owner, &path, after).await {
            tracing::warn!(%error, "the labels of a file stay those of its old and its new content");
        }
        Ok(written?)
    }

    /// Makes room for a file and for the directories that are made for it; for all of them or for none.
    async fn announce(
        &self,
        owner: &Owner,
        directories: &[String],
        path: &str,
        next: &FileRecord,
    ) -> Result<Option<FileRecord>, StoreError> {
        let name = FileRecord { bytes: 0, labels: next.labels.clone() };
        let mut announced = Vec::new();
        let refused = loop {
            let Some(directory) = directories.get(announced.len()) else {
                match self.records.announce(owner, path, next.clone()).await {
                    Ok(before) => return Ok(before),
                    Err(error) => break error,
                }
            };
            match self.records.announce(owner, directory, name.clone()).await {
                Ok(before) => announced.push((directory, before)),
                Err(error) => break error,
            }
        };
        for (directory, before) in announced {
            if let Err(error) = self.records.settle(owner, directory, before).await {
                tracing::warn!(%error, "a directory that was not made stays on record until the next sweep");
            }
        }
        Err(refused)
    }

    /// The names in a directory, and what they carry: whoever wrote a file chose its name.
    pub(crate) async fn list(&self, cx: &CallContext, path: &str) -> Result<(Listing, Labels), ToolFailure> {
        let (place, path) = (Workspaces::place(cx), path.to_owned());
        let turn = self.workspaces.turn(&place, LockKind::Read).await?;
        let (_turn, listed) = turn
            .run(move |files| {
                let directory = files.directory(&path)?;
                Ok((files.list_at(&directory, FILE_LIST_MAX_ENTRIES)?, directory.path().to_owned()))
            })
            .await?;
        let (listing, path) = listed?;
        let owner = cx.principal.owner();
        let labels = self.records.labels_below(owner, &below(&place, &path)).await?;
        Ok((listing, labels.joined(&self.of_programs(owner, &place).await?)))
    }

    /// Forgets the records of files that are gone: somebody removed them without us. Says how many.
    pub async fn sweep(&self) -> Result<usize, StoreError> {
        let mut forgotten = 0;
        let mut after: Option<FilePath> = None;
        loop {
            let page = self.records.paths(after.as_ref(), FILES_SWEPT).await?;
            for file in &page {
                forgotten += usize::from(self.forget_if_gone(&file.owner, &file.path).await?);
            }
            match page.last() {
                Some(last) => after = Some(last.clone()),
                None => return Ok(forgotten),
            }
        }
    }

    async fn forget_if_gone(&self, owner: &Owner, path: &str) -> Result<bool, StoreError> {
        let Some((place, rest)) = Workspaces::split(path).map(|(place, rest)| (place, rest.to_owned())) else {
            return Ok(false);
        };
        // Asking for a turn would make the workspace.
        if !self.workspaces.exists(place) {
            return self.records.settle(owner, path, None).await.map(|()| true);
        }
        let Ok(turn) = self.workspaces.turn(place, LockKind::Write).await else { return Ok(false) };
        let Ok((_turn, found)) = turn.run(move |files| files.file(&rest)).await else { return Ok(false) };
        if !matches!(found, Err(WorkspaceError::NotFound { .. })) {
            return Ok(false);
        }
        self.records.settle(owner, path, None).await.map(|()| true)
    }
}

/// A path in a workspace as a path below all of them.
fn below(place: &str, path: &str) -> String {
    if path.is_empty() { place.to_owned() } else { format!("{place}/{path}") }
}

/// Only what could matter at a sink.
fn worth_keeping(context: &Labels) -> Labels {
    let mut kept = Labels::none();
    let matters = |label: &Label| label.is_foreign() || matches!(label, Label::Secret | Label::Pii);
    for label in context.iter().filter(matters) {
        if let Some(sources) = context.sources(label) {
            kept.add_all(label, sources);
        }
    }
    kept
}
