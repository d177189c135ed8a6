//! The known name that a misspelled one is likely to mean.

/// Longer names are not compared: the comparison is quadratic, and names may come from anyone.
pub(super) const MAX_CHARS: usize = 100;

/// Words of other tools, with the names that they mean here.
const SYNONYMS: [(&str, &str); 36] = [
    ("start_frame", "first_frame"),
    ("start_image", "first_frame"),
    ("first_image", "first_frame"),
    ("end_frame", "last_frame"),
    ("end_image", "last_frame"),
    ("last_image", "last_frame"),
    ("tail_frame", "last_frame"),
    ("if", "when"),
    ("condition", "when"),
    ("enabled", "when"),
    ("depends_on", "needs"),
    ("dependencies", "needs"),
    ("after", "needs"),
    ("scenes", "shots"),
    ("clips", "shots"),
    ("steps", "shots"),
    ("variables", "params"),
    ("vars", "params"),
    ("length", "seconds"),
    ("duration", "seconds"),
    ("aspect_ratio", "ratio"),
    ("audio", "generate_audio"),
    ("crossfade", "dissolve"),
    ("contain", "letterbox"),
    ("cover", "crop"),
    ("retries", "retry"),
    ("name", "id"),
    ("key", "id"),
    ("id", "shot"),
    ("name", "shot"),
    ("scene", "shot"),
    ("clip", "shot"),
    ("pad", "letterbox"),
    ("padding", "letterbox"),
    ("fill", "crop"),
    ("zoom", "crop"),
];

/// The candidate that a word of another tool means, or else the one nearest to the word by Damerau-Levenshtein distance, if a third of its letters or fewer differ. Case, and `-` for `_`, count as
/// equal.
#[must_use]
pub fn nearest_name<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    if length > MAX_CHARS {
        return None;
    }
    let folded = word.to_lowercase().replace('-', "_");
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let mut synonyms = SYNONYMS.iter().filter(|(synonym, _)| *synonym == folded);
    if let Some(candidate) =
        synonyms.find_map(|(_, name)| candidates.iter().find(|candidate| *candidate == name))
    {
        return Some(candidate);
    }
    candidates
        .into_iter()
        .map(|candidate| {
            let distance = strsim::damerau_levenshtein(&folded, &candidate.to_lowercase().replace('-', "_"));
            (distance, candidate)
        })
        .filter(|(distance, candidate)| {
            let longest = length.max(candidate.chars().count());
            // Of two letters, half would differ: `on` is not `n`.
            let most = if longest < 3 { 0 } else { (longest / 3).max(1) };
            *distance <= most && *distance < longest
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest_name;

    #[test]
    fn nearest_name_is_one_of_few_differences() {
        let candidates = ["seconds", "seed", "generate_audio", "n"];
        for (word, expected) in [
            ("secnods", Some("seconds")),
            ("Seconds", Some("seconds")),
            ("generate-audio", Some("generate_audio")),
            ("sed", Some("seed")),
            ("negative_prompt", None),
            ("fps", None),
            ("x", None),
            ("on", None),
        ] {
            assert_eq!(nearest_name(word, candidates), expected, "{word}");
        }
        assert_eq!(nearest_name(&"s".repeat(1_000_000), candidates), None);
        let frames = ["last_frame", "first_frame", "seconds"];
        assert_eq!(nearest_name("start_frame", frames), Some("first_frame"), "not the nearer `last_frame`");
        assert_eq!(nearest_name("duration", frames), Some("seconds"));
        assert_eq!(nearest_name("duration", ["durations"]), Some("durations"), "seconds is not known here");
    }
}
