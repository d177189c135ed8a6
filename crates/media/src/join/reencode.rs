//! Joining with re-encoding: every frame is decoded, scaled to one size, resampled to one frame rate and encoded.

use std::io::Write;

use super::audio;
use super::clip::Clip;
use super::cover::cover;
use super::frames::FrameForm;
use super::layout::Layout;
use super::most_common::most_common;
use super::render::Renderer;
use super::spec::{JoinOptions, JoinReport};
use super::spool::Spool;
use crate::clip::media_clock;
use crate::color::ColorSpace;
use crate::h264::VideoEncoder;
use crate::mp4::{OutputKind, OutputSample, OutputTrack, StoredTags, avc1, write_movie};
use crate::overlay::OverlayPainter;
use crate::{ClipSpec, FrameRate, MediaError};

/// The size of a film that shows no video.
const DEFAULT_SIZE: (u32, u32) = (1280, 720);

/// Size and frame rate of a film: those that are asked for, or that most clips have.
pub(super) fn film_form(clips: &[Clip], options: &JoinOptions) -> ((u32, u32), FrameRate) {
    let even = |(width, height): (u32, u32)| (width.next_multiple_of(2), height.next_multiple_of(2));
    let videos = || clips.iter().filter(|clip| clip.is_video());
    let size = options.size.or_else(|| most_common(&videos().map(Clip::size)).map(even));
    let rate = options.frame_rate.or_else(|| most_common(&videos().map(Clip::frame_rate)));
    (size.unwrap_or(DEFAULT_SIZE), rate.unwrap_or(FrameRate::CINEMA))
}

pub(super) fn write(
    clips: &[Clip],
    out: &mut dyn Write,
    options: &JoinOptions,
) -> Result<JoinReport, MediaError> {
    let (size, frame_rate) = film_form(clips, options);
    let layout = Layout::new(clips, frame_rate)?;
    let form = FrameForm { size, rate: frame_rate, fit: options.fit, color: ColorSpace::WRITTEN };
    let renderer = Renderer { clips, layout: &layout, form, is_full_range: false, ffmpeg: &options.ffmpeg };
    let spec = ClipSpec::new(size.0, size.1, frame_rate);
    let mut encoder = VideoEncoder::new(spec.checked_stream()?)?;
    let (timescale, ticks_per_frame) = media_clock(frame_rate);
    let mut spool = Spool::new(&options.ffmpeg.cancellation)?;
    let mut samples = Vec::new();
    let cuts: Vec<u64> = layout.placements.iter().map(|placement| placement.start).collect();
    let mut painter =
        options.overlays.as_ref().map(|overlays| OverlayPainter::new(overlays, size, form.color));
    renderer.render(0..layout.frames(), &mut |image| {
        let frame = samples.len() as u64;
        let painted = painter.as_mut().and_then(|painter| painter.paint(frame, image));
        let image = painted.as_ref().unwrap_or(image);
        let is_key =
            options.key_interval.is_some_and(|interval| frame.is_multiple_of(u64::from(interval.max(1))));
        if is_key || cuts.binary_search(&frame).is_ok() {
            encoder.cut()?;
        }
        let coded = encoder.encode(image)?;
        let size = spool.push(&coded.bytes)?;
        samples.push(OutputSample { size, duration: ticks_per_frame, offset: 0, is_sync: coded.is_sync });
        options.report(samples.len() as u64, layout.frames());
        Ok(())
    })?;
    let cover = options.poster.map(|frame| cover(&renderer, options.overlays.as_ref(), frame)).transpose()?;
    let ends: Vec<u64> =
        layout.placements.iter().map(|placement| placement.end * u64::from(ticks_per_frame)).collect();
    let mut tracks = vec![OutputTrack {
        kind: OutputKind::Video { width: size.0, height: size.1 },
        entry: avc1(size.0, size.1, &encoder.parameter_sets()?),
        timescale,
        samples,
        start: 0,
        presented: layout.frames() * u64::from(ticks_per_frame),
    }];
    let mut frames = spool.into_reader()?;
    let mut packets = None;
    let mut loudness = None;
    if let Some(sound) = audio::encode(clips, &layout, &ends, timescale, options)? {
        tracks.push(sound.track);
        packets = Some(sound.packets);
        loudness = sound.loudness;
    }
    let tags = StoredTags::new(&options.tags, cover.as_deref(), &ends, timescale);
    write_movie(out, &tracks, &tags, &mut |track, sample, bytes| {
        let size = tracks[track].samples[sample].size;
        match &mut packets {
            Some(packets) if track > 0 => packets.next(size, bytes),
            _ => frames.next(size, bytes),
        }
    })?;
    Ok(JoinReport {
        duration: frame_rate.duration_of(layout.frames()),
        copied_frames: 0,
        encoded_frames: layout.frames(),
        size,
        frame_rate,
        has_audio: packets.is_some(),
        loudness,
        unmatched: Vec::new(),
        poster: cover,
    })
}
