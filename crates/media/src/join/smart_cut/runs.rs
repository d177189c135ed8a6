//! Which frames of a film are copied, and which are encoded.

use std::ops::Range;

use crate::FrameRate;
use crate::join::clip::Clip;
use crate::join::layout::Layout;
use crate::mp4::Track;
use crate::overlay::OverlaySpan;
use crate::presentation::Presentation;

/// Consecutive frames of the film.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Run {
    /// Samples of a clip in decoding order; the first is a sync sample, and they are presented one after the other.
    Copy { clip: usize, samples: Range<usize> },
    /// Frames of the film that are encoded.
    Encode(Range<u64>),
}

pub(super) fn encoded_frames(runs: &[Run]) -> u64 {
    runs.iter().map(|run| if let Run::Encode(frames) = run { frames.end - frames.start } else { 0 }).sum()
}

/// Everything in the track is presented as it is stored, and can be decoded from its first sample.
pub(super) fn is_whole(track: &Track) -> bool {
    let ticks: i64 = track.samples.iter().map(|sample| i64::from(sample.duration)).sum();
    let first = track.samples.iter().map(|sample| sample.composition).min().unwrap_or(0);
    let all = match track.edits.as_slice() {
        [edit] => edit.media == Some(first) && (edit.length - ticks).abs() <= tolerance(track),
        _ => false,
    };
    let regular = track.samples.iter().all(|sample| sample.duration > 0);
    let plain = Presentation::from_track(track).is_plain();
    all && regular
        && plain
        && track.has_one_entry
        && track.samples.first().is_some_and(|sample| sample.is_sync)
}

/// Edit lists often count in milliseconds, and some writers round durations to them.
fn tolerance(track: &Track) -> i64 {
    i64::from(track.timescale) / 1000 + 1
}

/// Whether each frame lasts as long as one of the film.
fn is_regular(track: &Track, rate: FrameRate) -> bool {
    let frame = i64::from(track.timescale) * i64::from(rate.denominator()) / i64::from(rate.numerator());
    track.samples.iter().all(|sample| (i64::from(sample.duration) - frame).abs() <= tolerance(track))
}

/// The film's frames in order; `None` where those of the clips are not at its rate. Frames under overlays are encoded.
pub(super) fn runs(
    clips: &[Clip],
    tracks: &[Option<Track>],
    layout: &Layout,
    rate: FrameRate,
    overlays: &[OverlaySpan],
) -> Option<Vec<Run>> {
    let mut runs: Vec<Run> = Vec::new();
    let mut next = 0;
    let encode = |runs: &mut Vec<Run>, range: Range<u64>| match runs.last_mut() {
        _ if range.is_empty() => {}
        Some(Run::Encode(last)) if last.end == range.start => last.end = range.end,
        _ => runs.push(Run::Encode(range)),
    };
    for (index, (clip, track)) in clips.iter().zip(tracks).enumerate() {
        let Some(track) = track.as_ref().filter(|_| clip.is_copyable()) else { continue };
        let start = layout.placements[index].start;
        let count = track.samples.len() as u64;
        for gap in uncovered(layout.unmixed(index), overlays) {
            let first = clip.first + (gap.start - start);
            let end = clip.first + (gap.end - start);
            let is_all = first == 0 && end == count;
            if end > count || (!is_all && !is_regular(track, rate)) {
                return None;
            }
            let (samples, shown) = copied(track, first..end);
            let on_film = |frame: u64| gap.start + (frame - first);
            encode(&mut runs, next..on_film(shown.start));
            if !samples.is_empty() {
                runs.push(Run::Copy { clip: index, samples });
            }
            encode(&mut runs, on_film(shown.end)..gap.end);
            next = gap.end;
        }
    }
    encode(&mut runs, next..layout.frames());
    Some(runs)
}

/// The parts of a range of frames over which nothing lies.
fn uncovered(range: Range<u64>, overlays: &[OverlaySpan]) -> Vec<Range<u64>> {
    let mut gaps = Vec::new();
    let mut next = range.start;
    for span in overlays.iter().map(|span| &span.frames).filter(|frames| frames.end > range.start) {
        if span.start >= range.end {
            break;
        }
        if span.start > next {
            gaps.push(next..span.start);
        }
        next = next.max(span.end);
    }
    if next < range.end {
        gaps.push(next..range.end);
    }
    gaps
}

/// The longest range of samples that can be copied for these frames, in decoding order, and the frames that it shows. Both are
/// empty where none can.
fn copied(track: &Track, frames: Range<u64>) -> (Range<usize>, Range<u64>) {
    let order = track.presentation_order();
    let mut position = vec![0u64; order.len()];
    order.iter().zip(0..).for_each(|(&i, index)| position[i] = index);
    // The first sync sample after which nothing is presented before it.
    let mut begin = None;
    let mut earliest = u64::MAX;
    for (i, sample) in track.samples.iter().enumerate().rev() {
        earliest = earliest.min(position[i]);
        if sample.is_sync && earliest == position[i] && frames.contains(&position[i]) {
            begin = Some(i);
        }
    }
    let Some(begin) = begin else { return (0..0, frames.start..frames.start) };
    let first = position[begin];
    // The longest run of samples that shows consecutive frames: what follows in decoding order is not needed by it.
    let (mut end, mut last, mut shown) = (begin, first, first);
    for (i, &presented) in position.iter().enumerate().skip(begin) {
        last = last.max(presented);
        let count = (i + 1 - begin) as u64;
        if last + 1 > frames.end && count > frames.end - first {
            break;
        }
        if last + 1 == first + count && last < frames.end {
            (end, shown) = (i + 1, last + 1);
        }
    }
    (begin..end, first..shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uncovered_frames_lie_between_overlays() {
        let gaps = |range: (u64, u64), overlays: &[(u64, u64)]| -> Vec<(u64, u64)> {
            let span = |(start, end): &(u64, u64)| OverlaySpan { frames: *start..*end, fade: 0 };
            let spans: Vec<OverlaySpan> = overlays.iter().map(span).collect();
            uncovered(range.0..range.1, &spans).into_iter().map(|gap| (gap.start, gap.end)).collect()
        };
        assert_eq!(gaps((10, 20), &[]), [(10, 20)]);
        assert_eq!(gaps((10, 20), &[(0, 10), (20, 30)]), [(10, 20)]);
        assert_eq!(gaps((10, 20), &[(0, 12), (14, 16), (15, 17), (19, 30)]), [(12, 14), (17, 19)]);
        assert_eq!(gaps((10, 20), &[(0, 30)]), []);
        assert_eq!(gaps((10, 10), &[]), []);
    }
}
