//! The known name that a misspelled one is likely to mean.

/// Longer names are not compared: the comparison is quadratic, and names may come from anyone.
pub(super) const MAX_CHARS: usize = 100;

/// The usual words of services and other tools, with the names that they mean here.
const SYNONYMS: &str = include_str!("synonyms.txt");

/// The candidate that [`listed_synonym`] or else [`nearest_spelling`] finds.
pub fn nearest_name<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    listed_synonym(word, candidates.iter().copied()).or_else(|| nearest_spelling(word, candidates))
}

/// The candidate that is the same word in another spelling (case, `-` or nothing for `_`), or that a word of another tool means.
pub fn listed_synonym<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.chars().count() > MAX_CHARS {
        return None;
    }
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let written = letters(word);
    let same = candidates.iter().find(|candidate| letters(candidate) == written);
    let rows = SYNONYMS.lines().filter_map(|row| row.split_once(": "));
    let mut meant = rows.filter(|(_, words)| words.split(' ').any(|word| letters(word) == written));
    same.or_else(|| meant.find_map(|(name, _)| candidates.iter().find(|candidate| **candidate == name)))
        .copied()
}

/// The candidate that is the same word in another spelling, or else the nearest by Damerau-Levenshtein distance, if a third
/// of its letters or fewer differ. For names that the user chose: no word of another tool means one of them.
pub fn nearest_spelling<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    if length > MAX_CHARS {
        return None;
    }
    let folded = word.to_lowercase().replace('-', "_");
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let written = letters(word);
    if let Some(same) = candidates.iter().find(|candidate| letters(candidate) == written) {
        return Some(same);
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

/// The letters of a name alone: `dependsOn` and `depends-on` are `depends_on`. The sign of a number is none that joins words.
fn letters(word: &str) -> String {
    if !word.contains(char::is_alphabetic) {
        return word.to_owned();
    }
    word.replace(['-', '_', ' '], "").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::{nearest_name, nearest_spelling};

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
        assert_eq!(nearest_name("name", ["id", "look"]), Some("id"));
        assert_eq!(nearest_spelling("name", ["id", "look"]), None, "`name` is no `id` in a template");
        assert_eq!(nearest_spelling("eye_color", ["eye color"]), Some("eye color"));
        assert_eq!(nearest_name("duration", ["durations"]), Some("durations"), "seconds is not known here");
    }
}
