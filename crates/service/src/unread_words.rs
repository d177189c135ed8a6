//! Words of prompts that the renderer did not draw, counted since the start, for the status page.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

/// Distinct words that are counted one by one; more are counted together.
const MAX_WORDS: usize = 500;
/// The longest word that is shown, in characters.
const MAX_CHARACTERS: usize = 40;

/// Counts of words without effect.
#[derive(Debug, Default)]
pub(crate) struct UnreadWords {
    /// Whether words themselves are kept. They are a client's data: a service that others reach keeps their number only.
    keeps_words: bool,
    total: AtomicU64,
    words: Mutex<BTreeMap<String, u64>>,
}

impl UnreadWords {
    pub(crate) fn new(keeps_words: bool) -> Self {
        Self { keeps_words, ..Self::default() }
    }

    pub(crate) const fn keeps_words(&self) -> bool {
        self.keeps_words
    }

    pub(crate) fn add(&self, words: &[String]) {
        self.total.fetch_add(words.len() as u64, Ordering::Relaxed);
        if !self.keeps_words {
            return;
        }
        let mut counts = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        for word in words {
            let word: String = word.chars().take(MAX_CHARACTERS).collect::<String>().to_lowercase();
            if let Some(count) = counts.get_mut(&word) {
                *count += 1;
            } else if counts.len() < MAX_WORDS {
                counts.insert(word, 1);
            }
        }
    }

    pub(crate) fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    /// The words that were unread most often, with their counts, the most frequent first.
    pub(crate) fn most_frequent(&self, limit: usize) -> Vec<(String, u64)> {
        let counts = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        let mut words: Vec<_> = counts.iter().map(|(word, count)| (word.clone(), *count)).collect();
        words.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        words.truncate(limit);
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn frequent_words_come_first() {
        let unread = UnreadWords::new(true);
        unread.add(&split("wok Zebra"));
        unread.add(&split("zebra"));
        assert_eq!(unread.total(), 3);
        assert_eq!(unread.most_frequent(5), [("zebra".to_owned(), 2), ("wok".to_owned(), 1)]);
    }

    #[test]
    fn public_service_keeps_no_words() {
        let unread = UnreadWords::new(false);
        unread.add(&split("wok zebra"));
        assert_eq!((unread.total(), unread.most_frequent(5)), (2, Vec::new()));
    }

    #[test]
    fn memory_is_bounded() {
        let unread = UnreadWords::new(true);
        for number in 0..2_000 {
            unread.add(&[format!("{number}{}", "x".repeat(1_000))]);
        }
        let words = unread.most_frequent(usize::MAX);
        assert_eq!(words.len(), MAX_WORDS);
        assert!(words.iter().all(|(word, _)| word.len() <= MAX_CHARACTERS));
    }
}
