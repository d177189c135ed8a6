//! The phrases of a prompt that are in the [`super::vocabulary`], in order, and the words that are in none.

use super::notions::{Meaning, Subject};
use super::tokens::{Language, Token, tokens};
use super::vocabulary::{Match, VOCABULARY};

/// A phrase of the prompt that is in the tables.
#[derive(Debug)]
pub(super) struct Mention {
    /// Index of its first token.
    pub(super) start: usize,
    /// Tokens.
    pub(super) length: usize,
    /// Each meaning with its votes; empty for a phrase that would be misread.
    pub(super) meanings: Vec<(Meaning, u32)>,
    /// The names of its rows.
    pub(super) names: Vec<&'static str>,
    pub(super) is_plural: bool,
    /// "no fog": nothing of it is asked for.
    pub(super) is_denied: bool,
}

impl Mention {
    pub(super) fn end(&self) -> usize {
        self.start + self.length
    }

    pub(super) fn count(&self) -> Option<u32> {
        self.meanings.iter().find_map(|(meaning, _)| match meaning {
            Meaning::Count(count) => Some(*count),
            _ => None,
        })
    }

    pub(super) fn color(&self) -> Option<u32> {
        self.meanings.iter().find_map(|(meaning, _)| match meaning {
            Meaning::Color(color) => Some(*color),
            _ => None,
        })
    }

    pub(super) fn is_garment(&self) -> bool {
        self.meanings.iter().any(|(meaning, _)| *meaning == Meaning::Garment)
    }

    /// The figures it names, with votes.
    pub(super) fn figures(&self) -> impl Iterator<Item = (Subject, u32)> {
        self.meanings.iter().filter_map(|(meaning, votes)| match meaning {
            Meaning::Subject(subject) if subject.is_figure() => Some((*subject, *votes)),
            _ => None,
        })
    }
}

/// A prompt in tokens, with its mentions.
#[derive(Debug)]
pub(super) struct Mentions {
    pub(super) language: Language,
    pub(super) tokens: Vec<Token>,
    /// In order, without overlaps.
    pub(super) phrases: Vec<Mention>,
}

impl Mentions {
    pub(super) fn find(prompt: &str) -> Self {
        let tokens = tokens(prompt);
        let language = Language::detect(&tokens);
        let mut mentions = Vec::new();
        let mut start = 0;
        while start < tokens.len() {
            let rest = &tokens[start..until_break(&tokens, start)];
            let Some(matched) = longest(language, rest) else {
                start += 1;
                continue;
            };
            let rows = matched.phrase.rows.iter().map(|row| &VOCABULARY.rows[*row]);
            let end = start + matched.length;
            mentions.push(Mention {
                start,
                length: matched.length,
                meanings: rows.clone().flat_map(|row| row.meanings.iter().copied()).collect(),
                names: rows.map(|row| row.name).collect(),
                is_plural: matched.is_plural,
                is_denied: is_denied(&tokens, start, end),
            });
            start = end;
        }
        Self { language, tokens, phrases: mentions }
    }

    /// Whether "left" stands close after a mention, and "right" does not.
    pub(super) fn is_leftward(&self, mention: &Mention) -> bool {
        const LEFT: [&str; 6] = ["left", "links", "gauche", "izquierda", "左", "leftward"];
        const RIGHT: [&str; 5] = ["right", "rechts", "droite", "derecha", "右"];
        let after = self.tokens[mention.start..].iter().take(mention.length + 5);
        let mut sides = after.filter(|t| LEFT.contains(&t.word.as_str()) || RIGHT.contains(&t.word.as_str()));
        sides.next().is_some_and(|side| LEFT.contains(&side.word.as_str()))
    }

    /// What is written between two tokens, as in the prompt up to spaces.
    pub(super) fn text(&self, from: usize, to: usize) -> String {
        let mut text = String::new();
        for (index, token) in self.tokens[from..to].iter().enumerate() {
            if index > 0 && !token.script.is_unspaced() {
                text.push(' ');
            }
            text.push_str(&token.written);
        }
        text
    }

