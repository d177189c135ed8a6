//! Words of the commands that messages print, so that they can be pasted into a shell.

use std::fmt::Write as _;
use std::path::Path;

use crate::report::sanitize;

/// A word of a POSIX shell: quoted where it holds anything but letters, digits and harmless characters. Control characters are escaped, so that the
/// word is the same text and a terminal shows it.
pub(crate) fn quote(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./=@,+:%#".contains(letter);
    if !word.is_empty() && !word.starts_with('#') && word.chars().all(is_plain) {
        return word.to_owned();
    }
    if word.chars().any(sanitize::is_control) {
        return escaped(word);
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The path of a file, which is no option, whatever it begins with.
pub(crate) fn path(path: impl AsRef<Path>) -> String {
    let text = path.as_ref().display().to_string();
    if text.starts_with('-') { quote(&format!("./{text}")) } else { quote(&text) }
}

/// An option with a value, which may begin with a dash.
pub(crate) fn option(name: &str, value: &str) -> String {
    format!("{name}{}{}", if value.starts_with('-') { '=' } else { ' ' }, quote(value))
}

/// `$'…'` (POSIX 2024, 2.2.4), with control characters as octal bytes.
fn escaped(word: &str) -> String {
    let mut quoted = String::from("$'");
    for letter in word.chars() {
        match letter {
            '\'' | '\\' => quoted.extend(['\\', letter]),
            _ if sanitize::is_control(letter) => {
                for byte in letter.encode_utf8(&mut [0; 4]).bytes() {
                    // Writing to a string does not fail.
                    let _ = write!(quoted, "\\{byte:03o}");
                }
            }
            _ => quoted.push(letter),
        }
    }
    quoted.push('\'');
    quoted
}

/// A shot as `--rerun` takes it, quoted: one more render is asked for, whichever take it is about.
pub(crate) fn quote_rerun(shot: &str) -> String {
    quote(shot.split_once('#').map_or(shot, |(instance, _)| instance))
}

#[cfg(test)]
mod tests {
    use super::{option, path, quote};

    #[test]
    fn quote_leaves_plain_words_and_quotes_the_rest() {
        for word in ["lamp", "harbor@look=noir,move=pan#2", "a/b.yaml", "Küste"] {
            assert_eq!(quote(word), word);
        }
        assert_eq!(quote("my film.yaml"), "'my film.yaml'");
        assert_eq!(quote("it's"), r"'it'\''s'");
        assert_eq!((quote(""), quote("#a"), quote("$x")), ("''".into(), "'#a'".into(), "'$x'".into()));
    }

    #[test]
    fn quote_escapes_control_characters() {
        assert_eq!(quote("a\nb'\\\u{1b}"), r"$'a\012b\'\\\033'");
        assert_eq!(quote("x\u{202e}é"), r"$'x\342\200\256é'");
    }

    #[test]
    fn values_that_begin_with_a_dash_are_no_options() {
        assert_eq!((path("-w.yaml"), path("w.yaml")), ("./-w.yaml".to_owned(), "w.yaml".to_owned()));
        assert_eq!(option("--adopt", "-abc"), "--adopt=-abc");
        assert_eq!(option("--adopt", "--all x"), "--adopt='--all x'");
        assert_eq!(option("--adopt", "t1"), "--adopt t1");
    }
}
