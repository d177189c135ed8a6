//! Joins finished clips into one film, unless the file exists already and is the same edit of the same clips.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use media::{DigitalSource, FilmTags, JoinProgress, OnJoinProgress, Overlays, Still};
use timeline::subtitles::Cue;
use timeline::{Timeline, continuations};
use tokio::sync::mpsc::UnboundedSender;
use workflow::plan::{self, Plan, Title, TitleStyle};
use workflow::units::Loudness;

use crate::blocking::run_blocking;
use crate::cuts;
use crate::failpoint;
use crate::film::film_tags;
use crate::film::titles::{self, SharedFonts};
use crate::film::{self, FilmClip, film_digest, film_timeline, join_clips};
use crate::film::{sound, subtitles};
use crate::ledger::{Ledger, LedgerError};
use crate::reporter::FilmProgress;
use scheduler::{Failure, FailureKind, Film, FilmFrames, FilmLoudness};

/// The least time between two reports of a film's progress.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(250);

/// The film to be joined.
pub(crate) struct JoinRequest {
    pub(crate) plan: Arc<Plan>,
    /// Its index in the plan.
    pub(crate) index: usize,
    /// The videos of its clips, in order.
    pub(crate) clips: Vec<FilmClip>,
    /// Where the files of the workflow are.
    pub(crate) workflow_dir: PathBuf,
    /// Where it goes.
    pub(crate) path: PathBuf,
    /// Where the frames of its clips come from.
    pub(crate) source: DigitalSource,
    /// Where its progress is reported.
    pub(crate) progress: UnboundedSender<FilmProgress>,
}

/// The previous cut under the film's name is kept ([`cuts`]).
///
/// # Errors
/// When the ledger cannot be read. A failure to join is data.
pub(crate) async fn join(
    request: JoinRequest,
    ledger: Arc<Ledger>,
    ffmpeg: Arc<media::Ffmpeg>,
) -> Result<Result<Film, Failure>, LedgerError> {
    let joined = run_blocking(move || {
        let JoinRequest { plan, index, clips, workflow_dir, path, source, progress } = request;
        let Some(film) = plan.films().get(index) else { return Ok(Err(local("the plan has no such film"))) };
        let tags = film_tags(&plan, film, &clips, source);
        let clips_digest = film_digest(&plan, film, &clips, &tags);
        let on_progress = on_progress(index, progress);
        let is_reused = ledger.film(&path)?.is_some_and(|film| film.clips_digest == clips_digest);
        let clips = if is_reused { Ok(clips) } else { film::unchanged_clips(clips, &ledger.store()) };
        let clips = match clips {
            Ok(clips) => clips,
            Err(failure) => return Ok(Err(failure)),
        };
        let join = Join {
            plan: &plan,
            film,
            clips: &clips,
            workflow_dir: &workflow_dir,
            ffmpeg: &ffmpeg,
            on_progress,
        };
        if let Some(film) = ledger.film(&path)?.filter(|film| film.clips_digest == clips_digest) {
            return Ok(join
                .restore_subtitles(&path)
                .and_then(|()| join.restore_poster(&path))
                .map(|()| film));
        }
        Ok(join.write(path, clips_digest, tags))
    });
    joined.await.unwrap_or_else(|error| Ok(Err(local(error.to_string()))))
}

/// Joins a film without a ledger, whether or not it exists.
///
/// # Errors
/// When the clips cannot be joined, or the film cannot be written.
pub fn join_film(
    plan: &Plan,
    index: usize,
    clips: &[FilmClip],
    folders: FilmFolders<'_>,
    source: DigitalSource,
    ffmpeg: &media::Ffmpeg,
) -> Result<Film, Failure> {
    let film = plan.films().get(index).ok_or_else(|| local("the plan has no such film"))?;
    let tags = film_tags(plan, film, clips, source);
    let clips_digest = film_digest(plan, film, clips, &tags);
    let on_progress = OnJoinProgress::new(|_| {});
    let join = Join { plan, film, clips, workflow_dir: folders.workflow, ffmpeg, on_progress };
    join.write(folders.output.join(&film.output), clips_digest, tags)
}

/// The folders of a film that is joined.
#[derive(Debug, Clone, Copy)]
pub struct FilmFolders<'a> {
    /// Where the files of the workflow are.
    pub workflow: &'a Path,
    /// Where the film goes.
    pub output: &'a Path,
}

