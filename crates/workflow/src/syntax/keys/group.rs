//! The keys of a group of shots.

use super::{Shape, object};

object! { GROUP = "group":
    NOTE = "note": Shape::Prose,
    PARAMS = "params": Shape::Params,
    DEFAULTS = "defaults": Shape::Fields,
}
