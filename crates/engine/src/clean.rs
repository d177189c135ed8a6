//! Files that are no longer needed: `runner clean` lists and removes them. A run removes the partial downloads of its finished tasks.
//!
//! Invariant: what a task may still need and what another process uses is never removed. What was paid for, a video or what is left of
//! one that cannot be downloaded any more, is removed on request only.

mod superseded_clips;
mod temporary;

use std::collections::HashMap;
use std::path::PathBuf;

use scheduler::{AttemptId, AttemptState};

use crate::artifact_store::{ArtifactStore, Verify, partial_download};
use crate::ledger::{Ledger, LedgerError};

pub use superseded_clips::superseded_files;
pub use temporary::temporary_files;

/// A file that may not be needed any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnneededFile {
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// The attempt that it belongs to, with the name of its node; `None` where the ledger has none.
    pub attempt: Option<(AttemptId, String)>,
    pub need: FileUse,
}

/// What a file is needed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileUse {
    /// Its task is in flight or missing, or its video is gone from disk: the next download resumes it.
    Task,
    /// Another process has it open.
    Process,
    /// Nobody, but it was paid for: its task is gone from the service, or it is a whole video that the ledger does not know.
    PaidFor,
    /// Nobody: its video is downloaded.
    Downloaded,
    /// Nobody: the ledger has no task that would resume it.
    Unknown,
    /// Nobody: an earlier cut of a film.
    EarlierCut,
    /// The workflow as it is does not use this video. Its original is in the store.
    SupersededClip,
    /// The workflow as it is does not use this video, and this is the original, which was paid for.
    SupersededOriginal,
    /// Nobody: a process that was killed has left it.
    Temporary,
}

impl FileUse {
    /// Whether the file may be removed; `paid`: also what was paid for.
    pub fn is_removable(self, paid: bool) -> bool {
        match self {
            Self::Task | Self::Process => false,
            Self::PaidFor | Self::SupersededOriginal => paid,
            Self::Downloaded | Self::Unknown | Self::EarlierCut | Self::SupersededClip | Self::Temporary => {
                true
            }
        }
    }
}

/// The partial downloads of a project, by name.
///
/// # Errors
/// When the ledger or the folder cannot be read.
pub fn partial_files(ledger: &Ledger) -> Result<Vec<UnneededFile>, LedgerError> {
    let store = ledger.store();
    let paths = store.partial_paths()?;
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let mut attempts: HashMap<PathBuf, (AttemptId, String, AttemptState)> = HashMap::new();
    for (attempt, node, state) in ledger.attempt_states()? {
        attempts.insert(store.partial_path(&attempt), (attempt, node, state));
    }
    // Private files of processes that download the same video have no name of their own and, for a moment, no lock.
    let is_run_alive = ledger.is_any_run_alive()?;
    let mut files = Vec::with_capacity(paths.len());
    for path in paths {
        // It may be gone since.
        let Ok(metadata) = std::fs::metadata(&path) else { continue };
        let attempt_entry = attempts.remove(&path);
        let need = match &attempt_entry {
            Some((attempt, _, state)) => of_attempt(ledger, &store, attempt, *state)?,
            None if partial_download::is_private(&path) && is_run_alive => FileUse::Process,
            None if partial_download::is_complete(&path) => FileUse::PaidFor,
            None => FileUse::Unknown,
        };
        let need =
            if need != FileUse::Task && partial_download::is_locked(&path) { FileUse::Process } else { need };
        let attempt = attempt_entry.map(|(attempt, node, _)| (attempt, node));
        files.push(UnneededFile { path, bytes: metadata.len(), attempt, need });
    }
    Ok(files)
}

fn of_attempt(
    ledger: &Ledger,
    store: &ArtifactStore,
    attempt: &AttemptId,
    state: AttemptState,
) -> Result<FileUse, LedgerError> {
    Ok(match state {
        AttemptState::Intended
        | AttemptState::Indeterminate
        | AttemptState::Submitted
        | AttemptState::Missing
        | AttemptState::Abandoned => FileUse::Task,
        AttemptState::Completed => {
            let artifact = ledger.attempt(attempt)?.and_then(|row| row.artifact);
            let is_there = match artifact {
                Some(artifact) => store.find_delivery(&artifact, None, &Verify::Metadata)?.is_some(),
                None => false,
            };
            if is_there { FileUse::Downloaded } else { FileUse::Task }
        }
        // The service had a video: the download had begun.
        AttemptState::Failed | AttemptState::Expired => FileUse::PaidFor,
        AttemptState::Refused | AttemptState::NotAccepted => FileUse::Unknown,
    })
}

/// Removes a file, unless it is a partial download that another process has open. Returns whether it is gone.
///
/// # Errors
/// When the file cannot be removed.
pub fn remove(file: &UnneededFile) -> std::io::Result<bool> {
    match file.need {
        FileUse::Temporary => temporary::remove(&file.path).map(|()| true),
        FileUse::EarlierCut | FileUse::SupersededClip | FileUse::SupersededOriginal => {
            fs_err::remove_file(&file.path).map(|()| true)
        }
        FileUse::Task | FileUse::Process | FileUse::PaidFor | FileUse::Downloaded | FileUse::Unknown => {
            partial_download::remove(&file.path)
        }
    }
}

/// Removes the partial downloads whose videos are downloaded. What cannot be removed stays for `runner clean`.
pub(crate) fn remove_downloaded(ledger: &Ledger) {
    let files = partial_files(ledger).unwrap_or_default();
    for file in files.iter().filter(|file| file.need == FileUse::Downloaded) {
        let _ = remove(file);
    }
}