    /// Words that are in no table and are no function words, and phrases for which nothing is drawn; each once.
    pub(super) fn unread(&self) -> Vec<String> {
        let mut read = vec![false; self.tokens.len()];
        let mut unread: Vec<(usize, String)> = Vec::new();
        for mention in &self.phrases {
            read[mention.start..mention.end()].fill(true);
            if mention.meanings.is_empty() && !mention.is_denied {
                unread.push((mention.start, self.text(mention.start, mention.end())));
            }
        }
        let carries = |index: usize| {
            let token = &self.tokens[index];
            !read[index]
                && !VOCABULARY.is_function_word(self.language, &token.word)
                && (token.script.is_unspaced() || token.word.chars().count() > 1)
                && !token.word.chars().all(|c| c.is_ascii_digit())
        };
        let mut next = 0;
        while next < self.tokens.len() {
            let from = next;
            next += 1;
            if !carries(from) {
                continue;
            }
            // A run of characters is shown as one word: its borders are not known.
            while next < self.tokens.len()
                && self.tokens[from].script.is_unspaced()
                && self.tokens[next].script.is_unspaced()
                && !self.tokens[next].is_after_break
                && carries(next)
            {
                next += 1;
            }
            unread.push((from, self.text(from, next)));
        }
        unread.sort_by_key(|(position, _)| *position);
        let mut seen = std::collections::HashSet::new();
        unread.into_iter().map(|(_, text)| text).filter(|text| seen.insert(text.to_lowercase())).collect()
    }
}

/// The longest phrase: in the prompt's language, in the other language of its script, or in English, whose terms of the trade all languages use.
fn longest(language: Language, tokens: &[Token]) -> Option<Match> {
    let first = tokens.first()?;
    let own = VOCABULARY.longest(language, tokens);
    let alternative = match language {
        Language::English => None,
        Language::Chinese | Language::Japanese if first.script.is_unspaced() => {
            let sibling = if language == Language::Chinese { Language::Japanese } else { Language::Chinese };
            // Single characters differ too often.
            VOCABULARY
                .longest(sibling, tokens)
                .filter(|candidate| candidate.length > own.map_or(1, |own| own.length))
        }
        _ if own.is_some() || VOCABULARY.is_function_word(language, &first.word) => None,
        Language::German => {
            VOCABULARY.longest(Language::English, tokens).or_else(|| VOCABULARY.head_of_compound(&first.word))
        }
        _ => VOCABULARY.longest(Language::English, tokens),
    };
    alternative.or(own)
}

/// The end of the clause that a token is in: phrases do not go over commas.
fn until_break(tokens: &[Token], start: usize) -> usize {
    let next = tokens[start + 1..].iter().position(|token| token.is_after_break);
    next.map_or(tokens.len(), |next| start + 1 + next)
}

/// "no fog", "without any fog", "无雾", "霧なし".
fn is_denied(tokens: &[Token], start: usize, end: usize) -> bool {
    const NO: [&str; 14] = [
        "no", "without", "not", "sans", "pas", "sin", "ohne", "kein", "keine", "keinen", "无", "無", "没",
        "非",
    ];
    let clause = tokens[..=start].iter().rposition(|token| token.is_after_break).unwrap_or(0);
    let word = |back: usize| {
        start.checked_sub(back).filter(|index| *index >= clause).map(|index| tokens[index].word.as_str())
    };
    let is_no = |word: Option<&str>| word.is_some_and(|word| NO.contains(&word));
    if is_no(word(1)) {
        return true;
    }
    match word(1) {
        Some(
            "any" | "a" | "the" | "more" | "de" | "d" | "ein" | "eine" | "einen" | "el" | "la" | "un" | "une",
        ) => is_no(word(2)),
        Some("有" | "要") => matches!(word(2), Some("没" | "不" | "無")),
        _ => tokens.get(end..end + 2).is_some_and(|next| next[0].word == "な" && next[1].word == "し"),
    }
}
