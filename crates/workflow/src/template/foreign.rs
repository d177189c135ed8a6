//! What other template languages have and this one has not, once a template has failed: what is written here.

use super::error::TemplateError;
use super::scan;
use super::scope::Scope;
use crate::syntax::suggested_identifier;

/// Maximum length of code that help repeats, in bytes.
const MAX_QUOTED_LEN: usize = 80;
/// What other languages write before the name of a value.
const NAMESPACES: [&str; 12] = [
    "matrix",
    "params",
    "param",
    "vars",
    "inputs",
    "values",
    "axes",
    "axis",
    "env",
    "parameters",
    "variables",
    "defaults",
];
/// Operators of other languages, longer ones first, and those of this one.
const OPERATORS: [(&str, &str); 7] = [
    ("===", "=="),
    ("!==", "!="),
    ("&&", "and"),
    ("||", "or"),
    ("<>", "!="),
    ("!", "not"),
    ("?", "if … else"),
];

/// The error with what is written here, where the text shows another language.
pub(super) fn with_help(error: &TemplateError, text: &str, scope: &Scope) -> Option<TemplateError> {
    match error.code {
        "undefined-name" => namespace(error, text, scope),
        "template-syntax" => syntax(error, text),
        _ => None,
    }
}

fn worded(error: &TemplateError, message: String, help: String) -> TemplateError {
    TemplateError { message, help: Some(help), ..error.clone() }
}

/// `{{ matrix.look }}`.
fn namespace(error: &TemplateError, text: &str, scope: &Scope) -> Option<TemplateError> {
    let name = error.message.split('`').nth(1)?;
    let space = name.split('.').next().filter(|space| NAMESPACES.contains(space))?;
    if scope.names().any(|candidate| candidate == space) {
        return None;
    }
    let after = text.split_once(&format!("{space}."))?.1;
    let end = after.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(after.len());
    let member = &after[..end];
    let help = if scope.names().any(|candidate| candidate == member) {
        format!("write `{member}` alone: parameters and axes have no `{space}.` before them")
    } else {
        let names: Vec<&str> = scope.names().collect();
        format!(
            "parameters and axes have no `{space}.` before them; the names here are {}",
            crate::diagnostic::quoted_list(names, 12)
        )
    };
    Some(worded(error, error.message.clone(), help))
}

