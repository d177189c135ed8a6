//! Lengths in shot lists: durations (`4`, `3s`, `4.5 sec.`, `1m 5s`, `4"`) and timecodes (`0:04`, `00:00:04`, `00:00:04:12` with
//! frames), where a number alone is seconds.

use crate::duration::parse_duration;
use crate::units::VideoDuration;

/// The length; `None` if the text is not one, or zero.
pub(super) fn parse(text: &str) -> Option<VideoDuration> {
    // From one timecode to another.
    if let Some((start, end)) = text.split_once(['-', '–', '—', '~'])
        && start.contains(':')
    {
        return between(start, end);
    }
    point(text).filter(|length| length.as_millis() > 0)
}

/// The length from one point of time to another; `None` if that is no length.
pub(super) fn between(start: &str, end: &str) -> Option<VideoDuration> {
    let millis = point(end)?.as_millis().checked_sub(point(start)?.as_millis())?;
    (millis > 0).then(|| VideoDuration::from_millis(millis))
}

fn point(text: &str) -> Option<VideoDuration> {
    let text = text.trim().to_ascii_lowercase();
    if text.len() > 32 {
        return None;
    }
    if text.contains(':') { timecode(&text) } else { duration(&text) }
}

/// `mm:ss`, `hh:mm:ss` or `hh:mm:ss:ff`. The frames are less than a second, and are dropped.
fn timecode(text: &str) -> Option<VideoDuration> {
    let parts: Vec<&str> = text.split(':').collect();
    let integer = |part: &&str| {
        (part.len() <= 4 && part.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| part.parse::<u64>().ok())?
    };
    let (hours, minutes, seconds) = match parts.as_slice() {
        [minutes, seconds] => (0, integer(minutes)?, seconds),
        [hours, minutes, seconds] => (integer(hours)?, integer(minutes)?, seconds),
        [hours, minutes, seconds, frames] => {
            integer(frames)?;
            (integer(hours)?, integer(minutes)?, seconds)
        }
        _ => return None,
    };
    let seconds = number(seconds)?;
    Some(VideoDuration::from_millis((hours * 3_600 + minutes * 60) * 1_000 + seconds.as_millis()))
}

/// A number of seconds, or a duration with units; `'` and `"` are minutes and seconds.
fn duration(text: &str) -> Option<VideoDuration> {
    if let Some(seconds) = number(text) {
        return Some(seconds);
    }
    let text = text.replace("''", "s").replace(['秒', '"'], "s").replace('\'', "m").replace(". ", " ");
    let duration = parse_duration(text.trim_end_matches('.'))?;
    Some(VideoDuration::from_secs_f64(duration.as_secs_f64()))
}

/// A decimal, with a point or a comma.
fn number(text: &str) -> Option<VideoDuration> {
    let text = text.replace(',', ".");
    let plain = text.len() <= 9
        && text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    plain.then(|| text.parse().ok().map(VideoDuration::from_secs_f64))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timecode_parses_or_rejects() {
        for (text, millis) in [
            ("4", 4_000),
            ("3s", 3_000),
            ("3 sec.", 3_000),
            ("4.5 seconds", 4_500),
            ("4,5", 4_500),
            ("0:04", 4_000),
            ("00:00:04", 4_000),
            ("00:00:04:12", 4_000),
            ("1:05.5", 65_500),
            ("1m 5s", 65_000),
            ("1'5\"", 65_000),
            ("1 min. 5 sec.", 65_000),
            ("4,5 s", 4_500),
            ("4\"", 4_000),
            ("5秒", 5_000),
            ("0:00–0:05", 5_000),
            ("00:01:58 - 00:02:01.5", 3_500),
        ] {
            assert_eq!(parse(text).map(VideoDuration::as_millis), Some(millis), "{text}");
        }
        for wrong in [
            "",
            "0",
            "soon",
            "-4",
            "4x",
            "4 5",
            "1:2:3:4:5",
            ":04",
            "1e3",
            "4..5",
            "٤",
            "99999999999",
            "0:05-0:05",
            "3-5",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
