//! Shapes and sizes of frames as people write them, for the help of a value that is not offered: `16x9`, `4k`, `1080`.

/// The number of lines that is meant, of a frame that is wider than high.
pub(super) fn lines_in(text: &str) -> Option<f64> {
    let folded = text.trim().to_lowercase();
    if let Some((width, height)) = sides_in(&folded) {
        return Some(width.min(height));
    }
    match folded.as_str() {
        "sd" => Some(480.0),
        "hd" => Some(720.0),
        "fhd" | "full hd" => Some(1080.0),
        "uhd" => Some(2160.0),
        text => match text.strip_suffix('k') {
            Some(thousands) => thousands.trim_end().parse().ok().map(|thousands: f64| thousands * 540.0),
            None => text.trim_end_matches(['p', 'i']).parse().ok(),
        },
    }
    .filter(|lines| (100.0..=20_000.0).contains(lines))
}

/// The quotient of width and height that is meant.
pub(super) fn ratio_in(text: &str) -> Option<f64> {
    let folded = text.trim().to_lowercase();
    match folded.as_str() {
        "landscape" | "widescreen" | "horizontal" => Some(16.0 / 9.0),
        "square" => Some(1.0),
        "portrait" | "vertical" => Some(9.0 / 16.0),
        text => sides_in(text).map(|(width, height)| width / height),
    }
}

/// The listed ratio that is nearest on a logarithmic scale. A frame that is wider than high never becomes one that is higher than wide.
pub(super) fn nearest_ratio<'a>(ratio: f64, listed: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let ratios = listed.filter_map(|value| Some((value, ratio_of(value)?.ln())));
    ratios
        .filter(|(_, listed)| listed * ratio.ln() >= 0.0)
        .min_by(|(_, a), (_, b)| (a - ratio.ln()).abs().total_cmp(&(b - ratio.ln()).abs()))
        .map(|(value, _)| value)
}

/// The quotient of a value such as `16:9`.
pub(super) fn ratio_of(text: &str) -> Option<f64> {
    let (width, height) = text.split_once(':')?;
    quotient(width.parse().ok()?, height.parse().ok()?)
}

/// Two numbers with something between them.
fn sides_in(text: &str) -> Option<(f64, f64)> {
    let (width, height) = text.split_once([':', '/', 'x', '*', '\u{d7}'])?;
    let side = |text: &str| text.trim().parse::<f64>().ok().filter(|side| (1.0..=20_000.0).contains(side));
    Some((side(width)?, side(height)?)).filter(|(width, height)| quotient(*width, *height).is_some())
}

fn quotient(width: f64, height: f64) -> Option<f64> {
    Some(width / height).filter(|ratio| (0.1..=10.0).contains(ratio))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_and_sizes_are_those_that_were_meant() {
        let listed = ["adaptive", "21:9", "16:9", "4:3", "1:1", "3:4", "9:16"];
        for (text, expected) in [
            ("16x9", Some("16:9")),
            ("1920x1080", Some("16:9")),
            ("9/16", Some("9:16")),
            ("5:4", Some("4:3")),
            ("4:5", Some("3:4")),
            ("square", Some("1:1")),
            ("hd", None),
            ("1:0", None),
        ] {
            let nearest = ratio_in(text).and_then(|ratio| nearest_ratio(ratio, listed.into_iter()));
            assert_eq!(nearest, expected, "{text}");
        }
        for (text, lines) in [
            ("4k", Some(2160.0)),
            ("1920x1080", Some(1080.0)),
            ("HD", Some(720.0)),
            ("1440", Some(1440.0)),
            ("x", None),
        ] {
            assert_eq!(lines_in(text), lines, "{text}");
        }
    }
}
