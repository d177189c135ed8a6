//! The known model that an unknown id is likely to mean: ids are compared segment by segment, because a family, a version or a resolution
//! that differs in one character is another one.

use std::cmp::Reverse;

use super::nearest::MAX_CHARS;

/// The model of the catalogue that an unknown id is likely to mean; `None` if none begins alike.
#[must_use]
pub fn nearest_model<'a>(id: &str, models: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if id.chars().count() > MAX_CHARS {
        return None;
    }
    let nearest = models_nearest_first(id, models).into_iter().next()?;
    let (written, meant) = (segments(id), segments(nearest));
    let (written, meant) = (written.first()?, meant.first()?);
    let distance = strsim::damerau_levenshtein(written, meant);
    (distance <= written.chars().count() / 3).then_some(nearest)
}

/// The models of the catalogue, the ones most like an id first: those with the longest common beginning, then those with the most segments
/// in common and the fewest others, then those of the nearest resolution.
pub(super) fn models_nearest_first<'a>(id: &str, models: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    // The comparison is quadratic in the length, and the input is untrusted.
    let head: String = id.chars().take(MAX_CHARS).collect();
    let written = segments(&head);
    let mut sorted: Vec<&str> = models.into_iter().collect();
    sorted.sort_by_cached_key(|model| {
        let candidate = segments(model);
        let prefix = written.iter().zip(&candidate).take_while(|(a, b)| a == b).count();
        let common = common_segments(&written, &candidate);
        let others = written.len() + candidate.len() - 2 * common;
        let typos = strsim::damerau_levenshtein(&written.concat(), &candidate.concat());
        (Reverse(prefix), Reverse(common), others, resolution_distance(&written, &candidate), typos)
    });
    sorted
}

/// The parts of an id in lower case, without their separators; a digit after a letter begins a part, as in `video2`.
fn segments(id: &str) -> Vec<String> {
    let mut segments: Vec<String> = Vec::new();
    let mut before = ' ';
    for c in id.chars() {
        let is_start = !before.is_alphanumeric() || (before.is_alphabetic() && c.is_ascii_digit());
        if c.is_alphanumeric() {
            if is_start {
                segments.push(String::new());
            }
            segments.last_mut().into_iter().for_each(|segment| segment.extend(c.to_lowercase()));
        }
        before = c;
    }
    segments
}

/// The length of the longest common subsequence.
fn common_segments(a: &[String], b: &[String]) -> usize {
    let mut lengths = vec![0; b.len() + 1];
    for x in a {
        let mut diagonal = 0;
        for (index, y) in b.iter().enumerate() {
            let above = lengths[index + 1];
            lengths[index + 1] = if x == y { diagonal + 1 } else { above.max(lengths[index]) };
            diagonal = above;
        }
    }
    lengths.last().copied().unwrap_or_default()
}

/// How far the resolutions of two ids are apart, in lines; 0 if one of them names none.
fn resolution_distance(a: &[String], b: &[String]) -> u32 {
    let lines = |segments: &[String]| {
        segments.iter().find_map(|segment| match segment.strip_suffix('k') {
            Some(thousands) => thousands.parse::<u32>().ok()?.checked_mul(540),
            None => segment.strip_suffix('p')?.parse().ok(),
        })
    };
    lines(a).zip(lines(b)).map_or(0, |(a, b)| a.abs_diff(b))
}

#[cfg(test)]
mod tests {
    use super::nearest_model;

    #[test]
    fn nearest_model_is_of_the_same_family_version_and_resolution() {
        let known = [
            "modela-video-2-0-260128",
            "modela-video-2-0-fast-260128",
            "modelb-video-480p",
            "modelb-video-720p",
            "modelb-video-1.5-preview-480p",
            "modelb-video-1.5-preview-720p",
        ];
        for (id, model) in [
            ("modela-video-2.0", Some("modela-video-2-0-260128")),
            ("modela-video-2-0", Some("modela-video-2-0-260128")),
            ("ModelA_Video_2_0", Some("modela-video-2-0-260128")),
            ("modela-video2.0-fast", Some("modela-video-2-0-fast-260128")),
            ("modelb-video-1.5-480p", Some("modelb-video-1.5-preview-480p")),
            ("modelb-video-1-5-preview-720p", Some("modelb-video-1.5-preview-720p")),
            ("modelb-video-1080p", Some("modelb-video-720p")),
            ("modelb-video-4k", Some("modelb-video-720p")),
            ("modelb-video-360p", Some("modelb-video-480p")),
            ("modella-video-2-0-260128", Some("modela-video-2-0-260128")),
            ("other-video-3", None),
            ("", None),
        ] {
            assert_eq!(nearest_model(id, known), model, "{id}");
        }
        assert_eq!(nearest_model(&"modela-".repeat(100_000), known), None);
    }
}
