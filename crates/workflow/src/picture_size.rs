//! Sizes of pictures as people write them (`1080p`, `4k`, `1920*1080`, `16:9`), for the help of a size in the wrong form.

/// The numbers of lines that are written without a unit: other numbers are widths.
const LINES: [u32; 8] = [360, 480, 540, 720, 1080, 1440, 2160, 4320];
/// The sides of a size that is meant.
const SIDES: std::ops::RangeInclusive<u32> = 16..=16_384;

/// The number of lines that is meant, of a picture that is wider than high.
pub(crate) fn suggested_lines(text: &str) -> Option<u32> {
    let text = folded(text);
    if let Some((width, height)) = sides(&text) {
        return Some(width.min(height));
    }
    let number = |digits: &str| digits.parse().ok().filter(|number| SIDES.contains(number));
    match text.as_str() {
        "sd" => Some(480),
        "hd" => Some(720),
        "fhd" | "fullhd" => Some(1080),
        "qhd" | "2k" => Some(1440),
        "uhd" | "ultrahd" => Some(2160),
        text => match text.strip_suffix('k') {
            Some(thousands) => number(thousands.trim_end())
                .or_else(|| thousands.parse().ok())
                .and_then(|k: u32| k.checked_mul(540)),
            None => number(text.trim_end_matches(['p', 'i'])),
        },
    }
}

/// The columns and rows that are meant.
pub(crate) fn suggested_size(text: &str) -> Option<(u32, u32)> {
    let text = folded(text);
    if let Some(sides) = sides(&text) {
        return Some(sides);
    }
    if let Some((width, height)) = text.split_once([':', '/']) {
        let ratio = width.parse::<f64>().ok()? / height.parse::<f64>().ok()?;
        let scaled = |ratio: f64| even(720.0 * ratio);
        return match ratio {
            ratio if (1.0..=10.0).contains(&ratio) => Some((scaled(ratio), 720)),
            ratio if (0.1..1.0).contains(&ratio) => Some((720, scaled(1.0 / ratio))),
            _ => None,
        };
    }
    if let Some(width) = text.parse().ok().filter(|width| SIDES.contains(width) && !LINES.contains(width)) {
        return Some((width, even(f64::from(width) * 9.0 / 16.0)));
    }
    let lines = suggested_lines(&text)?;
    Some((even(f64::from(lines) * 16.0 / 9.0), lines))
}

/// Lower case, without blanks, dashes and units.
fn folded(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '-' | '_')).collect();
    text.to_lowercase().replace("px", "").replace("pixels", "")
}

fn sides(folded: &str) -> Option<(u32, u32)> {
    let (width, height) = folded.split_once(['x', '*', '\u{d7}', ',']).or_else(|| folded.split_once("by"))?;
    let side = |text: &str| text.parse().ok().filter(|side| SIDES.contains(side));
    Some((side(width)?, side(height)?))
}

/// The nearest even number.
fn even(side: f64) -> u32 {
    ((side / 2.0).round() * 2.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_that_were_meant() {
        for (text, size) in [
            ("1920*1080", (1920, 1080)),
            ("1920\u{d7}1080", (1920, 1080)),
            ("1920 X 1080 px", (1920, 1080)),
            ("1920", (1920, 1080)),
            ("1080", (1920, 1080)),
            ("1080p", (1920, 1080)),
            ("480p", (854, 480)),
            ("4K", (3840, 2160)),
            ("HD", (1280, 720)),
            ("16:9", (1280, 720)),
            ("9:16", (720, 1280)),
            ("1:1", (720, 720)),
        ] {
            assert_eq!(suggested_size(text), Some(size), "{text}");
        }
        for text in ["", "large", "0x480", "16:0", "5", "99999999999999999999k", "1x1"] {
            assert_eq!(suggested_size(text), None, "{text}");
        }
        for (text, lines) in
            [("4k", 2160), ("1920x1080", 1080), ("1080x1920", 1080), ("full HD", 1080), ("1440", 1440)]
        {
            assert_eq!(suggested_lines(text), Some(lines), "{text}");
        }
    }
}
