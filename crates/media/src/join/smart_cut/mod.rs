//! Joining with as little re-encoding as possible: the clips' coded frames in sequence, under the sample entry that they share but for hints. Only
//! frames of transitions, and those between a cut and the next frame that needs no other, are encoded again.

mod runs;
mod write;

use self::runs::{Run, encoded_frames, is_whole, runs};
use super::clip::Clip;
use super::layout::Layout;
use super::reencode::film_form;
use super::spec::JoinOptions;
use crate::color::ColorSpace;
use crate::frames::FrameReader;
use crate::h264::{Configuration, Effort, StreamSpec, VideoEncoder, begins_with_idr};
use crate::mp4::{Sample, Track, avc1, find, with_avcc, without_hints};
use crate::rate::least_common_multiple;
use crate::{ClipSpec, FrameRate, MediaError};

/// The finest clock that the film's frames may need.
const FINEST_CLOCK: u32 = 10_000_000;
/// The largest share of frames that are encoded again beside copied ones. Beyond it the whole film is encoded, in one quality.
const MAX_ENCODED_SHARE: f64 = 0.7;

/// The frames of the film, known to fit together.
pub(super) struct SmartCut {
    entry: Vec<u8>,
    /// Parameters of the frames that are encoded, if any are.
    stream: Option<StreamSpec>,
    timescale: u32,
    ticks_per_frame: u32,
    size: (u32, u32),
    frame_rate: FrameRate,
    /// The colors of the clips' frames.
    color: ColorSpace,
    layout: Layout,
    runs: Vec<Run>,
    /// The samples of each clip in decoding order; none for images that stand still.
    samples: Vec<Vec<Sample>>,
    /// The ticks of each clip's own clock on the film's.
    scales: Vec<u32>,
}

/// Clips whose frames can follow each other: the same sample entry but for hints, the same size and rate.
#[derive(Clone, PartialEq)]
struct Encoding {
    entry: Vec<u8>,
    size: (u32, u32),
    rate: FrameRate,
}

/// How a clip is encoded, with its track; `None` for images, other codecs, and what an edit list hides a part of.
fn encoding(clip: &Clip) -> Result<Option<(Encoding, Track)>, MediaError> {
    if !clip.is_video() || !clip.is_native() {
        return Ok(None);
    }
    let Some(track) = clip.movie()?.video.filter(is_whole) else { return Ok(None) };
    let entry = without_hints(&track.entry).filter(|_| track.coding() == *b"avc1");
    Ok(entry.map(|entry| (Encoding { entry, size: clip.size(), rate: clip.frame_rate() }, track)))
}

