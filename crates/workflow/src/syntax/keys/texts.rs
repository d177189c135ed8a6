//! The texts and flags of keys and mappings, which keys.txt has.

use std::collections::HashMap;
use std::sync::LazyLock;

/// What keys.txt says about a key or a mapping; empty where it has no block.
#[derive(Clone, Copy, Default)]
pub(super) struct Texts {
    flags: &'static str,
    /// What it is.
    pub(super) meaning: &'static str,
    /// What to write.
    pub(super) example: &'static str,
}

impl Texts {
    /// The texts of a key, `film.output`, or of a mapping, `film`.
    pub(super) fn of(path: &str) -> Self {
        static ALL: LazyLock<HashMap<&str, Texts>> = LazyLock::new(|| blocks().collect());
        ALL.get(path).copied().unwrap_or_default()
    }

    pub(super) fn has(self, flag: &str) -> bool {
        self.flags.contains(flag)
    }
}

fn blocks() -> impl Iterator<Item = (&'static str, Texts)> {
    include_str!("keys.txt").split("\n\n").filter_map(|block| {
        let (path, rest) = block.strip_prefix('[')?.split_once(']')?;
        let mut lines = rest.lines();
        let mut line = || lines.next().unwrap_or_default();
        Some((path, Texts { flags: line(), meaning: line(), example: line() }))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::{ALL, shot};
    use super::*;

    #[test]
    fn texts_are_those_of_all_keys_and_mappings() {
        let picks = [&shot::PICK_TAKE, &shot::PICK_TAKE_MEMBER];
        let keys = ALL.iter().flat_map(|object| object.keys).chain(&picks).map(|key| key.path);
        let paths: BTreeSet<&str> = ALL.iter().map(|object| object.path).chain(keys).collect();
        let written: Vec<&str> = blocks().map(|(path, _)| path).collect();
        assert_eq!(written.iter().copied().collect::<BTreeSet<_>>(), paths);
        assert_eq!(written.len(), paths.len(), "a block occurs twice");
        for (path, texts) in blocks() {
            assert!(!texts.meaning.is_empty() && !texts.example.is_empty(), "{path}");
            let known: &[&str] =
                if path.contains('.') { &["required", "templated"] } else { &["open", "in-guide"] };
            assert!(texts.flags.split_whitespace().all(|flag| known.contains(&flag)), "{path}");
        }
        let lines =
            include_str!("keys.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        assert_eq!(lines.count(), written.len() * 3);
    }
}
