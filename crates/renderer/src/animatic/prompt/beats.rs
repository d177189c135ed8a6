//! The sentences of a prompt as the beats of its card.

use super::tokens::Script;

/// What is read at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::animatic) struct Beat {
    /// The description; may be empty.
    pub(in crate::animatic) text: String,
    /// What somebody says in it.
    pub(in crate::animatic) speech: Option<String>,
}

/// Marks around what is said.
const QUOTES: [(char, char); 7] =
    [('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('「', '」'), ('『', '』'), ('”', '”')];
/// Quoted words fewer than these are the name of something.
const MIN_SPEECH_WEIGHT: u32 = 8;
/// Sentences shorter than this are read with the one before, if both are not longer than that together.
const MIN_WEIGHT: u32 = 26;
const MAX_JOINED_WEIGHT: u32 = 120;
/// No card shows more of a prompt, in characters, and none more of a beat, in letters.
const MAX_CHARACTERS: usize = 6_000;
const MAX_WEIGHT: u32 = 420;
/// How much longer a character of Chinese or Japanese takes to read.
const IDEOGRAPH_WEIGHT: u32 = 3;

impl Beat {
    /// How long it takes to read, in letters.
    pub(in crate::animatic) fn weight(&self) -> u32 {
        weight(&self.text) + self.speech.as_deref().map_or(0, weight)
    }

    fn join(&mut self, next: Self) {
        for (own, next) in
            [(Some(&mut self.text), Some(next.text)), (self.speech.as_mut(), next.speech.clone())]
        {
            if let (Some(own), Some(next)) = (own, next.filter(|next| !next.is_empty())) {
                let is_spaced = own
                    .chars()
                    .next_back()
                    .is_some_and(|last| Script::of(last) == Script::Alphabetic && last.is_ascii());
                if is_spaced {
                    own.push(' ');
                }
                own.push_str(&next);
            }
        }
        if self.speech.is_none() {
            self.speech = next.speech;
        }
    }
}

fn weight(text: &str) -> u32 {
    text.chars().map(weight_of).sum()
}

fn weight_of(c: char) -> u32 {
    if Script::of(c) == Script::Alphabetic { 1 } else { IDEOGRAPH_WEIGHT }
}

/// The width of a text on one line, in sizes of its font, and not more than it is.
pub(in crate::animatic) fn least_width(text: &str) -> f32 {
    let wide = |c: char| if Script::of(c) == Script::Alphabetic { 0.4 } else { 0.9 };
    text.chars().map(wide).sum()
}

/// The beats of a prompt, at most so many: short neighbours are shown together.
pub(in crate::animatic) fn beats(prompt: &str, max: usize) -> Vec<Beat> {
    let mut beats: Vec<Beat> = Vec::new();
    for next in sentences(prompt).into_iter().map(beat) {
        match beats.last_mut() {
            Some(last)
                if last.weight().min(next.weight()) < MIN_WEIGHT
                    && last.weight() + next.weight() <= MAX_JOINED_WEIGHT
                    && last.speech.is_none()
                    && next.speech.is_none() =>
            {
                last.join(next);
            }
            _ => beats.push(next),
        }
    }
    while beats.len() > max.max(1) {
        let shortest =
            (1..beats.len()).min_by_key(|index| beats[index - 1].weight() + beats[*index].weight());
        let Some(second) = shortest else { break };
        let next = beats.remove(second);
        beats[second - 1].join(next);
    }
    for beat in &mut beats {
        shorten(&mut beat.text);
        if let Some(speech) = &mut beat.speech {
            shorten(speech);
        }
    }
    beats
}

/// Ends a text that no card has room for with an ellipsis.
fn shorten(text: &mut String) {
    let mut left = MAX_WEIGHT;
    let end = text.char_indices().find(|(_, c)| {
        let weight = weight_of(*c);
        let is_over = weight > left;
        left = left.saturating_sub(weight);
        is_over
    });
    if let Some((end, _)) = end {
        text.truncate(end);
        text.push('…');
    }
}

/// Sentences, each with the mark that ends it; nothing is divided inside of quotes.
fn sentences(prompt: &str) -> Vec<String> {
    let prompt = prompt.split_whitespace().collect::<Vec<_>>().join(" ");
    let prompt: Vec<char> = prompt.chars().take(MAX_CHARACTERS).collect();
    let (mut all, mut sentence, mut quote) = (Vec::new(), String::new(), None);
    for (index, c) in prompt.iter().copied().enumerate() {
        sentence.push(c);
        match quote {
            Some(close) if c == close => quote = None,
            Some(_) => {}
            None => quote = QUOTES.iter().find(|(open, _)| *open == c).map(|(_, close)| *close),
        }
        let next = prompt.get(index + 1).copied();
        let is_end = match c {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' | '…' => {
                next.is_none_or(|next| next == ' ') && !next_is_lower(&prompt[index + 1..])
            }
            // A quote that ends with its sentence.
            _ if quote.is_none() && QUOTES.iter().any(|(_, close)| *close == c) => {
                index > 0
                    && matches!(prompt[index - 1], '.' | '!' | '?' | '。' | '！' | '？' | '…')
                    && !next_is_lower(&prompt[index + 1..])
            }
            _ => false,
        };
        if is_end && quote.is_none() {
            all.push(std::mem::take(&mut sentence).trim().to_owned());
        }
    }
    all.push(sentence.trim().to_owned());
    all.retain(|sentence| sentence.chars().any(char::is_alphanumeric));
    all
}

/// Whether the text goes on with a small letter: an abbreviation, not an end.
fn next_is_lower(rest: &[char]) -> bool {
    rest.iter().find(|c| **c != ' ').is_some_and(|c| c.is_lowercase() || matches!(c, ',' | ';' | ':'))
}

/// Takes what is said out of a sentence.
fn beat(sentence: String) -> Beat {
    for (open, close) in QUOTES {
        let Some(start) = sentence.find(open) else { continue };
        let inner = start + open.len_utf8();
        let Some(length) = sentence[inner..].find(close) else { continue };
        let speech = sentence[inner..inner + length].trim();
        if weight(speech) < MIN_SPEECH_WEIGHT {
            continue;
        }
        let after = &sentence[inner + length + close.len_utf8()..];
        let text = format!("{}{after}", sentence[..start].trim_end()).trim().to_owned();
        let text = if text.chars().any(char::is_alphanumeric) { text } else { String::new() };
        return Beat { text, speech: Some(speech.to_owned()) };
    }
    Beat { text: sentence, speech: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(prompt: &str, max: usize) -> Vec<String> {
        let text = |beat: Beat| match beat.speech {
            Some(speech) => format!("{} / {speech}", beat.text),
            None => beat.text,
        };
        beats(prompt, max).into_iter().map(text).collect()
    }

    #[test]
    fn sentences_end_at_their_marks() {
        assert_eq!(
            sentences("A pier, f/2.8 on 35 mm. Mr. Hale waits?  He turns e.g. left."),
            ["A pier, f/2.8 on 35 mm.", "Mr.", "Hale waits?", "He turns e.g. left."]
        );
        assert_eq!(sentences("夜の街。雨が降る！傘"), ["夜の街。", "雨が降る！", "傘"]);
        assert_eq!(sentences(" \n "), Vec::<String>::new());
    }

    #[test]
    fn speech_is_apart() {
        let prompt = "The keeper says: \"You're late. Again.\" He laughs. The sign \"EXIT\" blinks.";
        assert_eq!(
            texts(prompt, 9),
            ["The keeper says: / You're late. Again.", "He laughs. The sign \"EXIT\" blinks."]
        );
        assert_eq!(texts("彼女は言う「もう帰らなければ」", 9), ["彼女は言う / もう帰らなければ"]);
    }

    #[test]
    fn short_neighbours_are_joined() {
        let long = "A sentence that takes a while to read, because it has so many words.";
        assert_eq!(texts(&format!("One. Two. {long} {long}"), 9), [&format!("One. Two. {long}"), long]);
        assert_eq!(texts(&format!("{long} {long} {long}"), 2).len(), 2);
        assert_eq!(texts("一。二。三。", 1), ["一。二。三。"]);
    }

    #[test]
    fn endless_prompts_become_beats_that_a_card_has_room_for() {
        for sentence in ["雨。", "a. ", "\"aaaaaaaa bb.\" ", "word "] {
            let beats = beats(&sentence.repeat(20_000 / sentence.len()), 12);
            assert!(!beats.is_empty() && beats.len() <= 12, "{sentence}");
            let is_bounded = |beat: &Beat| beat.weight() <= 2 * (MAX_WEIGHT + 1);
            assert!(beats.iter().all(is_bounded), "{sentence}");
        }
    }
}
