//! The set of numbers that a regular expression of digits matches.
//!
//! Used to accept a number in a workflow file for a string field such as `seconds`, and to tell which of two patterns is wider.
//! Supported syntax: digits, classes, groups, alternation and repetition, between `^` and `$`.

use std::collections::BTreeSet;
use std::iter::Peekable;
use std::str::Chars;

/// The greatest number that is tried; seconds have two digits.
const MAX_NUMBER: u32 = 999;
/// Digits of [`MAX_NUMBER`].
const MAX_LENGTH: u32 = MAX_NUMBER.ilog10() + 1;
const _: () = assert!(MAX_LENGTH < Indices::BITS);
/// Repetition counts are capped here: more than the digits of [`MAX_NUMBER`].
const MAX_REPEATS: usize = 8;

enum Regex {
    Class(Vec<(char, char)>),
    Sequence(Vec<Regex>),
    Choice(Vec<Regex>),
    Repeat { part: Box<Regex>, min: usize, max: usize },
}

/// The numbers from 0 to 999, written without leading zeros, that a pattern matches; nothing where the pattern is of
/// another kind or matches none of them.
pub(crate) fn numbers(pattern: &str) -> Option<BTreeSet<u32>> {
    let inner = pattern.strip_prefix('^')?.strip_suffix('$')?;
    let mut chars = inner.chars().peekable();
    let part = parse_alternation(&mut chars, 0)?;
    if chars.next().is_some() {
        return None;
    }
    let matches = |number: &u32| {
        let text: Vec<char> = number.to_string().chars().collect();
        match_ends(&part, &text, 1) & 1 << text.len() != 0
    };
    let numbers: BTreeSet<u32> = (0..=MAX_NUMBER).filter(matches).collect();
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

/// Groups may be nested this deep.
const MAX_DEPTH: usize = 16;

fn parse_alternation(chars: &mut Peekable<Chars<'_>>, depth: usize) -> Option<Regex> {
    if depth > MAX_DEPTH {
        return None;
    }
    let mut alternatives = vec![parse_sequence(chars, depth)?];
    while chars.next_if_eq(&'|').is_some() {
        alternatives.push(parse_sequence(chars, depth)?);
    }
    Some(Regex::Choice(alternatives))
}

fn parse_sequence(chars: &mut Peekable<Chars<'_>>, depth: usize) -> Option<Regex> {
    let mut parts = Vec::new();
    while let Some(c) = chars.next_if(|c| !matches!(c, '|' | ')')) {
        let part = match c {
            '0'..='9' => Regex::Class(vec![(c, c)]),
            '[' => parse_class(chars)?,
            '(' => {
                if chars.next_if_eq(&'?').is_some() {
                    chars.next_if_eq(&':')?;
                }
                let inner = parse_alternation(chars, depth + 1)?;
                chars.next_if_eq(&')')?;
                inner
            }
            _ => return None,
        };
        parts.push(parse_repetition(part, chars)?);
    }
    Some(Regex::Sequence(parts))
}

fn parse_class(chars: &mut Peekable<Chars<'_>>) -> Option<Regex> {
    let mut ranges = Vec::new();
    loop {
        match chars.next()? {
            ']' => return Some(Regex::Class(ranges)),
            from if from.is_ascii_digit() => {
                let to = if chars.next_if_eq(&'-').is_some() { chars.next()? } else { from };
                if !to.is_ascii_digit() {
                    return None;
                }
                ranges.push((from, to));
            }
            _ => return None,
        }
    }
}

fn parse_repetition(part: Regex, chars: &mut Peekable<Chars<'_>>) -> Option<Regex> {
    let (min, max) = match chars.peek() {
        Some('?') => (0, 1),
        Some('*') => (0, MAX_REPEATS),
        Some('+') => (1, MAX_REPEATS),
        Some('{') => {
            chars.next();
            let mut text = String::new();
            while let Some(c) = chars.next_if(|c| *c != '}') {
                text.push(c);
            }
            let (min, max) = match text.split_once(',') {
                None => (text.parse().ok()?, text.parse().ok()?),
                Some((min, "")) => (min.parse().ok()?, MAX_REPEATS),
                Some((min, max)) => (min.parse().ok()?, max.parse().ok()?),
            };
            if min > MAX_REPEATS {
                return None;
            }
            (min, max.min(MAX_REPEATS))
        }
        _ => return Some(part),
    };
    chars.next()?;
    Some(Regex::Repeat { part: Box::new(part), min, max })
}

/// A set of indices in a text of at most [`MAX_LENGTH`] digits, one bit each.
type Indices = u8;

/// The indices at which a match beginning at one of `starts` can end.
fn match_ends(part: &Regex, text: &[char], starts: Indices) -> Indices {
    match part {
        Regex::Class(ranges) => {
            let fits = |c: char| ranges.iter().any(|(min, max)| (*min..=*max).contains(&c));
            let matching = text.iter().enumerate().filter(|(_, c)| fits(**c));
            matching.fold(0, |ends, (index, _)| ends | (starts & 1 << index) << 1)
        }
        Regex::Sequence(parts) => parts.iter().fold(starts, |starts, part| match_ends(part, text, starts)),
        Regex::Choice(parts) => parts.iter().fold(0, |ends, part| ends | match_ends(part, text, starts)),
        Regex::Repeat { part, min, max } => {
            let (mut ends, mut starts) = (0, starts);
            for repeats in 0..=*max {
                if repeats >= *min {
                    ends |= starts;
                }
                starts = match_ends(part, text, starts);
            }
            ends
        }
    }
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
        assert_eq!(numbers(&format!("^{}1{}$", "(".repeat(5_000), ")".repeat(5_000))), None);
    }
}
