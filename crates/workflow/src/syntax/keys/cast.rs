//! The keys of a character.

use super::{KeySpec, ObjectSpec, Shape};

pub(crate) const DESCRIPTION: KeySpec = KeySpec::new(
    "description",
    Shape::Prose,
    "what the character looks like; put in front of the prompt of each shot that has the character in its `cast`, or where the prompt says `{{ cast.NAME }}`",
    "description: a grey-bearded keeper",
)
.templated();
pub(crate) const STILLS: KeySpec = KeySpec::new(
    "stills",
    Shape::Stills,
    "images of the character; references of each shot that has the character in its `cast`",
    "stills: [stills/keeper.png]",
)
.templated();
pub(crate) const VOICE: KeySpec = KeySpec::new(
    "voice",
    Shape::CharacterVoice,
    "how the character sounds: text follows the description, a sound becomes a reference",
    "voice: a low, rough voice",
)
.templated();
pub(crate) const NOTE: KeySpec =
    KeySpec::new("note", Shape::Prose, "a note for people; no effect", "note: played by Ada");

pub(crate) const CHARACTER: ObjectSpec = ObjectSpec {
    noun: "character",
    keys: &[&DESCRIPTION, &STILLS, &VOICE, &NOTE],
    help: "write its description, or `{description: a grey-bearded keeper, stills: stills/keeper.png}`",
    is_open: false,
};
