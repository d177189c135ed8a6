//! The keys of a line of dialogue.

use super::{Shape, object};

object! { LINE = "dialogue":
    TEXT = "text": Shape::Prose,
    SPEAKER = "speaker": Shape::Text,
    AT = "at": Shape::EditLength,
    LENGTH = "length": Shape::EditLength,
}
