//! The keys of a shot that are not request fields.

use super::{KeySpec, Shape, object};
use crate::limits;

/// The take of a shot without a matrix.
pub(crate) const PICK_TAKE: KeySpec =
    KeySpec { name: "pick", path: "pick.pick", shape: Shape::Count { max: limits::MAX_TAKES } };
/// The take beside the axes of an instance. No axis has this name.
pub(crate) const PICK_TAKE_MEMBER: KeySpec =
    KeySpec { name: "take", path: "pick.take", shape: Shape::Count { max: limits::MAX_TAKES } };
/// The value of `pick` for a choice that is made later.
pub(crate) const OPEN_PICK: &str = "open";

// What `defaults` may hold besides request fields. A shot's own value overrides it, and `null` removes it.
object! { DEFAULTS = "defaults":
    SERVICE, REFERENCES, CAST, TAKES, PICK, RETRY, TIMEOUT, NOTE,
}

/// Why `defaults` does not hold a key of a shot.
pub(crate) fn no_default(name: &str) -> String {
    let reason = match name {
        "id" => "each shot has an id of its own",
        "continues" | "needs" => {
            "a shot cannot come after itself: write it in each shot that follows another"
        }
        "first_frame" | "last_frame" => "a frame belongs to one shot; `references` may be in `defaults`",
        "salt" => {
            "a salt tells a shot from others that request the same; for all shots there is `run --salt`"
        }
        "group" => "what all shots share is in `defaults` itself",
        "matrix" => "the `matrix` at the top level of the file is for all shots",
        _ => "write it in each shot",
    };
    reason.to_owned()
}

// A shot. Its other keys are request fields, which the contract judges.
object! { SHOT = "shot":
    ID = "id": Shape::Id,
    NOTE = "note": Shape::Prose,
    GROUP = "group": Shape::Id,
    SERVICE = "service": Shape::Name,
    DIALOGUE = "dialogue": Shape::Dialogue,
    CONTINUES = "continues": Shape::ShotRef,
    FIRST_FRAME = "first_frame": Shape::Medium,
    LAST_FRAME = "last_frame": Shape::Medium,
    REFERENCES = "references": Shape::Media,
    CAST = "cast": Shape::Characters,
    MATRIX = "matrix": Shape::Matrix,
    REPEAT = "repeat": Shape::Count { max: limits::MAX_STEPS },
    TAKES = "takes": Shape::Count { max: limits::MAX_TAKES },
    PICK = "pick": Shape::Pick,
    NEEDS = "needs": Shape::ShotRefs,
    WHEN = "when": Shape::Condition,
    SALT = "salt": Shape::Scalar,
    RETRY = "retry": Shape::Retry,
    TIMEOUT = "timeout": Shape::Duration { max_seconds: limits::MAX_TIMEOUT_SECONDS },
}
