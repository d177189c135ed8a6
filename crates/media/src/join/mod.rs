//! Editing of clips into a film: trims, cuts and transitions.
//!
//! Coded pictures are copied where all clips have the same parameter sets, and only those around cuts are encoded again
//! ([`smart_cut`]); otherwise all of them are encoded to one size and frame rate. Sound is always decoded, aligned to the pictures and
//! encoded once, which avoids drift and clicks at cuts; music and voices are mixed in, and true peaks are limited.

mod audio;
mod color_match;
mod cover;
mod ducking;
mod frames;
mod grid;
mod layout;
mod limiter;
mod loudness;
mod mastering;
mod mix;
mod progress;
mod reencode;
mod render;
mod smart_cut;
mod sound_spool;
mod soundtrack;
mod spool;
mod still;
mod stretch;

use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use self::color_match::Correction;
use crate::frames::decoder_config;
use crate::mp4::Movie;
use crate::probe::describe;
use crate::{Ffmpeg, FilmTags, Fit, FrameRate, MediaError, Overlays, Probe, audio as pcm};

pub use self::grid::{GridTile, MAX_GRID_CLIPS, write_grid};
pub use self::loudness::Loudness;
pub use self::progress::{JoinProgress, OnJoinProgress};
pub use self::soundtrack::{MAX_SOUND_BYTES, MAX_SOUND_DURATION, Music, Soundtrack, Voice};
pub use self::still::{DrawStill, Still};

/// One clip of a film.
#[derive(Clone, Debug)]
pub struct JoinClip {
    /// Its pictures and its sound.
    pub source: JoinSource,
    /// The first picture that is shown, counted from 0 in the order of presentation.
    pub first: u64,
    /// For how many frames of the film it is shown; `None` for the rest of a video.
    pub frames: Option<u64>,
    /// How fast it is played; above 0. Its sound keeps its pitch.
    pub speed: f64,
    /// How the next clip replaces it; `None` for a cut.
    pub transition: Option<JoinTransition>,
    /// Factor of the amplitude of its sound; 0 leaves it out.
    pub gain: f32,
    /// Whether its sound goes on where the clip before it ended, which decides how the two are crossfaded.
    pub continues: bool,
    /// Whether its colors are changed to those of the clip before it, on whose last picture it begins.
    pub matches_previous: bool,
}

/// What a clip shows.
#[derive(Clone, Debug)]
pub enum JoinSource {
    /// A video file.
    Video(PathBuf),
    /// A picture that stands still.
    Still(Still),
}

impl JoinClip {
    /// All of a video.
    #[must_use]
    pub fn whole(path: PathBuf) -> Self {
        Self {
            source: JoinSource::Video(path),
            first: 0,
            frames: None,
            speed: 1.0,
            transition: None,
            gain: 1.0,
            continues: false,
            matches_previous: false,
        }
    }
}

/// A transition between two clips, or at the end of the last one. The pictures of the first clip go on after the cut, and those of the
/// second begin before it: the clips must have them, or their last or first picture stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinTransition {
    /// How it looks.
    pub kind: TransitionKind,
    /// Frames before the cut.
    pub before: u64,
    /// Frames after the cut.
    pub after: u64,
}

/// How a transition looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransitionKind {
    /// One picture fades into the other.
    Dissolve,
    /// To black and from black.
    FadeBlack,
    /// To white and from white.
    FadeWhite,
    /// The next picture is uncovered from the right to the left.
    WipeLeft,
    /// The next picture is uncovered from the left to the right.
    WipeRight,
}

impl TransitionKind {
    /// Whether it goes through a color. Only such a transition can end a film.
    fn has_color(self) -> bool {
        matches!(self, Self::FadeBlack | Self::FadeWhite)
    }
}

/// Options of [`join`].
#[derive(Clone, Debug, Default)]
pub struct JoinOptions {
    /// Columns and rows, both even; `None` for the size that most videos have.
    pub size: Option<(u32, u32)>,
    /// How pictures of another shape fill the frame.
    pub fit: Fit,
    /// Pictures per second; `None` for the rate that most videos have.
    pub frame_rate: Option<FrameRate>,
    /// Film frames from one key frame to the next; then all pictures are encoded. `None` for two seconds where pictures are encoded.
    pub key_interval: Option<u32>,
    /// What lies over the film's pictures, which are encoded there.
    pub overlays: Option<Overlays>,
    /// The sound that lies over the clips.
    pub soundtrack: Soundtrack,
    /// Metadata of the film. A chapter begins where its clip does.
    pub tags: FilmTags,
    /// The frame that becomes its poster, in its metadata and in the report; behind the end, the last one.
    pub poster: Option<u64>,
    /// Is called after each picture.
    pub progress: Option<OnJoinProgress>,
    /// For clips that are not handled natively.
    pub ffmpeg: Ffmpeg,
}

