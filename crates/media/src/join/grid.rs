//! A grid video: clips that play at the same time, side by side.

use std::path::{Path, PathBuf};

use rusty_h264::YuvFrame;

use super::frames::{ClipFrames, PictureForm};
use super::spool::Spool;
use super::{Clip, JoinClip, JoinReport, most_common, replace};
use crate::clip::media_clock;
use crate::color::{ColorSpace, rgb_to_i420};
use crate::h264::VideoEncoder;
use crate::mosaic::Mosaic;
use crate::mp4::{OutputKind, OutputSample, OutputTrack, StoredTags, avc1, write_movie};
use crate::{ClipSpec, Ffmpeg, Fit, FrameRate, MediaError, RgbImage};

/// The most clips of a grid: all of them are decoded at the same time.
pub const MAX_GRID_CLIPS: usize = 64;

/// A clip of a grid.
#[derive(Clone, Debug)]
pub struct GridTile {
    /// Its file; `None` if there is none.
    pub video: Option<PathBuf>,
    /// Its label, of the size of [`Mosaic::label`].
    pub label: RgbImage,
}

/// Writes a silent video in which clips play at the same time, each over its label, at the frame rate that most of them have. It ends with the
/// longest clip; of the others, the last picture stays. The file appears under its name only when it is whole.
///
/// # Errors
/// [`MediaError::Request`] for no clips, for more than [`MAX_GRID_CLIPS`], and for a picture that is too large; otherwise as [`super::join`].
pub fn write_grid(
    mosaic: &Mosaic,
    tiles: &[GridTile],
    output: &Path,
    ffmpeg: &Ffmpeg,
) -> Result<JoinReport, MediaError> {
    let mut clips = Vec::new();
    for (index, tile) in tiles.iter().enumerate() {
        if let Some(video) = &tile.video {
            clips.push((index, Clip::open(&JoinClip::whole(video.clone()), ffmpeg)?));
        }
    }
    if clips.is_empty() || clips.len() > MAX_GRID_CLIPS {
        return Err(MediaError::Request(format!(
            "a grid of {} clips: it needs 1 to {MAX_GRID_CLIPS}",
            clips.len()
        )));
    }
    let background = mosaic.background(tiles.iter().map(|tile| &tile.label))?;
    replace(output, &mut |out| {
        let grid = Grid { mosaic, clips: &clips, ffmpeg };
        grid.write(&background, out)
    })
}

struct Grid<'a> {
    mosaic: &'a Mosaic,
    /// With the index of their tiles.
    clips: &'a [(usize, Clip)],
    ffmpeg: &'a Ffmpeg,
}

impl Grid<'_> {
    fn write(&self, background: &RgbImage, out: &mut dyn std::io::Write) -> Result<JoinReport, MediaError> {
        let (width, height) = self.mosaic.size();
        let clips = || self.clips.iter().map(|(_, clip)| clip);
        let rate = most_common(&clips().map(Clip::frame_rate)).unwrap_or(FrameRate::CINEMA);
        let mut encoder = VideoEncoder::new(ClipSpec::new(width, height, rate).checked_stream()?)?;
        let longest = clips().map(Clip::length).max().unwrap_or_default();
        let frames = ((longest.as_secs_f64() * rate.as_f64()).round() as u64).max(1);
        let form = PictureForm { size: self.mosaic.tile(), rate, fit: Fit::Letterbox, stored: None };
        let mut sources = Vec::new();
        for (index, clip) in self.clips {
            let source =
                ClipFrames::open(clip, 0, 0, form, self.ffmpeg).map_err(|error| error.at(&clip.path))?;
            sources.push((*index, clip, source));
        }
        let mut canvas = YuvFrame::black(width as usize, height as usize);
        rgb_to_i420(background, ColorSpace::WRITTEN, &mut canvas);
        let (timescale, ticks_per_frame) = media_clock(rate);
        let mut spool = Spool::new(&self.ffmpeg.cancellation)?;
        let mut samples = Vec::new();
        for _ in 0..frames {
            for (index, clip, source) in &mut sources {
                let picture = source.next().map_err(|error| error.at(&clip.path))?;
                paint(&mut canvas, self.mosaic.picture_at(*index), &picture);
            }
            let picture = encoder.encode(&canvas)?;
            let size = spool.push(&picture.bytes)?;
            samples.push(OutputSample {
                size,
                duration: ticks_per_frame,
                offset: 0,
                is_sync: picture.is_sync,
            });
        }
        let tracks = [OutputTrack {
            kind: OutputKind::Video { width, height },
            entry: avc1(width, height, &encoder.parameter_sets()?),
            timescale,
            samples,
            start: 0,
            presented: frames * u64::from(ticks_per_frame),
        }];
        let mut pictures = spool.into_reader()?;
        write_movie(out, &tracks, &StoredTags::default(), &mut |track, sample, bytes| {
            pictures.next(tracks[track].samples[sample].size, bytes)
        })?;
        Ok(JoinReport {
            duration: rate.duration_of(frames),
            copied_pictures: 0,
            encoded_pictures: frames,
            size: (width, height),
            frame_rate: rate,
            has_audio: false,
            loudness: None,
            unmatched: Vec::new(),
            poster: None,
        })
    }
}

