//! Which numbers a pattern of digits stands for: what may be written as a number in a file, and which of two such
//! patterns is wider.
//!
//! Of the pattern language only what such patterns are made of is understood: digits, classes, groups, alternatives and
//! repetition, between `^` and `$`.

use std::collections::BTreeSet;
use std::iter::Peekable;
use std::str::Chars;

/// Numbers are looked at up to here; seconds have two digits.
const MOST: u32 = 999;
/// More repetitions than any of these numbers has digits.
const REPEATS: usize = 8;

enum Part {
    Class(Vec<(char, char)>),
    Sequence(Vec<Part>),
    Choice(Vec<Part>),
    Repeat { part: Box<Part>, least: usize, most: usize },
}

impl crate::Field {
    /// The numbers from 0 to 999 that a field of digits takes; nothing for other fields.
    #[must_use]
    pub fn numbers(&self) -> Option<BTreeSet<u32>> {
        self.pattern.as_deref().filter(|_| self.digit_string).and_then(numbers)
    }
}

/// The numbers from 0 to 999, written without leading zeros, that a pattern matches; nothing where the pattern is of
/// another kind or matches none of them.
pub(crate) fn numbers(pattern: &str) -> Option<BTreeSet<u32>> {
    let inner = pattern.strip_prefix('^')?.strip_suffix('$')?;
    let mut signs = inner.chars().peekable();
    let part = choice(&mut signs, 0)?;
    if signs.next().is_some() {
        return None;
    }
    let matches = |number: &u32| {
        let text: Vec<char> = number.to_string().chars().collect();
        ends(&part, &text, 0).contains(&text.len())
    };
    let found: BTreeSet<u32> = (0..=MOST).filter(matches).collect();
    (!found.is_empty()).then_some(found)
}

/// `4 to 15`, `1, 2, 4 to 6`.
pub(crate) fn shown(numbers: &BTreeSet<u32>) -> String {
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

/// Groups deeper than this are not what people write.
const DEPTH: usize = 16;

fn choice(signs: &mut Peekable<Chars<'_>>, depth: usize) -> Option<Part> {
    if depth > DEPTH {
        return None;
    }
    let mut alternatives = vec![sequence(signs, depth)?];
    while signs.next_if_eq(&'|').is_some() {
        alternatives.push(sequence(signs, depth)?);
    }
    Some(Part::Choice(alternatives))
}

fn sequence(signs: &mut Peekable<Chars<'_>>, depth: usize) -> Option<Part> {
    let mut parts = Vec::new();
    while let Some(sign) = signs.next_if(|sign| !matches!(sign, '|' | ')')) {
        let part = match sign {
            '0'..='9' => Part::Class(vec![(sign, sign)]),
            '[' => class(signs)?,
            '(' => {
                if signs.next_if_eq(&'?').is_some() {
                    signs.next_if_eq(&':')?;
                }
                let inner = choice(signs, depth + 1)?;
                signs.next_if_eq(&')')?;
                inner
            }
            _ => return None,
        };
        parts.push(repeated(part, signs)?);
    }
    Some(Part::Sequence(parts))
}

fn class(signs: &mut Peekable<Chars<'_>>) -> Option<Part> {
    let mut ranges = Vec::new();
    loop {
        match signs.next()? {
            ']' => return Some(Part::Class(ranges)),
            from if from.is_ascii_digit() => {
                let to = if signs.next_if_eq(&'-').is_some() { signs.next()? } else { from };
                if !to.is_ascii_digit() {
                    return None;
                }
                ranges.push((from, to));
            }
            _ => return None,
        }
    }
}

fn repeated(part: Part, signs: &mut Peekable<Chars<'_>>) -> Option<Part> {
    let (least, most) = match signs.peek() {
        Some('?') => (0, 1),
        Some('*') => (0, REPEATS),
        Some('+') => (1, REPEATS),
        Some('{') => {
            signs.next();
            let mut text = String::new();
            while let Some(sign) = signs.next_if(|sign| *sign != '}') {
                text.push(sign);
            }
            let (least, most) = match text.split_once(',') {
                None => (text.parse().ok()?, text.parse().ok()?),
                Some((least, "")) => (least.parse().ok()?, REPEATS),
                Some((least, most)) => (least.parse().ok()?, most.parse().ok()?),
            };
            if least > REPEATS {
                return None;
            }
            (least, most.min(REPEATS))
        }
        _ => return Some(part),
    };
    signs.next()?;
    Some(Part::Repeat { part: Box::new(part), least, most })
}

/// Where a part can end that begins at `from`.
fn ends(part: &Part, text: &[char], from: usize) -> BTreeSet<usize> {
    match part {
        Part::Class(ranges) => {
            let fits = |sign: &char| ranges.iter().any(|(least, most)| (least..=most).contains(&sign));
            text.get(from).filter(|sign| fits(sign)).map(|_| from + 1).into_iter().collect()
        }
        Part::Sequence(parts) => parts.iter().fold(BTreeSet::from([from]), |starts, part| {
            starts.into_iter().flat_map(|start| ends(part, text, start)).collect()
        }),
        Part::Choice(parts) => parts.iter().flat_map(|part| ends(part, text, from)).collect(),
        Part::Repeat { part, least, most } => {
            let mut found = BTreeSet::new();
            let mut starts = BTreeSet::from([from]);
            for done in 0..=*most {
                if done >= *least {
                    found.extend(&starts);
                }
                starts = starts.into_iter().flat_map(|start| ends(part, text, start)).collect();
            }
            found
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{numbers, shown};

    #[test]
    fn patterns_of_digits_are_numbers() {
        for (pattern, told) in [
            ("^([4-9]|1[0-5])$", "4 to 15"),
            ("^([1-9]|1[0-5])$", "1 to 15"),
            ("^(?:4|6|8)$", "4, 6, 8"),
            ("^[1-3]0?$", "1 to 3, 10, 20, 30"),
            ("^1{2,3}$", "11, 111"),
            ("^[0-9]+$", "0 to 999"),
            ("^5{3}$", "555"),
        ] {
            assert_eq!(numbers(pattern).map(|found| shown(&found)).as_deref(), Some(told), "{pattern}");
        }
    }

    #[test]
    fn other_patterns_are_left_alone() {
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
