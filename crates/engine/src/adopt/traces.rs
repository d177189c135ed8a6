//! Videos that are there although the ledger does not know them: a run stops before it pays for them again.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use scheduler::{Decision, KeyResolver};
use workflow::plan::{NodeIx, Plan};

use crate::artifact_store::{ArtifactStore, Verify};
use crate::ledger::LedgerError;
use crate::preview::{Preview, survey};
use crate::records::WorkRecords;
use crate::sidecar;

/// Digits of a key in a file name.
pub(super) const KEY_DIGITS: usize = 12;

/// A video of a node that the ledger does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownVideo {
    /// The node.
    pub node: NodeIx,
    /// The node's name.
    pub name: String,
    /// The file, named by the node's key or with a sidecar that is.
    pub path: PathBuf,
}

/// Videos in `folder` and in the store for nodes of the plan that a run would submit, because the ledger does not know them.
///
/// # Errors
/// When the ledger or a folder cannot be read.
pub async fn unknown_videos<R: WorkRecords + ?Sized>(
    plan: &Plan,
    records: Option<&R>,
    keys: &KeyResolver,
    folder: &Path,
    store: &ArtifactStore,
) -> Result<Vec<UnknownVideo>, LedgerError> {
    let mut files = stored_videos(store)?;
    files.extend(videos_by_key(folder)?);
    if let Some(records) = records.filter(|_| !files.is_empty()) {
        // Most or all of them: what is left is looked up.
        let recorded = records.short_keys().await?;
        files.retain(|key, _| !recorded.contains(key));
    }
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let (previews, _) = survey(plan, records, keys, None, &Verify::Metadata).await?;
    Ok(in_previews(&previews, &files))
}

fn in_previews(previews: &[Preview], files: &HashMap<String, PathBuf>) -> Vec<UnknownVideo> {
    let submitted = previews.iter().enumerate().filter(|(_, preview)| preview.decision == Decision::Execute);
    submitted
        .filter_map(|(node, preview)| {
            let path = files.get(preview.key.as_ref()?)?.clone();
            Some(UnknownVideo { node: NodeIx::new(node), name: preview.name.clone(), path })
        })
        .collect()
}

/// Videos in the store that have a sidecar, by the beginning of their key.
fn stored_videos(store: &ArtifactStore) -> Result<HashMap<String, PathBuf>, LedgerError> {
    let mut files = HashMap::new();
    for path in sidecar::paths(store.folder())? {
        let name = path.file_name().and_then(|name| name.to_str());
        let Some((sha256, key)) = name.and_then(sidecar::parse_name) else { continue };
        let video = store.path(sha256);
        if video.is_file() {
            files.insert(key[..KEY_DIGITS].to_owned(), video);
        }
    }
    Ok(files)
}

/// Files named `….-KEY.mp4`, by the beginning of their key.
pub(super) fn videos_by_key(folder: &Path) -> Result<HashMap<String, PathBuf>, LedgerError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(HashMap::new()),
        Err(error) => return Err(error.into()),
    };
    let mut files = HashMap::new();
    for entry in entries {
        let path = entry?.path();
        if let Some(key) = key_of_name(&path).filter(|_| path.is_file()) {
            files.insert(key, path);
        }
    }
    Ok(files)
}

/// The beginning of the key in the name of a video.
fn key_of_name(path: &Path) -> Option<String> {
    let (_, key) = path.file_name()?.to_str()?.strip_suffix(".mp4")?.rsplit_once('-')?;
    (key.len() == KEY_DIGITS && sidecar::is_hex(key)).then(|| key.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_is_read_from_names_of_videos_only() {
        let key = |name: &str| key_of_name(Path::new(name));
        assert_eq!(key("out/a-f36b2a004515.mp4").as_deref(), Some("f36b2a004515"));
        assert_eq!(key("harbor-look=noir-f36b2a004515.mp4").as_deref(), Some("f36b2a004515"));
        for name in [
            "film.mp4",
            "a-f36b2a00451.mp4",
            "a-F36B2A004515.mp4",
            "a-f36b2a004515.replaced-1.mp4",
            "a-f36b2a004515.png",
        ] {
            assert_eq!(key(name), None, "{name}");
        }
    }
}
