//! Joining with re-encoding: every frame is decoded, scaled to one size, resampled to one frame rate and encoded.

use std::io::Write;
use std::time::Duration;

use rusty_h264::YuvFrame;

use super::{Clip, JoinOptions, JoinReport, audio, most_common};
use crate::color::{ColorSpace, i420_to_rgb, rgb_to_i420};
use crate::frames::FrameReader;
use crate::mp4::Movie;
use crate::{ClipSpec, ClipWriter, Ffmpeg, FrameRate, MediaError};

pub(super) fn write(
    clips: &[Clip],
    out: &mut dyn Write,
    options: &JoinOptions,
) -> Result<JoinReport, MediaError> {
    let even = |(width, height): (u32, u32)| (width.next_multiple_of(2), height.next_multiple_of(2));
    let size =
        options.size.or_else(|| most_common(&clips.iter().map(Clip::size)).map(even)).unwrap_or((2, 2));
    let rate = options.frame_rate.or_else(|| most_common(&clips.iter().map(Clip::frame_rate)));
    let frame_rate = rate.unwrap_or(FrameRate::CINEMA);
    let audio = audio::form(clips);
    let mut writer = ClipWriter::new(ClipSpec { audio, ..ClipSpec::new(size.0, size.1, frame_rate) })?;
    let mut ends = Vec::new();
    // Lengths are added up before they are rounded to pictures, so that a long film does not drift from its clips.
    let mut end = Duration::ZERO;
    for clip in clips {
        writer.cut()?;
        end += clip.length();
        let until = (end.as_secs_f64() * frame_rate.as_f64()).round() as u64;
        let wanted = until.saturating_sub(writer.frames()).max(1);
        let mut timeline = Timeline { writer: &mut writer, frame_rate, wanted, shown: 0, held: None };
        timeline.play(clip, size, &options.ffmpeg).map_err(|error| error.at(&clip.path))?;
        ends.push(writer.frames() * u64::from(frame_rate.denominator()));
    }
    if let Some(spec) = audio {
        writer.push_audio(&audio::lay(clips, &ends, frame_rate.numerator(), spec, &options.ffmpeg)?)?;
    }
    let duration = frame_rate.duration_of(writer.frames());
    writer.finish_into(out)?;
    Ok(JoinReport { duration, copied_video: false, size, frame_rate, audio: audio.is_some() })
}

/// The pictures of one clip on the film's clock: each stays until the next one is due.
struct Timeline<'a> {
    writer: &'a mut ClipWriter,
    frame_rate: FrameRate,
    wanted: u64,
    shown: u64,
    held: Option<YuvFrame>,
}

impl Timeline<'_> {
    fn play(&mut self, clip: &Clip, size: (u32, u32), ffmpeg: &Ffmpeg) -> Result<(), MediaError> {
        if clip.foreign {
            // ffmpeg has brought them to this size and rate already.
            ffmpeg.pictures(&clip.path, size, self.frame_rate, &mut |frame| self.next(frame))?;
        } else {
            let mut pictures = FrameReader::new(Movie::open(&clip.path)?)?;
            let color = pictures.color;
            pictures.for_each(&mut |time, frame| {
                self.hold_until(time)?;
                self.held = Some(fit(frame, color, size));
                Ok(())
            })?;
        }
        self.hold_until(f64::INFINITY)?;
        if self.shown == 0 {
            return Err(MediaError::damaged("none of its pictures is ever shown"));
        }
        Ok(())
    }

    /// Shows a picture for one frame of the film.
    fn next(&mut self, frame: YuvFrame) -> Result<(), MediaError> {
        if self.shown < self.wanted {
            self.writer.push_yuv(&frame)?;
            self.shown += 1;
        }
        self.held = Some(frame);
        Ok(())
    }

    /// Shows the held picture in every frame of the film whose middle lies before `time`, in seconds from the clip's beginning.
    fn hold_until(&mut self, time: f64) -> Result<(), MediaError> {
        let Some(held) = &self.held else { return Ok(()) };
        while self.shown < self.wanted && (self.shown as f64 + 0.5) / self.frame_rate.as_f64() < time {
            self.writer.push_yuv(held)?;
            self.shown += 1;
        }
        Ok(())
    }
}

/// The picture in the film's size and color; as it is where it has them.
fn fit(frame: YuvFrame, color: ColorSpace, (width, height): (u32, u32)) -> YuvFrame {
    if color == ColorSpace::WRITTEN && (frame.width, frame.height) == (width as usize, height as usize) {
        return frame;
    }
    let fitted = i420_to_rgb(&frame, color).letterboxed(width, height);
    let mut converted = YuvFrame::black(width as usize, height as usize);
    rgb_to_i420(&fitted, &mut converted);
    converted
}
