//! Levels and speeds as other programs write them, for the help of a value in another unit.

use super::keys::Shape;
use crate::units::{Decibels, Speed};

/// The smallest number that is a percentage rather than a factor that is too large.
const MIN_PERCENT: f64 = 25.0;

/// The value of a shape that a text in another unit was probably meant as: a factor or a percentage for decibels, a percentage without its
/// sign or a word for a speed.
pub(super) fn meant(shape: Shape, text: &str) -> Option<String> {
    match shape {
        Shape::Decibels => decibels(text).filter(|level| level.parse::<Decibels>().is_ok()),
        Shape::Attenuation => {
            let level = decibels(text)?;
            Some(level.trim_start_matches('-').to_owned()).filter(|level| level.parse::<Decibels>().is_ok())
        }
        Shape::Speed => speed(text).filter(|speed| speed.parse::<Speed>().is_ok()),
        _ => None,
    }
}

/// The decibels of a factor of the amplitude, whole: `50%` and `0.5` are -6 dB. A number from 1 may be decibels without their unit.
fn decibels(text: &str) -> Option<String> {
    let text = text.trim();
    let factor = match (text.strip_suffix('%'), text.strip_suffix(['x', '\u{d7}'])) {
        (Some(percent), _) => percent.trim_end().parse::<f64>().ok()? / 100.0,
        (_, Some(factor)) => factor.trim_end().parse().ok()?,
        _ => text.parse().ok().filter(|factor| *factor < 1.0)?,
    };
    (factor > 0.0).then(|| format!("{:.0}dB", 20.0 * factor.log10() + 0.0))
}

fn speed(text: &str) -> Option<String> {
    match text.trim().to_lowercase().as_str() {
        "slow" | "slower" | "half" | "slowmo" | "slow motion" => Some("0.5".to_owned()),
        "fast" | "faster" | "double" => Some("2".to_owned()),
        "normal" => Some("1".to_owned()),
        number => match number.parse::<f64>().ok()? {
            percent if percent >= MIN_PERCENT => Some(format!("{percent}%")),
            // Beyond what there is, the bound.
            factor if factor > Speed::MAX => Some(Speed::MAX.to_string()),
            factor if factor > 0.0 && factor < Speed::MIN => Some(Speed::MIN.to_string()),
            _ => None,
        },
    }
}

/// Whether a text is a timecode with frames, such as `00:00:01:12`.
pub(super) fn is_timecode(text: &str) -> bool {
    let parts: Vec<&str> = text.trim().split([':', ';']).collect();
    parts.len() == 4 && parts.iter().all(|part| !part.is_empty() && part.bytes().all(|c| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_in_other_units_are_converted() {
        for (shape, text, value) in [
            (Shape::Decibels, "50%", Some("-6dB")),
            (Shape::Decibels, "0.5", Some("-6dB")),
            (Shape::Decibels, "200%", Some("6dB")),
            (Shape::Decibels, "100%", Some("0dB")),
            (Shape::Decibels, "0.25x", Some("-12dB")),
            (Shape::Decibels, "3", None),
            (Shape::Decibels, "-6", None),
            (Shape::Decibels, "0%", None),
            (Shape::Attenuation, "50%", Some("6dB")),
            (Shape::Speed, "200", Some("200%")),
            (Shape::Speed, "slow", Some("0.5")),
            (Shape::Speed, "20000", None),
            (Shape::Speed, "12", Some("10")),
            (Shape::Speed, "0.05", Some("0.1")),
            (Shape::Speed, "0", None),
            (Shape::FrameRate, "50%", None),
        ] {
            assert_eq!(meant(shape, text).as_deref(), value, "{text}");
        }
        assert!(is_timecode("00:00:01:12") && is_timecode("00:00:01;12"));
        assert!(!is_timecode("00:00:01") && !is_timecode("a:b:c:d"));
    }
}
