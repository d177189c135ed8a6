//! The keys of a parameter's declaration.

use super::{KeySpec, Shape, object};
use crate::syntax::ParamKind;

// A declaration of a parameter. A mapping with none of `DECLARATION_KEYS` is the parameter's value.
object! { PARAM = "parameter":
    TYPE = "type": Shape::Choice(|| ParamKind::ALL.map(ParamKind::as_str).into()),
    DEFAULT = "default": Shape::Any,
    REQUIRED = "required": Shape::Flag,
    ONE_OF = "one_of": Shape::Values,
    MIN = "min": Shape::Number,
    MAX = "max": Shape::Number,
    NOTE = "note": Shape::Prose,
}

/// A mapping with one of these keys is a declaration; a mapping without them is a value.
pub(crate) const DECLARATION_KEYS: [&KeySpec; 4] = [&TYPE, &DEFAULT, &REQUIRED, &ONE_OF];
