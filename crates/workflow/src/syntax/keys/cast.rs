//! The keys of a character.

use super::{Shape, object};

object! { CHARACTER = "character":
    DESCRIPTION = "description": Shape::Prose,
    STILLS = "stills": Shape::Stills,
    VOICE = "voice": Shape::CharacterVoice,
    NOTE = "note": Shape::Prose,
}
