//! The sound that lies over a film: the plan's, with times on the film's clock.

use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use timeline::Timeline;
use timeline::subtitles::Cue;
use workflow::plan::Soundtrack;
use workflow::units::{EditTime, FrameRate, Loudness};

/// Somebody speaks this long before and after a line is shown.
const SPEECH_MARGIN: Duration = Duration::from_millis(100);

/// The soundtrack of a film whose files are in `folder`, the workflow's. `spoken` are the lines of its shots.
pub(crate) fn soundtrack(
    plan: &Soundtrack,
    timeline: &Timeline,
    spoken: &[Cue],
    folder: &Path,
) -> media::Soundtrack {
    let rate = timeline.frame_rate;
    let length = |time: Option<EditTime>| time.map_or(Duration::ZERO, |time| duration(time, rate));
    let music = plan.music.as_ref().map(|music| media::Music {
        path: folder.join(&music.file.path),
        gain: music.gain.amplitude(),
        start: length(music.start),
        is_repeated: music.repeat,
        fade_in: length(music.fade_in),
        fade_out: length(music.fade_out),
        duck: 1.0 / music.duck.amplitude(),
        speech: if music.duck.is_zero() { Vec::new() } else { spoken.iter().map(speech).collect() },
    });
    let voices = plan.voices.iter().map(|voice| {
        let start = timeline.items.get(voice.clip).map_or(0, |item| item.start);
        let start = duration(EditTime::Frames(i64::try_from(start).unwrap_or(i64::MAX)), rate);
        media::Voice {
            path: folder.join(&voice.file.path),
            start: start + length(voice.delay),
            gain: voice.gain.amplitude(),
        }
    });
    media::Soundtrack { music, voices: voices.collect(), loudness: plan.loudness.map(Loudness::as_f64) }
}

/// When a line is spoken, probably.
fn speech(cue: &Cue) -> Range<Duration> {
    cue.start.saturating_sub(SPEECH_MARGIN)..cue.end + SPEECH_MARGIN
}

fn duration(time: EditTime, rate: FrameRate) -> Duration {
    let micros = match time {
        EditTime::Micros(micros) => u64::try_from(micros).unwrap_or(0),
        EditTime::Frames(frames) => {
            let frames = u128::try_from(frames).unwrap_or(0);
            let micros = frames * 1_000_000 * u128::from(rate.denominator()) / u128::from(rate.numerator());
            u64::try_from(micros).unwrap_or(u64::MAX)
        }
    };
    Duration::from_micros(micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_on_the_films_clock() {
        let ntsc: FrameRate = "30000/1001".parse().unwrap();
        assert_eq!(duration(EditTime::Frames(30), ntsc), Duration::from_millis(1_001));
        assert_eq!(duration(EditTime::Micros(1_500_000), ntsc), Duration::from_millis(1_500));
        assert_eq!(duration(EditTime::Frames(-1), ntsc), Duration::ZERO);
    }
}
