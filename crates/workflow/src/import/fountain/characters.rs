//! The characters of a screenplay: who speaks, and who is seen in a paragraph of action.

use std::collections::HashSet;

use super::super::columns::unaccented;
use super::super::listing::ListedCharacter;
use super::parse::{ElementKind, Screenplay, Speech};
use crate::limits;
use crate::syntax::identifier;

/// Characters of the description in parentheses behind a name, at most.
const MAX_DESCRIPTION_CHARS: usize = 200;

/// The extensions of a speaker who is not seen.
const OFF_SCREEN: [&str; 8] = ["v.o.", "vo", "v.o", "o.s.", "os", "o.s", "o.c.", "off"];

/// The characters who speak, in the order of their first words.
#[derive(Debug, Default)]
pub(super) struct Characters {
    characters: Vec<ScriptCharacter>,
}

#[derive(Debug)]
struct ScriptCharacter {
    /// As speeches write it.
    written: String,
    /// In lower case, to be found in action.
    lower: String,
    name: String,
    /// As people write it.
    shown: String,
    description: String,
}

impl Characters {
    /// The characters of a screenplay, as many as a workflow may have; the number of those beyond.
    pub(super) fn read(screenplay: &Screenplay) -> (Self, usize) {
        let mut cast = Self::default();
        let mut beyond: HashSet<&str> = HashSet::new();
        for element in &screenplay.elements {
            let ElementKind::Speech(speech) = &element.kind else { continue };
            if cast.position(&speech.name).is_some() || beyond.contains(speech.name.as_str()) {
                continue;
            }
            if cast.characters.len() < limits::MAX_CHARACTERS {
                cast.add(&speech.name);
            } else {
                beyond.insert(&speech.name);
            }
        }
        let actions = screenplay.elements.iter().filter_map(|element| match &element.kind {
            ElementKind::Action(text) => Some(text.as_str()),
            _ => None,
        });
        for action in actions {
            for character in &mut cast.characters {
                if character.description == character.shown
                    && let Some(description) = introduced(action, &character.written)
                {
                    character.description = format!("{}, {description}", character.shown);
                }
            }
        }
        (cast, beyond.len())
    }

    fn position(&self, written: &str) -> Option<usize> {
        self.characters.iter().position(|character| character.written == written)
    }

    fn add(&mut self, written: &str) {
        let shown = capitalized(written);
        let mut name = ascii_name(written);
        name.truncate(limits::MAX_NAME_CHARS - 20);
        if identifier(&name).is_err() {
            name = if name.is_empty() { "character".to_owned() } else { format!("character_{name}") };
        }
        let is_taken = |name: &str| self.characters.iter().any(|other| other.name == name);
        if is_taken(&name) || name == "character" {
            let numbered = (1..=limits::MAX_CHARACTERS)
                .map(|number| format!("{name}_{number}"))
                .find(|name| !is_taken(name));
            name = numbered.unwrap_or_default();
        }
        let (lower, description) = (written.to_lowercase(), shown.clone());
        self.characters.push(ScriptCharacter {
            written: written.to_owned(),
            lower,
            name,
            shown,
            description,
        });
    }

    /// How people write the name of a speaker.
    pub(super) fn display_name(&self, speech: &Speech) -> String {
        self.position(&speech.name)
            .map_or_else(|| capitalized(&speech.name), |index| self.characters[index].shown.clone())
    }

    /// The index of a speaker who is seen.
    pub(super) fn on_screen_speaker(&self, speech: &Speech) -> Option<usize> {
        let is_off_screen = |extension: &String| OFF_SCREEN.contains(&extension.to_lowercase().as_str());
        if speech.extensions.iter().any(is_off_screen) { None } else { self.position(&speech.name) }
    }

    /// The indexes of the characters whom a paragraph of action names.
    pub(super) fn named_in(&self, action: &str) -> Vec<usize> {
        let action = action.to_lowercase();
        let is_named = |character: &ScriptCharacter| has_word(&action, &character.lower);
        (0..self.characters.len()).filter(|index| is_named(&self.characters[*index])).collect()
    }

    /// The name of a character in templates.
    pub(super) fn name(&self, index: usize) -> &str {
        &self.characters[index].name
    }

    /// Those of the characters that some shot shows.
    pub(super) fn listed(self, is_shown: impl Fn(&str) -> bool) -> Vec<ListedCharacter> {
        let listed = self.characters.into_iter().filter(|character| is_shown(&character.name));
        listed
            .map(|ScriptCharacter { name, description, .. }| ListedCharacter { name, description })
            .collect()
    }
}

/// Letters and digits as templates take them in names, each run of others as `_`.
fn ascii_name(written: &str) -> String {
    let plain = unaccented(written);
    let words = plain.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("_")
}

/// A name as people write it: `MARA` is `Mara`, `McCLANE` stays.
fn capitalized(written: &str) -> String {
    if written.chars().any(char::is_lowercase) {
        return written.to_owned();
    }
    let mut out = String::with_capacity(written.len());
    let mut is_first = true;
    for c in written.chars() {
        if is_first {
            out.push(c);
        } else {
            out.extend(c.to_lowercase());
        }
        is_first = !(c.is_alphanumeric() || matches!(c, '\'' | '’'));
    }
    out
}

/// Whether a text has a word, with no letter beside it.
fn has_word(text: &str, word: &str) -> bool {
    find_word(text, word).is_some()
}

fn find_word(text: &str, word: &str) -> Option<usize> {
    text.match_indices(word).map(|(start, _)| start).find(|start| {
        let before = text[..*start].chars().next_back();
        let after = text[start + word.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

/// What stands in parentheses where a paragraph introduces a character: `MARA (60, grey-haired) opens the door`.
fn introduced(action: &str, written: &str) -> Option<String> {
    let start = find_word(action, written)?;
    let inner = action[start + written.len()..].strip_prefix(" (")?.split_once(')')?.0.trim();
    let is_short = !inner.is_empty() && inner.chars().count() <= MAX_DESCRIPTION_CHARS;
    is_short.then(|| inner.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_as_people_write_them() {
        for (written, shown) in [
            ("MARA", "Mara"),
            ("O'NEIL", "O'neil"),
            ("MAN #2", "Man #2"),
            ("McCLANE", "McCLANE"),
            ("ОЛЬГА", "Ольга"),
        ] {
            assert_eq!(capitalized(written), shown);
        }
    }

    #[test]
    fn names_in_templates_are_unique_identifiers() {
        let mut characters = Characters::default();
        for written in ["MARA", "MÄRA", "ОЛЬГА", "ИВАН", "2ND MAN", "NOT"] {
            characters.add(written);
        }
        let names: Vec<&str> = (0..6).map(|index| characters.name(index)).collect();
        assert_eq!(
            names,
            ["mara", "mara_1", "character_1", "character_2", "character_2nd_man", "character_not"]
        );
        assert!(names.iter().all(|name| identifier(name).is_ok()));
    }

    #[test]
    fn introduction_describes() {
        assert_eq!(
            introduced("MARA (60, grey-\nhaired) waits.", "MARA").as_deref(),
            Some("60, grey- haired")
        );
        assert_eq!(introduced("TAMARA (60) waits.", "MARA"), None);
        assert_eq!(introduced("MARA waits (long).", "MARA"), None);
    }
}
