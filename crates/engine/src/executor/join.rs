//! Joins finished clips into one film, unless the file exists already and was joined from the same clips.

use std::path::PathBuf;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::blocking::run_blocking;
use crate::ledger::Ledger;
use scheduler::{Artifact, Failure, FailureKind, Film};

pub(super) async fn join(
    clips: Vec<Artifact>,
    target: PathBuf,
    ledger: Arc<Ledger>,
    ffmpeg: Arc<media::Ffmpeg>,
) -> Result<Film, Failure> {
    let joined = run_blocking(move || {
        let made_of = made_of(&clips);
        match ledger.film(&target) {
            Ok(Some(film)) if film.made_of == made_of => return Ok(film),
            Ok(_) => {}
            Err(error) => return Err(local(error.to_string())),
        }
        let paths: Vec<PathBuf> = clips.iter().map(|clip| clip.path.clone()).collect();
        let options = media::JoinOptions { ffmpeg: (*ffmpeg).clone(), ..media::JoinOptions::default() };
        let joined = media::join(&paths, &target, &options)
            .map_err(|error| local(format!("the clips cannot be joined: {error}")))?;
        Ok(Film {
            path: target,
            seconds: joined.duration.as_secs_f64(),
            width: joined.size.0,
            height: joined.size.1,
            audio: joined.audio,
            made_of,
            reused: false,
        })
    });
    joined.await.unwrap_or_else(|error| Err(local(error.to_string())))
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