impl JoinOptions {
    fn report(&self, done: u64, all: u64) {
        if let Some(progress) = &self.progress {
            progress.call(JoinProgress { done, all });
        }
    }
}

/// Properties of the joined film.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct JoinReport {
    /// How long it plays.
    pub duration: Duration,
    /// Pictures that are the clips' own, bit for bit.
    pub copied_pictures: u64,
    /// Pictures that were encoded.
    pub encoded_pictures: u64,
    /// Columns and rows.
    pub size: (u32, u32),
    /// Pictures per second.
    pub frame_rate: FrameRate,
    /// It has a sound track.
    pub has_audio: bool,
    /// The loudness of its sound; `None` without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loudness: Option<Loudness>,
    /// The clips, by index, that were to match the colors of those before them and differ by more than a drift.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unmatched: Vec<usize>,
    /// Its poster as JPEG, if one was asked for.
    #[serde(skip)]
    pub poster: Option<Vec<u8>>,
}

/// One clip of the film, probed.
#[derive(Clone, Debug)]
struct Clip {
    /// The file; for a drawn picture, its name.
    path: PathBuf,
    probe: Probe,
    decoding: Decoding,
    first: u64,
    frames: Option<u64>,
    /// 1 for pictures that stand still.
    speed: f64,
    transition: Option<JoinTransition>,
    gain: f32,
    continues: bool,
    matches_previous: bool,
    /// What is done to its colors.
    correction: Option<Correction>,
}

/// What makes the pictures of a clip.
#[derive(Clone, Debug)]
enum Decoding {
    Native,
    Ffmpeg,
    Still(Still),
}

impl Clip {
    fn open(clip: &JoinClip, ffmpeg: &Ffmpeg) -> Result<Self, MediaError> {
        if !(clip.speed.is_finite() && clip.speed > 0.0) {
            return Err(MediaError::Request(format!("a clip cannot be played at a speed of {}", clip.speed)));
        }
        let path = match &clip.source {
            JoinSource::Video(path) => path,
            JoinSource::Still(still) => return Self::still(clip, still),
        };
        let native = Movie::open(path).and_then(|movie| {
            let probe = describe(&movie)?;
            let track =
                movie.video.as_ref().ok_or_else(|| MediaError::NotMedia("it has no pictures".to_owned()))?;
            let capable = decoder_config(track).map(|_| ()).and_then(|()| pcm::decoder(&movie).map(|_| ()));
            Ok((probe, capable))
        });
        let clip = |probe, decoding| Self {
            path: path.clone(),
            probe,
            decoding,
            first: clip.first,
            frames: clip.frames,
            speed: clip.speed,
            transition: clip.transition,
            gain: clip.gain,
            continues: clip.continues,
            matches_previous: clip.matches_previous,
            correction: None,
        };
        match native {
            Ok((probe, Ok(()))) => Ok(clip(probe, Decoding::Native)),
            Ok((probe, Err(error))) if ffmpeg.can_take(path, &error) => Ok(clip(probe, Decoding::Ffmpeg)),
            Err(error) if ffmpeg.can_take(path, &error) => {
                let probe = ffmpeg.probe(path)?;
                if probe.video.is_none() {
                    return Err(error.at(path));
                }
                Ok(clip(probe, Decoding::Ffmpeg))
            }
            Ok((_, Err(error))) | Err(error) => Err(error.at(path)),
        }
    }

    fn still(clip: &JoinClip, still: &Still) -> Result<Self, MediaError> {
        let Some(frames) = clip.frames else {
            return Err(MediaError::Request(
                "a picture that stands still needs a number of frames".to_owned(),
            ));
        };
        Ok(Self {
            path: still.path().to_owned(),
            probe: Probe { duration: Duration::ZERO, video: None, audio: None, is_faststart: false },
            decoding: Decoding::Still(still.clone()),
            first: clip.first,
            frames: Some(frames),
            speed: 1.0,
            transition: clip.transition,
            gain: clip.gain,
            continues: clip.continues,
            matches_previous: false,
            correction: None,
        })
    }

    fn is_native(&self) -> bool {
        matches!(self.decoding, Decoding::Native)
    }

    fn is_video(&self) -> bool {
        !matches!(self.decoding, Decoding::Still(_))
    }

