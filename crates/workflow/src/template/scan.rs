//! Scans a template before it is compiled: classifies it and rejects what the language does not have.

use std::ops::Range;

use crate::limits;

/// The shape of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TextForm {
    /// Not a template.
    Plain,
    /// Exactly one `{{ expression }}`, whose value keeps its type; the range of the expression.
    Expression(Range<usize>),
    /// Text with interpolations; its value is a string.
    Text,
}

/// Why a template is rejected.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ScanError {
    pub(super) code: &'static str,
    pub(super) range: Range<usize>,
    pub(super) message: String,
    pub(super) help: &'static str,
}

const TAGS: [&str; 8] = ["if", "elif", "else", "endif", "for", "endfor", "raw", "endraw"];

/// Whether a text contains template syntax.
pub(crate) fn has_template(text: &str) -> bool {
    text.contains("{{") || text.contains("{%") || text.contains("{#")
}

pub(super) fn scan(text: &str) -> Result<TextForm, ScanError> {
    if !has_template(text) {
        return Ok(TextForm::Plain);
    }
    if text.len() > limits::MAX_TEMPLATE_BYTES {
        return Err(ScanError {
            code: "template-limit",
            range: 0..0,
            message: format!("this template is longer than {} KiB", limits::MAX_TEMPLATE_BYTES / 1024),
            help: "make it shorter",
        });
    }
    tags(text)?;
    let regions = regions(text);
    if let Some(long) = regions.iter().find(|region| region.operators > limits::MAX_EXPRESSION_OPERATORS) {
        return Err(ScanError {
            code: "template-limit",
            range: long.outer.start..long.outer.start + 2,
            message: format!(
                "this expression has more than {} operators, attributes, filters and brackets",
                limits::MAX_EXPRESSION_OPERATORS
            ),
            help: "compute parts of it in parameters",
        });
    }
    Ok(whole_expression(text, &regions).map_or(TextForm::Text, TextForm::Expression))
}

/// Scans an expression without braces, as in `when: look == 'noir'`.
pub(super) fn scan_expression(text: &str) -> Result<(), ScanError> {
    let wrapped = format!("{{{{{text}}}}}");
    let shift = |refusal: ScanError| ScanError {
        range: refusal.range.start.saturating_sub(2)..refusal.range.end.saturating_sub(2),
        ..refusal
    };
    scan(&wrapped).map(|_| ()).map_err(shift)
}

/// Checks that every tag is allowed, also inside `raw` blocks.
fn tags(text: &str) -> Result<(), ScanError> {
    for (pos, _) in text.match_indices("{%") {
        let rest = text[pos + 2..].trim_start_matches(['-', '+']).trim_start();
        let name: &str = rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
        if !TAGS.contains(&name) {
            let start = text.len() - rest.len();
            let range = if name.is_empty() { pos..pos + 2 } else { start..start + name.len() };
            return Err(ScanError {
                code: "template-syntax",
                range,
                message: format!("`{{% {name} %}}` is not available in templates"),
                help: match name {
                    "elseif" | "elsif" => "write `{% elif … %}`",
                    "end" | "fi" => "write `{% endif %}` or `{% endfor %}`",
                    "set" | "assign" | "let" => "declare the value under `params:`",
                    "include" | "import" | "extends" => {
                        "`include:` at the top of the workflow includes other files"
                    }
                    "foreach" | "each" => "write `{% for item in list %}`",
                    _ => "there are `if`, `for` and `raw`; values come from params and matrix axes",
                },
            });
        }
    }
    Ok(())
}

/// A region of code between braces.
pub(super) struct Region {
    /// The range with its braces.
    pub(super) outer: Range<usize>,
    /// Whether it is an expression, `{{ … }}`.
    pub(super) is_expression: bool,
    /// What the parser recurses on: a bound.
    operators: usize,
}

pub(super) fn regions(text: &str) -> Vec<Region> {
    let bytes = text.as_bytes();
    let mut parsed = Vec::new();
    let mut pos = 0;
    while let Some(open) = text[pos..].find('{').map(|offset| pos + offset) {
        pos = match bytes.get(open + 1) {
            Some(b'{') => {
                let region = code(bytes, open, b'}');
                let end = region.outer.end;
                parsed.push(region);
                end
            }
            Some(b'%') => {
                let region = code(bytes, open, b'%');
                let end = region.outer.end;
                let raw =
                    text[open..end].trim_start_matches(['{', '%', '-', '+']).trim_start().starts_with("raw");
                parsed.push(region);
                if raw { text[end..].find("endraw").map_or(text.len(), |offset| end + offset) } else { end }
            }
            Some(b'#') => text[open..].find("#}").map_or(text.len(), |offset| open + offset + 2),
            _ => open + 1,
        };
    }
    parsed
}