/// A film and what it is made of.
struct Join<'a> {
    plan: &'a Plan,
    film: &'a plan::Film,
    clips: &'a [FilmClip],
    workflow_dir: &'a Path,
    ffmpeg: &'a media::Ffmpeg,
    on_progress: OnJoinProgress,
}

impl Join<'_> {
    fn timeline(&self) -> Result<Timeline, Failure> {
        film_timeline(self.plan, self.film, self.clips, self.ffmpeg)
            .map_err(|error| local(format!("the clips cannot be joined: {error}")))
    }

    /// What is said in the film, if it has subtitles.
    fn cues(&self, timeline: &Timeline) -> Vec<Cue> {
        match self.film.subtitles {
            Some(_) => subtitles::film_cues(self.plan, timeline, self.clips),
            None => Vec::new(),
        }
    }

    fn soundtrack(&self, timeline: &Timeline) -> media::Soundtrack {
        let spoken = subtitles::film_cues(self.plan, timeline, self.clips);
        sound::soundtrack(&self.film.soundtrack, timeline, &spoken, self.workflow_dir)
    }

    fn fonts(&self) -> Result<SharedFonts, Failure> {
        let read = |font: &plan::FilmFile| fs_err::read(self.workflow_dir.join(&font.path));
        let own = self.film.font.as_ref().map(read).transpose();
        let own = own.map_err(|error| local(format!("the font cannot be read: {error}")))?;
        titles::shared_fonts(own).map_err(|error| local(format!("the font cannot be used: {error}")))
    }

    fn card(&self, index: usize, fonts: &SharedFonts) -> Still {
        let title = self.film.clips.get(index).and_then(|clip| clip.title.clone());
        let title = title.unwrap_or(Title { text: String::new(), style: TitleStyle::Card });
        titles::card(&title, fonts)
    }

    /// Titles over clips, and subtitles that are drawn.
    fn overlays(&self, timeline: &Timeline, cues: &[Cue], fonts: &SharedFonts) -> Option<Overlays> {
        let titles = titles::overlays(self.film, timeline, fonts);
        let titles = (!titles.spans.is_empty()).then_some(titles);
        let is_burnt = self.film.subtitles.is_some_and(|subtitles| subtitles.burn) && !cues.is_empty();
        let subtitles = is_burnt.then(|| subtitles::overlays(timeline, cues.to_vec(), fonts));
        match (titles, subtitles) {
            (Some(titles), Some(subtitles)) => Some(titles.merged(subtitles)),
            (titles, subtitles) => titles.or(subtitles),
        }
    }

    /// Writes the subtitles of a film that exists, where they are not beside it.
    fn restore_subtitles(&self, path: &Path) -> Result<(), Failure> {
        if self.film.subtitles.is_none() || subtitles::are_written(path) {
            return Ok(());
        }
        let cues = self.cues(&self.timeline()?);
        if cues.is_empty() {
            return Ok(());
        }
        let scratch = scratch_folder(path)?;
        subtitles::write(path, &cues, scratch.path()).map_err(|error| cannot_write(&error))
    }

    /// Writes the poster of a film that exists, where it is not beside it.
    fn restore_poster(&self, path: &Path) -> Result<(), Failure> {
        if self.film.poster.is_none() || path.with_extension("jpg").exists() {
            return Ok(());
        }
        // Somebody may have removed it from the film too, with its other metadata.
        let Ok(Some(poster)) = media::film_poster(path) else { return Ok(()) };
        let scratch = scratch_folder(path)?;
        write_poster(&poster, path, scratch.path()).map_err(|error| cannot_write(&error))
    }

    fn write(&self, path: PathBuf, clips_digest: String, tags: FilmTags) -> Result<Film, Failure> {
        film::check_files(self.film, self.workflow_dir).map_err(local)?;
        let output_dir = path.parent().unwrap_or(Path::new("."));
        if let Some(input) = film::replaced_input(self.film, self.workflow_dir, output_dir) {
            return Err(local(replaces_input(self.film, &input)));
        }
        let timeline = self.timeline()?;
        let rate = timeline.frame_rate;
        let cues = self.cues(&timeline);
        let fonts = self.fonts()?;
        let options = media::JoinOptions {
            size: self.film.size,
            fit: match self.film.fit {
                plan::Fit::Letterbox => media::Fit::Letterbox,
                plan::Fit::Crop => media::Fit::Crop,
                plan::Fit::Blur => media::Fit::Blur,
            },
            frame_rate: media::FrameRate::new(rate.numerator(), rate.denominator()),
            key_interval: None,
            soundtrack: self.soundtrack(&timeline),
            overlays: self.overlays(&timeline, &cues, &fonts),
            tags,
            poster: self.film.poster.map(|poster| film::poster_frame(poster, &timeline)),
            progress: Some(self.on_progress.clone()),
            ffmpeg: self.ffmpeg.clone(),
        };
        let scratch = scratch_folder(&path)?;
        let new = scratch.path().join("film.mp4");
        let shown = film::clip_videos(self.clips);
        let matched = if self.film.color_match { continuations(self.plan, &shown) } else { Vec::new() };
        let clips = join_clips(&timeline, &matched, &|index| self.card(index, &fonts));
        let joined = media::join(&clips, &new, &options)
            .map_err(|error| local(format!("the clips cannot be joined: {error}")))?;
        // The other films of the plan are no earlier cuts.
        let is_film = |name: &str| self.plan.films().iter().any(|film| film.output == name);
        cuts::replace(&new, &path, &is_film).map_err(|error| cannot_write(&error))?;
        if !cues.is_empty() {
            subtitles::write(&path, &cues, scratch.path()).map_err(|error| cannot_write(&error))?;
        }
        if let Some(poster) = &joined.poster {
            write_poster(poster, &path, scratch.path()).map_err(|error| cannot_write(&error))?;
        }
        Ok(Film {
            path,
            duration: joined.duration,
            width: joined.size.0,
            height: joined.size.1,
            audio: joined.has_audio,
            clips_digest,
            reused: false,
            loudness: joined.loudness.map(|loudness| FilmLoudness {
                integrated: loudness.integrated,
                true_peak: loudness.true_peak,
                target: self.film.soundtrack.loudness.map(Loudness::as_f64),
            }),
            frames: Some(FilmFrames { copied: joined.copied_frames, encoded: joined.encoded_frames }),
            unmatched: joined
                .unmatched
                .iter()
                .filter_map(|index| timeline.items.get(*index))
                .map(|item| item.source.name.clone())
                .collect(),
        })
    }
}

