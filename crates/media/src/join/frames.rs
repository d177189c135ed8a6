//! The frames of one clip on the film's clock: each stays until the next one is due.

use std::path::Path;
use std::sync::mpsc;

use rusty_h264::YuvFrame;

use super::clip::{Clip, Decoding};
use super::color_correction::Correction;
use crate::color::{ColorSpace, i420_to_rgb, rgb_to_i420};
use crate::frames::{FrameReader, Frames};
use crate::presentation::Presentation;
use crate::{Ffmpeg, Fit, FrameRate, MediaError};

/// A frame of the clip that begins in the middle of one of the film is not shown in it, whatever the rounding: in frames of the film.
const MARGIN: f64 = 0.01;

/// Form of the film's frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameForm {
    pub(super) size: (u32, u32),
    pub(super) rate: FrameRate,
    pub(super) fit: Fit,
    /// The colors of the film, which are those of frames that are copied.
    pub(super) color: ColorSpace,
}

/// Source of a clip's frames, one for each of the film.
pub(super) struct ClipFrames {
    source: FrameSource,
    form: FrameForm,
    /// The time in the clip of the first frame of the film that is asked for, in seconds.
    begin: f64,
    /// Seconds of the clip in one of the film.
    speed: f64,
    is_retimed: bool,
    /// What is done to the colors.
    correction: Option<Correction>,
    /// How many frames were asked for.
    count: u64,
    current: Option<YuvFrame>,
    ahead: Option<(f64, YuvFrame)>,
}

enum FrameSource {
    Native(Box<Frames>),
    /// Frames from ffmpeg, in the film's form, their rate, and their number so far.
    Foreign(mpsc::Receiver<Result<YuvFrame, MediaError>>, FrameRate, u64),
    /// A frame until it is taken: it stays.
    Still(Option<YuvFrame>),
}

impl ClipFrames {
    /// The frames of the clip from a frame of the film on, where the clip begins in the frame `start` of the film.
    pub(super) fn open(
        clip: &Clip,
        frame: u64,
        start: u64,
        form: FrameForm,
        ffmpeg: &Ffmpeg,
    ) -> Result<Self, MediaError> {
        let begin = clip.first as f64 / clip.frame_rate().as_f64();
        let speed = clip.speed;
        let time = begin + (frame as f64 - start as f64) / form.rate.as_f64() * speed;
        let source = match &clip.decoding {
            Decoding::Ffmpeg => {
                // At another speed, the film's rate would leave out frames that are to be shown.
                let rate = if clip.is_retimed() { clip.frame_rate() } else { form.rate };
                let form = FrameForm { rate, ..form };
                FrameSource::Foreign(spawn(ffmpeg.clone(), clip.path.clone(), form), rate, 0)
            }
            Decoding::Native => {
                let first = (time * clip.frame_rate().as_f64() + 0.01).floor().max(0.0) as u64;
                let reader = FrameReader::new(clip.movie()?)?;
                FrameSource::Native(Box::new(reader.frames_from(first)?))
            }
            Decoding::Still(still) => FrameSource::Still(Some(still.frame(form)?)),
        };
        Ok(Self {
            source,
            form,
            begin: time,
            is_retimed: clip.is_retimed(),
            speed,
            correction: clip.correction,
            count: 0,
            current: None,
            ahead: None,
        })
    }

    /// The clip's frame for the next one of the film. After the clip's end its last frame stays.
    pub(super) fn next(&mut self) -> Result<YuvFrame, MediaError> {
        // The frame of the clip that is shown in the middle of that of the film. Faster than it was taken, several are: then the one
        // in which that of the film begins, if not by half a frame later.
        let frame = self.form.rate.duration_of(1).as_secs_f64();
        let middle = if self.is_retimed { 0.5 * self.speed.min(1.0) - MARGIN } else { 0.5 };
        let middle = self.begin + (self.count as f64 * self.speed + middle) * frame;
        loop {
            if self.ahead.is_none() {
                self.ahead = self.decode()?;
            }
            match self.ahead.take() {
                Some((time, image)) if time <= middle || self.current.is_none() => {
                    self.current = Some(image);
                }
                later => {
                    self.ahead = later;
                    break;
                }
            }
        }
        self.count += 1;
        self.current.clone().ok_or_else(|| MediaError::damaged("none of its frames is ever shown"))
    }

    /// The next frame of the clip with its time, in its colors in the film.
    fn decode(&mut self) -> Result<Option<(f64, YuvFrame)>, MediaError> {
        let mut next = self.decode_as_it_is()?;
        if let (Some((_, image)), Some(correction)) = (&mut next, self.correction) {
            correction.apply(image, self.form.color.is_full_range);
        }
        Ok(next)
    }

    fn decode_as_it_is(&mut self) -> Result<Option<(f64, YuvFrame)>, MediaError> {
        match &mut self.source {
            FrameSource::Native(frames) => {
                let (color, presentation) = (frames.color(), frames.presentation());
                let Some(frame) = frames.next()? else { return Ok(None) };
                Ok(Some((frame.time, fit(frame.image, color, presentation, self.form))))
            }
            FrameSource::Still(image) => Ok(image.take().map(|image| (f64::NEG_INFINITY, image))),
            FrameSource::Foreign(images, rate, count) => match images.recv() {
                Ok(image) => {
                    let time = *count as f64 / rate.as_f64();
                    *count += 1;
                    Ok(Some((time, image?)))
                }
                Err(mpsc::RecvError) => Ok(None),
            },
        }
    }
}

/// Decodes with ffmpeg in a thread, which ends when the receiver is dropped.
fn spawn(
    ffmpeg: Ffmpeg,
    path: std::path::PathBuf,
    form: FrameForm,
) -> mpsc::Receiver<Result<YuvFrame, MediaError>> {
    let (sender, receiver) = mpsc::sync_channel(2);
    std::thread::spawn(move || {
        let send = |image| {
            sender
                .send(Ok(image))
                .map_err(|_| MediaError::Request("the frames are no longer wanted".to_owned()))
        };
        if let Err(error) = read_frames(&ffmpeg, &path, form, send) {
            // Fails where the receiver is gone, and with it the interest in the error.
            let _unwanted = sender.send(Err(error));
        }
    });
    receiver
}

fn read_frames(
    ffmpeg: &Ffmpeg,
    path: &Path,
    form: FrameForm,
    mut send: impl FnMut(YuvFrame) -> Result<(), MediaError>,
) -> Result<(), MediaError> {
    // ffmpeg brings them to this size and rate.
    ffmpeg.frames(path, (form.size, form.fit), form.rate, &mut send).map(|_count| ())
}

/// The frame as it is presented, in the film's size and color; as it is where it has them.
fn fit(frame: YuvFrame, color: ColorSpace, presentation: Presentation, form: FrameForm) -> YuvFrame {
    let (width, height) = form.size;
    let has_size = (frame.width, frame.height) == (width as usize, height as usize);
    if color == form.color && has_size && presentation.is_plain() {
        return frame;
    }
    let fitted = presentation.apply(i420_to_rgb(&frame, color)).fitted(form.fit, form.size);
    let mut converted = YuvFrame::black(width as usize, height as usize);
    rgb_to_i420(&fitted, form.color, &mut converted);
    converted
}
