//! A clip of a film whose file has been looked at.

use std::path::PathBuf;
use std::time::Duration;

use super::color_correction::Correction;
use super::spec::{JoinClip, JoinSource, JoinTransition};
use super::still::Still;
use crate::frames::decoder_config;
use crate::mp4::Movie;
use crate::probe::describe;
use crate::{Ffmpeg, FrameRate, MediaError, Probe, audio_buffer as pcm};

/// One clip of the film, probed.
#[derive(Clone)]
pub(super) struct Clip {
    /// The file; for a drawn image, its name.
    pub(super) path: PathBuf,
    pub(super) probe: Probe,
    pub(super) decoding: Decoding,
    /// The open file of a video, where it is kept.
    pub(super) movie: Option<Movie>,
    pub(super) first: u64,
    pub(super) frames: Option<u64>,
    /// 1 for images that stand still.
    pub(super) speed: f64,
    pub(super) transition: Option<JoinTransition>,
    pub(super) gain: f32,
    pub(super) continues: bool,
    pub(super) matches_previous: bool,
    /// What is done to its colors.
    pub(super) correction: Option<Correction>,
}

/// What makes the frames of a clip.
#[derive(Clone, Debug)]
pub(super) enum Decoding {
    Native,
    Ffmpeg,
    Still(Still),
}

impl Clip {
    pub(super) fn open(clip: &JoinClip, keeps_open: bool, ffmpeg: &Ffmpeg) -> Result<Self, MediaError> {
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
                movie.video.as_ref().ok_or_else(|| MediaError::NotMedia("it has no frames".to_owned()))?;
            let capable = decoder_config(track).map(|_| ()).and_then(|()| pcm::decoder(&movie).map(|_| ()));
            Ok((probe, capable.map(|()| movie)))
        });
        let clip = |probe, decoding, movie: Option<Movie>| Self {
            path: path.clone(),
            probe,
            decoding,
            movie: movie.filter(|_| keeps_open),
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
            Ok((probe, Ok(movie))) => Ok(clip(probe, Decoding::Native, Some(movie))),
            Ok((probe, Err(error))) if ffmpeg.can_take(path, &error) => {
                Ok(clip(probe, Decoding::Ffmpeg, None))
            }
            Err(error) if ffmpeg.can_take(path, &error) => {
                let probe = ffmpeg.probe(path)?;
                if probe.video.is_none() {
                    return Err(error.at(path));
                }
                Ok(clip(probe, Decoding::Ffmpeg, None))
            }
            Ok((_, Err(error))) | Err(error) => Err(error.at(path)),
        }
    }

    fn still(clip: &JoinClip, still: &Still) -> Result<Self, MediaError> {
        let Some(frames) = clip.frames else {
            return Err(MediaError::Request(
                "an image that stands still needs a number of frames".to_owned(),
            ));
        };
        Ok(Self {
            path: still.path().to_owned(),
            probe: Probe { duration: Duration::ZERO, video: None, audio: None, is_faststart: false },
            decoding: Decoding::Still(still.clone()),
            movie: None,
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

    /// The file of a video that is decoded here.
    pub(super) fn movie(&self) -> Result<Movie, MediaError> {
        match &self.movie {
            Some(movie) => Ok(movie.clone()),
            None => Movie::open(&self.path).map_err(|error| error.at(&self.path)),
        }
    }

    pub(super) fn is_native(&self) -> bool {
        matches!(self.decoding, Decoding::Native)
    }

    pub(super) fn is_video(&self) -> bool {
        !matches!(self.decoding, Decoding::Still(_))
    }

    /// Whether its own coded frames can be those of the film.
    pub(super) fn is_copyable(&self) -> bool {
        self.is_video() && !self.is_retimed() && self.correction.is_none()
    }

    /// Whether it is played at another speed than its own.
    pub(super) fn is_retimed(&self) -> bool {
        (self.speed - 1.0).abs() > 1e-9
    }

    /// Of a video.
    pub(super) fn size(&self) -> (u32, u32) {
        self.probe.video.as_ref().map_or((2, 2), |video| (video.width, video.height))
    }

    pub(super) fn frame_rate(&self) -> FrameRate {
        self.probe.video.as_ref().map_or(FrameRate::CINEMA, |video| video.frame_rate)
    }

    /// How long the clip's frames last: that is the clip's length in the film.
    pub(super) fn length(&self) -> Duration {
        self.probe.video.as_ref().map_or(Duration::ZERO, |video| video.duration)
    }
}
