//! The vocabulary: phrases of six languages and their meanings. The tables are data, in the folder `vocabulary`.
//!
//! A row is `MEANINGS | en | zh | ja | es | fr | de`: meanings separated by spaces, phrases by commas; lines with `#` are comments.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::notions::Meaning;
use super::tokens::{Language, Script, Token, tokens};

/// In the order of precedence between phrases of equal length.
const TABLES: [&str; 9] = [
    include_str!("vocabulary/misread.txt"),
    include_str!("vocabulary/places.txt"),
    include_str!("vocabulary/subjects.txt"),
    include_str!("vocabulary/times.txt"),
    include_str!("vocabulary/weather.txt"),
    include_str!("vocabulary/camera.txt"),
    include_str!("vocabulary/styles.txt"),
    include_str!("vocabulary/sounds.txt"),
    include_str!("vocabulary/attributes.txt"),
];
/// A row for each language: words that name nothing to draw.
const FUNCTION_WORDS: &str = include_str!("vocabulary/function_words.txt");

/// Votes of a word that names something, and of one that hints at it.
const NAMED: u32 = 3;
const HINTED: u32 = 1;

/// A row of a table.
#[derive(Debug)]
pub(super) struct VocabularyEntry {
    /// As written, such as `place:sea`.
    pub(super) name: &'static str,
    /// Each meaning with its votes.
    pub(super) meanings: Vec<(Meaning, u32)>,
}

/// A phrase that begins at some token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Match {
    /// Tokens.
    pub(super) length: usize,
    /// All rows that have the phrase, so that a word may be a place and a subject.
    pub(super) phrase: &'static Phrase,
    /// Whether the last word has the ending of a plural.
    pub(super) is_plural: bool,
}

#[derive(Debug)]
pub(super) struct Phrase {
    words: Vec<String>,
    pub(super) rows: Vec<usize>,
}

/// The phrases of one language by their first word.
type Phrases = HashMap<String, Vec<Phrase>>;

pub(super) struct Vocabulary {
    pub(super) rows: Vec<VocabularyEntry>,
    phrases: HashMap<Language, Phrases>,
    function_words: HashMap<Language, HashSet<String>>,
}

pub(super) static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(Vocabulary::load);

impl Vocabulary {
    fn load() -> Self {
        let mut vocabulary =
            Self { rows: Vec::new(), phrases: HashMap::new(), function_words: HashMap::new() };
        for line in TABLES.iter().flat_map(|table| table.lines()).filter(|line| !line.starts_with('#')) {
            vocabulary.add(line);
        }
        for (language, line) in Language::ALL.into_iter().zip(FUNCTION_WORDS.lines()) {
            let words = tokens(line).into_iter().map(|token| token.word).collect();
            vocabulary.function_words.insert(language, words);
        }
        vocabulary
    }

    fn add(&mut self, line: &'static str) {
        let mut cells = line.split('|').map(str::trim);
        let name = cells.next().unwrap_or_default();
        let meanings = name.split_whitespace().filter_map(|name| {
            let hint = name.strip_prefix('?');
            Some((Meaning::named(hint.unwrap_or(name))?, if hint.is_some() { HINTED } else { NAMED }))
        });
        let row = self.rows.len();
        self.rows.push(VocabularyEntry { name, meanings: meanings.collect() });
        for (language, cell) in Language::ALL.into_iter().zip(cells) {
            let phrases = self.phrases.entry(language).or_default();
            for text in cell.split(',').filter(|text| !text.trim().is_empty()) {
                let words: Vec<String> = tokens(text).into_iter().map(|token| token.word).collect();
                let Some(first) = words.first() else { continue };
                let same_start = phrases.entry(first.clone()).or_default();
                match same_start.iter_mut().find(|phrase| phrase.words == words) {
                    // What is misread alone is not read.
                    Some(phrase) if self.rows[phrase.rows[0]].meanings.is_empty() => {}
                    Some(phrase) => phrase.rows.push(row),
                    None => same_start.push(Phrase { words, rows: vec![row] }),
                }
            }
        }
    }

    /// Whether a word names nothing to draw in a language.
    pub(super) fn is_function_word(&self, language: Language, word: &str) -> bool {
        self.function_words.get(&language).is_some_and(|words| words.contains(word))
    }

    /// The longest phrase of a language with which `tokens` begin.
    pub(super) fn longest(&'static self, language: Language, tokens: &[Token]) -> Option<Match> {
        let phrases = self.phrases.get(&language)?;
        let first = tokens.first()?;
        stems(language, &first.word)
            .filter_map(|stem| phrases.get(stem))
            .flatten()
            .filter_map(|phrase| {
                let plural = phrase.matches(language, tokens)?;
                Some(Match { length: phrase.words.len(), phrase, is_plural: plural })
            })
            // Of equal length the one without endings.
            .max_by_key(|candidate| (candidate.length, !candidate.is_plural))
    }

