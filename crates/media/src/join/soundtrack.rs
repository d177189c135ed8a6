//! The sound that lies over a film's clips: ducked music, voices, and the film's loudness.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::ducking::Ducking;
use crate::audio::MAX_SOUND_BYTES;
use crate::audio_buffer::AudioBuffer;
use crate::{AudioDecodeSpec, AudioSpec, Ffmpeg, MediaError, decode_audio};

/// The longest music or voice.
pub const MAX_SOUND_DURATION: Duration = Duration::from_mins(45);
/// The fade at an edge that has none of its own: long enough to avoid a click.
const EDGE_SECONDS: f64 = 0.010;

/// The sound that lies over the clips.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Soundtrack {
    /// Music under the whole film.
    pub music: Option<Music>,
    pub voices: Vec<Voice>,
    /// The loudness of the whole film, in LUFS (ITU-R BS.1770); `None` leaves it as it is.
    pub loudness: Option<f64>,
}

/// Music from the film's beginning on.
#[derive(Clone, Debug, PartialEq)]
pub struct Music {
    pub path: PathBuf,
    /// Factor of its amplitude.
    pub gain: f32,
    /// Where in the file it begins.
    pub start: Duration,
    /// Whether it begins again, from the file's beginning, until the film ends.
    pub is_repeated: bool,
    /// How long it fades in at the film's beginning.
    pub fade_in: Duration,
    /// How long it fades out, at the film's end or where it ends before.
    pub fade_out: Duration,
    /// Factor of its amplitude while somebody speaks; 1 for none.
    pub duck: f32,
    /// When somebody speaks, besides the voices, on the film's clock.
    pub speech: Vec<Range<Duration>>,
}

/// A voice over the film.
#[derive(Clone, Debug, PartialEq)]
pub struct Voice {
    pub path: PathBuf,
    /// When it begins, on the film's clock. What lies beyond the film's end is not heard.
    pub start: Duration,
    /// Factor of its amplitude.
    pub gain: f32,
}

impl Soundtrack {
    /// Whether there is sound besides that of the clips.
    pub(super) fn has_sound(&self) -> bool {
        self.music.is_some() || !self.voices.is_empty()
    }
}

/// Music and voices, decoded for a film of this length.
pub(super) struct Tracks {
    channels: usize,
    music: Option<MusicTrack>,
    voices: Vec<VoiceTrack>,
}

struct MusicTrack {
    sound: AudioBuffer,
    gain: f32,
    first: usize,
    is_repeated: bool,
    /// On the film's clock.
    end: usize,
    fade_in: usize,
    fade_out: usize,
    ducking: Ducking,
}

struct VoiceTrack {
    sound: AudioBuffer,
    gain: f32,
    start: usize,
    edge: usize,
}

impl Tracks {
    /// Decodes a soundtrack for a film of so many sample frames.
    pub(super) fn open(
        soundtrack: &Soundtrack,
        spec: AudioSpec,
        frames: usize,
        ffmpeg: &Ffmpeg,
    ) -> Result<Self, MediaError> {
        let frame_at = |time: Duration| (time.as_secs_f64() * f64::from(spec.sample_rate)).round() as usize;
        let edge = (f64::from(spec.sample_rate) * EDGE_SECONDS) as usize;
        let voices: Vec<VoiceTrack> = soundtrack
            .voices
            .iter()
            .map(|voice| {
                let sound = decode(&voice.path, spec, ffmpeg)?;
                Ok(VoiceTrack { sound, gain: voice.gain, start: frame_at(voice.start), edge })
            })
            .collect::<Result<_, MediaError>>()?;
        let music = match &soundtrack.music {
            Some(music) => {
                let sound = decode(&music.path, spec, ffmpeg)?;
                let first = frame_at(music.start);
                let length = sound.frames();
                if first >= length {
                    return Err(MediaError::Request(format!(
                        "the music begins at {:.2} s, and the file has {:.2} s",
                        music.start.as_secs_f64(),
                        length as f64 / f64::from(spec.sample_rate)
                    ))
                    .at(&music.path));
                }
                let end = if music.is_repeated { frames } else { frames.min(length - first) };
                let mut speech: Vec<Range<usize>> =
                    music.speech.iter().map(|range| frame_at(range.start)..frame_at(range.end)).collect();
                if music.duck < 1.0 {
                    for voice in &voices {
                        speech.extend(voice.spoken(spec));
                    }
                }
                Some(MusicTrack {
                    gain: music.gain,
                    first,
                    is_repeated: music.is_repeated,
                    end,
                    fade_in: frame_at(music.fade_in).max(if first > 0 { edge } else { 0 }),
                    fade_out: frame_at(music.fade_out).max(edge),
                    ducking: Ducking::new(speech, music.duck, spec.sample_rate),
                    sound,
                })
            }
            None => None,
        };
        Ok(Self { channels: usize::from(spec.channels.max(1)), music, voices })
    }

