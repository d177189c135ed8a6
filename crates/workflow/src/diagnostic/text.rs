//! Wording that diagnostics share.

use std::fmt::Write;

/// Text on one line with nothing in it that a terminal would act on: control and direction-changing characters
/// are written as escapes.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() || is_invisible(c) => {
                let _ = write!(out, "\\u{{{:x}}}", c as u32);
            }
            c => out.push(c),
        }
    }
    out
}

/// Characters that print nothing but change how their neighbours are shown.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// The candidate that was probably meant, if one is near.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    if length > 100 {
        return None;
    }
    let folded = word.to_lowercase().replace('-', "_");
    let candidates: Vec<&str> = candidates.into_iter().collect();
    // The beginning of a long name is that name, cut short.
    if length >= 4
        && let Some(longer) = candidates.iter().find(|candidate| candidate.starts_with(word))
    {
        return Some(longer);
    }
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

/// `did you mean `seconds`?`, if something is near.
pub(crate) fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, candidates).map(|candidate| format!("did you mean `{candidate}`?"))
}

/// `` `a`, `b` and 3 more ``.
pub(crate) fn quoted_list<'a>(words: impl IntoIterator<Item = &'a str>, most: usize) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    if words.len() > most {
        return format!("{} and {} more", words[..most].join(", "), words.len() - most);
    }
    match words.as_slice() {
        [] => "nothing".to_owned(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// 10,000,000 rather than 10000000.
pub(crate) fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_and_direction_characters_are_written_out() {
        assert_eq!(visible("a\u{1b}[31mb\n\u{202e}"), "a\\u{1b}[31mb\\n\\u{202e}");
    }

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let words = ["seconds", "seed", "size", "first_frame"];
        assert_eq!(nearest("secnds", words), Some("seconds"));
        assert_eq!(nearest("first-frame", words), Some("first_frame"));
        assert_eq!(nearest("SEED", words), Some("seed"));
        assert_eq!(nearest("firs", words), Some("first_frame"));
        assert_eq!(nearest("xyzzy", words), None);
        assert_eq!(nearest("a", words), None);
    }

    #[test]
    fn lists_read_as_sentences() {
        assert_eq!(quoted_list([], 3), "nothing");
        assert_eq!(quoted_list(["a"], 3), "`a`");
        assert_eq!(quoted_list(["a", "b", "c"], 3), "`a`, `b` and `c`");
        assert_eq!(quoted_list(["a", "b", "c"], 2), "`a`, `b` and 1 more");
    }
}
