//! Verification of a video: everything in it is decoded once, and nothing is written.

use std::path::Path;

use crate::audio_buffer;
use crate::frames::FrameReader;
use crate::mp4::Movie;
use crate::probe::describe;
use crate::{Ffmpeg, MediaError, Probe};

impl Ffmpeg {
    /// Decodes all frames and the sound of a video, natively or with ffmpeg, and probes it. Where a codec is not decoded natively and there
    /// is no ffmpeg for it, and where the video is too large to be decoded at once, its index has to suffice.
    ///
    /// # Errors
    /// [`MediaError::Damaged`] for data that cannot be decoded; otherwise as [`Ffmpeg::probe`].
    pub fn verify(&self, path: &Path) -> Result<Probe, MediaError> {
        match decode_natively(path).map_err(|error| error.at(path)) {
            Ok(probe) => Ok(probe),
            Err(error) => match error.root() {
                MediaError::TooLarge { .. } => self.probe(path),
                MediaError::NeedsFfmpeg { .. } | MediaError::NotMedia(_) => {
                    let probe = self.probe(path)?;
                    self.decode_foreign(path).map(|()| probe)
                }
                // Asks ffmpeg for a second opinion.
                MediaError::Damaged(_) if self.can_take(path, &error) => {
                    crate::probe(path).or_else(|_| self.probe(path))
                }
                _ => Err(error),
            },
        }
    }

    /// Decodes a video with ffmpeg. That ffmpeg is missing or lacks the decoder says nothing about the video.
    fn decode_foreign(&self, path: &Path) -> Result<(), MediaError> {
        if self.ffmpeg.is_none() {
            return Ok(());
        }
        match self.decode_whole(path) {
            Err(MediaError::Tool { reason, .. }) if !is_inability(&reason) => {
                Err(MediaError::Damaged(format!("ffmpeg cannot decode all of it ({reason})")).at(path))
            }
            _ => Ok(()),
        }
    }
}

/// Whether ffmpeg was not able to try, rather than failed on the data.
fn is_inability(reason: &str) -> bool {
    ["not found", "no decoder", "not implemented", "Unrecognized option", "took longer", "cannot be started"]
        .iter()
        .any(|words| reason.contains(words))
}

fn decode_natively(path: &Path) -> Result<Probe, MediaError> {
    let movie = Movie::open(path)?;
    let probe = describe(&movie)?;
    // In another codec than AAC, sound is ffmpeg's; frames are decoded first, since their damage is final.
    let sound = decode_sound(&movie);
    if probe.video.is_some() {
        FrameReader::new(movie)?.frames_from(0)?.check()?;
    }
    sound.map(|_| probe)
}

/// Decodes the sound of a movie packet by packet, in memory that does not depend on the length. Returns the number of samples of all channels.
pub(crate) fn decode_sound(movie: &Movie) -> Result<u64, MediaError> {
    let Some(mut decoder) = audio_buffer::decoder(movie)? else { return Ok(0) };
    let Some(track) = &movie.audio else { return Ok(0) };
    let (mut packet, mut samples) = (Vec::new(), 0);
    for sample in track.samples.iter().filter(|sample| sample.size > 0) {
        movie.load_sample(sample, &mut packet)?;
        samples += decoder.decode(&packet)?.samples.len() as u64;
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::is_inability;

    #[test]
    fn missing_decoder_is_no_damage() {
        assert!(is_inability("failed: Decoder (codec av1) not found for input stream #0:0"));
        assert!(is_inability("failed: Decoding requested, but no decoder found for: av1"));
        assert!(is_inability("took longer than 300 seconds and was ended"));
        assert!(!is_inability("failed: Invalid data found when processing input"));
        assert!(!is_inability("failed: File ended prematurely"));
    }
}
