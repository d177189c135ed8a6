//! The set of numbers that a regular expression of digits matches.
//!
//! Used to accept a number in a workflow file for a string field such as `seconds`, and to tell which of two patterns is wider.

use std::collections::BTreeSet;

use regex::RegexBuilder;

use crate::Field;
use crate::spec::matches_digits_only;

/// The greatest number that is tried; seconds have two digits.
const MAX_NUMBER: u32 = 999;
/// The most memory for a compiled pattern, in bytes.
const MAX_SIZE: usize = 1 << 20;

impl Field {
    /// The numbers from 0 to 999 that a [`Field::is_digit_string`] takes.
    pub fn numbers(&self) -> Option<BTreeSet<u32>> {
        self.pattern.as_deref().filter(|_| self.is_digit_string).and_then(numbers)
    }
}

/// The numbers from 0 to 999, written without leading zeros, that a pattern matches; nothing where the pattern is of
/// another kind or matches none of them.
pub(crate) fn numbers(pattern: &str) -> Option<BTreeSet<u32>> {
    if !matches_digits_only(pattern) {
        return None;
    }
    let regex = RegexBuilder::new(pattern).size_limit(MAX_SIZE).build().ok()?;
    let numbers: BTreeSet<u32> =
        (0..=MAX_NUMBER).filter(|number| regex.is_match(&number.to_string())).collect();
    (!numbers.is_empty()).then_some(numbers)
}

/// `4 to 15`, `1, 2, 4 to 6`.
pub(crate) fn format_ranges(numbers: &BTreeSet<u32>) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, end)) if *end + 1 == *number => *end = *number,
            _ => runs.push((*number, *number)),
        }
    }
    let run = |(from, to): &(u32, u32)| if from == to { from.to_string() } else { format!("{from} to {to}") };
    runs.iter().map(run).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::{format_ranges, numbers};

    #[test]
    fn numbers_of_digit_patterns() {
        for (pattern, ranges) in [
            ("^([4-9]|1[0-5])$", "4 to 15"),
            ("^([1-9]|1[0-5])$", "1 to 15"),
            ("^(?:4|6|8)$", "4, 6, 8"),
            ("^[1-3]0?$", "1 to 3, 10, 20, 30"),
            ("^1{2,3}$", "11, 111"),
            ("^[0-9]+$", "0 to 999"),
            ("^5{3}$", "555"),
        ] {
            assert_eq!(
                numbers(pattern).map(|numbers| format_ranges(&numbers)).as_deref(),
                Some(ranges),
                "{pattern}"
            );
        }
    }

    #[test]
    fn numbers_of_other_patterns_is_none() {
        for pattern in [
            "^[0-9]+x[0-9]+$",
            "[0-9]+",
            "^[^0]$",
            "^.+$",
            "^$",
            "^(1$",
            "^1)$",
            "^1{99}$",
            "^[1-",
            "^(?=1)$",
        ] {
            assert_eq!(numbers(pattern), None, "{pattern}");
        }
        assert_eq!(
            numbers(&format!("^{}1{}$", "(".repeat(5_000), ")".repeat(5_000))),
            None,
            "nested too deep"
        );
    }
}