/// Why a film is not written over a file that it is made of.
pub fn replaces_input(film: &plan::Film, input: &Path) -> String {
    format!(
        "the film `{}` is made of {}, which it would replace: give the film another `output`, or move the file",
        film.output,
        input.display()
    )
}

/// Writes the poster of a film beside it. The one of an earlier cut stays under its number, as the cut does.
fn write_poster(poster: &[u8], film: &Path, scratch: &Path) -> io::Result<()> {
    let new = scratch.join("poster.jpg");
    fs_err::write(&new, poster)?;
    cuts::replace(&new, &film.with_extension("jpg"), &|_| false)?;
    Ok(())
}

/// Reports a few times a second how far a film is.
fn on_progress(film: usize, sender: UnboundedSender<FilmProgress>) -> OnJoinProgress {
    let started = Instant::now();
    let last = Mutex::new(Duration::ZERO);
    OnJoinProgress::new(move |JoinProgress { done, all }| {
        let elapsed = failpoint::join_time(done).unwrap_or_else(|| started.elapsed());
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if elapsed.saturating_sub(*last) >= PROGRESS_INTERVAL {
            *last = elapsed;
            // Without a receiver the run has ended.
            let _ended = sender.send(FilmProgress { film, done, all, elapsed });
        }
    })
}

/// A folder beside the film in which it is written. It goes when it is dropped; `runner clean` removes that of a killed process.
fn scratch_folder(film: &Path) -> Result<tempfile::TempDir, Failure> {
    let folder = film.parent().unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".film-").suffix(".part").tempdir_in(folder).map_err(|error| cannot_write(&error))
}

fn cannot_write(error: &io::Error) -> Failure {
    local(format!("the film cannot be written: {error}"))
}

fn local(message: impl Into<String>) -> Failure {
    Failure::new(FailureKind::Local, message)
}