    /// Whether its own coded pictures can be those of the film.
    fn is_copyable(&self) -> bool {
        self.is_video() && !self.is_retimed() && self.correction.is_none()
    }

    /// Whether it is played at another speed than its own.
    fn is_retimed(&self) -> bool {
        (self.speed - 1.0).abs() > 1e-9
    }

    /// Of a video.
    fn size(&self) -> (u32, u32) {
        self.probe.video.as_ref().map_or((2, 2), |video| (video.width, video.height))
    }

    fn frame_rate(&self) -> FrameRate {
        self.probe.video.as_ref().map_or(FrameRate::CINEMA, |video| video.frame_rate)
    }

    /// How long the clip's pictures last: that is the clip's length in the film.
    fn length(&self) -> Duration {
        self.probe.video.as_ref().map_or(Duration::ZERO, |video| video.duration)
    }
}

/// Edits clips, in this order, into one MP4 file. The file appears under its name only when it is whole and on the disk.
///
/// A film of silent clips has no sound track; beside clips with sound, silent ones are silent.
///
/// # Errors
/// [`MediaError::Request`] for no clips and for transitions that do not fit their clips; for a clip that cannot be read, what [`crate::probe`] and [`crate::first_frame`] say, naming the
/// clip; [`MediaError::Io`] when the film cannot be written. Then there is no new file, and an old one of the name is untouched.
pub fn join(clips: &[JoinClip], output: &Path, options: &JoinOptions) -> Result<JoinReport, MediaError> {
    if clips.is_empty() {
        return Err(MediaError::Request("a film needs at least one clip".to_owned()));
    }
    let mut clips: Vec<Clip> =
        clips.iter().map(|clip| Clip::open(clip, &options.ffmpeg)).collect::<Result<_, _>>()?;
    let unmatched = color_match::correct(&mut clips, &options.ffmpeg)?;
    loop {
        let outcome = replace(output, &mut |out| film(&clips, out, options));
        // Some codecs reveal their format only when they are decoded. Then ffmpeg is tried, once per clip.
        let retry = match &outcome {
            Err(MediaError::At { path, source }) => clips
                .iter_mut()
                .find(|clip| clip.is_native() && clip.path == *path)
                .filter(|_| options.ffmpeg.can_take(path, source)),
            _ => None,
        };
        match retry {
            Some(clip) => clip.decoding = Decoding::Ffmpeg,
            None => return outcome.map(|report| JoinReport { unmatched, ..report }),
        }
    }
}

fn film(clips: &[Clip], out: &mut dyn Write, options: &JoinOptions) -> Result<JoinReport, MediaError> {
    if options.key_interval.is_none()
        && let Some(plan) = smart_cut::plan(clips, options)?
    {
        return plan.write(clips, out, options);
    }
    reencode::write(clips, out, options)
}

/// Writes a temporary file, then renames it.
fn replace(
    output: &Path,
    write: &mut dyn FnMut(&mut dyn Write) -> Result<JoinReport, MediaError>,
) -> Result<JoinReport, MediaError> {
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let failed = |action: &'static str| move |source| MediaError::Io { action, source }.at(output);
    let mut builder = tempfile::Builder::new();
    builder.prefix(".film-").suffix(".part");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let part = builder.tempfile_in(folder).map_err(failed("cannot write into the film's folder"))?;
    let mut buffered = BufWriter::with_capacity(1 << 20, part);
    let joined = write(&mut buffered)?;
    let part = buffered.into_inner().map_err(|error| failed("cannot write the film")(error.into_error()))?;
    part.as_file().sync_all().map_err(failed("cannot write the film"))?;
    part.persist(output).map_err(|error| failed("cannot put the film in its place")(error.error))?;
    // The new name is durable only with its folder; where folders cannot be synced there is nothing to be done.
    if let Ok(folder) = fs::File::open(folder) {
        let _unsupported = folder.sync_all();
    }
    Ok(joined)
}

/// The value that most have; the first of several.
fn most_common<T: PartialEq + Copy>(values: &(impl Iterator<Item = T> + Clone)) -> Option<T> {
    let count = |value: T| values.clone().filter(|other| *other == value).count();
    values
        .clone()
        .fold(None, |best: Option<(usize, T)>, value| {
            let occurrences = count(value);
            if best.is_none_or(|(best_count, _)| occurrences > best_count) {
                Some((occurrences, value))
            } else {
                best
            }
        })
        .map(|(_, value)| value)
}

#[cfg(test)]
mod tests;