    /// Adds music and voices to interleaved sound that begins at a sample frame of the film.
    pub(super) fn add(&self, start: usize, samples: &mut [f32]) {
        let frames = samples.len() / self.channels;
        if let Some(music) = &self.music {
            let end = music.end.min(start + frames);
            for frame in start..end {
                let level = music.level(frame);
                let source = music.source(frame);
                self.mix(samples, frame - start, &music.sound, source, level);
            }
        }
        for voice in &self.voices {
            let length = voice.sound.frames();
            for frame in start.max(voice.start)..(start + frames).min(voice.start + length) {
                let source = frame - voice.start;
                let inside = source.min(length - 1 - source);
                let level = voice.gain * ((inside as f32 + 0.5) / voice.edge.max(1) as f32).min(1.0);
                self.mix(samples, frame - start, &voice.sound, source, level);
            }
        }
    }

    fn mix(&self, samples: &mut [f32], target: usize, sound: &AudioBuffer, source: usize, level: f32) {
        for channel in 0..self.channels {
            samples[target * self.channels + channel] +=
                sound.samples[source * self.channels + channel] * level;
        }
    }
}

impl MusicTrack {
    /// The sample frame of the music that is heard at one of the film.
    fn source(&self, frame: usize) -> usize {
        let length = self.sound.frames();
        if self.is_repeated { (self.first + frame) % length } else { self.first + frame }
    }

    fn level(&self, frame: usize) -> f32 {
        let ramp = |inside: usize, length: usize| {
            if length == 0 { 1.0 } else { ((inside as f32 + 0.5) / length as f32).min(1.0) }
        };
        let fades = ramp(frame, self.fade_in) * ramp(self.end - 1 - frame, self.fade_out);
        self.gain * fades * self.ducking.level(frame)
    }
}

impl VoiceTrack {
    /// When it is heard, on the film's clock.
    fn spoken(&self, spec: AudioSpec) -> impl Iterator<Item = Range<usize>> + use<> {
        let start = self.start;
        let spoken = super::ducking::spoken(&self.sound, self.gain, spec.sample_rate);
        spoken.into_iter().map(move |range| start + range.start..start + range.end)
    }
}

