//! Numbers that a comma ends in brackets: `{seed: 1,000}` has a key `000`, and `{in: 0,5s}` a key `5s`.

use super::source_text::number_in;
use super::{Key, Yaml, YamlValue};
use crate::diagnostic::{Diagnostic, Problems};
use crate::source::{Source, Span};

/// Keys of amounts: three digits after a comma may be thousands or thousandths there.
const AMOUNTS: [&str; 2] = ["per_second", "per_task"];

/// Reports such numbers, and reads each as the number that was meant.
pub(super) fn join(tree: &mut Yaml, source: &Source, problems: &mut Problems) {
    match &mut tree.value {
        YamlValue::List(items) => items.iter_mut().for_each(|item| join(item, source, problems)),
        YamlValue::Map(entries) => {
            let mut joined: Vec<(Key, Yaml)> = Vec::with_capacity(entries.len());
            let mut rest = std::mem::take(entries).into_iter().peekable();
            while let Some((key, mut value)) = rest.next() {
                join(&mut value, source, problems);
                let first = value.span;
                while let Some((part, _)) = rest.next_if(|(key, none)| is_rest(&value, key, none, source)) {
                    value.span = Span::new(first.start(), part.span.end());
                }
                if value.span != first {
                    let message = format!("in brackets, a comma ends the number of `{}`", key.value);
                    let (help, number) = meant(&key.value, source.slice(value.span));
                    problems.push(Diagnostic::error("yaml-syntax", value.span, message).help(help));
                    value.value = number;
                }
                joined.push((key, value));
            }
            *entries = joined;
        }
        YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_) | YamlValue::Text(_) => {}
    }
}

/// Whether a key without a value is the rest of the number before it: only a comma is between them, with no blank after it.
fn is_rest(number: &Yaml, key: &Key, value: &Yaml, source: &Source) -> bool {
    let (end, start) = (number.span.end(), key.span.start());
    let is_digits = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let before = source.slice(number.span);
    value.is_null()
        && source.text().get(end..start) == Some(",")
        && is_digits(source.slice(key.span))
        && is_digits(before.trim_start_matches(['-', '+', '$']))
        && before.ends_with(|c: char| c.is_ascii_digit())
}

/// The help, and the number that was meant: digits in groups of three, or a decimal number with a comma.
fn meant(name: &str, written: &str) -> (String, YamlValue) {
    let parts: Vec<&str> = written.split(',').collect();
    let (before, last) = (parts[0], parts[parts.len() - 1]);
    let is_group = |part: &str| part.len() == 3 && part.bytes().all(|c| c.is_ascii_digit());
    let (last_group, fraction) = last.split_once('.').unwrap_or((last, ""));
    let inner = parts.get(1..parts.len() - 1).unwrap_or_default();
    let is_grouped = inner.iter().all(|part| is_group(part))
        && is_group(last_group)
        && !before.contains('.')
        && !before.trim_start_matches(['-', '+']).starts_with('0');
    // The points of `1.000,50` are between groups.
    let whole = written.replace(',', "");
    let decimal = format!("{}.{last}", before.replace('.', ""));
    let (help, number) = match (is_grouped, parts.len()) {
        (true, 2) if AMOUNTS.contains(&name) && fraction.is_empty() => {
            (format!("write `{name}: {whole}` or `{name}: {decimal}`"), whole)
        }
        (true, _) => (format!("write `{name}: {whole}`"), whole),
        (false, 2) if !last.contains('.') => {
            (format!("write `{name}: {decimal}`: a decimal number has a point"), decimal)
        }
        (false, _) => ("write the number without commas".to_owned(), whole),
    };
    let value = number_in(&number).map_or_else(|| YamlValue::Text(number), YamlValue::Number);
    (help, value)
}

#[cfg(test)]
mod tests {
    use crate::diagnostic::Problems;
    use crate::source::Source;

    #[test]
    fn numbers_with_commas_are_read_as_one() {
        for (text, help, read) in [
            ("{seed: 1,000}", "write `seed: 1000`", r#"{"seed":1000}"#),
            ("{seed: 1,234,567}", "write `seed: 1234567`", r#"{"seed":1234567}"#),
            (
                "{in: 0,5s, out: 2s}",
                "write `in: 0.5s`: a decimal number has a point",
                r#"{"in":"0.5s","out":"2s"}"#,
            ),
            (
                "{per_second: 1,50}",
                "write `per_second: 1.50`: a decimal number has a point",
                r#"{"per_second":1.5}"#,
            ),
            (
                "{per_second: 0,125}",
                "write `per_second: 0.125`: a decimal number has a point",
                r#"{"per_second":0.125}"#,
            ),
            ("{per_task: 1,250}", "write `per_task: 1250` or `per_task: 1.250`", r#"{"per_task":1250}"#),
            ("{per_second: 1,000.00}", "write `per_second: 1000.00`", r#"{"per_second":1000.0}"#),
            (
                "{per_second: 1.000,50}",
                "write `per_second: 1000.50`: a decimal number has a point",
                r#"{"per_second":1000.5}"#,
            ),
            ("{a: 1, 2: b}", "", r#"{"a":1,"2":"b"}"#),
            ("{a: 1, 2}", "", r#"{"a":1,"2":null}"#),
            ("[1,000]", "", r#"[1,"000"]"#),
        ] {
            let source = Source::new("a.yaml", text);
            let mut problems = Problems::default();
            let tree = crate::yaml::read(&source, &mut problems).unwrap();
            let help_of = problems.into_sorted().0.into_iter().filter_map(|diagnostic| diagnostic.help);
            assert_eq!(help_of.collect::<Vec<_>>().concat(), help, "{text}");
            assert_eq!(tree.to_json().to_string(), read, "{text}");
        }
    }
}
