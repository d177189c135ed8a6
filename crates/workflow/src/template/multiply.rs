//! `*` multiplies numbers only.
//!
//! minijinja's `*` also repeats text and lists, up to 100 MB in a step. The template that is compiled therefore has a filter after
//! both operands of each `*` that passes numbers only: `a * b.c | int` is compiled as `a |__number * b.c | int|__number`.
//! `*`, `/`, `//` and `%` have the same precedence and numbers as results, so the operands beside the `*` are all that matters.

use std::ops::Range;

use minijinja::value::{Value, ValueKind};
use minijinja::{Error, ErrorKind};

/// The name of the filter.
pub(super) const NUMBER: &str = "__number";

/// A template with checked operands, and what was inserted into it.
#[derive(Debug)]
pub(super) struct CheckedProducts {
    /// The text to compile.
    pub(super) code: String,
    /// Offsets in the original text, ascending, each with the `*` for which the filter was inserted there.
    inserted: Vec<(usize, usize)>,
}

/// Operands of `*` that are not numbers are errors.
pub(super) fn number(value: &Value) -> Result<Value, Error> {
    match value.kind() {
        // The multiplication reports what is undefined, with its name.
        ValueKind::Number | ValueKind::Undefined => Ok(value.clone()),
        kind => Err(Error::new(
            ErrorKind::InvalidOperation,
            format!("`*` multiplies numbers, and this is {}", noun(kind)),
        )),
    }
}

fn noun(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::String => "text",
        ValueKind::Seq | ValueKind::Iterable => "a list",
        ValueKind::Map => "a mapping",
        ValueKind::Bool => "true or false",
        ValueKind::None => "empty",
        _ => "none",
    }
}

impl CheckedProducts {
    /// Inserts the filters for the `*` at these offsets.
    pub(super) fn new(text: &str, stars: &[usize]) -> Self {
        let bytes = text.as_bytes();
        let mut inserted: Vec<(usize, usize)> =
            stars.iter().flat_map(|&star| [(star, star), (operand_end(bytes, star + 1), star)]).collect();
        inserted.sort_unstable();
        let mut code = String::with_capacity(text.len() + inserted.len() * (NUMBER.len() + 2));
        let mut copied = 0;
        for &(offset, _) in &inserted {
            code.push_str(&text[copied..offset]);
            code.push_str(&insertion());
            copied = offset;
        }
        code.push_str(&text[copied..]);
        Self { code, inserted }
    }

    /// A range of the compiled text in the original one.
    pub(super) fn original(&self, range: Range<usize>) -> Range<usize> {
        let length = insertion().len();
        let mut shift = 0;
        for &(offset, star) in &self.inserted {
            let position = offset + shift;
            if range.start >= position && range.end <= position + length {
                return star..star + 1;
            }
            shift += length;
        }
        self.original_offset(range.start)..self.original_offset(range.end)
    }

    fn original_offset(&self, compiled: usize) -> usize {
        let mut shift = 0;
        for &(offset, _) in &self.inserted {
            if compiled <= offset + shift {
                break;
            }
            shift += insertion().len().min(compiled - offset - shift);
        }
        compiled - shift
    }
}

fn insertion() -> String {
    format!("|{NUMBER} ")
}

/// The end of an operand: signs, a value, its members, indexes and calls, and filters.
fn operand_end(code: &[u8], start: usize) -> usize {
    let mut pos = spaces_end(code, start);
    while code.get(pos) == Some(&b'-') {
        pos = spaces_end(code, pos + 1);
    }
    pos = match code.get(pos) {
        Some(b'\'' | b'"') => super::scan::after_quoted(code, pos),
        Some(b'(' | b'[' | b'{') => bracket_end(code, pos),
        _ => name_end(code, pos),
    };
    loop {
        let next = spaces_end(code, pos);
        pos = match code.get(next) {
            Some(b'.' | b'|') => name_end(code, spaces_end(code, next + 1)),
            Some(b'(' | b'[') => bracket_end(code, next),
            _ => return pos.min(code.len()),
        };
    }
}

fn spaces_end(code: &[u8], start: usize) -> usize {
    start + code.get(start..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// The end of a name or a number.
fn name_end(code: &[u8], start: usize) -> usize {
    let in_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_' || !byte.is_ascii();
    let rest = code.get(start..).unwrap_or_default();
    let mut end = start + rest.iter().take_while(in_name).count();
    // The exponent of a number: `1e-5`.
    let number = rest.first().is_some_and(u8::is_ascii_digit);
    if number && matches!(code[end - 1], b'e' | b'E') && matches!(code.get(end), Some(b'-' | b'+')) {
        end += 1;
        end += code[end..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    }
    end
}

/// The end of what an opening bracket opens.
fn bracket_end(code: &[u8], open: usize) -> usize {
    let (mut depth, mut pos) = (0_usize, open);
    while let Some(byte) = code.get(pos) {
        match byte {
            b'\'' | b'"' => {
                pos = super::scan::after_quoted(code, pos);
                continue;
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        pos += 1;
        if depth == 0 {
            return pos;
        }
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_operands_are_checked() {
        let checked = |text: &str| {
            let stars: Vec<usize> = text.match_indices('*').map(|(offset, _)| offset).collect();
            CheckedProducts::new(text, &stars).code.replace("|__number ", "#")
        };
        assert_eq!(checked("a*b"), "a#*b#");
        assert_eq!(checked("a * b * c"), "a #* b# #* c#");
        assert_eq!(checked("2 * x.y[i + 1](3) | round(1) + 4"), "2 #* x.y[i + 1](3) | round(1)# + 4");
        assert_eq!(checked("2 * - (3 * ')') is odd"), "2 #* - (3 #* ')'#)# is odd");
        assert_eq!(checked("1.5 * 1e-3 }}"), "1.5 #* 1e-3# }}");
        assert_eq!(checked("a *"), "a #*#");
    }

    #[test]
    fn ranges_are_those_of_the_original() {
        let text = "aa * bb + cc";
        let products = CheckedProducts::new(text, &[3]);
        let find = |part: &str| {
            let start = products.code.find(part).unwrap();
            products.original(start..start + part.len())
        };
        assert_eq!(&text[find("aa")], "aa");
        assert_eq!(&text[find("bb")], "bb");
        assert_eq!(&text[find("cc")], "cc");
        assert_eq!(find("__number"), 3..4);
    }
}
