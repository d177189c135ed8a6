//! Words that people write for `true` and `false`, for the help of a value that is neither.

use crate::diagnostic::nearest;

const YES: [&str; 15] = [
    "true", "yes", "on", "y", "t", "1", "enabled", "enable", "always", "with", "include", "add", "ja", "oui",
    "si",
];
const NO: [&str; 28] = [
    "false",
    "no",
    "off",
    "n",
    "f",
    "0",
    "disabled",
    "disable",
    "none",
    "null",
    "nil",
    "not",
    "never",
    "nope",
    "without",
    "remove",
    "removed",
    "omit",
    "exclude",
    "hide",
    "hidden",
    "skip",
    "optional",
    "nein",
    "non",
    "aus",
    "deactivated",
    "inactive",
];
/// Words for silence: true where the key asks for it, false where the key asks for sound.
const SILENCE: [&str; 4] = ["mute", "muted", "silent", "silence"];

/// The truth that a word means as the value of a key; `None` if it says neither.
pub(crate) fn suggested_truth(key: &str, word: &str) -> Option<bool> {
    let folded = word.trim().trim_matches(|c: char| c.is_ascii_punctuation()).to_lowercase();
    let folded = folded.as_str();
    if SILENCE.contains(&folded) {
        return Some(key == "mute");
    }
    if NO.contains(&folded) {
        return Some(false);
    }
    let is_yes = YES.contains(&folded) || folded == key;
    is_yes.then_some(true).or_else(|| nearest(folded, ["true", "false"]).map(|truth| truth == "true"))
}

#[cfg(test)]
mod tests {
    use super::suggested_truth;

    #[test]
    fn words_mean_the_truth_that_they_say() {
        for (word, truth) in [
            ("yes", Some(true)),
            ("Enabled", Some(true)),
            ("ture", Some(true)),
            ("generate_audio", Some(true)),
            ("disabled", Some(false)),
            ("none", Some(false)),
            ("nein", Some(false)),
            ("muted", Some(false)),
            ("silent", Some(false)),
            ("never", Some(false)),
            ("nope", Some(false)),
            ("false.", Some(false)),
            ("no.", Some(false)),
            ("remove", Some(false)),
            ("without", Some(false)),
            ("disable", Some(false)),
            ("maybe", None),
            ("stereo", None),
            ("", None),
        ] {
            assert_eq!(suggested_truth("generate_audio", word), truth, "{word}");
        }
        assert_eq!(suggested_truth("mute", "silent"), Some(true));
    }
}