/// Copies a picture into another one, at an even position, as far as it is inside.
fn paint(canvas: &mut YuvFrame, (x, y): (u32, u32), picture: &YuvFrame) {
    let (x, y) = (x as usize, y as usize);
    let halved = |side: usize| side.div_ceil(2);
    copy(&mut canvas.y, canvas.width, (x, y), &picture.y, picture.width);
    let (width, from) = (halved(canvas.width), halved(picture.width));
    copy(&mut canvas.u, width, (x / 2, y / 2), &picture.u, from);
    copy(&mut canvas.v, width, (x / 2, y / 2), &picture.v, from);
}

fn copy(plane: &mut [u8], width: usize, (x, y): (usize, usize), picture: &[u8], picture_width: usize) {
    let rows = plane.chunks_exact_mut(width.max(1)).skip(y).zip(picture.chunks_exact(picture_width.max(1)));
    for (row, from) in rows {
        let Some(row) = row.get_mut(x..) else { return };
        let length = row.len().min(from.len());
        row[..length].copy_from_slice(&from[..length]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClipWriter, first_frame, last_frame, probe};

    const RATE: (u32, u32) = (24, 1);

    /// A clip of one color that is replaced by another one in the second half.
    fn clip(folder: &Path, name: &str, pictures: u32, shades: [u8; 2]) -> PathBuf {
        let spec = ClipSpec::new(160, 96, FrameRate::new(RATE.0, RATE.1).unwrap());
        let mut writer = ClipWriter::new(spec).unwrap();
        for picture in 0..pictures {
            let shade = shades[usize::from(picture * 2 >= pictures)];
            let pixels = vec![shade; 160 * 96 * 3];
            writer.push_frame(&RgbImage::from_pixels(160, 96, pixels).unwrap()).unwrap();
        }
        let path = folder.join(name);
        fs_err::write(&path, writer.finish().unwrap()).unwrap();
        path
    }

    #[test]
    fn clips_play_side_by_side_until_the_longest_ends() {
        let folder = tempfile::tempdir().unwrap();
        let videos = [
            Some(clip(folder.path(), "a.mp4", 24, [40, 80])),
            None,
            Some(clip(folder.path(), "b.mp4", 12, [200, 160])),
        ];
        let mosaic = Mosaic::new(3, 2, (80, 48), 16);
        let label = RgbImage::new(80, 16);
        let tiles = videos.map(|video| GridTile { video, label: label.clone() });
        let output = folder.path().join("grid.mp4");
        let report = write_grid(&mosaic, &tiles, &output, &Ffmpeg::default()).unwrap();
        assert_eq!((report.size, report.encoded_pictures, report.has_audio), (mosaic.size(), 24, false));
        let probed = probe(&output).unwrap();
        let track = probed.video.unwrap();
        assert_eq!((track.width, track.height, track.frames), (184, 152, 24));
        assert!(probed.audio.is_none());
        for (frame, shades) in [(first_frame(&output), [40, 200]), (last_frame(&output), [80, 160])] {
            let frame = frame.unwrap();
            for (index, shade) in [(0, shades[0]), (2, shades[1])] {
                let (x, y) = mosaic.picture_at(index);
                let pixel = frame.pixel(x + 40, y + 24)[0];
                assert!(pixel.abs_diff(shade) < 5, "tile {index}: {pixel} instead of {shade}");
            }
        }
    }

    #[test]
    fn grids_without_clips_and_with_a_damaged_one_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("grid.mp4");
        let mosaic = Mosaic::new(1, 1, (80, 48), 16);
        let tile = |video| GridTile { video, label: RgbImage::new(80, 16) };
        let ffmpeg = Ffmpeg::default();
        let empty = write_grid(&mosaic, &[tile(None)], &output, &ffmpeg);
        assert!(matches!(empty, Err(MediaError::Request(_))));
        let many = vec![tile(Some(clip(folder.path(), "a.mp4", 1, [40, 40]))); MAX_GRID_CLIPS + 1];
        assert!(matches!(write_grid(&mosaic, &many, &output, &ffmpeg), Err(MediaError::Request(_))));
        let damaged = folder.path().join("damaged.mp4");
        fs_err::write(&damaged, b"no video").unwrap();
        let error = write_grid(&mosaic, &[tile(Some(damaged))], &output, &ffmpeg).unwrap_err();
        assert!(error.to_string().contains("damaged.mp4"), "{error}");
        assert!(!output.exists());
    }

    #[test]
    fn cancelled_grid_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let video = clip(folder.path(), "a.mp4", 24, [40, 80]);
        let output = folder.path().join("grid.mp4");
        let ffmpeg = Ffmpeg::default();
        ffmpeg.cancellation.cancel();
        let tile = GridTile { video: Some(video), label: RgbImage::new(80, 16) };
        let ended = write_grid(&Mosaic::new(1, 1, (80, 48), 16), &[tile], &output, &ffmpeg);
        assert!(matches!(ended, Err(MediaError::Cancelled)));
        assert_eq!(fs_err::read_dir(folder.path()).unwrap().count(), 1, "the clip only");
    }
}