    /// A German compound is what its last part says: the longest known word of at least four letters that ends it.
    pub(super) fn head_of_compound(&'static self, word: &str) -> Option<Match> {
        let phrases = self.phrases.get(&Language::German)?;
        let starts = word.char_indices().map(|(start, _)| start).skip(3);
        starts.filter(|start| word.len() - start >= 4).find_map(|start| {
            let tail = &word[start..];
            let long_stems = stems(Language::German, tail).filter(|stem| stem.len() >= 4);
            let phrase = long_stems
                .filter_map(|stem| phrases.get(stem))
                .flatten()
                .find(|phrase| phrase.words.len() == 1)?;
            Some(Match { length: 1, phrase, is_plural: false })
        })
    }
}

impl Phrase {
    /// Whether `tokens` begin with this phrase; if they do, whether its last word has the ending of a plural.
    fn matches(&self, language: Language, tokens: &[Token]) -> Option<bool> {
        let covered = tokens.get(..self.words.len())?;
        let same = self
            .words
            .iter()
            .zip(covered)
            .all(|(entry, token)| stems(language, &token.word).any(|stem| stem == entry));
        // ビル is not in ビルマ: words in katakana end where katakana end.
        let runs_on = covered.last().is_some_and(|last| last.script == Script::Katakana)
            && tokens.get(self.words.len()).is_some_and(|next| next.script == Script::Katakana);
        if !same || runs_on {
            return None;
        }
        let last = self.words.last().zip(covered.last());
        Some(last.is_some_and(|(entry, token)| *entry != token.word))
    }
}

/// A word, and what it may be the plural or an inflection of.
fn stems(language: Language, word: &str) -> impl Iterator<Item = &str> {
    let endings: &[&str] = match language {
        Language::English | Language::Spanish => &["s", "es"],
        Language::French => &["s", "x", "es"],
        Language::German => &["e", "n", "en", "s", "er", "es", "ern"],
        Language::Chinese | Language::Japanese => &[],
    };
    let long_enough = |stem: &&str| stem.len() >= 3;
    std::iter::once(word)
        .chain(endings.iter().filter_map(|ending| word.strip_suffix(ending)).filter(long_enough))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_well_formed() {
        for line in TABLES.iter().flat_map(|table| table.lines()).filter(|line| !line.starts_with('#')) {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            assert_eq!(cells.len(), 1 + Language::ALL.len(), "{line}");
            for name in cells[0].split_whitespace().filter(|name| *name != "-") {
                let meaning = Meaning::named(name.strip_prefix('?').unwrap_or(name));
                assert!(meaning.is_some(), "{name} is no notion");
            }
            assert!(cells[1..].iter().all(|cell| !cell.is_empty()), "a language is missing: {}", cells[0]);
        }
        assert_eq!(FUNCTION_WORDS.lines().count(), Language::ALL.len());
    }

    #[test]
    fn every_phrase_is_matched() {
        for line in TABLES.iter().flat_map(|table| table.lines()).filter(|line| !line.starts_with('#')) {
            let name = line.split('|').next().unwrap_or_default().trim();
            for (language, cell) in Language::ALL.into_iter().zip(line.split('|').skip(1)) {
                for text in cell.split(',') {
                    let all = tokens(text);
                    let matched = VOCABULARY.longest(language, &all).expect(text);
                    assert_eq!(matched.length, all.len(), "{text}");
                    let names = matched.phrase.rows.iter().map(|row| VOCABULARY.rows[*row].name);
                    let is_misread =
                        matched.phrase.rows.iter().any(|row| VOCABULARY.rows[*row].meanings.is_empty());
                    assert!(
                        is_misread || names.clone().any(|it| it == name),
                        "{text}: {:?}",
                        names.collect::<Vec<_>>()
                    );
                }
            }
        }
    }

    #[test]
    fn every_misread_phrase_has_a_word_that_would_be_read() {
        let vocabulary = Vocabulary::load();
        let row = TABLES[0].lines().find(|line| line.starts_with('-')).expect("the row of misread phrases");
        let mut idle = Vec::new();
        for (language, cell) in Language::ALL.into_iter().zip(row.split('|').skip(1)) {
            let phrases = &vocabulary.phrases[&language];
            let is_read = |tokens: &[Token]| {
                stems(language, &tokens[0].word).filter_map(|stem| phrases.get(stem)).flatten().any(
                    |phrase| {
                        !vocabulary.rows[phrase.rows[0]].meanings.is_empty()
                            && phrase.matches(language, tokens).is_some()
                    },
                )
            };
            for text in cell.split(',') {
                let all = tokens(text);
                if !(0..all.len()).any(|start| is_read(&all[start..])) {
                    idle.push(text.trim());
                }
            }
        }
        assert!(idle.is_empty(), "{idle:?}");
    }
}
