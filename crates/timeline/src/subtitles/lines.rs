//! The times of a shot's lines in its video.

use std::time::Duration;

use workflow::plan::DialogueLine;
use workflow::units::{EditTime, FrameRate};

use super::Line;
use crate::model::{Item, Timeline};

/// The lines of a film: `dialogue` are those of the nodes that it shows, by the index of the clip in the film.
///
/// A line without a time begins after the one before it, and a line without a length lasts until the next line begins, or until its video
/// ends. Several lines without times share what is left in proportion to their letters.
pub fn lines(timeline: &Timeline, dialogue: &[Option<&[DialogueLine]>]) -> Vec<Line> {
    let of_item = |(index, item): (usize, &Item)| {
        let lines_of_clip = dialogue.get(item.clip).copied().flatten().unwrap_or_default();
        with_times(lines_of_clip, item.source.frames, item.source.frame_rate)
            .into_iter()
            .map(move |(line, start, end)| Line {
                item: index,
                start,
                end,
                speaker: line.speaker.clone(),
                text: line.text.clone(),
            })
            .collect::<Vec<_>>()
    };
    timeline.items.iter().enumerate().flat_map(of_item).collect()
}

/// Lines with their beginnings and ends in a video of this many frames.
fn with_times(
    lines: &[DialogueLine],
    video_frames: u64,
    rate: FrameRate,
) -> Vec<(&DialogueLine, Duration, Duration)> {
    let end = frames(video_frames, rate);
    let time = |time: EditTime| match time {
        EditTime::Micros(micros) => Duration::from_micros(u64::try_from(micros).unwrap_or(0)),
        EditTime::Frames(count) => frames(u64::try_from(count).unwrap_or(0), rate),
    };
    let mut timed_lines = Vec::with_capacity(lines.len());
    let mut now = Duration::ZERO;
    let mut rest = lines;
    while let Some(first) = rest.first() {
        // Lines that follow each other without a time or a length between them.
        let start = first.at.map_or(now, time).min(end);
        let mut count = 1;
        while rest[count - 1].length.is_none() && rest.get(count).is_some_and(|next| next.at.is_none()) {
            count += 1;
        }
        let (group, others) = rest.split_at(count);
        let until = match (group[count - 1].length, others.first().and_then(|next| next.at)) {
            (Some(length), _) if count == 1 => (start + time(length)).min(end),
            (_, Some(next)) => time(next).clamp(start, end),
            (_, None) => end,
        };
        let letters: u32 = group.iter().map(letters_of).sum();
        let mut shown = 0;
        let time_after = |shown: u32| start + until.saturating_sub(start) * shown / letters.max(1);
        for line in group {
            let begin = time_after(shown);
            shown += letters_of(line);
            let close = line.length.map_or(time_after(shown), |length| (begin + time(length)).min(end));
            timed_lines.push((line, begin, close));
            now = close;
        }
        rest = others;
    }
    timed_lines
}

fn letters_of(line: &DialogueLine) -> u32 {
    u32::try_from(line.text.chars().count()).unwrap_or(u32::MAX).clamp(1, 100_000)
}

/// How long frames last.
fn frames(count: u64, rate: FrameRate) -> Duration {
    let micros =
        u128::from(count) * u128::from(rate.denominator()) * 1_000_000 / u128::from(rate.numerator());
    Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str, start: Option<&str>, length: Option<&str>) -> DialogueLine {
        let time = |text: &str| text.parse::<EditTime>().unwrap();
        DialogueLine { text: text.to_owned(), speaker: None, at: start.map(time), length: length.map(time) }
    }

    /// Beginnings and ends in seconds in a video of ten seconds.
    fn times(lines: &[DialogueLine]) -> Vec<(f64, f64)> {
        let timed_lines = with_times(lines, 240, FrameRate::new(24, 1).unwrap());
        timed_lines.iter().map(|(_, start, end)| (start.as_secs_f64(), end.as_secs_f64())).collect()
    }

    #[test]
    fn one_line_lasts_as_long_as_its_video() {
        assert_eq!(times(&[line("Who is there?", None, None)]), [(0.0, 10.0)]);
        assert_eq!(times(&[line("Who is there?", Some("12f"), Some("2s"))]), [(0.5, 2.5)]);
        assert_eq!(times(&[line("Who is there?", Some("9s"), Some("5s"))]), [(9.0, 10.0)]);
        assert_eq!(times(&[line("Who is there?", Some("240f"), None)]), [(10.0, 10.0)]);
        assert_eq!(times(&[]), []);
    }

    #[test]
    fn lines_without_times_share_the_video_by_their_letters() {
        assert_eq!(times(&[line("abcd", None, None), line("a", None, None)]), [(0.0, 8.0), (8.0, 10.0)]);
    }

    #[test]
    fn a_line_lasts_until_the_next_one() {
        let lines = [line("a", Some("1s"), None), line("b", Some("4s"), Some("1s")), line("c", None, None)];
        assert_eq!(times(&lines), [(1.0, 4.0), (4.0, 5.0), (5.0, 10.0)]);
        let lines = [line("a", None, None), line("b", None, Some("1s")), line("c", Some("9s"), None)];
        assert_eq!(times(&lines), [(0.0, 4.5), (4.5, 5.5), (9.0, 10.0)]);
    }

    #[test]
    fn times_beyond_the_video_or_backwards_are_bounded() {
        let lines = [line("a", Some("20s"), None), line("b", Some("2s"), None), line("c", None, None)];
        for (start, end) in times(&lines) {
            assert!((0.0..=10.0).contains(&start) && start <= end && end <= 10.0, "{start} {end}");
        }
    }
}
