//! Names of shots, cells, takes, parameters and films.

use std::fmt;

use crate::diagnostic::Diagnostic;
use crate::yaml::Key;
use crate::{letters, limits};

/// A reference to a shot: `harbor` (all its instances), `harbor@lens=24mm,seed=1` (a cell), `lamp#2` (a take).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ShotRef {
    pub shot: String,
    /// The cell after `@`, as instance names write it.
    pub cell: Option<String>,
    /// The take after `#`, from 1.
    pub take: Option<u32>,
}

impl ShotRef {
    /// Reads a reference.
    ///
    /// # Errors
    /// The reason, as a message.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = &*letters::normalized(text);
        let (rest, take) = match text.split_once('#') {
            Some((rest, take)) => {
                let number = take.parse::<u32>().ok().filter(|number| *number > 0);
                (rest, Some(number.ok_or_else(|| format!("`#{take}` is not the number of a take"))?))
            }
            None => (text, None),
        };
        let (shot, cell) = match rest.split_once('@') {
            Some((_, "")) => return Err("after `@` comes a cell, such as `seed=3`".to_owned()),
            Some((shot, cell)) => (shot, Some(cell.to_owned())),
            None => (rest, None),
        };
        plain_name(shot)?;
        Ok(Self { shot: shot.to_owned(), cell, take })
    }
}

impl fmt::Display for ShotRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shot)?;
        if let Some(cell) = &self.cell {
            write!(f, "@{cell}")?;
        }
        if let Some(take) = self.take {
            write!(f, "#{take}")?;
        }
        Ok(())
    }
}

/// Checks a name that also becomes part of file names: letters and digits of any script, `-` and `_`, a letter or digit first. The name is
/// in normalization form C.
pub(crate) fn plain_name(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("a name may not be empty".to_owned());
    }
    if name.chars().count() > limits::MAX_NAME_CHARS {
        return Err(format!("a name has at most {} characters", limits::MAX_NAME_CHARS));
    }
    if name.len() > limits::MAX_NAME_BYTES {
        return Err(format!(
            "a name has at most {} bytes in UTF-8, and `{name}` has {}",
            limits::MAX_NAME_BYTES,
            name.len()
        ));
    }
    if !name.starts_with(|c| letters::is_name_letter(c) && !letters::is_mark(c)) {
        return Err(format!("`{name}` does not begin with a letter or digit"));
    }
    match name.chars().find(|c| !(letters::is_name_letter(*c) || matches!(c, '-' | '_'))) {
        Some(c) => Err(format!("`{name}` has a `{c}` in it: a name is made of letters, digits, `-` and `_`")),
        None => Ok(()),
    }
}

/// Names that templates reserve.
pub(crate) const RESERVED: [&str; 17] = [
    "shot", "take", "range", "dict", "true", "false", "none", "True", "False", "None", "and", "or", "not",
    "if", "else", "in", "is",
];

/// Checks a name that templates use: letters, digits and `_`, not a digit first, not reserved.
pub(crate) fn identifier(name: &str) -> Result<(), String> {
    if RESERVED.contains(&name) {
        return Err(format!("`{name}` has a meaning of its own in templates"));
    }
    if name.chars().count() > limits::MAX_NAME_CHARS {
        return Err(format!("a name has at most {} characters", limits::MAX_NAME_CHARS));
    }
    let first = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if first && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        Ok(())
    } else {
        Err(format!(
            "`{name}` cannot be used in templates: write it with the letters a to z and A to Z, digits and `_`, no digit first"
        ))
    }
}

/// The report of a key that is no name for templates, with one that is.
pub(crate) fn bad_identifier(key: &Key) -> Option<Diagnostic> {
    let message = identifier(&key.value).err()?;
    let diagnostic = Diagnostic::error("bad-name", key.span, message);
    Some(match suggested_identifier(&key.value) {
        Some(suggestion) => diagnostic.help(format!("write `{suggestion}`")),
        None => diagnostic,
    })
}

/// The name for templates that is most like another one.
fn suggested_identifier(name: &str) -> Option<String> {
    let mut suggestion = String::new();
    for c in name.chars() {
        match c {
            '-' | ' ' | '.' => suggestion.push('_'),
            c => suggestion.push(c),
        }
    }
    if suggestion.starts_with(|c: char| c.is_ascii_digit()) || RESERVED.contains(&suggestion.as_str()) {
        suggestion.insert(0, '_');
    }
    identifier(&suggestion).is_ok().then_some(suggestion)
}

/// Checks the film's file name: one plain `.mp4` file, no folder.
pub(crate) fn output_name(name: &str) -> Result<(), String> {
    if name.contains(['/', '\\', ':']) || name.starts_with('.') {
        return Err(format!("`{name}` is not a plain file name"));
    }
    if name.chars().any(|c| c.is_control() || "<>\"|?*".contains(c)) || name.len() > 200 {
        return Err(format!("`{name}` is not a name that every file system takes"));
    }
    match name.strip_suffix(".mp4") {
        Some(stem) if stem.ends_with('.') => Err(format!(
            "`{name}` is not a name that every file system takes: there is a `.` before its ending"
        )),
        Some(stem) if !stem.is_empty() && stem.trim() == stem => Ok(()),
        Some(stem) if !stem.trim().is_empty() => Err(format!("`{name}` has a space at an end of the name")),
        _ => Err(format!("`{name}` does not end in `.mp4`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shot_ref_parses_shot_cell_and_take() {
        let full = ShotRef::parse("harbor@lens=24mm,seed=1#2").unwrap();
        assert_eq!(
            (full.shot.as_str(), full.cell.as_deref(), full.take),
            ("harbor", Some("lens=24mm,seed=1"), Some(2))
        );
        assert_eq!(full.to_string(), "harbor@lens=24mm,seed=1#2");
        for wrong in ["", "harbor@", "lamp#0", "lamp#x", "../x", "a b", "@seed=1", "-x"] {
            assert!(ShotRef::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn output_name_rejects_paths() {
        assert!(output_name("light house.mp4").is_ok());
        for wrong in [
            "../x.mp4", "a/b.mp4", "x.mov", ".mp4", ".x.mp4", "c:x.mp4", "x\n.mp4", " .mp4", "a\\b.mp4",
            "x..mp4",
        ] {
            assert!(output_name(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn identifier_meant_is_one() {
        for (name, suggestion) in [
            ("my-look", Some("my_look")),
            ("2nd look", Some("_2nd_look")),
            ("take", Some("_take")),
            ("海", None),
            ("", None),
        ] {
            assert_eq!(suggested_identifier(name).as_deref(), suggestion, "{name}");
        }
    }
}
