//! Subtitles: lines of clips on the film's clock, as `SubRip` and `WebVTT`.

mod lines;
mod wrap;

use std::fmt::Write as _;
use std::time::Duration;

pub use self::lines::lines;
use crate::model::{Item, Timeline};

/// The least gap between two cues, in film frames (customary).
const MIN_GAP_FRAMES: u64 = 2;
/// The most lines of a cue (customary).
const MAX_LINES: usize = 2;

/// A line that is spoken in a clip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The index of the item in the timeline.
    pub item: usize,
    /// When it begins, from the beginning of the clip's file.
    pub start: Duration,
    /// When it ends, from the beginning of the clip's file.
    pub end: Duration,
    pub speaker: Option<String>,
    /// What is said.
    pub text: String,
}

/// A subtitle on the film's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cue {
    /// From the beginning of the film.
    pub start: Duration,
    /// Later than `start`.
    pub end: Duration,
    pub speaker: Option<String>,
    /// At most two lines.
    pub text: String,
}

/// The cues of a film, in order.
///
/// A line is shown while its clip is, between the cuts; what is outside of that, is empty, or names no item, is left out. Text is wrapped to two
/// lines of 42 letters (16 in Chinese, Japanese and Korean); a longer one becomes several cues, whose times are proportional to their
/// letters. A cue ends two film frames before the next one begins. Times are whole milliseconds.
pub fn cues(timeline: &Timeline, lines: &[Line]) -> Vec<Cue> {
    let mut cues: Vec<Cue> = lines.iter().flat_map(|line| cues_of_line(timeline, line)).collect();
    cues.sort_by_key(|cue| (cue.start, cue.end));
    let gap = Duration::from_millis(millis_at(MIN_GAP_FRAMES, timeline).max(1));
    for index in 1..cues.len() {
        let next = cues[index].start;
        let cue = &mut cues[index - 1];
        let latest = next.saturating_sub(gap);
        if cue.end > latest && latest > cue.start {
            cue.end = latest;
        }
    }
    cues
}

fn cues_of_line(timeline: &Timeline, line: &Line) -> Vec<Cue> {
    let Some(item) = timeline.items.get(line.item) else { return Vec::new() };
    let (from, to) = (millis_at(item.start, timeline), millis_at(item.end(), timeline));
    let start = film_time(item, from, line.start).clamp(from, to);
    let end = film_time(item, from, line.end).clamp(from, to);
    let speaker = line.speaker.as_deref().map(plain).filter(|name| !name.is_empty());
    let before = speaker.as_ref().map_or(0, |name| prefix(name).chars().count());
    let parts = wrap::wrapped(&line.text, before, MAX_LINES);
    let letters = |lines: &[String]| lines.iter().map(|line| line.chars().count() as u64).sum::<u64>();
    let total = letters(&parts);
    if end <= start || total == 0 {
        return Vec::new();
    }
    let (mut cues, mut shown) = (Vec::new(), 0);
    let millis_after =
        |shown: u64| start + (u128::from(end - start) * u128::from(shown) / u128::from(total)) as u64;
    for chunk in parts.chunks(MAX_LINES) {
        let begin = millis_after(shown);
        shown += letters(chunk);
        if millis_after(shown) > begin {
            cues.push(Cue {
                start: Duration::from_millis(begin),
                end: Duration::from_millis(millis_after(shown)),
                speaker: speaker.clone(),
                text: chunk.join("\n"),
            });
        }
    }
    cues
}

/// Milliseconds in the film of a time in an item's file, which may be before the item's cut.
fn film_time(item: &Item, start: u64, time: Duration) -> u64 {
    let rate = item.source.frame_rate;
    let trimmed =
        u128::from(item.first) * u128::from(rate.denominator()) * 1_000 / u128::from(rate.numerator());
    let (up, down) = item.speed.ratio();
    let after = |millis: u128| millis.saturating_mul(u128::from(down)) / u128::from(up);
    let time = time.as_millis();
    let start = u128::from(start);
    let sum = match time.checked_sub(trimmed) {
        Some(later) => start.saturating_add(after(later)),
        None => start.saturating_sub(after(trimmed - time)),
    };
    u64::try_from(sum).unwrap_or(u64::MAX)
}

/// The nearest millisecond of a film frame.
fn millis_at(frame: u64, timeline: &Timeline) -> u64 {
    let rate = timeline.frame_rate;
    let (up, down) =
        (u128::from(frame) * u128::from(rate.denominator()) * 1_000, u128::from(rate.numerator()));
    u64::try_from((up + down / 2) / down).unwrap_or(u64::MAX)
}

/// Text without control characters, on one line.
fn plain(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Cues as `SubRip`: UTF-8, times with a comma. A speaker precedes the text.
pub fn srt(cues: &[Cue]) -> String {
    let mut text = String::new();
    for (index, cue) in cues.iter().enumerate() {
        // An arrow would be read as a line of times.
        let text_of_cue = spoken(cue).replace("-->", "→");
        let _ = write!(
            text,
            "{}\n{} --> {}\n{text_of_cue}\n\n",
            index + 1,
            clock(cue.start, ','),
            clock(cue.end, ',')
        );
    }
    text
}

/// Cues as `WebVTT` (W3C), with the speaker as voice.
pub fn vtt(cues: &[Cue]) -> String {
    let mut text = "WEBVTT\n\n".to_owned();
    for cue in cues {
        let voice =
            cue.speaker.as_ref().map(|name| format!("<v {}>", escaped(&plain(name)))).unwrap_or_default();
        let _ = write!(
            text,
            "{} --> {} line:85%\n{voice}{}\n\n",
            clock(cue.start, '.'),
            clock(cue.end, '.'),
            escaped(&body(&cue.text))
        );
    }
    text
}

/// A cue's lines, preceded by who speaks.
pub(crate) fn spoken(cue: &Cue) -> String {
    let speaker = cue.speaker.as_deref().map(prefix).unwrap_or_default();
    format!("{speaker}{}", body(&cue.text))
}

fn prefix(speaker: &str) -> String {
    format!("{}: ", plain(speaker))
}

/// A cue's lines; an empty one would end it.
fn body(text: &str) -> String {
    text.lines().map(plain).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn clock(time: Duration, point: char) -> String {
    let (seconds, millis) = (time.as_secs(), time.subsec_millis());
    format!("{:02}:{:02}:{:02}{point}{millis:03}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}