/// Reads code from its opening to its closing braces; string literals are skipped.
fn code(bytes: &[u8], open: usize, close: u8) -> Region {
    let mut region = Region { outer: open..bytes.len(), is_expression: close == b'}', operators: 0 };
    let mut pos = open + 2;
    let mut depth = 0_usize;
    while let Some(&byte) = bytes.get(pos) {
        match byte {
            b'\'' | b'"' => pos = after_quoted(bytes, pos),
            _ if byte == close && depth == 0 && bytes.get(pos + 1) == Some(&b'}') => {
                region.outer.end = pos + 2;
                return region;
            }
            _ => {
                let word_starts = byte.is_ascii_alphabetic()
                    && !bytes
                        .get(pos - 1)
                        .is_some_and(|before| before.is_ascii_alphanumeric() || *before == b'_');
                if b"*-/%|.[({=<>!~+".contains(&byte) || (word_starts && is_operator(&bytes[pos..])) {
                    region.operators += 1;
                }
                match byte {
                    b'{' => depth += 1,
                    b'}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                pos += 1;
            }
        }
    }
    region
}

/// Whether code begins with an operator that is a word.
fn is_operator(code: &[u8]) -> bool {
    let end =
        code.iter().position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_')).unwrap_or(code.len());
    let words: [&[u8]; 7] = [b"and", b"or", b"not", b"is", b"in", b"if", b"else"];
    words.contains(&&code[..end])
}

/// The position after a string literal.
pub(super) fn after_quoted(bytes: &[u8], open: usize) -> usize {
    let quote = bytes[open];
    let mut pos = open + 1;
    while let Some(&byte) = bytes.get(pos) {
        match byte {
            b'\\' => pos += 2,
            _ if byte == quote => return pos + 1,
            _ => pos += 1,
        }
    }
    bytes.len()
}

fn whole_expression(text: &str, regions: &[Region]) -> Option<Range<usize>> {
    let [only] = regions else { return None };
    let start = text.len() - text.trim_start().len();
    if !only.is_expression
        || only.outer != (start..text.trim_end().len())
        || !text[only.outer.clone()].ends_with("}}")
    {
        return None;
    }
    let mut inner = only.outer.start + 2..only.outer.end - 2;
    if text[inner.clone()].starts_with(['-', '+']) {
        inner.start += 1;
    }
    if text[inner.clone()].ends_with(['-', '+']) {
        inner.end -= 1;
    }
    Some(inner)
}

/// The identifiers and keywords in the code of a template: a superset of the variables that it uses.
pub(crate) fn identifiers_used(text: &str) -> Vec<&str> {
    regions(text).iter().flat_map(|region| identifiers(&text[region.outer.clone()])).collect()
}

/// The identifiers and keywords in an expression without braces.
pub(crate) fn identifiers(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// Those of the names that occur in the code of a template.
pub(crate) fn names_used<'a>(text: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let identifiers = identifiers_used(text);
    names.into_iter().filter(|name| identifiers.contains(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scan_distinguishes_expression_from_text() {
        let inner = |text: &str| match scan(text) {
            Ok(TextForm::Expression(range)) => Some(text[range].to_owned()),
            _ => None,
        };
        assert_eq!(inner("{{ seed }}").as_deref(), Some(" seed "));
        assert_eq!(inner("  {{- seed -}}\n").as_deref(), Some(" seed "));
        assert_eq!(inner("{{ '}}' }}").as_deref(), Some(" '}}' "));
        assert_eq!(inner("{{ {'a': {'b': 1}}.a.b }}").as_deref(), Some(" {'a': {'b': 1}}.a.b "));
        for text in ["{{ a }}{{ b }}", "x {{ a }}", "{{ a", "{% if a %}x{% endif %}", "{{ a }}{# note #}"] {
            assert_eq!(scan(text), Ok(TextForm::Text), "{text}");
        }
        assert_eq!(scan("no { template } here: 100 %"), Ok(TextForm::Plain));
    }

    #[test]
    fn scan_rejects_unbounded_constructs() {
        for text in [
            "{% set x = 1 %}",
            "{%- macro m() %}{% endmacro %}",
            "{% with a = 1 %}{% endwith %}",
            "{% include 'x' %}",
        ] {
            assert!(scan(text).is_err(), "{text}");
        }
        assert!(scan(&format!("{{{{ a{} }}}}", " and a".repeat(300))).is_err());
        assert!(scan_expression(&format!("a{}", " or a".repeat(3_000))).is_err());
        assert!(scan_expression(&format!("a{}", " or a == 1".repeat(60))).is_ok());
        assert!(scan_expression("a == 'x'").is_ok());
    }

    #[test]
    fn names_used_ignores_plain_text() {
        assert_eq!(names_used("lens {{ seed + 1 }}", ["lens", "seed", "see"]), ["seed"]);
    }
}