fn syntax(error: &TemplateError, text: &str) -> Option<TemplateError> {
    let is_expression = !scan::has_template(text);
    if text.trim().is_empty() {
        let help = "write `true`, `false` or a comparison, or remove it";
        return Some(worded(error, "this expression is empty".to_owned(), help.to_owned()));
    }
    let codes = scan::code_of(text);
    if codes.iter().any(|code| code.trim().is_empty()) {
        let help = "write the name of a parameter or an axis between them, such as `{{ shot }}`";
        return Some(worded(error, "there is nothing between `{{` and `}}`".to_owned(), help.to_owned()));
    }
    if text.contains("{{{") {
        let inner = text.split_once("{{{")?.1.split("}}").next()?.trim();
        let help = if is_path(inner) {
            format!("write `{{{{ {inner} }}}}`")
        } else {
            "write two braces on each side".to_owned()
        };
        return Some(worded(error, "a template has two braces, not three".to_owned(), help));
    }
    let code = codes.iter().find(|code| {
        let begins = code.trim_start().starts_with(['#', '/', '$', '.', '^', '>']);
        begins || OPERATORS.iter().any(|(sign, _)| has_operator(code, sign)) || foreign_word(code).is_some()
    })?;
    let code = code.trim();
    if let Some(rest) = code.strip_prefix(['#', '^']) {
        let condition = rest.trim().trim_start_matches("if ").trim_start_matches("unless ");
        let help = format!("write `{{% if {condition} %}}` … `{{% endif %}}`");
        return Some(worded(error, format!("`{{{{ {code} }}}}` is of another template language"), help));
    }
    if code.starts_with('/') {
        let message = format!("`{{{{ {code} }}}}` is of another template language");
        return Some(worded(error, message, "write `{% endif %}` or `{% endfor %}`".to_owned()));
    }
    if let Some(name) = code.strip_prefix(['$', '.']).filter(|name| is_path(name)) {
        let sign = &code[..1];
        let help =
            if is_expression { format!("write `{name}`") } else { format!("write `{{{{ {name} }}}}`") };
        return Some(worded(error, format!("names have no `{sign}` before them"), help));
    }
    if let Some(word) = foreign_word(code) {
        let message = format!(
            "`{word}` is no name: names in templates have the letters a to z and A to Z, digits and `_`"
        );
        let help = suggested_identifier(word).map_or_else(
            || {
                "give the parameter or the axis a name of these, and write that; text goes in quotes"
                    .to_owned()
            },
            |suggestion| {
                format!("name the parameter or the axis `{suggestion}`, and write that; text goes in quotes")
            },
        );
        return Some(worded(error, message, help));
    }
    let (sign, ours) = OPERATORS.into_iter().find(|(sign, _)| has_operator(code, sign))?;
    let message = format!("`{sign}` is not available in templates");
    if sign == "?" {
        let parts =
            code.split_once('?').and_then(|(condition, rest)| Some((condition, rest.split_once(':')?)));
        let help = match parts {
            Some((condition, (yes, no))) if code.len() <= MAX_QUOTED_LEN => {
                format!("write `{} if {} else {}`", yes.trim(), condition.trim(), no.trim())
            }
            _ => "write `a if condition else b`".to_owned(),
        };
        return Some(worded(error, message, help));
    }
    let has_text = code.contains(['\'', '"']);
    Some(worded(
        error,
        message,
        if has_text || code.len() > MAX_QUOTED_LEN {
            format!("write `{ours}`")
        } else {
            format!("write `{ours}`: `{}`", rewritten(code))
        },
    ))
}

/// Code with the operators of this language.
fn rewritten(code: &str) -> String {
    let code = code.replace("!==", "!=").replace("===", "==").replace("<>", "!=");
    let code = code.replace("&&", " and ").replace("||", " or ");
    let mut out = String::new();
    let mut rest = code.as_str();
    while let Some(position) = rest.find('!') {
        let (before, after) = rest.split_at(position);
        out.push_str(before);
        out.push_str(if after.starts_with("!=") { "!" } else { " not " });
        rest = &after[1..];
    }
    out.push_str(rest);
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether code has an operator outside of its texts.
fn has_operator(code: &str, sign: &str) -> bool {
    let plain = without_texts(code);
    if sign == "!" { plain.replace("!=", "").contains('!') } else { plain.contains(sign) }
}

/// Code without what is in quotes.
fn without_texts(code: &str) -> String {
    let bytes = code.as_bytes();
    let (mut out, mut position) = (String::new(), 0);
    while let Some(c) = code.get(position..).and_then(|rest| rest.chars().next()) {
        if matches!(c, '\'' | '"') {
            position = scan::after_quoted(bytes, position).min(code.len());
        } else {
            out.push(c);
            position += c.len_utf8();
        }
    }
    out
}

/// The first word with letters that names do not have, outside of texts.
fn foreign_word(code: &str) -> Option<&str> {
    let plain = without_texts(code);
    let word = scan::identifiers(&plain).find(|word| !word.is_ascii())?.to_owned();
    code.find(&word).map(|start| &code[start..start + word.len()])
}

fn is_path(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_are_those_of_the_language() {
        for (code, suggestion) in [
            ("a && b", "a and b"),
            ("a||!b", "a or not b"),
            ("a !== b && c <> d", "a != b and c != d"),
            ("a === b", "a == b"),
        ] {
            assert_eq!(rewritten(code), suggestion);
        }
        assert!(
            !has_operator("a != '&& || ! ?'", "!") && !has_operator("'&&'", "&&") && has_operator("!a", "!")
        );
        assert_eq!(foreign_word("a == 'größe' or größe"), Some("größe"));
        assert_eq!(foreign_word("a == 'größe'"), None);
    }
}
