//! Letters of names: ids of shots, names of workflows and of instances are written in any script, in Unicode normalization form C
//! (UAX #15), with the letters, marks and digits of identifiers (UAX #31).
//!
//! Invariant: a name in ASCII is the same under every function of this module as it was before names had other letters.

use std::borrow::Cow;

use icu_normalizer::ComposingNormalizerBorrowed;
use unicode_ident::{is_xid_continue, is_xid_start};

const NFC: ComposingNormalizerBorrowed<'_> = ComposingNormalizerBorrowed::new_nfc();

/// A text in normalization form C: names that differ in nothing else are the same.
pub fn normalized(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    NFC.normalize(text)
}

/// Whether names may have a character besides `-` and `_`: a letter, mark or digit of any script. They are visible, and have no meaning
/// in shells and file systems.
pub fn is_name_letter(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric();
    }
    is_xid_continue(c) && !is_invisible(c) && !is_connector(c)
}

/// Whether a character combines with the one before it, and cannot be the first one.
pub(crate) fn is_mark(c: char) -> bool {
    !c.is_ascii() && is_name_letter(c) && !is_xid_start(c) && !c.is_numeric()
}

/// Characters of identifiers that are not shown (`Default_Ignorable_Code_Point`): two names could look the same.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Punctuation that identifiers may have: middle dots, and characters like `_`.
fn is_connector(c: char) -> bool {
    matches!(
        c,
        '\u{b7}'
            | '\u{387}'
            | '\u{203f}'
            | '\u{2040}'
            | '\u{2054}'
            | '\u{30fb}'
            | '\u{fe33}'
            | '\u{fe34}'
            | '\u{fe4d}'..='\u{fe4f}' | '\u{ff3f}' | '\u{ff65}'
    )
}

/// Text as a name: lower-case letters and digits, each run of other characters as one dash.
pub(crate) fn name_slug(text: &str) -> String {
    let mut out = String::new();
    for c in normalized(text).chars() {
        let begins = out.is_empty() || out.ends_with('-');
        if is_name_letter(c) && !(begins && is_mark(c)) {
            out.extend(c.to_lowercase());
        } else if !begins {
            out.push('-');
        }
    }
    out.truncate(out.trim_end_matches('-').len());
    // Lower case may be another composition.
    normalized(&out).into_owned()
}

/// The beginning of a name, of at most so many characters and bytes. A letter stays together with its marks.
pub(crate) fn truncated(name: &str, max_chars: usize, max_bytes: usize) -> &str {
    let fits = |(count, (offset, c)): (usize, (usize, char))| {
        count < max_chars && offset + c.len_utf8() <= max_bytes
    };
    let mut end = 0;
    for (count, (offset, c)) in name.char_indices().enumerate() {
        if !fits((count, (offset, c))) {
            // Without a mark that does not fit, the letter would be another one.
            if is_mark(c) {
                let base = name[..offset].char_indices().rev().find(|(_, c)| !is_mark(*c));
                end = base.map_or(0, |(base, _)| base);
            }
            return &name[..end];
        }
        end = offset + c.len_utf8();
    }
    name
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::template::slug;

    #[test]
    fn letters_of_any_script() {
        for text in
            ["strøm", "灯台", "маяк", "φάρος", "مَنارة", "प्रकाशस्तम्भ", "ประภาคาร", "등대", "הַמִּגְדָּל", "५", "ǅ"]
        {
            let text = normalized(text);
            assert!(text.chars().all(is_name_letter), "{text}");
            assert!(!text.starts_with(is_mark), "{text}");
        }
        for c in "🌊—·‿_- /\u{200d}\u{fe0f}\u{3164}\u{202e}．；＝".chars() {
            assert!(!is_name_letter(c), "{c:?}");
        }
        assert_eq!(normalized("cafe\u{301}"), "café");
    }

    #[test]
    fn slugs_and_beginnings() {
        assert_eq!(name_slug("Café au lait!"), "café-au-lait");
        assert_eq!(name_slug("🌊 \u{301}x 灯台"), "x-灯台");
        assert_eq!(name_slug("🌊"), "");
        assert_eq!(truncated("灯台灯台", 3, 100), "灯台灯");
        assert_eq!(truncated("灯台灯台", 9, 8), "灯台");
        // U+0324 has no composition with x.
        assert_eq!(truncated("ax\u{324}b", 2, 100), "a");
        assert_eq!(truncated("ax\u{324}b", 3, 100), "ax\u{324}");
    }

    proptest! {
        #[test]
        fn ascii_names_are_as_before(text in "[ -~]{0,80}") {
            prop_assert_eq!(name_slug(&text), slug(&text));
            prop_assert_eq!(&*normalized(&text), text.as_str());
        }

        #[test]
        fn slugs_are_names(text in "\\PC{0,40}") {
            let name = name_slug(&text);
            prop_assert!(name.chars().all(|c| c == '-' || is_name_letter(c)), "{name:?}");
            prop_assert!(!name.starts_with(|c: char| c == '-' || is_mark(c)), "{name:?}");
            prop_assert_eq!(&*normalized(&name), name.as_str());
        }
    }
}
