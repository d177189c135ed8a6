//! Tokens of a prompt: words of alphabetic scripts, single characters of Chinese and Japanese.

/// The script of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Script {
    /// Written in words.
    Alphabetic,
    Han,
    Kana,
}

impl Script {
    pub(super) const fn of(c: char) -> Self {
        match c {
            '\u{3041}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}' | 'ー' | '\u{ff66}'..='\u{ff9f}' => Self::Kana,
            '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '々' => Self::Han,
            _ => Self::Alphabetic,
        }
    }
}

/// A word, or a character of Chinese or Japanese.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    /// In lower case, Latin letters without accents.
    pub(super) word: String,
    pub(super) script: Script,
    /// Whether a sentence or a part of one ends in front of it.
    pub(super) begins_part: bool,
}

/// Nobody writes a longer prompt; somebody sends one. In characters.
const MAX_CHARACTERS: usize = 8_000;

/// Splits at everything that is neither a letter nor a digit, and between digits and letters (`16mm` is `16` and `mm`).
pub(super) fn tokens(prompt: &str) -> Vec<Token> {
    let mut all: Vec<Token> = Vec::new();
    let (mut word, mut begins_part) = (String::new(), false);
    let mut finish = |word: &mut String, begins_part: &mut bool| {
        if let Some(first) = word.chars().next() {
            let begins_part = std::mem::take(begins_part);
            all.push(Token { script: Script::of(first), word: fold(word), begins_part });
            word.clear();
        }
    };
    for c in prompt.chars().take(MAX_CHARACTERS) {
        let is_divided = word.chars().next_back().is_some_and(|last| {
            last.is_ascii_digit() != c.is_ascii_digit()
                || Script::of(last) != Script::Alphabetic
                || Script::of(c) != Script::Alphabetic
        });
        if !c.is_alphanumeric() || is_divided {
            finish(&mut word, &mut begins_part);
        }
        if c.is_alphanumeric() {
            word.push(c);
        } else if !c.is_whitespace() && !matches!(c, '\'' | '’' | '-' | '‐' | '‑') {
            begins_part = true;
        }
    }
    finish(&mut word, &mut begins_part);
    all
}

/// Lower case, Latin letters without accents.
fn fold(word: &str) -> String {
    let mut folded = String::with_capacity(word.len());
    for c in word.chars().flat_map(char::to_lowercase) {
        match c {
            'à'..='å' => folded.push('a'),
            'ç' => folded.push('c'),
            'è'..='ë' => folded.push('e'),
            'ì'..='ï' => folded.push('i'),
            'ñ' => folded.push('n'),
            'ò'..='ö' => folded.push('o'),
            'ù'..='ü' => folded.push('u'),
            'ß' => folded.push_str("ss"),
            'œ' => folded.push_str("oe"),
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
}
