//! Keys of other levels and of other tools that no other spelling makes right: what they mean belongs elsewhere.

use super::{ObjectSpec, is_field, workflow};

/// The noun of an object, words in it, and where to write what they mean.
const MISPLACED: &str = include_str!("misplaced.txt");

/// The help for a key that an object does not have.
pub(crate) fn misplaced(object: &ObjectSpec, key: &str) -> Option<String> {
    let folded = key.to_lowercase().replace('-', "_");
    let name = folded.as_str();
    let meant = MISPLACED.lines().find_map(|row| {
        let (words, help) = row.strip_prefix(object.noun())?.strip_prefix(": ")?.split_once(" | ")?;
        words.split(' ').any(|word| word == name).then(|| help.to_owned())
    });
    if meant.is_some() {
        return meant;
    }
    match object.path {
        "shot" => {
            workflow::flag_for(name).map(|flag| format!("a run takes it as a flag: `runner run --{flag}`"))
        }
        "defaults" if workflow::WORKFLOW.has(name) => {
            Some(format!("`{name}` stands at the top level of the file: indent it less"))
        }
        "film" if is_field(name) => Some(format!("`{name}` belongs to a shot, or to the `defaults` of all")),
        _ => None,
    }
}
