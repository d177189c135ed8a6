//! Joining with as little re-encoding as possible: the clips' coded frames in sequence, under the sample entry that they share but for hints. Only
//! frames of transitions, and those between a cut and the next frame that needs no other, are encoded again.

mod runs;
mod write;

use self::runs::{Run, encoded_frames, is_whole, runs};
use super::clip::Clip;
use super::layout::Layout;
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

/// The smart cut where one is possible: same sample entry, same size and rate as asked for, nothing hidden by an edit list, each
/// clip beginning with a frame that needs no other.
pub(super) fn plan(clips: &[Clip], options: &JoinOptions) -> Result<Option<SmartCut>, MediaError> {
    let has_requested_form = |clip: &Clip| {
        clip.is_native()
            && options.size.is_none_or(|size| size == clip.size())
            && options.frame_rate.is_none_or(|rate| rate == clip.frame_rate())
    };
    let videos = || clips.iter().filter(|clip| clip.is_video());
    let Some(first) = videos().next().filter(|_| videos().all(has_requested_form)) else { return Ok(None) };
    // None for images that stand still, which are encoded.
    let mut tracks: Vec<Option<Track>> = Vec::with_capacity(clips.len());
    let mut entry: Option<Vec<u8>> = None;
    for clip in clips {
        if !clip.is_video() {
            tracks.push(None);
            continue;
        }
        let Some(track) = clip.movie()?.video.filter(is_whole) else { return Ok(None) };
        let Some(own) = without_hints(&track.entry).filter(|_| track.coding() == *b"avc1") else {
            return Ok(None);
        };
        if *entry.get_or_insert_with(|| own.clone()) != own {
            return Ok(None);
        }
        tracks.push(Some(track));
    }
    let Some(mut entry) = entry else { return Ok(None) };
    let (size, frame_rate) = (first.size(), first.frame_rate());
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
            let count = track.as_ref().map_or(0, |track| track.samples.len() as u64);
            let rest = count.saturating_sub(clip.first) as f64 / clip.speed;
            Clip { frames: Some(clip.frames.unwrap_or(rest.round().max(1.0) as u64)), ..clip.clone() }
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
    let color = FrameReader::new(first.movie()?).map_err(|error| error.at(&first.path))?.color;
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
