//! The kind of a parameter.

/// The kind of a parameter's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    Text,
    Integer,
    Number,
    Boolean,
    List,
    Map,
}

impl ParamKind {
    pub(crate) const ALL: [Self; 6] =
        [Self::Text, Self::Integer, Self::Number, Self::Boolean, Self::List, Self::Map];

    /// The name of the kind in a file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::List => "list",
            Self::Map => "map",
        }
    }

    /// With its article: `a whole number`.
    pub(crate) fn described(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Integer => "a whole number",
            Self::Number => "a number",
            Self::Boolean => "true or false",
            Self::List => "a list",
            Self::Map => "a mapping",
        }
    }
}
