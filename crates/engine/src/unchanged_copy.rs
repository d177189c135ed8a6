//! A recorded video as a file that has not changed since.

use std::path::{Path, PathBuf};

use scheduler::{Failure, FailureKind};

use crate::artifact::file_sha256;
use crate::artifact_store::ArtifactStore;

/// A copy of a shot's video that has its content still: the file itself, or the one in the store. The frame of another video would be paid for
/// under the key of this one, and a film of it would be another one.
pub(crate) fn unchanged_copy(
    video: &Path,
    sha256: &str,
    store: Option<&ArtifactStore>,
) -> Result<PathBuf, Failure> {
    let stored = store.map(|store| store.path(sha256));
    for path in std::iter::once(video).chain(stored.as_deref()) {
        if path.is_file()
            && file_sha256(path).map_err(|error| Failure::new(FailureKind::Local, error.to_string()))?
                == sha256
        {
            return Ok(path.to_owned());
        }
    }
    Err(Failure::new(
        FailureKind::Local,
        format!(
            "{} was removed or changed since it was downloaded, and it is needed; the next run downloads it again",
            video.display()
        ),
    ))
}
