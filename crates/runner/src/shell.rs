//! Words of the commands that messages print, so that they can be pasted into a shell.

/// A word of a POSIX shell: quoted where it holds anything but letters, digits and harmless signs.
pub(crate) fn quote(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./=@,+:%#".contains(letter);
    if !word.is_empty() && !word.starts_with('#') && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn quote_leaves_plain_words_and_quotes_the_rest() {
        for word in ["lamp", "harbor@look=noir,move=pan#2", "a/b.yaml", "Küste"] {
            assert_eq!(quote(word), word);
        }
        assert_eq!(quote("my film.yaml"), "'my film.yaml'");
        assert_eq!(quote("it's"), r"'it'\''s'");
        assert_eq!((quote(""), quote("#a"), quote("$x")), ("''".into(), "'#a'".into(), "'$x'".into()));
    }
}
