//! What a shot list, a screenplay or a timeline says, before it is written as a workflow.

use std::collections::HashMap;

use crate::letters::truncated;
use crate::limits;

/// A workflow to be written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Listing {
    /// Lines about the source, for the comment at the top.
    pub(super) about: Vec<String>,
    /// Characters to be described.
    pub(super) characters: Vec<ListedCharacter>,
    pub(super) shots: Vec<ListedShot>,
    /// The clips of the film; all shots with cuts between them if it is empty.
    pub(super) film: Vec<FilmEntry>,
}

/// A character to be described.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListedCharacter {
    /// The name that templates use.
    pub(super) name: String,
    pub(super) description: String,
}

/// A shot to be written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ListedShot {
    pub(super) id: String,
    /// Lines that stand as a comment before the shot: its scene, if that begins here.
    pub(super) headings: Vec<String>,
    pub(super) prompt: String,
    pub(super) note: String,
    /// What is said.
    pub(super) dialogue: Vec<SpokenLine>,
    /// Names of the characters who are seen.
    pub(super) cast: Vec<String>,
    /// Whether something is heard in it.
    pub(super) is_audible: bool,
    /// Whole seconds, within the model's range.
    pub(super) seconds: Option<u32>,
    /// How many takes of it are made, where there are several.
    pub(super) takes: Option<u64>,
    /// The id of the shot that it continues.
    pub(super) continues: Option<String>,
}

/// A line of dialogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SpokenLine {
    pub(super) speaker: Option<String>,
    pub(super) text: String,
}

/// A clip of the film: its keys with their values as YAML on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FilmEntry {
    pub(super) members: Vec<(&'static str, String)>,
}

/// Ids that are taken, each with the last number that was appended to it.
#[derive(Debug, Default)]
pub(super) struct Ids {
    taken: HashMap<String, u32>,
}

impl Ids {
    /// A free id: the preferred one, shortened, or that with a number; and whether another shot has the preferred one.
    pub(super) fn free(&mut self, preferred: &str) -> (String, bool) {
        let short = truncated(preferred, limits::MAX_NAME_CHARS - 8, limits::MAX_NAME_BYTES - 8);
        let id = short.trim_end_matches('-').to_owned();
        let Some(mut count) = self.taken.get(&id).copied() else {
            self.taken.insert(id.clone(), 1);
            return (id, false);
        };
        let free = loop {
            count += 1;
            let name = format!("{id}-{count}");
            if !self.taken.contains_key(&name) {
                break name;
            }
        };
        self.taken.insert(id, count);
        self.taken.insert(free.clone(), 1);
        (free, true)
    }
}
