//! `| format(…)`: printf-style formatting with bounded output.

use minijinja::formatting::{FormatStyle, format};
use minijinja::value::{Kwargs, Value, ValueKind};
use minijinja::{Error, ErrorKind};

use crate::limits;

/// The widest field, and the most digits of a number.
const MAX_FIELD_WIDTH: usize = 200;
/// Characters that the largest number takes without a width.
const MAX_NUMBER_CHARS: usize = 330;

fn invalid_operation(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, message.into())
}

/// Text with `%s`, `%d`, `%05.1f`, `%(name)s` replaced by the arguments.
///
/// # Errors
/// A conversion that does not exist or does not fit its argument, and output that could exceed [`limits::MAX_RENDERED_BYTES`].
pub(super) fn printf(text: &str, args: &[Value], kwargs: &Kwargs) -> Result<String, Error> {
    let mut named = Vec::new();
    for name in kwargs.args() {
        named.push(kwargs.peek::<Value>(name)?);
    }
    for arg in args.iter().chain(&named) {
        if !matches!(arg.kind(), ValueKind::String | ValueKind::Number | ValueKind::Bool) {
            return Err(invalid_operation(format!(
                "`format` takes text and numbers, and this is a {}: write `| join(', ')` or `| tojson` behind it",
                arg.kind()
            )));
        }
    }
    let (conversions, padding) = fields(text)?;
    let length = |values: &[Value]| -> (usize, usize) {
        let lengths = values.iter().map(|value| value.as_str().map_or(0, str::len));
        lengths.fold((0, 0), |(sum, max), length| (sum + length, max.max(length)))
    };
    let inserted =
        if named.is_empty() { length(args).0 } else { length(&named).1.saturating_mul(conversions) };
    let bound = text.len() + padding + conversions * MAX_NUMBER_CHARS;
    if bound.saturating_add(inserted) > limits::MAX_RENDERED_BYTES {
        return Err(invalid_operation(format!(
            "this may give more than {} KiB of text",
            limits::MAX_RENDERED_BYTES / 1024
        )));
    }
    if named.is_empty() {
        return format(FormatStyle::Printf, text, args);
    }
    if !args.is_empty() {
        return Err(invalid_operation("`format` takes values in order or by name, not both"));
    }
    format(
        FormatStyle::Printf,
        text,
        &[Value::from_pairs(kwargs.args().map(str::to_owned).zip(named.clone()))],
    )
}

/// How many conversions a format has, and the sum of their widths and precisions.
fn fields(text: &str) -> Result<(usize, usize), Error> {
    let bytes = text.as_bytes();
    let (mut conversions, mut padding, mut pos) = (0, 0, 0);
    while let Some(percent) = bytes[pos..].iter().position(|byte| *byte == b'%') {
        pos += percent + 1;
        if bytes.get(pos) == Some(&b'%') {
            pos += 1;
            continue;
        }
        if bytes.get(pos) == Some(&b'(') {
            pos += bytes[pos..].iter().position(|byte| *byte == b')').map_or(0, |end| end + 1);
        }
        conversions += 1;
        // Flags, width and precision; the letter that follows is the conversion.
        while let Some(byte) = bytes.get(pos).filter(|byte| b"#0- +.*hlL123456789".contains(byte)) {
            if *byte == b'*' {
                return Err(invalid_operation("`*` as a width is not available: write the number"));
            }
            let digits = bytes[pos..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            if digits == 0 {
                pos += 1;
                continue;
            }
            let width = text[pos..pos + digits].parse::<usize>().unwrap_or(usize::MAX);
            if width > MAX_FIELD_WIDTH {
                return Err(invalid_operation(format!(
                    "a width or a precision is at most {MAX_FIELD_WIDTH}, not {}",
                    &text[pos..pos + digits]
                )));
            }
            padding += width;
            pos += digits;
        }
    }
    Ok((conversions, padding))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_bounded() {
        assert_eq!(fields("%s and %05.1f, 100 %%, %(name)-20s").unwrap(), (3, 26));
        for wrong in ["%201d", "%.99999999999999999999f", "%*d", "%0000000000000000000201d"] {
            assert!(fields(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn output_is_bounded() {
        let long = [Value::from("x".repeat(limits::MAX_RENDERED_BYTES))];
        assert!(printf("%s", &long, &Kwargs::from_iter(Vec::<(&str, Value)>::new())).is_err());
        let named = || Kwargs::from_iter([("a", Value::from("x".repeat(1_000)))]);
        assert!(printf(&"%(a)s".repeat(100), &[], &named()).is_err());
        assert_eq!(printf("%(a).3s", &[], &named()).unwrap(), "xxx");
        assert!(printf("%05.1f", &[Value::from(2.25)], &named()).is_err());
    }
}
