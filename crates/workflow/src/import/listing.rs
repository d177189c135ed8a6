//! What a shot list says, before it is written as a workflow.

use std::collections::HashMap;

use crate::letters::truncated;
use crate::limits;

/// A shot to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListedShot {
    pub(super) id: String,
    /// The scene, where it begins.
    pub(super) scene: Option<String>,
    pub(super) prompt: String,
    pub(super) note: String,
    pub(super) dialogue: Vec<SpokenLine>,
    /// Whether something is heard in it.
    pub(super) is_audible: bool,
    /// Whole seconds, within the model's range.
    pub(super) seconds: Option<u32>,
    /// The id of the shot that it continues.
    pub(super) continues: Option<String>,
}

/// A line of dialogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SpokenLine {
    pub(super) speaker: Option<String>,
    pub(super) text: String,
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
