//! Editing of clips into a film: trims, cuts and transitions.
//!
//! Coded frames are copied where all clips have the same parameter sets, and only those around cuts are encoded again
//! ([`smart_cut`]); otherwise all of them are encoded to one size and frame rate. Sound is always decoded, aligned to the frames and
//! encoded once, which avoids drift and clicks at cuts; music and voices are mixed in, and true peaks are limited.

mod audio;
mod clip;
mod color_correction;
mod color_match;
mod cover;
mod ducking;
mod frames;
mod layout;
mod limiter;
mod loudness;
mod mastering;
mod mix;
mod most_common;
mod progress;
mod reencode;
mod render;
mod smart_cut;
mod sound_spool;
mod soundtrack;
mod spec;
mod spool;
mod still;
mod stretch;

use std::io::{BufWriter, Write};
use std::path::Path;

use self::clip::{Clip, Decoding};
use crate::MediaError;
use crate::atomic_file::AtomicFile;

pub use self::loudness::Loudness;
pub use self::progress::{JoinProgress, OnJoinProgress};
pub use self::soundtrack::{MAX_SOUND_DURATION, Music, Soundtrack, Voice};
pub use self::spec::{JoinClip, JoinOptions, JoinReport, JoinSource, JoinTransition, TransitionKind};
pub use self::still::{DrawStill, Still};

/// Films with more clips open each file when it is needed: a process has a limited number of open files, often 256.
const MAX_OPEN_CLIPS: usize = 100;

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
    let keeps_open = clips.len() <= MAX_OPEN_CLIPS;
    let mut clips: Vec<Clip> =
        clips.iter().map(|clip| Clip::open(clip, keeps_open, &options.ffmpeg)).collect::<Result<_, _>>()?;
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
    let failed = |action: &'static str| move |source| MediaError::Io { action, source }.at(output);
    let part = AtomicFile::beside(output).map_err(failed("cannot write into the film's folder"))?;
    let mut buffered = BufWriter::with_capacity(1 << 20, part);
    let joined = write(&mut buffered)?;
    let part = buffered.into_inner().map_err(|error| failed("cannot write the film")(error.into_error()))?;
    part.replace(output).map_err(failed("cannot put the film in its place"))?;
    Ok(joined)
}

#[cfg(test)]
mod tests;
