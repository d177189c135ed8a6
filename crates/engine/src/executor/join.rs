//! Joins finished clips into one film, unless the file exists already and was joined from the same clips.

use std::path::PathBuf;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::blocking::run_blocking;
use crate::ledger::{Ledger, LedgerError};
use scheduler::{Artifact, Failure, FailureKind, Film};

/// # Errors
/// When the ledger cannot be read. A failure to join is data.
pub(super) async fn join(
    clips: Vec<Artifact>,
    target: PathBuf,
    ledger: Arc<Ledger>,
    ffmpeg: Arc<media::Ffmpeg>,
) -> Result<Result<Film, Failure>, LedgerError> {
    let joined = run_blocking(move || {
        let made_of = made_of(&clips);
        if let Some(film) = ledger.film(&target)?.filter(|film| film.made_of == made_of) {
            return Ok(Ok(film));
        }
        let paths: Vec<PathBuf> = clips.iter().map(|clip| clip.path.clone()).collect();
        let options = media::JoinOptions { ffmpeg: (*ffmpeg).clone(), ..media::JoinOptions::default() };
        Ok(match media::join(&paths, &target, &options) {
            Ok(joined) => Ok(Film {
                path: target,
                duration: joined.duration,
                width: joined.size.0,
                height: joined.size.1,
                audio: joined.audio,
                made_of,
                reused: false,
            }),
            Err(error) => Err(local(format!("the clips cannot be joined: {error}"))),
        })
    });
    joined.await.unwrap_or_else(|error| Ok(Err(local(error.to_string()))))
}

/// SHA-256 over the clips' hashes in order.
fn made_of(clips: &[Artifact]) -> String {
    let mut hasher = Sha256::new();
    for clip in clips {
        hasher.update(clip.sha256.as_bytes());
        hasher.update(b"\n");
    }
    hex::encode(hasher.finalize())
}

fn local(message: String) -> Failure {
    Failure::new(FailureKind::Local, message)
}