fn decode(path: &Path, spec: AudioSpec, ffmpeg: &Ffmpeg) -> Result<AudioBuffer, MediaError> {
    let failed = |source| MediaError::Io { action: "cannot read the sound", source }.at(path);
    if std::fs::metadata(path).map_err(failed)?.len() > MAX_SOUND_BYTES {
        let (what, limit) = ("the sound file".to_owned(), "512 MiB".to_owned());
        return Err(MediaError::TooLarge { what, limit }.at(path));
    }
    let bytes = std::fs::read(path).map_err(failed)?;
    let spec = AudioDecodeSpec {
        sample_rate: spec.sample_rate,
        channels: spec.channels,
        max_duration: MAX_SOUND_DURATION,
    };
    decode_audio(&bytes, ffmpeg, spec).map_err(|error| {
        let error = match error {
            // Its own message is about videos.
            MediaError::NeedsFfmpeg { coding } => MediaError::Request(format!(
                "{coding} is not decoded natively: install ffmpeg, which handles it, or save the sound as WAV, M4A, MP3 or FLAC"
            )),
            other => other,
        };
        error.at(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: AudioSpec = AudioSpec { sample_rate: 8_000, channels: 1 };

    fn constant(frames: usize) -> AudioBuffer {
        AudioBuffer { sample_rate: 8_000, channels: 1, samples: vec![0.5; frames] }
    }

    fn music(frames: usize, repeat: bool, end: usize) -> MusicTrack {
        let ducking = Ducking::new(Vec::new(), 1.0, 8_000);
        let sound = constant(frames);
        MusicTrack { sound, gain: 1.0, first: 0, is_repeated: repeat, end, fade_in: 0, fade_out: 80, ducking }
    }

    fn mixed(tracks: &Tracks, frames: usize, piece: usize) -> Vec<f32> {
        let mut sound = vec![0.0; frames];
        for (index, piece_of) in sound.chunks_mut(piece).enumerate() {
            tracks.add(index * piece, piece_of);
        }
        sound
    }

    #[test]
    fn music_ends_or_repeats() {
        let played_once = Tracks { channels: 1, music: Some(music(1_000, false, 1_000)), voices: Vec::new() };
        let sound = mixed(&played_once, 3_000, 128);
        assert_eq!((sound[0], sound[900], sound[1_000], sound[2_999]), (0.5, 0.5, 0.0, 0.0));
        assert!(sound[999] < 0.01, "it fades where it ends");
        let repeated = Tracks { channels: 1, music: Some(music(1_000, true, 3_000)), voices: Vec::new() };
        let sound = mixed(&repeated, 3_000, 128);
        assert_eq!((sound[1_000], sound[2_900]), (0.5, 0.5));
        assert!(sound[2_999] < 0.01, "it fades at the film's end");
        assert_eq!(mixed(&repeated, 3_000, 77), sound, "pieces do not matter");
    }

    #[test]
    fn voice_begins_at_its_time() {
        let voice = VoiceTrack { sound: constant(100), gain: 0.5, start: 250, edge: 10 };
        let tracks = Tracks { channels: 1, music: None, voices: vec![voice] };
        let sound = mixed(&tracks, 320, 64);
        assert_eq!((sound[249], sound[300], sound[319]), (0.0, 0.25, 0.25), "it ends with the film");
        assert!(sound[250] > 0.0 && sound[250] < 0.05);
    }

    fn refusal(path: PathBuf) -> String {
        let music = Music {
            path,
            gain: 1.0,
            start: Duration::from_secs(1),
            is_repeated: false,
            fade_in: Duration::ZERO,
            fade_out: Duration::ZERO,
            duck: 1.0,
            speech: Vec::new(),
        };
        let soundtrack = Soundtrack { music: Some(music), ..Soundtrack::default() };
        Tracks::open(&soundtrack, SPEC, 8_000, &Ffmpeg::default()).err().unwrap().to_string()
    }

    #[test]
    fn music_that_cannot_be_used_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("short.wav");
        std::fs::write(&path, crate::wav::tests::file(1, 16, 1, &[0; 1_600])).unwrap();
        let error = refusal(path);
        assert!(error.contains("the music begins at 1.00 s, and the file has 0.10 s"), "{error}");
        let path = folder.path().join("score.mp3");
        std::fs::write(&path, [0xff, 0xfb, 0x90, 0x64, 0, 0]).unwrap();
        let error = refusal(path);
        assert!(error.ends_with("it begins like MP3 audio and contains no audio frames"), "{error}");
        let path = folder.path().join("score.aac");
        let frame = [0xff, 0xf1, 0x50, 0x80, 0x01, 0x3f, 0xfc, 0, 0];
        std::fs::write(&path, frame.repeat(2)).unwrap();
        let error = refusal(path);
        assert!(error.ends_with("or save the sound as WAV, M4A, MP3 or FLAC"), "{error}");
    }
}
