//! Joins finished clips into one film, unless the file exists already and is the same edit of the same clips.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use media::{DigitalSource, FilmTags};
use workflow::plan::{self, Plan};

use crate::blocking::run_blocking;
use crate::cuts;
use crate::film::{FilmClip, film_digest, film_timeline, join_clips};
use crate::film_tags::film_tags;
use crate::ledger::{Ledger, LedgerError};
use scheduler::{Failure, FailureKind, Film, FilmPictures};

/// The film to be joined.
pub(super) struct JoinRequest {
    pub(super) plan: Arc<Plan>,
    /// Its index in the plan.
    pub(super) index: usize,
    /// The videos of its clips, in order.
    pub(super) clips: Vec<FilmClip>,
    /// Where it goes.
    pub(super) path: PathBuf,
    /// Where the pictures of its clips come from.
    pub(super) source: DigitalSource,
}

/// The previous cut under the film's name is kept ([`cuts`]).
///
/// # Errors
/// When the ledger cannot be read. A failure to join is data.
pub(super) async fn join(
    request: JoinRequest,
    ledger: Arc<Ledger>,
    ffmpeg: Arc<media::Ffmpeg>,
) -> Result<Result<Film, Failure>, LedgerError> {
    let joined = run_blocking(move || {
        let JoinRequest { plan, index, clips, path, source } = request;
        let Some(film) = plan.films().get(index) else { return Ok(Err(local("the plan has no such film"))) };
        let tags = film_tags(&plan, film, &clips, source);
        let made_of = film_digest(&plan, film, &clips, &tags);
        if let Some(film) = ledger.film(&path)?.filter(|film| film.made_of == made_of) {
            return Ok(Ok(film));
        }
        Ok(write(&plan, film, &clips, path, (made_of, tags), &ffmpeg))
    });
    joined.await.unwrap_or_else(|error| Ok(Err(local(error.to_string()))))
}

fn write(
    plan: &Plan,
    film: &plan::Film,
    clips: &[FilmClip],
    path: PathBuf,
    (made_of, tags): (String, FilmTags),
    ffmpeg: &media::Ffmpeg,
) -> Result<Film, Failure> {
    let failed = |error: &dyn std::fmt::Display| local(format!("the clips cannot be joined: {error}"));
    let timeline = film_timeline(plan, film, clips, ffmpeg).map_err(|error| failed(&error))?;
    let rate = timeline.frame_rate;
    let options = media::JoinOptions {
        size: film.size,
        frame_rate: media::FrameRate::new(rate.numerator(), rate.denominator()),
        key_interval: None,
        tags,
        ffmpeg: ffmpeg.clone(),
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    let scratch = tempfile::Builder::new()
        .prefix(".film-")
        .suffix(".part")
        .tempdir_in(folder)
        .map_err(|error| cannot_write(&error))?;
    let new = scratch.path().join("film.mp4");
    let joined = media::join(&join_clips(&timeline), &new, &options).map_err(|error| failed(&error))?;
    // The other films of the plan are no earlier cuts.
    let is_film = |name: &str| plan.films().iter().any(|film| film.output == name);
    cuts::replace(&new, &path, &is_film).map_err(|error| cannot_write(&error))?;
    Ok(Film {
        path,
        duration: joined.duration,
        width: joined.size.0,
        height: joined.size.1,
        audio: joined.audio,
        made_of,
        reused: false,
        pictures: Some(FilmPictures { copied: joined.copied_pictures, encoded: joined.encoded_pictures }),
    })
}

fn cannot_write(error: &io::Error) -> Failure {
    local(format!("the film cannot be written: {error}"))
}

fn local(message: impl Into<String>) -> Failure {
    Failure::new(FailureKind::Local, message)
}
