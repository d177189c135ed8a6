//! Text helpers of diagnostics.

use std::fmt::Write;

/// Text on one line, with control and bidirectional characters escaped.
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

/// Characters that are invisible and change how others are displayed.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// The nearest candidate, if one is near enough.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    contract::listed_synonym(word, candidates.iter().copied()).or_else(|| nearest_own(word, candidates))
}

/// The nearest of names that the author of a file chose, if one is near enough.
pub(crate) fn nearest_own<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    // The beginning of a long name is that name, cut short.
    let is_beginning = (4..=100).contains(&word.chars().count());
    let longer = candidates.iter().copied().find(|candidate| is_beginning && candidate.starts_with(word));
    longer.or_else(|| contract::nearest_spelling(word, candidates))
}

/// The help `did you mean …?` with the nearest candidate.
pub(crate) fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, candidates).map(|candidate| format!("did you mean `{candidate}`?"))
}

/// The help `did you mean …?` with the nearest model.
pub(crate) fn did_you_mean_model<'a>(id: &str, models: impl IntoIterator<Item = &'a str>) -> Option<String> {
    contract::nearest_model(id, models).map(|model| format!("did you mean `{model}`?"))
}

/// `` `a`, `b` and 3 more ``.
pub(crate) fn quoted_list<'a>(words: impl IntoIterator<Item = &'a str>, max: usize) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    if words.len() > max {
        return format!("{} and {} more", words[..max].join(", "), words.len() - max);
    }
    match words.as_slice() {
        [] => "nothing".to_owned(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// A number with digit grouping: 10,000,000.
pub(crate) fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A text as it is quoted in a message: its beginning, where it is long.
pub(crate) fn shortened(text: &str) -> String {
    if text.chars().count() <= 60 {
        return text.to_owned();
    }
    text.chars().take(57).chain("…".chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visible_escapes_control_and_bidi_characters() {
        assert_eq!(visible("a\u{1b}[31mb\n\u{202e}"), "a\\u{1b}[31mb\\n\\u{202e}");
    }

    #[test]
    fn nearest_ignores_distant_candidates() {
        let words = ["seconds", "seed", "size", "first_frame"];
        assert_eq!(nearest("secnds", words), Some("seconds"));
        assert_eq!(nearest("first-frame", words), Some("first_frame"));
        assert_eq!(nearest("SEED", words), Some("seed"));
        assert_eq!(nearest("firs", words), Some("first_frame"));
        assert_eq!(nearest("xyzzy", words), None);
        assert_eq!(nearest("a", words), None);
    }

    #[test]
    fn quoted_list_joins_and_truncates() {
        assert_eq!(quoted_list([], 3), "nothing");
        assert_eq!(quoted_list(["a"], 3), "`a`");
        assert_eq!(quoted_list(["a", "b", "c"], 3), "`a`, `b` and `c`");
        assert_eq!(quoted_list(["a", "b", "c"], 2), "`a`, `b` and 1 more");
    }
}
