//! The known name that a misspelled one is likely to mean.

/// Longer names are not compared: the comparison is quadratic, and names may come from anyone.
pub(super) const MAX_CHARS: usize = 100;

/// Words of other tools, with the names that they mean here.
const SYNONYMS: [(&str, &[&str]); 26] = [
    (
        "first_frame",
        &["start_frame", "start_image", "first_image", "init_image", "image", "image_url", "input_image"],
    ),
    ("last_frame", &["end_frame", "end_image", "last_image", "tail_frame"]),
    ("references", &["reference_images", "reference_image", "ref_images"]),
    ("when", &["if", "condition", "enabled"]),
    ("needs", &["depends_on", "dependencies", "after", "requires"]),
    ("continues", &["continues_from", "continue_from", "extends"]),
    ("matrix", &["strategy", "foreach", "for_each", "loop", "variants"]),
    ("takes", &["candidates", "num_videos", "count"]),
    ("note", &["comment", "description"]),
    ("retry", &["retries", "max_retries"]),
    ("timeout", &["timeout_seconds"]),
    ("shots", &["scenes", "clips", "steps"]),
    ("film", &["movie"]),
    ("params", &["variables", "vars", "parameters", "inputs"]),
    ("cast", &["characters"]),
    ("defaults", &["settings", "config"]),
    ("name", &["title"]),
    ("one_of", &["enum", "choices", "options"]),
    ("seconds", &["length", "duration", "duration_seconds"]),
    ("ratio", &["aspect_ratio", "aspect"]),
    ("generate_audio", &["audio", "sound", "with_audio"]),
    ("dissolve", &["crossfade"]),
    ("letterbox", &["contain", "pad", "padding"]),
    ("crop", &["cover", "fill", "zoom"]),
    ("id", &["name", "key"]),
    ("shot", &["id", "name", "scene", "clip"]),
];

/// The candidate that is the same word in another spelling (case, `-` or nothing for `_`), or that a word of another tool means, or else
/// the one nearest to the word by Damerau-Levenshtein distance, if a third of its letters or fewer differ.
#[must_use]
pub fn nearest_name<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    if length > MAX_CHARS {
        return None;
    }
    let folded = word.to_lowercase().replace('-', "_");
    let candidates: Vec<&str> = candidates.into_iter().collect();
    // `dependsOn` and `depends-on` are `depends_on`.
    let letters = |word: &str| word.replace(['-', '_'], "").to_lowercase();
    let written = letters(word);
    if let Some(same) = candidates.iter().find(|candidate| letters(candidate) == written) {
        return Some(same);
    }
    let mut meant = SYNONYMS.iter().filter(|(_, words)| words.iter().any(|word| letters(word) == written));
    if let Some(candidate) =
        meant.find_map(|(name, _)| candidates.iter().find(|candidate| *candidate == name))
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
        for word in ["image_url", "imageUrl", "image-url", "startImage"] {
            assert_eq!(nearest_name(word, frames), Some("first_frame"), "{word}");
        }
        assert_eq!(
            nearest_name("title", ["title", "name"]),
            Some("title"),
            "a name is not another one's synonym"
        );
        assert_eq!(nearest_name("firstFrame", frames), Some("first_frame"));
        assert_eq!(nearest_name("duration", ["durations"]), Some("durations"), "seconds is not known here");
    }
}
