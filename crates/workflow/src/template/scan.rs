//! Looks at a template before minijinja does: is it one expression or text with holes, and does it stay within
//! the language.

use std::ops::Range;

use crate::limits;

/// What a text is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// No template at all.
    Plain,
    /// Exactly one `{{ expression }}`, whose value keeps its type; the expression's range.
    Expression(Range<usize>),
    /// Text with holes; its value is text.
    Text,
}

/// Why a template is not taken.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) code: &'static str,
    pub(super) range: Range<usize>,
    pub(super) message: String,
    pub(super) help: &'static str,
}

const TAGS: [&str; 8] = ["if", "elif", "else", "endif", "for", "endfor", "raw", "endraw"];

/// Whether a text holds anything that a template would replace.
pub(crate) fn has_template(text: &str) -> bool {
    text.contains("{{") || text.contains("{%") || text.contains("{#")
}

pub(super) fn scan(text: &str) -> Result<Shape, Refusal> {
    if !has_template(text) {
        return Ok(Shape::Plain);
    }
    if text.len() > limits::MAX_TEMPLATE_BYTES {
        return Err(Refusal {
            code: "template-limit",
            range: 0..0,
            message: format!("this template is longer than {} KiB", limits::MAX_TEMPLATE_BYTES / 1024),
            help: "make it shorter",
        });
    }
    tags(text)?;
    let regions = regions(text);
    let joins: usize = regions.iter().map(|region| region.joins).sum();
    if joins > limits::MAX_TEMPLATE_CONCATS {
        return Err(Refusal {
            code: "template-limit",
            range: 0..0,
            message: format!(
                "this template joins values with `~` or `+` more than {} times",
                limits::MAX_TEMPLATE_CONCATS
            ),
            help: "write the parts as text with several {{ expressions }}",
        });
    }
    if let Some(star) = regions.iter().find_map(|region| region.star) {
        return Err(Refusal {
            code: "template-syntax",
            range: star..star + 1,
            message: "`*` is not available in templates".to_owned(),
            help: "multiply numbers with `| times(2)`",
        });
    }
    Ok(whole_expression(text, &regions).map_or(Shape::Text, Shape::Expression))
}

/// The same bounds for an expression that stands without braces, as in `when: look == 'noir'`.
pub(super) fn scan_expression(text: &str) -> Result<(), Refusal> {
    let wrapped = format!("{{{{{text}}}}}");
    let shift = |refusal: Refusal| Refusal {
        range: refusal.range.start.saturating_sub(2)..refusal.range.end.saturating_sub(2),
        ..refusal
    };
    scan(&wrapped).map(|_| ()).map_err(shift)
}

/// Every tag there is must be one that is allowed; also inside literal text, where it could only confuse.
fn tags(text: &str) -> Result<(), Refusal> {
    for (at, _) in text.match_indices("{%") {
        let rest = text[at + 2..].trim_start_matches(['-', '+']).trim_start();
        let name: &str = rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
        if !TAGS.contains(&name) {
            let start = text.len() - rest.len();
            let range = if name.is_empty() { at..at + 2 } else { start..start + name.len() };
            return Err(Refusal {
                code: "template-syntax",
                range,
                message: format!("`{{% {name} %}}` is not available in templates"),
                help: "there are `if`, `for` and `raw`; values come from params and matrix axes",
            });
        }
    }
    Ok(())
}

/// A stretch of code between braces.
struct Region {
    /// With its braces.
    outer: Range<usize>,
    /// Whether it is `{{ … }}`.
    expression: bool,
    joins: usize,
    star: Option<usize>,
}

