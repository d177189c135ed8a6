//! Joins finished clips into one film, unless the file exists already and was joined from the same clips.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::blocking::run_blocking;
use crate::cuts;
use crate::ledger::{Ledger, LedgerError};
use scheduler::{Artifact, Failure, FailureKind, Film};

/// Where a film goes.
pub(super) struct Target {
    pub(super) path: PathBuf,
    /// The file names of all films of the plan, which are no earlier cuts.
    pub(super) films: Vec<String>,
}

/// The previous cut under the film's name is kept ([`cuts`]).
///
/// # Errors
/// When the ledger cannot be read. A failure to join is data.
pub(super) async fn join(
    clips: Vec<Artifact>,
    target: Target,
    ledger: Arc<Ledger>,
    ffmpeg: Arc<media::Ffmpeg>,
) -> Result<Result<Film, Failure>, LedgerError> {
    let joined = run_blocking(move || {
        let made_of = made_of(&clips);
        if let Some(film) = ledger.film(&target.path)?.filter(|film| film.made_of == made_of) {
            return Ok(Ok(film));
        }
        let paths: Vec<_> = clips.iter().map(|clip| media::JoinClip::whole(clip.path.clone())).collect();
        let options = media::JoinOptions { ffmpeg: (*ffmpeg).clone(), ..media::JoinOptions::default() };
        let folder = target.path.parent().unwrap_or(Path::new("."));
        let scratch = match tempfile::Builder::new().prefix(".film-").suffix(".part").tempdir_in(folder) {
            Ok(scratch) => scratch,
            Err(error) => return Ok(Err(cannot_write(&error))),
        };
        let new = scratch.path().join("film.mp4");
        let joined = match media::join(&paths, &new, &options) {
            Ok(joined) => joined,
            Err(error) => return Ok(Err(local(format!("the clips cannot be joined: {error}")))),
        };
        let is_film = |name: &str| target.films.iter().any(|film| film == name);
        if let Err(error) = cuts::replace(&new, &target.path, &is_film) {
            return Ok(Err(cannot_write(&error)));
        }
        Ok(Ok(Film {
            path: target.path,
            duration: joined.duration,
            width: joined.size.0,
            height: joined.size.1,
            audio: joined.audio,
            made_of,
            reused: false,
        }))
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

fn cannot_write(error: &io::Error) -> Failure {
    local(format!("the film cannot be written: {error}"))
}

fn local(message: String) -> Failure {
    Failure::new(FailureKind::Local, message)
}
