//! Concatenation of clips into a film.
//!
//! Video is copied bit for bit when all clips have the same parameter sets; otherwise all of it is re-encoded to one size and frame rate.
//! Audio is always decoded, aligned to the video and encoded once, which avoids drift and clicks at cuts.

mod audio;
mod copy;
mod reencode;

use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::ffmpeg::is_unsupported;
use crate::frames::decoder_config;
use crate::mp4::{Movie, OutputTrack};
use crate::probe::describe;
use crate::{Ffmpeg, FrameRate, MediaError, Probe, audio as pcm};

/// Options of [`join`].
#[derive(Clone, Debug, Default)]
pub struct JoinOptions {
    /// Columns and rows, both even; `None` for the size that most clips have.
    pub size: Option<(u32, u32)>,
    /// Pictures per second; `None` for the rate that most clips have.
    pub frame_rate: Option<FrameRate>,
    /// For clips that are not handled natively.
    pub ffmpeg: Ffmpeg,
}

/// Properties of the joined film.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct JoinReport {
    /// How long it plays.
    pub duration: Duration,
    /// The pictures are the clips' own, bit for bit.
    pub copied_video: bool,
    /// Columns and rows.
    pub size: (u32, u32),
    /// Pictures per second.
    pub frame_rate: FrameRate,
    /// It has a sound track.
    pub audio: bool,
}

/// One clip of the film.
struct Clip {
    path: PathBuf,
    probe: Probe,
    /// Decoded by ffmpeg.
    foreign: bool,
}

impl Clip {
    fn open(path: &Path, ffmpeg: &Ffmpeg) -> Result<Self, MediaError> {
        let native = Movie::open(path).and_then(|movie| {
            let probe = describe(&movie)?;
            let track =
                movie.video.as_ref().ok_or_else(|| MediaError::NotMedia("it has no pictures".to_owned()))?;
            let capable = decoder_config(track).map(|_| ()).and_then(|()| pcm::decoder(&movie).map(|_| ()));
            Ok((probe, capable))
        });
        let clip = |probe, foreign| Self { path: path.to_owned(), probe, foreign };
        match native {
            Ok((probe, Ok(()))) => Ok(clip(probe, false)),
            Ok((probe, Err(error))) if is_unsupported(&error) && ffmpeg.ffmpeg.is_some() => {
                Ok(clip(probe, true))
            }
            Err(error) if is_unsupported(&error) && ffmpeg.ffmpeg.is_some() => {
                let probe = ffmpeg.probe(path)?;
                if probe.video.is_none() {
                    return Err(error.at(path));
                }
                Ok(clip(probe, true))
            }
            Ok((_, Err(error))) | Err(error) => Err(error.at(path)),
        }
    }

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

/// Joins clips, in this order, into one MP4 file. The file appears under its name only when it is whole and on the disk.
///
/// A film of silent clips has no sound track; beside clips with sound, silent ones are silent.
///
/// # Errors
/// [`MediaError::Request`] for no clips; for a clip that cannot be read, what [`crate::probe`] and [`crate::first_frame`] say, naming the
/// clip; [`MediaError::Io`] when the film cannot be written. Then there is no new file, and an old one of the name is untouched.
pub fn join(clips: &[PathBuf], output: &Path, options: &JoinOptions) -> Result<JoinReport, MediaError> {
    if clips.is_empty() {
        return Err(MediaError::Request("a film needs at least one clip".to_owned()));
    }
    let mut clips: Vec<Clip> =
        clips.iter().map(|path| Clip::open(path, &options.ffmpeg)).collect::<Result<_, _>>()?;
    loop {
        let outcome = replace(output, &mut |out| film(&clips, out, options));
        // Some codecs reveal their format only when they are decoded. Then ffmpeg is tried, once per clip.
        let retry = match &outcome {
            Err(MediaError::At { path, source })
                if source.needs_ffmpeg() && options.ffmpeg.ffmpeg.is_some() =>
            {
                clips.iter_mut().find(|clip| !clip.foreign && clip.path == *path)
            }
            _ => None,
        };
        match retry {
            Some(clip) => clip.foreign = true,
            None => return outcome,
        }
    }
}

fn film(clips: &[Clip], out: &mut dyn Write, options: &JoinOptions) -> Result<JoinReport, MediaError> {
    match copy::plan(clips, options)? {
        Some(plan) => plan.write(clips, out, &options.ffmpeg),
        None => reencode::write(clips, out, options),
    }
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
            let this = count(value);
            if best.is_none_or(|(most, _)| this > most) { Some((this, value)) } else { best }
        })
        .map(|(_, value)| value)
}

/// A sound track with its packets.
type EncodedAudio = (OutputTrack, Vec<Vec<u8>>);
