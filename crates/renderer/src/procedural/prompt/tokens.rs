//! Tokens of a prompt: words of alphabetic scripts, single characters of Chinese and Japanese; and its language.

use super::vocabulary::VOCABULARY;

/// The languages of the tables, in the order of their columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Language {
    English,
    Chinese,
    Japanese,
    Spanish,
    French,
    German,
}

impl Language {
    pub(super) const ALL: [Self; 6] =
        [Self::English, Self::Chinese, Self::Japanese, Self::Spanish, Self::French, Self::German];

    /// The language of a prompt: by its script, and otherwise by how many of its words are known.
    pub(super) fn detect(tokens: &[Token]) -> Self {
        if tokens.iter().any(|token| matches!(token.script, Script::Hiragana | Script::Katakana)) {
            return Self::Japanese;
        }
        if tokens.iter().any(|token| token.script == Script::Han) {
            return Self::Chinese;
        }
        let score = |language: Self| {
            (0..tokens.len())
                .filter(|index| {
                    VOCABULARY.is_function_word(language, &tokens[*index].word)
                        || VOCABULARY.longest(language, &tokens[*index..]).is_some()
                })
                .count()
        };
        let alphabetic = [Self::German, Self::French, Self::Spanish, Self::English];
        // Of equal scores the last.
        alphabetic.into_iter().max_by_key(|language| score(*language)).unwrap_or(Self::English)
    }

    /// Whether an adjective follows its noun.
    pub(super) const fn has_adjectives_after(self) -> bool {
        matches!(self, Self::Spanish | Self::French)
    }
}

/// The script of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Script {
    /// Written in words.
    Alphabetic,
    Han,
    Hiragana,
    Katakana,
}

impl Script {
    const fn from_char(c: char) -> Self {
        match c {
            '\u{3041}'..='\u{309f}' => Self::Hiragana,
            '\u{30a1}'..='\u{30fa}' | 'ー' | '\u{ff66}'..='\u{ff9f}' => Self::Katakana,
            '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '々' => Self::Han,
            _ => Self::Alphabetic,
        }
    }

    /// Whether its characters are tokens of their own, because no spaces divide its words.
    pub(super) const fn is_unspaced(self) -> bool {
        !matches!(self, Self::Alphabetic)
    }
}

/// A word, or a character of Chinese or Japanese.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    /// In lower case, Latin letters without accents.
    pub(super) word: String,
    pub(super) written: String,
    pub(super) script: Script,
    /// Whether something other than letters and spaces stands in front of it: a phrase ends there.
    pub(super) is_after_break: bool,
}

/// Nobody writes a longer prompt; somebody sends one. In characters.
const MAX_CHARACTERS: usize = 8_000;

/// Splits at everything that is neither a letter nor a digit, and between digits and letters (`16mm` is `16` and `mm`).
pub(super) fn tokens(prompt: &str) -> Vec<Token> {
    let mut all: Vec<Token> = Vec::new();
    let mut written = String::new();
    let mut is_broken = false;
    let finish = |written: &mut String, is_broken: &mut bool, all: &mut Vec<Token>| {
        if !written.is_empty() {
            let written = std::mem::take(written);
            let word = fold(&written);
            let first = written.chars().next().unwrap_or_default();
            all.push(Token {
                script: Script::from_char(first),
                word,
                written,
                is_after_break: std::mem::take(is_broken),
            });
        }
    };
    for c in prompt.chars().take(MAX_CHARACTERS) {
        let previous = written.chars().next_back();
        let starts_anew = previous.is_some_and(|last| {
            last.is_ascii_digit() != c.is_ascii_digit()
                || Script::from_char(last).is_unspaced()
                || Script::from_char(c).is_unspaced()
        });
        if !c.is_alphanumeric() || starts_anew {
            finish(&mut written, &mut is_broken, &mut all);
        }
        if c.is_alphanumeric() {
            written.push(c);
        } else if !c.is_whitespace() && !matches!(c, '\'' | '’' | '-' | '‐' | '‑') {
            is_broken = true;
        }
    }
    finish(&mut written, &mut is_broken, &mut all);
    all
}

/// Lower case, Latin letters without accents.
fn fold(word: &str) -> String {
    let mut folded = String::with_capacity(word.len());
    for c in word.chars().flat_map(char::to_lowercase) {
        match c {
            'à'..='å' | 'ā' => folded.push('a'),
            'ç' => folded.push('c'),
            'è'..='ë' => folded.push('e'),
            'ì'..='ï' => folded.push('i'),
            'ñ' => folded.push('n'),
            'ò'..='ö' | 'ø' => folded.push('o'),
            'ù'..='ü' | 'ū' => folded.push('u'),
            'ý' | 'ÿ' => folded.push('y'),
            'ß' => folded.push_str("ss"),
            'œ' => folded.push_str("oe"),
            'æ' => folded.push_str("ae"),
            // Combining accents.
            '\u{300}'..='\u{36f}' => {}
            c => folded.push(c),
        }
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_split_into_words_and_characters() {
        let words = |prompt: &str| tokens(prompt).into_iter().map(|t| t.word).collect::<Vec<_>>().join(" ");
        assert_eq!(words("16mm: A Close-up of l'Été, Straße"), "16 mm a close up of l ete strasse");
        assert_eq!(words("雨夜街道，35mm胶片"), "雨 夜 街 道 35 mm 胶 片");
        assert_eq!(words("ビルの屋上"), "ビ ル の 屋 上");
        assert_eq!(words("\u{0}\u{feff} &&&"), "");
    }

    #[test]
    fn languages_are_detected() {
        for (prompt, language) in [
            ("A woman walks along the beach at sunset", Language::English),
            ("Une femme marche sur la plage au coucher du soleil", Language::French),
            ("Una mujer camina por la playa al atardecer", Language::Spanish),
            ("Eine Frau geht bei Sonnenuntergang am Strand entlang", Language::German),
            ("夕日の海辺を歩く女性", Language::Japanese),
            ("夕阳下的海边，女人走着", Language::Chinese),
            ("", Language::English),
        ] {
            assert_eq!(Language::detect(&tokens(prompt)), language, "{prompt}");
        }
    }
}