fn regions(text: &str) -> Vec<Region> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(open) = text[at..].find('{').map(|offset| at + offset) {
        at = match bytes.get(open + 1) {
            Some(b'{') => {
                let region = code(bytes, open, b'}');
                let end = region.outer.end;
                found.push(region);
                end
            }
            Some(b'%') => {
                let region = code(bytes, open, b'%');
                let end = region.outer.end;
                let raw =
                    text[open..end].trim_start_matches(['{', '%', '-', '+']).trim_start().starts_with("raw");
                found.push(region);
                if raw { text[end..].find("endraw").map_or(text.len(), |offset| end + offset) } else { end }
            }
            Some(b'#') => text[open..].find("#}").map_or(text.len(), |offset| open + offset + 2),
            _ => open + 1,
        };
    }
    found
}

/// Reads code from its opening braces to its closing ones, text in quotes skipped.
fn code(bytes: &[u8], open: usize, close: u8) -> Region {
    let mut region = Region { outer: open..bytes.len(), expression: close == b'}', joins: 0, star: None };
    let mut at = open + 2;
    let mut depth = 0_usize;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\'' | b'"' => at = after_quoted(bytes, at),
            _ if byte == close && depth == 0 && bytes.get(at + 1) == Some(&b'}') => {
                region.outer.end = at + 2;
                return region;
            }
            _ => {
                match byte {
                    b'{' => depth += 1,
                    b'}' => depth = depth.saturating_sub(1),
                    b'*' => region.star = region.star.or(Some(at)),
                    b'~' | b'+' => region.joins += 1,
                    _ => {}
                }
                at += 1;
            }
        }
    }
    region
}

fn after_quoted(bytes: &[u8], open: usize) -> usize {
    let quote = bytes[open];
    let mut at = open + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            _ if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn whole_expression(text: &str, regions: &[Region]) -> Option<Range<usize>> {
    let [only] = regions else { return None };
    let start = text.len() - text.trim_start().len();
    if !only.expression
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

/// The words in the code of a template, names among them, as far as one can see without running it.
pub(crate) fn words_used(text: &str) -> Vec<&str> {
    regions(text).iter().flat_map(|region| words(&text[region.outer.clone()])).collect()
}

/// The words of an expression that stands without braces.
pub(crate) fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// Which of the names stand in the code of a template.
pub(crate) fn names_used<'a>(text: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let words = words_used(text);
    names.into_iter().filter(|name| words.contains(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_expression_is_told_from_text_with_holes() {
        let inner = |text: &str| match scan(text) {
            Ok(Shape::Expression(range)) => Some(text[range].to_owned()),
            _ => None,
        };
        assert_eq!(inner("{{ seed }}").as_deref(), Some(" seed "));
        assert_eq!(inner("  {{- seed -}}\n").as_deref(), Some(" seed "));
        assert_eq!(inner("{{ '}}' }}").as_deref(), Some(" '}}' "));
        assert_eq!(inner("{{ {'a': {'b': 1}}.a.b }}").as_deref(), Some(" {'a': {'b': 1}}.a.b "));
        for text in ["{{ a }}{{ b }}", "x {{ a }}", "{{ a", "{% if a %}x{% endif %}", "{{ a }}{# note #}"] {
            assert_eq!(scan(text), Ok(Shape::Text), "{text}");
        }
        assert_eq!(scan("no { template } here: 100 %"), Ok(Shape::Plain));
    }

    #[test]
    fn what_could_grow_without_bound_is_refused() {
        for text in [
            "{% set x = 1 %}",
            "{%- macro m() %}{% endmacro %}",
            "{% with a = 1 %}{% endwith %}",
            "{% include 'x' %}",
            "{{ 'x' * 1000000000 }}",
            "{% for i in 'x' * 9 %}{% endfor %}",
        ] {
            assert!(scan(text).is_err(), "{text}");
        }
        assert!(scan("{{ '*' }} and 2 * 3").is_ok());
        assert!(scan(&format!("{{{{ a{} }}}}", " ~ a".repeat(100))).is_err());
        assert!(scan_expression("a * 2").is_err());
        assert!(scan_expression("a == 'x'").is_ok());
    }

    #[test]
    fn names_are_found_in_code_only() {
        assert_eq!(names_used("lens {{ seed + 1 }}", ["lens", "seed", "see"]), ["seed"]);
    }
}
