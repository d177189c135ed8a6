//! Closed intervals.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A closed interval; a known value has equal bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interval<T> {
    pub min: T,
    pub max: T,
}

impl<T: Copy> Interval<T> {
    /// A known value.
    pub const fn exactly(value: T) -> Self {
        Self { min: value, max: value }
    }
}

impl<T: Ord + Copy> Interval<T> {
    /// The smallest interval that contains both.
    pub fn hull(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }
}

impl<T: PartialEq> Interval<T> {
    /// Whether the value is known.
    pub(crate) fn is_exact(&self) -> bool {
        self.min == self.max
    }
}

/// `5`, or `4 to 15`.
impl<T: PartialEq + fmt::Display> fmt::Display for Interval<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_exact() { write!(f, "{}", self.min) } else { write!(f, "{} to {}", self.min, self.max) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_displays_its_bounds_or_its_value() {
        assert_eq!(Interval { min: 4, max: 15 }.to_string(), "4 to 15");
        assert_eq!(Interval::exactly(5).to_string(), "5");
    }
}
