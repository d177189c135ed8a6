//! The known name that a misspelled one is likely to mean.

/// Longer names are not compared: the comparison is quadratic, and names may come from anyone.
const MAX_CHARS: usize = 100;

/// The candidate nearest to a word by Damerau-Levenshtein distance, if a third of its letters or fewer differ. Case, and `-` for `_`, count as
/// equal.
#[must_use]
pub fn nearest_name<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    if length > MAX_CHARS {
        return None;
    }
    let folded = word.to_lowercase().replace('-', "_");
    candidates
        .into_iter()
        .map(|candidate| {
            let distance = strsim::damerau_levenshtein(&folded, &candidate.to_lowercase().replace('-', "_"));
            (distance, candidate)
        })
        .filter(|(distance, candidate)| {
            let longest = length.max(candidate.chars().count());
            *distance <= (longest / 3).max(1) && *distance < longest
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest_name;

    #[test]
    fn nearest_name_is_one_of_few_differences() {
        let known = ["seconds", "seed", "generate_audio", "n"];
        for (word, expected) in [
            ("secnods", Some("seconds")),
            ("Seconds", Some("seconds")),
            ("generate-audio", Some("generate_audio")),
            ("sed", Some("seed")),
            ("negative_prompt", None),
            ("fps", None),
            ("x", None),
        ] {
            assert_eq!(nearest_name(word, known), expected, "{word}");
        }
        assert_eq!(nearest_name(&"s".repeat(1_000_000), known), None);
    }
}
