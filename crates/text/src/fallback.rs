//! Which embedded font serves a script that the main one does not have.

use cosmic_text::Fallback;
use unicode_script::Script;

/// The fonts that are embedded, by script. Fonts of files serve whatever these lack.
pub(crate) struct EmbeddedFallback;

impl Fallback for EmbeddedFallback {
    fn common_fallback(&self) -> &[&'static str] {
        &["Noto Sans", "Noto Sans CJK SC"]
    }

    fn forbidden_fallback(&self) -> &[&'static str] {
        &[]
    }

    fn script_fallback(&self, script: Script, _locale: &str) -> &[&'static str] {
        match script {
            Script::Arabic => &["Noto Sans Arabic"],
            Script::Devanagari => &["Noto Sans Devanagari"],
            Script::Hebrew => &["Noto Sans Hebrew"],
            Script::Thai => &["Noto Sans Thai"],
            Script::Han | Script::Hiragana | Script::Katakana | Script::Hangul | Script::Bopomofo => {
                &["Noto Sans CJK SC"]
            }
            _ => &[],
        }
    }
}