/// The smart cut where one is possible: the clips of the encoding that shows most of the film are copied, and all others are encoded. Each
/// copied clip begins with a frame that needs no other.
pub(super) fn plan(clips: &[Clip], options: &JoinOptions) -> Result<Option<SmartCut>, MediaError> {
    let (size, frame_rate) = film_form(clips, options);
    let mut encodings = Vec::with_capacity(clips.len());
    for clip in clips {
        encodings.push(encoding(clip)?.filter(|(own, _)| (own.size, own.rate) == (size, frame_rate)));
    }
    let frames = |encoding: &Encoding| -> usize {
        let own = encodings.iter().flatten().filter(|(other, _)| other == encoding);
        own.map(|(_, track)| track.samples.len()).sum()
    };
    let all = encodings.iter().flatten();
    let most = all.map(|(encoding, _)| encoding).max_by_key(|encoding| frames(encoding)).cloned();
    let Some(most) = most else { return Ok(None) };
    // None for clips that are encoded.
    let tracks: Vec<Option<Track>> = encodings
        .into_iter()
        .map(|own| own.filter(|(own, _)| *own == most).map(|(_, track)| track))
        .collect();
    let Some(first) = clips.iter().zip(&tracks).find_map(|(clip, track)| track.as_ref().map(|_| clip)) else {
        return Ok(None);
    };
    let mut entry = most.entry;
    let color = FrameReader::new(first.movie()?).map_err(|error| error.at(&first.path))?.color;
    // ffmpeg knows no other color.
    if color != ColorSpace::WRITTEN && clips.iter().any(|clip| clip.is_video() && !clip.is_native()) {
        return Ok(None);
    }
    let clock = tracks
        .iter()
        .flatten()
        .map(|track| track.timescale)
        .chain([frame_rate.numerator()])
        .try_fold(1, least_common_multiple);
    let Some(timescale) = clock.filter(|&clock| clock <= FINEST_CLOCK) else { return Ok(None) };
    let Some(ticks_per_frame) = (timescale / frame_rate.numerator()).checked_mul(frame_rate.denominator())
    else {
        return Ok(None);
    };
    // In a copied clip each frame is one of the film.
    let counted: Vec<Clip> = clips
        .iter()
        .zip(&tracks)
        .map(|(clip, track)| {
            let rest = track.as_ref().map(|track| {
                let rest = (track.samples.len() as u64).saturating_sub(clip.first) as f64 / clip.speed;
                rest.round().max(1.0) as u64
            });
            Clip { frames: clip.frames.or(rest), ..clip.clone() }
        })
        .collect();
    let layout = Layout::new(&counted, frame_rate)?;
    let overlays = options.overlays.as_ref().map_or(&[][..], |overlays| overlays.spans.as_slice());
    let Some(runs) = runs(clips, &tracks, &layout, frame_rate, overlays) else { return Ok(None) };
    let encoded = encoded_frames(&runs);
    // Where a clip is not shown from its beginning, and where frames of two encoders meet, decoding can go on at an IDR picture only.
    let is_entered =
        |run: &&Run| encoded > 0 || matches!(run, Run::Copy { samples, .. } if samples.start > 0);
    if !runs.iter().filter(is_entered).all(|run| begins_with_idr_picture(clips, &tracks, run)) {
        return Ok(None);
    }
    let mut stream = None;
    if encoded > 0 {
        let is_worthwhile = encoded as f64 <= layout.frames() as f64 * MAX_ENCODED_SHARE;
        let beside = encoder_beside(&entry, size, frame_rate).filter(|_| is_worthwhile);
        let Some((merged, encoder)) = beside else { return Ok(None) };
        (entry, stream) = (merged, Some(encoder));
    }
    let scales =
        tracks.iter().map(|track| track.as_ref().map_or(1, |track| timescale / track.timescale)).collect();
    let samples =
        tracks.into_iter().map(|track| track.map_or_else(Vec::new, |track| track.samples)).collect();
    Ok(Some(SmartCut {
        entry,
        stream,
        timescale,
        ticks_per_frame,
        size,
        frame_rate,
        color,
        layout,
        runs,
        samples,
        scales,
    }))
}

/// The sample entry for the clips' frames and encoded ones, and the parameters of the latter. `None` where they cannot be in one track.
fn encoder_beside(
    entry: &[u8],
    (width, height): (u32, u32),
    rate: FrameRate,
) -> Option<(Vec<u8>, StreamSpec)> {
    let mut stream = ClipSpec::new(width, height, rate).checked_stream().ok()?;
    for effort in [Effort::Full, Effort::Draft] {
        stream.effort = effort;
        let own = VideoEncoder::new(stream).ok()?;
        if entry == avc1(width, height, &own.parameter_sets().ok()?) {
            return Some((entry.to_vec(), stream));
        }
    }
    stream.effort = Effort::Full;
    let avcc = find(entry.get(8 + 78..)?, &[*b"avcC"])?;
    let configuration = Configuration::parse(avcc)?;
    stream.ids = configuration.free_ids()?;
    stream.signal = configuration.signal()?;
    let merged = configuration.merged(&VideoEncoder::new(stream).ok()?.parameter_sets().ok()?)?;
    Some((with_avcc(entry, &merged)?, stream))
}

/// Whether a run of copied samples begins with an IDR picture. Other frames that are sync samples (recovery points) may be followed by
/// frames that need earlier ones.
fn begins_with_idr_picture(clips: &[Clip], tracks: &[Option<Track>], run: &Run) -> bool {
    let Run::Copy { clip, samples } = run else { return true };
    let Some(track) = &tracks[*clip] else { return false };
    let mut bytes = Vec::new();
    clips[*clip]
        .movie()
        .and_then(|movie| movie.load_sample(&track.samples[samples.start], &mut bytes))
        .is_ok_and(|()| begins_with_idr(&bytes))
}
