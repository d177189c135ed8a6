//! Lengths as people write them in lists: `4`, `3s`, `4.5 sec`, `0:04`, `00:00:04`, `1m 5s`, with frames `00:00:04:12`.

use crate::prices::VideoDuration;

/// The length, or nothing where it is none.
pub(super) fn parse(text: &str) -> Option<VideoDuration> {
    let text = text.trim().to_ascii_lowercase();
    if text.len() > 32 {
        return None;
    }
    let found = if text.contains(':') { clock(&text) } else { words(&text) };
    found.filter(|length| length.millis() > 0)
}

/// Minutes and seconds, with hours in front or frames behind. What stands behind the fourth part is less than a second and is dropped.
fn clock(text: &str) -> Option<VideoDuration> {
    let parts: Vec<&str> = text.split(':').collect();
    let whole = |part: &&str| {
        (part.len() <= 4 && part.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| part.parse::<u64>().ok())?
    };
    let (hours, minutes, seconds) = match parts.as_slice() {
        [minutes, seconds] => (0, whole(minutes)?, seconds),
        [hours, minutes, seconds] => (whole(hours)?, whole(minutes)?, seconds),
        [hours, minutes, seconds, frames] => {
            whole(frames)?;
            (whole(hours)?, whole(minutes)?, seconds)
        }
        _ => return None,
    };
    let seconds = number(seconds)?;
    Some(VideoDuration::from_millis((hours * 3_600 + minutes * 60) * 1_000 + seconds.millis()))
}

/// A number, or numbers with units.
fn words(text: &str) -> Option<VideoDuration> {
    let mut rest = text;
    let mut total: u64 = 0;
    let mut any = false;
    while !rest.trim_start().is_empty() {
        rest = rest.trim_start();
        let digits = rest.find(|c: char| !c.is_ascii_digit() && !".,".contains(c)).unwrap_or(rest.len());
        let amount = number(&rest[..digits])?.millis();
        rest = rest[digits..].trim_start();
        let letters =
            rest.find(|c: char| !c.is_ascii_alphabetic() && !"\"'.".contains(c)).unwrap_or(rest.len());
        let unit = match rest[..letters].trim_end_matches('.') {
            "" if !any && letters == rest.len() => 1,
            "s" | "sec" | "secs" | "second" | "seconds" | "\"" | "''" => 1,
            "m" | "min" | "mins" | "minute" | "minutes" | "'" => 60,
            _ => return None,
        };
        rest = &rest[letters..];
        total = total.checked_add(amount.checked_mul(unit)?)?;
        any = true;
    }
    any.then(|| VideoDuration::from_millis(total))
}

/// A decimal, with a point or a comma.
fn number(text: &str) -> Option<VideoDuration> {
    let text = text.replace(',', ".");
    let plain =
        text.len() <= 9 && text.matches('.').count() <= 1 && text.starts_with(|c: char| c.is_ascii_digit());
    plain.then(|| text.parse().ok().map(VideoDuration::nearest))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_read_or_refused() {
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
            ("4\"", 4_000),
        ] {
            assert_eq!(parse(text).map(VideoDuration::millis), Some(millis), "{text}");
        }
        for wrong in
            ["", "0", "soon", "-4", "4x", "4 5", "1:2:3:4:5", ":04", "1e3", "4..5", "٤", "99999999999"]
        {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
