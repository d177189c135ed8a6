//! The table of words, and where a prompt has them.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::tokens::{Script, Token, tokens};

/// A row of languages in the order of the table's columns.
const LANGUAGES: usize = 6;
const CHINESE: usize = 1;
const JAPANESE: usize = 2;
/// Those of Latin letters, the most frequent last: of equally many words it counts.
const LATIN: [usize; 4] = [5, 4, 3, 0];
const ENGLISH: usize = 0;
/// Tokens between a negation and the word that it is about.
const NEGATED_WITHIN: usize = 2;

/// The phrases of one language with their meanings, by their first word.
type Phrases = HashMap<String, Vec<(Vec<String>, &'static str)>>;

static TABLE: LazyLock<[Phrases; LANGUAGES]> = LazyLock::new(|| read(include_str!("words.txt")));

fn read(table: &'static str) -> [Phrases; LANGUAGES] {
    let mut languages: [Phrases; LANGUAGES] = std::array::from_fn(|_| Phrases::new());
    for line in table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (meaning, cells) = line.split_once('|').unwrap_or((line, ""));
        for (phrases, cell) in languages.iter_mut().zip(cells.split('|')) {
            for phrase in cell.split(',') {
                let words: Vec<String> = tokens(phrase).into_iter().map(|token| token.word).collect();
                if let Some(first) = words.first() {
                    phrases.entry(first.clone()).or_default().push((words, meaning.trim()));
                }
            }
        }
    }
    languages
}

/// The meanings in a prompt, in its order, such as `hour:dusk`; without those that it denies.
pub(super) fn meanings(prompt: &str) -> Vec<&'static str> {
    let tokens = tokens(prompt);
    let language = language(&tokens);
    let (mut found, mut at, mut denied_until) = (Vec::new(), 0, 0);
    while at < tokens.len() {
        let own = longest(language, &tokens[at..]);
        // Directions are often written in English whatever the rest is; single words of it may be other words.
        let english = longest(ENGLISH, &tokens[at..])
            .filter(|(length, meaning)| *length > 1 && meaning.starts_with("move:"));
        let Some((length, meaning)) = own.into_iter().chain(english).max_by_key(|(length, _)| *length) else {
            at += 1;
            continue;
        };
        if tokens[at].begins_part {
            denied_until = at;
        }
        match meaning {
            "not" => denied_until = at + length + NEGATED_WITHIN,
            "-" | "language" => {}
            _ if at < denied_until => {}
            meaning => found.push(meaning),
        }
        at += length;
    }
    found
}

/// The longest phrase with which tokens begin: its length and meaning.
fn longest(language: usize, tokens: &[Token]) -> Option<(usize, &'static str)> {
    let phrases = TABLE[language].get(&tokens.first()?.word)?;
    let is_here = |words: &[String]| {
        words.len() <= tokens.len()
            && words.iter().zip(tokens).all(|(word, token)| *word == token.word)
            && !tokens[1..words.len()].iter().any(|token| token.begins_part)
    };
    let here = phrases.iter().filter(|(words, _)| is_here(words));
    here.map(|(words, meaning)| (words.len(), *meaning)).max_by_key(|(length, _)| *length)
}

/// The language of a prompt: by its script, and otherwise by its small words.
fn language(tokens: &[Token]) -> usize {
    if tokens.iter().any(|token| token.script == Script::Kana) {
        return JAPANESE;
    }
    if tokens.iter().any(|token| token.script == Script::Han) {
        return CHINESE;
    }
    let votes = |language: usize| {
        let is_small = |token: &&Token| {
            longest(language, std::slice::from_ref(*token)).is_some_and(|(_, m)| m == "language")
        };
        tokens.iter().filter(is_small).count()
    };
    LATIN.into_iter().max_by_key(|language| votes(*language)).unwrap_or(ENGLISH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_six_languages() {
        for (prompt, expected) in [
            ("A pier at dusk in light rain. Slow push in.", "hour:dusk weather:rain move:push-in"),
            ("夕阳下的海边，镜头缓缓推近，下雨", "hour:sunset sound:sea move:push-in weather:rain"),
            ("夜の街、雨、固定カメラ", "hour:night sound:city weather:rain move:static"),
            (
                "Una calle lluviosa de noche, cámara en mano",
                "sound:city weather:rain hour:night move:handheld",
            ),
            (
                "Une rue sous la pluie, la nuit, slow dolly in",
                "sound:city weather:rain hour:night move:push-in",
            ),
            ("Ein Haus im Nebel, Kamera folgt", "weather:fog move:track-right"),
        ] {
            assert_eq!(meanings(prompt).join(" "), expected, "{prompt}");
        }
    }

    #[test]
    fn words_that_mean_something_else_are_not_read() {
        for prompt in [
            "A knight in a frying pan factory",
            "She cranes her neck at the construction crane",
            "No rain, without snow, not at night",
            "A white house, snow white, a nightclub",
            "El pan está en la mesa",
            "",
        ] {
            assert_eq!(meanings(prompt), Vec::<&str>::new(), "{prompt}");
        }
        assert_eq!(meanings("No people. Rain at night."), ["weather:rain", "hour:night"]);
    }
}
